package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// treeNode is one member of a terminal record, for display.
type treeNode struct {
	Name     string
	Value    string     // of a scalar, as it is spelled
	Flat     string     // of an object or array of scalars: all of it on one line
	Members  []treeNode // of any other object or array
	Offends  bool       // a failed check is about it
	Contains bool       // ... or about something in it
}

const treeDepth = 32

// readTree reads a packet for display. members are the paths to mark. It fails
// on what is not one JSON value.
func readTree(packet []byte, members map[string]bool) (treeNode, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(packet), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := treeValue(decoder, "", "", members, 0)
	if err == nil {
		if _, after := decoder.ReadToken(); !errors.Is(after, io.EOF) {
			err = errors.New("bytes after the first value")
		}
	}
	return root, err
}

func treeValue(decoder *jsontext.Decoder, name, path string, members map[string]bool, depth int) (treeNode, error) {
	node := treeNode{Name: name, Offends: path != "" && members[path]}
	if depth > treeDepth {
		return node, fmt.Errorf("nested deeper than %d", treeDepth)
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return node, err
	}
	opening := token.Kind()
	if opening != '{' && opening != '[' {
		node.Value = scalarText(token)
		return node, nil
	}
	for i := 0; decoder.PeekKind() != '}' && decoder.PeekKind() != ']'; i++ {
		child := fmt.Sprint(i)
		if opening == '{' {
			if token, err = decoder.ReadToken(); err != nil {
				return node, err
			}
			child = token.String()
		}
		value, err := treeValue(decoder, child, joinPath(path, child), members, depth+1)
		if err != nil {
			return node, err
		}
		node.Contains = node.Contains || value.Offends || value.Contains
		node.Members = append(node.Members, value)
	}
	_, err = decoder.ReadToken()
	return node.flatten(), err
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func scalarText(token jsontext.Token) string {
	if token.Kind() == '"' {
		return `"` + oneLine(token.String()) + `"`
	}
	return token.String()
}

// flatten puts a container of scalars, none of which offends, on one line.
func (n treeNode) flatten() treeNode {
	var parts []string
	for _, m := range n.Members {
		if m.Value == "" || m.Offends {
			return n
		}
		parts = append(parts, m.Name+" "+m.Value)
	}
	n.Flat, n.Members = strings.Join(parts, ", "), nil
	if n.Flat == "" {
		n.Flat = "empty"
	}
	return n
}
