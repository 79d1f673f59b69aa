package oracle

import "slices"

// usageStages are the entries of usage.stages. Rules: R12.
var usageStages = []string{"prepare", "compile", "run", "finalize", "publish"}

// cellRule is one resource cell: its unit, the sources that may measure it,
// and the assertion that says so. Rules: R12.
type cellRule struct {
	name, unit, id string
	sources        []string
}

var cellRules = []cellRule{
	{"wall", "ms", "T34.13", []string{"clock"}},
	{"cpu_user", "us", "T34.14", []string{"wait4", "cgroup"}},
	{"cpu_system", "us", "T34.15", []string{"wait4", "cgroup"}},
	{"memory_rss", "bytes", "T34.16", []string{"wait4", "cgroup"}},
	{"memory_private", "bytes", "T34.17", []string{"cgroup"}},
	{"memory_job", "bytes", "T34.18", []string{"cgroup"}},
	{"scratch_logical", "bytes", "T34.19", []string{"filesystem"}},
	{"scratch_allocated", "bytes", "T34.20", []string{"filesystem"}},
	{"work_logical", "bytes", "T34.21", []string{"filesystem"}},
	{"work_allocated", "bytes", "T34.22", []string{"filesystem"}},
	{"scratch_files", "count", "T34.23", []string{"filesystem"}},
	{"work_files", "count", "T34.24", []string{"filesystem"}},
	{"open_fds", "count", "T34.25", []string{"fd_observation"}},
	{"processes", "count", "T34.26", []string{"cgroup", "fd_observation"}},
	{"arena_claimed", "bytes", "T34.27", []string{"engine"}},
	{"arena_capacity", "bytes", "T34.28", []string{"engine"}},
	{"report_bytes", "bytes", "T34.29", []string{"channel"}},
	{"sink_bytes", "bytes", "T34.30", []string{"channel"}},
	{"diagnostic_bytes", "bytes", "T34.31", []string{"channel"}},
}

func usageShape() shape {
	stages := make([]field, 0, len(usageStages))
	for _, stage := range usageStages {
		stages = append(stages, field{stage, usageEntryShape()})
	}
	return object("T34.01",
		field{"version", constant("T34.01", 1)},
		field{"stages", object("T34.02", stages...)},
		field{"job", usageEntryShape()})
}

func usageEntryShape() shape {
	cells := make([]field, 0, len(cellRules))
	for range cellRules {
		cells = append(cells, field{cellRules[len(cells)].name, cellShape()})
	}
	return object("T34.03",
		field{"state", cellState()},
		field{"resources", object("T34.04", cells...)})
}

func cellState() shape {
	return word("T34.07", "measured", "sampled_lower_bound", "unavailable", "producer_reported", "not_started")
}

func cellShape() shape {
	quantity := func() shape { return nullable(integer("T34.06", 0, maxSafe)) }
	return object("T34.05",
		field{"used", quantity()}, field{"requested", quantity()},
		field{"limit", quantity()}, field{"peak", quantity()},
		field{"unit", word("T34.08", "bytes", "count", "ms", "us")},
		field{"scope", word("T34.09", "stage_process", "stage_domain", "job_domain", "attachment")},
		field{"source", word("T34.10", "wait4", "cgroup", "filesystem", "fd_observation", "channel",
			"clock", "admission", "engine", "none")},
		field{"state", cellState()})
}

// usageFaults are the rules between the members of a usage block that has the
// right shape.
//
// Rules: R12.
func usageFaults(usage *node, report func(fault)) {
	for _, stage := range usageStages {
		entry := usage.at("stages", stage)
		path := join("usage.stages", stage)
		entryFaults(path, entry, report)
		if entry.at("state").is("not_started") {
			absentStageFaults(path, entry, report)
		}
	}
	entryFaults("usage.job", usage.at("job"), report)
}

func entryFaults(path string, entry *node, report func(fault)) {
	for _, rule := range cellRules {
		cell := entry.at("resources", rule.name)
		where := join(join(path, "resources"), rule.name)
		if !cell.at("unit").is(rule.unit) {
			report(fault{rule.id, join(where, "unit"), cell.at("unit").String(), rule.unit})
		}
		blind := cell.at("state").is("unavailable") || cell.at("state").is("not_started")
		if !blind && !allowedSource(rule, cell) {
			report(fault{rule.id, join(where, "source"), cell.at("source").String(), "one of " + quoteList(rule.sources)})
		}
		for _, name := range []string{"used", "peak"} {
			if blind && !cell.at(name).isNull() {
				report(fault{"T34.11", join(where, name), cell.at(name).String(), "null"})
			}
		}
	}
}

// allowedSource also accepts a cell that says only what was admitted.
func allowedSource(rule cellRule, cell *node) bool {
	source := cell.at("source")
	if source.is("admission") && cell.at("used").isNull() && cell.at("peak").isNull() {
		return true
	}
	return source.isString() && slices.Contains(rule.sources, source.text)
}

func absentStageFaults(path string, entry *node, report func(fault)) {
	for _, rule := range cellRules {
		cell := entry.at("resources", rule.name)
		for _, name := range []string{"used", "requested", "limit", "peak"} {
			if !cell.at(name).isNull() {
				report(fault{"T34.12", join(join(join(path, "resources"), rule.name), name), cell.at(name).String(), "null"})
			}
		}
	}
}
