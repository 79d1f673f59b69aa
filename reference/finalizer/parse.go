package finalizer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/reference/sinkwire"
)

// MaxReceiptBytes bounds a receipt, LF included; whoever reads one stops there.
const MaxReceiptBytes = 4096

// ParseReceipt reads a receipt as C-76 spells it, members in any order: one
// JSON object in strict UTF-8, LF, nothing else. It refuses missing, further
// and repeated members and a receipt that contradicts itself. It is for the
// supervisor, who must not take a finalizer's word for more than it says.
func ParseReceipt(line []byte) (Receipt, error) {
	r, err := parseReceipt(line)
	if err != nil {
		return Receipt{}, fmt.Errorf("read receipt: %w", err)
	}
	return r, nil
}

func parseReceipt(line []byte) (Receipt, error) {
	if len(line) > MaxReceiptBytes || !bytes.HasPrefix(line, []byte("{")) || !bytes.HasSuffix(line, []byte("}\n")) {
		return Receipt{}, errors.New("not one object and LF within 4096 bytes")
	}
	members, err := readMembers(line, "receipt", "version", "finalizer_version", "complete", "reason", "sink_bytes", "cap_bytes",
		"counts", "sha256", "field")
	if err != nil {
		return Receipt{}, err
	}
	var r Receipt
	var kind string
	var version int64
	var complete *bool // what null leaves nil must not be null
	var reason, field *string
	var sinkBytes *int64
	err = errors.Join(members.read("receipt", &kind), members.read("version", &version),
		members.read("finalizer_version", &r.FinalizerVersion), members.read("complete", &complete),
		members.read("reason", &reason), members.read("sink_bytes", &sinkBytes), members.read("cap_bytes", &r.CapBytes),
		members.read("field", &field))
	switch {
	case err != nil:
		return Receipt{}, err
	case kind != "touchstone-finalizer" || version != 1 || r.FinalizerVersion == "":
		return Receipt{}, errors.New("not version 1 of it")
	case sinkBytes == nil || !isSize(*sinkBytes) || r.CapBytes != nil && !isSize(*r.CapBytes):
		return Receipt{}, errors.New("sink_bytes or cap_bytes is no size")
	case complete == nil || *complete != (reason == nil) || reason != nil && !slices.Contains(reasons, *reason):
		return Receipt{}, errors.New("reason is none of its words, or contradicts complete")
	case (field != nil) != (reason != nil && *reason == reasonCanonical) || field != nil && !strings.HasPrefix(*field, "E."):
		return Receipt{}, errors.New("field contradicts reason")
	}
	r.Complete, r.SinkBytes = *complete, *sinkBytes
	if reason != nil {
		r.Reason = *reason
	}
	if field != nil {
		r.Field = *field
	}
	return r, r.readVerified(members)
}

var reasons = []string{reasonUsage, reasonGrammar, reasonCanonical, reasonMismatch, reasonIO, reasonIncomplete, reasonLate, reasonExhausted}

func isSize(n int64) bool { return n >= 0 && n <= sinkwire.MaxInteger }

// readVerified reads counts and digest, which a complete receipt has and no
// other.
func (r *Receipt) readVerified(all members) error {
	if !r.Complete {
		if string(all["counts"]) != "null" || string(all["sha256"]) != "null" {
			return errors.New("counts or sha256 of an incomplete one")
		}
		return nil
	}
	counts, err := readMembers(all["counts"], strings.Split(sinkwire.Tags, "")...)
	if err != nil {
		return fmt.Errorf("counts: %w", err)
	}
	for i := range r.Counts {
		var n *int64
		if err := counts.read(sinkwire.Tags[i:i+1], &n); err != nil {
			return fmt.Errorf("counts: %w", err)
		}
		if n == nil || !isSize(*n) {
			return fmt.Errorf("counts: %c is no count", sinkwire.Tags[i])
		}
		r.Counts[i] = *n
	}
	var digest string
	if err := all.read("sha256", &digest); err != nil {
		return err
	}
	n, err := hex.Decode(r.SHA256[:], []byte(digest)[:min(len(digest), 2*len(r.SHA256))])
	if err != nil || n != len(r.SHA256) || digest != hex.EncodeToString(r.SHA256[:]) {
		return errors.New("sha256 is not 64 lower-case hexadecimal digits")
	}
	return nil
}

// members are the members of an object, undecoded.
type members map[string]jsontext.Value

// readMembers reads an object with exactly these members.
func readMembers(text []byte, names ...string) (members, error) {
	var all members
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, found := all[name]; !found {
			return nil, fmt.Errorf("no member %s", name)
		}
	}
	if len(all) != len(names) {
		return nil, errors.New("more than its members")
	}
	return all, nil
}

func (all members) read(name string, to any) error {
	if err := json.Unmarshal(all[name], to); err != nil {
		return fmt.Errorf("member %s: %w", name, err)
	}
	return nil
}
