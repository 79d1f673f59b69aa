package alter

import (
	"maps"
	"slices"
	"strconv"

	"touchstone/conformance/evidence"
	"touchstone/conformance/script"
)

// subject is an attempt to be altered, with what its script says of it: an
// alteration has to say what a check denies.
type subject struct {
	attempt *evidence.Attempt
	planted []string // texts that must stand nowhere
	points  []uint32 // where a producer must not come to
	results []string // names of what a host leaves
	others  []string // profiles of the launcher that are not the attempt's
	success []string // members by which a success document is known, and a failure document
	failure []string
	record  []byte   // the first packet
	members []member // of it
	aim     *aim     // nil: everything
}

func newSubject(a *evidence.Attempt, asked []script.Judgement) *subject {
	s := &subject{attempt: a}
	if packets := a.Packets(); len(packets) > 0 {
		s.record = packets[0].Bytes
		s.members = read(s.record)
	}
	for _, j := range asked {
		h := j.Facts.Host
		s.results = []string{h.Report, h.Sink, h.File}
		if slices.Contains(j.Attempts, a) {
			s.success, s.failure = j.Facts.SuccessMembers, j.Facts.FailureMembers
			s.others = slices.Sorted(maps.Keys(j.Facts.Profiles))
		}
		switch {
		case j.Universal() || len(j.Words) < 2:
		case j.Words[0] == "nowhere":
			s.planted = append(s.planted, j.Words[1])
		case j.Words[0] == "diagnostics" && j.Words[1] == "lack":
			s.planted = append(s.planted, j.Words[2])
		case j.Words[0] == "never-at-rendezvous":
			if n, err := strconv.ParseUint(j.Words[1], 10, 32); err == nil {
				s.points = append(s.points, uint32(n))
			}
		}
	}
	s.others = slices.DeleteFunc(s.others, func(name string) bool { return name == a.Scenario.Cell.Profile })
	slices.Sort(s.planted)
	s.planted = slices.Compact(s.planted)
	return s
}

// alteration is what becomes of an attempt: its events, and the bytes of files
// that are others. nil events are those of the attempt.
type alteration struct {
	target string // what was altered, and to what
	events []evidence.Event
	files  map[string][]byte
	launch *evidence.Launch // nil: the attempt's
	cell   string           // profile that the attempt is said to be of, "" the attempt's
	lost   string           // rule that the suite judges without, "" none
}

// variant is an attempt with one thing altered, and what it is judged without.
type variant struct {
	attempt *evidence.Attempt
	lost    string
}

// yielding takes the alterations of an operator one by one.
type yielding func(alteration)

// events is a copy to be changed.
func (s *subject) events() []evidence.Event { return slices.Clone(s.attempt.Events) }

// find is the place of the first event with a body of a type, -1 when there is none.
func find[B evidence.Body](events []evidence.Event) int {
	return slices.IndexFunc(events, func(e evidence.Event) bool {
		_, is := e.Body.(B)
		return is
	})
}

// put sets an event with a body before another, at the other's time.
func put(events []evidence.Event, at int, body evidence.Body) []evidence.Event {
	return slices.Insert(slices.Clone(events), at, evidence.Event{Mono: events[at].Mono, Body: body})
}

// last is the place before the record's own two last events.
func last(events []evidence.Event) int { return find[evidence.Hashes](events) }

// changeEach yields an alteration for each event with a body of a type that a
// function gives another body for.
func changeEach[B evidence.Body](s *subject, yield yielding, change func(B) []named[B]) {
	for i, e := range s.attempt.Events {
		body, is := e.Body.(B)
		if !is {
			continue
		}
		for _, c := range change(body) {
			events := s.events()
			events[i].Body = c.body
			yield(alteration{target: body.Kind() + " " + c.word, events: events})
		}
	}
}

// named is a body that an event may have instead, with a word for it.
type named[B evidence.Body] struct {
	word string
	body B
}

// resized are events that tell of another number of bytes on a channel.
func resized(events []evidence.Event, channel string, size int64) []evidence.Event {
	var out []evidence.Event
	at, place := int64(0), -1
	for _, e := range events {
		b, is := e.Body.(evidence.Bytes)
		if is && b.Channel == channel {
			b.Offset = at
			b.Size = int(min(int64(b.Size), size-at))
			at += int64(b.Size)
			if e.Body = b; b.Size == 0 {
				continue
			}
			place = len(out)
		}
		out = append(out, e)
	}
	if at == size {
		return out
	}
	if place >= 0 {
		b := out[place].Body.(evidence.Bytes)
		b.Size += int(size - at)
		out[place].Body = b
		return out
	}
	end := slices.IndexFunc(out, func(e evidence.Event) bool {
		b, is := e.Body.(evidence.EOF)
		return is && b.Channel == channel
	})
	if end < 0 {
		end = last(out)
	}
	return put(out, end, evidence.Bytes{Channel: channel, Size: int(size)})
}
