package supervisor_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// cell is one cell of the record's usage.
type cell struct {
	Used      *int64 `json:"used"`
	Requested *int64 `json:"requested"`
	Limit     *int64 `json:"limit"`
	Peak      *int64 `json:"peak"`
	Unit      string `json:"unit"`
	Scope     string `json:"scope"`
	Source    string `json:"source"`
	State     string `json:"state"`
}

// used is the record's usage: cells by stage, or job, and name.
func (r result) used(t testing.TB) map[string]map[string]cell {
	t.Helper()
	type entry struct {
		State     string          `json:"state"`
		Resources map[string]cell `json:"resources"`
	}
	var read struct {
		Usage struct {
			Stages map[string]entry `json:"stages"`
			Job    entry            `json:"job"`
		} `json:"usage"`
	}
	if len(r.packets) != 1 {
		t.Fatalf("%d packets", len(r.packets))
	}
	if err := json.Unmarshal(r.packets[0], &read); err != nil {
		t.Fatal(err)
	}
	cells := map[string]map[string]cell{"job": read.Usage.Job.Resources}
	for name, stage := range read.Usage.Stages {
		cells[name] = stage.Resources
	}
	return cells
}

// consumer is a launch of the producer that uses known amounts.
func consumer(t *testing.T, amounts string) launch {
	t.Helper()
	folder := requireRoot(t)
	program := filepath.Join(folder, "consume")
	output, err := exec.Command("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/consume.c").CombinedOutput()
	if err != nil {
		t.Fatalf("build consume: %v\n%s", err, output)
	}
	return launch{producer: program, actor: amounts}
}

const (
	burned  = 200     // ms
	touched = 8 << 20 // bytes
	amounts = "200 8388608 3 5000 1000000 9 "
)

// between holds a quantity against bounds, both inclusive.
func between(t *testing.T, what string, quantity *int64, low, high int64) {
	t.Helper()
	switch {
	case quantity == nil:
		t.Errorf("%s: not measured, want %d to %d", what, low, high)
	case *quantity < low || *quantity > high:
		t.Errorf("%s: %d, want %d to %d", what, *quantity, low, high)
	}
}

// TestUsage compares what the record says with what the producer is known to
// have used and with what this process, as the host, has seen of S: after a
// success, after a refusal and after a SIGKILL it is the same.
func TestUsage(t *testing.T) {
	for end, cause := range map[string]string{"report": "",
		"flood": `diagnostic_budget_exceeded{"cap_bytes":1048576,"requested_bytes":1,"used_bytes":1048576}`,
		"kill":  `run_producer_failed{"reason":"signal","signal":9}`} {
		t.Run(end, func(t *testing.T) {
			r := consumer(t, amounts+end).run(t)
			if r.cause() != cause {
				t.Fatalf("cause %s, want %s", r.cause(), cause)
			}
			used := r.used(t)
			run, job := used["run"], used["job"]
			producer := *run["cpu_user"].Used + *run["cpu_system"].Used
			between(t, "run cpu", &producer, burned*1000, r.cpu.Microseconds())
			all := *job["cpu_user"].Used + *job["cpu_system"].Used
			between(t, "job cpu", &all, producer, r.cpu.Microseconds())
			between(t, "run wall", run["wall"].Used, burned-2, r.elapsed.Milliseconds()) // the strategy burns by another clock
			between(t, "job wall", job["wall"].Used, *run["wall"].Used, r.elapsed.Milliseconds())
			between(t, "job wall limit", job["wall"].Limit, 600000, 600000)
			between(t, "rss", run["memory_rss"].Peak, touched, 4*touched)
			for _, entry := range []map[string]cell{run, job} {
				between(t, "private", entry["memory_private"].Peak, touched, 2*touched)
				between(t, "job memory", entry["memory_job"].Peak, touched, 4*touched)
				between(t, "processes", entry["processes"].Peak, 1, 1)
				between(t, "scratch logical", entry["scratch_logical"].Used, 3*5000+1000000, 3*5000+1000000)
				between(t, "scratch allocated", entry["scratch_allocated"].Used, 3*8192, 3*8192)
				between(t, "scratch files", entry["scratch_files"].Used, 4, 4)
				between(t, "work files", entry["work_files"].Used, 2, 2) // candidate, and an unused sink
				between(t, "work logical", entry["work_logical"].Used, 0, int64(len(r.report)))
				between(t, "work allocated", entry["work_allocated"].Used, 64<<20, 65<<20)
			}
			between(t, "descriptors", run["open_fds"].Peak, 5+9, 5+9+1)
			for name, state := range map[string]string{"open_fds": "sampled_lower_bound", "memory_private": "sampled_lower_bound",
				"arena_claimed": "unavailable", "memory_rss": "measured"} {
				if run[name].State != state {
					t.Errorf("%s is %s, want %s", name, run[name].State, state)
				}
			}
			if job["memory_rss"].Peak != nil || job["open_fds"].Peak != nil {
				t.Error("a peak of several processes is claimed")
			}
		})
	}
}

// TestUsageOfStages: each stage that began has its own times, no other has any.
func TestUsageOfStages(t *testing.T) {
	refused := launch{actor: "report=300", spool: 1}.run(t)
	refused.wants(t, 1, `run_isolation_unavailable{"reason":"policy"}`)
	done := launch{actor: "report=300"}.run(t)
	done.wants(t, 0, "")
	for name, test := range map[string]struct {
		r     result
		began string
	}{"refused": {refused, "job"}, "success": {done, "prepare run finalize publish job"}} {
		for stage, cells := range test.r.used(t) {
			if len(cells) != 19 {
				t.Errorf("%s: %s has %d cells", name, stage, len(cells))
			}
			began := strings.Contains(test.began, stage)
			for _, cell := range []string{"wall", "cpu_user", "cpu_system"} {
				if (cells[cell].Used != nil) != began {
					t.Errorf("%s: %s of %s is %+v", name, cell, stage, cells[cell])
				}
			}
		}
	}
}

// TestMemoryLimit: the kernel ends the producer, S tells of it, and the limit is
// the granted one.
func TestMemoryLimit(t *testing.T) {
	l := consumer(t, "0 67108864 0 0 0 0 report")
	l.grants = strings.Replace(defaultGrants, `"memory_bytes":null`, `"memory_bytes":16777216`, 1)
	r := l.run(t)
	r.wants(t, 1, `run_producer_failed{"reason":"signal","signal":9}`)
	memory := r.used(t)["job"]["memory_job"]
	between(t, "peak", memory.Peak, 15<<20, 16<<20)
	between(t, "limit", memory.Limit, 16<<20, 16<<20)
}

// TestArenaCapacity: what was admitted is told as that, and no claim is.
func TestArenaCapacity(t *testing.T) {
	l := launch{actor: "report=300", jailed: true}
	r := l.run(t)
	r.wants(t, 0, "")
	capacity := r.used(t)["run"]["arena_capacity"]
	between(t, "capacity", capacity.Limit, 65536, 65536)
	if capacity.Used != nil || capacity.Source != "admission" || capacity.Scope != "attachment" {
		t.Errorf("capacity %+v", capacity)
	}
}
