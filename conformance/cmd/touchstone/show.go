package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"touchstone/conformance/certify"
	"touchstone/conformance/exhibit"
	"touchstone/reports/transcript"
)

type showCommand struct {
	Attempt string `arg:"" help:"Folder of an attempt: attempts/FACADE-PROFILE/SCRIPT/NNN of a run folder."`
	Channel string `help:"Only the bytes of this channel, exactly (escaped on a terminal): R report, D diagnostic, M terminal, N sink, C candidate, stdout, stderr." placeholder:"LETTER"`
	Decode  bool   `help:"With --channel M: the record as indented JSON."`
	JSON    bool   `name:"json" help:"One JSON object on stdout."`
}

type showData struct {
	Problems []string       `json:"problems"`
	Lines    []exhibit.Line `json:"lines"`   // without --channel
	Channel  string         `json:"channel"` // "" without --channel
	Bytes    []byte         `json:"bytes"`   // base64
}

// Run shows an attempt, or one channel of it.
func (c *showCommand) Run(p *program) error {
	data, err := c.show()
	status := no(len(data.Problems) == 0)
	if c.JSON {
		a := answer{kind: "show", data: data, status: status}
		if status != 0 {
			a.finding = data.Problems[0]
		}
		return a.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	for _, problem := range data.Problems {
		fmt.Fprintln(p.stderr, "touchstone: warning:", oneLine(problem))
	}
	if data.Channel != "" && len(data.Bytes) == 0 {
		fmt.Fprintf(p.stderr, "touchstone: nothing came on channel %s of this attempt\n", c.Channel)
	}
	out := bufio.NewWriter(p.stdout)
	switch {
	case data.Channel == "":
		printLines(out, data.Lines)
	case isTerminal(p.stdout):
		_, _ = out.WriteString(escaped(data.Bytes)) // Flush tells
	default:
		_, _ = out.Write(data.Bytes)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print attempt: %w", err)
	}
	return exit(status)
}

func (c *showCommand) show() (showData, error) {
	data := showData{Problems: []string{}, Lines: []exhibit.Line{}, Bytes: []byte{}}
	channel, known := exhibit.ChannelOf(c.Channel)
	if c.Channel != "" && !known {
		return data, &certify.UsageError{Problem: fmt.Sprintf("channel %q: want R, D, M, N, C, stdout or stderr", c.Channel)}
	}
	if c.Decode && (!known || channel != transcript.Terminal) {
		return data, &certify.UsageError{Problem: "--decode goes with --channel M"}
	}
	t, err := exhibit.LoadTranscript(c.Attempt)
	if err != nil {
		return data, &certify.UsageError{Problem: oneLine(fmt.Sprintf("%s: %s", c.Attempt, whyNoAttempt(c.Attempt, err)))}
	}
	data.Problems = append(data.Problems, t.Problems...)
	if !known {
		data.Lines = append(data.Lines, t.Lines()...)
		return data, nil
	}
	data.Channel, data.Bytes = channel.String(), append(data.Bytes, t.Bytes(channel)...)
	if c.Decode {
		record := jsontext.Value(data.Bytes)
		if err := record.Indent(); err != nil {
			data.Problems = append(data.Problems, "the terminal record cannot be decoded: "+err.Error())
			return data, nil
		}
		data.Bytes = append(record, '\n')
	}
	return data, nil
}

// whyNoAttempt names an attempt where a run, a cell or a script was named.
func whyNoAttempt(dir string, err error) string {
	for _, below := range []string{"", "*", "*/*", "attempts/*/*"} {
		attempts, _ := filepath.Glob(filepath.Join(dir, below, "[0-9][0-9][0-9]")) // the pattern is sound
		if len(attempts) > 0 {
			return "no attempt, but a folder of attempts; name one, as in " + attempts[0]
		}
	}
	return fmt.Sprintf("no attempt to show: %v; name attempts/FACADE-PROFILE/SCRIPT/NNN of a run folder", err)
}

func printLines(out io.Writer, lines []exhibit.Line) {
	fmt.Fprintf(out, "%10s  %-9s  %-16s  %9s  %s\n", "ms", "channel", "direction", "bytes", "event")
	for _, l := range lines {
		size := ""
		if l.Direction != "" && l.Event != "end" {
			size = strconv.Itoa(l.Bytes)
		}
		fmt.Fprintf(out, "%10.3f  %-9s  %-16s  %9s  %s\n", l.AtMS, l.Channel, l.Direction, size, oneLine(l.Event))
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// escaped is any bytes as text that does nothing to a terminal: a line ends
// where one ends, and every other byte that is no printable character is \xNN.
func escaped(content []byte) string {
	var out strings.Builder
	for len(content) > 0 {
		r, size := utf8.DecodeRune(content)
		switch {
		case r == '\n':
			out.WriteString("\\n\n")
		case r == '\\':
			out.WriteString(`\\`)
		case strconv.IsPrint(r) && (r != utf8.RuneError || size > 1):
			out.WriteRune(r)
		default:
			size = 1
			fmt.Fprintf(&out, `\x%02x`, content[0])
		}
		content = content[size:]
	}
	return out.String()
}
