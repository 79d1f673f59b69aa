package oracle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"touchstone/conformance/evidence"
)

// metered is a success whose usage agrees with what the host saw.
func metered(t testing.TB) *model {
	m := successModel(t)
	m.delay, m.spool, m.facts.Slack = 30e6, 81920, 1500*time.Millisecond
	m.scenario.Fixture.Args = map[string]string{"memory": "8388608"}
	r := evidence.Rendezvous{PID: 3, Point: 1, UserUS: 200000, SystemUS: 10000, PeakRSSBytes: 9437184, OpenDescriptors: 25,
		Words: []uint64{4048576, 1048576, 2}}
	m.extra = append(m.extra, r)
	for stage, cells := range map[string]map[string]string{
		"stages.run": {"wall.used": "10", "cpu_user.used": "210000", "cpu_system.used": "11000", "memory_rss.peak": "9500000", "open_fds.peak": "25"},
		"job":        {"wall.used": "20", "cpu_user.used": "210000", "cpu_system.used": "11000"},
	} {
		for cell, value := range cells {
			set(m.root, "usage."+stage+".resources."+cell, value)
		}
	}
	for _, stage := range []string{"finalize", "publish"} {
		set(m.root, "usage.stages."+stage+".resources.wall.used", "5")
	}
	size := fmt.Sprint(len(m.report))
	for cell, value := range map[string]string{"scratch_logical": "4048576", "scratch_allocated": "1048576", "scratch_files": "2"} {
		figure(m, "stages.run", cell, value)
		figure(m, "job", cell, value)
	}
	figure(m, "job", "work_logical", size)
	figure(m, "job", "work_allocated", "81920")
	figure(m, "job", "work_files", "1")
	return m
}

// figure makes a cell a measured one.
func figure(m *model, entry, cell, used string) {
	path := "usage." + entry + ".resources." + cell
	set(m.root, path+".used", used)
	set(m.root, path+".source", `"filesystem"`)
	set(m.root, path+".state", `"measured"`)
}

// inMetered alters a member of a metered attempt, and keeps what the host saw.
func inMetered(path, raw string) func(*model) {
	return func(m *model) {
		m.extra = []evidence.Body{evidence.Rendezvous{PID: 3, Point: 1, UserUS: 200000, SystemUS: 10000, PeakRSSBytes: 9437184,
			OpenDescriptors: 25, Words: []uint64{4048576, 1048576, 2}}}
		set(m.root, "usage."+path, raw)
	}
}

const run, job = "stages.run.resources.", "job.resources."

