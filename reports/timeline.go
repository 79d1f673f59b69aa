package reports

import (
	"fmt"
	"strings"
	"time"
)

// The geometry of a timeline, in pixels of its view box.
const (
	timelineWidth  = 960
	timelineLeft   = 92  // of the plot
	timelineRight  = 860 // of the plot
	laneHeight     = 34
	laneGap        = 8
	axisHeight     = 22
	momentHeight   = 22
	limitHeight    = 20
	labelWidth     = 17 // of a moment's number
	timelineTicks  = 5
	timelineSteps  = 160 // per lane, at most
	timelineEvents = 40  // moments, at most
)

// timeline is an exhibit's time axis with everything on it at its place.
type timeline struct {
	Width, Height     int
	Left, Right       int
	Ticks             []tick
	Lanes             []laneDrawing
	Moments           []momentDrawing
	MomentY, MomentTo int
	Limits            []limitDrawing
	MoreMoments       int
}

type tick struct {
	X     float64
	Label string
}

type laneDrawing struct {
	Name   string
	Y, To  int // top and base line
	Curve  string
	Area   string
	Marks  []tick // messages
	End    float64
	Ends   bool
	Total  string
	Detail string
}

type momentDrawing struct {
	Moment
	Number int
	X      float64 // of the moment
	Label  float64 // of its number, moved aside where numbers would cover each other
	When   string
}

type limitDrawing struct {
	Name, Title string
	X, Width    float64
	Y           int
	Cut         bool // it goes on beyond the plot
}

func drawTimeline(e Exhibit) timeline {
	t := timeline{Width: timelineWidth, Left: timelineLeft, Right: timelineRight}
	span := max(e.Span, 1)
	scale := func(at int64) float64 {
		at = min(max(at, 0), span)
		return timelineLeft + float64(at)/float64(span)*(timelineRight-timelineLeft)
	}
	for i := range timelineTicks {
		at := span * int64(i) / (timelineTicks - 1)
		t.Ticks = append(t.Ticks, tick{scale(at), duration(at)})
	}
	y := axisHeight
	for _, l := range e.Lanes {
		t.Lanes = append(t.Lanes, drawLane(l, y, scale))
		y += laneHeight + laneGap
	}
	t.MomentY, t.MomentTo = y, y+momentHeight
	if len(e.Moments) > 0 {
		t.drawMoments(e.Moments, scale)
		y += momentHeight
	}
	for _, l := range e.Limits {
		t.Limits = append(t.Limits, drawLimit(l, span, y, scale))
	}
	if len(e.Limits) > 0 {
		y += limitHeight
	}
	t.Height = y + 4
	return t
}

func drawLane(l Lane, y int, scale func(int64) float64) laneDrawing {
	d := laneDrawing{Name: l.Name, Y: y, To: y + laneHeight, Ends: l.End >= 0, End: scale(l.End), Total: byteCount(l.Bytes)}
	d.Detail = fmt.Sprintf("%s: %d bytes", l.Name, l.Bytes)
	for _, at := range l.Marks {
		d.Marks = append(d.Marks, tick{scale(at), fmt.Sprintf("packet at %s", duration(at))})
	}
	if len(l.Steps) == 0 || l.Bytes <= 0 {
		return d
	}
	height := func(bytes int64) float64 { return float64(d.To) - float64(bytes)/float64(l.Bytes)*(laneHeight-4) }
	var curve strings.Builder
	first := scale(l.Steps[0].At)
	fmt.Fprintf(&curve, "M%.1f %d", first, d.To)
	for _, s := range thin(l.Steps, scale) {
		fmt.Fprintf(&curve, "H%.1fV%.1f", scale(s.At), height(s.Bytes))
	}
	last := scale(max(l.End, l.Steps[len(l.Steps)-1].At))
	fmt.Fprintf(&curve, "H%.1f", last)
	d.Curve = curve.String()
	d.Area = fmt.Sprintf("%sV%dH%.1fZ", d.Curve, d.To, first)
	return d
}

// thin keeps the last step of each bit of the plot's width: no more can be seen.
func thin(steps []Step, scale func(int64) float64) []Step {
	const bit = float64(timelineRight-timelineLeft) / timelineSteps
	var kept []Step
	column := -1
	for _, s := range steps {
		if c := int((scale(s.At) - timelineLeft) / bit); c != column {
			kept, column = append(kept, s), c
		} else {
			kept[len(kept)-1].Bytes = s.Bytes
		}
	}
	return kept
}

func (t *timeline) drawMoments(moments []Moment, scale func(int64) float64) {
	shown := moments[:min(len(moments), timelineEvents)]
	t.MoreMoments = len(moments) - len(shown)
	for i, m := range shown {
		t.Moments = append(t.Moments, momentDrawing{Moment: m, Number: i + 1, X: scale(m.At), Label: scale(m.At), When: duration(m.At)})
	}
	right := float64(timelineRight + labelWidth)
	for i := len(shown) - 1; i >= 0; i-- {
		right = min(t.Moments[i].X, right-labelWidth)
		t.Moments[i].Label = right
	}
	left := float64(timelineLeft)
	for i := range t.Moments {
		t.Moments[i].Label = max(t.Moments[i].Label, left)
		left = t.Moments[i].Label + labelWidth
	}
}

func drawLimit(l Limit, span int64, y int, scale func(int64) float64) limitDrawing {
	d := limitDrawing{Name: l.Name, Y: y + 4, X: scale(l.From), Cut: l.From+l.Length > span}
	d.Width = scale(l.From+l.Length) - d.X
	d.Title = fmt.Sprintf("%s: %s from %s on", l.Name, duration(l.Length), duration(l.From))
	return d
}

func duration(nanoseconds int64) string {
	d := time.Duration(nanoseconds)
	switch {
	case d == 0:
		return "0"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func byteCount(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
