package alter

import (
	"path"
	"slices"
	"strings"
)

// aim is where a check looks, so that a search alters that first: operators by
// globs over their names, and members of the record by patterns of their paths.
type aim struct{ operators, members []string }

// aims are the places of nouns that look at no member of their own choosing.
var aims = map[string]aim{
	"exit":        {operators: []string{"exit-*"}},
	"class":       {members: []string{"exit_class"}},
	"failure":     {members: []string{"failure", "failure.**"}},
	"never":       {members: []string{"failure", "failure.code"}},
	"success":     {operators: []string{"exit-*", "report-*"}, members: []string{"complete", "failure", "exit_status", "producer.*"}},
	"refused":     {operators: []string{"exit-*", "report-*"}, members: []string{"complete", "failure"}},
	"report":      {operators: []string{"report-*"}},
	"diagnostics": {operators: []string{"diagnostic-*", "line-*"}}, "fixture-line": {operators: []string{"line-*"}},
	"probes":   {operators: []string{"probe", "line-*"}},
	"nowhere":  {operators: []string{"*-planted"}},
	"sink":     {operators: []string{"sink-*"}, members: []string{"channels.sink.*", "sink_verification", "sink_verification.**"}},
	"artifact": {operators: []string{"artifact-*", "left-file"}},
	"charged":  {members: []string{"report_charged_bytes"}},
	"elapsed":  {operators: []string{"time-*"}}, "after-last-byte": {operators: []string{"time-*"}}, "after-control": {operators: []string{"time-*"}},
	"descriptors": {operators: []string{"observed-*", "descriptor-*", "line-*"}},
	"identity":    {operators: []string{"observed-*"}}, "namespaces": {operators: []string{"observed-*"}},
	"observed": {operators: []string{"observed-*"}}, "command": {operators: []string{"observed-*"}},
	"survivors": {operators: []string{"left-*"}},
	"memory":    {operators: []string{"memory"}}, "read-bytes": {operators: []string{"reading"}},
	"at-rendezvous": {operators: []string{"rendezvous-*"}}, "never-at-rendezvous": {operators: []string{"rendezvous-*"}},
	"producers-at-first-report-byte": {operators: []string{"producer-alive"}},
	"ended-before-packet":            {operators: []string{"ended-*"}},
	"faults":                         {operators: []string{"fault-*"}},
	"disposition":                    {operators: []string{"decision-*", "result-*", "left-*"}},
	"storage":                        {operators: []string{"storage-*"}},
	"finalizer":                      {operators: []string{"finalizer-*"}},
	"catalog":                        {operators: []string{"catalog-*"}},
	"receipt":                        {operators: []string{"receipt-*"}},
	"output":                         {operators: []string{"artifact-*", "stdout-*"}},
	"relayed":                        {operators: []string{"relay-*"}},
	"attempts":                       {operators: []string{"exit-*", "report-flip"}},
	"unread-sink-at-report":          {operators: []string{"event-*"}},
}

// chosen are the members that the words of a noun name.
var chosen = map[string]func(words []string) []string{
	"channel":  func(w []string) []string { return paths("channels."+w[0], w[1:]) },
	"producer": func(w []string) []string { return append(paths("producer", w), "producer.failure.**") },
	"limits":   func([]string) []string { return []string{"limits.*.*", "limits.*"} },
	"usage": func(w []string) []string {
		if stage, cell, staged := strings.Cut(w[0], "."); staged {
			return paths("usage.stages."+stage+".resources."+cell, w[1:])
		}
		return paths("usage.job.resources."+w[0], w[1:])
	},
	"cleanup": func([]string) []string { return []string{"cleanup.**"} },
	"record":  func(w []string) []string { return paths("", w) },
}

// shortNames spells members of channel entries as scripts do.
var shortNames = map[string]string{"observed": "observed_bytes", "accepted": "accepted_bytes", "written": "written_bytes", "limit": "limit_bytes"}

// paths are the paths of member=value words below an entry.
func paths(entry string, conditions []string) (all []string) {
	for _, c := range conditions {
		name, _, _ := strings.Cut(c, "=")
		name = strings.TrimRight(name, "<>")
		if long, short := shortNames[name]; short {
			name = long
		}
		all = append(all, join(entry, name))
	}
	return all
}

func aimOf(words []string) aim {
	if choose, known := chosen[words[0]]; known {
		return aim{members: choose(words[1:])}
	}
	return aims[words[0]]
}

// takes says whether an operator may alter what the check looks at.
func (a aim) takes(o Operator) bool {
	if o.Kind == "member" {
		return len(a.members) > 0
	}
	return slices.ContainsFunc(a.operators, func(glob string) bool {
		ok, err := path.Match(glob, o.Name)
		return ok && err == nil
	})
}

// at says whether the check looks at a member of the record.
func (a aim) at(path string) bool {
	return slices.ContainsFunc(a.members, func(pattern string) bool { return under(pattern, path) })
}
