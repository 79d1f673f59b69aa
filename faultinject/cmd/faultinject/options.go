package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/faultinject"
	"touchstone/faultinject/tracer"
)

// planOptions say where rules come from.
type planOptions struct {
	Rule  []string `short:"e" sep:"none" help:"A rule or bind line; may be repeated."`
	Rules []string `short:"f" sep:"none" help:"A file of rules: text or, where its name ends in .json, the JSON twin."`
	FD    []string `name:"fd" sep:"none" placeholder:"NAME=@7[:r|w|rw|any]" help:"Name an object: by a descriptor that this command inherits, or as NAME=dev:ino[:dir]."`
}

// tracerOptions say how the target is traced.
type tracerOptions struct {
	planOptions
	Verifier    []string      `name:"role-v" sep:"none" placeholder:"PATH" help:"An executable of role V."`
	Keep        []string      `sep:"none" placeholder:"PATH" help:"A foreign executable that stays traced in modes ip and full."`
	Mode        string        `enum:"auto,filter,ip,full" default:"auto" help:"How calls are seen: auto, filter, ip or full."`
	Log         string        `placeholder:"PATH" help:"Where evidence goes, one JSON object a line."`
	Sync        bool          `help:"Every line of evidence reaches the disk before the target goes on."`
	AllowNNP    bool          `name:"allow-nnp" help:"Set no_new_privs in the target, which a filter without root needs."`
	Pin         int           `default:"-1" help:"Processor for tracer and target: fastest, but the target can see it."`
	GateTimeout time.Duration `default:"5s" help:"How long a call waits for another one's bytes."`
	HoldTimeout time.Duration `default:"5s" help:"How long a hold lasts that no rule releases."`
	PassStatus  bool          `help:"Exit as the target did, or with 128 and its signal."`
}

// plan reads the rules in the order given, files first.
func (o planOptions) plan() (faultinject.Plan, []string, error) {
	var plan faultinject.Plan
	for _, path := range o.Rules {
		text, err := os.ReadFile(path)
		if err != nil {
			return plan, nil, usage(fmt.Errorf("read rules: %w", err))
		}
		parse := func(text []byte) (faultinject.Plan, error) { return faultinject.Parse(string(text)) }
		if strings.HasSuffix(path, ".json") {
			parse = faultinject.ParseJSON
		}
		part, err := parse(text)
		if err != nil {
			return plan, nil, usage(fmt.Errorf("%s: %w", path, err))
		}
		plan.Binds, plan.Rules = append(plan.Binds, part.Binds...), append(plan.Rules, part.Rules...)
	}
	part, err := faultinject.Parse(strings.Join(o.Rule, "\n"))
	if err != nil {
		return plan, nil, usage(err)
	}
	plan.Binds, plan.Rules = append(plan.Binds, part.Binds...), append(plan.Rules, part.Rules...)
	var names []string
	for _, fd := range o.FD {
		name, _, _ := strings.Cut(fd, "=")
		names = append(names, name)
	}
	return plan, names, nil
}

// checked is plan, with every refusal an error and every warning printed.
func (o planOptions) checked() (faultinject.Plan, error) {
	plan, names, err := o.plan()
	if err != nil {
		return plan, err
	}
	if names == nil {
		names = []string{}
	}
	var refused []error
	for _, found := range faultinject.Lint(plan, names...) {
		if found.Warning {
			fmt.Fprintln(os.Stderr, "faultinject:", found)
		} else {
			refused = append(refused, found)
		}
	}
	return plan, usage(errors.Join(refused...))
}

// config makes the tracer's configuration. finish closes what it opened.
func (o tracerOptions) config() (config tracer.Config, finish func() error, err error) {
	config = tracer.Config{Verifiers: o.Verifier, Keep: o.Keep, Mode: tracer.Mode(o.Mode), Sync: o.Sync,
		AllowNoNewPrivs: o.AllowNNP, Pin: o.Pin, GateTimeout: o.GateTimeout, HoldTimeout: o.HoldTimeout}
	finish = func() error { return nil }
	if config.Plan, err = o.checked(); err != nil {
		return config, finish, err
	}
	if config.Bindings, err = bindings(o.FD); err != nil {
		return config, finish, usage(err)
	}
	if o.Log != "" {
		config.Log, err = os.OpenFile(o.Log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o644)
		if err != nil {
			return config, finish, usage(fmt.Errorf("open log: %w", err))
		}
		finish = config.Log.Close
	}
	return config, finish, nil
}

// bindings reads --fd and closes the descriptors it names, so that this
// command keeps no object open for others.
func bindings(specs []string) ([]tracer.Binding, error) {
	var out []tracer.Binding
	inherited := map[int]bool{}
	for _, spec := range specs {
		name, place, ok := strings.Cut(spec, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("fd %q: want NAME=@FD or NAME=dev:ino", spec)
		}
		b := tracer.Binding{Name: name}
		var err error
		if number, at := strings.CutPrefix(place, "@"); at {
			var fd int
			fd, err = fromInherited(&b, number)
			inherited[fd] = err == nil && fd > 2
		} else {
			err = identity(&b, place)
		}
		if err != nil {
			return nil, fmt.Errorf("fd %q: %w", spec, err)
		}
		out = append(out, b)
	}
	for fd, close := range inherited {
		if close {
			if err := unix.Close(fd); err != nil {
				return nil, fmt.Errorf("close inherited descriptor %d: %w", fd, err)
			}
		}
	}
	return out, nil
}

func fromInherited(b *tracer.Binding, place string) (int, error) {
	number, dir, hasDir := strings.Cut(place, ":")
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 0 {
		return -1, fmt.Errorf("%q is no descriptor", number)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, fmt.Errorf("stat descriptor %d: %w", fd, err)
	}
	if st.Mode&unix.S_IFMT == 0 {
		return -1, errors.New("an anonymous inode is shared by all objects of its kind")
	}
	b.Dev, b.Ino = st.Dev, st.Ino
	if hasDir {
		return fd, direction(b, dir)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return -1, fmt.Errorf("flags of descriptor %d: %w", fd, err)
	}
	b.Read, b.Write = flags&unix.O_ACCMODE == unix.O_RDONLY, flags&unix.O_ACCMODE == unix.O_WRONLY
	return fd, nil
}

// identity reads dev:ino[:dir].
func identity(b *tracer.Binding, place string) error {
	parts := strings.Split(place, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return errors.New("want dev:ino or dev:ino:dir")
	}
	dev, err1 := strconv.ParseUint(parts[0], 10, 64)
	ino, err2 := strconv.ParseUint(parts[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("want dev:ino: %w", err)
	}
	b.Dev, b.Ino = dev, ino
	if len(parts) == 3 {
		return direction(b, parts[2])
	}
	return nil
}

func direction(b *tracer.Binding, word string) error {
	switch word {
	case "r":
		b.Read = true
	case "w":
		b.Write = true
	case "rw":
		b.Read, b.Write = true, true
	case "any":
	default:
		return fmt.Errorf("direction %q: want r, w, rw or any", word)
	}
	return nil
}
