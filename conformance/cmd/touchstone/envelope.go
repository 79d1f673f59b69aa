package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/conformance/certify"
)

// envelope is what --json prints: one object on stdout, every key always there.
type envelope struct {
	Status      string   `json:"status"` // ok, error
	APIVersion  string   `json:"apiVersion"`
	Type        string   `json:"type"`
	Data        any      `json:"data"`
	Error       *string  `json:"error"`
	Code        *string  `json:"code"` // usage, internal
	ExitCode    int      `json:"exitCode"`
	Finding     *string  `json:"finding"` // the first thing that made the exit what it is
	Suggestions []string `json:"suggestions"`
}

const apiVersion = "touchstone/v1"

// answer is what a command that can print JSON has to say.
type answer struct {
	kind        string
	data        any
	status      int
	finding     string
	suggestions []string
}

// write prints the envelope of an answer, or of an error, and gives the error
// that the program ends with. An answer that cannot be printed is internal.
func (a answer) write(w io.Writer, err error) error {
	e := envelope{Status: "ok", APIVersion: apiVersion, Type: a.kind, Data: a.data, ExitCode: a.status, Suggestions: append([]string{}, a.suggestions...)}
	if a.finding != "" {
		e.Finding = &a.finding
	}
	var wrong *certify.UsageError
	if err != nil {
		text, code := err.Error(), "internal"
		e.Status, e.Data, e.ExitCode = "error", nil, certify.Internal
		if errors.As(err, &wrong) {
			code, e.ExitCode = "usage", certify.Usage
		}
		e.Error, e.Code = &text, &code
	}
	content, encodeErr := json.Marshal(e, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if encodeErr != nil {
		return errors.Join(err, fmt.Errorf("encode answer: %w", encodeErr))
	}
	if _, writeErr := w.Write(append(content, '\n')); writeErr != nil {
		return errors.Join(err, fmt.Errorf("write answer: %w", writeErr))
	}
	if err != nil {
		return err
	}
	return exit(a.status)
}

func exit(status int) error {
	if status == 0 {
		return nil
	}
	return statusError(status)
}
