package oracle

import "fmt"

// usageFilled: the counters that a supervisor has whatever happens are there,
// and a cell without a figure says so.
//
// Rules: R12, C-47.
func usageFilled(v *view, w *wants) {
	for _, name := range []string{"wall", "cpu_user", "cpu_system", "report_bytes", "sink_bytes", "diagnostic_bytes"} {
		_, filled := v.cell("", name, "used").uint()
		w.value(filled && v.cell("", name, "state").is("measured"), v.cell("", name, "used"), "job."+name+" "+v.cell("", name, "state").String()+" "+v.cell("", name, "used").String(), "measured")
	}
	usageMatchesChannels(v, w)
	for _, stage := range append([]string{""}, usageStages...) {
		for _, rule := range cellRules {
			figure := !v.cell(stage, rule.name, "used").isNull() || !v.cell(stage, rule.name, "peak").isNull()
			state := v.cell(stage, rule.name, "state")
			blind := state.is("unavailable") || state.is("not_started") || v.cell(stage, rule.name, "source").is("admission")
			w.value(figure != blind, state, fmt.Sprintf("%s: state %s, figure %t", join(stage, rule.name), state, figure), "a figure, or a state that says there is none")
		}
	}
}

// roomLeft: the record would still be one packet if every number of it had all
// the digits that it can have, and every digest were there. What the producer
// claims stays as it is: there the script sends the largest.
//
// Rules: R10, R12.
func roomLeft(v *view, w *wants) {
	packets := v.attempt.Packets()
	if v.record == nil || v.record.root == nil || len(packets) == 0 {
		w.that(false, "no record", "a record")
		return
	}
	size := len(packets[0].Bytes) + growth(v.record.root)
	w.that(size <= terminalBytes, fmt.Sprintf("%d bytes, and %d with the largest numbers", len(packets[0].Bytes), size), fmt.Sprintf("at most %d", terminalBytes))
}

// growth is by how many bytes a tree can grow at most in its fixed members.
func growth(n *node) (more int) {
	const digits, quotedDigest = 16, 66
	switch {
	case n == nil || n.path == "producer.failure":
		return 0
	case n.isNull():
		return quotedDigest - len("null")
	case n.kind == '0':
		return digits - len(n.text)
	}
	for _, m := range n.members {
		more += growth(m.value)
	}
	return more
}

// admittedUsage: what the job's cells say was asked for and allowed is what
// admission says.
//
// Rules: R12, C-81.
func admittedUsage(v *view, w *wants) {
	for _, name := range []string{"report_bytes", "diagnostic_bytes", "wall"} {
		member := name
		if name == "wall" {
			member = "wall_ms"
		}
		limit, effective, granted := v.cell("", name, "limit"), v.at("limits", member, "effective"), v.at("limits", member, "granted")
		unknown := effective.isNull() && (limit.isNull() || limit.spell() == granted.spell())
		w.value(unknown || limit.spell() == effective.spell(), limit, "job."+name+".limit="+limit.String(), "limits."+member+".effective="+effective.String())
		requested, asked := v.cell("", name, "requested"), v.at("limits", member, "requested")
		w.value(requested.spell() == asked.spell(), requested, "job."+name+".requested="+requested.String(), "limits."+member+".requested="+asked.String())
	}
	sink := v.cell("", "sink_bytes", "limit")
	w.value(!v.admitted() || sink.spell() == v.at("limits", "sink_bytes").spell(), sink, "job.sink_bytes.limit="+sink.String(), "limits.sink_bytes="+v.at("limits", "sink_bytes").String())
	memory := v.cell("", "memory_job", "limit")
	grant, value := v.attempt.Scenario.Grants.Memory, uint64(0)
	if grant != nil {
		value = *grant
	}
	got, ok := memory.uint()
	w.value(memory.isNull() || (ok && grant != nil && got == value), memory, "job.memory_job.limit="+memory.String(), fmt.Sprintf("null, or the grant of %d", value))
	work := v.cell("", "work_allocated", "limit")
	got, ok = work.uint()
	w.value(work.isNull() || (ok && got == v.attempt.Scenario.SpoolBytes()), work, "job.work_allocated.limit="+work.String(), fmt.Sprintf("null, or the storage of %d", v.attempt.Scenario.SpoolBytes()))
}
