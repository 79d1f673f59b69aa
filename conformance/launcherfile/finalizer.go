package launcherfile

import (
	"fmt"
	"slices"
	"strconv"

	"touchstone/conformance/scenario"
)

func (f File) checkFinalizer() *Error {
	v := f.Finalizer
	if p := checkTexts("finalizer.executable", []string{v.Executable}, []string{"bin", "here"}); p != nil {
		return p
	}
	for key, allowed := range map[string]struct {
		texts, placeholders []string
	}{
		"stream": {v.Stream, nil}, "file": {v.File, []string{"target"}},
		"cap": {v.Cap, []string{"value"}}, "receipt": {v.Receipt, []string{"value"}},
	} {
		if p := checkTexts("finalizer."+key, allowed.texts, allowed.placeholders); p != nil {
			return p
		}
	}
	for key, name := range map[string]string{"digest": v.Digest, "dialect": v.Dialect} {
		if name != "" && !variable.MatchString(name) {
			return problem("finalizer."+key, fmt.Sprintf("%q is not a name", name), "use letters, digits and underscores")
		}
	}
	return nil
}

// Alone is the finalizer run by itself: target is the file of that mode,
// receipt the number at which it finds the receipt's descriptor.
func (f File) Alone(s scenario.Scenario, v Values, target string, receipt int) (Command, error) {
	if missing := f.Missing(s); len(missing) > 0 {
		return Command{}, fmt.Errorf("launcher %s cannot be asked: %s", f.Name, missing[0])
	}
	r := renderer{values: f.fileValues(v), environment: map[string]string{"PATH": searchPath, "LANG": locale}}
	r.arguments([]string{f.Finalizer.Executable})
	if s.Alone.Mode == scenario.AloneStream {
		r.arguments(f.Finalizer.Stream)
	} else {
		r.values["target"] = target
		r.arguments(f.Finalizer.File)
	}
	if s.Alone.Cap != "" {
		r.option(f.Finalizer.Cap, s.Alone.Cap)
	}
	r.option(f.Finalizer.Receipt, strconv.Itoa(receipt))
	return r.command(), r.err
}

func (f File) missingAlone(s scenario.Scenario) []string {
	texts := f.Finalizer.Stream
	if s.Alone.Mode == scenario.AloneFile {
		texts = f.Finalizer.File
	}
	if f.Finalizer.Executable == "" || len(texts) == 0 || len(f.Finalizer.Receipt) == 0 || (s.Alone.Cap != "" && len(f.Finalizer.Cap) == 0) {
		return []string{"no way to run the finalizer by itself as a " + s.Alone.Mode}
	}
	return nil
}

// missingStandIn is what the scenario asks of the finalizer's stand-in.
func (f File) missingStandIn(s scenario.Scenario) []string {
	switch {
	case s.Finalizer == nil:
		return nil
	case f.Finalizer.Executable == "" || !slices.Contains(named(f.Pairing.Template), scenario.Finalizer):
		return []string{"no way to set {finalizer}"}
	case s.Finalizer["misreport"] == scenario.MisreportDigest && f.Finalizer.Digest == "":
		return []string{"no name of the receipt's digest"}
	}
	return nil
}

// ReceiptOption is the argument behind which a receipt's descriptor stands; ""
// for a finalizer that always uses its standard output.
func (f File) ReceiptOption() string {
	if len(f.Finalizer.Receipt) == 0 {
		return ""
	}
	return f.Finalizer.Receipt[0]
}
