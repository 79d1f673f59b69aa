package supervisor_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

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
		{"install", "-D", "-m", "644", "-t", folder + "/include", "../entrypoint/include/strategy.hpp", "../../fixtures/native/engine_abi.h"},
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
	l = l.mounted(t)
	folder := requireRoot(t)
	producer := l.producer
	if producer == "" {
		producer = folder + "/actor"
	}
	pairing := filepath.Join(t.TempDir(), "pairing.json")
	content := fmt.Sprintf(`{"version":1,"producer":{"path":%q},"jail":{"path":"/none"},"uids":{"first":200000,"count":1}}`, producer)
	if err := os.WriteFile(pairing, l.build.paired(content, folder), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(folder+"/refsup", "entrypoint")
	command.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "TOUCHSTONE_PAIRING=" + pairing}, l.env[2:]...), more...)
	var out, diagnostics bytes.Buffer
	command.Stdout, command.Stderr = &out, &diagnostics
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String(), diagnostics.String(), command.ProcessState.ExitCode()
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

// TestToolFailures: a tool's own failure keeps the shell's exit (T16.06, T16.07,
// T16.08, T16.10), and so does the producer's.
func TestToolFailures(t *testing.T) {
	for _, c := range []struct {
		name         string
		build        build
		actor, cause string
		exit         int
		stage        string
	}{
		{"transpiler", build{transpiler: "err=5 status=1"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 5, "prepare"},
		{"transpiler signal", build{transpiler: "err=5 signal=11"}, "", `run_producer_failed{"reason":"signal","signal":11}`, 5, "prepare"},
		{"compiler", build{compiler: "out=5 status=3"}, "", `run_producer_failed{"exit_status":3,"reason":"exit"}`, 3, "compile"},
		{"binder", build{binder: "err=5 status=2"}, "", `run_producer_failed{"exit_status":2,"reason":"exit"}`, 3, "compile"},
		{"producer", build{}, "err=5 status=7", `run_producer_failed{"exit_status":7,"reason":"exit"}`, 4, "finalize"},
		{"real compiler", build{real: true, code: "int x(;\n"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 3, "compile"},
		{"real binder", build{real: true, code: "int x;\n"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 3, "compile"},
		{"real transpiler", build{real: true, strategy: "strategy 1\n"}, "", `run_producer_failed{"exit_status":1,"reason":"exit"}`, 5, "prepare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch{build: &c.build, actor: c.actor}.mounted(t).run(t)
			r.wants(t, c.exit, c.cause)
			if stage := r.record.Producer.Stage; stage == nil || *stage != c.stage {
				t.Errorf("stage %v, want %s", stage, c.stage)
			}
			whole := !strings.HasSuffix(c.name, "signal")
			if len(r.diagnostics) < 5 || r.record.Channels["diagnostic"].Complete != whole || r.record.ExitClass != "producer_failure" {
				t.Errorf("class %s, diagnostics %q, %+v", r.record.ExitClass, r.diagnostics, r.record.Channels["diagnostic"])
			}
		})
	}
}

// TestOneDiagnosticBudget: every stage writes against the same D, and a refusal
// of it wins over a tool's own failure (T16.01 to T16.05, T16.09).
func TestOneDiagnosticBudget(t *testing.T) {
	const over = `diagnostic_budget_exceeded{"cap_bytes":4000,"requested_bytes":1,"used_bytes":4000}`
	for _, c := range []struct {
		name  string
		build build
		actor string
		exit  int
		cause string
	}{
		{"all exact", build{transpiler: "err=1000", compiler: "out=1000", binder: "err=1000"}, "err=1000 report=900", 0, ""},
		{"transpiler", build{transpiler: "err=4001"}, "report=900", 4, over},
		{"compiler", build{compiler: "out=900000000"}, "report=900", 4, over},
		{"binder", build{binder: "err=5000"}, "report=900", 4, over},
		{"compiler and producer", build{compiler: "out=2000"}, "err=2001 report=900", 4, over},
		{"failing compiler", build{compiler: "err=4001 status=1"}, "", 4, over},
		{"failing transpiler, far over", build{transpiler: "out=60000 status=1"}, "", 4, over},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := launch{build: &c.build, actor: c.actor, env: []string{"PINEFORGE_DIAGNOSTIC_MAX_BYTES=4000"}}.mounted(t).run(t)
			r.wants(t, c.exit, c.cause)
			if want := map[int]int64{0: 4000, 4: 4001}[c.exit]; r.record.Channels["diagnostic"].Observed != want || len(r.diagnostics) != 4000 {
				t.Errorf("%d bytes, %+v", len(r.diagnostics), r.record.Channels["diagnostic"])
			}
		})
	}
}

// TestToolHelpers: a tool may fork, what it leaves behind ends with its stage,
// and the producer may not fork all the same (T22.23, T22.24).
func TestToolHelpers(t *testing.T) {
	r := launch{build: &build{transpiler: "fork", compiler: "fork leave err=3", binder: "leave"}, actor: "report=900"}.mounted(t).run(t)
	r.wants(t, 0, "")
	if string(r.diagnostics) != "ttt" || r.elapsed > 10*time.Second {
		t.Errorf("diagnostics %q after %s", r.diagnostics, r.elapsed)
	}
	r = launch{build: &build{}, actor: "report=900", env: []string{"PINEFORGE_PROFILE=jailed"}}.mounted(t).run(t)
	r.wants(t, 0, "")
	r = launch{build: &build{}, actor: fmt.Sprintf("call=%d report=900", unix.SYS_CLONE)}.mounted(t).run(t)
	r.wants(t, 4, `run_process_refused{"operation":"clone"}`)
}

