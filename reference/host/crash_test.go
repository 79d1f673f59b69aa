package host

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// reap runs `refhost reap` and returns its exit status and what it said.
func reap(t testing.TB, manifest string) (int, string) {
	t.Helper()
	reaper := exec.Command(requireRoot(t)+"/refhost", "reap", manifest)
	output, err := reaper.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return reaper.ProcessState.ExitCode(), string(output)
}

// groupBelow is a folder in which groups can be made, in a hierarchy that S uses.
func groupBelow(t testing.TB) string {
	t.Helper()
	below, err := ownGroups()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := groupFolders(below)
	if err != nil || len(folders) == 0 {
		t.Fatalf("no control groups: %v", err)
	}
	return folders[0]
}

// TestLeftovers: what S leaves in control groups, in its spool and outside its
// own process is found and ended, whether S was killed or not.
func TestLeftovers(t *testing.T) {
	requireRoot(t)
	group := "group=" + groupBelow(t) + "/touchstone-{attempt_id}-00"
	for name, last := range map[string]string{"killed": "kill=9", "ended": "exit=1"} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			r := launch{folder: folder, fake: []string{group, "leave=" + folder + "/spool/attempt-{attempt_id}/x", "stray", last}}.run(t)
			r.wants(t, ExitRejected, byIO)
			if found := r.disposition.Reaped; found.ControlGroups != 1 || found.Processes < 2 || found.Files != 2 {
				t.Errorf("reaped %+v", found)
			}
		})
	}
}

// TestHostKilled: after a SIGKILL of the host, reap cleans up from the manifest
// alone: S is gone, its files are removed, and the disposition is uncertain.
func TestHostKilled(t *testing.T) {
	requireRoot(t)
	folder := t.TempDir()
	command, _, _ := launch{fake: []string{"fill=1:70000", "number=" + folder + "/given-pid", "stop"}, folder: folder}.start(t)
	pid, err := strconv.Atoi(awaitFile(t, folder+"/given-pid"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := folder + "/disposition.json.manifest"
	if exit, _ := reap(t, manifest); exit != ExitUsage {
		t.Errorf("reaped a running attempt: exit %d", exit)
	}
	s, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // killed
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLIN}}, 10000); n != 1 || err != nil {
		t.Errorf("the stopped supervisor outlives its host: %d %v", n, err)
	}
	if exit, _ := reap(t, manifest); exit != 0 {
		t.Errorf("reap: exit %d", exit)
	}
	r := result{folder: folder}
	r.read(t)
	r.wants(t, 0, `uncertain report_channel_failed{"channel":"status","reason":"io"} host`)
	if n := r.disposition.Channels.Report.Bytes; n == 0 || n > 70000 || r.disposition.Reaped.Files != 1 {
		t.Errorf("report prefix of %d bytes, reaped %+v", n, r.disposition.Reaped)
	}
	if exit, _ := reap(t, manifest); exit != ExitUsage {
		t.Errorf("reaped twice: exit %d", exit)
	}
}

