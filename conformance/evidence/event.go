package evidence

import "touchstone/conformance/scenario"

// Event is one line of events.jsonl. Body is one of the types below.
type Event struct {
	Seq  uint64
	Mono int64 // nanoseconds of CLOCK_MONOTONIC
	Body Body
}

// Body is what an event says beyond its place in time.
type Body interface{ Kind() string }

// Start is the first event: the process that the attempt is about has been
// started. Times from the launch are measured from it.
type Start struct {
	ArgvSHA256 string `json:"argv_sha256"` // of the arguments, each ended by NUL
	PID        int    `json:"pid"`
	Wall       int64  `json:"ts_wall"` // nanoseconds of Unix time at the same moment, for people
}

// Bytes says that Size bytes arrived on a channel at Offset of its file.
// Channel is report or diagnostic, for an unsupervised process stdout, stderr
// or candidate.
type Bytes struct {
	Channel string `json:"channel"`
	Offset  int64  `json:"offset"`
	Size    int    `json:"size"`
}

// EOF says that a data channel ended. Error is empty, or the errno name that
// the read returned in place of an end.
type EOF struct {
	Channel string `json:"channel"`
	Error   string `json:"error"`
}

// Packet is one message of the terminal endpoint.
type Packet struct {
	Index          int      `json:"index"` // from 0
	Size           int      `json:"size"`  // bytes received
	File           string   `json:"file"`
	Flags          []string `json:"flags"` // MSG_TRUNC, MSG_CTRUNC
	CredentialsPID int      `json:"credentials_pid"`
	// Ended says which data endpoints had ended (all their writers were gone)
	// when the packet was taken.
	Ended Ended `json:"ended"`
}

// Ended is a member of Packet.
type Ended struct {
	Report     bool `json:"report"`
	Diagnostic bool `json:"diagnostic"`
	Sink       bool `json:"sink,omitzero"` // where there is an external one
}

// TerminalEOF says that the terminal endpoint ended, after whatever packets
// came before. Error is empty, or the errno name of the failed receive.
type TerminalEOF struct {
	Error string `json:"error"`
}

// Rendezvous says that the producer stopped at a point of its fixture. The
// counters are the fixture's own and the kernel's, not the launcher's.
type Rendezvous struct {
	PID             int      `json:"pid"`
	Point           uint32   `json:"point"`
	Parked          bool     `json:"parked"` // it ignored SIGSTOP and waits in a loop
	CandidateBytes  uint64   `json:"candidate_bytes"`
	SinkBytes       uint64   `json:"sink_bytes"`
	DiagnosticBytes uint64   `json:"diagnostic_bytes"`
	Words           []uint64 `json:"words"`
	WChar           uint64   `json:"wchar"` // /proc/PID/io
	// What the kernel accounted to the process by then: its processor time in
	// microseconds (in ticks, mostly of 10 ms), its resident peak, and how many
	// descriptors it has open.
	UserUS          int64 `json:"user_us"`
	SystemUS        int64 `json:"system_us"`
	PeakRSSBytes    int64 `json:"peak_rss_bytes"`
	OpenDescriptors int   `json:"open_descriptors"`
	// ReportRead and DiagnosticRead are the bytes that the host had read by then.
	ReportRead     int64 `json:"report_read"`
	DiagnosticRead int64 `json:"diagnostic_read"`
}

// Control says what became of one rule of the scenario.
type Control struct {
	Rule    int              `json:"rule"` // index into Scenario.Controls
	Trigger scenario.Trigger `json:"trigger"`
	Action  scenario.Action  `json:"action"`
	Result  string           `json:"result"` // done, failed, not-reached
	Detail  string           `json:"detail"` // why it failed
}

// The results of a Control.
const (
	Done       = "done"
	Failed     = "failed"
	NotReached = "not-reached" // the attempt ended before the trigger held
)

