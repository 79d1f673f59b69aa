package zoo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"touchstone/conformance/certify"
	"touchstone/conformance/oracle"
)

// sound knows what the unbroken launchers fail, job by job: each is run once,
// and where nothing fails that is remembered for the same sources.
type sound struct {
	folder string // of what is remembered
	key    string // of the suite and the launchers
	mutex  *sync.Mutex
	jobs   map[string]*soundJob
}

type soundJob struct {
	mutex   sync.Mutex
	done    bool
	unsound map[string]bool
}

// judges are the sources that decide what a script says of a launcher.
var judges = []string{"fixtures/native", "conformance/oracle", "conformance/script", "conformance/driver", "conformance/evidence", "conformance/relay",
	"conformance/scenario", "conformance/launcherfile", "conformance/launchers"}

func newSound(root string, b *Builder) (sound, error) {
	shared, err := b.base()
	if err != nil {
		return sound{}, err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, shared.key)
	for _, folder := range judges {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(path, root), len(text), text)
			return err
		})
		if err != nil {
			return sound{}, fmt.Errorf("digest suite: %w", err)
		}
	}
	folder := filepath.Join(b.cache, "sound")
	return sound{folder, hex.EncodeToString(sum.Sum(nil)), &sync.Mutex{}, map[string]*soundJob{}}, os.MkdirAll(folder, 0o755)
}

// unsound are the assertions, and leak, that the unbroken launcher does not
// pass in a job: those can kill nothing there.
func (s sound) unsound(bench *certify.Bench, launcher string, j job) (map[string]bool, error) {
	name := launcher + " " + j.String()
	s.mutex.Lock()
	entry, known := s.jobs[name]
	if !known {
		entry = &soundJob{}
		s.jobs[name] = entry
	}
	s.mutex.Unlock()
	entry.mutex.Lock()
	defer entry.mutex.Unlock()
	if entry.done {
		return entry.unsound, nil
	}
	sum := sha256.Sum256(slices.Concat([]byte(s.key+"\n"+name+"\n"), j.script.Source))
	mark := filepath.Join(s.folder, hex.EncodeToString(sum[:])[:32])
	if _, err := os.Stat(mark); err == nil {
		entry.done = true
		return nil, nil
	}
	unsound, err := perform(bench, j)
	if err == nil && len(unsound) == 0 {
		err = os.WriteFile(mark, []byte(name+"\n"), 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the unbroken launcher: %s: %w", name, err)
	}
	entry.done, entry.unsound = true, unsound
	return unsound, nil
}

func perform(bench *certify.Bench, j job) (map[string]bool, error) {
	own, err := bench.Beside(strings.ReplaceAll(j.String(), "/", "-"))
	if err != nil {
		return nil, err
	}
	result, err := own.Perform(j.script, j.cell)
	unsound := map[string]bool{}
	for _, f := range result.Findings {
		if f.Verdict == oracle.Fail || f.Verdict == oracle.Broken {
			unsound[f.ID] = true
		}
	}
	if len(result.Leaks) > 0 {
		unsound[leak] = true
	}
	return unsound, err
}