// TestRealHostKilled: with the real S nothing survives its host, and what S
// could not remove any more is removed by reap.
func TestRealHostKilled(t *testing.T) {
	folder := t.TempDir()
	command, _, _ := launch{command: real(t, "hang.so"), folder: folder, flags: []string{"--diagnostics", folder + "/notes"}}.start(t)
	awaitNotes(t, folder)
	manifest := folder + "/disposition.json.manifest"
	var m Manifest
	content, err := os.ReadFile(manifest)
	if err == nil {
		err = json.Unmarshal(content, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	if groups := controlGroups(t, m.AttemptID); len(groups) == 0 {
		t.Error("the attempt has no control group that could be left")
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // killed
	if exit, said := reap(t, manifest); exit != 0 {
		t.Errorf("reap: exit %d, %s", exit, said)
	}
	r := result{folder: folder}
	r.read(t)
	r.wants(t, 0, `uncertain report_channel_failed{"channel":"status","reason":"io"} host`)
	if d := r.disposition; d.Channels.Diagnostic.Bytes != 1 || d.AttemptID != m.AttemptID {
		t.Errorf("diagnostic %+v of attempt %s", d.Channels.Diagnostic, d.AttemptID)
	}
}

// TestReapGoesOn: wherever the host was killed, reap leaves either all of a
// result with its acceptance, or nothing and another disposition.
func TestReapGoesOn(t *testing.T) {
	requireRoot(t)
	uncertain := `uncertain report_channel_failed{"channel":"status","reason":"io"} host`
	for name, c := range map[string]struct {
		outcome string // of a disposition that is there; "" is none
		there   string // files: R and S have their names, r and s private ones
		stays   string
		cause   string
	}{
		"before its files":     {"", "RS", "RS", uncertain}, // of another attempt
		"before the names":     {"", "rs", "", uncertain},
		"between the names":    {"", "rS", "", uncertain},
		"before the decision":  {"", "RS", "", uncertain},
		"after the acceptance": {outcomeAccepted, "RS", "RS", "accepted"},
		"after the rejection":  {outcomeRejected, "rs", "", byIO},
		"somebody else's":      {"", "RrS", "R", uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			o, id := Options{Report: folder + "/report.json", Sink: folder + "/sink", Disposition: folder + "/disposition.json",
				Spool: folder + "/spool", Pairing: "/pairing", SpoolBytes: 1, Grants: Grants{1, 1, 1, 1, 1}}, newAttemptID()
			m, err := newManifest(&o, id)
			if err != nil {
				t.Fatal(err)
			}
			d := Disposition{Version: 1, AttemptID: id, Outcome: c.outcome, Findings: []string{}, Admission: m.Admission}
			d.Reaped.Left = []string{}
			if d.Record = []byte("{}"); c.outcome == outcomeRejected {
				d.Cause, d.Record = (*cause)(local("status", reasonIO)), nil
			}
			lock, err := m.write(folder + "/manifest")
			if err == nil && name != "before its files" {
				err = m.made(lock)
			}
			if err = errors.Join(err, shut(&lock), os.MkdirAll(m.Admission.Spool.Path, 0o700)); err == nil && c.outcome != "" {
				err = d.write(m.Disposition)
			}
			paths := map[rune]string{'R': m.Report.Target, 'r': m.Report.Provisional, 'S': m.Sink.Target, 's': m.Sink.Provisional,
				'x': m.Admission.Spool.Path + "/x"}
			for _, file := range c.there + "x" {
				err = errors.Join(err, os.WriteFile(paths[file], []byte("x"), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			if exit, said := reap(t, folder+"/manifest"); exit != 0 || said != "" {
				t.Errorf("reap: exit %d, %s", exit, said)
			}
			r := result{folder: folder}
			r.read(t)
			for file, path := range paths {
				if _, err := os.Stat(path); (err == nil) != strings.ContainsRune(c.stays, file) {
					t.Errorf("%s: %v, want what stays %q", path, err, c.stays)
				}
				if strings.ContainsRune(c.stays, file) {
					_ = os.Remove(path) // seen
				}
			}
			r.wants(t, 0, c.cause)
		})
	}
}

// TestReapRefuses: a manifest that is not one, or that names what no attempt
// has made, makes reap remove nothing.
func TestReapRefuses(t *testing.T) {
	requireRoot(t)
	folder := t.TempDir()
	o := Options{Report: folder + "/report.json", Disposition: folder + "/disposition.json", Spool: folder + "/spool", Pairing: "/p"}
	m, err := newManifest(&o, newAttemptID())
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	precious := folder + "/precious"
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, altered := range map[string]string{
		"empty":          "",
		"cut":            string(content[:len(content)/2]),
		"two":            string(content) + string(content),
		"further member": strings.Replace(string(content), `{"version"`, `{"more":1,"version"`, 1),
		"version":        strings.Replace(string(content), `"version":1`, `"version":2`, 1),
		"another's file": strings.Replace(string(content), m.Report.Provisional, precious, 1),
		"another spool":  strings.Replace(string(content), m.Admission.Spool.Path, folder, 1),
		"every group":    strings.Replace(string(content), m.ControlGroup.Prefix, "", 1),
		"identity":       strings.Replace(string(content), m.AttemptID, "..", 1),
	} {
		path := filepath.Join(folder, "manifest")
		if err := os.WriteFile(path, []byte(altered), 0o600); err != nil {
			t.Fatal(err)
		}
		if exit, said := reap(t, path); exit != ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, path) {
			t.Errorf("%s: exit %d, %q", name, exit, said)
		}
		if _, err := os.Stat(precious); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// FuzzManifest: a reaper takes only what a host could have written, which never
// names a file, folder or group without the attempt's identity in it.
func FuzzManifest(f *testing.F) {
	o := Options{Report: "/a/report.json", Sink: "/a/sink", Disposition: "/a/d", Spool: "/spool", Pairing: "/p"}
	m, err := newManifest(&o, newAttemptID())
	if err != nil {
		f.Fatal(err)
	}
	content, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := decodeManifest(content)
		if err != nil {
			return
		}
		for _, path := range []string{m.Report.Provisional, m.Sink.Provisional, m.Diagnostics.Provisional,
			m.Disposition.Provisional, m.Admission.Spool.Path, m.ControlGroup.Prefix} {
			if path != "" && !strings.Contains(path, m.AttemptID) {
				t.Fatalf("%q of attempt %s", path, m.AttemptID)
			}
		}
	})
}
