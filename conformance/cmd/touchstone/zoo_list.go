package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/conformance/certify"
	"touchstone/conformance/zoo"
	"touchstone/contracts"
	"touchstone/reports"
)

type zooListCommand struct {
	IDs  bool `name:"ids" help:"Every assertion, with the records on which it failed, or that name it."`
	JSON bool `name:"json" help:"One JSON object on stdout."`
}

// Run prints one line for each record, or each assertion.
func (c *zooListCommand) Run(p *program) error {
	all, abilities, err := zooRecords()
	if c.JSON {
		var data any = abilities
		if !c.IDs {
			data = recordRows(all)
		}
		return answer{kind: "zoo", data: data}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	if c.IDs {
		for _, a := range abilities {
			by := strings.Join(append(append(append([]string{}, a.Shown...), a.Altered...), a.Named...), " ")
			fmt.Fprintf(out, "%s\n", strings.TrimRight(fmt.Sprintf("%-8s%-9s%s", a.ID, a.Word(), by), " "))
		}
		n := zoo.Count(abilities)
		fmt.Fprintf(out, "%d assertions: %d shown to fail on a broken launcher, %d more on altered evidence; %d are named by a record\n", n.All, n.Shown, n.Altered, n.Named)
	} else {
		for _, m := range all {
			fmt.Fprintf(out, "%s  %s  %s\n", m.ID, strings.Join(orScripts(m), " "), m.Mistake)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print list: %w", err)
	}
	return nil
}

// orScripts are a record's assertions; of a change that is allowed, the
// scripts that must stay green.
func orScripts(m zoo.Mutant) []string {
	if m.Kind == zoo.Equivalent {
		return m.Scripts
	}
	return m.CaughtBy
}

type recordRow struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Mistake string   `json:"mistake"`
	Named   []string `json:"named"`
	Scripts []string `json:"scripts"`
}

func recordRows(all []zoo.Mutant) []recordRow {
	rows := []recordRow{}
	for _, m := range all {
		rows = append(rows, recordRow{m.ID, string(m.Kind), m.Mistake, append([]string{}, m.CaughtBy...), append([]string{}, m.Scripts...)})
	}
	return rows
}

func zooRecords() ([]zoo.Mutant, []zoo.Ability, error) {
	root, err := repository()
	if err != nil {
		return nil, nil, err
	}
	all, err := zoo.LoadAll(root)
	if err != nil {
		return nil, nil, err
	}
	kept, err := zoo.ReadRatchet(root)
	if err != nil {
		return nil, nil, err
	}
	abilities, err := zoo.Abilities(root, all, kept)
	return all, abilities, err
}

type zooExplainCommand struct {
	ID   string `arg:"" help:"A record: MUT058, EQU001, second/MUT017."`
	JSON bool   `name:"json" help:"One JSON object on stdout."`
}

type explanation struct {
	recordRow
	Reason     string             `json:"reason"`
	Assertions map[string]string  `json:"assertions"` // what each named one says
	Diff       string             `json:"diff"`
	Shown      []string           `json:"shown"` // assertions that failed, from the ratchet
	Last       *reports.ZooRecord `json:"last"`  // of the latest matrix that asked, null when there is none
}

// Run shows one record.
func (c *zooExplainCommand) Run(p *program) error {
	e, err := c.explain()
	if c.JSON {
		return answer{kind: "zoo", data: e}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	fmt.Fprintf(out, "%s  %s\n\n%s\n\n%s\n", e.ID, e.Mistake, e.Reason, e.Diff)
	for _, id := range e.Named {
		fmt.Fprintf(out, "%-7s %s\n", id, e.Assertions[id])
	}
	if len(e.Scripts) > 0 {
		fmt.Fprintf(out, "faces %s\n", strings.Join(e.Scripts, " "))
	}
	fmt.Fprintf(out, "shown %s\n", strings.Join(e.Shown, " "))
	if e.Last == nil {
		fmt.Fprintln(out, "last  in no matrix of reports/out")
	} else {
		fmt.Fprintf(out, "last  %s in %.1f s (build %.1f s): %s\n", e.Last.State, e.Last.Seconds, e.Last.BuildSeconds, strings.Join(e.Last.Jobs, ", "))
		for _, k := range e.Last.Kills {
			fmt.Fprintf(out, "      %s %s %s: saw %s, wanted %s\n", k.ID, k.Script, k.Cell, oneLine(k.Seen), oneLine(k.Wanted))
		}
		fmt.Fprintf(out, "      passed %v, undecided %v, failed besides %v %s\n", e.Last.Missed, e.Last.Undecided, e.Last.Others, oneLine(e.Last.Problem))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print record: %w", err)
	}
	return nil
}

func (c *zooExplainCommand) explain() (explanation, error) {
	root, err := repository()
	if err != nil {
		return explanation{}, err
	}
	all, err := zoo.LoadAll(root)
	if err != nil {
		return explanation{}, err
	}
	chosen, err := zoo.Choose(all, []string{c.ID})
	if err == nil && len(chosen) != 1 {
		err = fmt.Errorf("mutant %q: %d records; name one", c.ID, len(chosen))
	}
	if err != nil {
		return explanation{}, &certify.UsageError{Problem: oneLine(err.Error())}
	}
	kept, err := zoo.ReadRatchet(root)
	if err != nil {
		return explanation{}, err
	}
	m := chosen[0]
	e := explanation{recordRow: recordRows(chosen)[0], Reason: m.Reason, Assertions: map[string]string{}, Shown: append([]string{}, kept[m.ID].IDs...)}
	for _, id := range m.CaughtBy {
		a, _ := contracts.AssertionByID(id) // the record was checked
		e.Assertions[id] = a.Action + ": " + a.Expect
	}
	if e.Diff, err = m.Diff(root); err != nil {
		e.Diff = err.Error()
	}
	e.Last, err = lastSeen(outFolder(root), m.ID)
	return e, err
}

// lastSeen is what the latest matrix below a folder says of a record, nil when
// none does. Run ids sort by time.
func lastSeen(folder, id string) (*reports.ZooRecord, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "zoo-*", reports.ZooFile))
	if err != nil {
		return nil, fmt.Errorf("list matrices: %w", err)
	}
	slices.Sort(paths)
	for _, path := range slices.Backward(paths) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read matrix: %w", err)
		}
		var z reports.Zoo
		if err := json.Unmarshal(text, &z); err != nil {
			return nil, fmt.Errorf("read matrix %s: %w", path, err)
		}
		if i := slices.IndexFunc(z.Records, func(r reports.ZooRecord) bool { return r.ID == id }); i >= 0 {
			return &z.Records[i], nil
		}
	}
	return nil, nil
}
