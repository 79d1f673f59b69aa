package contracts

import (
	"slices"
	"strings"
	"testing"
)

// TestClosedLists holds every closed list to its length as a number, and to the
// place in the terminal schema that spells it again.
func TestClosedLists(t *testing.T) {
	schema := decodeSchema(t, "terminal.v1")
	cells := make([]string, 0, len(UsageCells()))
	for _, cell := range UsageCells() {
		cells = append(cells, cell.Name)
	}
	for _, c := range []struct {
		name  string
		list  []string
		count int
		where string // members or values there, "" for none
	}{
		{"ExitClasses", ExitClasses(), 7, "properties.exit_class.enum"},
		{"Invocations", Invocations(), 2, "properties.invocation.enum"},
		{"Stages", Stages(), 5, "$defs.stage_name.enum"},
		{"UsageStages", UsageStages(), 5, "$defs.usage.properties.stages.properties"},
		{"Channels", Channels(), 5, "$defs.channels.properties"},
		{"MeasurementStates", MeasurementStates(), 2, "$defs.cleanup_entry.properties.measurement_state.enum"},
		{"TerminalMembers", TerminalMembers(), 16, "properties"},
		{"FailureMembers", FailureMembers(), 3, "$defs.failure_supervisor.properties"},
		{"FailureMembers", FailureMembers(), 3, "$defs.failure_producer.properties"},
		{"ProducerMembers", ProducerMembers(), 5, "$defs.producer.properties"},
		{"LimitMembers", LimitMembers(), 9, "$defs.limits.properties"},
		{"LimitTripleMembers", LimitTripleMembers(), 3, "$defs.limit.properties"},
		{"ChannelMembers", ChannelMembers(), 8, "$defs.channel.properties"},
		{"sink channel", append(ChannelMembers(), SinkExtraMembers()...), 10, "$defs.sink_channel.properties"},
		{"SinkVerificationMembers", SinkVerificationMembers(), 6, "$defs.sink_verification.properties"},
		{"SinkCounts", SinkCounts(), 7, "$defs.counts.properties"},
		{"CleanupMembers", CleanupMembers(), 3, "$defs.cleanup.properties"},
		{"CleanupEntryMembers", CleanupEntryMembers(), 2, "$defs.cleanup_entry.properties"},
		{"UsageMembers", UsageMembers(), 3, "$defs.usage.properties"},
		{"UsageEntryMembers", UsageEntryMembers(), 2, "$defs.usage_entry.properties"},
		{"UsageCells", cells, 19, "$defs.resources.properties"},
		{"CellMembers", CellMembers(), 8, "$defs.cell_bytes.properties"},
		{"CellStates", CellStates(), 5, "$defs.state.enum"},
		{"StageStates", StageStates(), 5, "$defs.state.enum"},
		{"CellScopes", CellScopes(), 4, "$defs.scope.enum"},
		{"CellSources", CellSources(), 9, "$defs.source.enum"},
		{"CellUnits", CellUnits(), 4, ""},
		{"Authorities", Authorities(), 2, ""},
		{"LimitTriples", LimitTriples(), 4, ""},
		{"SnapshotMembers", SnapshotMembers(), 5, ""},
		{"ContractCodes", ContractCodes(), 15, ""},
	} {
		if len(c.list) != c.count {
			t.Errorf("%s: %d values, want %d", c.name, len(c.list), c.count)
		}
		if sorted := slices.Sorted(slices.Values(c.list)); len(slices.Compact(sorted)) != len(c.list) {
			t.Errorf("%s: a value stands twice in %v", c.name, c.list)
		}
		if c.where != "" {
			checkSpelled(t, c.name, c.list, at(schema, strings.Split(c.where, ".")))
		}
	}
}

func checkSpelled(t *testing.T, name string, list []string, spelled any) {
	t.Helper()
	var there []string
	switch spelled := spelled.(type) {
	case []any:
		for _, value := range spelled {
			there = append(there, value.(string))
		}
	case map[string]any:
		for member := range spelled {
			there = append(there, member)
		}
	}
	list = slices.Clone(list)
	slices.Sort(list)
	slices.Sort(there)
	if !slices.Equal(list, there) {
		t.Errorf("%s: %v here, %v in the schema", name, list, there)
	}
}

// TestSchemaConstants: the single values that the schema spells again.
func TestSchemaConstants(t *testing.T) {
	schema := decodeSchema(t, "terminal.v1")
	for where, want := range map[string]string{
		"properties.schema.const":                                TerminalSchema,
		"properties.contract.const":                              Contract,
		"$defs.failure_supervisor.properties.authority.const":    AuthoritySupervisor,
		"$defs.failure_producer.properties.authority.const":      AuthorityProducer,
		"$defs.cell_bytes.properties.unit.const":                 UnitBytes,
		"$defs.cell_count.properties.unit.const":                 UnitCount,
		"$defs.cell_ms.properties.unit.const":                    UnitMilliseconds,
		"$defs.cell_us.properties.unit.const":                    UnitMicroseconds,
		"$defs.channels.properties." + ChannelSink + ".$ref":     "#/$defs/sink_channel",
		"$defs.channels.properties." + ChannelReport + ".$ref":   "#/$defs/channel",
		"$defs.limits.properties." + LimitTriples()[0] + ".$ref": "#/$defs/limit",
		"$defs.limits.properties.sink_bytes.$ref":                "#/$defs/safe_or_null",
	} {
		if got, _ := at(schema, strings.Split(where, ".")).(string); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
	for _, cell := range UsageCells() {
		got := at(schema, []string{"$defs", "resources", "properties", cell.Name, "$ref"})
		if want := "#/$defs/cell_" + cell.Unit; got != want {
			t.Errorf("cell %s: %v, want %s", cell.Name, got, want)
		}
	}
}

// TestExampleUnits: the contract's own examples give each cell the unit that
// UsageCells does.
func TestExampleUnits(t *testing.T) {
	for _, name := range []string{"success.json", "diagnostic_budget_exceeded.json"} {
		usage := documents(t, name)[0].(map[string]any)["usage"]
		for _, entry := range append(UsageStages(), "job") {
			path := []string{"stages", entry, "resources"}
			if entry == "job" {
				path = path[1:]
			}
			for _, cell := range UsageCells() {
				if got := at(usage, append(slices.Clone(path), cell.Name, "unit")); got != cell.Unit {
					t.Errorf("%s: %s %s: unit %v, want %s", name, entry, cell.Name, got, cell.Unit)
				}
			}
		}
	}
}
