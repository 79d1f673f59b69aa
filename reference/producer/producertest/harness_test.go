package producertest

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hangLimit ends a test that waits for what never comes.
const hangLimit = 30 * time.Second

// native is the suite's folder of fixtures, relative to this one.
const native = "../../../fixtures/native/"

var libraries struct {
	sync.Mutex
	made map[string]string
}

// library compiles a fixture of the suite, or testdata/NAME.c, with its seams.
func library(t *testing.T, fixture string) string {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	libraries.Lock()
	defer libraries.Unlock()
	if path, made := libraries.made[fixture]; made {
		return path
	}
	source := native + fixture + ".c"
	if _, err := os.Stat(source); err != nil {
		source = "testdata/" + fixture + ".c"
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, fixture+".so")
	sources := []string{source, native + "fixture.c", native + "sink_writer.c", native + "abi_reference.c"}
	for _, seam := range []string{"sink", "window"} {
		if _, line, found := strings.Cut(string(text), "\n * Seams:"); found && strings.Contains(strings.Split(line, "\n")[0], seam) {
			sources = append(sources, native+"abi_reference_"+seam+".c")
		}
	}
	output, err := exec.Command("gcc", slices.Concat([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
		"-fvisibility=hidden", "-I" + native, "-o", path}, sources)...).CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, output)
	}
	if libraries.made == nil {
		libraries.made = map[string]string{}
	}
	libraries.made[fixture] = path
	return path
}

// with is a copy of a fixture's library that holds arguments, as the suite
// patches them in, and a payload.
func with(t *testing.T, fixture, payload string, arguments ...string) string {
	t.Helper()
	text, err := os.ReadFile(library(t, fixture))
	if err != nil {
		t.Fatal(err)
	}
	arguments = append(arguments, "candidate_fd=env:TOUCHSTONE_CANDIDATE_FD", "sink_fd=env:TOUCHSTONE_SINK_FD")
	patch(t, text, "fixture_args", []byte(strings.Join(arguments, "\x00")))
	if payload != "" {
		patch(t, text, "fixture_payload", append([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, 0, 0, 0, 0, 0}, payload...))
	}
	path := filepath.Join(t.TempDir(), fixture+".so")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func patch(t *testing.T, text []byte, name string, content []byte) {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if section := file.Sections[s.Section]; s.Name == name {
			copy(text[section.Offset+s.Value-section.Addr:], content)
			return
		}
	}
	t.Fatalf("no symbol %s", name)
}

// supervised is a run with the test in the supervisor's place.
type supervised struct {
	arguments   []string            // besides library and bars
	environment []string            // besides the descriptors
	noSink      bool                // neither sink nor snapshot
	explicit    bool                // a sink, no snapshot
	readerGone  bool                // nobody reads the sink
	hold        func()              // called before the first byte of the sink is read
	alter       func([]byte) []byte // gives the snapshot other content, which its packet then describes
	answer      func(a *answer)     // changes the snapshot, nil for the right one
	started     func(*os.Process)   // nil for nothing
}

// answer is the snapshot packet that S sends; no text closes the socket.
type answer struct {
	text  string
	files []int
}

// seen is what the supervisor saw.
type seen struct {
	result
	sink []byte
	// sinkEnded: the sink's end was there when the first byte of the candidate was.
	sinkEnded bool
}

const allowance = 1 << 30

// run starts the producer with a candidate at 3, a sink at 4 and a snapshot
// socket at 6. The candidate is read on from its first byte only after the sink
// has ended.
func (s supervised) run(t *testing.T, library string) (r seen) {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	candidate, candidateEnd := pipe(t)
	sink, sinkEnd := pipe(t)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Shutdown(pair[0], unix.SHUT_RD); err != nil {
		t.Fatal(err)
	}
	snapshotEnd := os.NewFile(uintptr(pair[1]), "snapshot")
	command := exec.Command(filepath.Join(folder, "producer"), append([]string{"--so", library, "--ohlcv", "bars.csv"}, s.arguments...)...)
	command.Dir = "testdata"
	command.Env = append([]string{"TOUCHSTONE_CANDIDATE_FD=3", fmt.Sprintf("TOUCHSTONE_REPORT_REMAINING=%d", allowance)}, s.environment...)
	command.ExtraFiles = []*os.File{candidateEnd}
	if !s.noSink {
		command.Env = append(command.Env, "TOUCHSTONE_SINK_FD=4")
		command.ExtraFiles = append(command.ExtraFiles, sinkEnd)
	}
	if !s.noSink && !s.explicit {
		command.Env = append(command.Env, "TOUCHSTONE_SNAPSHOT_FD=6")
		command.ExtraFiles = append(command.ExtraFiles, nil, snapshotEnd)
	}
	var printed, complained bytes.Buffer
	command.Stdout, command.Stderr = &printed, &complained
	if s.readerGone {
		sink.Close()
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []*os.File{candidateEnd, sinkEnd, snapshotEnd} {
		end.Close()
	}
	if s.started != nil {
		s.started(command.Process)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if s.hold != nil {
			s.hold()
		}
		r.sink, _ = io.ReadAll(sink) // gone where the test closed it
		s.send(t, pair[0], r.sink)
	}()
	first := make([]byte, 1)
	n, _ := candidate.Read(first)
	select {
	case <-ended:
		r.sinkEnded = true
	case <-time.After(hangLimit):
		t.Error("the sink is open when the candidate begins")
		command.Process.Kill()
	}
	rest, err := io.ReadAll(candidate)
	<-ended
	var exit *exec.ExitError
	if waited := command.Wait(); err != nil || (waited != nil && !errors.As(waited, &exit)) {
		t.Fatal(err, waited)
	}
	r.document = string(first[:n]) + string(rest)
	r.printed, r.complained, r.status = printed.String(), complained.String(), command.ProcessState.ExitCode()
	return r
}

// send answers a sink that had bytes with its snapshot, or as the test wants,
// and closes the socket.
func (s supervised) send(t *testing.T, socket int, stream []byte) {
	defer unix.Close(socket)
	if len(stream) == 0 || s.explicit {
		return
	}
	if s.alter != nil {
		stream = s.alter(bytes.Clone(stream))
	}
	digest := sha256.Sum256(stream)
	file, err := snapshotOf(stream)
	if err != nil {
		t.Error(err)
		return
	}
	defer unix.Close(file)
	a := answer{fmt.Sprintf(`{"record":"snapshot","version":1,"sink_bytes":%d,"remaining_report_bytes":%d,"sha256":"%s"}`,
		len(stream), allowance-len(stream), hex.EncodeToString(digest[:])), []int{file}}
	if s.answer != nil {
		s.answer(&a)
	}
	if a.text == "" {
		return
	}
	if err := unix.Sendmsg(socket, []byte(a.text), unix.UnixRights(a.files...), nil, 0); err != nil && err != unix.EPIPE { // gone: it failed by itself
		t.Error(err)
	}
}

// snapshotOf is a read-only descriptor of a file in memory.
func snapshotOf(stream []byte) (int, error) {
	fd, err := unix.MemfdCreate("snapshot", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	for done := 0; done < len(stream); {
		n, err := unix.Write(fd, stream[done:])
		if err != nil {
			return -1, err
		}
		done += n
	}
	return unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

func pipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	return reader, writer
}

// timeless blanks the elapsed time of a document.
func timeless(document string) string {
	return elapsed.ReplaceAllString(document, `"elapsed_seconds":0.0`)
}

// names are the entries of a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, e := range entries {
		found[e.Name()] = true
	}
	return slices.Sorted(maps.Keys(found))
}
