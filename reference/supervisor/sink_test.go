package supervisor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestInternalSink: the producer gets its own sink back, verified, once, and
// can do nothing to it (T13.06, T13.11 to T13.15, T13.19, T13.21).
func TestInternalSink(t *testing.T) {
	sink := stream(t, 300000)
	r := launch{actor: "sink end snapshot keep report=9000", stream: sink}.run(t)
	r.wants(t, 0, "")
	r.sinkIs(t, sink, 0)
	want := fmt.Sprintf(`{"record":"snapshot","version":1,"sink_bytes":300000,"remaining_report_bytes":%d,"sha256":%q}`+
		" size=300000 mode=400 uid=1 flags=0 write=%d map=%d chmod=%d cut=%d next=0send=%d",
		67108864-300000, digest(sink), unix.EBADF, unix.EACCES, unix.EPERM, unix.EINVAL, unix.EPIPE)
	if string(r.diagnostics) != want {
		t.Errorf("the producer saw\n%s\nwant\n%s", r.diagnostics, want)
	}
	if r.record.Charged != 309000 || *r.record.Channels["candidate"].Limit != 67108864-300000 {
		t.Errorf("charged %d, candidate %+v", r.record.Charged, r.record.Channels["candidate"])
	}
}

// TestInheritedSink: every byte on the host's endpoint, in both profiles, and
// no snapshot (T12.01, T13.07, T13.16, T35.01 to T35.07).
func TestInheritedSink(t *testing.T) {
	for name, sink := range map[string][]byte{"populated": golden(t, "populated"), "large": stream(t, 3000000)} {
		for _, jailed := range []bool{false, true} {
			r := launch{actor: "sink end summary=9000", stream: sink, sinkTo: readSink, jailed: jailed, planned: int64(len(sink))}.run(t)
			r.wants(t, 0, "")
			r.sinkIs(t, sink, int64(len(sink)))
			if string(r.sink) != string(sink) || len(r.report) != 9000 || r.record.Charged != int64(len(sink))+9000 {
				t.Errorf("%s: %d sink bytes, %d report bytes, charged %d", name, len(r.sink), len(r.report), r.record.Charged)
			}
		}
	}
}

// TestNamedSink: the target has the sink's bytes, an old one is gone, and
// nothing lies beside it (T35.21, T35.22).
func TestNamedSink(t *testing.T) {
	sink := stream(t, 200000)
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/out", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := launch{actor: "sink end summary=9000", stream: sink, args: []string{"--report-sink", folder + "/out"}}.run(t)
	r.wants(t, 0, "")
	r.sinkIs(t, sink, int64(len(sink)))
	content, err := os.ReadFile(folder + "/out")
	if err != nil || string(content) != string(sink) {
		t.Errorf("target has %d bytes, %v", len(content), err)
	}
	if left := names(t, folder); left != "out" {
		t.Errorf("folder holds %s", left)
	}
}

func names(t testing.TB, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return strings.Join(all, " ")
}

