package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"touchstone/contracts"
)

// sample is a good attempt: what was delivered, and the record of it, made from
// the contract's own example. A test alters one of the two.
type sample struct {
	report, diagnostic, sink string
	record                   map[string]any
}

const (
	sampleID  = "00112233445566778899aabbccddeeff"
	samplePID = 4711
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// example reads a record of contracts/examples.
func example(t testing.TB, name string) map[string]any {
	t.Helper()
	content, err := fs.ReadFile(contracts.Examples(), name)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	var record map[string]any
	if err := decoder.Decode(&record); err != nil {
		t.Fatal(err)
	}
	return record
}

// put sets a member by its path.
func put(record map[string]any, path string, value any) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		record = record[name].(map[string]any)
	}
	record[names[len(names)-1]] = value
}

// newSample is a success with an exported sink, if there is one, else without any.
func newSample(t testing.TB, report, diagnostic, sink string) sample {
	t.Helper()
	r := example(t, "success.json")
	put(r, "attempt_id", sampleID)
	for name, limit := range map[string]int64{reportBytes: 67108864, diagnosticBytes: 1048576, wallMS: 600000, stallMS: 5000} {
		put(r, "limits."+name, map[string]any{"requested": nil, "granted": limit, "effective": limit})
	}
	for _, c := range []struct {
		name, text string
		limit      int
	}{{"candidate", report, 67108864 - len(sink)}, {"report", report, 67108864}, {"diagnostic", diagnostic, 1048576},
		{"sink", sink, 67108864}} {
		for _, count := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
			put(r, "channels."+c.name+"."+count, len(c.text))
		}
		put(r, "channels."+c.name+".limit_bytes", c.limit)
		put(r, "channels."+c.name+".sha256", digestOf(c.text))
	}
	put(r, "channels.sink.accepted_sha256", digestOf(sink))
	put(r, "report_charged_bytes", len(report)+len(sink))
	put(r, "usage.job.resources.report_bytes.used", len(report)+len(sink))
	put(r, "usage.job.resources.sink_bytes.used", len(sink))
	put(r, "usage.job.resources.diagnostic_bytes.used", len(diagnostic))
	if sink == "" {
		put(r, "sink_verification", nil)
		put(r, "limits.sink_bytes", nil)
		for _, digest := range []string{"sha256", "accepted_sha256", "logical_sha256", "limit_bytes"} {
			put(r, "channels.sink."+digest, nil)
		}
	}
	return sample{report, diagnostic, sink, r}
}

// internalSample is a success with a sink that only S has seen.
func internalSample(t testing.TB) sample {
	s := newSample(t, "{\"engine\":\"e\"}\n", "notes", "{\"sink\":1}\n")
	put(s.record, "channels.sink.written_bytes", 0)
	put(s.record, "channels.sink.sha256", nil)
	s.sink = ""
	return s
}

// packet encodes the record, with its own length in it.
func (s sample) packet(t testing.TB) []byte {
	t.Helper()
	for length := 0; ; {
		for _, count := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
			put(s.record, "channels.status."+count, length)
		}
		content := s.encoded(t)
		if len(content) == length {
			return content
		}
		length = len(content)
	}
}

// encoded is the record as it stands.
func (s sample) encoded(t testing.TB) []byte {
	t.Helper()
	content, err := json.Marshal(s.record)
	if err != nil {
		t.Fatal(err)
	}
	return append(content, '\n')
}

// observed is what a host sees of the sample.
func (s sample) observed(t testing.TB) Observed {
	t.Helper()
	stream := func(text string) Stream {
		return Stream{Offered: true, Bytes: int64(len(text)), SHA256: digestOf(text), Ended: true}
	}
	o := Observed{AttemptID: sampleID, Invocation: "run_json", Limits: Limits{}, Packet: s.packet(t), Packets: 1,
		Sender: samplePID, Supervisor: samplePID, TerminalEnded: true, Exit: Exit{Waited: true},
		Report: stream(s.report), Diagnostic: stream(s.diagnostic)}
	for name, limit := range defaults {
		o.Limits[name] = Limit{Granted: limit, Effective: limit}
	}
	if s.sink != "" {
		o.Sink = stream(s.sink)
	}
	return o
}

// refused makes the sample a run that S refused with this failure, before
// anything was delivered.
func (s sample) refused(code string, args map[string]any, class string, exit int) sample {
	put(s.record, "failure", map[string]any{"code": code, "args": args, "authority": "supervisor"})
	put(s.record, "exit_class", class)
	put(s.record, "exit_status", exit)
	put(s.record, "complete", false)
	put(s.record, "channels.report.complete", false)
	return s
}
