package launcherfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The placeholders. {value} stands only in options; {pairing} not in the
// pairing template itself. A brace before anything but a lower-case letter or
// underscore is literal, as the braces of JSON are.
var (
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
	opening     = regexp.MustCompile(`\{[a-z_]+`)

	filePlaceholders   = []string{"bin", "here", "library", "ohlcv", "attempt"}
	launchPlaceholders = append([]string{"terminal_fd", "launch_fd", "attempt_id", "grant_report", "grant_diagnostic",
		"grant_wall", "grant_stall", "memory_or_null", "planned_sink_or_null", "spool", "spool_bytes", "pairing", "mounts"},
		filePlaceholders...)
	optionPlaceholders  = append([]string{"value"}, launchPlaceholders...)
	pairingPlaceholders = append([]string{"transpiler", "compiler", "binder", "finalizer", "producer"}, filePlaceholders...)
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

// unclosedPlaceholder is the first name of a text whose opening brace has no
// closing one right behind it.
func unclosedPlaceholder(text string) (string, bool) {
	for _, at := range opening.FindAllStringIndex(text, -1) {
		if !strings.HasPrefix(text[at[1]:], "}") {
			return text[at[0]+1 : at[1]], true
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
