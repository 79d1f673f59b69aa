package evidence

import (
	"fmt"
	"time"

	"touchstone/conformance/scenario"
)

// The files of an attempt folder.
const (
	ScenarioFile   = "scenario.json"
	LauncherFile   = "launcher.json"
	LaunchFile     = "launch.json"
	EventsFile     = "events.jsonl"
	ReportFile     = "report.bin"
	DiagnosticFile = "diagnostic.bin"
	StdoutFile     = "stdout.bin"
	StderrFile     = "stderr.bin"
	ArtifactFile   = "artifact.bin" // what stood at the target of a named sink in the end
	ReceiptFile    = "receipt.bin"  // of the finalizer, by itself or as its stand-in saw it
	FaultRulesFile = "faults.rules" // the rules of the tracer
	FaultLogFile   = "faults.jsonl" // what the tracer decided
	TranscriptFile = "transcript.pcapng"
)

// CatalogFile is the failure catalog that the launcher is released with.
const CatalogFile = "catalog.json"

// DispositionFile is the document in which a host under test says what has
// become of its attempt.
const DispositionFile = "disposition.bin"

// Disposition is the name of DispositionFile's bytes in events.
const Disposition = "disposition"

// ChannelFile is the name of the file of an endpoint that is read as bytes.
func ChannelFile(name string) string { return name + ".bin" }

// Artifact is the name of ArtifactFile's bytes in events.
const Artifact = "artifact"

// Receipt is the name of ReceiptFile's bytes in events.
const Receipt = "receipt"

// PacketFile is the name of the file of the terminal packet with an index.
func PacketFile(index int) string { return fmt.Sprintf("packet-%d.bin", index) }

// Attempt is the record of one attempt, read and checked by Load. It is not
// changed after Load and may be read concurrently.
type Attempt struct {
	Dir      string
	Scenario scenario.Scenario
	Launcher []byte // launcher.json, for launcherfile.Decode
	Launch   Launch
	Events   []Event
	// Tampered names the files whose digest is not the recorded one, or that
	// are missing. No check of a tampered attempt can pass.
	Tampered []string

	files map[string][]byte
}

// Stamped is an event with its body's type known.
type Stamped[B Body] struct {
	Seq  uint64
	Mono int64
	Body B
}

// All is the events whose body is a B, in order.
func All[B Body](a *Attempt) []Stamped[B] {
	var found []Stamped[B]
	for _, e := range a.Events {
		if b, ok := e.Body.(B); ok {
			found = append(found, Stamped[B]{Seq: e.Seq, Mono: e.Mono, Body: b})
		}
	}
	return found
}

// First is the first event whose body is a B.
func First[B Body](a *Attempt) (Stamped[B], bool) {
	for _, e := range a.Events {
		if b, ok := e.Body.(B); ok {
			return Stamped[B]{Seq: e.Seq, Mono: e.Mono, Body: b}, true
		}
	}
	return Stamped[B]{}, false
}

// ReportBytes are the bytes that the host read from the report endpoint.
func (a *Attempt) ReportBytes() []byte { return a.files[ReportFile] }

// DiagnosticBytes are the bytes that the host read from the diagnostic endpoint.
func (a *Attempt) DiagnosticBytes() []byte { return a.files[DiagnosticFile] }

// Stdout is what an unsupervised process wrote to its descriptor 1.
func (a *Attempt) Stdout() []byte { return a.files[StdoutFile] }

// Stderr is what an unsupervised process wrote to its descriptor 2.
func (a *Attempt) Stderr() []byte { return a.files[StderrFile] }

// File is any recorded file's bytes, except the transcript's.
func (a *Attempt) File(name string) []byte { return a.files[name] }

// TerminalPacket is a packet event with the message's bytes.
type TerminalPacket struct {
	Stamped[Packet]
	Bytes []byte
}

// Packets are the messages of the terminal endpoint in order of arrival.
func (a *Attempt) Packets() []TerminalPacket {
	var found []TerminalPacket
	for _, p := range All[Packet](a) {
		found = append(found, TerminalPacket{Stamped: p, Bytes: a.files[p.Body.File]})
	}
	return found
}

// Exit is the wait status of the started process; false when the driver's
// watchdog or a fault came first and none was recorded.
func (a *Attempt) Exit() (Stamped[Exit], bool) { return First[Exit](a) }

// Elapsed is the time from the start of the process to its exit.
func (a *Attempt) Elapsed() (time.Duration, bool) {
	start, started := First[Start](a)
	exit, exited := a.Exit()
	return time.Duration(exit.Mono - start.Mono), started && exited
}

// Since is the time from the start of the process to an event's stamp.
func (a *Attempt) Since(mono int64) (time.Duration, bool) {
	start, started := First[Start](a)
	return time.Duration(mono - start.Mono), started
}

// LastByte is the stamp of the last bytes read from a channel.
func (a *Attempt) LastByte(channel string) (mono int64, found bool) {
	for _, b := range All[Bytes](a) {
		if b.Body.Channel == channel {
			mono, found = b.Mono, true
		}
	}
	return mono, found
}

// Ended is the stamp of a data channel's end; false when it was never seen.
func (a *Attempt) Ended(channel string) (mono int64, ended bool) {
	for _, e := range All[EOF](a) {
		if e.Body.Channel == channel {
			return e.Mono, true
		}
	}
	return 0, false
}

// Lateness is by how much the machine delayed the driver at most; 0 where it
// was not measured.
func (a *Attempt) Lateness() time.Duration {
	l, _ := First[Lateness](a)
	return time.Duration(l.Body.MaxNS)
}

// Faults are the driver's own failures: with one of them the attempt decides
// nothing.
func (a *Attempt) Faults() []Fault {
	var found []Fault
	for _, f := range All[Fault](a) {
		found = append(found, f.Body)
	}
	return found
}
