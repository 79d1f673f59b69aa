package certify

import (
	"time"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/conformance/script"
)

// meter measures what of a job's time its attempts take, and how much of the
// processor the launcher had in them.
type meter struct {
	script.Attempts
	wall, cpu time.Duration
}

func (m *meter) Run(s scenario.Scenario, payload []byte) (*evidence.Attempt, error) {
	started := time.Now()
	a, err := m.Attempts.Run(s, payload)
	m.add(time.Since(started), a, err)
	return a, err
}

// Reference may have been made by another job, and was then only waited for.
func (m *meter) Reference(s scenario.Scenario) (*evidence.Attempt, error) {
	started := time.Now()
	a, err := m.Attempts.Reference(s)
	m.add(time.Since(started), nil, err)
	return a, err
}

func (m *meter) add(took time.Duration, a *evidence.Attempt, err error) {
	m.wall += took
	if err != nil || a == nil {
		return
	}
	if exit, found := a.Exit(); found {
		m.cpu += time.Duration(exit.Body.UserUS+exit.Body.SystemUS) * time.Microsecond
	}
}
