package oracle

import (
	"bytes"
	"fmt"
	"testing"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

var sinkHead = []byte("{\"sink\":\"touchstone-sink\"}\n[\"T\",1]\n")

var sinkStream = append(bytes.Clone(sinkHead), fmt.Sprintf(`{"end":"touchstone-sink","counts":{%s},"sha256":%q}`+"\n", sinkCounts, digest(sinkHead))...)

const sinkCounts = `"E":0,"T":1,"O":0,"V":0,"K":0,"X":0,"H":0`

// internalModel is a success whose sink was captured and written nowhere.
func internalModel(t testing.TB) *model {
	m := successModel(t)
	for _, name := range []string{"observed_bytes", "accepted_bytes"} {
		set(m.root, "channels.sink."+name, fmt.Sprint(len(sinkStream)))
	}
	set(m.root, "channels.sink.accepted_sha256", text(digest(sinkStream)))
	set(m.root, "channels.sink.logical_sha256", text(digest(sinkHead)))
	set(m.root, "sink_verification", fmt.Sprintf(`{"exit_status":0,"signal":null,"complete":true,"counts":{%s},"sha256":%q,"finalizer_version":"1"}`, sinkCounts, digest(sinkHead)))
	return m
}

// exportedModel is a success whose sink the host has read.
func exportedModel(t testing.TB) *model {
	m := internalModel(t)
	set(m.root, "channels.sink.written_bytes", fmt.Sprint(len(sinkStream)))
	set(m.root, "channels.sink.sha256", text(digest(sinkStream)))
	m.sink = bytes.Clone(sinkStream)
	return m
}

// unverifiedModel is a run whose finalizer could tell nothing.
func unverifiedModel(t testing.TB) *model {
	m := internalModel(t)
	set(m.root, "sink_verification", `{"exit_status":null,"signal":9,"complete":false,"counts":{"E":null,"T":null,"O":null,"V":null,"K":null,"X":null,"H":null},"sha256":null,"finalizer_version":null}`)
	return m
}

// namedModel is a success whose sink stands at its target.
func namedModel(t testing.TB) *model {
	m := exportedModel(t)
	m.sink, m.artifact = nil, bytes.Clone(sinkStream)
	m.extra = append(m.extra, evidence.Target{Steps: []string{"deleted", "moved"}, Mode: 0o644})
	m.scenario.Requests = map[string]string{scenario.RequestPathSink: "/tmp/result"}
	return m
}

// finalizedModel is a success whose finalizer was one byte over its cap, as its
// stand-in saw it.
func finalizedModel(t testing.TB) *model {
	m := successModel(t)
	m.extra = append(m.extra, evidence.Finalized{Argv: []string{"v", "--max-bytes", "69"}, Given: 70})
	m.receipt = []byte(`{"complete":false,"sink_bytes":70}` + "\n")
	m.facts.Documents["receipt"] = bytes.Clone(m.receipt)
	return m
}

// aloneModel is a run of the finalizer by itself, to a file.
func aloneModel(t testing.TB) *model {
	m := finalizedModel(t)
	m.scenario.Kind, m.scenario.Fixture.PayloadFile = scenario.Alone, "payload.bin"
	m.scenario.Alone.Mode = scenario.AloneFile
	m.artifact = bytes.Clone(successReport)
	return m
}

func target(change func(*evidence.Target)) func(*model) {
	return func(m *model) {
		t := m.extra[0].(evidence.Target)
		change(&t)
		m.extra[0] = t
	}
}

func finalized(given uint64) func(*model) {
	return func(m *model) { m.extra[0] = evidence.Finalized{Argv: []string{"v"}, Given: given} }
}

func stored(logical uint64) func(*model) {
	return func(m *model) { m.extra = append(m.extra, evidence.Storage{Logical: logical, Allocated: 8}) }
}

// waited is a producer that came to its rendezvous a while before the end.
func waited(m *model) {
	m.diagnostic = nil
	stopped(func(*evidence.Rendezvous) {})(m)
}

var finalizerCases = []nounCase{
	{words: "finalizer given=70", model: finalizedModel, alter: finalized(71)},
	{words: "command finalizer has --max-bytes 69", model: finalizedModel, alter: finalized(70)},
	{words: "receipt complete=false sink_bytes=70", model: finalizedModel, alter: func(m *model) { m.receipt = []byte(`{"complete":false,"sink_bytes":69}` + "\n") }},
	{words: "receipt complete=false", model: finalizedModel, alter: func(m *model) { m.receipt = m.receipt[:len(m.receipt)-1] }},
	{words: "receipt complete=false", model: finalizedModel, alter: func(m *model) { m.receipt = nil }},
	{words: "receipt equals receipt", model: finalizedModel, alter: func(m *model) { m.receipt = append(m.receipt, ' ') }},
	{words: "receipt none", model: finalizedModel, setup: func(m *model) { m.receipt = nil }, alter: func(m *model) { m.receipt = []byte("x") }},
	{words: "output equals whole", model: aloneModel, alter: func(m *model) { m.artifact = m.artifact[1:] }},
	{words: "output empty", model: aloneModel, setup: func(m *model) { m.artifact = nil }, alter: func(m *model) { m.artifact = []byte("x") }},
	{words: "output first 20 whole", model: aloneModel, setup: func(m *model) { m.artifact = m.artifact[:20] }, alter: func(m *model) { m.artifact = successReport[:21] }},
	{words: "output first 20 whole", model: aloneModel, setup: func(m *model) { m.artifact = m.artifact[:20] }, alter: func(m *model) { m.artifact[3] ^= 1 }},
	{words: "sink equals stream", model: exportedModel, setup: func(m *model) { m.facts.Documents["stream"] = sinkStream }, alter: func(m *model) { m.sink[3] ^= 1 }},
	{words: "sink verified", model: exportedModel, alter: put("sink_verification.finalizer_version", "null")},
	{words: "artifact renamed", model: namedModel, alter: target(func(t *evidence.Target) { t.Steps = []string{"created", "written"} })},
	{words: "artifact renamed", model: namedModel, alter: target(func(t *evidence.Target) { t.Steps = []string{"moved", "written"} })},
	{words: "artifact renamed", model: namedModel, alter: target(func(t *evidence.Target) { t.Steps = []string{"arrived"} })},
	{words: "artifact exported", model: namedModel, alter: target(func(t *evidence.Target) { t.Mode = 0o666 })},
	{words: "artifact exported", model: namedModel, alter: target(func(t *evidence.Target) { t.UID = 200000 })},
	{words: "artifact exported", model: namedModel, alter: func(m *model) {
		m.extra = append(m.extra, evidence.Leftover{What: "file", Detail: "-rw------- /tmp/.result.0.partial"})
	}},
	{words: "storage logical<=7 allocated<=8", setup: stored(7), alter: stored(8)},
	{words: "storage logical<=7", setup: stored(7), alter: func(m *model) { m.extra = nil }},
	{words: "handoff ended", setup: diagnosticsOf("handoff ended\n"), alter: diagnosticsOf("")},
	{words: "handoff ended", setup: waited, alter: func(m *model) { m.delay = 1e9 }},
}
