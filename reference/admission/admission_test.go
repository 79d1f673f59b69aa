package admission

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"golang.org/x/sys/unix"

	"touchstone/contracts"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// environment is a lookup over pairs "NAME=value".
func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range pairs {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

// supervised is a sound request and what is added to it.
func supervised(more ...string) []string {
	return append([]string{"--report-channel", contracts.Contract, "--terminal-status-fd", "3",
		"--so", "/a.so", "--ohlcv", "/a.csv"}, more...)
}

func TestParseRefuses(t *testing.T) {
	knobs := []string{"--report-max-bytes", "--diagnostic-max-bytes", "--channel-wall-ms", "--channel-stall-ms"}
	cases := map[string][]string{
		"no terminal":      {"--report-channel", contracts.Contract, "--so", "/a", "--ohlcv", "/a"},
		"no library":       {"--report-channel", contracts.Contract, "--terminal-status-fd", "3", "--ohlcv", "/a"},
		"no chart":         {"--report-channel", contracts.Contract, "--terminal-status-fd", "3", "--so", "/a"},
		"unknown":          supervised("--nope", "1"),
		"abbreviation":     supervised("--report-max", "1"),
		"positional":       supervised("x"),
		"no value":         supervised("--inputs"),
		"value of a bare":  supervised("--capabilities-json=1"),
		"twice, differing": supervised("--report-max-bytes", "1", "--report-max-bytes", "2"),
		"two sinks":        supervised("--report-sink", "/x", "--report-sink-fd", "9"),
		"jailed path sink": supervised("--profile", "jailed", "--report-sink", "/x"),
		"profile":          supervised("--profile", "other"),
		"mode":             supervised("--report-mode", "full"),
		"help":             supervised("--help"),
		"csv2bin":          supervised("--csv2bin", "/x"),
		"phase":            supervised("--run-phase-fd", "9"),
		"two operations":   supervised("--capabilities-json", "--validate-window-only"),
	}
	for _, version := range []string{"", "supervised", "SUPERVISED/V1", "supervised/v1 ", "supervised/v1.0", "supervised/v2"} {
		cases["version "+strconv.Quote(version)] = append([]string{"--report-channel=" + version}, supervised()[2:]...)
	}
	for _, fd := range []string{"", "0", "1", "2", "5", "-1", "+7", " 7", "x", "2147483648"} {
		cases["terminal "+strconv.Quote(fd)] = append(supervised()[:2:2], "--terminal-status-fd="+fd, "--so", "/a", "--ohlcv", "/a")
	}
	for _, value := range []string{"", "-1", "+1", " 5", "5 ", "5\n", "0x10", "1e3", "1_000", "1.0", "five", "٥",
		"9007199254740991", "99999999999999999999999999"} {
		for _, knob := range knobs {
			cases[knob+" "+strconv.Quote(value)] = supervised(knob + "=" + value)
		}
	}
	for name, args := range cases {
		if r, err := Parse(args, environment()); err == nil || !r.Negotiated {
			t.Errorf("%s: accepted %q as %+v", name, args, r)
		}
	}
}

func TestParseWithoutNegotiation(t *testing.T) {
	for _, o := range options {
		if !o.knob {
			continue
		}
		if _, err := Parse([]string{o.flag, "1"}, environment()); err == nil {
			t.Errorf("%s without activation: accepted", o.flag)
		}
		if _, err := Parse(nil, environment(o.env+"=1")); err == nil {
			t.Errorf("%s without activation: accepted", o.env)
		}
	}
	if r, err := Parse([]string{"--any", "thing", "--profile", "jailed"}, environment()); err != nil || r.Negotiated {
		t.Errorf("a legacy request: negotiated %t, %v", r.Negotiated, err)
	}
	// A variable that is set but empty is a request, and no version (C-6).
	if r, err := Parse(supervised()[2:], environment("PINEFORGE_REPORT_CHANNEL=")); err == nil || !r.Negotiated {
		t.Errorf("an empty channel variable: negotiated %t, %v", r.Negotiated, err)
	}
}

func TestFlagBeforeVariable(t *testing.T) {
	twin := environment("PINEFORGE_REPORT_MAX_BYTES=7", "PINEFORGE_CHANNEL_WALL_MS=malformed")
	r, err := Parse(supervised("--report-max-bytes", "0", "--channel-wall-ms", "9"), twin)
	if err != nil || *r.ReportBytes != 0 || *r.WallMS != 9 {
		t.Errorf("flags: %v, %v", r, err)
	}
	if r, err = Parse(supervised(), environment("PINEFORGE_REPORT_MAX_BYTES=7")); err != nil || *r.ReportBytes != 7 {
		t.Errorf("variable: %v", err)
	}
}

func TestEngineArguments(t *testing.T) {
	r, err := Parse(supervised("--chart-tz=UTC", "--capabilities-json", "--profile", "jailed", "--capabilities-json"), environment())
	want := []string{"--so", "/a.so", "--ohlcv", "/a.csv", "--chart-tz", "UTC", "--capabilities-json"}
	if diff := cmp.Diff(want, r.Engine); diff != "" || err != nil || r.Operation != Capabilities || r.Profile != Jailed {
		t.Errorf("%v, operation %d, %s\n%s", err, r.Operation, r.Profile, diff)
	}
}

func properties(t *testing.T) *gopter.Properties {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("gopter seed %d", seed)
	return gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
}

func TestLimitProperties(t *testing.T) {
	p := properties(t)
	positive := gen.Int64Range(1, LargestLimit)
	p.Property("omitted is the standard within the grant", prop.ForAll(func(granted, standard int64) bool {
		got, err := effectiveLimit(nil, &granted, standard)
		return err == nil && *got == min(granted, standard)
	}, positive, positive))
	p.Property("zero is the grant", prop.ForAll(func(granted, standard int64) bool {
		got, err := effectiveLimit(new(int64(0)), &granted, standard)
		return err == nil && *got == granted
	}, positive, positive))
	p.Property("positive is exact, or refused above the grant", prop.ForAll(func(requested, granted int64) bool {
		got, err := effectiveLimit(&requested, &granted, 1)
		if requested > granted {
			return errors.Is(err, errAboveGrant) && got == nil
		}
		return err == nil && *got == requested
	}, positive, positive))
	p.Property("no positive grant, no run", prop.ForAll(func(requested, granted int64) bool {
		_, err := effectiveLimit(&requested, &granted, 1)
		return errors.Is(err, errNoGrant)
	}, positive, gen.Int64Range(math.MinInt64, 0)))
	p.Property("a decimal reads back, and only below the bound", prop.ForAll(func(n int64) bool {
		got, err := decimal(strconv.FormatInt(n, 10), LargestLimit)
		return (err == nil) == (n >= 0 && n <= LargestLimit) && (err != nil || got == n)
	}, gen.OneGenOf(gen.Int64(), gen.Int64Range(LargestLimit-3, LargestLimit+3))))
	p.TestingRun(t)
}

const soundLaunch = `{"version":1,"attempt_id":"00112233445566778899aabbccddeeff","grants":{"report_bytes":1,` +
	`"diagnostic_bytes":2,"wall_ms":3,"stall_ms":4,"memory_bytes":null},"planned_sink_bytes":null,` +
	`"spool":{"path":"/s","bytes":5},"pairing":"/p"}`

func TestDecodeLaunch(t *testing.T) {
	if l, err := DecodeLaunch([]byte(soundLaunch)); err != nil || *l.Grants.StallMS != 4 || l.Spool.Bytes != 5 {
		t.Fatalf("%+v, %v", l, err)
	}
	for old, replacement := range map[string]string{
		`"version":1`:          `"version":2`,
		`"pairing"`:            `"nope":1,"pairing"`,
		`"stall_ms":4`:         `"stall_ms":4,"stall_ms":4`,
		`"wall_ms":3`:          `"wall_ms":"3"`,
		`"report_bytes":1`:     `"report_bytes":1.5`,
		`"diagnostic_bytes":2`: `"diagnostic_bytes":1e99`,
		`"/p"}`:                `"/p"}}`,
	} {
		if _, err := DecodeLaunch([]byte(strings.Replace(soundLaunch, old, replacement, 1))); err == nil || errors.Is(err, errAttemptID) {
			t.Errorf("%s: got %v", replacement, err)
		}
	}
	for _, id := range []string{"", "0011", "00112233445566778899AABBCCDDEEFF", "00112233445566778899aabbccddeefff"} {
		l, err := DecodeLaunch([]byte(strings.Replace(soundLaunch, "00112233445566778899aabbccddeeff", id, 1)))
		if !errors.Is(err, errAttemptID) || l.AttemptID != NoAttemptID {
			t.Errorf("identity %q: got %v, %s", id, err, l.AttemptID)
		}
	}
	// The refusal of an otherwise broken descriptor still names its attempt.
	if l, err := DecodeLaunch([]byte(strings.Replace(soundLaunch, `"pairing"`, `"nope"`, 1))); err == nil || l.AttemptID == NoAttemptID {
		t.Errorf("identity was lost: %v", err)
	}
}

func FuzzDecodeLaunch(f *testing.F) {
	f.Add([]byte(soundLaunch))
	f.Add([]byte(`{"attempt_id":`))
	f.Fuzz(func(t *testing.T, content []byte) {
		l, err := DecodeLaunch(content)
		if !isAttemptID(l.AttemptID) {
			t.Fatalf("identity %q with error %v", l.AttemptID, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("--report-channel\x00supervised/v1\x00--so=x", "7")
	f.Fuzz(func(t *testing.T, line, variable string) {
		r, err := Parse(strings.Split(line, "\x00"), environment("PINEFORGE_REPORT_MAX_BYTES="+variable))
		if err == nil && r.Negotiated && (r.Terminal < FirstFD || r.Terminal == ArenaFD) {
			t.Fatalf("accepted terminal %d", r.Terminal)
		}
		for _, n := range []*int64{r.ReportBytes, r.DiagnosticBytes, r.WallMS, r.StallMS} {
			if n != nil && (*n < 0 || *n > LargestLimit) {
				t.Fatalf("accepted limit %d", *n)
			}
		}
	})
}

func TestUID(t *testing.T) {
	var p Pairing
	p.UIDs.First, p.UIDs.Count = 200000, 16
	seen := map[int]bool{}
	for i := range 200 {
		uid := p.UID(fmt.Sprintf("%032x", i))
		if uid < 200000 || uid >= 200016 {
			t.Fatalf("uid %d outside the range", uid)
		}
		seen[uid] = true
	}
	if len(seen) != 16 {
		t.Errorf("%d of 16 identities used", len(seen))
	}
}

// opened closes a descriptor at the end of a test.
func opened(t *testing.T, fd int, err error) int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) }) // may be closed already
	return fd
}

func pair(t *testing.T, kind int) [2]int {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	return [2]int{opened(t, fds[0], err), opened(t, fds[1], err)}
}

func pipePair(t *testing.T) (read, write int) {
	t.Helper()
	var fds [2]int
	err := unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return opened(t, fds[0], err), opened(t, fds[1], err)
}

func TestProbeStream(t *testing.T) {
	read, write := pipePair(t)
	stream, packet, gone := pair(t, unix.SOCK_STREAM), pair(t, unix.SOCK_SEQPACKET), pair(t, unix.SOCK_STREAM)
	shut := pair(t, unix.SOCK_STREAM)
	unconnected, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	opened(t, unconnected, err)
	file, err := unix.Open(filepath.Join(t.TempDir(), "f"), unix.O_CREAT|unix.O_RDWR, 0o600)
	opened(t, file, err)
	if err := errors.Join(unix.Shutdown(shut[0], unix.SHUT_WR), unix.Close(gone[1])); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fd int
		ok bool
	}{
		"pipe": {write, true}, "stream": {stream[0], true}, "peer gone": {gone[0], true},
		"read end": {read, false}, "seqpacket": {packet[0], false}, "shut": {shut[0], false},
		"unconnected": {unconnected, false}, "file": {file, false}, "closed": {1 << 19, false},
	} {
		if _, err := probeStream("report", c.fd); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProbeTerminal(t *testing.T) {
	sound, small, shut := pair(t, unix.SOCK_SEQPACKET), pair(t, unix.SOCK_SEQPACKET), pair(t, unix.SOCK_SEQPACKET)
	stream, datagram := pair(t, unix.SOCK_STREAM), pair(t, unix.SOCK_DGRAM)
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	opened(t, listener, err)
	_, write := pipePair(t)
	err = errors.Join(unix.Shutdown(shut[0], unix.SHUT_WR),
		unix.SetsockoptInt(small[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 16384),
		unix.Bind(listener, &unix.SockaddrUnix{Name: "@touchstone-admission-" + strconv.Itoa(os.Getpid())}), unix.Listen(listener, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := probeTerminal(sound[0]); err != nil {
		t.Error(err)
	}
	for name, fd := range map[string]int{"small buffer": small[0], "shut": shut[0], "stream": stream[0],
		"datagram": datagram[0], "listening": listener, "pipe": write, "closed": 1 << 19} {
		if _, err := probeTerminal(fd); err == nil || errors.Is(err, errPlatform) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}

func TestAliases(t *testing.T) {
	read, write := pipePair(t)
	_, other := pipePair(t)
	reopened, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", write), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	opened(t, reopened, err)
	duplicate, err := unix.Dup(write)
	opened(t, duplicate, err)
	ends, sound := pair(t, unix.SOCK_STREAM), pair(t, unix.SOCK_STREAM)
	_ = read
	for name, c := range map[string]struct {
		a, b  int
		alias bool
	}{
		"two pipes": {write, other, false}, "pipe and stream": {write, ends[0], false},
		"two pairs": {ends[0], sound[0], false}, "dup": {write, duplicate, true},
		"reopened": {write, reopened, true}, "two ends": {ends[0], ends[1], true},
	} {
		a, err1 := probeStream("report", c.a)
		b, err2 := probeStream("diagnostic", c.b)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if err := aliases([]endpoint{a, b}); (err != nil) != c.alias {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProbeArena(t *testing.T) {
	memory := func(size int64, flags ...int) int {
		fd, err := unix.MemfdCreate("arena", append(flags, 0)[0]|unix.MFD_CLOEXEC)
		opened(t, fd, errors.Join(err, unix.Ftruncate(fd, size)))
		return fd
	}
	_, write := pipePair(t)
	fixed := memory(8192, unix.MFD_ALLOW_SEALING)
	if _, err := probeArena(fixed); err != nil {
		t.Error(err)
	}
	for _, size := range []int64{4096, 12288} {
		if err := unix.Ftruncate(fixed, size); !errors.Is(err, unix.EPERM) {
			t.Errorf("an admitted arena can be made %d bytes: %v", size, err)
		}
	}
	if _, err := probeArena(memory(4096)); err != nil {
		t.Error(err)
	}
	for name, fd := range map[string]int{"short": memory(4095), "pipe": write, "closed": 1 << 19} {
		if _, err := probeArena(fd); err == nil {
			t.Errorf("%s: admitted", name)
		}
	}
}

// TestPlan: what was granted against what is needed (C-3, C-12, C-24).
func TestPlan(t *testing.T) {
	policy := outcome.IsolationUnavailable(outcome.ReasonPolicy)
	for name, c := range map[string]struct {
		planned   *int64
		spool     Spool
		route     outcome.Route
		finalizer string
		sink      *int64 // effective limit of the sink
		want      *outcome.Failure
	}{
		"fits":         {nil, Spool{"/s", 100}, outcome.NoSink, "", nil, nil},
		"planned fits": {record.Number(100), Spool{"/s", 100}, outcome.Named, "/v", record.Number(100), nil},
		"planned less": {record.Number(7), Spool{"/s", 100}, outcome.Internal, "/v", record.Number(7), nil},
		"unplanned":    {nil, Spool{"/s", 100}, outcome.Inherited, "/v", record.Number(100), nil},
		"planned over": {record.Number(101), Spool{"/s", 100}, outcome.Internal, "/v", nil, new(outcome.ReportBudget(outcome.BudgetAggregate, 100, 0, 101))},
		"planned zero": {record.Number(0), Spool{"/s", 100}, outcome.NoSink, "", record.Number(0), &policy},
		"spool":        {nil, Spool{"/s", 99}, outcome.NoSink, "", nil, &policy},
		"no spool":     {nil, Spool{"", 100}, outcome.NoSink, "", nil, &policy},
		"no finalizer": {nil, Spool{"/s", 100}, outcome.Internal, "", record.Number(100), &policy},
	} {
		a := Admission{Route: c.route, Launch: Launch{PlannedSinkBytes: c.planned, Spool: c.spool}}
		a.Pairing.Finalizer.Path = c.finalizer
		a.Limits.ReportBytes.Effective = record.Number(100)
		if diff := cmp.Diff(c.want, a.plan()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.sink, a.Limits.SinkBytes); diff != "" {
			t.Errorf("%s: sink limit (-want +got):\n%s", name, diff)
		}
	}
}

// TestRoute: where the sink of a request goes (R05, C-70).
func TestRoute(t *testing.T) {
	for name, c := range map[string]struct {
		request Request
		want    outcome.Route
	}{
		"automatic":           {Request{Profile: Unjailed, SinkFD: NoFD}, outcome.Internal},
		"named":               {Request{Profile: Unjailed, SinkFD: NoFD, SinkPath: "x"}, outcome.Named},
		"inherited":           {Request{Profile: Unjailed, SinkFD: 9}, outcome.Inherited},
		"jailed":              {Request{Profile: Jailed, SinkFD: NoFD}, outcome.NoSink},
		"jailed inherited":    {Request{Profile: Jailed, SinkFD: 9}, outcome.Inherited},
		"capabilities":        {Request{Operation: Capabilities, SinkFD: NoFD}, outcome.NoSink},
		"validation with one": {Request{Operation: Validation, SinkFD: 9}, outcome.NoSink},
	} {
		if got := route(c.request); got != c.want {
			t.Errorf("%s: got route %d, want %d", name, got, c.want)
		}
	}
}

// TestTarget: a caller's name that can be given is absent or a file (R15).
func TestTarget(t *testing.T) {
	folder := t.TempDir()
	if err := errors.Join(os.WriteFile(folder+"/file", nil, 0o600), os.Symlink("/nowhere", folder+"/link")); err != nil {
		t.Fatal(err)
	}
	for path, good := range map[string]bool{"/absent": true, "/file": true, "/link": true,
		"/absent/": false, "/no/folder": false, "/file/x": false, "": false, "/": false, "/.": false} {
		if err := probeTarget(folder + path); (err == nil) != good {
			t.Errorf("%q: %v", path, err)
		}
	}
}
