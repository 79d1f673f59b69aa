package launcherfile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/conformance/scenario"
)

// knobs and requests are the keys of Options and Variables.
var (
	knobs    = []string{"channel", "terminal", "report", "diagnostic", "wall", "stall"}
	requests = []string{"mode", "inputs", "capabilities", "validation", scenario.RequestPathSink, scenario.RequestSpillFolder, scenario.RequestWindow,
		scenario.RequestSinkFD, scenario.RequestPhaseFD, scenario.RequestExplain, scenario.RequestHelp, scenario.RequestConvert, scenario.RequestTranspile, scenario.RequestPrivate}
	word     = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	valued   = append([]string{"mode"}, knobs...) // whose value a launcher cannot do without
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	gapID    = regexp.MustCompile(`^T([1-9]|[12][0-9]|3[0-6])\.[0-9]{2,3}$`)
)

// maxSlackMS is the most that a promptness check may be loosened: the stop grace
// and the default stall interval are of this size.
const maxSlackMS = 5000

func (f File) check() *Error {
	checks := []func() *Error{f.checkHead, f.checkFacades, f.checkProfiles, f.checkLaunch, f.checkRoles, f.checkHost, f.checkReference, f.checkGaps}
	for _, check := range checks {
		if problem := check(); problem != nil {
			return problem
		}
	}
	return nil
}

func problem(key, problem, fix string) *Error { return &Error{Key: key, Problem: problem, Fix: fix} }

func (f File) checkHead() *Error {
	switch {
	case f.Version == 0:
		return problem("version", "missing", "write version = 1")
	case f.Version != 1:
		return problem("version", fmt.Sprintf("got %d", f.Version), "write version = 1")
	case f.Name == "":
		return problem("name", "missing", "give the launcher a name of lower-case letters, digits and dashes")
	case !word.MatchString(f.Name):
		return problem("name", fmt.Sprintf("%q is not a name", f.Name), "use lower-case letters, digits and dashes, a letter first")
	case len(f.Facade) == 0:
		return problem("facade", "missing", "describe [facade.direct] or [facade.entrypoint]")
	case len(f.Profile) == 0:
		return problem("profile", "missing", "describe [profile.unjailed] or [profile.jailed]")
	case f.Tolerance.SlackMS > maxSlackMS:
		return problem("tolerance.slack_ms", fmt.Sprintf("%d would let a late launcher pass", f.Tolerance.SlackMS), fmt.Sprintf("write at most %d", maxSlackMS))
	}
	return checkTexts("catalog", []string{f.Catalog}, []string{"bin", "here"})
}

func (f File) checkFacades() *Error {
	for _, name := range sorted(f.Facade) {
		facade, key := f.Facade[name], "facade."+name
		switch {
		case name != "direct" && name != "entrypoint":
			return problem(key, "unknown facade", "use direct or entrypoint")
		case facade.Invocation == "":
			return problem(key+".invocation", "missing", "use run_json or entrypoint")
		case facade.Invocation != "run_json" && facade.Invocation != "entrypoint":
			return problem(key+".invocation", fmt.Sprintf("got %q", facade.Invocation), "use run_json or entrypoint")
		}
		if p := checkCommand(key+".command", facade.Command, launchPlaceholders); p != nil {
			return p
		}
		if p := checkOptions(key+".options", facade.Options, slices.Concat(knobs, requests), optionPlaceholders); p != nil {
			return p
		}
		if p := checkValued(key+".options", facade.Options); p != nil {
			return p
		}
		if p := checkVariables(key+".variables", facade.Variables); p != nil {
			return p
		}
		if p := checkEnvironment(key+".environment", facade.Environment, launchPlaceholders); p != nil {
			return p
		}
	}
	return nil
}

