package launcherfile

// File is a checked launcher file.
type File struct {
	Version     int                `toml:"version" json:"version"` // 1
	Name        string             `toml:"name" json:"name"`
	Catalog     string             `toml:"catalog" json:"catalog,omitzero"` // file of the failure catalog that it is released with; "" is none
	Facade      map[string]Facade  `toml:"facade" json:"facade"`            // direct, entrypoint
	Profile     map[string]Profile `toml:"profile" json:"profile"`          // unjailed, jailed
	Launch      Launch             `toml:"launch" json:"launch"`
	Pairing     Pairing            `toml:"pairing" json:"pairing"`
	Tools       Tools              `toml:"tools" json:"tools"`
	Cancel      Cancel             `toml:"cancel" json:"cancel"`
	Host        Host               `toml:"host" json:"host,omitzero"`
	Producer    Producer           `toml:"producer" json:"producer"`
	Finalizer   Finalizer          `toml:"finalizer" json:"finalizer"`
	Reference   Reference          `toml:"reference" json:"reference"`
	Shape       map[string]Shape   `toml:"shape" json:"shape"` // full, summary (beside an explicit sink), capabilities, validation, failure
	Diagnostics Diagnostics        `toml:"diagnostics" json:"diagnostics"`
	Tolerance   Tolerance          `toml:"tolerance" json:"tolerance"`
	Gap         []Gap              `toml:"gap" json:"gap"`

	// Folder holds the file: the placeholder {here}. Set by Read.
	Folder string `toml:"-" json:"folder"`
}

// Facade is one way of starting the launcher.
type Facade struct {
	Invocation string   `toml:"invocation" json:"invocation"` // as M spells it: run_json, entrypoint
	Command    []string `toml:"command" json:"command"`
	// Options are the arguments appended for a knob that a scenario sets
	// (report, diagnostic, wall, stall), and for a request (mode, inputs,
	// capabilities, validation, path_sink, spill_folder, window, sink_fd,
	// phase_fd, explain, private, and the utilities help, csv2bin, transpile_only).
	// {value} is the text verbatim. Those of channel and terminal are appended
	// to every launch, with the contract's literal and the endpoint's number,
	// unless a scenario says otherwise.
	Options map[string][]string `toml:"options" json:"options"`
	// Variables name the environment variable of a knob or request.
	Variables   map[string]string `toml:"variables" json:"variables"`
	Environment map[string]string `toml:"environment" json:"environment"`
}

// Profile is what one profile adds to every facade's command.
type Profile struct {
	Arguments   []string          `toml:"arguments" json:"arguments"`
	Environment map[string]string `toml:"environment" json:"environment"`
	Descriptor  []Descriptor      `toml:"descriptor" json:"descriptor"`
}

// Descriptor is a descriptor that a profile is handed at a fixed number.
type Descriptor struct {
	Number int    `toml:"number" json:"number"`
	Kind   string `toml:"kind" json:"kind"` // memfd
	Bytes  int64  `toml:"bytes" json:"bytes"`
}

// Launch is how the launcher is given the attempt's identity, its grants, the
// planned sink and its storage.
type Launch struct {
	// DescriptorVariable names the variable that holds the number of an
	// inherited descriptor from which Document can be read; "" is none.
	DescriptorVariable string            `toml:"descriptor_variable" json:"descriptor_variable"`
	Document           string            `toml:"document" json:"document"`
	Environment        map[string]string `toml:"environment" json:"environment"`
}

// Pairing is a file that is written anew for each attempt, at {pairing}.
type Pairing struct {
	Template string `toml:"template" json:"template"`
}

// Tools are the programs with which the entrypoint makes a library. The suite
// names them, or stand-ins of its own, as {transpiler}, {compiler} and {binder}.
type Tools struct {
	Transpiler string `toml:"transpiler" json:"transpiler"` // TRANSPILER … SOURCE CODE
	Compiler   string `toml:"compiler" json:"compiler"`     // COMPILER … CODE -o LIBRARY
	Binder     string `toml:"binder" json:"binder"`
}

// Cancel is the launcher's own control path; an empty Signal is none.
type Cancel struct {
	Signal string `toml:"signal" json:"signal"` // TERM, INT, …
}

// Producer is what a strategy library is built and parameterised for.
type Producer struct {
	ABI string `toml:"abi" json:"abi"` // fixtures/native/abi_<ABI>.c, and abi_<ABI>_sink.c, abi_<ABI>_window.c where it has them
	// Executable is what the pairing's {producer} stands for, Musl the same
	// producer of that C library.
	Executable string `toml:"executable" json:"executable,omitzero"`
	Musl       string `toml:"musl" json:"musl,omitzero"`
	Candidate  string `toml:"candidate" json:"candidate"` // env:NAME or fd:N; "" where a fixture cannot know
	Sink       string `toml:"sink" json:"sink"`
}

// Finalizer tells which process is V, and how it is run by itself; an empty
// Executable is none. The suite names it, or a stand-in of its own, as
// {finalizer} in the pairing.
type Finalizer struct {
	Executable string `toml:"executable" json:"executable"`
	// The arguments of a run by itself, of stdin to stdout or to {target}, then
	// those that are appended for a cap and for the receipt's descriptor, each
	// with {value}.
	Stream  []string `toml:"stream" json:"stream,omitzero"`
	File    []string `toml:"file" json:"file,omitzero"`
	Cap     []string `toml:"cap" json:"cap,omitzero"`
	Receipt []string `toml:"receipt" json:"receipt,omitzero"`
	// Digest is the receipt's member that holds the logical digest.
	Digest string `toml:"digest" json:"digest,omitzero"`
	// Dialect names the golden streams of scripts: NAME.DIALECT.EXTENSION.
	Dialect string `toml:"dialect" json:"dialect,omitzero"`
}

// Reference is an unsupervised run of the engine. Its standard output is the
// document that a supervised run must reproduce.
type Reference struct {
	Command     []string            `toml:"command" json:"command"`
	Options     map[string][]string `toml:"options" json:"options"` // of requests
	Environment map[string]string   `toml:"environment" json:"environment"`
	// Volatile are the members (paths, dots between names) whose scalar is
	// blanked on both sides before the byte comparison.
	Volatile []string `toml:"volatile" json:"volatile"`
}

// Shape says by which top-level members a document of an operation is known.
type Shape struct {
	Members []string `toml:"members" json:"members"`
	// Hole is a text of the reference document and what to put in its place,
	// with {value} where any JSON value may stand without changing the shape.
	// Only of full; without it, documents with a value of their own cannot be
	// asked for.
	Hole []string `toml:"hole" json:"hole,omitzero"`
}

// Diagnostics are bytes that the harness itself puts in front of D (C-59).
type Diagnostics struct {
	Harness string `toml:"harness" json:"harness"`
}

// Tolerance is the stated slack of promptness checks, in milliseconds.
type Tolerance struct {
	SlackMS uint64 `toml:"slack_ms" json:"slack_ms"`
}

// Gap is a declared gap: an assertion that still runs and must fail.
type Gap struct {
	ID     string `toml:"id" json:"id"`
	Reason string `toml:"reason" json:"reason"`
	Owner  string `toml:"owner" json:"owner"`
	Expiry string `toml:"expiry" json:"expiry"` // YYYY-MM-DD, the last day it holds
}
