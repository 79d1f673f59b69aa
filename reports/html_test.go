package reports

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter/prop"
)

// exhibited is an attempt in which text stands wherever a launcher's bytes can.
func exhibited(text string) Exhibit {
	e := Exhibit{Attempt: "attempts/x", Script: text, Cell: "direct/jailed", Kind: "launch", Ended: "exit 0", Span: 80_000_000,
		Lanes: []Lane{{Name: "report", Bytes: 4096, Steps: []Step{{10_000_000, 100}, {30_000_000, 4000}, {60_000_000, 4096}}, End: 70_000_000},
			{Name: text, End: -1}, {Name: "terminal", Bytes: 70, Marks: []int64{72_000_000}, End: 73_000_000}},
		Moments: []Moment{{20_000_000, "kill", text}, {75_000_000, "exit", "supervisor exited with 0"}},
		Limits:  []Limit{{"W", 0, 50_000_000}, {"G", 50_000_000, 1_000_000_000}, {"P", 1_050_000_000, 1}},
		Files:   []string{"events.jsonl", text}}
	e.Streams = []Stream{{Name: "report", Bytes: int64(len(text)), First: []byte(text)}, {Name: "diagnostic", Bytes: 1 << 30, First: []byte(text), Last: []byte(text)}}
	e.Packets = [][]byte{[]byte(`{"schema":"pf-run-terminal","channels":{"report":{"observed_bytes":5,"limit_bytes":7}},"failure":null}` + "\n"), []byte(text)}
	return e
}

// bigPage is a run of so many assertions, one in ten failing, in four cells.
func bigPage(assertions int) Page {
	p := Page{Report: Report{Launcher: Launcher{Name: "big"}, Conclusion: "not conforming", ExitStatus: 1}, Statements: map[string]string{}}
	cells := []string{"direct/unjailed", "direct/jailed", "entrypoint/unjailed", "entrypoint/jailed"}
	for i := range assertions {
		id := fmt.Sprintf("T%d.%02d", i/4%36+1, i/144+1)
		a := Assertion{ID: id, Rule: "R06,R08", Cell: cells[i%4], Verdict: Pass, Checks: 3}
		attempt := fmt.Sprintf("attempts/%s/%05d", cells[i%4], i)
		if i%10 == 0 {
			a.Verdict, a.Replay = Fail, "scripts/certify --launcher big --tests "+id
			a.Findings = slices.Repeat([]Finding{{Script: "T14-a-script", Line: i, Phase: "a phase of it", Verdict: Fail, Attempt: attempt,
				Seen: "written=absent; sha256=absent", Wanted: "written<=4096; sha256=" + strings.Repeat("ab", 32), Members: []string{"channels.report.observed_bytes"}}}, 3)
		}
		p.Statements[id] = "a strategy floods its standard error while it is freed: the run is refused with diagnostic_budget_exceeded and exit 3"
		p.Assertions = append(p.Assertions, a)
		p.Totals.Count(a.Verdict)
		if i%4 == 0 {
			e := exhibited("a text")
			e.Attempt = attempt
			p.Exhibits = append(p.Exhibits, e)
		}
	}
	return p
}

var (
	tag            = regexp.MustCompile(`<[^<>]*>`)
	attributeValue = regexp.MustCompile(`"[^"]*"`)
)

// skeleton is a page's tags in order, without the values of their attributes,
// and whether nothing else in it could be taken for a tag.
func skeleton(page string) (tags string, clean bool) {
	var out strings.Builder
	for _, t := range tag.FindAllString(page, -1) {
		out.WriteString(attributeValue.ReplaceAllString(t, `""`))
	}
	return out.String(), !strings.ContainsAny(tag.ReplaceAllString(page, ""), "<")
}

// withoutOurs takes style and script out: they are ours, and hold brackets.
func withoutOurs(page []byte) string {
	return strings.NewReplacer(pageStyle, "", pageScript, "").Replace(string(page))
}

func hostilePage(text string) Page {
	p := Page{Report: sample(text), Exhibits: []Exhibit{exhibited(text)}, Statements: map[string]string{"T14.02": text}}
	p.Host, p.Blocked, p.Stale = map[string]string{"kernel": text}, text, []StaleGap{{ID: text, Reason: text}}
	for i := range p.Assertions {
		p.Assertions[i].Findings[0].Attempt = "attempts/x"
	}
	return p
}

