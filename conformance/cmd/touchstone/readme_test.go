package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"touchstone/conformance/certify"
)

// session is a command of a document with what it prints there.
type session struct {
	document, command string
	lines             []string
	status            int
}

var exitLine = regexp.MustCompile(`^\[exit ([0-9]+)\]$`)

// consoleSessions are the commands in the ```console blocks of a document.
func consoleSessions(t *testing.T, document string) []session {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../..", document))
	if err != nil {
		t.Fatal(err)
	}
	var all []session
	inside := false
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case !inside:
		case strings.HasPrefix(line, "$ touchstone "):
			all = append(all, session{document: document, command: strings.TrimPrefix(line, "$ touchstone ")})
		case exitLine.MatchString(line):
			fmt.Sscanf(line, "[exit %d]", &all[len(all)-1].status)
		default:
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
	}
	return all
}

// TestDocumentsShowRealOutput runs what the documents show, on a launcher that
// must fail: an ellipsis stands for any text, alone on a line for any lines.
func TestDocumentsShowRealOutput(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not run: attempts need root")
	}
	program, err := filepath.Abs("../../../.build/bin/touchstone")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("scripts/build makes what the documents call: %v", err)
	}
	work := t.TempDir()
	sessions := append(consoleSessions(t, "README.md"), consoleSessions(t, "CONFORMANCE.md")...)
	if len(sessions) < 12 {
		t.Fatalf("%d commands in the documents", len(sessions))
	}
	for _, s := range sessions {
		c := exec.Command(program, strings.Fields(s.command)...)
		c.Dir = work
		said, err := c.Output()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if got := c.ProcessState.ExitCode(); got != s.status {
			t.Errorf("%s: exit %d, the document says %d", s.command, got, s.status)
		}
		if !pattern(s.lines).Match(said) {
			t.Errorf("%s: the document says\n%s\nit prints\n%s", s.command, strings.Join(s.lines, "\n"), said)
		}
	}
	for _, s := range sessions {
		command := strings.NewReplacer("--out RUN", "--out RUN2", "--out GOOD", "--out GOOD2", "--out RED", "--out RED2").Replace(s.command)
		unwritable(t, program, work, command)
		unwritable(t, program, work, strings.NewReplacer("RUN2", "RUN3", "GOOD2", "GOOD3", "RED2", "RED3", "--events -", "").Replace(command)+" --json")
	}
}

// unwritable: an answer that no one can read is internal, whatever it says.
func unwritable(t *testing.T, program, work, command string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	c := exec.Command(program, strings.Fields(command)...)
	c.Dir, c.Stdout = work, full
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != certify.Internal {
		t.Errorf("%s on a full device: %v, want exit %d", command, err, certify.Internal)
	}
}

// pattern is the lines of a document as an expression.
func pattern(lines []string) *regexp.Regexp {
	var out strings.Builder
	out.WriteString(`^`)
	for _, line := range lines {
		if line == "…" {
			out.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		out.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`) + `\n`)
	}
	return regexp.MustCompile(out.String() + `$`)
}
