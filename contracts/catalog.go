package contracts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
)

// CatalogSchema is the schema name of the failure catalog's layout.
const CatalogSchema = "pineforge-run-failure-catalog/v1"

// Origins of a catalog entry of ours; other catalogs need none.
const (
	// OriginPublic marks a code of the public engine's catalog.
	OriginPublic = "public"
	// OriginContractNew marks one of the seven codes that R20 adds.
	OriginContractNew = "contract-new"
	// OriginContractNamed marks a code that the contract calls existing, but
	// which no public catalog holds.
	OriginContractNamed = "contract-named"
)

// Catalog is a failure catalog: which codes exist, and how their args look.
//
// Rules: R20.
type Catalog struct {
	Classes []string        `json:"classes"`
	Kinds   []string        `json:"kinds"`
	Codes   map[string]Code `json:"codes"`
}

// Code is one row of a catalog. Class is the catalog's class, which is not the
// exit class of a terminal record. English holds the fixed texts, if any.
type Code struct {
	Class     string         `json:"class"`
	Retryable bool           `json:"retryable"`
	Args      map[string]Arg `json:"args"`
	English   []string       `json:"english"`
	Since     string         `json:"since"`
	Origin    string         `json:"origin"`
}

// Arg is one typed argument of a code. Values is the closed list of a vocab,
// empty for every other kind.
type Arg struct {
	Kind     string   `json:"kind"`
	Values   []string `json:"values"`
	Optional bool     `json:"optional"`
}

// ErrCatalog is the cause of every refusal of ParseCatalog.
var ErrCatalog = errors.New("not a failure catalog")

// isName says whether a code's name has 3 to 48 characters of a-z, 0-9 and _
// and begins with a letter.
func isName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if letter := 'a' <= c && c <= 'z'; !letter && (i == 0 || c != '_' && (c < '0' || '9' < c)) {
			return false
		}
	}
	return 3 <= len(name) && len(name) <= 48
}

// LoadCatalog returns the project's own catalog: the public codes, the seven
// that the contract adds and those that only the contract names.
//
// It panics only if the embedded file is broken, which a test rules out.
//
// Rules: R20.
func LoadCatalog() Catalog {
	catalog, err := ParseCatalog(mustRead("failure-catalog.v1.json"))
	if err != nil {
		panic("bug: " + err.Error())
	}
	return catalog
}

// ParseCatalog reads a catalog in the layout of CatalogSchema.
//
// Parsing is strict JSON (no duplicate member, valid UTF-8); members that this
// reader does not know are ignored, as within a major version only additions
// happen. A code or class that breaks the layout's own rules gives an error
// that wraps ErrCatalog.
//
// Rules: R20.
func ParseCatalog(content []byte) (Catalog, error) {
	var document struct {
		Schema string `json:"schema"`
		Catalog
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return Catalog{}, fmt.Errorf("parse catalog: %w: %w", ErrCatalog, err)
	}
	if document.Schema != CatalogSchema {
		return Catalog{}, fmt.Errorf("parse catalog: %w: schema %q, want %q", ErrCatalog, document.Schema, CatalogSchema)
	}
	if len(document.Codes) == 0 {
		return Catalog{}, fmt.Errorf("parse catalog: %w: no codes", ErrCatalog)
	}
	for name, code := range document.Codes {
		if err := document.checkCode(name, code); err != nil {
			return Catalog{}, fmt.Errorf("parse catalog: code %q: %w: %w", name, ErrCatalog, err)
		}
	}
	return document.Catalog, nil
}

func (c Catalog) checkCode(name string, code Code) error {
	if !isName(name) {
		return errors.New("name is not 3 to 48 of a-z, 0-9 and _ behind a letter")
	}
	if !slices.Contains(c.Classes, code.Class) {
		return fmt.Errorf("class %q is not in classes", code.Class)
	}
	for name, arg := range code.Args {
		if !slices.Contains(c.Kinds, arg.Kind) {
			return fmt.Errorf("arg %q: kind %q is not in kinds", name, arg.Kind)
		}
		if (arg.Kind == "vocab") != (len(arg.Values) > 0) {
			return fmt.Errorf("arg %q: kind %q with %d values", name, arg.Kind, len(arg.Values))
		}
	}
	return nil
}