func pageOf(t *testing.T, p Page) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteHTML(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAnyTextGivesTheSamePageProperty(t *testing.T) {
	wanted, clean := skeleton(withoutOurs(pageOf(t, hostilePage("x"))))
	if !clean || len(wanted) < 2000 {
		t.Fatalf("the page itself is not as this test reads it: %q", wanted)
	}
	properties := seeded(t)
	properties.Property("report.html has the same elements", prop.ForAll(func(text string) bool {
		page := withoutOurs(pageOf(t, hostilePage("x"+text)))
		got, clean := skeleton(page)
		return clean && got == wanted && !strings.Contains(page, `href="javascript:`)
	}, anyText()))
	properties.TestingRun(t)
}

func TestOffendingMemberIsMarked(t *testing.T) {
	p := Page{Report: sample("x"), Exhibits: []Exhibit{exhibited("x")}}
	p.Assertions[1].Findings[0].Attempt = "attempts/x"
	p.Assertions[1].Findings[0].Members = []string{"channels.report.limit_bytes"}
	marked := regexp.MustCompile(`class="off"><span class="k">([a-z_]+)</span>`).FindAllStringSubmatch(string(pageOf(t, p)), -1)
	if len(marked) != 1 || marked[0][1] != "limit_bytes" {
		t.Errorf("marked: %q", marked)
	}
}

func TestTimelineIsToScale(t *testing.T) {
	e := exhibited("x")
	drawn := drawTimeline(e)
	at := func(ns int64) float64 { return timelineLeft + float64(ns)/80e6*(timelineRight-timelineLeft) }
	if got := drawn.Lanes[2].Marks[0].X; got != at(72_000_000) {
		t.Errorf("the packet is at %v, want %v", got, at(72_000_000))
	}
	if got := drawn.Limits[0].Width; got != at(50_000_000)-timelineLeft {
		t.Errorf("W is %v wide", got)
	}
	if !drawn.Limits[1].Cut || drawn.Limits[2].Width != 0 {
		t.Errorf("G goes on beyond the plot and P starts beyond it: %+v", drawn.Limits)
	}
	if want := fmt.Sprintf("M%.1f %d", at(10_000_000), drawn.Lanes[0].To); !strings.HasPrefix(drawn.Lanes[0].Curve, want) {
		t.Errorf("the curve %q does not start with %q", drawn.Lanes[0].Curve, want)
	}
}

func TestNumbersDoNotCoverEachOther(t *testing.T) {
	e := Exhibit{Span: 1000}
	for _, at := range []int64{0, 1, 2, 500, 998, 999, 1000, 1000} {
		e.Moments = append(e.Moments, Moment{At: at})
	}
	last := float64(timelineLeft - labelWidth)
	for _, m := range drawTimeline(e).Moments {
		if m.Label-last < labelWidth-0.001 || m.Label > timelineRight {
			t.Errorf("number %d is at %v, the one before at %v", m.Number, m.Label, last)
		}
		last = m.Label
	}
}

func TestThinKeepsTheLastOfEachBit(t *testing.T) {
	var steps []Step
	for i := range int64(100_000) {
		steps = append(steps, Step{i, i + 1})
	}
	kept := thin(steps, func(at int64) float64 { return timelineLeft + float64(at)/100_000*(timelineRight-timelineLeft) })
	if len(kept) > timelineSteps+1 || kept[len(kept)-1].Bytes != 100_000 {
		t.Errorf("%d steps kept, the last %+v", len(kept), kept[len(kept)-1])
	}
}

func TestHexDump(t *testing.T) {
	want := "00000010  41 00 ff                                         A..\n"
	if got := hexDump([]byte{'A', 0, 0xff}, 16); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPageLeavesOutWhatDoesNotFit(t *testing.T) {
	p := bigPage(10_000)
	page := pageOf(t, p)
	if len(page) > 10<<20 {
		t.Errorf("%d bytes", len(page))
	}
	if !strings.Contains(string(page), "attempts are left out") {
		t.Error("what is left out is not said")
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1,{"c":null}]},"a":"twice"}`))
	f.Add([]byte("[[[[\xff"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		if _, err := readTree(packet, map[string]bool{"a.b": true}); err != nil {
			return
		}
		if page := withoutOurs(pageOf(t, Page{Exhibits: []Exhibit{{Attempt: "x", Packets: [][]byte{packet}}}})); strings.Contains(page, "ZgotmplZ") {
			t.Errorf("the page refuses %q", packet)
		}
	})
}
