package main

import (
	"bytes"
	"strings"
	"testing"

	"touchstone/reports"
)

// TestTimingShowsTheSlowestFirst: cells, then scripts, each part of the wall time.
func TestTimingShowsTheSlowestFirst(t *testing.T) {
	r := reports.Report{Building: 1.5, Scripts: []reports.Script{
		{Script: "T06-a", Cell: "direct/jailed", Seconds: 1, AttemptSeconds: 0.75, CPUSeconds: 0.25},
		{Script: "T07-b", Cell: "direct/unjailed", Seconds: 3, AttemptSeconds: 2, CPUSeconds: 2.5}}}
	var out bytes.Buffer
	if err := printTiming(&program{stdout: &out}, r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := "seconds wall launcher waiting judging|building fixtures 1.50|all scripts 4.00 2.75 0.00 1.25|direct/unjailed 3.00 2.50 0.00 1.00|" +
		"direct/jailed 1.00 0.25 0.50 0.25|direct/unjailed T07-b 3.00 2.50 0.00 1.00|direct/jailed T06-a 1.00 0.25 0.50 0.25"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, "|"), want)
	}
}