var usageCases = []nounCase{
	{words: "usage-seen processor", model: metered, alter: inMetered(run+"cpu_user.used", "210")},
	{words: "usage-seen processor", model: metered, alter: inMetered(run+"cpu_user.used", "0")},
	{words: "usage-seen processor", model: metered, alter: inMetered(run+"cpu_system.used", "210000")},
	{words: "usage-seen processor", model: metered, alter: inMetered(run+"cpu_user.used", "null")},
	{words: "usage-seen processor", model: metered, alter: inMetered(run+"cpu_user.scope", `"job_domain"`)},
	{words: "usage-seen processor", model: metered, alter: inMetered(job+"cpu_user.used", "11000")},
	{words: "usage-seen processor", model: metered, alter: func(m *model) { m.extra = nil }},
	{words: "usage-seen wall", model: metered, alter: inMetered(job+"wall.used", "20000")},
	{words: "usage-seen wall", model: metered, alter: inMetered(job+"wall.used", "300")},
	{words: "usage-seen wall", model: metered, alter: inMetered("stages.finalize.resources.wall.used", "21")},
	{words: "usage-seen wall", model: metered, alter: inMetered(job+"wall.used", "null")},
	{words: "usage-seen memory", model: metered, alter: inMetered(run+"memory_rss.peak", "9500")},
	{words: "usage-seen memory", model: metered, alter: inMetered(run+"memory_rss.peak", "null")},
	{words: "usage-seen memory", model: metered, alter: inMetered(run+"memory_rss.scope", `"job_domain"`)},
	{words: "usage-seen memory", model: metered, alter: inMetered(job+"memory_job.peak", "8192")},
	{words: "usage-seen memory", model: metered, alter: inMetered(job+"memory_job.peak", "0")},
	{words: "usage-seen descriptors", model: metered, alter: inMetered(run+"open_fds.state", `"measured"`)},
	{words: "usage-seen descriptors", model: metered, alter: inMetered(job+"open_fds.peak", "25")},
	{words: "usage-seen descriptors", model: metered, alter: inMetered(run+"open_fds.peak", "34")},
	{words: "usage-seen descriptors", model: metered, alter: inMetered(run+"open_fds.peak", "0")},
	{words: "usage-seen descriptors", model: metered, alter: inMetered(run+"processes.peak", "0")},
	{words: "usage-seen scratch", model: metered, alter: inMetered(run+"scratch_logical.used", "1048576")},
	{words: "usage-seen scratch", model: metered, alter: inMetered(job+"scratch_allocated.used", "4048576")},
	{words: "usage-seen scratch", model: metered, alter: inMetered(job+"scratch_files.used", "3")},
	{words: "usage-seen scratch", model: metered, alter: func(m *model) { m.extra = nil }},
	{words: "usage-seen work", model: metered, alter: inMetered(job+"work_logical.used", "81920")},
	{words: "usage-seen work", model: metered, alter: inMetered(job+"work_allocated.used", "0")},
	{words: "usage-seen work", model: metered, alter: func(m *model) { m.spool = 2 << 20 }},
	{words: "usage-seen arena", model: metered, alter: inMetered(run+"arena_claimed.state", `"measured"`)},
	{words: "usage-seen arena", model: metered, alter: inMetered(run+"arena_capacity.source", `"filesystem"`)},
	{words: "usage-seen arena", model: metered, alter: inMetered(job+"arena_claimed.scope", `"job_domain"`)},
	{words: "usage-filled", model: metered, alter: inMetered(job+"cpu_user.used", "null")},
	{words: "usage-filled", model: metered, alter: inMetered(job+"diagnostic_bytes.used", "0")},
	{words: "usage-filled", model: metered, alter: inMetered(run+"memory_private.state", `"measured"`)},
	{words: "usage-filled", model: metered, alter: inMetered(run+"cpu_user.state", `"unavailable"`)},
	{words: "kill-domain own", setup: observed(grouped("/s", "/s/u")), alter: observed(grouped("/s/u", "/s/u"))},
	{words: "kill-domain own", setup: observed(grouped("/s", "/s/u")), alter: observed(grouped("/s/u/deeper", "/s/u"))},
	{words: "kill-domain own", setup: observed(grouped("/s", "/s/u")), alter: func(m *model) { m.extra = nil }},
	{words: "descriptors publishers-nonblocking", setup: observed(publisher(true)), alter: observed(publisher(false))},
	{words: "descriptors publishers-nonblocking", setup: observed(publisher(true)), alter: func(m *model) { m.extra = nil }},
	{words: "job-memory <=180000000", alter: put("usage."+job+"memory_job.peak", "180000001")},
	{words: "room-left", alter: put("producer.failure", `{"code":"x","args":{"field":"`+strings.Repeat("y", 40000)+`"},"authority":"producer"}`)},
}

// grouped puts the supervisor and the producer into memory control groups.
func grouped(supervisor, producer string) func(*evidence.Observe) {
	return func(o *evidence.Observe) {
		o.Cgroup = []string{"8:pids:/", "4:memory:" + producer, "0::/"}
		o.SupervisorCgroup = []string{"4:memory:" + supervisor, "0::/"}
	}
}

// publisher is a supervisor that holds its report endpoint.
func publisher(nonblocking bool) func(*evidence.Observe) {
	return func(o *evidence.Observe) {
		o.Who = "supervisor"
		o.Descriptors = []evidence.Descriptor{{Number: 1, Name: "report", Kind: "pipe", Access: "w", Nonblocking: nonblocking}}
	}
}

// What a launcher may leave unmeasured decides nothing, or passes with a note.
func TestUnmeasuredUsage(t *testing.T) {
	for words, c := range map[string]struct {
		cells   []string
		verdict Verdict
	}{
		"usage-seen scratch":     {[]string{"scratch_logical"}, NotRun},
		"usage-seen work":        {[]string{"work_allocated"}, NotRun},
		"usage-seen descriptors": {[]string{"open_fds"}, Pass},
	} {
		m := metered(t)
		for _, entry := range []string{run, job} {
			for _, cell := range c.cells {
				for member, value := range map[string]string{"used": "null", "peak": "null", "state": `"unavailable"`, "source": `"none"`} {
					set(m.root, "usage."+entry+cell+"."+member, value)
				}
			}
		}
		if f := Check("T34.49", wordsOf(words), metersOf(t, m), m.facts); f.Verdict != c.verdict || f.Reason == "" {
			t.Errorf("%s: got %+v, want %s with a reason", words, f, c.verdict)
		}
	}
}

func metersOf(t *testing.T, m *model) []*evidence.Attempt { return []*evidence.Attempt{m.build(t)} }
