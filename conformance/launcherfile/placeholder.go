package launcherfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The placeholders. {value} stands only in options; {pairing} not in the
// pairing template itself.
var (
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

	filePlaceholders   = []string{"bin", "here", "library", "ohlcv", "attempt"}
	launchPlaceholders = append([]string{"terminal_fd", "launch_fd", "attempt_id", "grant_report", "grant_diagnostic",
		"grant_wall", "grant_stall", "memory_or_null", "planned_sink_or_null", "spool", "spool_bytes", "pairing"},
		filePlaceholders...)
	optionPlaceholders  = append([]string{"value"}, launchPlaceholders...)
	pairingPlaceholders = filePlaceholders
)

// named is the placeholders of a text, without braces.
func named(text string) []string {
	found := placeholder.FindAllString(text, -1)
	for i := range found {
		found[i] = strings.Trim(found[i], "{}")
	}
	return found
}

// unknownPlaceholder is the first placeholder of a text that is not allowed.
func unknownPlaceholder(text string, allowed []string) (string, bool) {
	for _, name := range named(text) {
		if !slices.Contains(allowed, name) {
			return name, true
		}
	}
	return "", false
}

// fill replaces the placeholders of a text. It fails on one without a value.
func fill(text string, values map[string]string) (string, error) {
	var missing string
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		value, known := values[strings.Trim(p, "{}")]
		if !known {
			missing = p
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("placeholder %s: no value here", missing)
	}
	return out, nil
}
