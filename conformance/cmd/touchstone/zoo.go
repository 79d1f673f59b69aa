package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"touchstone/conformance/certify"
	"touchstone/conformance/zoo"
	"touchstone/reports"
)

type zooCommand struct {
	Run     zooRunCommand     `cmd:"" help:"Build launchers that are wrong in one way and say which assertions fail on them. Exit 0 every mistake found and nothing looser than before, 1 not, 64, 70."`
	List    zooListCommand    `cmd:"" help:"List the broken launchers, or with --ids what shows of each assertion that it can fail. Exit 0, 64, 70."`
	Explain zooExplainCommand `cmd:"" help:"Show one broken launcher: its change, its assertions, what was seen. Exit 0, 64, 70."`
	Alter   zooAlterCommand   `cmd:"" help:"Alter recorded evidence, one thing at a time, and say which assertions notice. Exit 0 all that passed do, 1 not, 64, 70."`
}

type zooRunCommand struct {
	Mutants []string      `help:"Globs over records: MUT058, EQU*, second/*; all when absent." placeholder:"GLOB,…"`
	Changed bool          `help:"Only records that a change touches, in their own file or in a file of their pieces."`
	Since   string        `help:"Revision that --changed compares with; where the branch left origin's, or the commit before, when absent." placeholder:"REV"`
	Part    string        `help:"Only every Nth record, K of N: N parts are everything." placeholder:"K/N"`
	Budget  time.Duration `help:"Begin no script after this long; records left are listed, and are no failure." placeholder:"DURATION"`
	Jobs    int           `short:"j" help:"Records at a time; the number of processors when 0." default:"0"`
	Out     string        `help:"Folder for zoo.json, zoo.html and the evidence of what was not found, new or empty; reports/out/zoo-RUN-ID when absent." placeholder:"DIR"`
	Ratchet bool          `help:"Add what was shown to conformance/zoo/ratchet.tsv, if nothing is looser."`
	JSON    bool          `name:"json" help:"One JSON object on stdout; progress stays on stderr."`
}

type zooData struct {
	Folder string      `json:"folder"`
	Matrix reports.Zoo `json:"matrix"`
}

