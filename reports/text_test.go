package reports

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

// seeded gives the properties of a test; GOPTER_SEED repeats a run.
func seeded(t *testing.T) *gopter.Properties {
	t.Helper()
	seed := time.Now().UnixNano()
	if fixed := os.Getenv("GOPTER_SEED"); fixed != "" {
		fmt.Sscan(fixed, &seed)
	}
	t.Logf("GOPTER_SEED=%d", seed)
	return gopter.NewProperties(gopter.DefaultTestParametersWithSeed(seed))
}

// anyText is any bytes, often such as some format gives a meaning.
func anyText() gopter.Gen {
	pieces := []any{"#", "\\", "\n", "\r\n", "`", "``", "|", "::error::", "%0A", "not ok 1", "\n  ...\n", "\"", "\x00", "\xff\xfe", "\u2028", "\u202e",
		"<script>", "</script>", "]]>", "@everyone", "&amp;", "🌲", "é", " ", "# TODO", "Bail out!", "</style>", "{{.}}", "'", "javascript:x", "<!--"}
	return gen.OneGenOf(
		gen.SliceOf(gen.UInt8()).Map(func(b []byte) string { return string(b) }),
		gen.SliceOf(gen.OneConstOf(pieces...)).Map(func(p []string) string { return strings.Join(p, "") }))
}

var (
	tapPoint = regexp.MustCompile(`^(ok|not ok) ([0-9]+) - ((?:[^#\\]|\\[#\\])*?)(?: # (SKIP|TODO)(?: (?:[^#\\]|\\[#\\])*)?)?$`)
	tapYAML  = regexp.MustCompile(`^  [a-z]+: "((?:[ !#-\[\]-~]|\\["\\]|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})*)"$`)
)

// readTAP reads a TAP 14 document strictly and counts its points.
func readTAP(text string) (red, points int, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 || lines[0] != "TAP version 14" || lines[len(lines)-1] != "" {
		return 0, 0, fmt.Errorf("no whole document: %q", text)
	}
	planned := 0
	fmt.Sscanf(lines[1], "1..%d", &planned)
	inside := false
	for _, line := range lines[2 : len(lines)-1] {
		switch {
		case line == "  ---" && !inside && points > 0, line == "  ..." && inside:
			inside = !inside
		case inside && tapYAML.MatchString(line):
		case !inside && tapPoint.MatchString(line):
			m := tapPoint.FindStringSubmatch(line)
			points++
			if m[2] != fmt.Sprint(points) {
				return 0, 0, fmt.Errorf("point %q is number %d", line, points)
			}
			if m[1] == "not ok" && m[4] != "TODO" {
				red++
			}
		default:
			return 0, 0, fmt.Errorf("line %q", line)
		}
	}
	if points != planned || inside {
		return 0, 0, fmt.Errorf("%d points, planned %d", points, planned)
	}
	return red, points, nil
}

// spans are the code spans of a line, as CommonMark reads them, and what
// stands outside of them.
func spans(line string) (inside []string, outside string) {
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return inside, outside + line
		}
		outside += line[:at]
		fence := line[at : at+len(line[at:])-len(strings.TrimLeft(line[at:], "`"))]
		rest := line[at+len(fence):]
		end := regexp.MustCompile("(?:^|[^`])(" + fence + ")(?:[^`]|$)").FindStringSubmatchIndex(rest)
		if end == nil {
			outside, line = outside+fence, rest
			continue
		}
		inside = append(inside, rest[:end[2]])
		line = rest[end[3]:]
	}
}

