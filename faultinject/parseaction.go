package faultinject

import "time"

func (s *scanner) doClause(r *Rule) *Error {
	kind, err := named(s, "do", actionWords)
	if err != nil {
		return err
	}
	r.Do.Kind = kind
	a := &r.Do
	switch kind {
	case DoShort:
		a.N, err = s.number("short")
	case DoRet:
		a.N, err = s.number("ret")
	case DoErrno:
		return s.errnoAction(a)
	case DoAgain:
		a.Errno = "EAGAIN"
		if s.accept("nudge") {
			a.Nudge, err = s.duration("nudge")
		}
	case DoDelay:
		return s.delayAction(a)
	case DoSignal:
		return s.signalAction(a)
	case DoKill:
		return s.killAction(a)
	case DoHold:
		return s.holdAction(a)
	case DoRelease:
		a.Name, err = s.name("release")
	}
	return err
}

func (s *scanner) errnoAction(a *Action) *Error {
	word, err := s.text("errno")
	if err != nil {
		return err
	}
	if _, ok := ErrnoNumber(word); !ok {
		s.at--
		return s.fail("unknown error name %q", word)
	}
	a.Errno = word
	for err == nil && !s.clauseEnds() {
		switch {
		case a.Storm == 0 && s.accept("storm"):
			a.Storm, err = s.positive("storm")
		case a.StormFor == 0 && s.accept("for"):
			a.StormFor, err = s.lasting("for")
		case !a.NoSigpipe && s.accept("nosigpipe"):
			a.NoSigpipe = true
		default:
			return s.fail("unexpected %q", s.words[s.at].text)
		}
	}
	return err
}

func (s *scanner) positive(what string) (uint64, *Error) {
	n, err := s.number(what)
	if err == nil && n == 0 {
		s.at--
		err = s.fail("%s: got 0, want at least 1", what)
	}
	return n, err
}

func (s *scanner) lasting(what string) (time.Duration, *Error) {
	d, err := s.duration(what)
	if err == nil && d == 0 {
		s.at--
		err = s.fail("%s: got 0, want a longer time", what)
	}
	return d, err
}

func (s *scanner) delayAction(a *Action) *Error {
	var err *Error
	a.Delay, err = s.lasting("delay")
	if err == nil {
		a.Late = s.side()
	}
	return err
}

// side takes "before" or "after" and tells whether it was after.
func (s *scanner) side() bool {
	if s.accept("after") {
		return true
	}
	s.accept("before")
	return false
}

func (s *scanner) signalAction(a *Action) *Error {
	word, err := s.text("signal")
	if err != nil {
		return err
	}
	if _, ok := SignalNumber(word); !ok {
		s.at--
		return s.fail("unknown signal name %q", word)
	}
	a.Signal = word
	if s.accept("every") {
		if a.Every, err = s.lasting("every"); err != nil {
			return err
		}
		if !s.accept("for") {
			return s.fail("signal storm: want for DURATION")
		}
		a.For, err = s.lasting("for")
	}
	return err
}

func (s *scanner) killAction(a *Action) *Error {
	if s.clauseEnds() {
		return nil
	}
	word, err := s.text("kill")
	if err != nil {
		return err
	}
	role, ok := roleOf(word)
	if !ok {
		s.at--
		return s.fail("kill: got %q, want S, V or U", word)
	}
	a.Role = role
	return nil
}

func (s *scanner) holdAction(a *Action) *Error {
	var err *Error
	if a.Name, err = s.name("hold"); err != nil {
		return err
	}
	a.Late = s.side()
	if s.accept("max") {
		a.Max, err = s.lasting("max")
	}
	return err
}