// Observe is what /proc said of a process at one moment.
type Observe struct {
	Who                  string         `json:"who"`
	PID                  int            `json:"pid"` // as the attempt's namespace numbers it
	PPID                 int            `json:"ppid"`
	State                string         `json:"state"` // of /proc/PID/status: R, S, T, Z, …
	UIDs                 []uint32       `json:"uids"`  // real, effective, saved, filesystem
	GIDs                 []uint32       `json:"gids"`
	Groups               []uint32       `json:"groups"`
	Capabilities         Capabilities   `json:"capabilities"`
	NoNewPrivs           bool           `json:"no_new_privs"`
	Seccomp              int            `json:"seccomp"` // 0 none, 1 strict, 2 filter
	SeccompFilters       int            `json:"seccomp_filters"`
	SupervisorFilters    int            `json:"supervisor_filters"`
	NSPIDs               []int          `json:"ns_pids"`
	Namespaces           Namespaces     `json:"namespaces"`
	SupervisorNamespaces Namespaces     `json:"supervisor_namespaces"`
	HostNamespaces       Namespaces     `json:"host_namespaces"` // of the driver
	SupervisorUIDs       []uint32       `json:"supervisor_uids"`
	Descriptors          []Descriptor   `json:"descriptors"`
	Threads              int            `json:"threads"`
	Children             int            `json:"children"`
	Cgroup               []string       `json:"cgroup"` // lines of /proc/PID/cgroup
	SupervisorCgroup     []string       `json:"supervisor_cgroup"`
	Exe                  string         `json:"exe"`
	Argv                 []string       `json:"argv"`
	CWD                  string         `json:"cwd"`
	Root                 string         `json:"root"`
	Environment          []string       `json:"environment"`
	WritableMappings     []string       `json:"writable_mappings"` // files mapped shared and writable
	HostEndpoints        []HostEndpoint `json:"host_endpoints"`
}

// Capabilities are the five sets of a process as hexadecimal text.
type Capabilities struct {
	Effective   string `json:"eff"`
	Permitted   string `json:"prm"`
	Bounding    string `json:"bnd"`
	Inheritable string `json:"inh"`
	Ambient     string `json:"amb"`
}

// Namespaces are the inode numbers of a process's namespaces; 0 is unreadable.
type Namespaces struct {
	PID    uint64 `json:"pid"`
	Mount  uint64 `json:"mnt"`
	Net    uint64 `json:"net"`
	IPC    uint64 `json:"ipc"`
	UTS    uint64 `json:"uts"`
	User   uint64 `json:"user"`
	Cgroup uint64 `json:"cgroup"`
}

// Descriptor is one open descriptor of a process.
type Descriptor struct {
	Number int    `json:"number"`
	Name   string `json:"name"` // the driver's word for it, "" when it gave none
	Kind   string `json:"kind"` // pipe, stream, seqpacket, memfd, file, device, socket, other
	Link   string `json:"link"` // of /proc/PID/fd
	Device uint64 `json:"dev"`
	Inode  uint64 `json:"ino"`
	Access string `json:"access"` // r, w, rw
	// Nonblocking is O_NONBLOCK of its description, where /proc/PID/fdinfo was read.
	Nonblocking bool `json:"nonblocking"`
}

// HostEndpoint is an endpoint as the host knows it: both inodes of a socket
// pair, twice the same of a pipe.
type HostEndpoint struct {
	Name     string `json:"name"`
	Device   uint64 `json:"dev"`
	Launcher uint64 `json:"launcher_ino"`
	Host     uint64 `json:"host_ino"`
}

// Producers says how many processes mapping the fixture's library were alive
// when the first byte of the report had been read, and how many bytes of
// storage the file system of the spool had given out by then; -1 is unknown.
type Producers struct {
	Alive      int   `json:"alive"`
	SpoolBytes int64 `json:"spool_bytes"`
}