func TestAnyTextGivesValidLinesProperty(t *testing.T) {
	properties := seeded(t)
	properties.Property("report.tap is TAP 14 and red where it must be", prop.ForAll(func(text string) bool {
		var out bytes.Buffer
		if err := WriteTAP(&out, sample(text)); err != nil {
			return false
		}
		red, points, err := readTAP(out.String())
		if err != nil {
			t.Log(err)
		}
		return err == nil && points == len(Verdicts())+2 && red == 6 // fail, broken, unexpected pass, wrong fail, leak, conclusion
	}, anyText()))
	properties.Property("summary.md has the same words outside of code spans", prop.ForAll(func(text string) bool {
		return text == "" || markdownFrame(t, text) == markdownFrame(t, "x")
	}, anyText()))
	properties.Property("one workflow command a line", prop.ForAll(func(text string) bool {
		var out bytes.Buffer
		if err := WriteAnnotations(&out, sample(text)); err != nil {
			return false
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			if !annotation.MatchString(line) || !utf8.ValidString(line) {
				t.Logf("%q", line)
				return false
			}
		}
		return len(lines) == 7 // four bad verdicts, a leak, not run, the conclusion
	}, anyText()))
	properties.TestingRun(t)
}

var annotation = regexp.MustCompile(`^::(error|warning|notice) (?:file=testdata/[^,:]*\.txtar,(?:line=[0-9]+,)?)?title=[^,:]*::[^\x00-\x1f]*$`)

// markdownFrame is the summary without what stands in code spans.
func markdownFrame(t *testing.T, text string) string {
	var out bytes.Buffer
	if err := WriteMarkdown(&out, sample(text)); err != nil {
		t.Fatal(err)
	}
	var frame strings.Builder
	for line := range strings.Lines(out.String()) {
		inside, outside := spans(line)
		fmt.Fprintf(&frame, "%d %s", len(inside), outside)
	}
	return frame.String()
}

func TestGreenTAPIsExitZero(t *testing.T) {
	for verdict, wanted := range map[string]int{Pass: 0, NotRun: 0, Fail: 1} {
		r := Report{Assertions: []Assertion{{ID: "T1.01", Verdict: verdict}}}
		var out bytes.Buffer
		if err := WriteTAP(&out, r); err != nil {
			t.Fatal(err)
		}
		if red, _, err := readTAP(out.String()); err != nil || red != wanted {
			t.Errorf("%s: %d red, %v", verdict, red, err)
		}
	}
	var out bytes.Buffer
	if err := WriteTAP(&out, Report{ExitStatus: 2, Conclusion: "undecided", Assertions: []Assertion{{ID: "T1.01", Verdict: NotRun}}}); err != nil {
		t.Fatal(err)
	}
	if red, _, err := readTAP(out.String()); err != nil || red != 1 {
		t.Errorf("an undecided run of skips only: %d red, %v", red, err)
	}
}

func TestCodeSpan(t *testing.T) {
	for text, wanted := range map[string]string{
		"": "`  `", "a": "` a `", "a`b": "`` a`b ``", "``": "``` `` ```", "a\nb": "` a b `", "\x1b[31m": "` \\u001b[31m `", "\u202e": "` \\u202e `",
	} {
		if got := codeSpan(text); got != wanted {
			t.Errorf("%q: got %q, want %q", text, got, wanted)
		}
	}
}

// fullDisk takes a number of bytes.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestWritersTellOfAFullDisk(t *testing.T) {
	for name, write := range map[string]func(io.Writer, Report) error{"junit": WriteJUnit, "tap": WriteTAP, "markdown": WriteMarkdown, "annotations": WriteAnnotations} {
		var whole bytes.Buffer
		if err := write(&whole, sample("x")); err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{0, whole.Len() - 1} {
			if err := write(&fullDisk{room}, sample("x")); err == nil {
				t.Errorf("%s: %d of %d bytes written and no error", name, room, whole.Len())
			}
		}
	}
}

func TestMatrixAddsUp(t *testing.T) {
	r := Report{Assertions: []Assertion{{ID: "T2.01", Cell: "b", Verdict: Pass}, {ID: "T2.02", Cell: "b", Verdict: Fail}, {ID: "T10.01", Cell: "a", Verdict: NotRun}, {ID: "T2.01", Cell: "a", Verdict: Pass}}}
	m := matrixOf(r)
	var got []string
	for _, row := range m.Rows {
		for i, c := range row.Cells {
			got = append(got, row.Test+" "+m.Cells[i]+" "+c.words())
		}
	}
	want := "T2 b fail 1/2; T2 a pass 1/1; T10 b –; T10 a not-run 0/1"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
