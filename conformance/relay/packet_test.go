package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"touchstone/conformance/scenario"
	"touchstone/contracts"
)

func genuine(t testing.TB) []byte {
	t.Helper()
	text, err := fs.ReadFile(contracts.Examples(), "success.json")
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return append(compact, '\n')
}

func told(t testing.TB, words ...string) scenario.Relay {
	t.Helper()
	r, err := scenario.ParseRelay(words)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func status(t testing.TB, packet []byte) map[string]any {
	t.Helper()
	var record struct {
		Channels map[string]map[string]any `json:"channels"`
	}
	if err := json.Unmarshal(packet, &record); err != nil {
		t.Fatalf("%v in %.200s", err, packet)
	}
	return record.Channels["status"]
}

func TestAnHonestRelayChangesNothing(t *testing.T) {
	received := genuine(t)
	for _, words := range [][]string{nil, {"copies=2"}, {"delay=1s"}, {"kill=sent"}, {"exit=3"}} {
		sent, err := Packet(received, told(t, words...))
		if err != nil || string(sent) != string(received) {
			t.Errorf("%v: %d bytes, %v", words, len(sent), err)
		}
	}
}

// A changed record is wrong in what was changed only: it states its own length.
func TestAChangedRecordCountsItself(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	properties := gopter.NewProperties(parameters)
	received := genuine(t)
	properties.Property("the stated length is the packet's", prop.ForAll(func(value string, extra, pad int) bool {
		words := []string{fmt.Sprintf("set.surprise=%q", value), "append=" + strings.Repeat(" ", extra)}
		if pad > 0 {
			words = append(words, fmt.Sprintf("pad=%d", pad))
		}
		sent, err := Packet(received, told(t, words...))
		return err == nil && status(t, sent)["observed_bytes"] == float64(len(sent)) &&
			(pad == 0 || len(sent) >= pad) && status(t, sent)["written_bytes"] == float64(len(sent))
	}, gen.AlphaString(), gen.IntRange(0, 2000), gen.IntRange(0, 100000)))
	properties.TestingRun(t)
}

// A record with free text grows there: but for its length it is sound.
func TestPaddingIsFreeText(t *testing.T) {
	for version, filler := range map[string]string{`"1"`: "xxxx1", "null": "{    "} {
		sent, err := Packet(genuine(t), told(t, "set.sink_verification={\"finalizer_version\":"+version+"}", "pad=70000"))
		if err != nil || len(sent) != 70000 || !strings.Contains(string(sent), filler) {
			t.Errorf("%s: %d bytes, %v: %.300s", version, len(sent), err, sent)
		}
	}
}

// What is put in raw is not read: a member may be there twice.
func TestRawBytesStay(t *testing.T) {
	sent, err := Packet(genuine(t), told(t, `raw="complete":false,`))
	if err != nil || !strings.HasPrefix(string(sent), `{"complete":false,"`) || strings.Count(string(sent), `"complete":`) <= strings.Count(string(genuine(t)), `"complete":`) ||
		!strings.Contains(string(sent), fmt.Sprintf(`"observed_bytes":%d`, len(sent))) {
		t.Errorf("%v: %.300s", err, sent)
	}
}

func TestWhatIsSetStays(t *testing.T) {
	sent, err := Packet(genuine(t), told(t, "set.channels.status.observed_bytes=7", "drop.exit_class"))
	if err != nil || status(t, sent)["observed_bytes"] != float64(7) || strings.Contains(string(sent), "exit_class") {
		t.Errorf("%v: %.300s", err, sent)
	}
	if status(t, sent)["written_bytes"] != float64(len(sent)) {
		t.Error("the counters that were not set do not count")
	}
	if _, err := Packet(genuine(t), told(t, "drop.nothing")); err == nil {
		t.Error("a member that is not there was dropped")
	}
	if sent, err := Packet(genuine(t), told(t, "empty")); err != nil || len(sent) != 0 {
		t.Errorf("empty: %d bytes, %v", len(sent), err)
	}
	if sent, err := Packet(genuine(t), told(t, "cut=10")); err != nil || len(sent) != 10 {
		t.Errorf("cut: %d bytes, %v", len(sent), err)
	}
}

// What a genuine record says of the host's channels is told, channel by channel;
// of what is no record nothing is.
func TestRecordsAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := openLog(path)
	if err == nil {
		err = errors.Join(l.recorded([]byte("no record")), l.recorded([]byte(`{"channels":{"report":{"written_bytes":7,"sha256":"ab"},"sink":{"sha256":null}}}`)), l.file.Close())
	}
	text, read := os.ReadFile(path)
	if err != nil || read != nil {
		t.Fatal(err, read)
	}
	var line Line
	if err := json.Unmarshal(text, &line); err != nil || line.Did != Recorded || line.Size != 7 || line.Detail != "report ab" {
		t.Errorf("%s: %v", text, err)
	}
}

func FuzzPacket(f *testing.F) {
	f.Add([]byte(`{"channels":{"status":{}}}`+"\n"), "set.a=1")
	f.Add([]byte("no record"), "append=x")
	f.Fuzz(func(t *testing.T, received []byte, word string) {
		r, err := scenario.ParseRelay([]string{word})
		if err != nil {
			return
		}
		sent, err := Packet(received, r)
		if err == nil && len(r.Edits) > 0 && len(sent) == 0 {
			t.Errorf("%q made nothing of %q", word, received)
		}
	})
}
