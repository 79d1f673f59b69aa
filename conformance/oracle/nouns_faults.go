package oracle

import (
	"fmt"
	"strconv"

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
			if t.AsAsked && t.Fired > 0 {
				fired++
			}
		}
	}
	w.that(fired == wanted, fmt.Sprintf("%d rules fired as asked", fired), fmt.Sprintf("%d", wanted))
}

// closedOnce: no close that was marked found nothing to close, as a second one
// of the same descriptor would. At least one close must have been made to fail.
func closedOnce(v *view, w *wants) {
	const nothing = -9 // EBADF
	failed := false
	for _, d := range readInjection(v.attempt).decisions {
		if d.Call != "close" {
			continue
		}
		failed = failed || d.Action != "mark"
		again := d.Action == "mark" && d.Returned != nil && *d.Returned == nothing
		w.that(!again, fmt.Sprintf("process %d closed %v again", d.PID, d.Args[:1]), "one close for each descriptor")
	}
	if !failed {
		w.undecided(Broken, "no close was made to fail")
	}
}
