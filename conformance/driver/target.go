package driver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// named says that a launch, or that of a host, is to give a named sink.
func (a *attempt) named() bool {
	return a.target() != "" && (a.scenario.Kind == scenario.Launch || a.scenario.Kind == scenario.Hosted)
}

// watchTarget begins to note what happens in the folder of the target.
func (a *attempt) watchTarget() (err error) {
	if !a.named() {
		return nil
	}
	if a.folder, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err != nil {
		return fmt.Errorf("watch target: %w", err)
	}
	const mask = unix.IN_CREATE | unix.IN_OPEN | unix.IN_MODIFY | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE
	if _, err = unix.InotifyAddWatch(a.folder, filepath.Dir(a.target()), mask); err != nil {
		return fmt.Errorf("watch target: %w", err)
	}
	return nil
}

// keepTarget records what happened to the target's name, and who could write
// what stands there.
func (a *attempt) keepTarget() error {
	if a.folder < 0 {
		return nil
	}
	var text []byte
	for buffer := make([]byte, 1<<16); ; {
		n, err := unix.Read(a.folder, buffer)
		if errors.Is(err, unix.EAGAIN) || n == 0 {
			break
		}
		if err != nil {
			return fmt.Errorf("read what happened to the target: %w", err)
		}
		text = append(text, buffer[:n]...)
	}
	seen := evidence.Target{Steps: steps(text, filepath.Base(a.target())), Launched: uint32(os.Geteuid())}
	var st unix.Stat_t
	if unix.Lstat(a.target(), &st) == nil {
		seen.Mode, seen.UID = st.Mode&0o7777, st.Uid
	}
	a.record.event(seen)
	return unix.Close(a.folder)
}

// steps reads inotify's events about one name; what follows itself is left out.
func steps(text []byte, name string) []string {
	all, from := []string{}, map[uint32]bool{} // cookies of what left its name in this folder
	for len(text) >= unix.SizeofInotifyEvent {
		mask, cookie := binary.NativeEndian.Uint32(text[4:]), binary.NativeEndian.Uint32(text[8:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(text[12:]))
		about := string(bytes.TrimRight(text[unix.SizeofInotifyEvent:end], "\x00"))
		text = text[end:]
		if mask&unix.IN_MOVED_FROM != 0 {
			from[cookie] = true
		}
		if word := stepWord(mask, from[cookie]); about == name && (len(all) == 0 || all[len(all)-1] != word) {
			all = append(all, word)
		}
	}
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}

func stepWord(mask uint32, within bool) string {
	switch {
	case mask&unix.IN_CREATE != 0:
		return "created"
	case mask&unix.IN_OPEN != 0:
		return "opened"
	case mask&unix.IN_MODIFY != 0:
		return "written"
	case mask&unix.IN_MOVED_TO != 0 && within:
		return "moved"
	case mask&unix.IN_MOVED_TO != 0:
		return "arrived"
	case mask&unix.IN_MOVED_FROM != 0:
		return "left"
	case mask&unix.IN_DELETE != 0:
		return "deleted"
	}
	return ""
}
