package faultinject

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// The JSON twin of a plan. Members that are left out have the same defaults
// as in the text form.
type (
	jsonPlan struct {
		Binds []jsonBind `json:"binds,omitempty"`
		Rules []jsonRule `json:"rules"`
	}
	jsonBind struct {
		Name  string `json:"name"`
		Path  string `json:"path,omitempty"`
		Memfd string `json:"memfd,omitempty"`
	}
	jsonRule struct {
		ID     string     `json:"id"`
		On     jsonOn     `json:"on"`
		At     jsonAt     `json:"at,omitzero"`
		Do     jsonAction `json:"do"`
		Times  any        `json:"times,omitempty"`
		Scope  string     `json:"scope,omitempty"`
		Effect string     `json:"effect,omitempty"`
	}
	jsonOn struct {
		Calls  []string `json:"calls"`
		FD     string   `json:"fd,omitempty"`
		Path   string   `json:"path,omitempty"`
		Roles  []string `json:"roles,omitempty"`
		Thread int      `json:"thread,omitzero"`
		Args   []string `json:"args,omitempty"`
	}
	jsonAt struct {
		Call  *uint64 `json:"call,omitempty"`
		Every *uint64 `json:"every,omitempty"`
		Bytes *uint64 `json:"bytes,omitempty"`
		Time  string  `json:"time,omitempty"`
		After string  `json:"after,omitempty"`
	}
	jsonAction struct {
		Action    string  `json:"action"`
		Bytes     *uint64 `json:"bytes,omitempty"`
		Value     *uint64 `json:"value,omitempty"`
		Errno     string  `json:"errno,omitempty"`
		Storm     uint64  `json:"storm,omitzero"`
		For       string  `json:"for,omitempty"`
		NoSigpipe bool    `json:"nosigpipe,omitzero"`
		Nudge     string  `json:"nudge,omitempty"`
		Delay     string  `json:"delay,omitempty"`
		Side      string  `json:"side,omitempty"`
		Signal    string  `json:"signal,omitempty"`
		Every     string  `json:"every,omitempty"`
		Role      string  `json:"role,omitempty"`
		Name      string  `json:"name,omitempty"`
		Max       string  `json:"max,omitempty"`
	}
)

// PrintJSON returns the plan's JSON twin, compact.
func PrintJSON(p Plan) ([]byte, error) {
	out := jsonPlan{Rules: []jsonRule{}}
	for _, b := range p.Binds {
		twin := jsonBind{Name: b.Name}
		if b.Kind == BindPath {
			twin.Path = b.Pattern
		} else {
			twin.Memfd = b.Pattern
		}
		out.Binds = append(out.Binds, twin)
	}
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, r.twin())
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	return text, nil
}

func (r Rule) twin() jsonRule {
	t := jsonRule{ID: r.ID, On: jsonOn{Calls: r.Calls, FD: r.FD, Path: r.Path, Thread: r.Thread}}
	if r.Roles != Supervisor|Verifier {
		t.On.Roles = r.Roles.Letters()
	}
	for _, test := range r.Args {
		t.On.Args = append(t.On.Args, test.String())
	}
	t.At.After = r.At.After
	switch r.At.Kind {
	case AtCall:
		t.At.Call = &r.At.N
	case AtEvery:
		t.At.Every = &r.At.N
	case AtBytes:
		t.At.Bytes = &r.At.N
	case AtTime:
		t.At.Time = r.At.Delay.String()
	}
	t.Do = r.Do.twin()
	if r.Times == Unlimited {
		t.Times = "inf"
	} else {
		t.Times = r.Times
	}
	t.Scope, t.Effect = scopeWords[r.Scope], effectWords[r.Effect]
	return t
}

func (a Action) twin() jsonAction {
	t := jsonAction{
		Action: actionWords[a.Kind], Storm: a.Storm, NoSigpipe: a.NoSigpipe, Signal: a.Signal, Name: a.Name,
		Nudge: spanText(a.Nudge), Delay: spanText(a.Delay), Every: spanText(a.Every), Max: spanText(a.Max),
		For: spanText(a.For + a.StormFor),
	}
	switch a.Kind {
	case DoShort:
		t.Bytes = &a.N
	case DoRet:
		t.Value = &a.N
	case DoErrno:
		t.Errno = a.Errno
	}
	if a.Late {
		t.Side = "after"
	}
	if a.Role != 0 {
		t.Role = a.Role.Letters()[0]
	}
	return t
}

func spanText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// ParseJSON reads a JSON twin. Duplicate and unknown members are refused.
// Line n of a position is the nth rule or bind, binds first.
func ParseJSON(text []byte) (Plan, error) {
	var in jsonPlan
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return Plan{}, fmt.Errorf("parse plan: %w", err)
	}
	// The twin is turned into text lines, so that there is one grammar only.
	var lines string
	for _, b := range in.Binds {
		line, err := b.line()
		if err != nil {
			return Plan{}, err
		}
		lines += line + "\n"
	}
	for _, r := range in.Rules {
		line, err := r.line()
		if err != nil {
			return Plan{}, err
		}
		lines += line + "\n"
	}
	return Parse(lines)
}

func (b jsonBind) line() (string, error) {
	switch {
	case b.Path != "" && b.Memfd == "":
		return "bind " + quoteWord(b.Name+":") + " path " + quoteWord(b.Path), nil
	case b.Memfd != "" && b.Path == "":
		return "bind " + quoteWord(b.Name+":") + " memfd " + quoteWord(b.Memfd), nil
	}
	return "", fmt.Errorf("bind %q: want exactly one of path and memfd", b.Name)
}

// oneOf returns the only member that is set.
func oneOf(id string, members ...string) (string, error) {
	set := slices.DeleteFunc(members, func(m string) bool { return m == "" })
	if len(set) > 1 {
		return "", fmt.Errorf("rule %q: %q and %q exclude each other", id, set[0], set[1])
	}
	return append(set, "")[0], nil
}
