package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sys/unix"

	"touchstone/contracts"
)

// programs are built once per run: the host, S with all that it needs, a
// strategy, and the fake S.
var programs = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "host-test-")
	if err != nil {
		return "", err
	}
	launcher, err1 := filepath.Glob("../jail/launcher/*.c")
	producer, err2 := filepath.Glob("../producer/*.c")
	if err := errors.Join(err1, err2, os.Chmod(folder, 0o755)); err != nil { // the producer's identity reads it
		return folder, err
	}
	gcc := []string{"gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"}
	with := func(words ...string) []string { return append(gcc[:len(gcc):len(gcc)], words...) }
	native := "../../fixtures/native/"
	for _, command := range [][]string{
		{"go", "build", "-o", folder + "/", "../cmd/refhost", "../cmd/refsup", "../cmd/reffinal"},
		with(append([]string{folder + "/jail", "-static"}, launcher...)...),
		with(append(append([]string{folder + "/producer"}, producer...), "-ldl", "-lm")...),
		with(folder+"/fake", "testdata/fake.c"),
		with(folder+"/plain.so", "-shared", "-fPIC", "-fvisibility=hidden", native+"plain.c", native+"fixture.c",
			native+"sink_writer.c", native+"abi_reference.c"),
		with(folder+"/flood.so", "-shared", "-fPIC", "-fvisibility=hidden", native+"flood_diagnostics.c", native+"fixture.c",
			native+"sink_writer.c", native+"abi_reference.c"),
		with(folder+"/sink.so", "-shared", "-fPIC", "-fvisibility=hidden", native+"write_every_tag.c", native+"fixture.c",
			native+"sink_writer.c", native+"abi_reference.c", native+"abi_reference_sink.c"),
		with(folder+"/hang.so", "-shared", "-fPIC", "-fvisibility=hidden", "testdata/print_and_hang.c", native+"fixture.c",
			native+"sink_writer.c", native+"abi_reference.c"),
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return folder, fmt.Errorf("build %s: %w\n%s", command[0], err, output)
		}
	}
	pairing := fmt.Sprintf(`{"version":1,"producer":{"path":"%[1]s/producer"},"jail":{"path":"%[1]s/jail"},`+
		`"finalizer":{"path":"%[1]s/reffinal"},"uids":{"first":200000,"count":4096},`+
		`"system":["/usr","/lib","/lib64","/bin","/etc/ld.so.cache"],"scratch_bytes":8388608,"scratch_files":256}`, folder)
	return folder, errors.Join(os.WriteFile(folder+"/pairing.json", []byte(pairing), 0o644),
		os.WriteFile(folder+"/chart.csv", []byte("timestamp,open,high,low,close,volume\n0,1,1,1,1,1\n"), 0o644))
})

func TestMain(m *testing.M) {
	code := m.Run()
	if folder, err := programs(); err == nil {
		_ = os.RemoveAll(folder) // the system's temporary folder anyway
	}
	os.Exit(code)
}

// launch is one attempt of refhost. Exactly one of fake and command is given.
type launch struct {
	fake    []string // words of the fake S
	command []string
	flags   []string
	env     []string // added to this process's own
	pairing string   // "" is the test's own
	report  string   // "" is a name in the attempt's folder
	after   func(host *os.Process, folder string)
	folder  string // "" is a new one

	sinkWord bool // the fake is told of its sink, as every S is
}

// result is what refhost left.
type result struct {
	exit        int
	stderr      string
	folder      string
	elapsed     time.Duration
	disposition document
	content     []byte // of the disposition; nil for none
}

// document is the part of the document that the tests read.
type document struct {
	AttemptID string `json:"attempt_id"`
	Outcome   string `json:"outcome"`
	Cause     *struct {
		Code      string         `json:"code"`
		Args      map[string]any `json:"args"`
		Authority string         `json:"authority"`
	} `json:"cause"`
	Findings   []string `json:"findings"`
	Cancelled  bool     `json:"cancelled"`
	Supervisor struct {
		Exit   *int `json:"exit_status"`
		Signal *int `json:"signal"`
		WallMS int  `json:"wall_ms"` // syncing files, which can take seconds, is not in it
	} `json:"supervisor"`
	Channels struct {
		Report, Diagnostic, Sink *struct {
			Bytes  int64  `json:"bytes"`
			SHA256 string `json:"sha256"`
			Ended  bool   `json:"ended"`
		}
		Status struct {
			Packets, Bytes int
			Ended          bool
		}
	} `json:"channels"`
	Record map[string]any `json:"record"`
	Reaped struct {
		Processes     int      `json:"processes"`
		ControlGroups int      `json:"control_groups"`
		Files         int      `json:"files"`
		Left          []string `json:"left"`
	} `json:"reaped"`
}

func requireRoot(t testing.TB) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not run: needs root")
	}
	folder, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// arguments is refhost's command line; its files are in folder.
func (l launch) arguments(bin, folder string) []string {
	report := l.report
	if report == "" {
		report = folder + "/report.json"
	}
	arguments := append([]string{"--report", report, "--disposition", folder + "/disposition.json", "--spool", folder + "/spool",
		"--pairing", cmp.Or(l.pairing, bin+"/pairing.json")}, l.flags...)
	if l.fake != nil {
		arguments = append(append(arguments, "--", bin+"/fake", "{attempt_id}"), l.fake...)
		if l.sinkWord && slices.Contains(l.flags, "--sink") {
			arguments = append(arguments, "sink={sink_fd}")
		}
		if l.sinkWord && slices.Contains(l.flags, "--named-sink") {
			arguments = append(arguments, "sink={named_sink}")
		}
		return arguments
	}
	return append(append(arguments, "--"), l.command...)
}

