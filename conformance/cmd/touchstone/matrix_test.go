package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the matrix in CONFORMANCE.md")

const (
	matrixFile  = "../../../CONFORMANCE.md"
	matrixBegin = "<!-- matrix: kept by go test ./conformance/cmd/touchstone -run Matrix -update -->\n"
	matrixEnd   = "<!-- end of matrix -->\n"
)

func matrix(t *testing.T) string {
	t.Helper()
	rows, err := listings()
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Builder{}
	out.WriteString("| test | assertions | written | scripts |\n|---|---|---|---|\n")
	assertions, written := 0, 0
	for _, r := range rows {
		assertions, written = assertions+r.Assertions, written+r.Written
		fmt.Fprintf(&out, "| %s | %d | %d | %s |\n", r.Test, r.Assertions, r.Written, strings.Join(r.Scripts, ", "))
	}
	fmt.Fprintf(&out, "| all | %d | %d | |\n", assertions, written)
	return out.String()
}

// TestMatrixIsCurrent: the document claims what the scripts check, no more.
func TestMatrixIsCurrent(t *testing.T) {
	content, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(content), matrixBegin)
	_, tail, ended := strings.Cut(rest, matrixEnd)
	if !begun || !ended {
		t.Fatalf("%s has no matrix", matrixFile)
	}
	wanted := head + matrixBegin + matrix(t) + matrixEnd + tail
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
