package reports

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"
)

// Page is everything that report.html shows.
type Page struct {
	Report
	Exhibits   []Exhibit         // in the order of the run
	Statements map[string]string // what an assertion says, by its id
}

// maxExhibitBytes bounds what the attempts take of a page, so that a page of any run
// opens at once. Those that a failure names come first.
const maxExhibitBytes = 5 << 19

var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"line": oneLine, "bad": IsBad, "anchor": anchor, "join": strings.Join, "folder": path.Dir,
	"short": func(text string) string { return clip(oneLine(text), 12) },
	"first": firstBad, "rest": restBad, "badge": badge,
	"clip": func(text string) string { return clip(oneLine(text), 2000) },
}).Parse(pageSource))

// scriptPolicy lets no script run but ours, whatever a launcher's bytes say.
var scriptPolicy = func() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// pageView is the page as its template reads it.
type pageView struct {
	Page
	Style    template.CSS
	Script   template.JS
	Policy   string
	Matrix   matrix
	Bad      []Assertion
	Reasons  []reasonView
	Attempts []template.HTML
	Omitted  int // attempts that did not fit
	Shown    map[string]bool
	Groups   []groupView
	Verdicts []string
}

// groupView is all assertions of a test.
type groupView struct {
	Test, Verdict string
	Assertions    []Assertion
}

// reasonView is why some assertions are undecided.
type reasonView struct {
	Verdict, Reason string
	IDs             []string
}

// WriteHTML writes the page: one file that needs nothing else, reads without
// scripts, and runs none but its own search. Text of any bytes stays text.
func WriteHTML(w io.Writer, p Page) error {
	view := pageView{Page: p, Style: template.CSS(pageStyle), Script: template.JS(pageScript), Policy: scriptPolicy,
		Matrix: matrixOf(p.Report), Reasons: reasons(p.Report), Verdicts: Verdicts(), Shown: map[string]bool{}}
	for _, row := range view.Matrix.Rows {
		view.Groups = append(view.Groups, groupView{Test: row.Test, Verdict: row.Verdict})
	}
	for _, a := range p.Assertions {
		i := slices.IndexFunc(view.Groups, func(g groupView) bool { return g.Test == testOf(a) })
		view.Groups[i].Assertions = append(view.Groups[i].Assertions, a)
		if IsBad(a.Verdict) {
			view.Bad = append(view.Bad, a)
		}
	}
	if err := view.addAttempts(); err != nil {
		return err
	}
	if err := pageTemplate.Execute(w, view); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// attemptView is an exhibit as its template reads it.
type attemptView struct {
	Exhibit
	Timeline timeline
	Records  []recordView
	Dumps    []streamDump
	Failures []failureView
}

type recordView struct {
	Tree    treeNode
	Problem string
	Dump    streamDump
}

type failureView struct {
	ID, Rule string
	Finding
}

// addAttempts renders the exhibits that fit, failing ones first, and keeps
// them in the order of the run.
func (v *pageView) addAttempts() error {
	failures := v.failures()
	rendered := make([]template.HTML, len(v.Exhibits))
	left := maxExhibitBytes
	for _, failing := range []bool{true, false} {
		for i, e := range v.Exhibits {
			if (len(failures[e.Attempt]) > 0) != failing || left <= 0 {
				continue
			}
			text, err := renderAttempt(e, failures[e.Attempt])
			if err != nil {
				return err
			}
			if left -= len(text); left > 0 {
				rendered[i], v.Shown[e.Attempt] = text, true
			}
		}
	}
	v.Attempts = slices.DeleteFunc(rendered, func(text template.HTML) bool { return text == "" })
	v.Omitted = len(v.Exhibits) - len(v.Attempts)
	return nil
}

// failures are the failed findings of each attempt.
func (v *pageView) failures() map[string][]failureView {
	all := map[string][]failureView{}
	for _, a := range v.Assertions {
		for _, f := range a.Findings {
			if f.Verdict != Fail {
				continue
			}
			for _, attempt := range append([]string{f.Attempt}, f.Also...) {
				all[attempt] = append(all[attempt], failureView{a.ID, a.Rule, f})
			}
		}
	}
	for _, l := range v.Leaks {
		all[l.Attempt] = append(all[l.Attempt], failureView{"leak", "", Finding{Script: l.Script, Verdict: Fail, Seen: l.What, Wanted: "nothing left behind"}})
	}
	return all
}

func renderAttempt(e Exhibit, failures []failureView) (template.HTML, error) {
	view := attemptView{Exhibit: e, Timeline: drawTimeline(e), Failures: failures}
	members := map[string]bool{}
	for _, f := range failures {
		for _, m := range f.Members {
			members[m] = true
		}
	}
	for i, packet := range e.Packets {
		r := recordView{Dump: dumpStream(Stream{Name: fmt.Sprintf("terminal packet %d", i), Bytes: int64(len(packet)), First: packet[:min(len(packet), 2*StreamBytes)]})}
		tree, err := readTree(packet, members)
		if err != nil {
			r.Problem = "not one JSON value: " + err.Error()
		} else if len(failures) > 0 { // a record in order is in its file
			r.Tree = tree
		}
		view.Records = append(view.Records, r)
	}
	for _, s := range e.Streams {
		view.Dumps = append(view.Dumps, dumpStream(s))
	}
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "attempt", view); err != nil {
		return "", fmt.Errorf("write attempt: %w", err)
	}
	return template.HTML(out.String()), nil // of html/template's own making
}

// badge names an assertion in a cell within the page.
func badge(a Assertion) string { return anchor(a.ID + " " + a.Cell) }

// firstBad is the finding that a card shows: the first as bad as its assertion.
func firstBad(a Assertion) *Finding {
	if bad := badFindings(a); len(bad) > 0 {
		return &bad[0]
	}
	return nil
}

func restBad(a Assertion) []Finding {
	if bad := badFindings(a); len(bad) > 1 {
		return bad[1:]
	}
	return nil
}

func badFindings(a Assertion) []Finding {
	return slices.DeleteFunc(slices.Clone(a.Findings), func(f Finding) bool { return !IsBad(f.Verdict) })
}

// reasons are why assertions are undecided or fail as declared, each once.
func reasons(r Report) []reasonView {
	var all []reasonView
	index := map[[2]string]int{}
	for _, a := range r.Assertions {
		if a.Verdict != Broken && a.Verdict != NotRun && a.Verdict != ExpectedFail {
			continue
		}
		k := [2]string{a.Verdict, a.Reason}
		i, known := index[k]
		if !known {
			i = len(all)
			index[k] = i
			all = append(all, reasonView{Verdict: a.Verdict, Reason: a.Reason})
		}
		all[i].IDs = append(all[i].IDs, a.ID+" "+a.Cell)
	}
	return all
}

// anchor is a name for a link within the page: letters, digits and dashes, and
// a digest's beginning, so that two names never meet.
func anchor(name string) string {
	var out strings.Builder
	for _, r := range clip(name, 60) {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			out.WriteRune(r)
		} else {
			out.WriteByte('-')
		}
	}
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s-%x", out.String(), sum[:4])
}