func (l launch) start(t testing.TB) (*exec.Cmd, *bytes.Buffer, string) {
	t.Helper()
	bin, folder := requireRoot(t), l.folder
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.Mkdir(folder+"/spool", 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	command, stderr := exec.Command(bin+"/refhost", l.arguments(bin, folder)...), &bytes.Buffer{}
	command.Stderr, command.Env = stderr, append(os.Environ(), l.env...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, stderr, folder
}

// run waits for refhost, far away from a hang limit, and holds what it left
// against what holds for every attempt.
func (l launch) run(t testing.TB) result {
	t.Helper()
	begin := time.Now()
	command, stderr, folder := l.start(t)
	hang := time.AfterFunc(30*time.Second, func() { _ = command.Process.Kill() })
	defer hang.Stop()
	if l.after != nil {
		l.after(command.Process, folder)
	}
	err := command.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := result{exit: command.ProcessState.ExitCode(), stderr: stderr.String(), folder: folder, elapsed: time.Since(begin)}
	r.read(t)
	return r
}

// read reads the one disposition, if there is one, strictly by its schema.
func (r *result) read(t testing.TB) {
	t.Helper()
	content, err := os.ReadFile(r.folder + "/disposition.json")
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err == nil {
		err = dispositionSchema(t).Validate(document)
	}
	if err == nil {
		err = json.Unmarshal(content, &r.disposition)
	}
	if err != nil {
		t.Errorf("disposition: %v\n%.2000s", err, content)
	}
	r.content = content
}

func dispositionSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	content, err := contracts.Schema("host-disposition.v1")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("disposition", document); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("disposition")
}

// wall is how long S took, as its host saw it.
func (r result) wall() time.Duration {
	return time.Duration(r.disposition.Supervisor.WallMS) * time.Millisecond
}

// cause is outcome, code, channel and reason, and authority in one line.
func (r result) cause() string {
	d := r.disposition
	if r.content == nil {
		return "no disposition"
	}
	if d.Cause == nil {
		return d.Outcome
	}
	args, err := json.Marshal(d.Cause.Args)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s%s %s", d.Outcome, d.Cause.Code, args, d.Cause.Authority)
}

// wants holds a result against its exit and cause, and looks for what no
// attempt may leave: private files, storage, control groups, a manifest, or a
// report that was not accepted.
func (r result) wants(t testing.TB, exit int, cause string) {
	t.Helper()
	if r.exit != exit || r.cause() != cause {
		t.Errorf("got exit %d, %s, findings %q, %s\nwant exit %d, %s", r.exit, r.cause(), r.disposition.Findings, r.stderr, exit, cause)
	}
	r.clean(t)
}

func (r result) clean(t testing.TB) {
	t.Helper()
	accepted := r.disposition.Outcome == "accepted"
	var left []string
	err := filepath.WalkDir(r.folder, func(path string, entry os.DirEntry, err error) error {
		name, _ := filepath.Rel(r.folder, path)
		known := name == "." || name == "spool" || name == "disposition.json" || name == "notes" || strings.HasPrefix(name, "given") ||
			accepted && (name == "report.json" || name == "sink")
		if !known {
			left = append(left, name)
		}
		return err
	})
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %q %v", left, err)
	}
	if groups := controlGroups(t, r.disposition.AttemptID); len(groups) > 0 {
		t.Errorf("left: %q", groups)
	}
	if len(r.disposition.Reaped.Left) > 0 {
		t.Errorf("left: %q", r.disposition.Reaped.Left)
	}
}

// controlGroups finds groups of an attempt wherever they are mounted.
func controlGroups(t testing.TB, attempt string) (found []string) {
	t.Helper()
	if attempt == "" {
		return nil
	}
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), "touchstone-"+attempt) {
			found = append(found, path)
		}
		return nil // groups of others come and go
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const (
	byProtocol = `rejected report_channel_failed{"channel":"status","reason":"protocol"} host`
	byDeadline = `rejected report_channel_failed{"channel":"status","reason":"deadline"} host`
	byIO       = `rejected report_channel_failed{"channel":"status","reason":"io"} host`
)

// awaitNotes waits until a byte of diagnostics has been kept.
func awaitNotes(t testing.TB, folder string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		names, _ := filepath.Glob(folder + "/.notes.*.partial") // a constant pattern
		if len(names) == 1 {
			if info, err := os.Stat(names[0]); err == nil && info.Size() > 0 {
				return
			}
		}
		_, _ = unix.Poll(nil, 1) // a bound on how often, not a step
	}
	t.Fatal("no diagnostics")
}

// awaitFile waits until a process has written a file, which it does last.
func awaitFile(t testing.TB, path string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if text, err := os.ReadFile(path); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			return strings.TrimSpace(string(text))
		}
		_, _ = unix.Poll(nil, 1) // a bound on how often, not a step
	}
	t.Fatalf("%s: not written", path)
	return ""
}
