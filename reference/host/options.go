package host

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"touchstone/contracts"
)

// Options is one attempt as its host was asked for it. Paths are absolute.
type Options struct {
	Report      string // what an accepted report becomes
	Disposition string // the one document about the attempt
	Manifest    string // what `refhost reap` needs after a crash of the host
	Diagnostics string // where the diagnostics are kept, whatever the outcome; "" = counted only
	Sink        string // what an accepted sink stream becomes; "" = no stream is offered
	NamedSink   string // a sink path in Command that S publishes; "" = none
	Invocation  string
	Grants      Grants
	PlannedSink int64 // certified sink bytes; 0 = no plan
	Spool       string
	SpoolBytes  int64
	Pairing     string
	ArenaBytes  int64 // shared memory at descriptor 5; 0 = none
	Command     []string
}

// Grants is what the host admits at most. Rules: R07.
type Grants struct {
	ReportBytes     int64 `json:"report_bytes"`
	DiagnosticBytes int64 `json:"diagnostic_bytes"`
	WallMS          int64 `json:"wall_ms"`
	StallMS         int64 `json:"stall_ms"`
	MemoryBytes     int64 `json:"memory_bytes"` // 0 = no limit; null in documents
}

// largest is what every JSON reader keeps exact (inclusive).
const largest = 1<<53 - 1

// Usage is the one line that `refhost` without words prints.
const Usage = "usage: refhost --report FILE --disposition FILE --spool FOLDER --pairing FILE [flags] -- COMMAND…  |  refhost reap MANIFEST"

// flag is one option of the command line: text, or a number of at least one.
type flag struct {
	name   string
	text   *string
	number *int64
}

func (o *Options) flags() []flag {
	return []flag{
		{"--report", &o.Report, nil}, {"--disposition", &o.Disposition, nil}, {"--manifest", &o.Manifest, nil},
		{"--diagnostics", &o.Diagnostics, nil}, {"--sink", &o.Sink, nil}, {"--named-sink", &o.NamedSink, nil},
		{"--invocation", &o.Invocation, nil}, {"--spool", &o.Spool, nil}, {"--pairing", &o.Pairing, nil},
		{"--grant-report-bytes", nil, &o.Grants.ReportBytes}, {"--grant-diagnostic-bytes", nil, &o.Grants.DiagnosticBytes},
		{"--grant-wall-ms", nil, &o.Grants.WallMS}, {"--grant-stall-ms", nil, &o.Grants.StallMS},
		{"--grant-memory-bytes", nil, &o.Grants.MemoryBytes}, {"--planned-sink-bytes", nil, &o.PlannedSink},
		{"--spool-bytes", nil, &o.SpoolBytes}, {"--arena-bytes", nil, &o.ArenaBytes},
	}
}

// ParseOptions reads the command line of an attempt. An error is one line that
// names the flag and what to do.
func ParseOptions(args []string) (Options, error) {
	o := Options{Invocation: contracts.InvocationRunJSON, Grants: Grants{
		ReportBytes: defaults[reportBytes], DiagnosticBytes: defaults[diagnosticBytes],
		WallMS: defaults[wallMS], StallMS: defaults[stallMS]}}
	flags, given := o.flags(), map[string]bool{}
	for len(args) > 0 && args[0] != "--" {
		name, value, joined := strings.Cut(args[0], "=")
		i := slices.IndexFunc(flags, func(f flag) bool { return f.name == name })
		switch {
		case i < 0:
			return o, fmt.Errorf("argument %q: unknown; the command follows after --", name)
		case given[name]:
			return o, fmt.Errorf("argument %s: given twice; give it once", name)
		case !joined && len(args) == 1:
			return o, fmt.Errorf("argument %s: has no value; write %s VALUE", name, name)
		case !joined:
			value, args = args[1], args[1:]
		}
		args, given[name] = args[1:], true
		if err := flags[i].set(value); err != nil {
			return o, err
		}
	}
	if len(args) < 2 {
		return o, errors.New("command: missing; give it after --")
	}
	o.Command = args[1:]
	return o, o.check()
}

func (f flag) set(value string) error {
	if f.text != nil {
		if *f.text = value; value == "" || strings.ContainsRune(value, 0) {
			return fmt.Errorf("argument %s: empty or holds a NUL; give a name", f.name)
		}
		return nil
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 || n > largest {
		return fmt.Errorf("argument %s: %q is no whole number from 1 to %d", f.name, value, int64(largest))
	}
	*f.number = int64(n)
	return nil
}

// check completes the options and refuses what cannot be an attempt.
func (o *Options) check() error {
	for _, required := range []flag{{"--report", &o.Report, nil}, {"--disposition", &o.Disposition, nil},
		{"--spool", &o.Spool, nil}, {"--pairing", &o.Pairing, nil}} {
		if *required.text == "" {
			return fmt.Errorf("argument %s: missing; %s", required.name, Usage)
		}
	}
	switch {
	case !slices.Contains(contracts.Invocations(), o.Invocation):
		return fmt.Errorf("argument --invocation: %q is neither run_json nor entrypoint", o.Invocation)
	case o.Sink != "" && o.NamedSink != "":
		return errors.New("arguments --sink and --named-sink: exclude each other; give the one that the command uses")
	case o.Manifest == "":
		o.Manifest = o.Disposition + ".manifest"
	}
	if o.SpoolBytes == 0 {
		o.SpoolBytes = o.Grants.ReportBytes + 1<<20 // allocation overhead
	}
	if err := errors.Join(o.checkPaths(), o.checkPlaceholders()); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(first)
	}
	program, err := o.Command[0], error(nil)
	if strings.ContainsRune(program, '/') {
		err = unix.Access(program, unix.X_OK)
	} else {
		program, err = exec.LookPath(program)
	}
	if err != nil {
		return fmt.Errorf("command %q: no such program; give its path", o.Command[0])
	}
	o.Command = append([]string{program}, o.Command[1:]...)
	return nil
}

// checkPaths makes paths absolute. What the attempt will make must not exist:
// everything found there afterwards is of this attempt.
func (o *Options) checkPaths() error {
	taken := map[string]string{}
	for _, f := range o.flags() {
		if f.text == nil || *f.text == "" || f.text == &o.Invocation {
			continue
		}
		path, err := filepath.Abs(*f.text)
		if err != nil {
			return fmt.Errorf("argument %s: %w", f.name, err)
		}
		*f.text = path
		var stat unix.Stat_t
		err = unix.Lstat(path, &stat)
		if f.text == &o.Spool || f.text == &o.Pairing {
			if err != nil {
				return fmt.Errorf("argument %s: %s: %w; name one that exists", f.name, path, err)
			}
			continue
		}
		if other, twice := taken[path]; twice {
			return fmt.Errorf("arguments %s and %s: both are %s; give each its own", other, f.name, path)
		}
		taken[path] = f.name
		if err == nil {
			return fmt.Errorf("argument %s: %s exists; remove it or name another", f.name, path)
		}
		if err := unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK); err != nil {
			return fmt.Errorf("argument %s: folder %s: %w; name a folder that can be written", f.name, filepath.Dir(path), err)
		}
	}
	return nil
}
