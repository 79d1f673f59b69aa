package scenario

// Kind says what sort of process an attempt starts.
type Kind string

// The kinds of an attempt.
const (
	Launch    Kind = "launch"    // the launcher under test
	Reference Kind = "reference" // the launcher file's unsupervised command
	Control   Kind = "control"   // the fixture with no supervision: a positive control
	Hosted    Kind = "hosted"    // the launcher's own host, with a relay in the supervisor's place
	Alone     Kind = "finalizer" // the launcher's own finalizer, by itself
)

// Operation is the operation that the request asks for.
type Operation string

// The operations that the contract covers.
const (
	Full         Operation = "full"
	Capabilities Operation = "capabilities"
	Validation   Operation = "validation"
)

// Cell is one facade and profile of a launcher.
type Cell struct {
	Facade  string `json:"facade"`  // direct or entrypoint
	Profile string `json:"profile"` // unjailed or jailed
}

// String is the cell as scripts and folders spell it: direct/unjailed.
func (c Cell) String() string { return c.Facade + "/" + c.Profile }

// Scenario is one attempt.
type Scenario struct {
	Version int    `json:"version"` // 1
	Test    string `json:"test"`    // T14
	Script  string `json:"script"`  // T14-gigabytes-to-stderr
	Cell    Cell   `json:"cell"`
	Number  int    `json:"number"` // of the attempt within its script and cell, from 0

	Kind      Kind      `json:"kind"`
	Operation Operation `json:"operation"` // "" is Full
	Mode      string    `json:"mode"`      // "" is omitted; FULL, SUMMARY_ONLY, STREAMED
	Fixture   Fixture   `json:"fixture"`

	Options     []Option `json:"options"`  // in the order of the command line
	Withheld    []string `json:"withheld"` // knobs of activation that are not given: channel, terminal
	Grants      Grants   `json:"grants"`
	PlannedSink *uint64  `json:"planned_sink"` // bytes; nil is none
	Spool       Spool    `json:"spool"`

	Admission        string            `json:"admission"` // "" is whole; none, cut, misnamed
	Deprived         string            `json:"deprived"`  // of what the launcher is started without, "" is nothing
	Endpoints        Endpoints         `json:"endpoints"`
	ExtraDescriptors int               `json:"extra_descriptors"` // further inheritable pipes left open at the launch
	Inputs           map[string]string `json:"inputs"`
	Requests         map[string]string `json:"requests"`   // further requests that a launcher file may know: path_sink, spill_folder, window
	OldTarget        string            `json:"old_target"` // what the named sink's target holds before the launch; "": it is not there
	Bars             int               `json:"bars"`       // of the OHLCV file; 0 is DefaultBars

	Source    *Source                      `json:"source"`    // nil: the fixture, by a stand-in for the compiler
	Tools     map[string]map[string]string `json:"tools"`     // by tool: the arguments of the stand-in that takes its place
	Unmounted []string                     `json:"unmounted"` // mounts that are missing: strategy, ohlcv

	Paces    []Pace   `json:"paces"`
	Controls []Rule   `json:"controls"`
	Faults   []string `json:"faults"`  // lines of package faultinject, done to the launcher's own processes
	HangMS   uint64   `json:"hang_ms"` // the driver gives up here; 0: see HangLimit

	Libc string `json:"libc,omitzero"` // of the producer and the fixture: "" is the compiler's own, else Musl

	Catalog bool `json:"catalog,omitzero"` // the launcher's failure catalog is part of the record

	// Finalizer holds the arguments of the stand-in that takes the finalizer's
	// place; nil: none does.
	Finalizer map[string]string `json:"finalizer,omitzero"`
	Alone     ByItself          `json:"alone,omitzero"` // of a run of the finalizer by itself

	Relay []string `json:"relay,omitzero"` // of a hosted attempt: what the relay does, see ParseRelay
}

// DefaultBars is the number of bars in the OHLCV file of an attempt.
const DefaultBars = 3

// Fixture names the strategy library and what is patched into its copy.
type Fixture struct {
	Name        string            `json:"name"`
	Args        map[string]string `json:"args"`
	PayloadFile string            `json:"payload_file"` // a file name within the attempt folder, or ""
}