func (f File) checkProfiles() *Error {
	for _, name := range sorted(f.Profile) {
		profile, key := f.Profile[name], "profile."+name
		if name != "unjailed" && name != "jailed" {
			return problem(key, "unknown profile", "use unjailed or jailed")
		}
		if p := checkTexts(key+".arguments", profile.Arguments, launchPlaceholders); p != nil {
			return p
		}
		if p := checkEnvironment(key+".environment", profile.Environment, launchPlaceholders); p != nil {
			return p
		}
		if p := checkDescriptors(key, profile.Descriptor); p != nil {
			return p
		}
	}
	return nil
}

func checkDescriptors(key string, descriptors []Descriptor) *Error {
	for i, d := range descriptors {
		key := fmt.Sprintf("%s.descriptor[%d]", key, i)
		switch {
		case d.Number < 3 || d.Number > 63:
			return problem(key+".number", fmt.Sprintf("got %d", d.Number), "give a number in 3..63")
		case slices.ContainsFunc(descriptors[:i], func(o Descriptor) bool { return o.Number == d.Number }):
			return problem(key+".number", fmt.Sprintf("%d is taken by an earlier one", d.Number), "give a number of its own")
		case d.Kind != "memfd":
			return problem(key+".kind", fmt.Sprintf("got %q", d.Kind), `write kind = "memfd"`)
		case d.Bytes <= 0:
			return problem(key+".bytes", fmt.Sprintf("got %d", d.Bytes), "give a size above 0")
		}
	}
	return nil
}

func (f File) checkLaunch() *Error {
	if v := f.Launch.DescriptorVariable; v != "" && !variable.MatchString(v) {
		return problem("launch.descriptor_variable", fmt.Sprintf("%q is not a variable", v), "use letters, digits and underscores")
	}
	if (f.Launch.DescriptorVariable == "") != (f.Launch.Document == "") {
		return problem("launch.document", "document and descriptor_variable need each other", "give both or neither")
	}
	if p := checkTexts("launch.document", []string{f.Launch.Document}, launchPlaceholders); p != nil {
		return p
	}
	if p := checkTexts("pairing.template", []string{f.Pairing.Template}, pairingPlaceholders); p != nil {
		return p
	}
	for name, program := range f.Tools.programs() {
		if p := checkTexts("tools."+name, []string{program}, []string{"bin", "here"}); p != nil {
			return p
		}
	}
	return checkEnvironment("launch.environment", f.Launch.Environment, launchPlaceholders)
}

func (f File) checkRoles() *Error {
	if f.Cancel.Signal != "" && unix.SignalNum("SIG"+f.Cancel.Signal) == 0 {
		return problem("cancel.signal", fmt.Sprintf("unknown signal %q", f.Cancel.Signal), "name it without SIG, as in TERM")
	}
	if f.Producer.ABI == "" {
		return problem("producer.abi", "missing", "name the NAME of a fixtures/native/abi_NAME.c")
	}
	if !word.MatchString(f.Producer.ABI) {
		return problem("producer.abi", fmt.Sprintf("%q names no seam", f.Producer.ABI), "name the NAME of a fixtures/native/abi_NAME.c")
	}
	for key, text := range map[string]string{"producer.candidate": f.Producer.Candidate, "producer.sink": f.Producer.Sink} {
		if text != "" && !descriptorRoute(text) {
			return problem(key, fmt.Sprintf("got %q", text), "use env:NAME or fd:N, or leave it empty")
		}
	}
	if p := checkTexts("producer.executable", []string{f.Producer.Executable, f.Producer.Musl}, []string{"bin", "here"}); p != nil {
		return p
	}
	return f.checkFinalizer()
}

func descriptorRoute(text string) bool {
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		return variable.MatchString(name)
	}
	number, ok := strings.CutPrefix(text, "fd:")
	n, err := strconv.Atoi(number)
	return ok && err == nil && n >= 0
}

