package admission

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"touchstone/contracts"
	"touchstone/reference/outcome"
	"touchstone/reference/record"
)

// negotiated is a sound entrypoint request and what is added to it.
func negotiated(more ...string) []string {
	return append(more, "PINEFORGE_REPORT_CHANNEL="+contracts.Contract, "PINEFORGE_TERMINAL_STATUS_FD=3")
}

func TestParseEntrypoint(t *testing.T) {
	r, err := ParseEntrypoint(nil, "/touchstone-work/strategy.so", environment(negotiated("PINEFORGE_IN_DIR=/data", "PINEFORGE_INPUTS={}",
		"PINEFORGE_OVERRIDES=", "PINEFORGE_CHANNEL_WALL_MS=9", "PINEFORGE_PROFILE=jailed")...))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--so", "/touchstone-work/strategy.so", "--ohlcv", "/data/ohlcv.csv", "--inputs", "{}"}
	if !slices.Equal(r.Engine, want) || *r.WallMS != 9 || r.Profile != Jailed || r.Build.Prefix != "/opt/pineforge" ||
		r.Invocation() != contracts.InvocationEntrypoint {
		t.Errorf("request %+v with %+v", r, r.Build)
	}
	for name, variables := range map[string][]string{
		"empty knob":        negotiated("PINEFORGE_REPORT_MAX_BYTES="),
		"malformed knob":    negotiated("PINEFORGE_CHANNEL_STALL_MS=1s"),
		"version":           {"PINEFORGE_REPORT_CHANNEL=supervised/v2", "PINEFORGE_TERMINAL_STATUS_FD=3"},
		"empty version":     {"PINEFORGE_REPORT_CHANNEL=", "PINEFORGE_TERMINAL_STATUS_FD=3"},
		"no terminal":       {"PINEFORGE_REPORT_CHANNEL=" + contracts.Contract},
		"knob alone":        {"PINEFORGE_CHANNEL_WALL_MS=9"},
		"transpile only":    negotiated("PINEFORGE_TRANSPILE_ONLY=1"),
		"phase descriptor":  negotiated("PINEFORGE_RUN_PHASE_FD=9"),
		"unsupported":       negotiated("PINEFORGE_BENCH=1"),
		"profile":           negotiated("PINEFORGE_PROFILE=other"),
		"the tools' folder": negotiated("PINEFORGE_IN_DIR=/"),
	} {
		if _, err := ParseEntrypoint(nil, "/so", environment(variables...)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := ParseEntrypoint([]string{"--help"}, "/so", environment(negotiated()...)); err == nil {
		t.Error("an argument: accepted")
	}
	if r, err := ParseEntrypoint(nil, "/so", environment("PINEFORGE_TRANSPILE_ONLY=true")); err != nil || r.Negotiated {
		t.Errorf("transpile only without negotiation: %v", err)
	}
}

// TestBuildNeeds: tools, room and mounts, in this order (C-16).
func TestBuildNeeds(t *testing.T) {
	folder := t.TempDir()
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := Admission{Request: Request{Build: &Build{Folder: folder}}, Launch: Launch{Spool: Spool{"/s", 100}}}
	a.Limits.ReportBytes.Effective = record.Number(100)
	policy := outcome.IsolationUnavailable(outcome.ReasonPolicy).Code
	expect := func(step, code string, missing bool) {
		t.Helper()
		failure := a.build()
		if got := failure != nil; got != (code != "") || got && failure.Code != code || a.Missing != missing {
			t.Errorf("%s: got %+v, missing %t", step, failure, a.Missing)
		}
	}
	expect("no tools", policy, false)
	a.Pairing.Transpiler.Path, a.Pairing.Compiler.Path, a.Pairing.Binder.Path = "/t", "/c", "/b"
	expect("no room", policy, false)
	a.Launch.Spool.Bytes = 101
	expect("no source", contracts.CodeRunRequestInvalid, true)
	put(codeName)
	expect("no chart", contracts.CodeRunRequestInvalid, true)
	put(chartName)
	a.Missing = false
	if expect("C++", "", false); a.Request.Build.Transpiled() {
		t.Error("C++ would be transpiled")
	}
	put(strategyName)
	if expect("strategy", "", false); !a.Request.Build.Transpiled() {
		t.Error("C++ was preferred")
	}
}