// Exit is the wait status of the started process. Exactly one of Status and
// Signal is set.
type Exit struct {
	Who    string `json:"who"` // supervisor; host for a host under test; process for an unsupervised one
	PID    int    `json:"pid"`
	Status *int   `json:"status"`
	Signal *int   `json:"signal"`
	// MaxRSSBytes is wait4's value, which is never below the driver's own size
	// at the fork. PeakRSSBytes is the largest VmHWM that was seen while the
	// process ran: a lower bound of its own peak.
	MaxRSSBytes  int64 `json:"max_rss_bytes"`
	PeakRSSBytes int64 `json:"peak_rss_bytes"`
	// ReadBytes is the kernel's count of bytes read by the process and the
	// children that it reaped; -1 where the kernel did not tell.
	ReadBytes int64 `json:"read_bytes"`
	UserUS    int64 `json:"user_us"`
	SystemUS  int64 `json:"system_us"`
}

// ProducerMounts are the lines of /proc/PID/mountinfo of a process when it was
// first seen with the fixture's library mapped.
type ProducerMounts struct {
	PID      int      `json:"pid"`
	Mounts   []string `json:"mounts"`
	HostRoot string   `json:"host_root"` // device of the driver's root, major:minor
	Spool    string   `json:"spool"`     // device of the spool
}

// ProducerExit is how a process that had mapped the fixture's library ended,
// from the kernel and not from its parent. Exactly one of Status and Signal is
// set. A producer that was too short to be seen, or that a kernel without
// PIDFD_INFO_EXIT does not tell of, has none.
type ProducerExit struct {
	PID    int  `json:"pid"`
	Status *int `json:"status"`
	Signal *int `json:"signal"`
}

// FinalizerExit is how a finalizer ended whose end a control awaited, as
// ProducerExit is of a producer.
type FinalizerExit struct {
	PID    int  `json:"pid"`
	Status *int `json:"status"`
	Signal *int `json:"signal"`
}

// ProducerTracer says, of an attempt with faults, which process traced a
// producer when it was first seen; 0 is none, as it must be.
type ProducerTracer struct {
	PID    int `json:"pid"`
	Tracer int `json:"tracer"`
}

// Injection is the end of the process that injected an attempt's faults.
// Exactly one of Status and Signal is set. Said is what it told on its standard
// error.
type Injection struct {
	Status *int   `json:"status"`
	Signal *int   `json:"signal"`
	Said   string `json:"said"`
}

// Watchdog says that the driver gave up and killed what it had started.
// Waiting is exit, drain when a writer of an endpoint outlived the launcher,
// bytes when an endpoint delivered far more than was granted, or call when a
// stopped supervisor was to go on at a call that no producer will make any more.
type Watchdog struct {
	LimitMS uint64 `json:"limit_ms"`
	Waiting string `json:"waiting"`
}

// Lateness is the attempt's own measure of how loaded the machine was: by how
// much, at most, one of the driver's timed waits ended late. A promptness check
// adds it to its slack.
type Lateness struct {
	MaxNS int64 `json:"max_ns"`
	Waits int   `json:"waits"` // how many were measured
}

// Leftover is something that the launcher left behind.
type Leftover struct {
	What   string `json:"what"` // process, cgroup, mount, file, ipc
	Detail string `json:"detail"`
}

// Relayed is one thing that the relay in the supervisor's place did. It is
// recorded when the attempt is over; At is when it was done.
type Relayed struct {
	At     int64  `json:"at"` // nanoseconds of CLOCK_MONOTONIC
	Did    string `json:"did"`
	Size   int64  `json:"size"` // bytes, of what has some
	Detail string `json:"detail"`
}

// Result is a file that the host under test left where its results belong.
type Result struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Finalized is what a finalizer was given, as its stand-in saw it or, of one
// by itself, as far as it has read. It is recorded when the attempt is over.
type Finalized struct {
	Argv  []string `json:"argv"`
	Given uint64   `json:"given"` // bytes of its input
}

