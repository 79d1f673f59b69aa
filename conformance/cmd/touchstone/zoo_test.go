package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/conformance/certify"
	"touchstone/conformance/zoo"
	"touchstone/reports"
)

const (
	zooBegin = "<!-- zoo: kept by go test ./conformance/cmd/touchstone -run Matrix -update -->\n"
	zooEnd   = "<!-- end of zoo -->\n"
)

// zooLine says what has been shown, from the ratchet alone.
func zooLine(t *testing.T) string {
	t.Helper()
	all, abilities, err := zooRecords()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := zoo.ReadRatchet("../../..")
	if err != nil {
		t.Fatal(err)
	}
	count := map[zoo.Kind]int{}
	for _, m := range all {
		if _, shown := kept[m.ID]; shown {
			count[m.Kind]++
		}
	}
	n := zoo.Count(abilities)
	return fmt.Sprintf("Shown so far: %d mutants of the reference, %d wrong hosts and %d mistakes of the second launcher are killed, each by an assertion that it names; %d changes that the "+
		"contract allows stay green. %d of %d assertions have failed on a broken launcher, %d more on altered evidence.\n",
		count[zoo.Reference], count[zoo.Host], count[zoo.Second], count[zoo.Equivalent], n.Shown, n.All, n.Altered)
}

// TestMatrixOfTheZoo: the document claims what the ratchet holds, no more.
func TestMatrixOfTheZoo(t *testing.T) {
	content, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(content), zooBegin)
	_, tail, ended := strings.Cut(rest, zooEnd)
	if !begun || !ended {
		t.Fatalf("%s has no line of the zoo", matrixFile)
	}
	wanted := head + zooBegin + zooLine(t) + zooEnd + tail
	if wanted == string(content) {
		return
	}
	if !*update {
		t.Fatalf("%s: the line of the zoo is stale; run go test ./conformance/cmd/touchstone -run Matrix -update", matrixFile)
	}
	if err := os.WriteFile(matrixFile, []byte(wanted), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestZooIsListedAndExplained(t *testing.T) {
	_, list, _ := call("zoo", "list")
	if !strings.Contains(list, "\nMUT058  T14.03 T11.03  reads two bytes past the budget\n") || !strings.Contains(list, "\nsecond/MUT017  T31.25  ") {
		t.Errorf("got %q", list)
	}
	_, ids, _ := call("zoo", "list", "--ids")
	if n := strings.Count(ids, "\n"); n != 808 || !strings.Contains(ids, "\n807 assertions: ") {
		t.Errorf("%d lines: %q", n, ids[max(0, len(ids)-200):])
	}
	_, explained, _ := call("zoo", "explain", "MUT058")
	for _, want := range []string{"MUT058  reads two bytes", "--- a/reference/ledger/ledger.go\n", "\n-\t\treturn int(remaining) + 1\n+\t\treturn int(remaining) + 2\n", "\nT14.03  "} {
		if !strings.Contains(explained, want) {
			t.Errorf("no %q in %q", want, explained)
		}
	}
	for _, arguments := range [][]string{{"zoo", "explain", "MUT999"}, {"zoo", "run", "--mutants", "MUT9*"}, {"zoo", "run", "--part", "3/2"}, {"zoo", "run", "--part", "x"},
		{"zoo", "run", "--since", "no-such-revision"}, {"zoo", "run", "--mutants", "MUT058", "--out", "/proc/touchstone"}} {
		if status, stdout, stderr := call(arguments...); status != certify.Usage || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q", arguments, status, stdout, stderr)
		}
	}
}

func TestZooOfNothingIsWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	status, stdout, stderr := call("zoo", "run", "--mutants", "MUT058", "--since", "HEAD", "--part", "1/1", "--out", folder, "--json")
	if status == certify.Usage {
		t.Skipf("not run: no repository of git: %s", stderr)
	}
	if !strings.Contains(stdout, `"type":"zoo"`) {
		t.Errorf("status %d, %q", status, stdout)
	}
	for _, name := range []string{reports.ZooFile, reports.ZooPageFile} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestLastSeen(t *testing.T) {
	folder := t.TempDir()
	for run, state := range map[string]string{"zoo-20260101-000000-aa": reports.Survived, "zoo-20260102-000000-aa": reports.Killed} {
		if err := os.MkdirAll(filepath.Join(folder, run), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := writeZoo(filepath.Join(folder, run), reports.Zoo{Records: []reports.ZooRecord{{ID: "MUT058", State: state}}}); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := lastSeen(folder, "MUT058"); err != nil || last == nil || last.State != reports.Killed {
		t.Errorf("got %+v, %v", last, err)
	}
	if last, err := lastSeen(folder, "MUT001"); err != nil || last != nil {
		t.Errorf("got %+v, %v", last, err)
	}
}
