package engine

import (
	"time"

	"touchstone/faultinject"
)

// rule is a plan's rule with what has happened to it.
type rule struct {
	*faultinject.Rule
	after    *rule
	sole     counter // the counter of scope rule
	counters map[key]*counter

	seen, realised, refunded, delivered uint64
	inapplicable, otherRole             uint64
	first                               uint64
	overfired                           bool
	inexact                             string // why the byte count is not exact
}

// key names a counter within its scope.
type key struct{ dev, ino, id uint64 }

// counter is where one scope of a rule stands.
type counter struct {
	rule      *rule
	seen      uint64 // logical calls
	fired     uint64 // tokens taken and not given back
	owed      uint64 // tokens given back, not yet taken again
	last      uint64 // ordinal of the last firing
	bytes     uint64 // moved, by the kernel's results
	busy      bool   // a counted call is in flight
	stormLeft uint64
	stormEnd  time.Duration
}

func newRule(plan *faultinject.Rule) *rule {
	r := &rule{Rule: plan}
	r.sole.rule = r
	if plan.Scope != faultinject.PerRule {
		r.counters = map[key]*counter{}
	}
	return r
}

// counter returns the counter that c falls under.
func (e *Engine) counter(r *rule, c *Call) *counter {
	var k key
	switch r.Scope {
	case faultinject.PerRule:
		return &r.sole
	case faultinject.PerProcess:
		k.id = uint64(c.TGID)
	case faultinject.PerThread:
		k.id = uint64(c.TID)
	case faultinject.PerObject:
		if fd, has := e.fd(c); has {
			o, _ := e.facts.Object(c, fd)
			k = key{dev: o.Dev, ino: o.Ino}
		}
	}
	found := r.counters[k]
	if found == nil {
		found = &counter{rule: r}
		r.counters[k] = found
	}
	return found
}

// spent tells whether the counter has no firing left.
func (k *counter) spent() bool {
	return k.rule.Times != faultinject.Unlimited && k.fired >= uint64(k.rule.Times)
}

// countsBytes tells whether the counter still waits for its byte count. Until
// then its calls go one at a time and each is seen at its exit.
func (k *counter) countsBytes() bool {
	return k.rule.At.Kind == faultinject.AtBytes && k.bytes < k.rule.At.N && !k.spent()
}

// storming tells whether a storm is on.
func (k *counter) storming(facts Facts) bool {
	return k.stormLeft > 0 || k.stormEnd > 0 && facts.Now() < k.stormEnd
}

// due tells whether the rule fires at this ordinal.
func (k *counter) due(ordinal uint64, facts Facts) bool {
	if k.storming(facts) {
		return true
	}
	if k.spent() {
		return false
	}
	if k.owed > 0 {
		return true
	}
	if k.last == ordinal {
		return false // fired already, and the kernel restarted the call
	}
	switch at := k.rule.At; at.Kind {
	case faultinject.AtCall:
		return ordinal >= at.N
	case faultinject.AtEvery:
		return ordinal%at.N == 0
	case faultinject.AtBytes:
		return k.bytes >= at.N
	case faultinject.AtTime:
		return facts.Now() >= at.Delay
	}
	return false
}

// take spends a token, or one call of a storm that is on.
func (k *counter) take(ordinal uint64, facts Facts) {
	k.last = ordinal
	if k.storming(facts) {
		if k.stormLeft > 0 {
			k.stormLeft--
		}
		return
	}
	k.fired++
	if k.owed > 0 {
		k.owed--
	}
	if k.rule.Do.Storm > 1 {
		k.stormLeft = k.rule.Do.Storm - 1
	}
	if k.rule.Do.StormFor > 0 {
		k.stormEnd = facts.Now() + k.rule.Do.StormFor
	}
}

// realise books an outcome that went as planned.
func (k *counter) realise(first bool) {
	k.rule.delivered++
	if !first {
		return
	}
	if k.rule.realised == 0 {
		k.rule.first = k.last
	}
	k.rule.realised++
	if k.rule.Scope == faultinject.PerRule && k.rule.Times != faultinject.Unlimited &&
		k.rule.realised > uint64(k.rule.Times) {
		k.rule.overfired = true
	}
}

// refund gives the token back: the next call that the rule can act on gets it.
func (k *counter) refund(first bool) {
	k.rule.refunded++
	if !first {
		if k.rule.Do.Storm > 1 {
			k.stormLeft++
		}
		return
	}
	k.fired--
	k.owed++
	k.stormLeft, k.stormEnd = 0, 0
}
