package alter

import (
	"fmt"
	"path"
	"slices"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// alterExit: exit DEED, of the started process.
func alterExit(s *subject, words []string, yield yielding) {
	status := func(n int) *int { return &n }
	changeEach(s, yield, func(e evidence.Exit) (all []named[evidence.Exit]) {
		add := func(word string, change func(*evidence.Exit)) {
			altered := e
			change(&altered)
			all = append(all, named[evidence.Exit]{word, altered})
		}
		switch words[0] {
		case "other-status":
			if e.Status == nil {
				return nil
			}
			others := []int{*e.Status + 1, 0, 1, 3}
			for _, n := range slices.Compact(others) {
				if n != *e.Status {
					add(fmt.Sprintf("status %d", n), func(e *evidence.Exit) { e.Status = status(n) })
				}
			}
		case "signalled":
			add("signal 11", func(e *evidence.Exit) { e.Status, e.Signal = nil, status(11) })
		case "returned":
			if e.Signal != nil {
				add("status 0", func(e *evidence.Exit) { e.Status, e.Signal = status(0), nil })
			}
		case "another":
			add("of another process", func(e *evidence.Exit) { e.PID++ })
		case "memory":
			add("a terabyte of memory", func(e *evidence.Exit) { e.MaxRSSBytes, e.PeakRSSBytes = 1<<40, 1<<40 })
		case "reading":
			add("a terabyte read", func(e *evidence.Exit) { e.ReadBytes = 1 << 40 })
		}
		return all
	})
}

// alterTime: time later | time quicker | time byte-earlier. Order is kept.
func alterTime(s *subject, words []string, yield yielding) {
	events := s.events()
	exit := find[evidence.Exit](events)
	if exit < 0 {
		return
	}
	start := events[0].Mono
	for i := range events {
		switch {
		case words[0] == "later" && i >= exit:
			events[i].Mono += int64(time.Hour)
		case words[0] == "quicker":
			events[i].Mono = start + (events[i].Mono-start)/100000
		}
	}
	yield(alteration{target: "exit " + words[0], events: events})
}

// alterEvents: event KIND dropped | twice | to-the-end | to-the-start.
func alterEvents(s *subject, words []string, yield yielding) {
	const most = 8
	count := 0
	for i, e := range s.attempt.Events {
		if e.Body.Kind() != words[0] || count == most {
			continue
		}
		count++
		target := fmt.Sprintf("%s %d", words[0], count)
		events := s.events()
		switch words[1] {
		case "dropped":
			yield(alteration{target: target, events: slices.Delete(events, i, i+1)})
		case "twice":
			yield(alteration{target: target, events: put(events, i, e.Body)})
		case "to-the-end":
			events = slices.Delete(events, i, i+1)
			yield(alteration{target: target, events: put(events, last(events), e.Body)})
		case "to-the-start":
			events = slices.Delete(events, i, i+1)
			yield(alteration{target: target, events: put(events, 1, e.Body)})
		}
	}
}

// leave: left WHAT, something behind that the attempt took away.
func leave(s *subject, words []string, yield yielding) {
	detail := "altered"
	if target := s.attempt.Scenario.Requests[scenario.RequestPathSink]; target != "" && words[0] == "file" {
		detail = path.Base(target) + ".part"
	}
	events := s.events()
	yield(alteration{target: words[0] + " " + detail, events: put(events, last(events), evidence.Leftover{What: words[0], Detail: detail})})
}

// alterEnded: ended CHANNEL, not ended when the packet came.
func alterEnded(s *subject, words []string, yield yielding) {
	changeEach(s, yield, func(p evidence.Packet) []named[evidence.Packet] {
		if words[0] == scenario.ChannelReport {
			p.Ended.Report = !p.Ended.Report
		} else {
			p.Ended.Diagnostic = !p.Ended.Diagnostic
		}
		return []named[evidence.Packet]{{words[0] + " not ended", p}}
	})
}

// alterRendezvous: rendezvous DEED.
func alterRendezvous(s *subject, words []string, yield yielding) {
	if words[0] == "reached" {
		for _, point := range s.points {
			events := s.events()
			yield(alteration{target: fmt.Sprintf("point %d reached", point), events: put(events, 1, evidence.Rendezvous{Point: point})})
		}
		return
	}
	changeEach(s, yield, func(r evidence.Rendezvous) (all []named[evidence.Rendezvous]) {
		counters := map[string]func(*evidence.Rendezvous, uint64){
			"candidate": func(r *evidence.Rendezvous, n uint64) { r.CandidateBytes = n },
			"sink":      func(r *evidence.Rendezvous, n uint64) { r.SinkBytes = n },
			"printed":   func(r *evidence.Rendezvous, n uint64) { r.DiagnosticBytes = n },
			"read":      func(r *evidence.Rendezvous, n uint64) { r.ReportRead, r.DiagnosticRead = int64(n), int64(n) },
		}
		for _, n := range []uint64{0, 1, 1 << 50} {
			altered := r
			counters[words[0]](&altered, n)
			all = append(all, named[evidence.Rendezvous]{fmt.Sprintf("%d %s=%d", r.Point, words[0], n), altered})
		}
		return all
	})
}

// alterProducer: producer DEED, of what the host saw of it.
func alterProducer(s *subject, words []string, yield yielding) {
	switch words[0] {
	case "alive":
		changeEach(s, yield, func(p evidence.Producers) []named[evidence.Producers] {
			return []named[evidence.Producers]{{"one more", evidence.Producers{Alive: p.Alive + 1}}}
		})
	case "ended":
		changeEach(s, yield, func(p evidence.ProducerExit) []named[evidence.ProducerExit] {
			status := 77
			return []named[evidence.ProducerExit]{{"status 77", evidence.ProducerExit{PID: p.PID, Status: &status}}}
		})
	case "storage":
		changeEach(s, yield, func(e evidence.Storage) []named[evidence.Storage] {
			e.Logical, e.Allocated = 1<<50, 1<<50
			return []named[evidence.Storage]{{"a petabyte", e}}
		})
	case "given":
		changeEach(s, yield, func(e evidence.Finalized) []named[evidence.Finalized] {
			e.Given++
			return []named[evidence.Finalized]{{"given one more", e}}
		})
	case "mounts":
		changeEach(s, yield, func(m evidence.ProducerMounts) []named[evidence.ProducerMounts] {
			host, spool := m, m
			host.Mounts = append(slices.Clone(m.Mounts), "1 1 "+m.HostRoot+" / /altered rw - ext4 none rw")
			spool.Mounts = append(slices.Clone(m.Mounts), "1 1 "+m.Spool+" /altered /altered rw - tmpfs none rw")
			return []named[evidence.ProducerMounts]{{"host root", host}, {"spool", spool}}
		})
	}
}
