package launcherfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"
)

// Error is why a launcher file is refused: one line that names the file, the
// key and what to do.
type Error struct {
	Path    string
	Line    int // 0 when not known
	Key     string
	Problem string
	Fix     string
}

func (e *Error) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	text := "launcher file " + where + ": "
	if e.Key != "" {
		text += e.Key + ": "
	}
	text += e.Problem
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return strings.ReplaceAll(text, "\n", " ")
}

// Read reads and checks a launcher file. Every refusal is an *Error.
func Read(path string) (File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		cause := err
		var at *os.PathError
		if errors.As(err, &at) {
			cause = at.Err
		}
		return File{}, &Error{Path: path, Problem: "read: " + cause.Error(), Fix: "name a readable file or a known launcher"}
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return File{}, &Error{Path: path, Problem: "find its folder: " + err.Error()}
	}
	return Parse(path, folder, text)
}

// Parse checks a launcher file's text. path is only named in errors; folder
// is what {here} stands for.
func Parse(path, folder string, text []byte) (File, error) {
	var f File
	decoder := toml.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return File{}, syntaxError(path, err)
	}
	f.Folder = folder
	if problem := f.check(); problem != nil {
		problem.Path = path
		return File{}, problem
	}
	return f, nil
}

func syntaxError(path string, err error) *Error {
	var unknown *toml.StrictMissingError
	var broken *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		first := unknown.Errors[0]
		line, _ := first.Position()
		return &Error{Path: path, Line: line, Key: strings.Join(first.Key(), "."), Problem: "unknown key",
			Fix: "remove it or correct its spelling or table"}
	case errors.As(err, &broken):
		line, _ := broken.Position()
		return &Error{Path: path, Line: line, Key: strings.Join(broken.Key(), "."),
			Problem: inWords(broken.Error()), Fix: fixOf(broken.Error(), "correct the line")}
	}
	return &Error{Path: path, Problem: strings.TrimPrefix(err.Error(), "toml: "), Fix: fixOf(err.Error(), "correct it")}
}

// fixOf is for a decoder's message; otherwise where it is not of a duplicate.
func fixOf(text, otherwise string) string {
	if strings.Contains(text, " already ") {
		return "keep one: each key stands once"
	}
	return otherwise
}

// wrongType is how the decoder says that a value is of another type.
var wrongType = regexp.MustCompile(`^cannot decode TOML (\w+) into (?:struct field \S+ of type|a Go value of type) (.+)$`)

// wrongNumber is how it says that a number is out of the type's range.
var wrongNumber = regexp.MustCompile(`^(?:negative )?integer value (-?[0-9]+) cannot be stored in uint64$`)

// inWords is a decoder's message without the names of this program.
func inWords(text string) string {
	text = strings.TrimPrefix(text, "toml: ")
	if number := wrongNumber.FindStringSubmatch(text); number != nil {
		return fmt.Sprintf("got %s, want a whole number that is not negative", number[1])
	}
	found := wrongType.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	wanted := map[string]string{"string": "a text", "[]string": "a list of texts", "int": "a whole number", "int64": "a whole number",
		"uint64": "a whole number that is not negative", "map[string]string": "a table of texts", "map[string][]string": "a table of lists of texts"}[found[2]]
	if wanted == "" {
		wanted = "a table"
	}
	return fmt.Sprintf("got a TOML %s, want %s", found[1], wanted)
}

// Encode is the checked file as JSON, for the attempt folder.
func Encode(f File) ([]byte, error) {
	text, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode launcher file: %w", err)
	}
	return append(text, '\n'), nil
}

// Decode reads what Encode wrote and checks it again.
func Decode(text []byte) (File, error) {
	var f File
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return File{}, fmt.Errorf("decode launcher file: %w", err)
	}
	if problem := f.check(); problem != nil {
		problem.Path = "(recorded)"
		return File{}, problem
	}
	return f, nil
}
