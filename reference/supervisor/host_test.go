package supervisor_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/reference/supervisor"
)

// programs are built once per run: S, the launcher and the actor.
var programs = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "supervisor-test-")
	if err != nil {
		return "", err
	}
	launcher, err := filepath.Glob("../jail/launcher/*.c")
	// An ordinary user runs S, too.
	if err = errors.Join(err, os.Chmod(folder, 0o755)); err != nil {
		return folder, err
	}
	gcc := []string{"gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"}
	for _, command := range [][]string{
		{"go", "build", "-o", folder + "/", "../cmd/refsup", "../cmd/reffinal"},
		append(append(gcc[:len(gcc):len(gcc)], folder+"/jail", "-static"), launcher...),
		append(gcc[:len(gcc):len(gcc)], folder+"/actor", "testdata/actor.c", "testdata/sinkactor.c"),
		append(gcc[:len(gcc):len(gcc)], folder+"/tool", "testdata/tool.c"),
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return folder, fmt.Errorf("build %s: %w\n%s", command[0], err, output)
		}
	}
	return folder, os.WriteFile(folder+"/chart.csv", []byte("timestamp,open,high,low,close,volume\n"), 0o644)
})

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" { // of an attempt that a test runs in this process
		os.Exit(supervisor.Work(os.Args[2:]))
	}
	if os.Getenv("TOUCHSTONE_BENCH_COPY") != "" {
		os.Exit(copyAndHash())
	}
	code := m.Run()
	if folder, err := programs(); err == nil {
		_ = os.RemoveAll(folder) // the system's temporary folder anyway
	}
	os.Exit(code)
}

// launch is one attempt as its host sees it. The zero value is the default
// request with default grants, the report and diagnostics read at once.
type launch struct {
	actor     string   // the producer's words
	args      []string // further arguments of S
	env       []string
	jailed    bool
	producer  string // "" is the actor
	finalizer string // "" is the real one
	bin       string // folder of S and its launcher; "" is the test's own
	library   string // "" is no library: the actor reads none
	chart     string // "" is the test's own
	spool     int64  // bytes; 0 is enough
	grants    string // "" is the default
	terminal  string // argument of --terminal-status-fd; "" is the real number
	stopReads bool   // leave the report unread until S has ended
	closeRead bool   // close the report's reader before S starts
	stopNotes bool   // leave the diagnostics unread until S has ended
	fillM     bool   // fill the terminal's queue first
	user      uint32 // run S as this user; 0 is root
	build     *build // the entrypoint facade; nil is the direct one
	spoolAt   string // folder; "" is a new one

	stream  []byte   // what the producer writes to its sink, as its --so
	planned int64    // certified sink bytes; 0 for none
	sinkTo  endpoint // how --report-sink-fd is given and read

	seen         func()              // when report bytes have come, instead of a look at S's memory
	whileRunning func(s *os.Process) // as soon as S has started
	atFirstNote  func(s *os.Process) // control, when the first diagnostic byte has come
}

// result is what the host got.
type result struct {
	report, diagnostics []byte
	sink                []byte // from the inherited endpoint
	packets             [][]byte
	record              terminal
	exit                int
	elapsed             time.Duration
	maxRSS              int64         // KiB, of S, while its report was read
	cpu                 time.Duration // of S and what it reaped
}

// terminal is the part of the record that the tests read.
type terminal struct {
	AttemptID string `json:"attempt_id"`
	Complete  bool   `json:"complete"`
	ExitClass string `json:"exit_class"`
	Failure   *struct {
		Code string         `json:"code"`
		Args map[string]any `json:"args"`
	} `json:"failure"`
	ExitStatus int `json:"exit_status"`
	Producer   struct {
		Stage   *string `json:"stage"`
		Exit    *int    `json:"exit_status"`
		Signal  *int    `json:"signal"`
		Failure *struct {
			Code string         `json:"code"`
			Args map[string]any `json:"args"`
		} `json:"failure"`
		Omitted bool `json:"failure_claim_omitted"`
	} `json:"producer"`
	Charged  int64              `json:"report_charged_bytes"`
	Sink     *verification      `json:"sink_verification"`
	Channels map[string]channel `json:"channels"`
	Cleanup  map[string]struct {
		Value *bool `json:"value"`
	} `json:"cleanup"`
}

type channel struct {
	Observed  int64  `json:"observed_bytes"`
	Accepted  int64  `json:"accepted_bytes"`
	Written   *int64 `json:"written_bytes"`
	Truncated bool   `json:"truncated"`
	Complete  bool   `json:"complete"`
	Known     bool   `json:"source_total_known"`

	Limit    *int64  `json:"limit_bytes"`
	SHA256   *string `json:"sha256"`
	Approved *string `json:"accepted_sha256"`
	Logical  *string `json:"logical_sha256"`
}

