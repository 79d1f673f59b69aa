package contracts

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestAlteredTerminalIsRefused makes every single change of three sorts to both
// terminal examples and expects each to be refused: a member more, a member
// less, a value of another type.
func TestAlteredTerminalIsRefused(t *testing.T) {
	schema := compile(t, "terminal.v1")
	// Two for each member of a usage cell in the first.
	for name, least := range map[string]int{"success.json": 6 * 19 * 8 * 2, "diagnostic_budget_exceeded.json": 200} {
		document := documents(t, name)[0]
		changes := 0
		refused := func(what string, path []string) {
			t.Helper()
			changes++
			if schema.Validate(document) == nil {
				t.Errorf("%s: %s %s is accepted", name, what, strings.Join(path, "."))
			}
		}
		visit(clone(document), nil, func(path []string, value any) {
			if _, isObject := value.(map[string]any); isObject {
				object := at(document, path).(map[string]any)
				object["Further"] = nil
				refused("a further member in", path)
				delete(object, "Further")
			}
			last := len(path) - 1
			if last < 0 || name != "success.json" && path[0] == "usage" {
				return // usage has the same shape in both
			}
			object := at(document, path[:last]).(map[string]any)
			if !slices.Contains(path[:last], "args") { // which args a code needs is the catalog's business
				delete(object, path[last])
				refused("lack of", path)
			}
			if path[last] != "finalizer_version" { // its type is free (C-46)
				object[path[last]] = []any{}
				refused("a list at", path)
			}
			object[path[last]] = value
		})
		if err := schema.Validate(document); err != nil {
			t.Fatalf("%s: not restored: %v", name, err)
		}
		if changes < least {
			t.Errorf("%s: %d changes, want at least %d", name, changes, least)
		}
	}
}

// TestTerminalBounds has for each bounded value one that is just outside.
func TestTerminalBounds(t *testing.T) {
	schema := compile(t, "terminal.v1")
	original := documents(t, "diagnostic_budget_exceeded.json")[0]
	const beyond = 1 << 53
	for path, values := range map[string][]any{
		"schema":                                 {"pf-run-terminal/v1"},
		"version":                                {0, 2, "1"},
		"contract":                               {"supervised/v2"},
		"attempt_id":                             {"", strings.Repeat("A", 32), strings.Repeat("0", 31), strings.Repeat("0", 33), strings.Repeat("0", 32) + "\n"},
		"invocation":                             {"direct"},
		"exit_class":                             {"refused"},
		"exit_status":                            {-1, 256, nil, 1.5},
		"failure.code":                           {"ab", "Report_failed", strings.Repeat("a", 49)},
		"failure.authority":                      {"producer"},
		"producer.stage":                         {"load"},
		"producer.signal":                        {0, 65},
		"report_charged_bytes":                   {-1, beyond, nil},
		"limits.report_bytes.granted":            {-1, beyond},
		"limits.terminal_bytes":                  {nil},
		"channels.report.written_bytes":          {-1, beyond},
		"channels.report.sha256":                 {strings.Repeat("0", 63), strings.Repeat("F", 64)},
		"channels.report.complete":               {nil, 1},
		"sink_verification.counts.E":             {-1},
		"usage.version":                          {2},
		"usage.stages.run.state":                 {"running"},
		"usage.job.resources.wall.unit":          {"us", "s"},
		"usage.job.resources.cpu_user.unit":      {"ms"},
		"usage.job.resources.wall.scope":         {"host"},
		"usage.job.resources.wall.source":        {"guess"},
		"usage.job.resources.wall.used":          {-1, beyond, 0.5},
		"cleanup.domain_empty.value":             {"true"},
		"cleanup.domain_empty.measurement_state": {"sampled_lower_bound"},
	} {
		for _, value := range values {
			document, names := clone(original), strings.Split(path, ".")
			last := len(names) - 1
			at(document, names[:last]).(map[string]any)[names[last]] = value
			if schema.Validate(clone(document)) == nil {
				t.Errorf("%s = %v is accepted", path, value)
			}
		}
	}
}

