package oracle

import (
	"fmt"
	"testing"
)

// Each packet has its own record, however many came between.
func TestRecentRecordsAreOfTheirPackets(t *testing.T) {
	r := records{decoded: map[string]*Record{}}
	packet := func(i int) []byte { return fmt.Appendf(nil, `{"version":%d}`+"\n", i) }
	for i := range 3 * recentRecords {
		r.decode(packet(i))
	}
	if len(r.decoded) != recentRecords || len(r.order) != recentRecords {
		t.Fatalf("%d records in an order of %d, want %d", len(r.decoded), len(r.order), recentRecords)
	}
	for _, i := range []int{0, 3*recentRecords - 1} { // forgotten, and kept
		version := r.decode(packet(i)).root.at("version")
		if got := version.text; got != fmt.Sprint(i) {
			t.Errorf("packet %d: record of %s", i, got)
		}
	}
}