const attemptID = "00112233445566778899aabbccddeeff"

const defaultGrants = `"report_bytes":67108864,"diagnostic_bytes":1048576,"wall_ms":600000,"stall_ms":5000,"memory_bytes":null`

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

// run launches S with real pipes and a real packet socket and waits for it. A
// hang limit far away ends what does not end.
func (l launch) run(t testing.TB) result {
	t.Helper()
	folder := cmp.Or(l.bin, requireRoot(t))
	if l.stream != nil {
		l.library = streamFile(t, l.stream)
	}
	report, diagnostics := newPipe(t), newPipe(t)
	pair := must(unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0))(t)
	ours, theirs := os.NewFile(uintptr(pair[0]), "terminal"), os.NewFile(uintptr(pair[1]), "terminal of S")
	if l.closeRead {
		_ = report.read.Close() // nothing was read
	}
	if l.fillM {
		fillQueue(t, pair[1])
	}
	command := exec.Command(folder+"/refsup", l.arguments(folder)...)
	command.Env = append(os.Environ(), append([]string{"TOUCHSTONE_LAUNCH_FD=4"}, l.env...)...)
	command.Stdout, command.Stderr = report.write, diagnostics.write
	command.ExtraFiles = []*os.File{theirs, l.descriptor(t, folder), memory(t, 65536)}
	sink := l.sinkEndpoint(t, command)
	if l.user != 0 {
		command.SysProcAttr = ordinary(l.user)
	}
	begin := time.Now()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(command.ExtraFiles, report.write, diagnostics.write) {
		_ = f.Close() // S has its own
	}
	if l.whileRunning != nil {
		l.whileRunning(command.Process)
	}
	hang := time.AfterFunc(60*time.Second, func() { _ = command.Process.Kill() }) // a compiler may run, on a loaded machine
	defer hang.Stop()
	var r result
	diagnosed, reported, sunk := make(chan []byte, 1), make(chan []byte, 1), make(chan []byte, 1)
	if !l.stopNotes {
		var once sync.Once
		diagnosed = diagnostics.drain(func() {
			if l.atFirstNote != nil {
				once.Do(func() { l.atFirstNote(command.Process) })
			}
		})
	}
	if l.sinkTo == readSink {
		sunk = sink.drain(nil)
	}
	if !l.stopReads {
		reported = report.drain(func() {
			if l.seen != nil {
				l.seen()
				return
			}
			r.maxRSS = max(r.maxRSS, highWater(command.Process.Pid))
		})
	}
	err := command.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r.elapsed, r.exit = time.Since(begin), command.ProcessState.ExitCode()
	r.cpu = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	if l.stopReads {
		reported = report.drain(nil)
	}
	if l.stopNotes {
		diagnosed = diagnostics.drain(nil)
	}
	if l.sinkTo == stalledSink {
		sunk = sink.drain(nil)
	}
	if l.sinkTo == readSink || l.sinkTo == stalledSink {
		r.sink = <-sunk
	}
	r.report, r.diagnostics = <-reported, <-diagnosed
	r.packets = packets(t, ours)
	r.decode(t)
	return r
}

func (l launch) arguments(folder string) []string {
	if l.build != nil {
		return []string{"entrypoint"}
	}
	terminal := l.terminal
	if terminal == "" {
		terminal = "3"
	}
	chart := cmp.Or(l.chart, folder+"/chart.csv")
	arguments := []string{"run_json", "--report-channel", "supervised/v1", "--terminal-status-fd", terminal,
		"--so", cmp.Or(l.library, folder+"/chart.csv"), "--ohlcv", chart, "--inputs", l.actor}
	if l.jailed {
		arguments = append(arguments, "--profile", "jailed")
	}
	return append(arguments, l.args...)
}

