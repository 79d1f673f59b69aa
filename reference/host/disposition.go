package host

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"
)

// Outcomes of an attempt. Only the first is a result.
const (
	outcomeAccepted  = "accepted"
	outcomeRejected  = "rejected"
	outcomeUncertain = "uncertain" // the host itself was killed; nothing was accepted
)

// Disposition is the one document about an attempt; its schema is
// host-disposition.v1. Members without a value are null, never absent.
//
// Rules: R14, R21.
type Disposition struct {
	Version    int            `json:"version"`
	AttemptID  string         `json:"attempt_id"`
	Outcome    string         `json:"outcome"`
	Cause      *cause         `json:"cause"`
	Findings   []string       `json:"findings"`
	Cancelled  bool           `json:"cancelled"`
	Supervisor supervisor     `json:"supervisor"`
	Channels   channels       `json:"channels"`
	Record     jsontext.Value `json:"record"`
	Admission  Admission      `json:"admission"`
	Reaped     Reaped         `json:"reaped"`
}

type cause struct {
	Code      string         `json:"code"`
	Args      map[string]any `json:"args"`
	Authority string         `json:"authority"`
}

// supervisor is what the host measured of S itself.
type supervisor struct {
	Exit      *int   `json:"exit_status"`
	Signal    *int   `json:"signal"`
	WallMS    *int64 `json:"wall_ms"`
	CPUUser   *int64 `json:"cpu_user_us"`
	CPUSystem *int64 `json:"cpu_system_us"`
}

type channels struct {
	Report     *prefix    `json:"report"`
	Diagnostic *prefix    `json:"diagnostic"`
	Sink       *prefix    `json:"sink"`
	Status     statusSeen `json:"status"`
}

// prefix is what came through a channel; Ended says whether it is all.
type prefix struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Ended  bool   `json:"ended"`
}

type statusSeen struct {
	Packets int  `json:"packets"` // 2 stands for more, too
	Bytes   int  `json:"bytes"`   // of the first
	Ended   bool `json:"ended"`
}

// dispositionBytes bounds a disposition (inclusive): a record, and as much again.
const dispositionBytes = 4 * terminalBytes

func (a *attempt) disposition(o Observed, v Verdict, r Reaped) Disposition {
	d := Disposition{Version: 1, AttemptID: a.id, Outcome: outcomeRejected, Cause: (*cause)(v.Cause), Findings: short(v.Findings),
		Cancelled: !a.cancelled.IsZero(), Record: v.Record, Admission: a.admission, Reaped: r,
		Channels: channels{Report: o.Report.prefix(), Diagnostic: o.Diagnostic.prefix(), Sink: o.Sink.prefix(),
			Status: statusSeen{o.Packets, len(o.Packet), o.TerminalEnded}}}
	d.Reaped.Left = short(r.Left)
	if v.Accepted {
		d.Outcome = outcomeAccepted
	}
	if a.exit.Waited {
		us := func(t unix.Timeval) *int64 { n := t.Nano() / 1000; return &n }
		wall := a.exitedAt.Sub(a.started).Milliseconds()
		d.Supervisor = supervisor{WallMS: &wall, CPUUser: us(a.usage.Utime), CPUSystem: us(a.usage.Stime)}
		if a.exit.Signal != 0 {
			d.Supervisor.Signal = &a.exit.Signal
		} else {
			d.Supervisor.Exit = &a.exit.Status
		}
	}
	return d
}

func (s Stream) prefix() *prefix {
	if !s.Offered {
		return nil
	}
	return &prefix{s.Bytes, s.SHA256, s.Ended}
}

// short bounds a list of texts for people.
func short(list []string) []string {
	kept := []string{}
	for _, text := range list[:min(len(list), maxFindings)] {
		kept = append(kept, text[:min(len(text), 1024)])
	}
	return kept
}

// encode spells the document. Texts for people may hold cut characters.
func (d *Disposition) encode() ([]byte, error) {
	return json.Marshal(d, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// write makes the document last, then gives it its name.
func (d *Disposition) write(f File) error {
	content, err := d.encode()
	if err != nil {
		return fmt.Errorf("encode disposition: %w", err)
	}
	fd, err := create(f.Provisional)
	if err != nil {
		return err
	}
	err = writeAll(fd, append(content, '\n'))
	if err == nil {
		err = unix.Fsync(fd)
	}
	if err = errors.Join(err, shut(&fd)); err == nil {
		err = place(f.Provisional, f.Target)
	}
	if err != nil {
		_, second := unlink(f.Provisional)
		return errors.Join(err, second)
	}
	return settleFolder(filepath.Dir(f.Target))
}

// String is a verdict in one line, for people.
func (v Verdict) String() string {
	if v.Cause == nil {
		return outcomeAccepted
	}
	args, err := json.Marshal(v.Cause.Args, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %s%s", outcomeRejected, v.Cause.Code, args)
	if len(v.Findings) > 0 {
		text += ": " + v.Findings[0]
	}
	return text
}
