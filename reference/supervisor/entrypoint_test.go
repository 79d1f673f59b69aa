package supervisor_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// build is what the entrypoint builds, and with what. Each tool is the words of
// a shim, "" for one that does nothing; with real it is the reference's own, the
// system's compiler, and the reference producer.
type build struct {
	transpiler, compiler, binder string

	real     bool
	strategy string // strategy.pine; "" is one that no shim reads
	code     string // strategy.cpp instead
	chart    string // "" is the test's own; "-" is none
	nothing  bool   // neither source
	memory   int64  // bytes that the real compiler may use; 0 is no bound
}

// paired adds the tools to a pairing file.
func (b *build) paired(content, folder string) []byte {
	if b == nil {
		return []byte(content)
	}
	tool := func(words string) string {
		arguments, _ := json.Marshal(strings.Fields(words)) // texts have a spelling
		return fmt.Sprintf(`{"path":%q,"arguments":%s}`, folder+"/tool", arguments)
	}
	tools := fmt.Sprintf(`,"transpiler":%s,"compiler":%s,"binder":%s}`, tool(b.transpiler), tool(b.compiler), tool(b.binder))
	if b.real {
		tools = fmt.Sprintf(`,"transpiler":{"path":%q},"compiler":{"path":"/usr/bin/g++","arguments":["-std=c++17","-O2",`+
			`"-ffp-contract=off","-fPIC","-shared"],"memory_bytes":%d},"binder":{"path":%q}}`,
			folder+"/reftranspile", b.memory, folder+"/refbind")
	}
	return []byte(strings.TrimSuffix(content, "}") + tools)
}

// realTools are built once, by the tests that need them.
var realTools = sync.OnceValue(func() error {
	folder, err := programs()
	if err != nil {
		return err
	}
	sources, err := filepath.Glob("../producer/*.c")
	if err != nil {
		return err
	}
	for _, command := range [][]string{
		{"go", "build", "-o", folder + "/", "../cmd/reftranspile", "../cmd/refbind"},
		append([]string{"gcc", "-std=c11", "-O2", "-o", folder + "/producer"}, append(sources, "-ldl", "-lm")...),
		{"install", "-D", "-m", "644", "-t", folder + "/include", "../entrypoint/include/strategy.hpp",
			"../entrypoint/include/series.hpp", "../../fixtures/native/engine_abi.h"},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", command[0], err, output)
		}
	}
	return nil
})

// mounted makes the mounts and returns the launch of the entrypoint.
func (l launch) mounted(t *testing.T) launch {
	t.Helper()
	folder := requireRoot(t)
	if l.build.real {
		if _, err := exec.LookPath("g++"); err != nil {
			t.Skip("not run: needs g++")
		}
		if err := realTools(); err != nil {
			t.Fatal(err)
		}
		l.producer = folder + "/producer"
	}
	in := t.TempDir()
	put := func(name, content string) {
		if err := os.WriteFile(filepath.Join(in, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case l.build.code != "":
		put("strategy.cpp", l.build.code)
	case !l.build.nothing:
		put("strategy.pine", l.build.strategy)
	}
	switch {
	case l.build.chart == "":
		put("ohlcv.csv", "timestamp,open,high,low,close,volume\n60000,1,2,1,2,9\n120000,2,4,2,4,9\n180000,4,4,3,3,9\n")
	case l.build.chart != "-":
		put("ohlcv.csv", l.build.chart)
	}
	l.env = append([]string{"PINEFORGE_REPORT_CHANNEL=supervised/v1", "PINEFORGE_TERMINAL_STATUS_FD=3", "PINEFORGE_IN_DIR=" + in,
		"PINEFORGE_PREFIX=" + folder}, l.env...)
	if l.actor != "" {
		l.env = append(l.env, "PINEFORGE_INPUTS="+l.actor)
	}
	return l
}

// legacy runs the same without negotiation.
func (l launch) legacy(t *testing.T, more ...string) (stdout, stderr string, exit int) {
	t.Helper()
	command := l.unsupervised(t, more...)
	var out, diagnostics bytes.Buffer
	command.Stdout, command.Stderr = &out, &diagnostics
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String(), diagnostics.String(), command.ProcessState.ExitCode()
}

func (l launch) unsupervised(t *testing.T, more ...string) *exec.Cmd {
	t.Helper()
	l = l.mounted(t)
	folder := requireRoot(t)
	producer := cmp.Or(l.producer, folder+"/actor")
	pairing := filepath.Join(t.TempDir(), "pairing.json")
	content := fmt.Sprintf(`{"version":1,"producer":{"path":%q},"jail":{"path":"/none"},"uids":{"first":200000,"count":1}}`, producer)
	if err := os.WriteFile(pairing, l.build.paired(content, folder), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(folder+"/refsup", "entrypoint")
	command.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "TOUCHSTONE_PAIRING=" + pairing}, l.env[2:]...), more...)
	return command
}

