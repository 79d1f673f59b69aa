package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBlind: what rules cannot see makes the run fail, whatever fired.
func TestBlind(t *testing.T) {
	needTracing(t)
	for _, c := range []struct{ kind, what, says string }{
		{"io_uring", "io-uring", "uses io_uring"},
		{"filter", "own-filter", "a filter of its own over fsync"},
		{"x32", "foreign-abi", "another ABI"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			out, read := fileOut(t)
			o := setting{rules: []string{"rule a: on write,fsync fd O ; do mark"}, options: []string{"--fd", "O=@1"},
				argv: []string{target("hide_calls"), c.kind}, out: out}.run(t)
			if exit := o.final().Exit; exit != nil && *exit == 77 {
				t.Skipf("not run: needs a kernel with %s", c.kind)
			}
			o.exits(4).says(c.says)
			if len(o.notes(c.what)) == 0 || len(read()) != 1 {
				t.Error("no note, or the target was disturbed")
			}
		})
	}
}

// TestSeen: the twins of TestBlind in which nothing is hidden.
func TestSeen(t *testing.T) {
	needTracing(t)
	out, _ := fileOut(t)
	setting{rules: []string{"rule a: on write fd O ; do mark"}, options: []string{"--fd", "O=@1"},
		argv: []string{target("send_pattern"), "write", "10", "10"}, out: out}.run(t).exits(0)
	// With all stops, a filter of the target's own hides nothing.
	setting{rules: []string{"rule a: on fsync ; do errno EIO"}, options: []string{"--mode", "full"},
		argv: []string{target("hide_calls"), "filter"}, out: out}.run(t).exits(0).one("a", "realised")
}

// TestCloneUntraced: a child that asks to be left alone is followed, and its
// parent's memory is put back.
func TestCloneUntraced(t *testing.T) {
	needTracing(t)
	out, _ := fileOut(t)
	o := setting{rules: []string{"rule a: on write fd O ; do errno EIO"}, options: []string{"--fd", "O=@1"},
		argv: []string{target("clone_untraced")}, out: out}.run(t)
	o.exits(0).says("write=5", "kept=1").one("a", "realised")
	if len(o.notes("clone-untraced")) != 1 {
		t.Error("the change of flags is not in the log")
	}
}

// TestWithoutRoot: a user without rights needs no_new_privs for a filter, and
// none for all stops.
func TestWithoutRoot(t *testing.T) {
	needTracing(t)
	if os.Getuid() != 0 {
		t.Skip("not run: needs root, to become another user")
	}
	for _, c := range []struct {
		option string
		code   int
		says   string
	}{{"--mode=filter", 5, "allow no_new_privs"}, {"--allow-nnp", 0, "errno=5"}, {"--mode=full", 0, "errno=5"}} {
		setting{rules: []string{"rule a: on write ; do errno EIO"}, options: []string{c.option}, user: 65534,
			argv: []string{target("send_pattern"), "write", "10", "10"}}.run(t).exits(c.code).says(c.says)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"run", "command"},
		{"run -e nonsense -- /bin/true", "want rule or bind"},
		{"run -f /nonexistent -- /bin/true", "read rules"},
		{"run --fd R=@99 -- /bin/true", "descriptor 99"},
		{"run --mode blue -- /bin/true", "mode"},
		{"run -- /nonexistent/program", "find program"},
		{"nonsense", "nonsense"},
	} {
		out, err := exec.Command(target("faultinject"), strings.Fields(c.args)...).CombinedOutput()
		if code := err.(*exec.ExitError).ExitCode(); code != 64 || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: exit %d, %q", c.args, code, out)
		}
	}
}

func TestExplain(t *testing.T) {
	rule := "rule a: on %write fd R ; at bytes 9 ; do short 7"
	out, err := exec.Command(target("faultinject"), "explain", rule).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "when exactly 9 bytes have passed") {
		t.Errorf("got %v, %s", err, out)
	}
	out, err = exec.Command(target("faultinject"), "explain", "--json", rule).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"bytes":9`) {
		t.Errorf("got %v, %s", err, out)
	}
}
