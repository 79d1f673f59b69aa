package script

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
	"touchstone/contracts"
)

// A document is a base and operations on its bytes, in order.
type documentPlan struct {
	base       string // reference, report, sink, capabilities, validation, failure, golden, literal
	code       string // of failure; legacy for one without code and args
	args       []pair // of failure, in order
	text       string // of literal; the file of golden
	operations []operation
}

type pair struct{ key, value string }

type operation struct {
	name, value, with string
	number            uint64
}

// engineName is what existing documents call their engine.
const engineName = "pineforge"

var documentOperations = []string{"pad", "size", "drop-lf", "append", "prepend", "truncate", "replace", "value", "args-size"}

func lintDocument(arguments []string) error {
	_, _, err := parseDocument(arguments)
	return err
}

// parseDocument reads: NAME BASE [op…]. The words of a base come before the
// first operation.
func parseDocument(arguments []string) (name string, plan documentPlan, err error) {
	if len(arguments) < 2 || !documentName.MatchString(arguments[0]) {
		return "", plan, fmt.Errorf("want a name and a base")
	}
	name, plan.base = arguments[0], arguments[1]
	rest := arguments[2:]
	switch plan.base {
	case "reference", "capabilities", "validation", "report", "sink":
	case "literal", "golden":
		if len(rest) == 0 {
			return "", plan, fmt.Errorf("%s: no text", plan.base)
		}
		plan.text, err = decode(rest[0])
		rest = rest[1:]
	case "failure":
		if len(rest) == 0 {
			return "", plan, fmt.Errorf("failure: no code")
		}
		plan.code = rest[0]
		rest, err = plan.takeArgs(rest[1:])
	default:
		return "", plan, fmt.Errorf("unknown base %q", plan.base)
	}
	if err != nil {
		return "", plan, err
	}
	plan.operations, err = parseOperations(rest)
	return name, plan, err
}

// documentName may hold dashes; its size is then set with underscores.
var documentName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// sizeVariable is the variable that holds the size of a document.
func sizeVariable(name string) string { return strings.ReplaceAll(name, "-", "_") + "_size" }

// takeArgs takes the key=value words up to the first operation.
func (p *documentPlan) takeArgs(words []string) (rest []string, err error) {
	for i, w := range words {
		key, value, found := strings.Cut(w, "=")
		if !found || slices.Contains(documentOperations, key) {
			return words[i:], nil
		}
		if value, err = decode(value); err != nil {
			return nil, err
		}
		p.args = append(p.args, pair{key, value})
	}
	return nil, nil
}

func parseOperations(words []string) ([]operation, error) {
	var operations []operation
	for _, w := range words {
		o, err := parseOperation(w)
		if err != nil {
			return nil, err
		}
		operations = append(operations, o)
	}
	return operations, nil
}

// parseOperation reads one word: drop-lf, op=N, op="TEXT" or replace="OLD"=>"NEW".
func parseOperation(argument string) (operation, error) {
	name, rest, _ := strings.Cut(argument, "=")
	o := operation{name: name}
	var err error
	if name == "replace" {
		old, replacement, found := cutOutside(rest, "=>")
		if !found {
			return o, fmt.Errorf("replace: want replace=\"OLD\"=>\"NEW\"")
		}
		if o.with, err = decode(replacement); err != nil {
			return o, err
		}
		rest = old
	}
	if o.value, err = decode(rest); err != nil {
		return o, err
	}
	switch name {
	case "pad", "size", "truncate", "args-size":
		o.number, err = number(o.value)
	case "replace", "append", "prepend", "value":
		if o.value == "" {
			err = fmt.Errorf("%s: no text", name)
		}
	case "drop-lf":
	default:
		err = fmt.Errorf("unknown operation %q", name)
	}
	return o, err
}

// document builds the bytes and sets NAME_size.
func (s *session) document(arguments []string) error {
	name, plan, err := parseDocument(arguments)
	if err != nil {
		return err
	}
	content, err := s.base(plan)
	if err != nil {
		return fmt.Errorf("document %s: %w", name, err)
	}
	for _, o := range plan.operations {
		if o, err = s.place(o); err != nil {
			return err
		}
		if content, err = o.apply(content); err != nil {
			return fmt.Errorf("document %s: %s: %w", name, o.name, err)
		}
	}
	s.documents[name] = content
	s.setenv(sizeVariable(name), strconv.Itoa(len(content)))
	return nil
}

