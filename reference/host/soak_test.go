package host

import (
	stdflag "flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// soak is how many attempts TestManyAtOnce makes; scripts/soak asks for 400.
var soak = stdflag.Int("soak", 32, "attempts of TestManyAtOnce")

// refusals are attempts that must fail, each for a reason of its own.
func refusals(t testing.TB) map[string]launch {
	return map[string]launch{
		`run_request_invalid{"option":"arguments"}`:                                   {command: real(t, "plain.so", "--nope", "1")},
		`report_mode_unsupported{"contract":"pineforge-report/v1","mode":"STREAMED"}`: {command: real(t, "plain.so", "--report-mode", "STREAMED")},
		`run_isolation_unavailable{"reason":"policy"}`:                                {command: real(t, "plain.so"), flags: []string{"--spool-bytes", "10"}},
		`report_budget_exceeded{"cap_bytes":99,"channel":"json","requested_bytes":1,"used_bytes":99}`: {
			command: real(t, "plain.so"), flags: []string{"--grant-report-bytes", "99"}},
		`report_budget_exceeded{"cap_bytes":50,"channel":"aggregate","requested_bytes":51,"used_bytes":0}`: {
			command: real(t, "plain.so"), flags: []string{"--grant-report-bytes", "50", "--planned-sink-bytes", "51"}},
		`diagnostic_budget_exceeded{"cap_bytes":5000,"requested_bytes":1,"used_bytes":5000}`: {
			command: real(t, "flood.so", "--diagnostic-max-bytes", "5000")},
		`run_deadline_exceeded{"stage":"run"}`:  {command: real(t, "hang.so", "--channel-wall-ms", "3000")},
		`run_producer_failed{"reason":"claim"}`: {command: real(t, "plain.so", "--inputs", `{"length":true}`)},
	}
}

// TestManyAtOnce makes many attempts, eight at a time, every other of which
// must fail: each has its own cause, a record that the host believes, and
// leaves nothing.
func TestManyAtOnce(t *testing.T) {
	var wrong []launch
	var causes []string
	for cause, l := range refusals(t) {
		causes, wrong = append(causes, "rejected "+cause+" supervisor"), append(wrong, l)
	}
	mounts := mountCount(t)
	turns := make(chan int)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range turns {
				l, cause, exit := launch{command: real(t, "plain.so")}, "accepted", ExitAccepted
				if i%2 == 1 {
					l, cause, exit = wrong[i/2%len(wrong)], causes[i/2%len(wrong)], ExitRejected
				} else if i%4 == 2 {
					l = launch{command: real(t, "plain.so", "--profile", "jailed"), flags: []string{"--arena-bytes", "65536"}}
				}
				t.Run(fmt.Sprint(i), func(t *testing.T) { l.run(t).wants(t, exit, cause) })
			}
		})
	}
	for i := range *soak {
		turns <- i
	}
	close(turns)
	all.Wait()
	if after := mountCount(t); after != mounts {
		t.Errorf("mounts: %d before, %d after", mounts, after)
	}
}

func mountCount(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}
