package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/contracts"
)

// The lines between which a document holds the tables.
const (
	matrixBegin = "<!-- matrix: kept by go test ./conformance/cmd/touchstone -run Matrix -update -->\n"
	matrixEnd   = "<!-- end of matrix -->\n"
)

// matrix is the two generated tables: what is written of each test, and how
// many assertions stand where a requirement and a test meet.
func matrix(rows []listing) string {
	var out strings.Builder
	out.WriteString("| test | assertions | written | every attempt | unsettled | scripts |\n|---|---|---|---|---|---|\n")
	var sum listing
	for _, r := range rows {
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %s |\n", r.Test, r.Assertions, r.Written, len(r.Universal), len(r.Unsettled), strings.Join(r.Scripts, ", "))
		sum.Assertions, sum.Written = sum.Assertions+r.Assertions, sum.Written+r.Written
		sum.Universal, sum.Unsettled = append(sum.Universal, r.Universal...), append(sum.Unsettled, r.Unsettled...)
	}
	fmt.Fprintf(&out, "| all | %d | %d | %d | %d | |\n\n", sum.Assertions, sum.Written, len(sum.Universal), len(sum.Unsettled))
	return out.String() + grid(rows)
}

// grid is the requirements beside the tests. A cell counts the assertions of the
// test that name the requirement; those of them that are not asked of a
// launcher follow with a minus.
func grid(rows []listing) string {
	rules := rulesOf(contracts.Assertions())
	all, unasked := map[[2]string]int{}, map[[2]string]int{}
	for _, a := range contracts.Assertions() {
		test := contracts.TestOf(a.ID)
		asked := !slices.ContainsFunc(rows, func(r listing) bool { return slices.Contains(r.Unsettled, a.ID) || slices.Contains(r.Missing, a.ID) })
		for _, rule := range a.Requirements {
			all[[2]string{test, rule}]++
			if !asked {
				unasked[[2]string{test, rule}]++
			}
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "| | %s |\n|---%s|\n", strings.Join(rules, " | "), strings.Repeat("|---", len(rules)))
	for _, r := range rows {
		fmt.Fprintf(&out, "| %s |", r.Test)
		for _, rule := range rules {
			out.WriteString(crossing(all[[2]string{r.Test, rule}], unasked[[2]string{r.Test, rule}]))
		}
		out.WriteString("\n")
	}
	return out.String()
}

func crossing(all, unasked int) string {
	switch {
	case all == 0:
		return " |"
	case unasked == 0:
		return fmt.Sprintf(" %d |", all)
	}
	return fmt.Sprintf(" %d−%d |", all, unasked)
}

func rulesOf(all []contracts.Assertion) []string {
	var rules []string
	for _, a := range all {
		rules = append(rules, a.Requirements...)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// withMatrix is a document with the tables as they are today; false where it has
// no place for them.
func withMatrix(document string, rows []listing) (string, bool) {
	head, rest, begun := strings.Cut(document, matrixBegin)
	_, tail, ended := strings.Cut(rest, matrixEnd)
	return head + matrixBegin + matrix(rows) + matrixEnd + tail, begun && ended
}

// checkMatrix says whether the tables in a document are those of this checkout.
func checkMatrix(p *program, path string, rows []listing) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return &certify.UsageError{Problem: fmt.Sprintf("check: %v", err)}
	}
	wanted, there := withMatrix(string(content), rows)
	if !there {
		return &certify.UsageError{Problem: fmt.Sprintf("check: %s has no place for the tables", path)}
	}
	var wrong []string
	if wanted != string(content) {
		wrong = append(wrong, path+": its tables are not those of this checkout; go test ./conformance/cmd/touchstone -run Matrix -update renews them")
	}
	return say(p, no(len(wrong) == 0), wrong, func(out *bufio.Writer) { fmt.Fprintf(out, "%s: current\n", path) })
}