const upStrategy = "strategy \"up\"\ninput size = 2\nwhen close > previous(close): long size; print \"up at \", close\n" +
	"when close < previous(close): exit; note \"down\"\nat exit: print \"over\"; note \"and out\"\n"

// code is C++ with buffered output in a callback and in a static destructor.
const code = `#include <cstdio>
#include <iostream>
#include <strategy.hpp>
struct own final : touchstone::strategy {
	double *input(const std::string &) override { return nullptr; }
	void bar() override { std::printf("c%g ", now.index); std::cout << "s" << now.index << " "; }
};
struct farewell { ~farewell() { std::printf("c out "); std::cout << "s out "; } } at_exit;
TOUCHSTONE_STRATEGY(own)
`

// TestEntrypoint: a strategy and C++, through the real tools; all output of the
// library is diagnostics, the report is the unsupervised one (T5.01).
func TestEntrypoint(t *testing.T) {
	for name, b := range map[string]*build{"strategy": {real: true, strategy: upStrategy}, "code": {real: true, code: code}} {
		t.Run(name, func(t *testing.T) {
			l := launch{build: b}
			r := l.mounted(t).run(t)
			r.wants(t, 0, "")
			words := map[string][]string{
				"strategy": {"up at 4\n", "down\n", "over\n", "and out\n"},
				"code":     {"c0 s0 c1 s1 c2 s2 ", "c out s out "},
			}[name]
			total := 0
			for _, word := range words {
				total += len(word)
				if !strings.Contains(string(r.diagnostics), word) {
					t.Errorf("no %q in diagnostics %q", word, r.diagnostics)
				}
			}
			if len(r.diagnostics) != total {
				t.Errorf("diagnostics %q", r.diagnostics)
			}
			if trades := bytes.Count(r.report, []byte(`"side":"long","entry_time":120000`)); trades != map[string]int{"strategy": 1}[name] {
				t.Errorf("%d trades in %s", trades, r.report)
			}
			facts := r.facts(t)
			if facts.Invocation != "entrypoint" || *r.record.Producer.Stage != "publish" {
				t.Errorf("invocation %s, stage %s", facts.Invocation, *r.record.Producer.Stage)
			}
			compile, prepare := facts.Usage.Stages["compile"], facts.Usage.Stages["prepare"]
			if cpu := compile.Resources["cpu_user"].Used; cpu == nil || *cpu < 50_000 {
				t.Errorf("compile cpu %v", cpu)
			}
			if prepare.State != "measured" || prepare.Resources["wall"].Used == nil {
				t.Errorf("prepare is %s", prepare.State)
			}
			stdout, stderr, exit := l.legacy(t)
			line, prints, _ := strings.Cut(stdout, "\n")
			if exit != 0 || !strings.Contains(stderr, "[pineforge] ") || len(prints) != total {
				t.Errorf("unsupervised: exit %d, %q, %q", exit, prints, stderr)
			}
			if got, want := blanked(string(r.report)), blanked(line+"\n"); got != want {
				t.Errorf("report\n%s\nunsupervised\n%s", got, want)
			}
		})
	}
}

// blanked blanks what differs between two runs: the folder of the mounts and
// the time that a run took.
func blanked(report string) string {
	_, rest, _ := strings.Cut(report, `"ohlcv":"`)
	path, _, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(report, `"elapsed_seconds":`)
	elapsed, _, _ := strings.Cut(rest, ",")
	return strings.NewReplacer(path, "PATH", `"elapsed_seconds":`+elapsed, `"elapsed_seconds":0`).Replace(report)
}

