package alter

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/evidence"
)

// alterResults: result left | missing, of what the host under test keeps.
func alterResults(s *subject, words []string, yield yielding) {
	events := s.events()
	if words[0] == "missing" {
		for i, e := range events {
			if r, is := e.Body.(evidence.Result); is {
				yield(alteration{target: r.Name + " missing", events: slices.Delete(slices.Clone(events), i, i+1)})
			}
		}
		return
	}
	for _, name := range append([]string{"altered"}, s.results...) {
		kept := slices.ContainsFunc(events, func(e evidence.Event) bool {
			r, is := e.Body.(evidence.Result)
			return is && r.Name == name
		})
		if name != "" && !kept {
			yield(alteration{target: name + " left", events: put(events, last(events), evidence.Result{Name: name, Size: 1})})
		}
	}
}

// alterRelay: relay missing | started | detail, of what the relay did.
func alterRelay(s *subject, words []string, yield yielding) {
	events := s.events()
	for i, e := range events {
		r, is := e.Body.(evidence.Relayed)
		if !is {
			continue
		}
		switch {
		case words[0] == "missing":
			yield(alteration{target: r.Did + " missing", events: slices.Delete(slices.Clone(events), i, i+1)})
		case words[0] == "started" && r.Did == "started":
			yield(alteration{target: "started twice", events: put(events, i, r)})
		case words[0] == "detail" && r.Detail != "":
			r.Detail = "altered"
			changed := slices.Clone(events)
			changed[i].Body = r
			yield(alteration{target: r.Did + " detail", events: changed})
		}
	}
}

// alterFaults: faults rule-missing | fired-again | closed-again, of the
// tracer's log.
func alterFaults(s *subject, words []string, yield yielding) {
	log := s.attempt.File(evidence.FaultLogFile)
	at := 0
	for line := range bytes.Lines(log) {
		start, end := at, at+len(line)
		at = end
		for _, b := range faultLine(words[0], line) {
			yield(alteration{target: b.word, files: map[string][]byte{evidence.FaultLogFile: splice(log, start, end, string(b.content))}})
		}
	}
}

func faultLine(deed string, line []byte) (all []become) {
	var head struct {
		Kind, State, Rule, Call string
		Rules                   []jsontext.Value
	}
	if json.Unmarshal(line, &head) != nil {
		return nil
	}
	switch {
	case deed == "rule-missing" && head.Kind == "final":
		for i := range head.Rules {
			for _, m := range read(bytes.TrimSpace(line)) {
				if m.path == "rules" {
					rules := slices.Delete(slices.Clone(head.Rules), i, i+1)
					text, _ := json.Marshal(rules) // values that were just read
					all = append(all, become{"a rule missing", splice(line, m.start, m.end, string(text))})
				}
			}
		}
	case deed == "fired-again" && head.Kind == "decision" && head.State == "realised":
		all = append(all, become{head.Rule + " fired again", slices.Concat(line, line)})
	case deed == "closed-again" && head.Kind == "decision" && head.State == "realised" && head.Call == "close":
		again := withoutInode(line)
		again = []byte(strings.Replace(string(again), `"action":"errno"`, `"action":"mark"`, 1))
		all = append(all, become{"closed again", slices.Concat(line, again)})
	}
	return all
}

// withoutInode is a decision on a descriptor that nothing was open at.
func withoutInode(line []byte) []byte {
	for _, m := range read(bytes.TrimSpace(line)) {
		if m.path == "fd.ino" {
			return splice(line, m.start, m.end, "null")
		}
	}
	return line
}