// Storage is what the supervisor and its helpers had in storage at one moment:
// files of the spool, named or open, and anonymous files that they hold.
type Storage struct {
	Logical   uint64       `json:"logical"`   // bytes, the sum of the sizes
	Allocated uint64       `json:"allocated"` // bytes of blocks
	Files     []StoredFile `json:"files"`
}

// StoredFile is a member of Storage.
type StoredFile struct {
	Inode     uint64 `json:"ino"`
	Size      uint64 `json:"size"`
	Allocated uint64 `json:"allocated"`
	Link      string `json:"link"` // as one of its holders names it
}

// Target is what happened in the folder of a named sink's target to the name of
// the target, and the file that stood there in the end.
type Target struct {
	Steps    []string `json:"steps"` // created, opened, written, moved (there, out of the same folder), arrived (from elsewhere), left, deleted
	Mode     uint32   `json:"mode"`  // permissions; 0 without a file
	UID      uint32   `json:"uid"`
	Launched uint32   `json:"launched"` // uid that the launcher was started with
}

// Fault says that the driver itself could not do its part: nothing can be
// said of the launcher.
type Fault struct {
	Operation string `json:"operation"`
	Cause     string `json:"cause"`
}

// Hashes are the digests of the other files of the attempt.
type Hashes struct {
	Files map[string]string `json:"files"` // name: lowercase hex SHA-256
}

// End is the last event. SHA256 is the digest of every line before it.
type End struct {
	SHA256 string `json:"sha256"`
}

// Unknown is an event of a kind that this version does not know.
type Unknown struct {
	Name string
	Line []byte
}

// Kind is the value of the member kind.
func (Start) Kind() string { return "start" }

// Kind is the value of the member kind.
func (Bytes) Kind() string { return "bytes" }

// Kind is the value of the member kind.
func (EOF) Kind() string { return "eof" }

// Kind is the value of the member kind.
func (Packet) Kind() string { return "packet" }

// Kind is the value of the member kind.
func (TerminalEOF) Kind() string { return "terminal_eof" }

// Kind is the value of the member kind.
func (Rendezvous) Kind() string { return "rendezvous" }

// Kind is the value of the member kind.
func (Control) Kind() string { return "control" }

// Kind is the value of the member kind.
func (Observe) Kind() string { return "observe" }

// Kind is the value of the member kind.
func (Producers) Kind() string { return "producers_at_first_report_byte" }

// Kind is the value of the member kind.
func (Exit) Kind() string { return "exit" }

// Kind is the value of the member kind.
func (ProducerMounts) Kind() string { return "producer_mounts" }

// Kind is the value of the member kind.
func (ProducerExit) Kind() string { return "producer_exit" }

// Kind returns the event kind.
func (FinalizerExit) Kind() string { return "finalizer_exit" }

// Kind is the value of the member kind.
func (ProducerTracer) Kind() string { return "producer_tracer" }

// Kind is the value of the member kind.
func (Injection) Kind() string { return "injection" }

// Kind is the value of the member kind.
func (Watchdog) Kind() string { return "watchdog" }

// Kind is the value of the member kind.
func (Lateness) Kind() string { return "lateness" }

// Kind is the value of the member kind.
func (Leftover) Kind() string { return "leftover" }

// Kind is the value of the member kind.
func (Relayed) Kind() string { return "relayed" }

// Kind is the value of the member kind.
func (Result) Kind() string { return "result" }

// Kind is the value of the member kind.
func (Finalized) Kind() string { return "finalized" }

// Kind is the value of the member kind.
func (Storage) Kind() string { return "storage" }

// Kind is the value of the member kind.
func (Target) Kind() string { return "target" }

// Kind is the value of the member kind.
func (Fault) Kind() string { return "fault" }

// Kind is the value of the member kind.
func (Hashes) Kind() string { return "hashes" }

// Kind is the value of the member kind.
func (End) Kind() string { return "end" }

// Kind is the value of the member kind.
func (u Unknown) Kind() string { return u.Name }
