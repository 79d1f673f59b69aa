package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"touchstone/reports"
)

// terminal is what an output can show: colour, and how many columns; 0 columns
// is no bound.
type terminal struct {
	colour bool
	width  int
}

// terminalOf asks the output and the environment. Colour needs a terminal and
// no NO_COLOR; COLUMNS outweighs the terminal's own width.
func terminalOf(w io.Writer, environment func(string) string) terminal {
	var t terminal
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.colour = environment("NO_COLOR") == "" && environment("TERM") != "dumb"
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			t.width = int(size.Col)
		}
	}
	if columns, err := strconv.Atoi(environment("COLUMNS")); err == nil && columns > 0 {
		t.width = columns
	}
	return t
}

// The colours of the words of a verdict.
const (
	red       = "31"
	green     = "32"
	yellow    = "33"
	plainText = "0"
)

func colourOf(word string) string {
	switch word {
	case reports.Pass, "conforming", "ok":
		return green
	case reports.Fail, reports.Broken, reports.UnexpectedPass, reports.WrongFail, "not conforming", "leak", "missing", "no":
		return red
	case reports.NotRun, reports.ExpectedFail, "partial", "undecided", "stale declarations", "absent":
		return yellow
	}
	return plainText
}

// paint colours a verdict, padded or not.
func (t terminal) paint(text string) string {
	colour := colourOf(strings.TrimSpace(text))
	if !t.colour || colour == plainText {
		return text
	}
	return "\x1b[1;" + colour + "m" + text + "\x1b[0m"
}

// narrowest is the least that a column is cut to.
const narrowest = 8

// grid prints rows as aligned columns. Where they are wider than the terminal,
// the widest columns are cut, never the last row's first word.
func (t terminal) grid(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	t.fit(widths)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			text := fitted(cell, widths[i])
			if i < len(row)-1 {
				text += "  "
			}
			line.WriteString(t.paint(text))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// fit narrows the widest column until the sum fits, or all are narrowest.
func (t terminal) fit(widths []int) {
	if t.width == 0 || len(widths) == 0 {
		return
	}
	for sum := 2*(len(widths)-1) + total(widths); sum > t.width; sum-- {
		i := slices.Index(widths, slices.Max(widths))
		if widths[i] <= narrowest {
			return
		}
		widths[i]--
	}
}

func total(widths []int) int {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	return sum
}

// fitted is a cell cut or padded to a width.
func fitted(cell string, width int) string {
	runes := []rune(cell)
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return cell + strings.Repeat(" ", width-len(runes))
}
