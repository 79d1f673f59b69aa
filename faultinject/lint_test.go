package faultinject

import (
	"strings"
	"testing"
)

// TestRefusals gives each wrong rule with the place and words of its refusal.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ text, pos, want string }{
		{"role x", "1:1", "want rule or bind"},
		{"rule : on write ; do mark", "1:6", "a name and a colon"},
		{"rule a: do mark", "1:9", "first clause is on"},
		{"rule a: on write", "1:17", "do ACTION is missing"},
		{"rule a: on wriet ; do mark", "1:12", `unknown syscall or class "wriet"`},
		{"rule a: on write ; do errno EWHAT", "1:29", "unknown error name"},
		{"rule a: on write ; do signal SIGX", "1:30", "unknown signal name"},
		{"rule a: on write ; do mark ; do mark", "1:30", "given twice"},
		{"rule a: on write ; at call x ; do mark", "1:28", "want a number"},
		{"rule a: on write ; at call 0 ; do mark", "1:20", "counted from 1"},
		{"rule a: on write ; do short 0", "1:20", "use ret 0"},
		{"rule a: on close ; do short 1", "1:20", "can be short"},
		{"rule a: on write arg2<=5 ; do short 5", "1:28", "cannot be cut to 5"},
		{"rule a: on write arg2>5 arg2<6 ; do mark", "1:9", "exclude each other"},
		{"rule a: on rename fd x ; do mark", "1:9", "has a descriptor"},
		{"rule a: on write path /x ; do mark", "1:9", "has a path"},
		{"rule a: on open path [ ; do mark", "1:9", "bad pattern"},
		{"rule a: on fsync ; at bytes 4 ; do kill", "1:20", "moves bytes"},
		{"rule a: on sendmmsg ; at bytes 4 ; do kill", "1:23", "return messages"},
		{"rule a: on write ; at bytes 4 ; do kill ; times 2", "1:43", "reached once"},
		{"rule a: on write ; do clamp", "1:6", "clamp needs"},
		{"rule a: on write ; at after b ; do mark", "1:20", "no such rule"},
		{"rule a: on write ; at after a ; do mark", "1:20", "waits for itself"},
		{"rule a: on write ; do kill ; effect after", "1:30", "leaves the result alone"},
		{"rule a: on write ; do errno EIO nosigpipe", "1:20", "belongs to EPIPE"},
		{"rule a: on write role S,S ; do mark", "1:23", "role"},
		{"rule a: on write ; do hold \"x", "1:28", "without an end"},
		{"rule a: on write ; do mark\nrule a: on read ; do mark", "2:6", "used before"},
	} {
		_, err := Parse(c.text)
		if err == nil {
			t.Errorf("%q: accepted, want %q", c.text, c.want)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.pos+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %q, want %s and %q", c.text, err, c.pos, c.want)
		}
	}
}

// TestWarnings gives each doubtful rule with its warning, and an accepted
// twin that gets none.
func TestWarnings(t *testing.T) {
	for _, c := range []struct{ text, want, twin string }{
		{"rule a: on close ; do errno EINTR ; effect skip", "still closes", "rule a: on close ; do errno EINTR"},
		{"rule a: on sendmsg ; do short 1", "SOCK_SEQPACKET", "rule a: on writev ; do short 1"},
		{"rule a: on write ; do errno EAGAIN", "edge", "rule a: on write ; do again"},
		{"rule a: on write ; do ret 7", "not moved", "rule a: on write ; do ret 0"},
		{"rule a: on write ; do errno EINTR ; effect after", "instead", "rule a: on write ; do errno EINTR"},
		{"rule a: on write ; do errno EPIPE nosigpipe", "MSG_NOSIGNAL", "rule a: on sendto ; do errno EPIPE nosigpipe"},
		{"rule a: on fsync ; do errno EINTR", "do not interrupt", "rule a: on fsync ; do errno EIO"},
		{"rule a: on ppoll ; do hold x", "releases x", "rule a: on ppoll ; do hold x\nrule b: on close ; do release x"},
		{"rule a: on %write ; do mark ; times inf\nrule b: on write ; do mark", "takes every call",
			"rule a: on %read ; do mark ; times inf\nrule b: on write ; do mark"},
		{"rule a: on write role U ; do kill", "untrusted", "rule a: on write ; do kill"},
	} {
		plan, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		found := Lint(plan)
		if len(found) != 1 || !found[0].Warning || !strings.Contains(found[0].Text, c.want) || found[0].Pos.Line == 0 {
			t.Errorf("%q: got %v, want one warning with %q", c.text, found, c.want)
		}
		twin, err := Parse(c.twin)
		if err != nil {
			t.Errorf("twin %q: %v", c.twin, err)
		} else if found := Lint(twin); len(found) != 0 {
			t.Errorf("twin %q: got %v, want nothing", c.twin, found)
		}
	}
}

func TestUnboundNameIsRefused(t *testing.T) {
	plan, err := Parse("rule a: on write fd R ; do mark")
	if err != nil {
		t.Fatal(err)
	}
	if err := join(Lint(plan, "R")); err != nil {
		t.Errorf("bound name: %v", err)
	}
	if err := join(Lint(plan, "N")); err == nil || !strings.Contains(err.Error(), "fd R is bound by nobody") {
		t.Errorf("unbound name: got %v", err)
	}
}

func TestDefaults(t *testing.T) {
	plan, err := Parse("rule a: on close ; do errno EIO\nrule b: on write ; at every 3 ; do mark")
	if err != nil {
		t.Fatal(err)
	}
	if a := plan.Rules[0]; a.Effect != After || a.Times != 1 || a.Roles != Supervisor|Verifier || a.At.N != 1 {
		t.Errorf("rule a: got %+v", a)
	}
	if b := plan.Rules[1]; b.Times != Unlimited || b.Effect != Skip {
		t.Errorf("rule b: got %+v", b)
	}
}

func TestJSONRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"rules":[],"x":1}`, "x"},
		{`{"rules":[],"rules":[]}`, "duplicate"},
		{`{"rules":[{"id":"a","on":{"calls":["write"]},"at":{"call":1,"every":2},"do":{"action":"mark"}}]}`, "exclude"},
		{`{"rules":[{"id":"a","on":{"calls":["write"]},"do":{"action":"mark","errno":"EIO"}}]}`, "unexpected"},
		{`{"rules":[{"id":"a; do kill","on":{"calls":["write"]},"do":{"action":"mark"}}]}`, "name and a colon"},
		{`{"rules":[{"id":"a","on":{"calls":["write"]},"do":{"action":"mark"},"times":1.5}]}`, "whole number"},
	} {
		if _, err := ParseJSON([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}
