package supervisor

import (
	"path/filepath"
	"slices"

	"touchstone/contracts"
	"touchstone/reference/admission"
	"touchstone/reference/jail"
	"touchstone/reference/outcome"
)

// LibraryPath is where the producer has the library that the tools built.
const LibraryPath = jail.WorkFolder + "/strategy.so"

// The entrypoint's exits for a genuine failure before the backtest. Rules: R20.
const (
	exitMissing   = 2 // a mount
	exitBuild     = 3 // compilation or binding
	exitTranspile = 5
)

// tool is one program of the early stages.
type tool struct {
	during    string // stage: prepare or compile
	exit      int    // the facade's for a genuine failure
	program   admission.Tool
	arguments []string // after the pairing's own
}

// tools lists what makes a library of the source, in order.
func (a *attempt) tools() (list []tool) {
	build, pairing := a.admitted.Request.Build, a.admitted.Pairing
	code, sources := build.Source, []string{build.Source}
	if build.Transpiled() {
		code = jail.WorkFolder + "/strategy.cpp"
		sources = append(sources, code)
		list = append(list, tool{contracts.StagePrepare, exitTranspile, pairing.Transpiler, []string{build.Source, code}})
	}
	return append(list,
		tool{contracts.StageCompile, exitBuild, pairing.Compiler,
			[]string{"-I" + filepath.Join(build.Prefix, "include"), code, "-o", LibraryPath}},
		tool{contracts.StageCompile, exitBuild, pairing.Binder,
			append([]string{LibraryPath, jail.WorkFolder + "/build.json"}, sources...)})
}

// build runs the entrypoint's tools, after the storage was reserved; the direct
// facade has none. It returns what ends the attempt before its producer.
//
// Rules: R09, R13, R20, C-16, C-75.
func (a *attempt) build() *outcome.Failure {
	if a.admitted.Request.Build == nil {
		return nil
	}
	err := a.engage()
	if err == nil {
		err = a.reserved()
	}
	if err == nil {
		path := filepath.Join(a.admitted.Launch.Spool.Path, ".work."+a.admitted.AttemptID+".partial")
		a.folder, err = openFolder(path, a.admitted.Pairing.UID(a.admitted.AttemptID), a.started.Add(a.wall))
	}
	if failure := a.interrupted(err); failure != nil {
		return failure
	}
	for _, t := range a.tools() {
		if failure := a.runTool(t); failure != nil {
			return failure
		}
	}
	return nil
}

// runTool runs one tool to the end of its domain.
func (a *attempt) runTool(t tool) (failure *outcome.Failure) {
	if t.during == contracts.StageCompile && a.times.compile == 0 {
		a.times.compile, a.spent.compile = a.now(), spent()
	}
	r := &toolRun{attempt: a, tool: t, began: a.now()}
	defer func() { // as guarded
		if recover() != nil {
			failure = new(outcome.InternalFault())
		}
		if r.domain != nil && r.domain.Close() != nil && failure == nil {
			failure = new(outcome.InternalFault())
		}
	}()
	if failure := a.interrupted(r.start()); failure != nil {
		return failure
	}
	a.ran = append(a.ran, r)
	r.run()
	return r.end()
}

// toolSpec says what a tool gets: the source, what the system and the prefix
// hold, the folder that all tools of the attempt share, and diagnostics.
func (r *toolRun) toolSpec(null, output int) jail.Spec {
	build, pairing, launch := r.admitted.Request.Build, r.admitted.Pairing, r.admitted.Launch
	return jail.Spec{
		Attempt: r.admitted.AttemptID, Helper: pairing.Jail.Path, UID: pairing.UID(r.admitted.AttemptID),
		System: append(slices.Clone(pairing.System), build.Prefix), Files: files(build.Source),
		Tool: true, Work: r.folder.path, FileBytes: launch.Spool.Bytes,
		Exe:          r.program.Path,
		Argv:         slices.Concat([]string{r.program.Path}, r.program.Arguments, r.arguments),
		Env:          []string{"PATH=/usr/bin:/bin", "LANG=C"},
		FDs:          map[int]int{0: null, 1: output, 2: output},
		ScratchBytes: pairing.ScratchBytes, ScratchFiles: pairing.ScratchFiles, MemoryBytes: r.program.MemoryBytes,
		Deadline: r.started.Add(r.wall),
	}
}