// TestToolMemory: a tool's memory is bounded where the pairing says so. What dies
// of it is the compiler's own helper, so the failure is the compiler's.
func TestToolMemory(t *testing.T) {
	r := launch{build: &build{real: true, code: code, memory: 24 << 20}}.mounted(t).run(t)
	r.wants(t, 3, `run_producer_failed{"exit_status":1,"reason":"exit"}`)
	if !strings.Contains(string(r.diagnostics), "Killed") {
		t.Errorf("diagnostics %q", r.diagnostics)
	}
}

// TestToolDeadlines: the lifetime ends a tool, with the stage of S's own state,
// and so does a host that does not read (T21, T20).
func TestToolDeadlines(t *testing.T) {
	for stage, b := range map[string]build{"prepare": {transpiler: "spin"}, "compile": {compiler: "fork leave stubborn spin"}} {
		r := launch{build: &b, env: []string{"PINEFORGE_CHANNEL_WALL_MS=2500"}}.mounted(t).run(t)
		r.wants(t, 4, fmt.Sprintf(`run_deadline_exceeded{"stage":%q}`, stage))
		if at := r.record.Producer.Stage; at == nil || *at != stage || r.elapsed > 5*time.Second || len(r.report) > 0 {
			t.Errorf("%s: stage %v after %s, report %q", stage, at, r.elapsed, r.report)
		}
	}
	for _, words := range []string{"out=1000000", "out=66000 status=1"} {
		r := launch{build: &build{compiler: words}, stopNotes: true, env: []string{"PINEFORGE_CHANNEL_STALL_MS=300"}}.mounted(t).run(t)
		r.wants(t, 4, `report_channel_failed{"channel":"diagnostic","reason":"deadline"}`)
		if r.elapsed > 5*time.Second {
			t.Errorf("%s: %s", words, r.elapsed)
		}
	}
}

// TestCancellationInTools: the host's signal ends a tool (T28.07).
func TestCancellationInTools(t *testing.T) {
	for _, b := range []build{{transpiler: "err=1 spin"}, {compiler: "err=1 stubborn spin"}, {binder: "err=1 leave spin"}} {
		r := launch{build: &b, atFirstNote: func(s *os.Process) {
			if err := s.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
		}}.mounted(t).run(t)
		r.wants(t, 4, "run_aborted{}")
		if r.record.ExitClass != "aborted" || r.elapsed > 3*time.Second {
			t.Errorf("class %s after %s", r.record.ExitClass, r.elapsed)
		}
	}
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

// TestBuiltLink: only a file that the tools made is given to the producer, not
// what a name of theirs leads to.
func TestBuiltLink(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := launch{build: &build{compiler: "link=" + secret}, actor: "show=/work/strategy.so report=900"}.mounted(t).run(t)
	r.wants(t, 0, "")
	if string(r.diagnostics) != "no file\n" {
		t.Errorf("the producer saw %q", r.diagnostics)
	}
}

// TestToolsSeeNothingPrivate: no variable of the caller's, and none of S's (T16.11).
func TestToolsSeeNothingPrivate(t *testing.T) {
	r := launch{build: &build{compiler: "say=TOUCHSTONE_LAUNCH_FD say=PINEFORGE_REPORT_CHANNEL say=OWN say=LANG"}, actor: "report=900",
		env: []string{"OWN=1", "TOUCHSTONE_CANDIDATE_FD=9", "TOUCHSTONE_PAIRING=/none"}}.mounted(t).run(t)
	r.wants(t, 0, "")
	if string(r.diagnostics) != "-\n-\n-\nC\n" {
		t.Errorf("diagnostics %q", r.diagnostics)
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
	stdout, _, exit := launch{build: &build{real: true, strategy: upStrategy, chart: "-"}}.legacy(t, "PINEFORGE_TRANSPILE_ONLY=1")
	if exit != 0 || !strings.HasPrefix(stdout, "// Written by reftranspile.") {
		t.Errorf("transpile only: exit %d, %q", exit, stdout)
	}
}

// TestKilledInTools: what is left of tools goes with S, their folder included.
func TestKilledInTools(t *testing.T) {
	spool := t.TempDir()
	watch := must(unix.InotifyInit1(unix.IN_CLOEXEC))(t)
	defer func() { _ = unix.Close(watch) }() // nothing is left in it
	must(unix.InotifyAddWatch(watch, spool, unix.IN_DELETE))(t)
	r := launch{build: &build{compiler: "leave err=1 spin"}, spoolAt: spool, atFirstNote: func(s *os.Process) {
		if err := s.Kill(); err != nil {
			t.Error(err)
		}
	}}.mounted(t).run(t)
	if string(r.diagnostics) != "t" || len(r.packets) > 0 {
		t.Errorf("diagnostics %q, %d packets", r.diagnostics, len(r.packets))
	}
	ready := []unix.PollFd{{Fd: int32(watch), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, 10_000); n != 1 || err != nil {
		t.Fatalf("the folder was not removed: %v", err)
	}
	if left := must(filepath.Glob(spool + "/.work.*"))(t); len(left) > 0 {
		t.Errorf("left: %v", left)
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
