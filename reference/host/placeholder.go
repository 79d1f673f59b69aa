package host

import (
	"fmt"
	"slices"
	"strings"
)

// Descriptor numbers of S. 5 is the arena's (C-70).
const (
	terminalFD = 3
	launchFD   = 4
	arenaFD    = 5
	sinkFD     = 6
)

// placeholders gives the words that a command can hold in braces.
func (o *Options) placeholders(attempt string) map[string]string {
	words := map[string]string{
		"terminal_fd": fmt.Sprint(terminalFD), "launch_fd": fmt.Sprint(launchFD), "attempt_id": attempt,
	}
	if o.Sink != "" {
		words["sink_fd"] = fmt.Sprint(sinkFD)
	}
	if o.NamedSink != "" {
		words["named_sink"] = o.NamedSink
	}
	return words
}

// render puts values in place of placeholders. A { directly before a lower-case
// letter opens one; every other brace is literal, so that JSON stands as it is.
func render(word string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		at := strings.IndexByte(word, '{')
		if at < 0 || at+1 == len(word) {
			return b.String() + word, nil
		}
		b.WriteString(word[:at])
		if c := word[at+1]; c < 'a' || c > 'z' {
			b.WriteByte('{')
			word = word[at+1:]
			continue
		}
		name, rest, closed := strings.Cut(word[at+1:], "}")
		value, known := values[name]
		if !closed || !known {
			return "", fmt.Errorf("command: placeholder {%s}: unknown here; sink_fd needs --sink, named_sink --named-sink", name)
		}
		b.WriteString(value)
		word = rest
	}
}

// checkPlaceholders refuses a command that cannot be rendered, or that leaves a
// sink unused: its host would wait for bytes that nobody was asked to write.
func (o *Options) checkPlaceholders() error {
	values := o.placeholders("")
	for _, word := range o.Command {
		if _, err := render(word, values); err != nil {
			return err
		}
	}
	holds := func(text string) bool {
		return slices.ContainsFunc(o.Command, func(word string) bool { return strings.Contains(word, text) })
	}
	switch {
	case o.Sink != "" && !holds("{sink_fd}"):
		return fmt.Errorf("argument --sink: the command has no {sink_fd}; pass it, as in --report-sink-fd {sink_fd}")
	case o.NamedSink != "" && !holds("{named_sink}"):
		return fmt.Errorf("argument --named-sink: the command has no {named_sink}; pass it, as in --report-sink {named_sink}")
	}
	return nil
}
