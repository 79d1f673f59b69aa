package admission

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"
)

// LaunchVariable names the descriptor that carries the launch descriptor.
// Rules: C-3.
const LaunchVariable = "TOUCHSTONE_LAUNCH_FD"

// Launch is the host's admission data. Rules: C-2, C-3.
type Launch struct {
	Version          int    `json:"version"`
	AttemptID        string `json:"attempt_id"`
	Grants           Grants `json:"grants"`
	PlannedSinkBytes *int64 `json:"planned_sink_bytes"`
	Spool            Spool  `json:"spool"`
	Pairing          string `json:"pairing"`
}

// Grants are what the host admits at most; nil where it grants nothing.
type Grants struct {
	ReportBytes     *int64 `json:"report_bytes"`
	DiagnosticBytes *int64 `json:"diagnostic_bytes"`
	WallMS          *int64 `json:"wall_ms"`
	StallMS         *int64 `json:"stall_ms"`
	MemoryBytes     *int64 `json:"memory_bytes"` // nil: no memory limit asked
}

// Spool is the host's bounded storage.
type Spool struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// NoAttemptID is the identity of an attempt whose host gave none. Rules: C-2.
var NoAttemptID = strings.Repeat("0", 32)

func isAttemptID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == ""
}

// errAttemptID refuses a descriptor whose identity is malformed: a usage
// refusal, unlike a descriptor that cannot be read. Rules: C-2.
var errAttemptID = errors.New("malformed attempt_id")

// launchBytes bounds a launch descriptor and a pairing file (inclusive).
const launchBytes = 65536

// DecodeLaunch reads a launch descriptor strictly: one JSON object, no unknown
// or duplicate member, nothing after it. With an error the identity is still
// returned if it can be read, so that the refusal names its attempt.
//
// Rules: C-2, C-3.
func DecodeLaunch(content []byte) (Launch, error) {
	var l Launch
	if err := (decoder{jsontext.NewDecoder(bytes.NewBuffer(content))}).launch(&l); err != nil {
		return Launch{AttemptID: salvage(content)}, fmt.Errorf("decode launch descriptor: %w", err)
	}
	if l.Version != 1 {
		return Launch{AttemptID: salvage(content)}, fmt.Errorf("decode launch descriptor: version %d, want 1", l.Version)
	}
	if !isAttemptID(l.AttemptID) {
		l.AttemptID = NoAttemptID
		return l, fmt.Errorf("decode launch descriptor: %w", errAttemptID)
	}
	return l, nil
}

// salvage finds the identity in a descriptor that is otherwise refused.
func salvage(content []byte) string {
	var l struct {
		AttemptID string `json:"attempt_id"`
	}
	// Members of a wrong type elsewhere do not matter here; syntax does.
	if err := json.Unmarshal(content, &l); err != nil || !isAttemptID(l.AttemptID) {
		return NoAttemptID
	}
	return l.AttemptID
}

// readLaunch reads the launch descriptor that the environment names, and
// closes its descriptor, so that nothing started later can have it.
func readLaunch(lookup func(string) (string, bool)) (Launch, error) {
	nothing := Launch{AttemptID: NoAttemptID}
	number, set := lookup(LaunchVariable)
	if !set {
		return nothing, fmt.Errorf("launch descriptor: %s is not set", LaunchVariable)
	}
	fd, err := decimal(number, 1<<20)
	if err != nil || fd < FirstFD {
		return nothing, fmt.Errorf("launch descriptor: %s: %q is no descriptor", LaunchVariable, number)
	}
	content, err := readAll(int(fd))
	if err != nil {
		return nothing, fmt.Errorf("read launch descriptor: %w", errors.Join(err, unix.Close(int(fd))))
	}
	if err := unix.Close(int(fd)); err != nil {
		return nothing, fmt.Errorf("close launch descriptor: %w", err)
	}
	return DecodeLaunch(content)
}

