package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// channelMembers spells the members of a channel entry as scripts do.
var channelMembers = map[string]string{
	"observed": "observed_bytes", "accepted": "accepted_bytes", "written": "written_bytes", "limit": "limit_bytes",
	"truncated": "truncated", "complete": "complete", "source_total_known": "source_total_known",
	"sha256": "sha256", "accepted_sha256": "accepted_sha256", "logical_sha256": "logical_sha256",
}

func parseChannel(words []string) (test, error) {
	if err := atLeast(words, 2); err != nil {
		return test{}, err
	}
	name := words[0]
	if !slices.Contains([]string{"candidate", "report", "sink", "diagnostic", "status"}, name) {
		return test{}, fmt.Errorf("unknown channel %q", name)
	}
	conditions, err := parseConditions(words[1:], keys(channelMembers)...)
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			value := v.channel(name, channelMembers[c.member])
			if strings.HasSuffix(c.member, "sha256") {
				v.digestIs(w, c, value)
				continue
			}
			c.judge(value, w)
		}
	})
}

func keys(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// digestIs compares a digest with one that the host computes itself: of an
// endpoint's bytes, or of a prefix of a document (prefix:NAME:N).
func (v *view) digestIs(w *wants, c condition, value *node) {
	var content []byte
	switch wanted := c.values[0]; {
	case wanted == "null":
		c.judge(value, w)
		return
	case wanted == "report" || wanted == "diagnostic":
		content = v.endpointBytes(wanted)
	case strings.HasPrefix(wanted, "prefix:"):
		var problem string
		if content, problem = v.prefix(wanted); problem != "" {
			w.undecided(Broken, problem)
			return
		}
	default:
		w.undecided(Broken, fmt.Sprintf("%s: want null, report, diagnostic or prefix:NAME:N", c))
		return
	}
	w.value(digestMatches(value, content), value, c.member+"="+value.String(), fmt.Sprintf("%s (%s)", c, digest(content)))
}

func (v *view) prefix(text string) (content []byte, problem string) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Sprintf("%q: want prefix:NAME:N", text)
	}
	document, found := v.facts.Documents[parts[1]]
	size, err := strconv.Atoi(parts[2])
	if !found || err != nil || size < 0 || size > len(document) {
		return nil, fmt.Sprintf("%q: no such prefix", text)
	}
	return document[:size], ""
}

func parseProducer(words []string) (test, error) {
	conditions, err := parseConditions(words, "exit_status", "signal", "stage", "failure", "failure_claim_omitted")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			value := v.at("producer", c.member)
			if c.member == "failure" && value.isObject() {
				value = value.at("code")
			} else if c.member == "failure" && value.isNull() {
				value = &node{kind: '"', text: "none"}
			}
			c.judge(value, w)
		}
	})
}

func parseLimits(words []string) (test, error) {
	if err := atLeast(words, 2); err != nil {
		return test{}, err
	}
	member := ""
	for _, limit := range limitTable {
		if limit.knob == words[0] {
			member = limit.member
		}
	}
	if member == "" {
		return test{}, fmt.Errorf("unknown knob %q", words[0])
	}
	conditions, err := parseConditions(words[1:], "requested", "granted", "effective")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			c.judge(v.at("limits", member, c.member), w)
		}
	})
}

func parseCharged(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	bound := strings.TrimPrefix(strings.TrimPrefix(words[0], "<="), ">=")
	c, err := parseCondition("report_charged_bytes=" + words[0])
	if err != nil || !plainInteger(bound) {
		return test{}, fmt.Errorf("%q: want N, <=N or >=N", words[0])
	}
	return each(func(v *view, w *wants) { c.judge(v.at("report_charged_bytes"), w) })
}

func parseUsage(words []string) (test, error) {
	if err := atLeast(words, 2); err != nil {
		return test{}, err
	}
	path := []string{"usage", "job", "resources", words[0]}
	if stage, cell, found := strings.Cut(words[0], "."); found {
		path = []string{"usage", "stages", stage, "resources", cell}
	}
	if !slices.ContainsFunc(cellRules, func(r cellRule) bool { return r.name == path[len(path)-1] }) {
		return test{}, fmt.Errorf("unknown cell %q", words[0])
	}
	conditions, err := parseConditions(words[1:], "used", "requested", "limit", "peak", "unit", "scope", "source", "state")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			c.judge(v.at(append(slices.Clone(path), c.member)...), w)
		}
	})
}

func parseCleanup(words []string) (test, error) {
	conditions, err := parseConditions(words, "producer_reaped", "domain_empty", "artifacts_removed")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			c.judge(v.at("cleanup", c.member, "value"), w)
		}
	})
}

func parseRecord(words []string) (test, error) {
	conditions, err := parseConditions(words)
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		for _, c := range conditions {
			c.judge(v.at(strings.Split(c.member, ".")...), w)
		}
	})
}
