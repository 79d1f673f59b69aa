package jsonscan

import "fmt"

// Rule is the rule that a document broke; a closed list.
type Rule string

// The rules. Rules: R04, C-29, C-62.
const (
	RuleStart      Rule = "the first byte is not {"
	RuleEnd        Rule = "the object is not followed by exactly one LF"
	RuleIncomplete Rule = "the document ends early"
	RuleStructure  Rule = "a byte that no JSON value has here"
	RuleNumber     Rule = "not a JSON number"
	RuleLiteral    Rule = "neither true, false nor null"
	RuleControl    Rule = "a raw control character in a string"
	RuleEscape     Rule = "not a JSON escape"
	RuleSurrogate  Rule = "an escaped surrogate without its partner"
	RuleUTF8       Rule = "not UTF-8"
	RuleDuplicate  Rule = "a name that its object already has"
	RuleDepth      Rule = "more open containers than the limit"
	RuleLiveKeys   Rule = "more names in open objects than the limit"
	RuleFinished   Rule = "a write after the end"
)

// Error says which rule a document broke, and where: Offset is in bytes from
// its start, 0 for the first byte. For a name or an escape it is the first byte
// after it, for bad UTF-8 the first byte of the bad sequence, for a document
// that ends early its length.
type Error struct {
	Offset int64
	Rule   Rule
}

func (e *Error) Error() string {
	return fmt.Sprintf("scan candidate: byte %d: %s", e.Offset, e.Rule)
}
