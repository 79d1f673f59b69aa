package main

import (
	"cmp"
	"fmt"
	"slices"

	"touchstone/reports"
)

// spent is where the time of some scripts went, in seconds.
type spent struct {
	name                string
	wall, attempts, cpu float64
}

// row shows the launcher's share of the processor, what its attempts waited
// beyond that, and judging. Attempts of several processors may wait less than
// nothing: that is shown as none.
func (s spent) row() []string {
	number := func(n float64) string { return fmt.Sprintf("%.2f", max(n, 0)) }
	return []string{s.name, number(s.wall), number(s.cpu), number(s.attempts - s.cpu), number(s.wall - s.attempts)}
}

func (s *spent) add(script reports.Script) {
	s.wall, s.attempts, s.cpu = s.wall+script.Seconds, s.attempts+script.AttemptSeconds, s.cpu+script.CPUSeconds
}

// slowest is how many scripts are shown.
const slowest = 20

// printTiming prints where a run's time went: all, each cell, and the slowest
// scripts.
func printTiming(p *program, r reports.Report) error {
	rows := [][]string{{"seconds", "wall", "launcher", "waiting", "judging"}}
	all, cells, scripts := spent{name: "all scripts"}, []spent{}, []spent{}
	for _, s := range r.Scripts {
		i := slices.IndexFunc(cells, func(c spent) bool { return c.name == s.Cell })
		if i < 0 {
			i = len(cells)
			cells = append(cells, spent{name: s.Cell})
		}
		one := spent{name: s.Cell + " " + s.Script}
		one.add(s)
		all.add(s)
		cells[i].add(s)
		scripts = append(scripts, one)
	}
	slower := func(a, b spent) int { return cmp.Compare(b.wall, a.wall) }
	slices.SortStableFunc(cells, slower)
	slices.SortStableFunc(scripts, slower)
	rows = append(rows, []string{"building fixtures", fmt.Sprintf("%.2f", r.Building), "", "", ""}, all.row())
	for _, s := range append(cells, scripts[:min(len(scripts), slowest)]...) {
		rows = append(rows, s.row())
	}
	return p.table(rows)
}
