package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/contracts"
)

// Recover is `refhost reap MANIFEST`: it finishes an attempt whose host was
// killed, from the manifest alone. Processes of the attempt are ended, its
// files removed, and what was not accepted by a disposition is not accepted any
// more. Where there is no disposition it writes one, "uncertain". It may be
// repeated. The exit status is 0 when nothing is left.
//
// Rules: R15, R21.
func Recover(args []string) int {
	if len(args) != 1 {
		return say(ExitUsage, "reap: give one manifest; "+Usage)
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		return say(ExitUsage, err)
	}
	m, f, err := readManifest(path)
	if f != nil {
		defer func() { _ = f.Close() }() // only read
	}
	if err != nil {
		return say(ExitUsage, err)
	}
	accepted, decided, err := m.decided()
	if err != nil {
		return say(ExitInternal, err)
	}
	report, diagnostic, sink := remains(m.Report.Provisional), remains(m.Diagnostics.Provisional), remains(m.Sink.Provisional)
	var r Reaped
	r.groups(m.ControlGroup)
	r.files(&m, m.results(accepted))
	if !decided {
		d := Disposition{Version: 1, AttemptID: m.AttemptID, Outcome: outcomeUncertain, Admission: m.Admission, Reaped: r,
			Cause:    (*cause)(local(contracts.ChannelStatus, reasonIO)),
			Findings: []string{"the host ended before it could decide"},
			Channels: channels{Report: report, Diagnostic: diagnostic, Sink: sink}}
		d.Reaped.Left = short(r.Left)
		if err := d.write(m.Disposition); err != nil {
			return say(ExitInternal, err)
		}
	}
	if len(r.Left) > 0 {
		return say(ExitRejected, r.Left[0])
	}
	if err := unix.Unlink(path); err != nil {
		return say(ExitInternal, fmt.Errorf("remove manifest: %w", err))
	}
	return 0
}

// decided reads the disposition, if the host had written it.
func (m *Manifest) decided() (accepted, decided bool, err error) {
	f, err := os.Open(m.Disposition.Target)
	if errors.Is(err, os.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("disposition: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	content, err := io.ReadAll(io.LimitReader(f, dispositionBytes+1))
	if err != nil {
		return false, false, fmt.Errorf("disposition %s: %w", f.Name(), err)
	}
	var d Disposition
	if err := json.Unmarshal(content, &d); err != nil || d.AttemptID != m.AttemptID {
		return false, false, fmt.Errorf("disposition %s: not of attempt %s; move it away", f.Name(), m.AttemptID)
	}
	return d.Outcome == outcomeAccepted, true, nil
}

// results are the targets that this attempt must have made, unless they were
// accepted: a private name that was made and is gone was renamed. A target
// beside it is somebody else's, and stays. The named sink is S's to make.
func (m *Manifest) results(accepted bool) (targets []string) {
	if accepted || m.Files == filesNone {
		return nil
	}
	for _, f := range []File{m.Report, m.Sink} {
		var stat unix.Stat_t
		if gone := errors.Is(unix.Lstat(f.Provisional, &stat), unix.ENOENT); (gone || m.NamedSink && f == m.Sink) && !(f == m.Sink && m.stoodBefore()) {
			targets = append(targets, f.Target)
		}
	}
	return targets
}

// remains is what a provisional file holds: a lower bound of what had come.
func remains(path string) *prefix {
	if path == "" {
		return nil
	}
	s, err := measure(path)
	if err != nil || !s.Offered {
		return nil
	}
	return &prefix{s.Bytes, s.SHA256, false}
}