// Run asks the suite about the chosen records and writes the kill matrix.
func (c *zooRunCommand) Run(p *program) error {
	matrix, folder, err := c.matrix(p)
	status := 0
	if !matrix.Good() {
		status = 1
	}
	if c.JSON {
		a := answer{kind: "zoo", status: status, data: zooData{folder, matrix}}
		if bad := badOfZoo(matrix); len(bad) > 0 {
			a.finding = bad[0]
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	for _, line := range badOfZoo(matrix) {
		fmt.Fprintln(out, oneLine(line))
	}
	fmt.Fprintf(out, "%s\n%s\n", zooSummary(matrix), filepath.Join(folder, reports.ZooPageFile))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print summary: %w", err)
	}
	return exit(status)
}

// badOfZoo has a line for each record that was not found, and for what is looser.
func badOfZoo(z reports.Zoo) []string {
	var lines []string
	for _, r := range z.Records {
		if r.State != reports.Killed && r.State != reports.EquivalentGreen {
			lines = append(lines, fmt.Sprintf("%s %s: %s; passed %v, undecided %v, failed besides %v %s %s", r.State, r.ID, r.Mistake, r.Missed, r.Undecided, r.Others, r.Problem, r.Evidence))
		}
	}
	for _, l := range z.Looser {
		lines = append(lines, "looser "+l)
	}
	return lines
}

func zooSummary(z reports.Zoo) string {
	var parts []string
	for _, state := range reports.ZooStates() {
		if n := z.Totals[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(z.Left) > 0 {
		parts = append(parts, fmt.Sprintf("%d left for want of time", len(z.Left)))
	}
	return fmt.Sprintf("%s: %s in %.0f s; %d of %d assertions shown to fail, %d more on altered evidence", z.Chosen, strings.Join(parts, ", "), z.Seconds,
		z.IDs.Shown, z.IDs.All, z.IDs.Altered)
}

// matrix runs what is chosen and writes zoo.json and zoo.html.
func (c *zooRunCommand) matrix(p *program) (z reports.Zoo, folder string, err error) {
	root, err := repository()
	if err != nil {
		return z, "", err
	}
	if os.Geteuid() != 0 {
		return z, "", &certify.UsageError{Problem: "zoo run needs root: attempts are made in namespaces of their own; run as root (touchstone doctor says more)"}
	}
	all, err := zoo.LoadAll(root)
	if err != nil {
		return z, "", err
	}
	chosen, words, err := c.choose(root, all)
	if err != nil {
		return z, "", err
	}
	if folder, err = c.folder(root); err != nil {
		return z, "", err
	}
	z = reports.Zoo{Schema: "touchstone-zoo", Version: reports.ZooVersion, Suite: suiteVersion(), Started: time.Now().UTC().Format(time.RFC3339), Chosen: words,
		Jobs: c.Jobs, Totals: map[string]int{}, Records: []reports.ZooRecord{}, Left: []string{}, Looser: []string{}, NotYet: []string{}}
	if z.Jobs <= 0 {
		z.Jobs = runtime.NumCPU()
	}
	started := time.Now()
	if len(chosen) > 0 {
		if z.Records, z.Left, err = c.ask(p, root, folder, chosen, z.Jobs); err != nil {
			return z, "", err
		}
	}
	z.Seconds = time.Since(started).Seconds()
	for _, r := range z.Records {
		z.Totals[r.State]++
	}
	if err := c.ratchet(root, all, &z); err != nil {
		return z, "", err
	}
	return z, folder, writeZoo(folder, z)
}

// choose picks the records, and says which they are.
func (c *zooRunCommand) choose(root string, all []zoo.Mutant) (chosen []zoo.Mutant, words string, err error) {
	if chosen, err = zoo.Choose(all, c.Mutants); err != nil {
		return nil, "", &certify.UsageError{Problem: err.Error()}
	}
	if words = strings.Join(c.Mutants, ","); words == "" {
		words = "all records"
	}
	if c.Changed || c.Since != "" {
		files, since, err := zoo.ChangedSince(root, c.Since)
		if err != nil {
			return nil, "", &certify.UsageError{Problem: err.Error()}
		}
		chosen = zoo.Touched(chosen, files)
		words += ", touched since " + since
	}
	if c.Part == "" {
		return chosen, words, nil
	}
	first, second, _ := strings.Cut(c.Part, "/")
	number, err := strconv.Atoi(first)
	n, nErr := strconv.Atoi(second)
	if err != nil || nErr != nil || number < 1 || number > n {
		return nil, "", &certify.UsageError{Problem: fmt.Sprintf("part %q: want K/N with K from 1 to N", c.Part)}
	}
	return zoo.Part(all, chosen, number-1, n), words + ", part " + c.Part, nil
}

func (c *zooRunCommand) folder(root string) (string, error) {
	folder := c.Out
	if folder == "" {
		folder = filepath.Join(outFolder(root), "zoo-"+certify.NewRunID())
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("find folder: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", &certify.UsageError{Problem: fmt.Sprintf("output folder: %v", err)}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return "", &certify.UsageError{Problem: fmt.Sprintf("output folder %s: not empty; name a new one", folder)}
	}
	return folder, nil
}

func (c *zooRunCommand) ask(p *program, root, folder string, chosen []zoo.Mutant, jobs int) (rows []reports.ZooRecord, left []string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own executable: %w", err)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	var deadline time.Time
	if c.Budget > 0 {
		deadline = time.Now().Add(c.Budget)
	}
	runner, err := zoo.NewRunner(ctx, root, filepath.Join(filepath.Dir(exe), "touchstone-attempt"), folder,
		zoo.NewBuilder(root, filepath.Join(root, ".build", "zoo")), chosen)
	var lacking *certify.NotRunError
	if errors.As(err, &lacking) {
		return nil, nil, &certify.UsageError{Problem: lacking.Error()}
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	done := 0
	return runner.AskAll(ctx, chosen, jobs, deadline, func(r reports.ZooRecord) {
		done++
		var ids []string
		for _, k := range r.Kills {
			ids = append(ids, k.ID)
		}
		fmt.Fprintf(p.stderr, "%3d/%d %-16s %s %.1f s %s\n", done, len(chosen), r.State, r.ID, r.Seconds, strings.Join(ids, " "))
	})
}

// ratchet holds the run against what was shown before.
func (c *zooRunCommand) ratchet(root string, all []zoo.Mutant, z *reports.Zoo) error {
	kept, err := zoo.ReadRatchet(root)
	if err != nil {
		return err
	}
	z.Looser = kept.Hear(z.Records)
	abilities, err := zoo.Abilities(root, all, kept)
	if err != nil {
		return err
	}
	z.IDs = zoo.Count(abilities)
	for _, a := range abilities {
		if len(a.Shown)+len(a.Altered) == 0 {
			z.NotYet = append(z.NotYet, a.ID)
		}
	}
	if c.Ratchet && len(z.Looser) == 0 {
		return kept.Write(root)
	}
	return nil
}

func writeZoo(folder string, z reports.Zoo) error {
	text, err := reports.EncodeZoo(z)
	if err != nil {
		return err
	}
	var page strings.Builder
	if err := reports.WriteZooHTML(&page, z); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(folder, reports.ZooFile), text, 0o644),
		os.WriteFile(filepath.Join(folder, reports.ZooPageFile), []byte(page.String()), 0o644)); err != nil {
		return fmt.Errorf("write kill matrix: %w", err)
	}
	return nil
}
