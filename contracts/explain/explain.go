// Package explain holds what requirements, tests and failure codes mean, in our
// own words: for people, nothing judges by it.
package explain

import (
	"embed"
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

//go:embed *.toml
var files embed.FS

// Text is what is said of a requirement, a test or a code. What does not apply
// is empty.
type Text struct {
	Title   string   `toml:"title" json:"title"`
	Rule    string   `toml:"rule" json:"rule"`       // of a requirement: what must hold
	Means   string   `toml:"means" json:"means"`     // of a code: what happened
	Sent    string   `toml:"sent" json:"sent"`       // how the suite asks
	Allowed string   `toml:"allowed" json:"allowed"` // what must be seen, and what is right too
	Causes  []string `toml:"causes" json:"causes"`   // the usual ones
	Look    []string `toml:"look" json:"look"`       // where it shows
	Rules   []string `toml:"rules" json:"rules"`     // of a code: requirements and tests that it belongs to
}

// Texts are all of them by id: R01, T14, report_budget_exceeded.
func Texts() (map[string]Text, error) {
	all := map[string]Text{}
	for _, name := range []string{"requirements.toml", "tests.toml", "codes.toml"} {
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read explanations: %w", err)
		}
		var some map[string]Text
		if err := toml.Unmarshal(content, &some); err != nil {
			return nil, fmt.Errorf("read explanations: %s: %w", name, err)
		}
		for id, text := range some {
			all[id] = text
		}
	}
	return all, nil
}
