package tracer

import (
	"errors"
	"fmt"

	"touchstone/faultinject"
	"touchstone/faultinject/filter"
)

// Mode is how the tracer learns of calls.
type Mode string

// The modes. ModeAuto chooses one of the others.
const (
	ModeAuto   Mode = "auto"
	ModeFilter Mode = "filter"
	ModeIP     Mode = "ip"
	ModeFull   Mode = "full"
)

// ErrMode is wrapped by errors of a plan, an image and a mode that do not fit
// together. Nothing was started then.
var ErrMode = errors.New("mode does not fit")

// choose picks a mode for an image and says why. Attached targets are
// launchers, whose untrusted programs must run as they do without us.
func choose(config Config, image string, attached bool) (Mode, string) {
	if config.Mode != ModeAuto && config.Mode != "" {
		return config.Mode, "asked for"
	}
	if !attached {
		return ModeFilter, "run follows the whole tree"
	}
	for _, r := range config.Plan.Rules {
		if r.Roles&faultinject.Untrusted != 0 {
			return ModeFilter, fmt.Sprintf("rule %s covers role U, so all images are followed", r.ID)
		}
	}
	for _, path := range append([]string{image}, config.Verifiers...) {
		if _, err := filter.Sites(path); err != nil {
			return ModeFull, err.Error()
		}
	}
	return ModeIP, "static Go images at fixed addresses; other images run untraced"
}

// checkMode refuses what a mode cannot do.
func checkMode(config Config, mode Mode) error {
	if mode == ModeFilter {
		return nil
	}
	for _, r := range config.Plan.Rules {
		if r.Roles&faultinject.Untrusted != 0 {
			return fmt.Errorf("rule %s: role U is traced only in mode filter: %w", r.ID, ErrMode)
		}
	}
	return nil
}
