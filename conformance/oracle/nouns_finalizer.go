package oracle

import (
	"bytes"
	"fmt"
	"time"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// finalized is what the finalizer's stand-in saw, or how far a finalizer by
// itself has read. A stand-in that was never started decides nothing.
func (v *view) finalized(w *wants) (evidence.Finalized, bool) {
	f, found := evidence.First[evidence.Finalized](v.attempt)
	if !found {
		w.undecided(Broken, "no stand-in for the finalizer was started")
	}
	return f.Body, found
}

// parseFinalizer reads given=N: the bytes of its input.
//
// Rules: R08.
func parseFinalizer(words []string) (test, error) {
	conditions, err := parseConditions(words, "given")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		f, found := v.finalized(w)
		for _, c := range conditions {
			if found {
				c.number(f.Given, w)
			}
		}
	})
}

// parseReceipt reads none, equals DOC, or members of the one receipt: a JSON
// object and LF. Its bytes are those that the finalizer wrote.
//
// Rules: R08, R26.
func parseReceipt(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	switch words[0] {
	case "none":
		return receiptTest(words, 1, func(v *view, w *wants, receipt []byte) {
			w.that(len(receipt) == 0, fmt.Sprintf("receipt %q", excerpt(receipt, 0)), "none")
		})
	case "equals":
		return receiptTest(words, 2, func(v *view, w *wants, receipt []byte) { v.equalsDocument(w, "receipt", receipt, words[1]) })
	}
	conditions, err := parseConditions(words)
	if err != nil {
		return test{}, err
	}
	return receiptTest(words, len(words), func(_ *view, w *wants, receipt []byte) {
		root, err := parseDocument(bytes.TrimSuffix(receipt, []byte("\n")))
		if err != nil || !bytes.HasSuffix(receipt, []byte("\n")) {
			w.that(false, fmt.Sprintf("receipt %q", excerpt(receipt, 0)), "one JSON object and LF")
			return
		}
		for _, c := range conditions {
			c.judge(root.at(c.member), w)
		}
	})
}

func receiptTest(words []string, n int, judge func(*view, *wants, []byte)) (test, error) {
	if err := exactly(words, n); err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		if _, found := v.finalized(w); found {
			judge(v, w, v.attempt.File(evidence.ReceiptFile))
		}
	})
}

func (v *view) equalsDocument(w *wants, what string, content []byte, name string) {
	document, found := v.facts.Documents[name]
	if !found {
		w.undecided(Broken, fmt.Sprintf("no document %q", name))
		return
	}
	w.that(bytes.Equal(content, document), differs(what, content, document), fmt.Sprintf("the %d bytes of %s", len(document), name))
}

func differs(what string, content, document []byte) string {
	at := 0
	for at < len(content) && at < len(document) && content[at] == document[at] {
		at++
	}
	return fmt.Sprintf("%s of %d bytes, at %d %q", what, len(content), at, excerpt(content, at))
}

// parseOutput reads empty, equals DOC or first N DOC: what a finalizer by itself
// gave out, on its standard output or as its target.
//
// Rules: R26.
func parseOutput(words []string) (test, error) {
	if err := atLeast(words, 1); err != nil {
		return test{}, err
	}
	var first condition
	var judge func(*view, *wants, []byte)
	switch words[0] {
	case "empty":
		judge = func(_ *view, w *wants, output []byte) {
			w.that(len(output) == 0, fmt.Sprintf("%d bytes", len(output)), "none")
		}
	case "equals":
		judge = func(v *view, w *wants, output []byte) { v.equalsDocument(w, "output", output, words[1]) }
	case "first":
		var err error
		if first, err = parseCondition("first=<=" + words[min(1, len(words)-1)]); err != nil {
			return test{}, err
		}
		judge = func(v *view, w *wants, output []byte) {
			first.number(uint64(len(output)), w)
			document := v.facts.Documents[words[2]]
			w.that(bytes.HasPrefix(document, output), differs("output", output, document), "the first bytes of "+words[2])
		}
	default:
		return test{}, fmt.Errorf("unknown %q", words[0])
	}
	if err := exactly(words, map[string]int{"empty": 1, "equals": 2, "first": 3}[words[0]]); err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		switch v.attempt.Scenario.Alone.Mode {
		case "":
			w.undecided(Broken, "no run of the finalizer by itself")
		case scenario.AloneStream:
			judge(v, w, v.attempt.Stdout())
		default:
			judge(v, w, v.attempt.File(evidence.ArtifactFile))
		}
	})
}

// atOnce is less than any grace that a supervisor could leave a producer in
// front of a handoff that it keeps open.
const atOnce = 250 * time.Millisecond

// parseHandoff reads ended: the producer was not left waiting for its snapshot.
//
// Rules: R05.
func parseHandoff(words []string) (test, error) {
	if len(words) != 1 || words[0] != "ended" {
		return test{}, fmt.Errorf("want ended")
	}
	return each(func(v *view, w *wants) {
		if bytes.Contains(v.diagnostics(), []byte("handoff ended\n")) {
			return
		}
		begun, waited := evidence.First[evidence.Rendezvous](v.attempt)
		exit, exited := v.attempt.Exit()
		late, _ := evidence.First[evidence.Lateness](v.attempt)
		after := time.Duration(exit.Mono - begun.Mono)
		w.that(waited && exited && after < atOnce+time.Duration(late.Body.MaxNS), fmt.Sprintf("the producer waited, and the run was over after %v", after), "an end of the handoff, or of the run at once")
	})
}

// parseStorage reads conditions on what the supervisor's side had in storage at
// each look: logical and allocated bytes.
//
// Rules: R09.
func parseStorage(words []string) (test, error) {
	conditions, err := parseConditions(words, "logical", "allocated")
	if err != nil {
		return test{}, err
	}
	return each(func(v *view, w *wants) {
		looks := evidence.All[evidence.Storage](v.attempt)
		w.that(len(looks) > 0, "the storage was never looked at", "a look")
		for _, look := range looks {
			for _, c := range conditions {
				c.number(map[string]uint64{"logical": look.Body.Logical, "allocated": look.Body.Allocated}[c.member], w)
			}
		}
	})
}
