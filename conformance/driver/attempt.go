package driver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
	"touchstone/conformance/urgent"
)

// attempt is everything of one attempt. It lives in the attempt process's one
// goroutine, which owns all of it.
type attempt struct {
	dir      string
	scenario scenario.Scenario
	launcher launcherfile.File
	setup    Setup
	record   *record

	around   surroundings
	groups   groups
	mounts   map[string]bool // before the launch
	objects  int             // System V, before the launch
	canaries canaries
	library  library
	launch   evidence.Launch
	command  launcherfile.Command
	values   launcherfile.Values
	plan     descriptorPlan

	channels   []*channel // data endpoints
	terminal   *terminal  // nil for an unsupervised process
	late       []*channel // endpoints that are read in the end only
	extras     []int      // our ends of the further pipes: open, so that they are no broken ones
	started    int64      // stamp of the start
	pid        int        // of the started process, 0 before
	pidfd      int        // of the started process, -1 before
	exited     bool
	exitSignal int // that ended it, 0: none
	lateness   evidence.Lateness
	peak       int64 // largest resident size seen of it, bytes
	tracer     tracer
	shown      bool // what is to be held has been
	input      int  // of a finalizer by itself, -1: none
	keeper     int  // where a relay leaves what it is to hold open
	folder     int  // watches that of the named sink's target, -1: none
	standIn    int  // stands in for a supervisor in a control attempt; 0: none

	rules   []rule
	over    bool           // the driver ends the attempt: no rule is due any more
	handled map[int]uint32 // by producer: the last point that was dealt with
	fates   []fate         // of the producers seen
	judges  []fate         // of the finalizers seen, where one is awaited

	finalizerBy int64 // until when a producer waits for one to be seen, 0 before there is a producer
	stoodAt     int64 // the stamp of the first stop of the supervisor, 0 for none
	held        []int // writers of the producer's diagnostics, kept open by a control
	nextScan    int64
	buffer      []byte
}

// Run is the body of the attempt process: it makes the attempt that the folder
// describes, records it, and leaves nothing. It returns an error only where
// there is no whole record; what went wrong in the attempt itself is in the
// record, as a fault. It is all of touchstone-attempt, which Start runs in the
// attempt folder.
func Run() error {
	if err := startedByRunner(); err != nil {
		return err
	}
	urgent.Thread()
	urgent.Session()
	dir, err := openFolder()
	if err != nil {
		return err
	}
	around, err := enterNamespaces()
	if err != nil {
		return err
	}
	s, f, setup, err := readSetup(dir)
	if err != nil {
		return err
	}
	r, err := newRecord(dir)
	if err != nil {
		return err
	}
	a := &attempt{dir: dir, around: around, scenario: s, launcher: f, setup: setup, record: r, pidfd: -1, tracer: tracer{pidfd: -1}, input: -1, folder: -1, canaries: noCanaries,
		handled: map[int]uint32{}, buffer: make([]byte, packetBytes)}
	for i, rule := range s.Controls {
		a.rules = append(a.rules, newRule(i, rule))
	}
	return errors.Join(a.run(), a.record.close(a.included()))
}

// openFolder is the attempt folder by a descriptor: as it stands outside of
// what is laid over it, and with no way to it by our working directory.
func openFolder() (string, error) {
	fd, err := unix.Open(".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = os.Chdir("/")
	}
	if err != nil {
		return "", fmt.Errorf("open attempt folder: %w", err)
	}
	return descriptorPath(fd), nil
}

// run makes the attempt in its stages. Each stage's failure is recorded as a
// fault; whatever was made is taken down all the same.
func (a *attempt) run() error {
	stages := []struct {
		name string
		do   func() error
	}{
		{"prepare attempt", a.prepare}, {"plan launch", a.planLaunch}, {"start", a.start}, {"watch", a.watch},
	}
	for _, stage := range stages {
		if err := stage.do(); err != nil {
			a.record.fault(stage.name, err)
			break
		}
	}
	a.aftermath()
	return a.writeLaunch()
}

func (a *attempt) included() []string {
	names := []string{evidence.ScenarioFile, evidence.LauncherFile, evidence.LaunchFile, setupFile}
	for _, name := range []string{a.scenario.Fixture.PayloadFile, evidence.CatalogFile, evidence.FaultRulesFile, evidence.FaultLogFile} {
		if _, err := os.Stat(a.path(name)); err == nil && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// path is a file of the record.
func (a *attempt) path(name string) string { return filepath.Join(a.dir, name) }

// given is a file that the launcher is told of.
func (a *attempt) given(name string) string { return filepath.Join(a.setup.Place, name) }

// prepare makes what the attempt is made in: groups, spool and canaries.
func (a *attempt) prepare() (err error) {
	a.groups = ownGroups(os.Getenv(groupVariable)).make()
	if err := os.Mkdir(a.given(spoolFolder), 0o700); err != nil {
		return fmt.Errorf("make spool: %w", err)
	}
	if err := mountSized(a.given(spoolFolder), a.scenario.SpoolHolds(), 0o700); err != nil {
		return err
	}
	if a.canaries, err = plantCanaries(); err != nil {
		return err
	}
	if err := errors.Join(a.plantTarget(), a.watchTarget()); err != nil {
		return err
	}
	if err := a.makeMounts(); err != nil {
		return err
	}
	if a.objects, err = sysvObjects(); err != nil {
		return err
	}
	a.mounts, err = mountPoints()
	return err
}

// patchLibrary writes the attempt's copy of the fixture.
func (a *attempt) patchLibrary() error {
	args := map[string]string{}
	for key, value := range a.scenario.Fixture.Args {
		args[key] = value
	}
	args["candidate_fd"], args["sink_fd"] = a.launcher.Producer.Candidate, a.launcher.Producer.Sink
	if a.holds(scenario.Producer) {
		args["driver.hold"] = "1" // a name that no fixture's own argument has
	}
	if a.scenario.Kind == scenario.Control {
		args["candidate_fd"], args["sink_fd"] = fmt.Sprintf("fd:%d", a.plan.candidate), ""
	}
	var payload []byte
	if name := a.scenario.FixturePayload(); name != "" {
		text, err := os.ReadFile(a.path(name))
		if err != nil {
			return fmt.Errorf("read payload: %w", err)
		}
		payload = append([]byte{}, text...)
	}
	at, stateful, err := patch(a.setup.Library, a.given(libraryFile), args, payload)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(a.given(libraryFile), &st); err != nil {
		return fmt.Errorf("describe library: %w", err)
	}
	a.library = library{path: a.given(libraryFile), device: st.Dev, inode: st.Ino, state: at, hasStates: stateful}
	if a.entrypoint() {
		if a.library.head, err = readHead(a.given(libraryFile)); err != nil {
			return fmt.Errorf("describe library: %w", err)
		}
	}
	sum, err := digestFile(a.given(libraryFile))
	a.launch.Library, a.launch.LibrarySHA256 = a.given(libraryFile), sum
	return err
}

func digestFile(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("digest library: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func newAttemptID() (id [16]byte, err error) {
	if _, err := rand.Read(id[:]); err != nil {
		return id, fmt.Errorf("make attempt id: %w", err)
	}
	return id, nil
}

// writeLaunch writes launch.json, whatever of it is known.
func (a *attempt) writeLaunch() error {
	text, err := json.Marshal(a.launch, json.Deterministic(true))
	if err == nil {
		err = writeNew(a.path(evidence.LaunchFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", evidence.LaunchFile, err)
	}
	return nil
}