func (f File) checkReference() *Error {
	for _, name := range sorted(f.Shape) {
		if !slices.Contains([]string{"full", "summary", "capabilities", "validation", "failure"}, name) {
			return problem("shape."+name, "unknown operation", "use full, summary, capabilities, validation or failure")
		}
		if hole := f.Shape[name].Hole; len(hole) > 0 &&
			(name != "full" || len(hole) != 2 || hole[0] == "" || strings.Count(hole[1], "{value}") != 1) {
			return problem("shape."+name+".hole", "not a hole of the full report", `give ["OLD", "NEW"] in [shape.full], NEW with one {value}`)
		}
	}
	if len(f.Reference.Command) == 0 {
		return nil
	}
	allowed := append([]string{"value"}, filePlaceholders...)
	if p := checkCommand("reference.command", f.Reference.Command, filePlaceholders); p != nil {
		return p
	}
	if p := checkOptions("reference.options", f.Reference.Options, requests, allowed); p != nil {
		return p
	}
	return checkEnvironment("reference.environment", f.Reference.Environment, filePlaceholders)
}

func (f File) checkGaps() *Error {
	seen := map[string]bool{}
	for i, g := range f.Gap {
		key := fmt.Sprintf("gap[%d]", i)
		_, err := time.Parse(time.DateOnly, g.Expiry)
		switch {
		case !gapID.MatchString(g.ID):
			return problem(key+".id", fmt.Sprintf("%q is no assertion", g.ID), "name one, as in T14.03")
		case seen[g.ID]:
			return problem(key+".id", g.ID+" is declared twice", "keep one")
		case g.Reason == "" || g.Owner == "":
			return problem(key, "reason or owner is missing", "say why, and who closes it")
		case err != nil:
			return problem(key+".expiry", fmt.Sprintf("got %q", g.Expiry), "write a day as YYYY-MM-DD")
		}
		seen[g.ID] = true
	}
	return nil
}

func checkCommand(key string, command, allowed []string) *Error {
	if len(command) == 0 || command[0] == "" {
		return problem(key, "missing", "give the program and its arguments as a list of strings")
	}
	return checkTexts(key, command, allowed)
}

func checkTexts(key string, texts, allowed []string) *Error {
	for _, text := range texts {
		if name, unknown := unknownPlaceholder(text, allowed); unknown {
			return problem(key, fmt.Sprintf("placeholder {%s} is unknown here", name), "use one of {"+strings.Join(allowed, "} {")+"}")
		}
		if name, unclosed := unclosedPlaceholder(text); unclosed {
			return problem(key, fmt.Sprintf("placeholder {%s is not closed", name), fmt.Sprintf("write {%s}, or a space behind a literal {", name))
		}
		if strings.ContainsRune(text, 0) {
			return problem(key, "holds a NUL", "remove it")
		}
	}
	return nil
}

func checkOptions(key string, options map[string][]string, names, allowed []string) *Error {
	for _, name := range sorted(options) {
		if !slices.Contains(names, name) {
			return problem(key+"."+name, "unknown key", "use one of "+strings.Join(names, " "))
		}
		if p := checkTexts(key+"."+name, options[name], allowed); p != nil {
			return p
		}
	}
	return nil
}

// checkValued refuses an option that would drop the value that a scenario sets.
func checkValued(key string, options map[string][]string) *Error {
	for _, name := range valued {
		pieces, given := options[name]
		if given && !slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(piece, "{value}") }) {
			return problem(key+"."+name, "no {value}", `put {value} where the value goes, as in ["--option", "{value}"]`)
		}
	}
	return nil
}

func checkVariables(key string, variables map[string]string) *Error {
	for _, name := range sorted(variables) {
		if !slices.Contains(slices.Concat(knobs, requests), name) {
			return problem(key+"."+name, "unknown key", "use one of "+strings.Join(slices.Concat(knobs, requests), " "))
		}
		if !variable.MatchString(variables[name]) {
			return problem(key+"."+name, fmt.Sprintf("%q is not a variable", variables[name]), "use letters, digits and underscores")
		}
	}
	return nil
}

func checkEnvironment(key string, environment map[string]string, allowed []string) *Error {
	for _, name := range sorted(environment) {
		if !variable.MatchString(name) {
			return problem(key+"."+name, "not a variable", "use letters, digits and underscores")
		}
		if p := checkTexts(key+"."+name, []string{environment[name]}, allowed); p != nil {
			return p
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
