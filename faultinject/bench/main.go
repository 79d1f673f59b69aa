// Command bench measures faultinject beside strace and beside nothing, and
// judges the goals of speed. scripts/bench-faultinject builds what it runs.
//
// Every row runs its commands in turn, so that a busy machine disturbs them
// alike, and compares medians of wall time. Exit: 0 all goals met, 1 missed.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// goal is one row: ours must take at most limit times what other takes.
type goal struct {
	name  string
	ours  string
	other string
	limit float64
}

// Flags of the whole benchmark.
var (
	dir   = flag.String("dir", ".", "where the command and the programs lie")
	turns = flag.Int("turns", 5, "runs of each command")
	scale = flag.Int("scale", 1, "divide the numbers of calls by it")
)

// goals expands the commands. F is ours and T is strace with its filter.
func goals() []goal {
	n := func(calls int) string { return strconv.Itoa(calls / *scale) }
	c1 := "bench_calls 1 " + n(2000000) + " 10000 /dev/shm"
	c4 := "bench_calls 4 " + n(500000) + " 10000 /dev/shm"
	g4 := "benchcalls 4 " + n(500000) + " 10000 /dev/shm"
	hot := "bench_calls 1 " + n(200000) + " 100000000 /dev/shm"
	storm := "bench_storm " + n(60000)
	const (
		ours   = "faultinject run -e rule_a:_on_fsync_;_do_errno_EIO -- "
		theirs = "strace -f --seccomp-bpf -o /dev/null -e trace=fsync -e inject=fsync:error=EIO:when=1 "
		hotT   = "taskset -c 0 strace -f --seccomp-bpf -o /dev/null -e trace=pwrite64 -e inject=pwrite64:error=EIO:when=65000 "
		stormT = "strace -f --seccomp-bpf -o /dev/null -e trace=fsync -e inject=fsync:error=EINTR "
		stormF = "faultinject run --log /dev/shm/fi-bench.log -e rule_a:_on_fsync_;_do_errno_EINTR_storm_%s -- "
	)
	stormOurs := fmt.Sprintf(stormF, n(60000)) + storm
	return []goal{
		{"unmatched, 1 thread C, to untraced", ours + c1, c1, 1.15},
		{"unmatched, 4 threads C, to untraced", ours + c4, c4, 1.15},
		{"unmatched, 4 goroutines, to untraced", ours + g4, g4, 1.15},
		{"unmatched, 1 thread C, to strace", ours + c1, theirs + c1, 1.0},
		{"unmatched, 4 threads C, to strace", ours + c4, theirs + c4, 0.7},
		{"unmatched, 4 goroutines, to strace", ours + g4, theirs + g4, 0.7},
		{"matched, not fired, pinned", "taskset -c 0 faultinject run -e rule_a:_on_pwrite64_;_at_call_100000000_;_do_errno_EIO -- " + hot, hotT + hot, 0.65},
		{"the same with identity and bytes", "taskset -c 0 faultinject run -e bind_X:_path_bench* -e rule_a:_on_pwrite64_fd_X_;_at_bytes_100000000_;_do_kill -- " + hot, hotT + hot, 1.0},
		{"EINTR storm, pinned", "taskset -c 0 " + stormOurs, "taskset -c 0 " + stormT + storm, 0.7},
		{"EINTR storm", stormOurs, stormT + storm, 0.7},
		{"start and attach", "faultinject run -- true", "strace -f --seccomp-bpf -o /dev/null -e trace=fsync true", 0.8},
		{"all stops, pinned", "taskset -c 0 faultinject run --mode full -e rule_a:_on_fsync_;_at_call_100000000_;_do_errno_EIO -- " + hot,
			"taskset -c 0 strace -f -o /dev/null -e trace=fsync " + hot, 1.0},
	}
}

// words splits a command; an underscore stands for a blank within a word.
func words(command string) []string {
	out := strings.Fields(command)
	for i := range out {
		if strings.Contains(out[i], ":_") {
			out[i] = strings.ReplaceAll(out[i], "_", " ")
		}
	}
	return out
}

// run takes the wall time and the processor time of one command.
func run(command string) (wall, cpu time.Duration, err error) {
	argv := words(command)
	cmd := exec.Command(argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	err = cmd.Run()
	wall = time.Since(start)
	// A rule of a benchmark may never fire, on purpose: exit 3.
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 3 {
		return 0, 0, fmt.Errorf("%s: %w: %s", command, err, stderr.String())
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &usage); err != nil {
		return 0, 0, fmt.Errorf("read usage: %w", err)
	}
	return wall, time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// measure runs both commands of a goal in turn and returns the ratios of
// their medians.
func (g goal) measure() (ours, other time.Duration, cpu float64, err error) {
	commands := [2]string{g.ours, g.other}
	var walls, cpus [2][]time.Duration
	_, before, err := run("true")
	for range *turns {
		for i, command := range commands {
			wall, total, failed := run(command)
			if failed != nil {
				return 0, 0, 0, failed
			}
			walls[i], cpus[i] = append(walls[i], wall), append(cpus[i], total-before)
			before = total
		}
	}
	return median(walls[0]), median(walls[1]), float64(median(cpus[0])) / float64(median(cpus[1])), err
}

func main() {
	flag.Parse()
	if err := os.Setenv("PATH", *dir+":"+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Printf("%-38s %10s %10s %6s %6s %6s\n", "goal (medians of "+strconv.Itoa(*turns)+")", "ours", "other", "ratio", "limit", "cpu")
	missed := 0
	for _, g := range goals() {
		ours, other, cpu, err := g.measure()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		ratio := float64(ours) / float64(other)
		verdict := "met"
		if ratio > g.limit {
			missed++
			verdict = fmt.Sprintf("MISSED by %.0f %%", (ratio/g.limit-1)*100)
		}
		fmt.Printf("%-38s %10s %10s %6.2f %6.2f %6.2f  %s\n", g.name, ours.Round(100*time.Microsecond),
			other.Round(100*time.Microsecond), ratio, g.limit, cpu, verdict)
	}
	if missed > 0 {
		fmt.Printf("%d goals missed\n", missed)
		os.Exit(1)
	}
}
