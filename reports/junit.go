package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// The JUnit elements that common readers agree on.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	ClassName string        `xml:"classname,attr"`
	Name      string        `xml:"name,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitMessage `xml:"failure"`
	Error     *junitMessage `xml:"error"`
	Skipped   *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each cell, a case for
// each assertion, and one failing case for each leak; last a case for the
// conclusion, so that no undecided run is green here. Text of any bytes gives a
// valid document: what XML 1.0 cannot hold is written as an escape.
func WriteJUnit(w io.Writer, r Report) error {
	document := junitSuites{Name: scrub("touchstone " + r.Launcher.Name), Time: seconds(r.Seconds)}
	for _, cell := range cells(r) {
		suite := cellSuite(r, cell)
		document.Tests += suite.Tests
		document.Failures += suite.Failures
		document.Errors += suite.Errors
		document.Skipped += suite.Skipped
		document.Suites = append(document.Suites, suite)
	}
	document.Suites = append(document.Suites, conclusionSuite(r))
	document.Tests++
	document.Errors += document.Suites[len(document.Suites)-1].Errors
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", " ")
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func conclusionSuite(r Report) junitSuite {
	suite := junitSuite{Name: scrub(r.Launcher.Name + " conclusion"), Timestamp: strings.TrimSuffix(r.Started, "Z"), Time: seconds(r.Seconds)}
	c := junitCase{ClassName: "conclusion", Name: fmt.Sprintf("exit %d", r.ExitStatus), Time: "0"}
	if r.ExitStatus != 0 {
		c.Error = &junitMessage{Type: "conclusion", Message: scrub(r.Conclusion), Text: scrub(r.Blocked)}
	}
	suite.add(c)
	return suite
}

func cells(r Report) []string {
	var names []string
	for _, a := range r.Assertions {
		names = append(names, a.Cell)
	}
	for _, l := range r.Leaks {
		names = append(names, l.Cell)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func cellSuite(r Report, cell string) junitSuite {
	suite := junitSuite{Name: scrub(r.Launcher.Name + " " + cell), Timestamp: strings.TrimSuffix(r.Started, "Z"), Properties: []junitProperty{
		{"run_id", scrub(r.RunID)}, {"suite_version", scrub(r.Suite.Version)}, {"conclusion", scrub(r.Conclusion)}}}
	total := 0.0
	for _, s := range r.Scripts {
		if s.Cell == cell {
			total += s.Seconds
		}
	}
	suite.Time = seconds(total)
	for _, a := range r.Assertions {
		if a.Cell == cell {
			suite.add(assertionCase(a))
		}
	}
	for _, l := range r.Leaks {
		if l.Cell == cell {
			suite.add(junitCase{ClassName: "leak", Name: scrub(l.Script + " " + l.What), Time: "0",
				Failure: &junitMessage{Type: "leak", Message: scrub(l.What), Text: scrub(l.Attempt + "\n" + l.Capsule + "\n" + l.Replay)}})
		}
	}
	return suite
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func assertionCase(a Assertion) junitCase {
	test, _, _ := strings.Cut(a.ID, ".")
	c := junitCase{ClassName: scrub(test), Name: scrub(a.ID + " (" + a.Rule + ")"), Time: "0"}
	message := &junitMessage{Type: scrub(a.Verdict), Message: scrub(headline(a)), Text: scrub(details(a))}
	switch a.Verdict {
	case Pass:
	case NotRun, ExpectedFail:
		c.Skipped = message
	case Broken:
		c.Error = message
	default:
		c.Failure = message
	}
	return c
}

func headline(a Assertion) string {
	if a.Reason != "" {
		return a.Reason
	}
	for _, f := range a.Findings {
		return fmt.Sprintf("saw %s, wanted %s", f.Seen, f.Wanted)
	}
	return a.Verdict
}

func details(a Assertion) string {
	var text strings.Builder
	for _, f := range a.Findings {
		fmt.Fprintf(&text, "%s:%d: %s\n", f.Script, f.Line, f.Phase)
		if f.Reason != "" {
			fmt.Fprintf(&text, "  %s: %s\n", f.Verdict, f.Reason)
		} else {
			fmt.Fprintf(&text, "  saw %s\n  wanted %s\n", f.Seen, f.Wanted)
		}
		fmt.Fprintf(&text, "  evidence %s\n", f.Attempt)
	}
	if a.Capsule != "" {
		fmt.Fprintf(&text, "capsule: %s\n", a.Capsule)
	}
	if a.Replay != "" {
		fmt.Fprintf(&text, "replay: %s\n", a.Replay)
	}
	return text.String()
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// scrub replaces what XML 1.0 has no character for, and bytes that are no
// UTF-8, by a visible escape.
func scrub(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !xmlCharacter(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		i += size
	}
	return out.String()
}

// xmlCharacter is the Char production of XML 1.0.
func xmlCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		(r >= 0x20 && r <= 0xd7ff) || (r >= 0xe000 && r <= 0xfffd) || (r >= 0x10000 && r <= 0x10ffff)
}
