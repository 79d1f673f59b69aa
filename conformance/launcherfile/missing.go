package launcherfile

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/scenario"
)

// Cells are the facades × profiles that the file describes, facade first.
func (f File) Cells() []scenario.Cell {
	var cells []scenario.Cell
	for _, facade := range sorted(f.Facade) {
		for _, profile := range []string{"unjailed", "jailed"} {
			if _, described := f.Profile[profile]; described {
				cells = append(cells, scenario.Cell{Facade: facade, Profile: profile})
			}
		}
	}
	return cells
}

// CanSet says whether a launch hands the launcher what a placeholder names:
// attempt_id, grant_report, grant_diagnostic, grant_wall, grant_stall,
// memory_or_null, planned_sink_or_null, spool.
func (f File) CanSet(cell scenario.Cell, name string) bool {
	facade, profile := f.Facade[cell.Facade], f.Profile[cell.Profile]
	texts := slices.Concat([]string{f.Launch.Document}, facade.Command, profile.Arguments)
	for _, environment := range []map[string]string{f.Launch.Environment, facade.Environment, profile.Environment} {
		for _, text := range environment {
			texts = append(texts, text)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(named(text), name) })
}

// Demanded ends the reason why a launcher cannot be asked for what the contract
// demands of every launcher: its limits by flag and variable (R07, C-5), the
// host's grants of them (R07) and cancellation (R20). Without these a run
// decides nothing; all else that a file leaves out makes it partial.
const Demanded = ", which the contract demands of every launcher"

// Missing is what a scenario asks that this file has no way to set, in words
// for a not-run reason ("no facade.direct.variables.wall"). Empty: it can be run.
func (f File) Missing(s scenario.Scenario) []string {
	switch s.Kind {
	case scenario.Control:
		return nil
	case scenario.Reference:
		if len(f.Reference.Command) == 0 {
			return []string{"no reference.command"}
		}
		return missingRequests("reference", s, f.Reference.Options, nil)
	}
	if s.Kind == scenario.Alone {
		return f.missingAlone(s)
	}
	if _, described := f.Facade[s.Cell.Facade]; !described {
		return []string{"no facade " + s.Cell.Facade}
	}
	if _, described := f.Profile[s.Cell.Profile]; !described {
		return []string{"no profile " + s.Cell.Profile}
	}
	if s.Kind == scenario.Hosted {
		return f.missingHost(s)
	}
	facade := f.Facade[s.Cell.Facade]
	return slices.Concat(missingRequests("facade."+s.Cell.Facade, endpointRequests(s, Values{}), facade.Options, facade.Variables), f.missingOptions(s), f.missingGrants(s), f.missingRoles(s), f.missingBuild(s), f.missingStandIn(s), f.missingLibc(s))
}

func (f File) missingLibc(s scenario.Scenario) []string {
	if s.Libc == scenario.Musl && (f.Producer.Musl == "" || !slices.Contains(named(f.Pairing.Template), "producer")) {
		return []string{"no producer of musl"}
	}
	return nil
}

func missingRequests(table string, s scenario.Scenario, options map[string][]string, variables map[string]string) []string {
	var missing []string
	for _, r := range wanted(s) {
		_, byOption := options[r.name]
		_, byVariable := variables[r.name]
		if !byOption && !byVariable {
			missing = append(missing, fmt.Sprintf("no %s.options.%s", table, r.name))
		}
	}
	return missing
}

func (f File) missingOptions(s scenario.Scenario) []string {
	var missing []string
	facade := f.Facade[s.Cell.Facade]
	for _, o := range s.Options {
		_, byOption := facade.Options[o.Knob]
		_, byVariable := facade.Variables[o.Knob]
		if (o.Route == scenario.RouteCLI && !byOption) || (o.Route == scenario.RouteEnv && !byVariable) {
			table := map[string]string{scenario.RouteCLI: "options", scenario.RouteEnv: "variables"}[o.Route]
			text := fmt.Sprintf("no facade.%s.%s.%s", s.Cell.Facade, table, o.Knob)
			if o.Route == scenario.RouteEnv || s.Cell.Facade == "direct" {
				text += Demanded
			}
			missing = append(missing, text)
		}
	}
	for _, knob := range s.Withheld {
		_, byOption := facade.Options[knob]
		_, byVariable := facade.Variables[knob]
		if !byOption && !byVariable {
			missing = append(missing, fmt.Sprintf("no facade.%s.options.%s", s.Cell.Facade, knob))
		}
	}
	return missing
}

func (f File) missingGrants(s scenario.Scenario) []string {
	var missing []string
	if s.Admission == scenario.AdmissionCut && f.Launch.Document == "" {
		missing = append(missing, "no launch.document")
	}
	if s.Admission == scenario.AdmissionNone && !f.CanSet(s.Cell, "attempt_id") {
		missing = append(missing, "no {attempt_id}, as in launch.document, to leave out")
	}
	asked := []struct {
		name string
		set  bool
	}{
		{"attempt_id", s.Admission == scenario.AdmissionMisnamed},
		{"grant_report", s.Grants.Report != nil}, {"grant_diagnostic", s.Grants.Diagnostic != nil},
		{"grant_wall", s.Grants.Wall != nil}, {"grant_stall", s.Grants.Stall != nil},
		{"memory_or_null", s.Grants.Memory != nil}, {"planned_sink_or_null", s.PlannedSink != nil},
		{"spool", s.Spool.Bytes != 0},
	}
	for _, a := range asked {
		if a.set && !f.CanSet(s.Cell, a.name) {
			text := "no {" + a.name + "}, as in launch.document"
			if strings.HasPrefix(a.name, "grant_") {
				text += Demanded
			}
			missing = append(missing, text)
		}
	}
	return missing
}

// missingBuild is what the scenario asks of the entrypoint's mounts and tools.
func (f File) missingBuild(s scenario.Scenario) (missing []string) {
	switch {
	case s.Cell.Facade != scenario.Entrypoint && s.Builds():
		return []string{"no tools in facade " + s.Cell.Facade}
	case s.Cell.Facade == scenario.Entrypoint && !f.CanSet(s.Cell, "mounts"):
		return []string{"no way to set {mounts}"}
	}
	for _, tool := range s.StandIns() {
		if !slices.Contains(named(f.Pairing.Template), tool) {
			missing = append(missing, "no way to set {"+tool+"}")
		}
	}
	return missing
}

// programs are the tools by name.
func (t Tools) programs() map[string]string {
	return map[string]string{scenario.Transpiler: t.Transpiler, scenario.Compiler: t.Compiler, scenario.Binder: t.Binder}
}

func (f File) missingRoles(s scenario.Scenario) []string {
	var missing []string
	if s.Catalog && f.Catalog == "" {
		missing = append(missing, "no catalog")
	}
	for _, rule := range s.Controls {
		switch {
		case rule.Action.Kind == scenario.DoCancel && f.Cancel.Signal == "":
			missing = append(missing, "no cancel.signal"+Demanded)
		case rule.Action.Who == scenario.Finalizer && f.Finalizer.Executable == "":
			missing = append(missing, "no finalizer.executable")
		}
	}
	return missing
}
