// Package relay is what the suite puts in a supervisor's place when it certifies
// a host: the host starts it, it starts the real supervisor behind it, and
// passes on what it is told to.
//
//	host ──M── relay ──pair of its own── supervisor
//	host ──R,N── relay ──pipe── supervisor        only where a point lies in that channel
//	host ──R,D,N,launch…── supervisor             all else is the supervisor's as the host gave it
//
// The relay is the process that the host started, so it alone sends on M, and
// it ends as the supervisor has ended, unless told otherwise. What it did is
// appended to a log, one JSON object a line, before the host can notice.
package relay
