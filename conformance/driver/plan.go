package driver

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// descriptorPlan is which numbers a started process finds its descriptors at.
// They differ from attempt to attempt, so that no launcher can count on one.
type descriptorPlan struct {
	endpoint  map[string]int // terminal, sink and phase
	launch    int
	candidate int // of a control attempt
	extra     []int
}

// number is where the launcher finds an endpoint.
func (p descriptorPlan) number(endpoint string) int {
	switch endpoint {
	case scenario.ChannelReport:
		return 1
	case scenario.ChannelDiagnostic:
		return 2
	}
	return p.endpoint[endpoint]
}

const (
	firstNumber = 3
	lastNumber  = 95
	arenaNumber = 5 // reserved by the engine, never a channel
)

// planDescriptors draws numbers that are free of the reserved ones, except for
// endpoints whose number is fixed.
func planDescriptors(drawn [16]byte, reserved []launcherfile.Descriptor, fixed map[string]int, extras int) descriptorPlan {
	taken := map[int]bool{arenaNumber: true}
	for _, n := range fixed {
		taken[n] = true
	}
	for _, d := range reserved {
		taken[d.Number] = true
	}
	var seed [32]byte
	copy(seed[:], drawn[:])
	source := rand.New(rand.NewChaCha8(seed))
	draw := func() int {
		for {
			n := firstNumber + source.IntN(lastNumber-firstNumber+1)
			if !taken[n] {
				taken[n] = true
				return n
			}
		}
	}
	p := descriptorPlan{endpoint: map[string]int{}, launch: draw(), candidate: draw()}
	for _, name := range []string{scenario.ChannelTerminal, scenario.ChannelSink, scenario.ChannelPhase} {
		n, given := fixed[name]
		if !given {
			n = draw()
		}
		p.endpoint[name] = n
	}
	for range extras {
		p.extra = append(p.extra, draw())
	}
	return p
}

// planLaunch decides argv, environment and descriptors and writes the files
// that they name.
func (a *attempt) planLaunch() error {
	id, err := newAttemptID()
	if err != nil {
		return err
	}
	seed, err := a.seed(id)
	if err != nil {
		return err
	}
	a.launch.Seed = hex.EncodeToString(seed[:])
	a.plan = planDescriptors(seed, a.launcher.Profile[a.scenario.Cell.Profile].Descriptor, a.scenario.Endpoints.Numbers, a.scenario.ExtraDescriptors)
	a.values = launcherfile.Values{Bin: a.setup.Bin, Library: a.given(libraryFile), OHLCV: a.ohlcv(), Mounts: a.setup.mounts(),
		Spool: a.given(spoolFolder), Pairing: a.given(pairingFile), Attempt: a.setup.Place, AttemptID: hex.EncodeToString(id[:]),
		TerminalFD: a.plan.number(scenario.ChannelTerminal), LaunchFD: a.plan.launch,
		SinkFD: a.plan.number(scenario.ChannelSink), PhaseFD: a.plan.number(scenario.ChannelPhase)}
	if err := errors.Join(a.patchLibrary(), a.prepareHost()); err != nil {
		return err
	}
	if err := a.fillMounts(); err != nil {
		return err
	}
	if a.values.StandIns, err = a.writeStandIns(); err != nil {
		return err
	}
	if a.command, err = a.render(); err != nil {
		return err
	}
	if a.scenario.Kind == scenario.Launch {
		a.launch.AttemptID = a.values.AttemptID
	}
	a.launch.Argv, a.launch.Environment, a.launch.Directory = a.command.Argv, a.command.Environment, workFolder
	a.launch.Document, a.launch.Pairing, a.launch.Cgroups = a.command.Document, a.command.Pairing, a.groups.leaves
	if a.command.Pairing == "" {
		return nil
	}
	if err := writeNew(a.given(pairingFile), []byte(a.command.Pairing+"\n"), 0o644); err != nil {
		return fmt.Errorf("write pairing file: %w", err)
	}
	return nil
}

// seed draws the descriptor numbers: an attempt id, as numbers no launcher can
// count on, or in a replay the seed of the attempt that is replayed.
func (a *attempt) seed(id [16]byte) ([16]byte, error) {
	if a.setup.Seed == "" {
		return id, nil
	}
	raw, err := hex.DecodeString(a.setup.Seed)
	if err != nil || len(raw) != len(id) {
		return id, fmt.Errorf("seed %q: want %d hexadecimal digits", a.setup.Seed, 2*len(id))
	}
	return [16]byte(raw), nil
}

func (a *attempt) render() (launcherfile.Command, error) {
	switch a.scenario.Kind {
	case scenario.Reference:
		return a.launcher.Unsupervised(a.scenario, a.values)
	case scenario.Control:
		return launcherfile.Command{Argv: []string{a.setup.Control, a.library.path},
			Environment: []string{"LANG=C", "PATH=" + os.Getenv("PATH")}}, nil
	}
	if a.scenario.Kind == scenario.Alone {
		return a.launcher.Alone(a.scenario, a.values, a.given(keptFile), a.plan.candidate)
	}
	if a.scenario.Kind == scenario.Hosted {
		return a.launcher.Hosted(a.scenario, a.values)
	}
	return a.launcher.Supervised(a.scenario, a.values)
}

// newMemfd is an anonymous file of zeros, rewindable by its reader.
func newMemfd(name string, bytes int64) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("make memory file: %w", err)
	}
	if err := unix.Ftruncate(fd, bytes); err != nil {
		_ = unix.Close(fd) // the cause is reported
		return -1, fmt.Errorf("make memory file of %d bytes: %w", bytes, err)
	}
	return fd, nil
}

// executable is where a program is found: as named, or along the fixed path.
func executable(argv0, path string) (string, error) {
	if filepath.IsAbs(argv0) {
		return argv0, nil
	}
	for _, folder := range filepath.SplitList(path) {
		candidate := filepath.Join(folder, argv0)
		if unix.Access(candidate, unix.X_OK) == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("find program %s: not on the path", argv0)
}