// Musl is another C library than the compiler's own.
const Musl = "musl"

// Build names what is compiled of a fixture for a C library.
func (f Fixture) Build(libc string) string {
	if libc == "" {
		return f.Name
	}
	return f.Name + "@" + libc
}

// Option is one value given to the launcher by its caller, text verbatim: a
// limit, or a part of what activates supervision in place of the usual.
type Option struct {
	Knob  string `json:"knob"`  // report, diagnostic, wall, stall; channel, terminal
	Route string `json:"route"` // cli or env
	Value string `json:"value"`
}

// The knobs and the routes by which an Option reaches a launcher.
const (
	KnobReport     = "report"
	KnobDiagnostic = "diagnostic"
	KnobWall       = "wall"
	KnobStall      = "stall"
	KnobChannel    = "channel"  // the contract's literal
	KnobTerminal   = "terminal" // the number of the terminal endpoint

	RouteCLI = "cli"
	RouteEnv = "env"
)

// The further requests of a Scenario, whose value is a path.
const (
	RequestPathSink    = "path_sink"    // a named external sink
	RequestSpillFolder = "spill_folder" // where the engine may spill
)

// RequestWindow is a selected window of the report that begins at the second
// bar or later; its value is how many bars are fed before it.
const RequestWindow = "window"

// The further requests whose value is the number of an endpoint of that name.
const (
	RequestSinkFD  = "sink_fd"
	RequestPhaseFD = "phase_fd"
)

// RequestExplain has the supervisor say, on its diagnostics, why it refuses.
const RequestExplain = "explain"

// RequestPrivate is a variable by which a launcher tells its own nested launch
// something, preset by the caller.
const RequestPrivate = "private"

// The utilities, which are protocols of their own and excluded under supervision.
const (
	RequestHelp      = "help"
	RequestConvert   = "csv2bin"        // its value is the file to write
	RequestTranspile = "transpile_only" // its value is 1
)

// Grants are what the host grants. nil is the contract's default (R07), and
// for Memory no grant at all; a zero is a zero grant.
type Grants struct {
	Report     *uint64 `json:"report"`     // bytes
	Diagnostic *uint64 `json:"diagnostic"` // bytes
	Wall       *uint64 `json:"wall"`       // ms
	Stall      *uint64 `json:"stall"`      // ms
	Memory     *uint64 `json:"memory"`     // bytes
}

// What the host says of identity, grants and storage at admission.
const (
	AdmissionNone     = "none"     // nothing
	AdmissionCut      = "cut"      // the first half of the launch document
	AdmissionMisnamed = "misnamed" // an attempt_id that is a digit short
)

// What a launcher can be started without; Descriptors is followed by =N, the
// number below which it can open any.
const (
	Namespaces  = "namespaces" // the kernel refuses new ones
	Filters     = "filters"    // the kernel refuses seccomp
	Privilege   = "privilege"  // no capability
	Groups      = "groups"     // no control group file system is mounted
	Descriptors = "descriptors"
)

// Spool is the bounded storage that the host supplies.
type Spool struct {
	Bytes uint64 `json:"bytes"`         // 0: enough for the report grant, see SpoolBytes
	Real  uint64 `json:"real,omitzero"` // what the file system really holds; 0: as much
}

// Endpoints says what stands for the host's endpoints (R03). "" is the usual:
// a pipe for report and diagnostic, a seqpacket pair for terminal, nothing for
// sink and phase. NAME is another of them in
//
//	same:NAME      a duplicate of that descriptor
//	reopened:NAME  the same pipe, opened once more
//	peer:NAME      the other end of that socket pair
type Endpoints struct {
	Report     string         `json:"report"`
	Diagnostic string         `json:"diagnostic"`
	Terminal   string         `json:"terminal"`
	Sink       string         `json:"sink"`    // external, inherited
	Phase      string         `json:"phase"`   // of external progress
	Numbers    map[string]int `json:"numbers"` // by name; others are drawn, report is 1 and diagnostic 2
}

