package driver

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// hostEndpoints makes the endpoints of a launch. Those that stand by themselves
// come first, then those that are one with another.
func (a *attempt) hostEndpoints(gifts []given) ([]given, error) {
	made := map[string]pair{}
	for _, alias := range []bool{false, true} {
		for _, name := range scenario.EndpointNames {
			kind := a.scenario.Endpoints.Kind(name)
			relation, other, related := scenario.Relation(kind)
			if kind == "" || related != alias {
				continue
			}
			p, err := pair{}, error(nil)
			if related {
				p, err = made[other].related(name, relation)
			} else {
				p, err = newPair(name, kind, a.setup.Place)
			}
			if err != nil {
				return gifts, errors.Join(err, a.dropLeft(made))
			}
			made[name] = p
			if gifts, err = a.hand(gifts, p); err != nil {
				return gifts, errors.Join(err, a.dropLeft(made))
			}
		}
	}
	return gifts, a.takeEnds(made)
}

// hand lists a pair for launch.json and puts its descriptor among the gifts.
func (a *attempt) hand(gifts []given, p pair) ([]given, error) {
	if p.theirs >= 0 {
		number := a.plan.number(p.name)
		if slices.ContainsFunc(gifts, func(g given) bool { return g.number == number }) {
			return gifts, errors.Join(fmt.Errorf("hand over %s: number %d is taken", p.name, number), unix.Close(p.theirs))
		}
		gifts = append(gifts, given{number, p.name, p.kind, p.theirs})
	}
	return gifts, a.host(p)
}

// dropLeft closes our ends after a failure.
func (a *attempt) dropLeft(made map[string]pair) error {
	var errs []error
	for _, p := range made {
		errs = append(errs, closeFD(p.ours))
	}
	return errors.Join(errs...)
}

// takeEnds gives our ends to the readers. What an endpoint of an unusual kind
// brings is read as its name's channel, in the end where nothing tells that it
// has come.
func (a *attempt) takeEnds(made map[string]pair) error {
	errs := []error{a.record.evidence.Open(evidence.ReportFile), a.record.evidence.Open(evidence.DiagnosticFile)}
	for _, name := range scenario.EndpointNames {
		p, found := made[name]
		if !found || p.ours < 0 {
			continue
		}
		c := &channel{name: name, file: evidence.ChannelFile(name), fd: p.ours, pace: a.paceOf(name)}
		switch {
		case a.scenario.Endpoints.GivenAway(name):
			errs = append(errs, unix.Close(p.ours))
		case name == scenario.ChannelTerminal && slices.Contains([]string{scenario.Seqpacket, scenario.Narrow, scenario.Filled}, p.kind):
			a.terminal = &terminal{fd: p.ours, filler: p.filler, paused: p.kind == scenario.Filled}
		case slices.Contains([]string{scenario.Pipe, scenario.Stream, scenario.Seqpacket, scenario.TCP}, p.kind):
			a.channels = append(a.channels, c)
		case p.kind == scenario.File, p.kind == scenario.Datagram:
			a.late = append(a.late, c)
		default: // nothing can come
			a.extras = append(a.extras, p.ours)
		}
	}
	return errors.Join(errs...)
}

func (a *attempt) paceOf(name string) scenario.Pace {
	for _, pace := range a.scenario.Paces {
		if pace.Channel == name {
			return pace
		}
	}
	return scenario.Pace{}
}

// readLate reads what came through the endpoints that tell nothing of it.
func (a *attempt) readLate() {
	for _, c := range a.late {
		for end := false; !end; {
			now, offset := evidence.Monotonic(), c.total
			got, ended, errno := c.read(now, a.buffer, len(a.buffer))
			if len(got) > 0 {
				a.record.bytes(now, c.name, c.file, got)
			}
			if end = ended || c.total == offset; end {
				a.record.ended(now, c.name, errno)
			}
		}
	}
}
