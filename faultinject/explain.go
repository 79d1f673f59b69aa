package faultinject

import (
	"fmt"
	"strings"
	"time"
)

// Explain returns the rule in English, a sentence a line, for people.
func Explain(r Rule) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s", r)
	line("  watches   %s", strings.Join(r.Syscalls(), ", "))
	line("  made by   %s", explainWho(r))
	if r.FD != "" {
		line("  on        the object named %s, by whatever descriptor", r.FD)
	}
	if r.Path != "" {
		line("  with path %s", r.Path)
	}
	for _, test := range r.Args {
		line("  where     argument %d %s %d", test.Arg, test.Op, test.Value)
	}
	line("  fires     %s", explainWhen(r))
	line("  and then  %s", explainAction(r))
	line("  counting  %s", map[Scope]string{
		PerRule:    "once over the whole process tree",
		PerProcess: "in each process apart", PerThread: "in each thread apart", PerObject: "for each object apart",
	}[r.Scope])
	return b.String()
}

func explainWho(r Rule) string {
	words := map[Role]string{Supervisor: "the root image", Verifier: "the images named V", Untrusted: "other images"}
	var out []string
	for _, w := range roleWords {
		if r.Roles&w.role != 0 {
			out = append(out, words[w.role])
		}
	}
	who := strings.Join(out, " and ")
	if r.Thread != 0 {
		who += fmt.Sprintf(", thread %d of its process", r.Thread)
	}
	return who
}

func explainWhen(r Rule) string {
	var when string
	switch r.At.Kind {
	case AtCall:
		when = fmt.Sprintf("at call %d; a call that the kernel restarts keeps its number", r.At.N)
	case AtEvery:
		when = fmt.Sprintf("at every call whose number %d divides", r.At.N)
	case AtBytes:
		when = fmt.Sprintf("when exactly %d bytes have passed, by the kernel's own results; "+
			"the call that would cross is cut there", r.At.N)
	case AtTime:
		when = fmt.Sprintf("at the first call %s or more after the start", r.At.Delay)
	}
	if r.At.After != "" {
		when += fmt.Sprintf(", counted once rule %s has fired", r.At.After)
	}
	switch {
	case r.Times == Unlimited:
		return when + "; any number of times, at least once"
	case r.Times > 1:
		return when + fmt.Sprintf("; %d times", r.Times)
	}
	return when + "; once"
}

func explainAction(r Rule) string {
	a := r.Do
	switch a.Kind {
	case DoShort:
		return fmt.Sprintf("the kernel moves only %d bytes and says so; the caller's memory is put back", a.N)
	case DoErrno:
		return explainErrno(r)
	case DoRet:
		return fmt.Sprintf("the call returns %d%s", a.N, effectClause(r))
	case DoAgain:
		return "the call returns EAGAIN, and every epoll set that watches the descriptor gets an edge" +
			afterText(" after ", a.Nudge)
	case DoDelay:
		return fmt.Sprintf("the thread waits %s %s the call", a.Delay, sideText(a.Late))
	case DoSignal:
		if a.Every != 0 {
			return fmt.Sprintf("the process gets %s every %s for %s", a.Signal, a.Every, a.For)
		}
		return "the thread gets " + a.Signal
	case DoKill:
		if a.Role == 0 {
			return "the calling process is killed"
		}
		return "every process of role " + a.Role.Letters()[0] + " is killed"
	case DoStop:
		return "the calling process is stopped"
	case DoHold:
		return fmt.Sprintf("the thread is held %s the call until %s is released", sideText(a.Late), a.Name)
	case DoRelease:
		return "once the call is over, every thread held as " + a.Name + " goes on"
	case DoClamp:
		return "nothing more: the cut is the fault"
	case DoMark:
		return "nothing: a line of evidence only"
	}
	return a.String()
}

func explainErrno(r Rule) string {
	out := "the call fails with " + r.Do.Errno + effectClause(r)
	if r.Do.Storm > 1 {
		out += fmt.Sprintf(", and so do the next ones, %d in all", r.Do.Storm)
	}
	if r.Do.StormFor != 0 {
		out += fmt.Sprintf(", and so do the next ones for %s", r.Do.StormFor)
	}
	if r.Do.Errno == "EPIPE" && !r.Do.NoSigpipe {
		out += "; a write also raises SIGPIPE"
	}
	return out
}

func effectClause(r Rule) string {
	if r.Effect == After {
		return ", after the kernel has done it"
	}
	return ", and the kernel never sees it"
}

func sideText(late bool) string {
	if late {
		return "after"
	}
	return "before"
}

func afterText(word string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return word + d.String()
}