// The kinds of an endpoint that stand by themselves. The first two are the
// transports of a data endpoint, and with Seqpacket the connected kinds.
const (
	Pipe        = "pipe"
	Stream      = "stream"
	Seqpacket   = "seqpacket"
	Datagram    = "datagram"
	TCP         = "tcp"         // connected over loopback
	Reading     = "reading"     // the read end of a pipe
	Shut        = "shut"        // a pair shut down for writing
	Unconnected = "unconnected" // a seqpacket socket
	Listening   = "listening"   // a seqpacket socket
	Narrow      = "narrow"      // a seqpacket pair whose launcher's end takes no record of the largest size
	Filled      = "filled"      // a seqpacket pair that takes no packet until the host resumes reading
	File        = "file"        // a regular one
	Device      = "device"      // the null device
	Closed      = "closed"      // nothing at the number
)

// The host's endpoints, as triggers, actions and paces name them.
const (
	ChannelReport     = "report"
	ChannelDiagnostic = "diagnostic"
	ChannelTerminal   = "terminal"
	ChannelSink       = "sink"
	ChannelPhase      = "phase"
)

// Pace makes the reader of a data endpoint take at most Bytes in every
// interval of EveryMS milliseconds.
type Pace struct {
	Channel string `json:"channel"`
	Bytes   int    `json:"bytes"`
	EveryMS uint64 `json:"every_ms"`
}

// Rule is a control: at the first time Trigger holds, Action is done. The
// rules of one trigger are done in the order of the scenario.
type Rule struct {
	Trigger Trigger `json:"trigger"`
	Action  Action  `json:"action"`
}

// Trigger is a moment of an attempt.
type Trigger struct {
	Kind    string `json:"kind"`
	Channel string `json:"channel"` // of bytes and eof
	N       uint64 `json:"n"`       // rendezvous: its point; bytes: read so far, at least; packet: its index, from 0; time: ms from the spawn; stopped: ms
}

// The kinds of a Trigger.
const (
	AtSpawn      = "spawn"      // the launcher has just been started
	AtRendezvous = "rendezvous" // the producer has stopped at point N
	AtBytes      = "bytes"
	AtEOF        = "eof"
	AtPacket     = "packet"
	AtTime       = "time"
	AtChild      = "child"    // the launcher has a process of its own: it has begun to work
	AtGone       = "gone"     // every producer that was seen has ended, reaped or not
	AtReaped     = "reaped"   // every producer that was seen has been reaped
	AtCreating   = "creating" // a producer stands in a call that creates a process
	AtJudged     = "judged"   // a finalizer was seen, and has been reaped
	AtStopped    = "stopped"  // N ms after the host has stopped the supervisor
)

// Action is what a control does.
type Action struct {
	Kind    string `json:"kind"`
	Who     string `json:"who"`     // of kill, stop, continue, observe, plant
	Signal  string `json:"signal"`  // of kill: KILL, TERM, …; "" is KILL
	Channel string `json:"channel"` // of close, pause, resume, hold
	Word    int    `json:"word"`    // of poke: index into the fixture's state words, 0..7
	Value   string `json:"value"`   // of poke: a decimal, or supervisor-pid or producer-pid
}

// The kinds of an Action.
const (
	DoKill     = "kill"
	DoStop     = "stop"
	DoContinue = "continue"
	DoCancel   = "cancel" // by the launcher's own control path
	DoObserve  = "observe"
	DoPlant    = "plant" // a process that stays, in that one's pid namespace and control groups
	DoPoke     = "poke"
	DoClose    = "close" // the host's end of an endpoint
	DoPause    = "pause" // the reader of an endpoint
	DoResume   = "resume"
	DoHold     = "hold" // one more writer of the producer's own diagnostics, to the supervisor's end
)

// The roles that an Action can name.
const (
	Supervisor = "supervisor"
	Producer   = "producer"
	Finalizer  = "finalizer"
)

// Storage is what observe can look at besides a process: the files of the
// supervisor's side.
const Storage = "storage"

// The symbolic values of a poke: pids as the attempt's own namespace numbers
// them, which is also what the fixture sees unless it is contained.
const (
	ValueSupervisorPID = "supervisor-pid"
	ValueProducerPID   = "producer-pid"
)
