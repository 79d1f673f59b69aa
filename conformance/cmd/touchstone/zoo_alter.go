package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/conformance/script"
	"touchstone/conformance/zoo/alter"
)

type zooAlterCommand struct {
	Dir       string   `arg:"" name:"run" help:"Run folder of a launcher that conforms."`
	Operators string   `help:"Only operators whose names match." default:"*" placeholder:"GLOB"`
	Tests     []string `help:"Globs over tests or scripts; all when absent." placeholder:"GLOB,…"`
	All       bool     `help:"Make every alteration of every attempt, and say all that notice it; much slower."`
	More      bool     `help:"Only what coverage.tsv does not have yet."`
	Write     bool     `help:"Put what was found into conformance/zoo/alter/coverage.tsv."`
	JSON      bool     `name:"json" help:"One JSON object on stdout."`
}

// alterData is what was found.
type alterData struct {
	Judged    int                 `json:"judged"`    // altered attempts
	Passed    int                 `json:"passed"`    // assertions, on the evidence as it is
	Upset     []alter.Upset       `json:"upset"`     // the first alteration that each noticed
	Operators map[string][]string `json:"operators"` // who noticed
	Open      []string            `json:"open"`      // assertions that noticed nothing
	Idle      []string            `json:"idle"`      // operators that nothing noticed
}

// Run alters recorded evidence, one thing at a time, and asks whether the
// checks notice.
func (c *zooAlterCommand) Run(p *program) error {
	found, err := c.search(p)
	if err == nil && c.Write {
		err = writeCoverage(found)
	}
	if err != nil {
		if c.JSON {
			return answer{kind: "zoo"}.write(p.stdout, err)
		}
		return err
	}
	data := alterData{Judged: found.Judged, Passed: len(found.Passed), Upset: found.Merged(nil), Operators: map[string][]string{},
		Open: append([]string{}, found.Open()...), Idle: append([]string{}, found.Idle()...)}
	for _, o := range found.Operators {
		data.Operators[o.Name] = append([]string{}, found.NoticedBy(o.Name)...)
	}
	status := 0
	if len(data.Open) > 0 {
		status = 1
	}
	if c.JSON {
		a := answer{kind: "zoo", status: status, data: data}
		if status != 0 {
			a.finding = data.Open[0] + " noticed nothing"
		}
		return a.write(p.stdout, nil)
	}
	if err := c.print(p, found, data); err != nil {
		return err
	}
	return exit(status)
}

func (c *zooAlterCommand) search(p *program) (*alter.Search, error) {
	operators := alter.Matching(c.Operators)
	if len(operators) == 0 {
		return nil, &certify.UsageError{Problem: fmt.Sprintf("no operator matches %q", c.Operators)}
	}
	found := alter.NewSearch(operators)
	found.Every = c.All
	if c.More {
		before, err := alter.Coverage()
		if err != nil {
			return nil, err
		}
		found.Know(before)
	}
	err := certify.Rejudge(c.Dir, c.Tests, func(r script.Result, asked []script.Judgement) {
		if p.ctx.Err() != nil {
			return
		}
		one := alter.Case{Script: r.Script, Cell: r.Cell.String(), Asked: asked}
		found.Aimed(one)
		if c.All {
			found.Whole(one)
			return
		}
		found.Universal(one)
	})
	if err == nil {
		err = p.ctx.Err()
	}
	return found, err
}

func (c *zooAlterCommand) print(p *program, found *alter.Search, data alterData) error {
	out := bufio.NewWriter(p.stdout)
	for _, o := range found.Operators {
		fmt.Fprintf(out, "%s: %s\n", o.Name, orNone(data.Operators[o.Name]))
	}
	for _, u := range data.Upset {
		fmt.Fprintln(out, oneLine(fmt.Sprintf("%s  %s: %s, %s %s/%03d", u.ID, u.Operator, u.Target, u.Cell, u.Script, u.Attempt)))
	}
	fmt.Fprintf(out, "noticed nothing: %s\n%d altered attempts; %d of %d assertions noticed one\n", orNone(data.Open), data.Judged, len(data.Upset), data.Passed)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print alterations: %w", err)
	}
	return nil
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

func writeCoverage(found *alter.Search) error {
	root, err := repository()
	if err != nil {
		return err
	}
	before, err := alter.Coverage()
	if err != nil {
		return err
	}
	path := filepath.Join(root, "conformance", "zoo", "alter", "coverage.tsv")
	if err := os.WriteFile(path, []byte(alter.Spell(found.Merged(before))), 0o644); err != nil {
		return fmt.Errorf("write coverage: %w", err)
	}
	return nil
}
