package tracer

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/engine"
)

// evidence writes the log: one JSON object a line, each with one write before
// the target goes on. A log without a line of kind "final" belongs to a run
// whose tracer ended early.
//
// It writes by hand because a storm writes tens of thousands of lines.
type evidence struct {
	file   *os.File // owned by the caller; nil for no log
	line   []byte
	seq    uint64
	origin int64 // CLOCK_MONOTONIC at began
	began  time.Time
	sync   bool
	err    error
}

func newEvidence(file *os.File, sync bool) (*evidence, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil, fmt.Errorf("read clock: %w", err)
	}
	return &evidence{file: file, sync: sync, origin: now.Nano(), began: time.Now()}, nil
}

func (l *evidence) now() int64 { return l.origin + int64(time.Since(l.began)) }

// start begins a line.
func (l *evidence) start(kind string) {
	l.line = append(l.line[:0], `{"kind":`...)
	l.line = strconv.AppendQuote(l.line, kind)
	l.number("seq", l.seq)
	l.number("mono_ns", uint64(l.now()))
	l.seq++
}

func (l *evidence) key(name string) {
	l.line = append(l.line, ',', '"')
	l.line = append(l.line, name...)
	l.line = append(l.line, '"', ':')
}

func (l *evidence) number(name string, n uint64) {
	l.key(name)
	l.line = strconv.AppendUint(l.line, n, 10)
}

func (l *evidence) signed(name string, n int64) {
	l.key(name)
	l.line = strconv.AppendInt(l.line, n, 10)
}

func (l *evidence) text(name, value string) {
	l.key(name)
	l.line = appendJSON(l.line, value)
}

func (l *evidence) null(name string) {
	l.key(name)
	l.line = append(l.line, "null"...)
}

// end writes the line.
func (l *evidence) end() {
	if l.file == nil || l.err != nil {
		return
	}
	l.line = append(l.line, '}', '\n')
	if _, err := l.file.Write(l.line); err != nil {
		l.err = fmt.Errorf("write evidence: %w", err)
		return
	}
	if l.sync {
		if err := unix.Fdatasync(int(l.file.Fd())); err != nil && err != unix.EINVAL {
			l.err = fmt.Errorf("sync evidence: %w", err)
		}
	}
}

// note writes a line about something that is no decision.
func (l *evidence) note(what, text string) {
	l.start("note")
	l.text("what", what)
	l.text("text", text)
	l.end()
}

// appendJSON appends a JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendJSON(b []byte, value string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	if plain(value) {
		return append(append(b, value...), '"')
	}
	for _, r := range value {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// plain tells whether a text stands in JSON as it is.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// record is what a decision's lines say, beside the call itself.
type record struct {
	firing           engine.Firing
	rule             *faultinject.Rule
	requested, given uint64
	transfers        bool
	fd               int
	object           object
	hasFD            bool
	path             string // of single firings only
	returned         int64
	wasReturned      bool
	delivered        int64
	wasDelivered     bool
	heldFor          int64
	state            engine.State
}

// decision writes one line about a firing.
func (l *evidence) decision(k *task, r *record) {
	l.start("decision")
	l.text("state", string(r.state))
	l.text("rule", r.rule.ID)
	l.number("ordinal", r.firing.Ordinal)
	l.text("action", r.rule.Do.Kind.String())
	l.text("effect", r.rule.Effect.String())
	l.text("role", k.proc.letter)
	l.number("pid", uint64(k.proc.tgid))
	l.number("tid", uint64(k.tid))
	l.number("thread", uint64(k.thread))
	l.number("start", k.proc.start)
	l.number("exe_dev", k.proc.exe.dev)
	l.number("exe_ino", k.proc.exe.ino)
	c := &k.call
	l.text("call", faultinject.SyscallName(c.Nr))
	l.number("nr", uint64(c.Nr))
	l.number("ip", c.IP)
	l.key("args")
	for i, arg := range c.Args {
		l.line = append(l.line, "[,,,,,"[i])
		l.line = strconv.AppendUint(l.line, arg, 10)
	}
	l.line = append(l.line, ']')
	l.descriptor(r)
	l.number("bytes_before", r.firing.Before)
	l.optional("requested", r.transfers, int64(r.requested))
	l.optional("given", r.transfers, int64(r.given))
	l.optional("returned", r.wasReturned, r.returned)
	l.optional("delivered", r.wasDelivered, r.delivered)
	l.signed("held_ns", r.heldFor)
	l.number("stops", k.tracer.stops)
	l.end()
}

func (l *evidence) optional(name string, known bool, n int64) {
	if known {
		l.signed(name, n)
	} else {
		l.null(name)
	}
}

var typeWords = map[uint32]string{unix.S_IFREG: "file", unix.S_IFIFO: "pipe", unix.S_IFSOCK: "socket",
	unix.S_IFCHR: "char", unix.S_IFBLK: "block", unix.S_IFDIR: "directory", unix.S_IFLNK: "link", 0: "anonymous"}

func (l *evidence) descriptor(r *record) {
	if !r.hasFD {
		l.null("fd")
		return
	}
	l.key("fd")
	l.line = append(l.line, `{"fd":`...)
	l.line = strconv.AppendInt(l.line, int64(r.fd), 10)
	if r.object.found {
		l.number("dev", r.object.Dev)
		l.number("ino", r.object.Ino)
		l.text("type", typeWords[r.object.Type])
		dir := ""
		if r.object.Read {
			dir += "r"
		}
		if r.object.Write {
			dir += "w"
		}
		l.text("dir", dir)
	}
	if r.path != "" {
		l.text("path", r.path)
	}
	l.line = append(l.line, '}')
}