// readAll reads a regular file, pipe or stream to its end, of which the host
// has a second to write it: a descriptor without an end must not hang S.
func readAll(fd int) ([]byte, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	regular := stat.Mode&unix.S_IFMT == unix.S_IFREG
	content := make([]byte, 0, 4096)
	buffer := make([]byte, 4096)
	for deadline := time.Now().Add(time.Second); len(content) <= launchBytes; {
		n, err := 0, error(nil)
		if regular { // whatever offset the host left
			n, err = unix.Pread(fd, buffer, int64(len(content)))
		} else if err = readable(fd, deadline); err == nil {
			n, err = unix.Read(fd, buffer)
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return content, nil
		}
		content = append(content, buffer[:n]...)
	}
	return nil, fmt.Errorf("more than %d bytes", launchBytes)
}

func readable(fd int, deadline time.Time) error {
	left := time.Until(deadline)
	if left <= 0 {
		return os.ErrDeadlineExceeded
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
	if err == nil && n == 0 {
		return os.ErrDeadlineExceeded
	}
	return err
}

// Pairing says which programs S runs, and under which identities.
type Pairing struct {
	Version   int     `json:"version"`
	Producer  Program `json:"producer"`
	Jail      Program `json:"jail"`
	Finalizer Program `json:"finalizer,omitzero"` // without one there is no native sink
	UIDs      struct {
		First int `json:"first"`
		Count int `json:"count"`
	} `json:"uids"`
	System       []string `json:"system"`
	ScratchBytes int64    `json:"scratch_bytes"`
	ScratchFiles int64    `json:"scratch_files"`

	// What the entrypoint builds a strategy with; the direct facade has no use
	// for them.
	Transpiler Tool `json:"transpiler,omitzero"`
	Compiler   Tool `json:"compiler,omitzero"`
	Binder     Tool `json:"binder,omitzero"`
}

// Program is one program of the pairing.
type Program struct {
	Path string `json:"path"`
}

// Tool is a program of the entrypoint's early stages, with the arguments that
// come before those of a build.
type Tool struct {
	Path      string   `json:"path"`
	Arguments []string `json:"arguments,omitzero"`

	MemoryBytes int64 `json:"memory_bytes,omitzero"` // of the tool and its helpers together; 0 for no bound
}

// DecodePairing reads a pairing file strictly.
func DecodePairing(content []byte) (Pairing, error) {
	var p Pairing
	if err := (decoder{jsontext.NewDecoder(bytes.NewBuffer(content))}).pairing(&p); err != nil {
		return Pairing{}, fmt.Errorf("decode pairing: %w", err)
	}
	switch {
	case p.Version != 1:
		return Pairing{}, fmt.Errorf("decode pairing: version %d, want 1", p.Version)
	case p.Producer.Path == "" || p.Jail.Path == "":
		return Pairing{}, errors.New("decode pairing: producer and jail need a path")
	case p.UIDs.First <= 0 || p.UIDs.Count <= 0 || p.UIDs.First+p.UIDs.Count < 0:
		return Pairing{}, fmt.Errorf("decode pairing: uids %d+%d: no range of ordinary users", p.UIDs.First, p.UIDs.Count)
	}
	return p, nil
}

// ReadPairing reads the pairing file at a path.
func ReadPairing(path string) (Pairing, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return Pairing{}, fmt.Errorf("open pairing %q: %w", path, err)
	}
	content, err := readAll(fd)
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return Pairing{}, fmt.Errorf("read pairing %q: %w", path, err)
	}
	return DecodePairing(content)
}

// UID returns the identity of one attempt's producer: the same attempt always
// has the same, other attempts are spread over the range. Rules: C-79.
func (p Pairing) UID(attemptID string) int {
	spread := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(attemptID) {
		spread = (spread ^ uint64(b)) * 1099511628211
	}
	return p.UIDs.First + int(spread%uint64(p.UIDs.Count))
}