// place turns a value into the replacement that puts it where the launcher file
// says that any value may stand.
//
// Rules: C-30, C-84.
func (s *session) place(o operation) (operation, error) {
	if o.name != "value" {
		return o, nil
	}
	hole := s.file.Shape[string(scenario.Full)].Hole
	if len(hole) != 2 {
		return o, s.lacks([]string{"no shape.full.hole"})
	}
	return operation{name: "replace", value: hole[0], with: strings.Replace(hole[1], "{value}", o.value, 1)}, nil
}

func (s *session) base(plan documentPlan) ([]byte, error) {
	switch plan.base {
	case "reference":
		return s.referenceDocument(s.next)
	case "capabilities", "validation":
		request := s.next
		request.Operation = scenario.Operation(plan.base)
		return s.referenceDocument(request)
	case "report", "sink":
		if len(s.current) != 1 {
			return nil, fmt.Errorf("%d attempts in the last launch, want one with a %s", len(s.current), plan.base)
		}
		return bytes.Clone(s.current[0].File(evidence.ChannelFile(plan.base))), nil
	case "golden":
		return s.golden(plan.text)
	case "failure":
		return failureDocument(plan)
	}
	return []byte(plan.text), nil
}

// failureDocument is an existing-shape failure line: compact, one LF.
//
// Rules: R04, C-31.
func failureDocument(plan documentPlan) ([]byte, error) {
	if plan.code == "legacy" {
		return []byte(`{"engine":"` + engineName + `","error":"the run did not complete"}` + "\n"), nil
	}
	row := contracts.LoadCatalog().Codes[plan.code] // an unknown code is a document too
	args := &bytes.Buffer{}
	for i, p := range plan.args {
		if i > 0 {
			args.WriteByte(',')
		}
		value, err := argument(row.Args[p.key].Kind, p.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(args, "%q:%s", p.key, value)
	}
	return fmt.Appendf(nil, `{"engine":"%s","error":"declared by a fixture","code":%q,"args":{%s}}`+"\n", engineName, plan.code, args), nil
}

// argument spells a value by the kind that the catalog declares: numbers plain,
// everything else as text. null stands for itself.
func argument(kind, value string) ([]byte, error) {
	if value == "null" || kind == "integer" || kind == "number" {
		return []byte(value), nil
	}
	text, err := jsontext.AppendQuote(nil, value)
	if err != nil {
		return nil, fmt.Errorf("arg value %q: %w", value, err)
	}
	return text, nil
}

func (o operation) apply(content []byte) ([]byte, error) {
	switch o.name {
	case "pad":
		return spaces(content, int(o.number))
	case "size":
		if uint64(len(content)) > o.number {
			return nil, fmt.Errorf("%d bytes already, want %d", len(content), o.number)
		}
		return spaces(content, int(o.number)-len(content))
	case "truncate":
		if uint64(len(content)) < o.number {
			return nil, fmt.Errorf("only %d bytes, want %d", len(content), o.number)
		}
		return content[:o.number], nil
	case "drop-lf":
		shorter, found := bytes.CutSuffix(content, []byte("\n"))
		if !found {
			return nil, fmt.Errorf("no final LF")
		}
		return shorter, nil
	case "append":
		return slices.Concat(content, []byte(o.value)), nil
	case "prepend":
		return slices.Concat([]byte(o.value), content), nil
	case "replace":
		if !bytes.Contains(content, []byte(o.value)) {
			return nil, fmt.Errorf("%q does not occur", o.value)
		}
		return bytes.Replace(content, []byte(o.value), []byte(o.with), 1), nil
	case "args-size":
		return padArgs(content, int(o.number))
	}
	return nil, fmt.Errorf("unknown operation")
}

// spaces puts n blanks after the first {, where they mean nothing.
func spaces(content []byte, n int) ([]byte, error) {
	if n > 0 && (len(content) == 0 || content[0] != '{') {
		return nil, fmt.Errorf("the document does not start with {")
	}
	if n == 0 {
		return content, nil
	}
	return slices.Concat(content[:1], bytes.Repeat([]byte(" "), n), content[1:]), nil
}

// padArgs lengthens the last text argument of a failure document until its
// compact args are exactly n bytes.
//
// Rules: R11, C-32.
func padArgs(content []byte, n int) ([]byte, error) {
	const member = `"args":`
	start := bytes.LastIndex(content, []byte(member))
	end := bytes.LastIndexByte(content, '}')
	if start < 0 || end < 0 {
		return nil, fmt.Errorf("no args")
	}
	args := content[start+len(member) : end]
	missing := n - len(args)
	if missing < 0 || !bytes.HasSuffix(args, []byte(`"}`)) {
		return nil, fmt.Errorf("%d bytes of args %s: want %d with a text argument last", len(args), args, n)
	}
	at := end - len(`"}`)
	return slices.Concat(content[:at], bytes.Repeat([]byte("x"), missing), content[at:]), nil
}
