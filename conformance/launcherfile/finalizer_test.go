package launcherfile

import (
	"slices"
	"strings"
	"testing"

	"touchstone/conformance/scenario"
)

// TestFinalizer: by itself with its own arguments, in another's place by the
// pairing, and where the file has no word for it, not at all.
func TestFinalizer(t *testing.T) {
	f, err := Read("../launchers/reference.toml")
	if err != nil {
		t.Fatal(err)
	}
	s := scenario.Scenario{Kind: scenario.Alone, Alone: scenario.ByItself{Mode: scenario.AloneFile, Cap: "0"}, Cell: scenario.Cell{Facade: "direct", Profile: "unjailed"}}
	c, err := f.Alone(s, Values{Bin: "/b"}, "/t", 9)
	if want := []string{"/b/reffinal", "--out", "/t", "--max-bytes", "0", "--receipt-fd", "9"}; err != nil || !slices.Equal(c.Argv, want) {
		t.Errorf("got %q, %v, want %q", c.Argv, err, want)
	}
	s.Kind, s.Finalizer = scenario.Launch, map[string]string{"misreport": scenario.MisreportDigest}
	c, err = f.Supervised(s, Values{Bin: "/b", StandIns: map[string]string{scenario.Finalizer: "/place/finalizer"}})
	if err != nil || !strings.Contains(c.Pairing, `"finalizer":{"path":"/place/finalizer"}`) {
		t.Errorf("pairing %s, %v", c.Pairing, err)
	}
	f.Finalizer.Digest = ""
	if got := f.Missing(s); !slices.Equal(got, []string{"no name of the receipt's digest"}) {
		t.Errorf("without a digest: %q", got)
	}
	f.Pairing.Template = "{}"
	if got := f.Missing(s); !slices.Equal(got, []string{"no way to set {finalizer}"}) {
		t.Errorf("without a place: %q", got)
	}
	s.Kind, f.Finalizer.File = scenario.Alone, nil
	if got := f.Missing(s); !slices.Equal(got, []string{"no way to run the finalizer by itself as a file"}) {
		t.Errorf("without arguments: %q", got)
	}
}
