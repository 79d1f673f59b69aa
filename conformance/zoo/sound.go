package zoo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	mutex sync.Mutex
	done  bool
	said  said
}

// said is what the unbroken launcher said in a job.
type said struct {
	unsound map[string]bool   // the assertions, and leak, that it does not pass: those can kill nothing there
	took    certify.Durations // of its attempts
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

// ask is what the unbroken launcher says in a job, to the launches that show one
// of the wanted assertions; nil is all of them.
func (s sound) ask(bench *certify.Bench, launcher string, j job, wanted []string) (said, error) {
	name := strings.TrimSpace(launcher + " " + j.String() + " " + strings.Join(wanted, " "))
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
		return entry.said, nil
	}
	sum := sha256.Sum256(slices.Concat([]byte(s.key+"\n"+name+"\n"), j.script.Source))
	mark := filepath.Join(s.folder, hex.EncodeToString(sum[:])[:32])
	if took, err := readMark(mark); err == nil {
		entry.done, entry.said = true, said{took: took}
		return entry.said, nil
	}
	now, err := perform(bench, j, wanted, filepath.Base(mark))
	if err == nil && len(now.unsound) == 0 {
		err = writeMark(mark, now.took)
	}
	if err != nil {
		return said{}, fmt.Errorf("ask the unbroken launcher: %s: %w", name, err)
	}
	entry.done, entry.said = true, now
	return now, nil
}

// A mark remembers a job in which nothing failed: how long its attempts took.
func readMark(file string) (took certify.Durations, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return took, json.Unmarshal(text, &took)
}

// writeMark leaves a whole file or none: other runs may read it.
func writeMark(file string, took certify.Durations) error {
	text, err := json.Marshal(took)
	if err != nil {
		return err
	}
	own := fmt.Sprintf("%s.%d", file, os.Getpid())
	return errors.Join(os.WriteFile(own, text, 0o644), os.Rename(own, file))
}

func perform(bench *certify.Bench, j job, wanted []string, folder string) (said, error) {
	own, err := bench.Beside(folder)
	if err != nil {
		return said{}, err
	}
	result, took, err := own.Measure(j.script, j.cell, wanted)
	unsound := map[string]bool{}
	for _, f := range result.Findings { // what was not wanted is not run
		if f.Verdict == oracle.Fail || f.Verdict == oracle.Broken {
			unsound[f.ID] = true
		}
	}
	if len(result.Leaks) > 0 {
		unsound[leak] = true
	}
	return said{unsound, took}, err
}
