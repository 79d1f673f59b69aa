package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "renew what is kept: the matrix, the table of exits, the list of what is not written")

const matrixFile = "../../../CONFORMANCE.md"

// TestMatrixIsCurrent: the document claims what the scripts check, no more.
func TestMatrixIsCurrent(t *testing.T) {
	content, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := listings()
	if err != nil {
		t.Fatal(err)
	}
	wanted, there := withMatrix(string(content), rows)
	if !there {
		t.Fatalf("%s has no matrix", matrixFile)
	}
	if wanted == string(content) {
		return
	}
	if !*update {
		t.Fatalf("%s: the matrix is stale; run go test ./conformance/cmd/touchstone -run Matrix -update", matrixFile)
	}
	if err := os.WriteFile(matrixFile, []byte(wanted), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestListChecksADocument: yes for a document with the tables of today, no for
// one with a number altered, usage for one without a place for them.
func TestListChecksADocument(t *testing.T) {
	_, tables, _ := call("list", "--matrix")
	if !strings.Contains(tables, "| T14 |") || !strings.Contains(tables, "| R26 |") {
		t.Fatalf("no tables: %q", tables)
	}
	for wanted, document := range map[int]string{
		0:  "# A page\n" + matrixBegin + tables + matrixEnd + "more\n",
		1:  matrixBegin + strings.Replace(tables, "| T14 | 13 |", "| T14 | 14 |", 1) + matrixEnd,
		64: "# A page without them\n",
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(path, []byte(document), 0o644); err != nil {
			t.Fatal(err)
		}
		if status, stdout, stderr := call("list", "--check", path); status != wanted {
			t.Errorf("status %d, want %d: %q %q", status, wanted, stdout, stderr)
		}
	}
}
