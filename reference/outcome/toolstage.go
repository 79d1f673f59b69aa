package outcome

// ToolStage decides over one tool of the early stages, as Machine does over the
// producer; its zero value is a running tool. The same evidence latches, in the
// same order, with one difference: what a tool's own end says waits until every
// diagnostic byte of it was read and delivered, because a failure of a channel
// wins over it (R20). A stage ends with its domain: a helper that outlives the
// tool is killed, and is no failure (C-75).
//
// Rules: R19, R20, C-16, C-73, C-75.
type ToolStage struct {
	failure  *Failure
	graceful bool
	genuine  bool
	status   Status

	ended, emptied, read, delivered, graceOver, expired bool // facts
	requested, killed, finished                         bool // actions
}

// Failure returns the latched cause, nil for none so far.
func (s *ToolStage) Failure() *Failure { return s.failure }

// Genuine reports whether the cause is the tool's own end.
func (s *ToolStage) Genuine() bool { return s.genuine }

// Expired reports whether the lifetime is over: no data may be written.
func (s *ToolStage) Expired() bool { return s.expired }

// Observe takes one batch.
//
// Rules: R19.
func (s *ToolStage) Observe(batch ...Observation) {
	var found []Observation
	for _, o := range batch {
		switch o.kind {
		case evidence:
			found = append(found, o)
		case lifetimeOver:
			s.expired = true
			found = append(found, o)
		case producerEnded:
			s.ended, s.status = true, o.status
		case domainEnded:
			s.emptied = true
		case diagnosticsRead:
			s.read = true
		case diagnosticsDone:
			s.delivered = true
		case graceOver:
			s.graceOver = true
		}
	}
	if s.failure == nil && len(found) > 0 {
		cause := first(found)
		s.failure = &cause.failure
		s.graceful = cause.rank == rankCancellation || cause.kind == lifetimeOver
	}
}

// Next returns what to do now: Wait, RequestStop, Kill or Finish.
func (s *ToolStage) Next() Action {
	switch {
	case s.finished:
		return Wait
	case !s.killed && !s.emptied && s.mustKill():
		s.killed = true
		return Kill
	case s.failure != nil && !s.ended && !s.emptied && !s.killed && !s.requested:
		s.requested = true
		return RequestStop
	case !s.emptied || s.failure == nil && !(s.read && s.delivered):
		return Wait
	}
	s.finished = true
	if s.failure == nil && !s.status.Clean() {
		failure := ProducerFailed(s.status, false)
		s.failure, s.genuine = &failure, true
	}
	return Finish
}

func (s *ToolStage) mustKill() bool {
	if s.failure == nil {
		return s.ended
	}
	return !s.graceful || s.ended || s.graceOver
}