// descriptor is the launch descriptor, in a file without a name.
func (l launch) descriptor(t testing.TB, folder string) *os.File {
	t.Helper()
	planned := "null"
	if l.planned != 0 {
		planned = strconv.FormatInt(l.planned, 10)
	}
	producer, grants, bytes := l.producer, l.grants, l.spool
	if producer == "" {
		producer = folder + "/actor"
	}
	if grants == "" {
		grants = defaultGrants
	}
	if bytes == 0 {
		bytes = 1 << 30
	}
	spool := cmp.Or(l.spoolAt, t.TempDir())
	pairing := spool + "/pairing.json"
	content := fmt.Sprintf(`{"version":1,"producer":{"path":%q},"jail":{"path":%q},"finalizer":{"path":%q},"uids":{"first":200000,"count":4096},`+
		`"system":["/usr","/lib","/lib64","/bin","/etc/ld.so.cache"],"scratch_bytes":8388608,"scratch_files":256}`,
		producer, folder+"/jail", cmp.Or(l.finalizer, folder+"/reffinal"))
	if err := os.WriteFile(pairing, l.build.paired(content, folder), 0o644); err != nil {
		t.Fatal(err)
	}
	f := memory(t, 0)
	_, err := fmt.Fprintf(f, `{"version":1,"attempt_id":%q,"grants":{%s},"planned_sink_bytes":%s,`+
		`"spool":{"path":%q,"bytes":%d},"pairing":%q}`, attemptID, grants, planned, spool, bytes, pairing)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// decode reads the one packet; a test that expects none has none to read.
func (r *result) decode(t testing.TB) {
	t.Helper()
	if len(r.packets) != 1 {
		return
	}
	if err := json.Unmarshal(r.packets[0], &r.record); err != nil {
		t.Fatalf("record: %v\n%s", err, r.packets[0])
	}
	if r.record.ExitStatus != r.exit {
		t.Errorf("record says exit %d, S exited %d", r.record.ExitStatus, r.exit)
	}
	if n := *r.record.Channels["report"].Written; n != int64(len(r.report)) {
		t.Errorf("record says %d report bytes, the host got %d", n, len(r.report))
	}
	if n := *r.record.Channels["diagnostic"].Written; n != int64(len(r.diagnostics)) {
		t.Errorf("record says %d diagnostic bytes, the host got %d", n, len(r.diagnostics))
	}
}

// cause is code and args in one line, "" for success.
func (r result) cause() string {
	if len(r.packets) != 1 {
		return fmt.Sprintf("%d packets", len(r.packets))
	}
	if r.record.Failure == nil {
		return ""
	}
	args, err := json.Marshal(r.record.Failure.Args, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	return r.record.Failure.Code + string(args)
}

// wants holds a result against exit and cause, and against what is so in every
// attempt that ended: nothing is left of it.
func (r result) wants(t testing.TB, exit int, cause string) {
	t.Helper()
	if r.exit != exit || r.cause() != cause {
		t.Errorf("got exit %d, %s\nwant exit %d, %s", r.exit, r.cause(), exit, cause)
	}
	for name, fact := range r.record.Cleanup {
		if fact.Value == nil || !*fact.Value {
			t.Errorf("cleanup: %s does not hold", name)
		}
	}
	if r.record.Complete != (exit == 0) {
		t.Errorf("complete %t with exit %d", r.record.Complete, exit)
	}
}

type pipe struct{ read, write *os.File }

func newPipe(t testing.TB) pipe {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return pipe{read, write}
}

// highWater is the peak resident size of a process in KiB, 0 once it has
// ended. The kernel's own peak at the exit would count this test's memory, too:
// it is kept across exec.
func highWater(pid int) (kib int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	if _, rest, ok := strings.Cut(string(text), "VmHWM:"); ok {
		_, _ = fmt.Sscan(rest, &kib) // a process that has just ended has no such line
	}
	return kib
}

// drain reads to the end in a goroutine that ends there, and calls seen, if
// there is one, after every read that brought bytes.
func (p pipe) drain(seen func()) chan []byte {
	content := make(chan []byte, 1)
	go func() {
		var all bytes.Buffer
		for chunk := make([]byte, 1<<16); ; {
			n, err := p.read.Read(chunk)
			all.Write(chunk[:n])
			if n > 0 && seen != nil {
				seen()
			}
			if err != nil { // the end; what was read is judged
				break
			}
		}
		_ = p.read.Close()
		content <- all.Bytes()
	}()
	return content
}

func memory(t testing.TB, size int64) *os.File {
	t.Helper()
	fd := must(unix.MemfdCreate("test", unix.MFD_CLOEXEC))(t)
	if err := unix.Ftruncate(fd, size); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "memory")
}

// packets reads every packet up to the end; filler is not of S.
func packets(t testing.TB, f *os.File) (list [][]byte) {
	t.Helper()
	defer func() { _ = f.Close() }()
	buffer := make([]byte, 1<<17)
	for {
		n, _, _, _, err := unix.Recvmsg(int(f.Fd()), buffer, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return list
		}
		if packet := bytes.Clone(buffer[:n]); !bytes.Equal(packet, filler) {
			list = append(list, packet)
		}
	}
}

var filler = []byte(strings.Repeat("f", 1000))

func fillQueue(t testing.TB, fd int) {
	t.Helper()
	for {
		_, err := unix.SendmsgN(fd, filler, nil, nil, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