// TestEntrypointRefusals: nothing starts; a missing mount has an exit of its own.
func TestEntrypointRefusals(t *testing.T) {
	const usage = `run_request_invalid{"option":"arguments"}`
	const policy = `run_isolation_unavailable{"reason":"policy"}`
	for _, c := range []struct {
		name  string
		l     launch
		exit  int
		cause string
	}{
		{"no source", launch{build: &build{nothing: true}}, 2, usage},
		{"no chart", launch{build: &build{chart: "-"}}, 2, usage},
		{"version", launch{build: &build{}, env: []string{"PINEFORGE_REPORT_CHANNEL=supervised/v2"}}, 4, usage},
		{"knob", launch{build: &build{}, env: []string{"PINEFORGE_REPORT_MAX_BYTES=-1"}}, 4, usage},
		{"usage before mounts", launch{build: &build{nothing: true}, env: []string{"PINEFORGE_REPORT_MAX_BYTES="}}, 4, usage},
		{"transpile only", launch{build: &build{}, env: []string{"PINEFORGE_TRANSPILE_ONLY=1"}}, 4, usage},
		{"phase", launch{build: &build{}, env: []string{"PINEFORGE_RUN_PHASE_FD=9"}}, 4, usage},
		{"mode", launch{build: &build{}, env: []string{"PINEFORGE_REPORT_MODE=STREAMED"}}, 4,
			`report_mode_unsupported{"contract":"pineforge-report/v1","mode":"STREAMED"}`},
		{"no room", launch{build: &build{}, spool: 67108864}, 4, policy},
		{"ordinary user", launch{build: &build{}, user: 12345}, 4, policy},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.l.build.transpiler = "err=5"
			r := c.l.mounted(t).run(t)
			if r.exit != c.exit || r.cause() != c.cause || len(r.diagnostics) > 0 || r.record.Producer.Stage != nil {
				t.Errorf("got exit %d, %s, stage %v, diagnostics %q\nwant exit %d, %s", r.exit, r.cause(), r.record.Producer.Stage,
					r.diagnostics, c.exit, c.cause)
			}
		})
	}
}

// TestLegacyEntrypoint: the shell's exits, messages and streams (T36.41).
func TestLegacyEntrypoint(t *testing.T) {
	for _, c := range []struct {
		name   string
		build  build
		actor  string
		more   string
		exit   int
		stdout string
	}{
		{"transpiler", build{transpiler: "status=1"}, "", "", 5, ""},
		{"compiler writes to the report", build{compiler: "out=3 status=9"}, "", "", 3, "ttt"},
		{"binder", build{binder: "signal=9"}, "", "", 3, ""},
		{"no source", build{nothing: true}, "", "", 2, ""},
		{"no chart", build{chart: "-", transpiler: "out=1"}, "", "", 2, "t"},
		{"producer", build{}, "out=2 status=1", "", 4, "xx"},
		{"knob", build{}, "", "PINEFORGE_CHANNEL_WALL_MS=5", 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, exit := launch{build: &c.build, actor: c.actor}.legacy(t, c.more)
			if exit != c.exit || stdout != c.stdout || !strings.Contains(stderr, "[pineforge] ") {
				t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
			}
		})
	}
	temporary := t.TempDir()
	stopped := launch{build: &build{compiler: "err=1 spin"}}.unsupervised(t, "TMPDIR="+temporary)
	progress := must(stopped.StderrPipe())(t)
	if err := stopped.Start(); err != nil {
		t.Fatal(err)
	}
	for line, seen := make([]byte, 1), byte(0); seen != 't'; seen = line[0] { // the shim's byte, behind our own lines
		if _, err := io.ReadFull(progress, line); err != nil {
			t.Fatal(err)
		}
		if line[0] == '[' {
			skipLine(t, progress)
		}
	}
	if err := stopped.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = stopped.Wait() // its exit is looked at
	if left := must(os.ReadDir(temporary))(t); stopped.ProcessState.ExitCode() != 3 || len(left) > 0 {
		t.Errorf("stopped: exit %d, left %v", stopped.ProcessState.ExitCode(), left)
	}
	stdout, _, exit := launch{build: &build{real: true, strategy: upStrategy, chart: "-"}}.legacy(t, "PINEFORGE_TRANSPILE_ONLY=1")
	if exit != 0 || !strings.HasPrefix(stdout, "// Written by reftranspile.") {
		t.Errorf("transpile only: exit %d, %q", exit, stdout)
	}
}

// facts are further parts of a record.
type facts struct {
	Invocation string `json:"invocation"`
	Usage      struct {
		Stages map[string]struct {
			State     string `json:"state"`
			Resources map[string]struct {
				Used *int64 `json:"used"`
			} `json:"resources"`
		} `json:"stages"`
	} `json:"usage"`
}

func (r result) facts(t *testing.T) (f facts) {
	t.Helper()
	if len(r.packets) != 1 {
		t.Fatalf("%d packets", len(r.packets))
	}
	if err := json.Unmarshal(r.packets[0], &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func skipLine(t *testing.T, r io.Reader) {
	t.Helper()
	for b := make([]byte, 1); b[0] != '\n'; {
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
	}
}
