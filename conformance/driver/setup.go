package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"touchstone/conformance/evidence"
	"touchstone/conformance/launcherfile"
	"touchstone/conformance/scenario"
)

// Setup says where on this machine an attempt finds what it needs.
type Setup struct {
	Bin     string `json:"bin"`     // folder of the launcher's binaries
	Library string `json:"library"` // the compiled fixture; a patched copy of it is used
	Control string `json:"control"` // the compiled control program; needed by control attempts only
	Tool    string `json:"tool"`    // the compiled stand-in for the entrypoint's tools
	// Finalizer is the compiled stand-in for the finalizer.
	Finalizer string `json:"finalizer"`
	// Injector is faultinject's command; needed by attempts with faults only.
	Injector string `json:"injector"`
	// Seed draws the descriptor numbers, 32 hexadecimal digits; "" is the attempt's
	// own identity.
	Seed string `json:"seed"`
	// Hold is the role that is held at its start for whoever looks at it; "": none.
	Hold string `json:"hold"`
	// HangMS is when the driver gives up, in place of the scenario's own limit; 0: that.
	HangMS uint64 `json:"hang_ms"`
	// Keep copies the patched library into the attempt folder.
	Keep bool `json:"keep"`
	// Place is the folder of the files that the launcher is told of, made by
	// Prepare beside the library. Its name says nothing of the attempt.
	Place string `json:"place"`
}

// The attempt folder's files beyond those of package evidence, and those in
// Setup.Place, which are removed at the end.
const (
	setupFile = "setup.json"
	logFile   = "driver.log" // what the attempt process itself had to say

	libraryFile = "strategy.so" // the patched copy
	pairingFile = "pairing.json"
	spoolFolder = "spool"
)

// Prepare makes an attempt folder and writes into it what Run needs. A
// payload file that the scenario names must be put there by the caller, before
// Start. The folder must not exist or be empty. The market data goes beside the
// compiled library: a report prints the path that it was given, so attempts
// whose reports are compared must be given the same one.
func Prepare(dir string, s scenario.Scenario, f launcherfile.File, setup Setup) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("prepare attempt: %w", err)
	}
	setup, err := setup.absolute()
	if err == nil {
		setup.Place, err = newPlace(filepath.Dir(setup.Library))
	}
	if err != nil {
		return fmt.Errorf("prepare attempt: %w", err)
	}
	scenarioText, scenarioErr := scenario.Encode(s)
	launcherText, launcherErr := launcherfile.Encode(f)
	setupText, setupErr := json.Marshal(setup)
	if err := errors.Join(scenarioErr, launcherErr, setupErr); err != nil {
		return fmt.Errorf("prepare attempt: %w", err)
	}
	for name, text := range map[string][]byte{
		evidence.ScenarioFile: scenarioText, evidence.LauncherFile: launcherText, setupFile: append(setupText, '\n')} {
		if err := writeNew(filepath.Join(dir, name), text, 0o644); err != nil {
			return fmt.Errorf("prepare attempt: %w", err)
		}
	}
	if err := keepCatalog(dir, s, f, setup); err != nil {
		return fmt.Errorf("prepare attempt: %w", err)
	}
	if err := os.MkdirAll(setup.mounts(), 0o755); err != nil {
		return fmt.Errorf("prepare attempt: %w", err)
	}
	if err := writeMarketData(setup.marketData(s.BarCount()), s.BarCount()); err != nil {
		return fmt.Errorf("prepare attempt: %w", err)
	}
	return nil
}

// keepCatalog copies the launcher's failure catalog, where it is asked for.
func keepCatalog(dir string, s scenario.Scenario, f launcherfile.File, setup Setup) error {
	if !s.Catalog {
		return nil
	}
	text, err := os.ReadFile(f.CatalogPath(setup.Bin))
	if err != nil {
		return err
	}
	return writeNew(filepath.Join(dir, evidence.CatalogFile), text, 0o644)
}

// newPlace is a folder that the producer's own user can read.
func newPlace(parent string) (string, error) {
	place, err := os.MkdirTemp(parent, "")
	if err != nil {
		return "", err
	}
	return place, os.Chmod(place, 0o755)
}

func (s Setup) marketData(bars int) string {
	return filepath.Join(filepath.Dir(s.Library), fmt.Sprintf("ohlcv-%d.csv", bars))
}

// writeMarketData writes a file of bars one minute apart, with plain numbers,
// unless it is there. Attempts may be prepared side by side.
func writeMarketData(path string, bars int) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	var text strings.Builder
	text.WriteString("timestamp,open,high,low,close,volume\n")
	for i := range bars {
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d,%d\n", 1_700_000_040_000+60_000*i, 100+i, 102+i, 99+i, 101+i, 10*(i+1))
	}
	partial, err := os.CreateTemp(filepath.Dir(path), "ohlcv-*.new")
	if err != nil {
		return err
	}
	_, err = partial.WriteString(text.String())
	return errors.Join(err, partial.Chmod(0o644), partial.Close(), os.Rename(partial.Name(), path))
}

// absolute is the setup for a process that works elsewhere.
func (s Setup) absolute() (Setup, error) {
	for _, path := range []*string{&s.Bin, &s.Library, &s.Control, &s.Tool, &s.Finalizer, &s.Injector} {
		if *path == "" {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return Setup{}, err
		}
		*path = whole
	}
	return s, nil
}

// writeNew creates a file that must not exist yet.
func writeNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// readSetup reads what Prepare wrote.
func readSetup(dir string) (s scenario.Scenario, f launcherfile.File, setup Setup, err error) {
	texts := map[string][]byte{}
	for _, name := range []string{evidence.ScenarioFile, evidence.LauncherFile, setupFile} {
		if texts[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return s, f, setup, fmt.Errorf("read attempt: %w", err)
		}
	}
	if s, err = scenario.Decode(texts[evidence.ScenarioFile]); err != nil {
		return s, f, setup, err
	}
	if f, err = launcherfile.Decode(texts[evidence.LauncherFile]); err != nil {
		return s, f, setup, err
	}
	if err = json.Unmarshal(texts[setupFile], &setup, json.RejectUnknownMembers(true)); err != nil {
		return s, f, setup, fmt.Errorf("read attempt: %s: %w", setupFile, err)
	}
	return s, f, setup, nil
}
