// Package jail builds the native execution domain of one producer: the
// operating-system boundary that must stand before any customer code runs.
//
// # Processes
//
//	S ── starts ──> launcher (static C, reference/jail/launcher; exits at once)
//	├── Init      PID 1 of new pid, mnt, net, ipc, uts and cgroup namespaces; builds the private root, then only
//	│             waits on the lifeline; the whole domain dies with it, and it dies with S
//	└── Producer  PID 2: never PID 1, so that signals and faults have their exact status
//
// The launcher clones both with CLONE_PARENT, so S is the real parent of
// both: wait status and resource usage come from the kernel, untouched by the
// size of S.
//
// # Descriptors
//
//	control   S <-> launcher, Init (until its root stands), Producer (until exec): SOCK_SEQPACKET
//	lifeline  S <-> Init: EOF ends Init; one query, "is anybody left?"
//	Listener  seccomp notifications of the producer; only S holds it
//
// # Order
//
// Start returns with the producer parked before exec, already under its uid,
// without capabilities, in its namespaces and under its filter. Attest
// compares that state from outside and makes the producer try a fork, which
// must arrive on the listener. Release lets it exec. On any latched cause the
// owner calls Kill (producer first), ReapProducer, then ReapInit: the kernel
// lets Init be reaped only when nothing is left, so that is the proof of an
// empty domain (C-66). The producer must be reaped before Init is waited for.
//
// # Tools
//
// A tool of the early stages gets the same, with a filter of its own that lets it
// create tasks inside the domain, no listener, and a work folder (Spec.Tool,
// C-75). Its domain ends as a whole.
//
// A step that fails is a *RefusedError: there is no weaker form of the domain.
//
// Rules: R02, R03, R18, C-15, C-63, C-66, C-75, C-78, C-79.
package jail