// TestAlteredClosedExamplesAreRefused: the other closed schemas refuse a member
// more at every level that is not a table of free names.
func TestAlteredClosedExamplesAreRefused(t *testing.T) {
	for _, name := range []string{"host-disposition.json", "launch.json", "launcher.toml"} {
		schema := compile(t, exampleSchemas[name])
		original := documents(t, name)[0]
		visit(original, nil, func(path []string, value any) {
			if _, isObject := value.(map[string]any); !isObject {
				return
			}
			document := clone(original)
			at(document, path).(map[string]any)["9further"] = "x"
			if schema.Validate(document) == nil {
				t.Errorf("%s: a further member in %q is accepted", name, strings.Join(path, "."))
			}
		})
	}
	for _, name := range []string{"host-disposition.json", "launch.json"} {
		whole, schema := documents(t, name)[0], compile(t, exampleSchemas[name])
		visit(whole, nil, func(path []string, value any) {
			object, _ := value.(map[string]any)
			for member := range object {
				document := clone(whole)
				delete(at(document, path).(map[string]any), member)
				if schema.Validate(document) == nil && !slices.Contains(path, "args") { // the catalog's business
					t.Errorf("%s: lack of %s in %q is accepted", name, member, strings.Join(path, "."))
				}
			}
		})
	}
}

// TestAcceptedDispositionNeedsItsRecord: what is accepted has a record and no
// cause, everything else has a cause.
func TestAcceptedDispositionNeedsItsRecord(t *testing.T) {
	schema, original := compile(t, "host-disposition.v1"), documents(t, "host-disposition.json")[0]
	for _, c := range []struct {
		outcome     string
		cause, good bool
		record      any
	}{
		{"accepted", false, true, map[string]any{}}, {"accepted", false, false, nil}, {"accepted", true, false, map[string]any{}},
		{"rejected", true, true, nil}, {"rejected", false, false, nil}, {"uncertain", true, true, nil}, {"uncertain", false, false, nil},
	} {
		document := clone(original).(map[string]any)
		document["outcome"], document["record"] = c.outcome, c.record
		if !c.cause {
			document["cause"] = nil
		}
		if err := schema.Validate(document); (err == nil) != c.good {
			t.Errorf("%s with cause %t and record %v: %v", c.outcome, c.cause, c.record, err)
		}
	}
}

// TestOpenSchemas: everything but the closed ones ignores further members at
// every level, and needs its own.
func TestOpenSchemas(t *testing.T) {
	for name, schemaName := range exampleSchemas {
		if slices.Contains(closedSchemas, schemaName) {
			continue
		}
		schema := compile(t, schemaName)
		required := decodeSchema(t, schemaName)["required"].([]any)
		for _, original := range documents(t, name) {
			visit(original, nil, func(path []string, value any) {
				if _, isObject := value.(map[string]any); !isObject || slices.ContainsFunc(path, isMap) {
					return
				}
				document := clone(original)
				at(document, path).(map[string]any)["further"] = "x"
				if err := schema.Validate(document); err != nil {
					t.Errorf("%s: a further member in %q: %v", name, strings.Join(path, "."), err)
				}
			})
			for _, member := range required {
				document := clone(original).(map[string]any)
				delete(document, member.(string))
				if schema.Validate(document) == nil {
					t.Errorf("%s: lack of %s is accepted", name, member)
				}
			}
		}
	}
}

// isMap: members of such objects are names of files, cells or scripts.
func isMap(member string) bool {
	return slices.Contains([]string{"files", "binaries", "exit_statuses", "fixtures", "planned", "scripts", "seconds", "verdicts"}, member)
}

// TestClosedSchemasAreClosed reads the schemas themselves: every object in them
// refuses what it does not name, and in the terminal record needs all it names.
func TestClosedSchemasAreClosed(t *testing.T) {
	for _, name := range closedSchemas {
		objects := 0
		visit(decodeSchema(t, name), nil, func(path []string, value any) {
			schema, _ := value.(map[string]any)
			if schema["type"] != "object" {
				return
			}
			objects++
			where := name + " " + strings.Join(path, ".")
			if _, free := schema["propertyNames"]; !free && schema["additionalProperties"] != false {
				t.Errorf("%s: open", where)
			}
			properties, _ := schema["properties"].(map[string]any)
			if name == "launcher.v1" || properties == nil {
				return
			}
			var required []string
			for _, member := range schema["required"].([]any) {
				required = append(required, member.(string))
			}
			slices.Sort(required)
			if want := slices.Sorted(maps.Keys(properties)); !slices.Equal(required, want) {
				t.Errorf("%s: requires %v, names %v", where, required, want)
			}
		})
		if objects < 3 {
			t.Errorf("%s: %d objects found", name, objects)
		}
	}
}
