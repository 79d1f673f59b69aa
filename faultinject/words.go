package faultinject

// The spellings of the closed sets, in one place for parser and printer.
var (
	actionWords = map[ActionKind]string{
		DoShort: "short", DoErrno: "errno", DoRet: "ret", DoAgain: "again", DoDelay: "delay",
		DoSignal: "signal", DoKill: "kill", DoStop: "stop", DoHold: "hold", DoRelease: "release",
		DoClamp: "clamp", DoMark: "mark",
	}
	scopeWords = map[Scope]string{
		PerRule: "rule", PerProcess: "process", PerThread: "thread", PerObject: "fd",
	}
	effectWords = map[Effect]string{Skip: "skip", After: "after"}
	bindWords   = map[BindKind]string{BindPath: "path", BindMemfd: "memfd"}
	roleWords   = []struct {
		role Role
		word string
	}{{Supervisor, "S"}, {Verifier, "V"}, {Untrusted, "U"}}
)

// Letters returns the letters of the roles in the set, in the order S, V, U.
func (r Role) Letters() []string {
	var out []string
	for _, w := range roleWords {
		if r&w.role != 0 {
			out = append(out, w.word)
		}
	}
	return out
}

// String returns the verb of the action.
func (k ActionKind) String() string { return actionWords[k] }

// String returns the word of the scope.
func (s Scope) String() string { return scopeWords[s] }

// String returns "skip" or "after".
func (e Effect) String() string { return effectWords[e] }

func reverse[K comparable](words map[K]string, word string) (K, bool) {
	for k, w := range words {
		if w == word {
			return k, true
		}
	}
	var none K
	return none, false
}

func roleOf(letter string) (Role, bool) {
	for _, w := range roleWords {
		if w.word == letter {
			return w.role, true
		}
	}
	return 0, false
}
