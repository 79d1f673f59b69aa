package conformance

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// edges are the import edges between the top-level parts of the project, all
// of them: a part that is not here may import nothing of ours, and an edge that
// is gone has to go from here too. Tests' own imports count.
//
// The suite and the reference meet only in contracts: what judges is written
// twice, so that one wrong reading of the contract cannot pass against itself.
var edges = map[string][]string{
	"conformance": {"contracts", "faultinject", "reports"},
	"reference":   {"contracts"},
	"contracts":   {},
	"reports":     {},
	"faultinject": {},
}

func TestImportEdges(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "touchstone/...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := part(fields[0])
		if seen[from] == nil {
			seen[from] = map[string]bool{}
		}
		for _, path := range fields[1:] {
			if to := part(path); to != "" && to != from {
				seen[from][to] = true
			}
		}
	}
	for from, to := range seen {
		wanted, known := edges[from]
		if !known {
			t.Errorf("part %q is not in the table of import edges", from)
		}
		got := []string{}
		for name := range to {
			got = append(got, name)
		}
		slices.Sort(got)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s imports %q, want exactly %q", from, got, wanted)
		}
	}
}

// part is the top-level folder of a package of ours, empty for any other.
func part(path string) string {
	inside, ours := strings.CutPrefix(path, "touchstone/")
	if !ours {
		return ""
	}
	name, _, _ := strings.Cut(inside, "/")
	return name
}

// TestAttemptProgramIsSmall: it is started for every attempt, and what it links
// is initialised each time. An edge that is gone has to go from here too.
func TestAttemptProgramIsSmall(t *testing.T) {
	const program = "touchstone/conformance/cmd/touchstone-attempt"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{.ImportPath}} {{.Module.Path}}{{end}}", program).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var own, others []string
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module == "touchstone" {
			own = append(own, strings.TrimPrefix(path, "touchstone/conformance/"))
		} else if !slices.Contains(others, module) {
			others = append(others, module)
		}
	}
	slices.Sort(own)
	slices.Sort(others)
	if wanted := []string{"cmd/touchstone-attempt", "driver", "evidence", "launcherfile", "scenario", "urgent"}; !slices.Equal(own, wanted) {
		t.Errorf("it links %q of ours, want exactly %q", own, wanted)
	}
	if wanted := []string{"github.com/go-json-experiment/json", "github.com/pelletier/go-toml/v2", "golang.org/x/sys"}; !slices.Equal(others, wanted) {
		t.Errorf("it links %q, want exactly %q", others, wanted)
	}
}

// TestOracleIsPure: what judges reads evidence values and nothing else.
func TestOracleIsPure(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "touchstone/conformance/oracle").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, forbidden := range []string{"os", "os/exec", "net", "syscall", "golang.org/x/sys/unix", "touchstone/conformance/driver"} {
		if slices.Contains(strings.Fields(string(out)), forbidden) {
			t.Errorf("oracle imports %s", forbidden)
		}
	}
}
