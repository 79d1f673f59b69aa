package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	seccomp "github.com/seccomp/libseccomp-golang"
)

var update = flag.Bool("update", false, "rewrite the readable copy of the filter")

func TestFiltersAreTheReviewedOnes(t *testing.T) {
	for _, r := range roles {
		got, err := exported(r, (*seccomp.ScmpFilter).ExportPFC)
		if err != nil {
			t.Fatal(err)
		}
		golden := "testdata/" + r.prefix + ".pfc"
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("filter differs from %s; review, then -update:\n%s", golden, got)
		}
	}
}

// TestSupervisorCarriesTheFilter: what is compiled into S is what the rules give.
func TestSupervisorCarriesTheFilter(t *testing.T) {
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../filter_program.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("../filter_program.go is not of these rules: go generate touchstone/reference/jail")
	}
}