// TestSinkCauses: what becomes of the sink, the one cause that follows, and the
// finalizer's own end.
func TestSinkCauses(t *testing.T) {
	const (
		candidate = `report_channel_failed{"channel":"candidate","reason":"protocol"}`
		protocol  = `report_channel_failed{"channel":"sink","reason":"protocol"}`
		exit7     = `run_producer_failed{"exit_status":7,"reason":"exit"}`
		killed    = `run_producer_failed{"reason":"signal","signal":9}`
		whole     = "exit 0 complete=true"
	)
	wall, _ := lifetime(t)
	good, size := golden(t, "populated"), int64(len(golden(t, "populated")))
	limit := func(n int64) []string { return []string{"--report-max-bytes", fmt.Sprint(n)} }
	aggregate := func(n int64) string {
		return fmt.Sprintf(`report_budget_exceeded{"cap_bytes":%d,"channel":"aggregate","requested_bytes":1,"used_bytes":%d}`, n, n)
	}
	exhausted := func(n int64) string {
		return fmt.Sprintf(`report_sink_failed{"cap_bytes":%d,"reason":"sink_exhausted","sink_bytes":%d}`, n, n+1)
	}
	for _, c := range []struct {
		name, cause, verdict string
		l                    launch
	}{
		{"B exact", "", whole, launch{actor: "sink end summary=900", sinkTo: readSink, planned: size}},
		{"B less one", exhausted(size - 1), "exit 8 complete=false", launch{actor: "sink end summary=900", sinkTo: readSink, planned: size - 1}},
		{"R is B less one", exhausted(size - 1), "exit 8 complete=false", launch{actor: "sink end report=900", args: limit(size - 1)}},
		{"sink and candidate fit", "", whole, launch{actor: "sink end snapshot report=900", args: limit(size + 900)}},
		{"one over", aggregate(size + 899), whole, launch{actor: "sink end snapshot report=900", args: limit(size + 899)}},
		{"exported, fit", "", whole, launch{actor: "sink end summary=900", sinkTo: readSink, args: limit(size + 900)}},
		{"exported, one over", aggregate(size + 899), whole, launch{actor: "sink end summary=900", sinkTo: readSink, args: limit(size + 899)}},
		{"sink is R", aggregate(size), whole, launch{actor: "sink end snapshot report=900", args: limit(size)}},
		{"fragment", protocol, "exit 6 complete=false", launch{actor: "sink=100 end snapshot report=900"}},
		{"fragment, exported", protocol, "exit 6 complete=false", launch{actor: "sink=100 end summary=900", sinkTo: readSink}},
		{"no trailer", protocol, "exit 6 complete=false", launch{actor: "sink end summary=900", sinkTo: readSink, stream: golden(t, "no-trailer")}},
		{"digest", protocol, "exit 4 complete=false", launch{actor: "sink end summary=900", sinkTo: readSink, stream: golden(t, "altered-digest")}},
		{"counts", protocol, "exit 4 complete=false", launch{actor: "sink end snapshot report=900", stream: golden(t, "altered-counts")}},
		{"after trailer", protocol, "exit 4 complete=false", launch{actor: "sink end snapshot report=900", stream: golden(t, "after-trailer")}},
		{"grammar", protocol, "exit 3 complete=false", launch{actor: "sink end snapshot report=900", stream: []byte("no\n")}},
		{"null in an equity point", `report_result_invalid{"field":"E.equity","reason":"nonfinite"}`, "exit 3 complete=false",
			launch{actor: "sink end snapshot report=900", stream: golden(t, "equity-null")}},
		{"unused", "", "none", launch{actor: "report=900"}},
		{"unused, exported", protocol, "exit 6 complete=false", launch{actor: "summary=900", sinkTo: readSink}},
		{"held", candidate, "signal 9", launch{actor: "hold sink end summary=900 spin", sinkTo: readSink}},
		{"open", candidate, "signal 9", launch{actor: "sink=100 report=900 spin"}},
		{"open and empty", candidate, "none", launch{actor: "hold report=900 spin"}},
		{"exit in the sink", exit7, "exit 6 complete=false", launch{actor: "sink=100 status=7"}},
		{"signal in the sink", killed, "exit 6 complete=false", launch{actor: "sink=100 signal=9"}},
		{"signal after the trailer", killed, whole, launch{actor: "sink signal=9"}},
		{"exit after a fragment", exit7, "exit 6 complete=false", launch{actor: "sink=100 end summary=900 status=7", sinkTo: readSink}},
		{"signal after the candidate", killed, whole, launch{actor: "sink end summary=900 signal=9", sinkTo: readSink}},
		{"claim with a fragment", `run_producer_failed{"reason":"claim"}`, "exit 6 complete=false", launch{actor: "sink=100 end claim=1 status=1"}},
		{"claim and no sink", `run_producer_failed{"reason":"claim"}`, "exit 6 complete=false", launch{actor: "claim=1 status=1", sinkTo: readSink}},
		{"fragment, waits for ever", protocol, "exit 6 complete=false", launch{actor: "sink=100 end stubborn spin"}},
		{"W in the sink", `run_deadline_exceeded{"stage":"run"}`, "signal 9",
			launch{actor: "sink=100 spin", args: wall}},
		{"W after the sink", `run_deadline_exceeded{"stage":"finalize"}`, whole,
			launch{actor: "sink end spin", args: wall}},
		{"wrong projection", candidate, whole, launch{actor: "sink end report=900", sinkTo: readSink}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.l.stream == nil {
				c.l.stream = good
			}
			exit := 1
			if c.cause == "" {
				exit = 0
			}
			r := c.l.run(t)
			r.wants(t, exit, c.cause)
			r.verdictIs(t, c.verdict)
			if exit != 0 && len(r.sink) > 0 {
				t.Errorf("%d bytes of a refused sink", len(r.sink))
			}
			if entry := r.record.Channels["sink"]; strings.HasPrefix(c.cause, "report_sink_failed") &&
				(entry.Observed != entry.Accepted+1 || entry.Accepted != *entry.Limit || !entry.Truncated || entry.Complete) {
				t.Errorf("sink %+v", entry)
			}
		})
	}
}
