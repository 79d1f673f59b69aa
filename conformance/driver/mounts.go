package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
)

// mounts is the folder that the entrypoint finds its source in: one name for
// all attempts, because a report prints it, and for each a file system of its own.
func (s Setup) mounts() string { return filepath.Join(filepath.Dir(s.Library), "in") }

// mountsBytes bounds the mounts.
const mountsBytes = 256 << 20

func (a *attempt) entrypoint() bool { return a.scenario.Cell.Facade == scenario.Entrypoint }

// makeMounts lays the folder over with an empty one.
func (a *attempt) makeMounts() error {
	if !a.entrypoint() {
		return nil
	}
	return mountSized(a.setup.mounts(), mountsBytes, 0o755)
}

// ohlcv is the market data that the launcher is told of.
func (a *attempt) ohlcv() string {
	if a.entrypoint() {
		return filepath.Join(a.setup.mounts(), "ohlcv.csv")
	}
	return a.setup.marketData(a.scenario.BarCount())
}

// fillMounts puts the source and the market data where the entrypoint looks.
func (a *attempt) fillMounts() error {
	if !a.entrypoint() {
		return nil
	}
	bars, err := os.ReadFile(a.setup.marketData(a.scenario.BarCount()))
	if err != nil {
		return fmt.Errorf("fill mounts: %w", err)
	}
	source, err := a.source()
	if err != nil {
		return fmt.Errorf("fill mounts: %w", err)
	}
	for _, mount := range []struct {
		name, file string
		text       []byte
	}{{scenario.MountStrategy, a.scenario.MountName(), source}, {scenario.MountOHLCV, "ohlcv.csv", bars}} {
		if slices.Contains(a.scenario.Unmounted, mount.name) {
			continue
		}
		if err := writeNew(filepath.Join(a.setup.mounts(), mount.file), mount.text, 0o644); err != nil {
			return fmt.Errorf("fill mounts: %w", err)
		}
	}
	return nil
}

// source is the strategy's own, or the fixture for a compiler that copies.
func (a *attempt) source() ([]byte, error) {
	if a.scenario.Source != nil {
		return []byte(a.scenario.Source.Text), nil
	}
	return os.ReadFile(a.given(libraryFile))
}

// standInFile is the name of a stand-in in the attempt's place.
func standInFile(tool string) string { return "tool-" + tool }

// writeStandIns writes the programs that take a tool's place.
func (a *attempt) writeStandIns() (map[string]string, error) {
	programs := map[string]string{}
	for _, tool := range a.scenario.StandIns() {
		args := map[string]string{}
		for key, value := range a.scenario.Tools[tool] {
			args[key] = value
		}
		if tool != scenario.Binder {
			args["make"] = "1"
		}
		programs[tool] = a.given(standInFile(tool))
		if _, _, err := patch(a.setup.Tool, programs[tool], args, nil); err != nil {
			return nil, fmt.Errorf("write stand-in for the %s: %w", tool, err)
		}
	}
	return programs, a.standForFinalizer(programs)
}

// removeMounts takes down what the entrypoint was given.
func (a *attempt) removeMounts() error {
	if !a.entrypoint() {
		return nil
	}
	err := unix.Unmount(a.setup.mounts(), unix.MNT_DETACH)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		err = nil // it was never mounted
	}
	for _, tool := range scenario.Tools {
		if removed := os.Remove(a.given(standInFile(tool))); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// headBytes are the first of a library, by which a copy of it is known: they
// hold its build id.
const headBytes = 1024

// readHead is how a library begins.
func readHead(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return text[:min(len(text), headBytes)], nil
}

// copied says whether a mapping is of a copy of the library: the entrypoint
// makes one under a name of its own.
func (l library) copied(pid int, base uint64, path string) bool {
	if len(l.head) == 0 || !strings.HasPrefix(path, "/") {
		return false
	}
	fd, err := unix.Open(procPath(pid, "mem"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	seen := make([]byte, len(l.head))
	n, err := unix.Pread(fd, seen, int64(base))
	return errors.Join(err, unix.Close(fd)) == nil && bytes.Equal(seen[:n], l.head)
}
