package oracle

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Record is a terminal record as far as it could be read, with every way in
// which its bytes and its shape are not what the contract fixes.
type Record struct {
	packet []byte
	root   *node
	faults []fault
}

// DecodeRecord reads one terminal packet. It never fails: what is wrong with
// the packet is in Problems, and what cannot be read is absent.
//
// Rules: R10, R12.
func DecodeRecord(packet []byte) *Record {
	r := &Record{packet: packet}
	report := func(f fault) { r.faults = append(r.faults, f) }
	root, err := parseDocument(packet)
	if err != nil || !root.isObject() {
		seen := "not an object"
		if err != nil {
			seen = err.Error()
		}
		report(fault{"T1.33", "", seen, "one UTF-8 JSON object"})
		return r
	}
	r.root = root
	root.walk("", func(path string, value *node) { value.path = path })
	r.framing(report)
	r.numbers(report)
	recordShape.check("", root, report)
	usageFaults(root.at("usage"), report)
	return r
}

// framing: compact, one LF at the end and none before, within the packet bound.
func (r *Record) framing(report func(fault)) {
	if len(r.packet) > terminalBytes {
		report(fault{"T1.34", "", fmt.Sprintf("%d bytes", len(r.packet)), fmt.Sprintf("at most %d", terminalBytes)})
	}
	body, framed := bytes.CutSuffix(r.packet, []byte("\n"))
	if !framed {
		report(fault{"T1.33", "", "no final LF", "exactly one LF at the end"})
	}
	compact := jsontext.Value(bytes.Clone(body))
	if err := compact.Compact(); err != nil || !bytes.Equal(compact, body) {
		report(fault{"T1.33", "", "insignificant whitespace", "a compact object, then one LF"})
	}
}

// numbers: no member twice, every number a safe nonnegative integer except in
// the args of a failure, where the catalog decides.
func (r *Record) numbers(report func(fault)) {
	if path := duplicateMember(r.root); path != "" {
		report(fault{"T1.36", path, "twice", "every member once"})
	}
	r.root.walk("", func(path string, value *node) {
		if value.kind != '0' || inArgs(path) || path == "sink_verification.finalizer_version" {
			return
		}
		if _, ok := value.uint(); !ok {
			report(fault{"T1.36", path, value.text, "an integer in 0..2^53-1, plainly spelled"})
		}
	})
}

func inArgs(path string) bool {
	return hasPath(path, "failure.args") || hasPath(path, "producer.failure.args")
}

func hasPath(path, prefix string) bool {
	return len(path) > len(prefix) && path[:len(prefix)] == prefix && path[len(prefix)] == '.'
}

// Problems lists, one line each, why the packet is not a well-formed record;
// none means that every member is present and of its type.
func (r *Record) Problems() []string {
	lines := make([]string, 0, len(r.faults))
	for _, f := range r.faults {
		lines = append(lines, fmt.Sprintf("%s %s: got %s, want %s", f.ID, f.Path, f.Seen, f.Wanted))
	}
	return lines
}

// Code is the authoritative failure code, empty on success.
func (r *Record) Code() string { return r.root.at("failure", "code").plain() }

// Class is the exit class.
func (r *Record) Class() string { return r.root.at("exit_class").plain() }

// Complete tells whether the record claims success.
func (r *Record) Complete() bool { return r.root.at("complete").isTrue() }

// plain is the text of a string or number, empty for anything else.
func (n *node) plain() string {
	if n == nil || n.kind == '{' || n.kind == '[' || n.kind == 'n' {
		return ""
	}
	return n.text
}
