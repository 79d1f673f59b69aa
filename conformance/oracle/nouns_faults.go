package oracle

import (
	"fmt"
	"strconv"
	"strings"
)

// parseFaults reads: N fired | RULE=N… | closed-once.
func parseFaults(words []string) (test, error) {
	if len(words) == 1 && words[0] == "closed-once" {
		return each(closedOnce)
	}
	if len(words) == 2 && words[1] == "fired" {
		wanted, err := strconv.Atoi(words[0])
		if err != nil || wanted < 1 {
			return test{}, fmt.Errorf("%q: want a number from 1", words[0])
		}
		return each(func(v *view, w *wants) { v.fired(wanted, w) })
	}
	conditions, err := parseConditions(words)
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		i := readInjection(v.attempt)
		for _, c := range conditions {
			c.number(i.acted(c.member), w)
		}
	})
}

// fired: so many rules there are, and each did as it was asked.
func (v *view) fired(wanted int, w *wants) {
	fired := 0
	if final := readInjection(v.attempt).final; final != nil {
		for _, t := range final.Rules {
			if t.AsAsked && t.Fired > 0 && !strings.HasPrefix(t.ID, Watch) {
				fired++
			}
		}
	}
	w.that(fired == wanted, fmt.Sprintf("%d rules fired as asked", fired), fmt.Sprintf("%d", wanted))
}

// closedOnce: after a close that was made to fail, its process closes the
// number only if it has opened something there.
func closedOnce(v *view, w *wants) {
	type closed struct{ pid, number int }
	failed := map[closed]bool{}
	for _, d := range readInjection(v.attempt).decisions {
		if d.Call != "close" || d.FD == nil {
			continue
		}
		at := closed{d.PID, d.FD.Number}
		if d.Action != "mark" {
			failed[at] = true
			continue
		}
		w.that(!failed[at] || d.FD.Inode != nil, fmt.Sprintf("process %d closed descriptor %d again", at.pid, at.number), "one close for each descriptor")
	}
	if len(failed) == 0 {
		w.undecided(Broken, "no close was made to fail")
	}
}
