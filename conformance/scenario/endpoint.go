package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EndpointNames are the names of all endpoints, in the order in which they are
// made.
var EndpointNames = []string{ChannelReport, ChannelDiagnostic, ChannelTerminal, ChannelSink, ChannelPhase}

// The relations that an endpoint's kind can have to another endpoint.
const (
	Same     = "same"
	Reopened = "reopened"
	Peer     = "peer"
)

// arenaNumber is reserved by the engine, and never the number of an endpoint.
const arenaNumber = 5

// Contract is the literal that activates supervision (R01).
const Contract = "supervised/v1"

// kinds are those that an endpoint of a name can have by itself.
func kinds(name string) []string {
	common := []string{Pipe, Stream, Seqpacket, Datagram, Reading, Shut, File, Device, Closed}
	if name == ChannelTerminal {
		return append(common, TCP, Unconnected, Listening, Narrow, Filled)
	}
	return common
}

// Kind is what stands for a named endpoint, "" for none.
func (e Endpoints) Kind(name string) string {
	usual := map[string][2]string{
		ChannelReport: {e.Report, Pipe}, ChannelDiagnostic: {e.Diagnostic, Pipe}, ChannelTerminal: {e.Terminal, Seqpacket},
		ChannelSink: {e.Sink}, ChannelPhase: {e.Phase},
	}[name]
	if usual[0] == "" {
		return usual[1]
	}
	return usual[0]
}

// Set gives a named endpoint a kind.
func (e *Endpoints) Set(name, kind string) {
	for known, field := range map[string]*string{ChannelReport: &e.Report, ChannelDiagnostic: &e.Diagnostic,
		ChannelTerminal: &e.Terminal, ChannelSink: &e.Sink, ChannelPhase: &e.Phase} {
		if known == name {
			*field = kind
		}
	}
}

// Relation takes a kind such as same:report apart; ok is false for others.
func Relation(kind string) (relation, other string, ok bool) {
	relation, other, ok = strings.Cut(kind, ":")
	return relation, other, ok
}

// GivenAway says that another endpoint is the host's own end of this one.
func (e Endpoints) GivenAway(name string) bool {
	return slices.ContainsFunc(EndpointNames, func(other string) bool { return e.Kind(other) == Peer+":"+name })
}

// Aliased says that this endpoint is one channel with another.
func (e Endpoints) Aliased(name string) bool {
	for _, n := range EndpointNames {
		if _, other, related := Relation(e.Kind(n)); related && (n == name || other == name) {
			return true
		}
	}
	return false
}

// Check says what of the endpoints no host could make.
func (e Endpoints) Check() error {
	for _, name := range EndpointNames {
		if err := e.check(name); err != nil {
			return fmt.Errorf("%s endpoint: %w", name, err)
		}
	}
	for name, number := range e.Numbers {
		if err := oneOf("number", name, ChannelTerminal, ChannelSink, ChannelPhase); err != nil {
			return err
		}
		if number < 3 || number > 1023 {
			return fmt.Errorf("number of %s: %d is not in 3..1023", name, number)
		}
	}
	return nil
}

func (e Endpoints) check(name string) error {
	kind := e.Kind(name)
	relation, other, related := Relation(kind)
	if !related {
		return oneOf("kind", kind, append(kinds(name), "")...)
	}
	_, _, chained := Relation(e.Kind(other))
	if other == name || chained || e.Kind(other) == "" {
		return fmt.Errorf("kind %q: want another endpoint that stands by itself", kind)
	}
	return first(oneOf("relation", relation, Same, Reopened, Peer), oneOf("endpoint", other, EndpointNames...))
}

// losesRecord says that a line of a fault plan makes a send of the record fail
// for good: an interruption or a full queue is tried again (R10).
func losesRecord(line string) bool {
	what, deed, _ := strings.Cut(line, " do ")
	errno, fails := strings.CutPrefix(deed, "errno ")
	return fails && strings.Contains(what+" ", " fd "+ChannelTerminal+" ") &&
		!strings.HasPrefix(errno, "EINTR") && !strings.HasPrefix(errno, "EAGAIN")
}

// OwesRecord says that the launch is owed a terminal record, whatever becomes
// of it: it activates supervision by the contract's literal and names a sound
// terminal endpoint, which is no other channel, and whose sends are not made to
// fail (R14).
//
// Rules: R01, R03, C-7.
func (s Scenario) OwesRecord() bool {
	if slices.ContainsFunc(s.Faults, losesRecord) {
		return false
	}
	number, fixed := s.Endpoints.Numbers[ChannelTerminal]
	if len(s.Withheld) > 0 || (fixed && number == arenaNumber) {
		return false
	}
	for _, o := range s.Options {
		switch {
		case o.Knob == KnobChannel && o.Value != Contract,
			o.Knob == KnobTerminal && (!fixed || o.Value != strconv.Itoa(number)):
			return false
		}
	}
	resumed := slices.ContainsFunc(s.Controls, func(r Rule) bool {
		return r.Action.Kind == DoResume && r.Action.Channel == ChannelTerminal
	})
	kind := s.Endpoints.Kind(ChannelTerminal)
	return (kind == Seqpacket || (kind == Filled && resumed)) && !s.Endpoints.Aliased(ChannelTerminal)
}
