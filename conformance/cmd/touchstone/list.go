package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/contracts"
)

type listCommand struct {
	Matrix bool   `help:"Print requirements, tests and assertions as the tables of CONFORMANCE.md."`
	Check  string `help:"Exit 1 unless the tables in this document are those of this checkout." placeholder:"FILE"`
	JSON   bool   `name:"json" help:"One JSON object on stdout."`
}

// listing is one acceptance test of the contract.
type listing struct {
	Test       string   `json:"test"`
	Assertions int      `json:"assertions"`
	Written    int      `json:"written"` // assertions that some script checks, or that are checked on every attempt
	Scripts    []string `json:"scripts"`
	Universal  []string `json:"universal"` // assertions that are checked on every attempt
	Unsettled  []string `json:"unsettled"` // assertions that no launcher can be asked
	Missing    []string `json:"missing"`   // assertions that are none of these yet
}

// Run lists every test of the contract, in order, with what is written.
func (c *listCommand) Run(p *program) error {
	if c.JSON && (c.Matrix || c.Check != "") {
		return answer{kind: "list"}.write(p.stdout, &certify.UsageError{Problem: "--json lists the tests: it goes with neither --matrix nor --check"})
	}
	rows, err := listings()
	if c.JSON {
		return answer{kind: "list", data: rows}.write(p.stdout, err)
	}
	switch {
	case err != nil:
		return err
	case c.Check != "":
		return checkMatrix(p, c.Check, rows)
	case c.Matrix:
		_, err := fmt.Fprint(p.stdout, matrix(rows))
		return err
	}
	table := [][]string{{"test", "assertions", "written", "unsettled", "scripts"}}
	for _, r := range rows {
		table = append(table, []string{r.Test, strconv.Itoa(r.Assertions), strconv.Itoa(r.Written), strconv.Itoa(len(r.Unsettled)), strings.Join(r.Scripts, " ")})
	}
	return p.table(table)
}

func listings() ([]listing, error) {
	scripts, checked, err := checkedByScripts()
	if err != nil {
		return nil, err
	}
	unsettled := map[string]bool{}
	for _, u := range contracts.UnsettledAssertions() {
		unsettled[u.ID] = true
	}
	var rows []listing
	for _, a := range contracts.Assertions() {
		test := contracts.TestOf(a.ID)
		if len(rows) == 0 || rows[len(rows)-1].Test != test {
			rows = append(rows, listing{Test: test, Scripts: append([]string{}, scripts[test]...), Universal: []string{}, Unsettled: []string{}, Missing: []string{}})
		}
		row := &rows[len(rows)-1]
		row.Assertions++
		universal := slices.Contains(certify.UniversalIDs(), a.ID)
		switch {
		case universal:
			row.Universal = append(row.Universal, a.ID)
			row.Written++
		case checked[a.ID]:
			row.Written++
		case unsettled[a.ID]:
			row.Unsettled = append(row.Unsettled, a.ID)
		default:
			row.Missing = append(row.Missing, a.ID)
		}
	}
	return rows, nil
}

// checkedByScripts are the names of the scripts of each test, and the ids that
// any script checks.
func checkedByScripts() (scripts map[string][]string, checked map[string]bool, err error) {
	root, err := repository()
	if err != nil {
		return nil, nil, err
	}
	all, err := certify.LoadScripts(filepath.Join(root, "testdata"))
	if err != nil {
		return nil, nil, err
	}
	scripts, checked = map[string][]string{}, map[string]bool{}
	for _, s := range all {
		scripts[s.Test] = append(scripts[s.Test], s.Name)
		for _, id := range s.Checked() {
			checked[id] = true
		}
	}
	return scripts, checked, nil
}
