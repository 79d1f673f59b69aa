package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"touchstone/reference/admission"
	"touchstone/reference/jail"
)

// inside are the producer's ends of its private streams; -1 for one that it
// does not have.
type inside struct{ null, diagnostics, candidate, sink, snapshot int }

func (in *inside) close() (err error) {
	for _, fd := range []*int{&in.null, &in.diagnostics, &in.candidate, &in.sink, &in.snapshot} {
		err = errors.Join(err, shut(fd))
	}
	return err
}

// spec says what the producer gets: nothing of S's environment, no descriptor
// but these, and read-only views of the two files that it is to read.
func (a *attempt) spec(in inside) jail.Spec {
	request, pairing := a.admitted.Request, a.admitted.Pairing
	environment := []string{"PATH=/usr/bin:/bin", "LANG=C",
		fmt.Sprintf("TOUCHSTONE_REPORT_REMAINING=%d", a.ledger.Remaining())}
	fds := map[int]int{0: in.null, 1: in.diagnostics, 2: in.diagnostics}
	number := admission.FirstFD
	for _, private := range []struct {
		variable string
		fd       int
	}{{"CANDIDATE", in.candidate}, {"SINK", in.sink}, {"SNAPSHOT", in.snapshot}} {
		if private.fd < 0 {
			continue
		}
		number = a.private(number)
		fds[number] = private.fd
		environment = append(environment, fmt.Sprintf("TOUCHSTONE_%s_FD=%d", private.variable, number))
		number++
	}
	if request.Profile == admission.Jailed {
		fds[admission.ArenaFD] = admission.ArenaFD
		environment = append(environment, fmt.Sprintf("TOUCHSTONE_ARENA_FD=%d", admission.ArenaFD))
	}
	var memory int64
	if granted := a.admitted.Launch.Grants.MemoryBytes; granted != nil {
		memory = *granted
	}
	return jail.Spec{
		Attempt: a.admitted.AttemptID, Helper: pairing.Jail.Path, UID: pairing.UID(a.admitted.AttemptID), System: pairing.System,
		Files: a.given(), Copies: a.copies(), Exe: pairing.Producer.Path,
		Argv: append([]string{"producer"}, request.Engine...), Env: environment, FDs: fds,
		ScratchBytes: pairing.ScratchBytes, ScratchFiles: pairing.ScratchFiles,
		MemoryBytes: memory, Deadline: a.started.Add(a.wall),
	}
}

// given lists the host's files that the producer is to read.
func (a *attempt) given() []string {
	request := a.admitted.Request
	if a.folder != nil {
		return files(request.Chart)
	}
	return files(request.Library, request.Chart)
}

// copies is the library that the tools built, if they did: the producer shares
// nothing with the folder that they could write.
func (a *attempt) copies() map[string]string {
	if a.folder == nil {
		return nil
	}
	if info, err := os.Lstat(a.built()); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return map[string]string{LibraryPath: a.built()}
}

func (a *attempt) built() string { return filepath.Join(a.folder.path, filepath.Base(LibraryPath)) }

// private is the producer's next number of a private stream, from one on: the
// lowest that is no number of the host's, so that a number never means two
// things.
func (a *attempt) private(number int) int {
	for number == a.admitted.Request.Terminal || number == a.admitted.Request.SinkFD || number == admission.ArenaFD {
		number++
	}
	return number
}

// files lists the regular files among paths. One that is not there is the
// producer's to report, in the engine's own words.
func files(paths ...string) []string {
	var found []string
	for _, path := range paths {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode().IsRegular() {
			found = append(found, filepath.Clean(path))
		}
	}
	return found
}
