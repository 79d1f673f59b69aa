package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// The record must be wrong in substance only: naive-exec is there to show that
// the suite sees more than form.
func TestEncodeNamesItsOwnLength(t *testing.T) {
	for _, u := range []outcome{{}, {status: 7}, {signal: 9}} {
		packet := encode(u)
		var got struct {
			Complete bool
			Channels map[string]struct {
				Observed int `json:"observed_bytes"`
			}
		}
		if err := json.Unmarshal(packet, &got); err != nil {
			t.Fatalf("%+v: decode: %v", u, err)
		}
		if got.Channels["status"].Observed != len(packet) {
			t.Errorf("%+v: status %d bytes, packet %d", u, got.Channels["status"].Observed, len(packet))
		}
		if got.Complete == u.failed() {
			t.Errorf("%+v: complete %t", u, got.Complete)
		}
		if !strings.HasSuffix(string(packet), "}\n") || strings.Count(string(packet), "\n") != 1 {
			t.Errorf("%+v: not one line: %q", u, packet)
		}
	}
}

func TestProducerArgsCarryTheRequest(t *testing.T) {
	r, err := parse([]string{"--report-max-bytes", "5", "--so", "a.so", "--ohlcv", "b.csv", "--capabilities-json", "--terminal-status-fd", "7"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(r.producerArgs(), " "), "--so a.so --ohlcv b.csv --capabilities-json"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.terminalFD != 7 {
		t.Errorf("terminal descriptor %d, want 7", r.terminalFD)
	}
}
