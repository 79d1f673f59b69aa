package ledger

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

// Builder makes a ledger record by record, in the order of its methods. Texts
// are made to fit the schema: ids in lower case, no text empty.
type Builder struct {
	run, at, by                   string
	records                       []Record
	objective, candidate, attempt Pointer
	gates                         []Pointer
}

// Start names the run, its time (RFC 3339) and who writes.
func (b *Builder) Start(run, at, by string) { b.run, b.at, b.by = identifier(run), at, text(by) }

// Objective is what the run is for.
type Objective struct {
	Repository, Owner, Purpose, Scope string
	Gates                             []string
}

// Objective is the first record.
func (b *Builder) Objective(o Objective) {
	gates := []map[string]any{}
	for _, name := range o.Gates {
		gates = append(gates, map[string]any{"id": identifier(name), "kind": "integration", "required": true})
	}
	if len(gates) == 0 {
		gates = append(gates, map[string]any{"id": "nothing-planned", "kind": "integration", "required": true})
	}
	b.objective = b.add("objective", "objective", map[string]any{
		"repository": identifier(o.Repository), "owner": text(o.Owner), "purpose": text(o.Purpose), "scope": text(o.Scope), "audience": "team",
		"acceptance": []string{"every planned assertion passed, or failed as declared; nothing left behind"}, "gates": gates,
		"dependencies": []string{}, "allowedEffects": effects, "maxAttempts": 1, "stoppingRule": "one run of the selection; nothing is repeated"})
}

var effects = []string{"read-workspace", "write-workspace", "execute-local"}

// Candidate is what is certified. Commit is that of the suite's checkout; one
// that is not known, or not clean, is the null commit.
type Candidate struct{ Repository, Commit, Artifact, Evidence, Owner string }

const nullCommit = "0000000000000000000000000000000000000000"

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Candidate follows the objective.
func (b *Builder) Candidate(c Candidate) {
	if !commitForm.MatchString(c.Commit) {
		c.Commit = nullCommit
	}
	b.candidate = b.add("candidate", "candidate", map[string]any{
		"objective": b.objective, "repository": identifier(c.Repository), "commit": c.Commit, "tree": nullCommit, "artifactDigest": "sha256:" + c.Artifact,
		"writer": map[string]any{"owner": text(c.Owner), "reservation": b.run, "evidenceDigest": "sha256:" + c.Evidence}})
}

// Attempt says what was done with the candidate.
func (b *Builder) Attempt(operation, request string) {
	b.attempt = b.add("attempt", "attempt", map[string]any{
		"candidate": b.candidate, "operation": identifier(operation), "requestDigest": "sha256:" + request, "effects": effects})
}

// Progress says how the attempt ended: completed, failed or uncertain.
func (b *Builder) Progress(state, evidence, reason string) {
	b.add("progress", "progress", map[string]any{"attempt": b.attempt, "state": state, "evidenceDigest": "sha256:" + evidence, "reason": text(reason)})
}

// Gate is what one test says: passed, failed or unavailable.
type Gate struct{ Name, Status, Evidence, Locator, Verifier string }

// Gate follows the progress.
func (b *Builder) Gate(g Gate) {
	name := identifier(g.Name)
	b.gates = append(b.gates, b.add("gate-"+name, "gate", map[string]any{
		"candidate": b.candidate, "gate": name, "status": g.Status, "attempt": b.attempt,
		"evidence": map[string]any{"digest": "sha256:" + g.Evidence, "locator": text(g.Locator), "verifier": text(g.Verifier)}}))
}

// Decision is the last record.
func (b *Builder) Decision(accepted bool, reason string) {
	disposition := "changes-requested"
	if accepted {
		disposition = "accepted"
	}
	b.add("decision", "decision", map[string]any{"candidate": b.candidate, "disposition": disposition, "reason": text(reason), "gates": append([]Pointer{}, b.gates...)})
}

func (b *Builder) add(id, kind string, data map[string]any) Pointer {
	content, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		panic("bug: encode " + kind + ": " + err.Error())
	}
	r := Record{Schema: recordSchema, ID: identifier(id), Run: b.run, At: b.at, By: b.by, Kind: kind, Data: content}
	b.records = append(b.records, r)
	digest, err := r.digest()
	if err != nil {
		panic("bug: " + err.Error())
	}
	return Pointer{ID: r.ID, Digest: digest}
}

// Ledger is what was built, with its head.
func (b *Builder) Ledger() Ledger {
	sum, err := head(b.records)
	if err != nil {
		panic("bug: " + err.Error())
	}
	return Ledger{Schema: ledgerSchema, Profile: "build", Records: b.records, Head: sum}
}

var notIdentifier = regexp.MustCompile(`[^a-z0-9-]+`)

// identifier is a name as the schema spells ids.
func identifier(name string) string {
	id := strings.Trim(notIdentifier.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if id == "" || id[0] < 'a' {
		id = "x-" + id
	}
	return id[:min(len(id), 64)]
}

// text is never empty, at most 8192 characters, and valid UTF-8.
func text(s string) string {
	runes := []rune(strings.ToValidUTF8(s, "?"))
	if len(runes) == 0 {
		return "unknown"
	}
	return string(runes[:min(len(runes), 8192)])
}
