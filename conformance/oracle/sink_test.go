package oracle

import (
	"bytes"
	"fmt"
	"testing"

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
	m.scenario.Requests = map[string]string{scenario.RequestPathSink: "/tmp/result"}
	return m
}
