package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
	JSON  bool   `name:"json" help:"One JSON object on stdout."`
}

type completionData struct {
	Shell  string `json:"shell"`
	Script string `json:"script"`
}

// Run prints a script that completes commands and flags.
func (c *completionCommand) Run(p *program) error {
	entries, err := manifest()
	script := ""
	if err == nil {
		script = map[string]func([]commandEntry) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell](entries)
	}
	if c.JSON {
		return answer{kind: "completion", data: completionData{c.Shell, script}}.write(p.stdout, err)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(p.stdout, script); err != nil {
		return fmt.Errorf("print completion: %w", err)
	}
	return nil
}

// values are what some flags can be given.
var values = map[string]string{"facade": "direct entrypoint", "profile": "unjailed jailed"}

func bashCompletion(entries []commandEntry) string {
	var out strings.Builder
	out.WriteString("# touchstone completion for bash: eval \"$(touchstone completion bash)\"\n_touchstone() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n")
	fmt.Fprintf(&out, "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '%s' -- \"$word\"))\n\t\treturn\n\tfi\n\tcase $before in\n", strings.Join(names(entries), " "))
	for _, name := range sortedKeys(values) {
		fmt.Fprintf(&out, "\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", name, values[name])
	}
	out.WriteString("\tesac\n")
	for _, group := range groups(entries) {
		fmt.Fprintf(&out, "\tif [ \"${COMP_WORDS[1]}\" = %s ] && [ \"$COMP_CWORD\" = 2 ]; then\n\t\tCOMPREPLY=($(compgen -W '%s' -- \"$word\"))\n\t\treturn\n\tfi\n",
			group, strings.Join(within(entries, group), " "))
	}
	out.WriteString("\tcase \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n")
	for _, e := range entries {
		pattern := "'" + e.Name + " '*"
		if strings.Contains(e.Name, " ") {
			pattern = "'" + e.Name + "'"
		}
		fmt.Fprintf(&out, "\t%s) COMPREPLY=($(compgen -f -W '%s' -- \"$word\")) ;;\n", pattern, strings.Join(e.flagWords(), " "))
	}
	out.WriteString("\tesac\n}\ncomplete -o filenames -F _touchstone touchstone\n")
	return out.String()
}

func zshCompletion(entries []commandEntry) string {
	return "# touchstone completion for zsh: eval \"$(touchstone completion zsh)\"\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(entries)
}

func fishCompletion(entries []commandEntry) string {
	var out strings.Builder
	out.WriteString("# touchstone completion for fish: touchstone completion fish | source\n")
	for _, e := range entries {
		group, last, grouped := strings.Cut(e.Name, " ")
		where := "__fish_use_subcommand"
		if grouped {
			where = fishQuote("__fish_seen_subcommand_from " + group)
			fmt.Fprintf(&out, "complete -c touchstone -n __fish_use_subcommand -a %s\n", group)
		} else {
			last = e.Name
		}
		fmt.Fprintf(&out, "complete -c touchstone -n %s -a %s -d %s\n", where, last, fishQuote(firstSentence(e.Help)))
		for _, f := range e.Flags {
			more := ""
			if f.Value != "" {
				more = " -r"
			}
			if list, known := values[f.Name]; known {
				more += " -f -a " + fishQuote(list)
			}
			fmt.Fprintf(&out, "complete -c touchstone -n '__fish_seen_subcommand_from %s' -l %s%s -d %s\n", last, f.Name, more, fishQuote(f.Help))
		}
	}
	return out.String()
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

func firstSentence(text string) string {
	sentence, _, _ := strings.Cut(text, ". ")
	return sentence
}

// names are the first words of commands, each once.
func names(entries []commandEntry) []string {
	var all []string
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name, " ")
		all = append(all, name)
	}
	return slices.Compact(all)
}

// groups are the first words of commands of two words, each once.
func groups(entries []commandEntry) []string {
	var all []string
	for _, e := range entries {
		if group, _, grouped := strings.Cut(e.Name, " "); grouped {
			all = append(all, group)
		}
	}
	return slices.Compact(all)
}

// within are the second words of a group's commands.
func within(entries []commandEntry, group string) []string {
	var all []string
	for _, e := range entries {
		if name, found := strings.CutPrefix(e.Name, group+" "); found {
			all = append(all, name)
		}
	}
	return all
}

func (e commandEntry) flagWords() []string {
	var all []string
	for _, f := range e.Flags {
		all = append(all, "--"+f.Name)
	}
	return all
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
