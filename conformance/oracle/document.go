package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// document is what the report endpoint carried, read as one JSON document.
type document struct {
	root    *node
	problem string // why it is not one document; empty when it is

	success, failure []string // members by which it is known
}

// maxDocument bounds the report that is read: twice the default allowance.
const maxDocument = 128 << 20

// readDocument accepts one JSON object that starts at the first byte and ends
// with its own brace and exactly one LF, without duplicate members.
//
// Rules: R04, C-29.
func readDocument(content []byte) document {
	if len(content) == 0 {
		return document{problem: "empty"}
	}
	if len(content) > maxDocument {
		return document{problem: fmt.Sprintf("more than %d bytes", maxDocument)}
	}
	if content[0] != '{' {
		return document{problem: "it does not start with {"}
	}
	if !bytes.HasSuffix(content, []byte("}\n")) {
		return document{problem: "it does not end with } and one LF"}
	}
	root, err := parseDocument(content)
	if err != nil {
		return document{problem: err.Error()}
	}
	if path := duplicateMember(root); path != "" {
		return document{problem: "duplicate member " + path}
	}
	return document{root: root}
}

// isFailure tells an existing-shape failure document from a success document:
// its error is text.
//
// Rules: R04, C-30, C-31.
func (d document) isFailure() bool {
	return d.problem == "" && d.root.at("error").isString() && d.has(d.failure)
}

// isSuccess: every member that the requested operation's document has, and no
// error.
func (d document) isSuccess() bool {
	return d.problem == "" && d.root.at("error") == nil && d.root.at("engine").isString() && d.has(d.success)
}

func (d document) has(members []string) bool {
	return !slices.ContainsFunc(members, func(name string) bool { return d.root.at(name) == nil })
}

func duplicateMember(root *node) string {
	found := ""
	root.walk("", func(path string, value *node) {
		seen := map[string]bool{}
		for _, m := range value.members {
			if seen[m.name] && found == "" {
				found = join(path, m.name)
			}
			seen[m.name] = true
		}
	})
	return found
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// digestMatches compares a record's digest with bytes. For zero bytes null and
// the digest of nothing are both right.
//
// Rules: C-38, C-39.
func digestMatches(recorded *node, content []byte) bool {
	if len(content) == 0 && recorded.isNull() {
		return true
	}
	return recorded.is(digest(content))
}
