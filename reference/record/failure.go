package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"touchstone/reference/outcome"
)

// FailureDocument returns the failure document that S can publish in place of
// a report: the engine's existing shape, compact, with its LF.
//
// Rules: R08, R15, C-33.
func FailureDocument(failure outcome.Failure) ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(failure.Args), func(a, b outcome.Arg) int {
		return strings.Compare(a.Name, b.Name)
	})
	document, err := json.Marshal(struct {
		Engine string `json:"engine"`
		Error  string `json:"error"`
		Code   string `json:"code"`
		Args   args   `json:"args"`
	}{"pineforge", texts[failure.Code], failure.Code, sorted})
	if err != nil {
		return nil, fmt.Errorf("encode failure document: %w", err)
	}
	return append(document, '\n'), nil
}

// args encodes typed arguments as an object, in their order.
type args []outcome.Arg

// MarshalJSONTo implements the encoder's interface.
func (a args) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, arg := range a {
		if err := enc.WriteToken(jsontext.String(arg.Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, arg.Value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
