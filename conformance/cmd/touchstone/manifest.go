package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type manifestCommand struct {
	JSON bool `name:"json" help:"One JSON object on stdout."`
}

// commandEntry is what the manifest says of a command.
type commandEntry struct {
	Name      string          `json:"name"` // two words where commands are grouped
	Help      string          `json:"help"`
	Arguments []argumentEntry `json:"arguments"`
	Flags     []flagEntry     `json:"flags"`
	Exits     []exitStatus    `json:"exits"`
}

type argumentEntry struct {
	Name     string `json:"name"`
	Help     string `json:"help"`
	Required bool   `json:"required"`
}

type flagEntry struct {
	Name     string `json:"name"` // without dashes
	Short    string `json:"short"`
	Help     string `json:"help"`
	Value    string `json:"value"` // its placeholder, "" for a switch
	Default  string `json:"default"`
	Required bool   `json:"required"`
}

// manifest is every command that a user may call, in the order of the help.
func manifest() ([]commandEntry, error) {
	parser, err := kong.New(&commands{}, kong.Name("touchstone"))
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	var all []commandEntry
	for _, node := range parser.Model.Leaves(true) {
		name := node.Name
		if node.Parent.Type == kong.CommandNode {
			name = node.Parent.Name + " " + name
		}
		entry := commandEntry{Name: name, Help: node.Help, Arguments: []argumentEntry{}, Flags: []flagEntry{}, Exits: exits[name]}
		for _, a := range node.Positional {
			entry.Arguments = append(entry.Arguments, argumentEntry{a.Name, a.Help, a.Required})
		}
		for _, f := range node.Flags {
			entry.Flags = append(entry.Flags, newFlagEntry(f))
		}
		all = append(all, entry)
	}
	return all, nil
}

func newFlagEntry(f *kong.Flag) flagEntry {
	entry := flagEntry{Name: f.Name, Help: f.Help, Default: f.Default, Required: f.Required}
	if f.Short != 0 {
		entry.Short = string(f.Short)
	}
	if !f.IsBool() {
		entry.Value = f.FormatPlaceHolder()
	}
	return entry
}

// Run prints the commands with their flags and exit statuses.
func (c *manifestCommand) Run(p *program) error {
	entries, err := manifest()
	if c.JSON {
		return answer{kind: "manifest", data: entries}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(p.stdout)
	for _, e := range entries {
		fmt.Fprintf(out, "%s\n  %s\n  exit %s\n", e.usage(), firstSentence(e.Help), e.statuses())
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("print manifest: %w", err)
	}
	return nil
}

func (e commandEntry) usage() string {
	words := []string{e.Name}
	for _, a := range e.Arguments {
		words = append(words, strings.ToUpper(a.Name))
	}
	for _, f := range e.Flags {
		word := "--" + f.Name
		if f.Value != "" {
			word += "=" + f.Value
		}
		if !f.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func (e commandEntry) statuses() string {
	var words []string
	for _, s := range e.Exits {
		words = append(words, fmt.Sprintf("%d %s", s.Status, s.Meaning))
	}
	return strings.Join(words, "; ")
}
