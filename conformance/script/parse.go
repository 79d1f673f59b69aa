package script

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"touchstone/conformance/scenario"
)

// Script is one parsed .txtar file. It may still be wrong: see Lint.
type Script struct {
	Name       string   // of the file, without .txtar: T14-gigabytes
	Test       string   // T14
	Title      string   // the one sentence that can be false
	Rules      []string // R06, …
	Source     []byte
	Statements []Statement
	files      []string // names in the archive
	texts      map[string]string
}

// Statement is one line that is neither blank nor a comment.
type Statement struct {
	Line       int    // from 1
	Phase      string // the last # line before it
	Conditions []Condition
	Words      []word // never empty
	Text       string // the line as written
}

// Condition restricts a statement to cells.
type Condition struct {
	Word    string // direct, entrypoint, jailed, unjailed
	Negated bool
}

var heading = regexp.MustCompile(`^# (T[1-9][0-9]?) (.+) \((R[0-9]{2}(?:, R[0-9]{2})*)\)$`)

// Parse reads a script's text. name is its file name.
func Parse(name string, source []byte) (Script, error) {
	archive := txtar.Parse(source)
	s := Script{Name: strings.TrimSuffix(filepath.Base(name), ".txtar"), Source: source, texts: map[string]string{}}
	for _, f := range archive.Files {
		s.files = append(s.files, f.Name)
		s.texts[f.Name] = string(f.Data)
	}
	lines := strings.Split(string(archive.Comment), "\n")
	match := heading.FindStringSubmatch(lines[0])
	if match == nil {
		return s, fmt.Errorf("%s:1: want \"# Tnn <one sentence that can be false> (Rnn, Rnn)\"", name)
	}
	s.Test, s.Title, s.Rules = match[1], match[2], strings.Split(match[3], ", ")
	phase := s.Title
	for i, line := range lines[1:] {
		if text, comment := strings.CutPrefix(line, "#"); comment {
			phase = strings.TrimSpace(text)
			continue
		}
		statement, err := parseStatement(line)
		if err != nil {
			return s, fmt.Errorf("%s:%d: %w", name, i+2, err)
		}
		if len(statement.Words) > 0 {
			statement.Line, statement.Phase = i+2, phase
			s.Statements = append(s.Statements, statement)
		}
	}
	return s, nil
}

func parseStatement(line string) (Statement, error) {
	words, err := splitLine(line)
	if err != nil {
		return Statement{}, err
	}
	s := Statement{Text: strings.TrimSpace(line)}
	for len(words) > 0 {
		text := words[0].encode()
		if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
			break
		}
		name, negated := strings.CutPrefix(text[1:len(text)-1], "!")
		s.Conditions = append(s.Conditions, Condition{name, negated})
		words = words[1:]
	}
	if len(words) == 0 && len(s.Conditions) > 0 {
		return s, fmt.Errorf("a condition without a verb")
	}
	s.Words = words
	return s, nil
}

// verb is the statement's first word.
func (s Statement) verb() string { return s.Words[0].encode() }

// holds tells whether the statement is run in a cell.
func (s Statement) holds(cell scenario.Cell) bool {
	return !slices.ContainsFunc(s.Conditions, func(c Condition) bool { return conditionHolds(c.Word, cell) == c.Negated })
}

func conditionHolds(word string, cell scenario.Cell) bool {
	return word == cell.Facade || word == cell.Profile
}

// Cells are those of the launcher's cells in which the script runs, in their
// order: those of the direct facade, or the ones that its header verb names.
func (s Script) Cells(all []scenario.Cell) []scenario.Cell {
	var named []string
	for _, statement := range s.Statements {
		if statement.verb() == "cells" {
			for _, w := range statement.Words[1:] {
				named = append(named, w.encode())
			}
		}
	}
	var cells []scenario.Cell
	for _, c := range all {
		if slices.Contains(named, c.Facade) || slices.Contains(named, c.String()) || (len(named) == 0 && c.Facade == "direct") {
			cells = append(cells, c)
		}
	}
	return cells
}

// Planned are the assertion ids that the script checks in a cell, each once,
// in order of their first check.
func (s Script) Planned(cell scenario.Cell) []string {
	var ids []string
	for _, statement := range s.Statements {
		if statement.verb() != "check" || len(statement.Words) < 2 || !statement.holds(cell) {
			continue
		}
		if id := statement.Words[1].encode(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// executable is the text that testscript runs: the same lines, comments turned
// into the engine's own phase verb, quoted text encoded.
func (s Script) executable() []byte {
	var out bytes.Buffer
	at := 1
	emit := func(line int, text string) {
		for ; at < line; at++ {
			out.WriteByte('\n')
		}
		out.WriteString(text)
	}
	for _, statement := range s.Statements {
		words := []string{}
		for _, c := range statement.Conditions {
			negation := ""
			if c.Negated {
				negation = "!"
			}
			words = append(words, "["+negation+c.Word+"]")
		}
		words = append(words, statement.verb(), lineWord+strconv.Itoa(statement.Line))
		for _, w := range statement.Words[1:] {
			words = append(words, w.encode())
		}
		emit(statement.Line, strings.Join(words, " "))
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// lineWord prefixes the number of the source line, the first argument of every
// verb at run time.
const lineWord = "line="

// Fixtures are the names of the fixtures that the script uses, besides plain.
func (s Script) Fixtures() []string {
	var names []string
	for _, statement := range s.Statements {
		if statement.verb() == "fixture" && len(statement.Words) > 1 {
			names = append(names, statement.Words[1].encode())
		}
	}
	for i := range names {
		names[i] = scenario.Fixture{Name: names[i]}.Build(s.libc())
	}
	return names
}

// libc is the C library of the script's producers.
func (s Script) libc() string {
	for _, statement := range s.Statements {
		if statement.verb() == "libc" {
			return statement.Words[1].encode()
		}
	}
	return ""
}

// Checked are the ids that the script checks in any cell.
func (s Script) Checked() []string {
	var ids []string
	for _, statement := range s.Statements {
		if statement.verb() == "check" && len(statement.Words) > 1 {
			ids = append(ids, statement.Words[1].encode())
		}
	}
	return ids
}

// LinesOf are the lines that check an assertion.
func (s Script) LinesOf(id string) []int {
	var lines []int
	for _, statement := range s.Statements {
		if statement.verb() == "check" && len(statement.Words) > 1 && statement.Words[1].encode() == id {
			lines = append(lines, statement.Line)
		}
	}
	return lines
}
