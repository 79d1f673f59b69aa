package alter

import (
	"reflect"
	"slices"

	"touchstone/conformance/evidence"
)

// observations are what may be wrong with a process that the host looked at.
var observations = map[string]func(o *evidence.Observe, s *subject){
	"root":          func(o *evidence.Observe, _ *subject) { o.UIDs = []uint32{0, 0, 0, 0} },
	"same-user":     func(o *evidence.Observe, _ *subject) { o.UIDs = slices.Clone(o.SupervisorUIDs) },
	"root-group":    func(o *evidence.Observe, _ *subject) { o.Groups = []uint32{0} },
	"capability":    func(o *evidence.Observe, _ *subject) { o.Capabilities.Bounding = "0000000000000001" },
	"privileges":    func(o *evidence.Observe, _ *subject) { o.NoNewPrivs = false },
	"no-filter":     func(o *evidence.Observe, _ *subject) { o.Seccomp = 0 },
	"thread":        func(o *evidence.Observe, _ *subject) { o.Threads++ },
	"child":         func(o *evidence.Observe, _ *subject) { o.Children++ },
	"argv-cut":      func(o *evidence.Observe, _ *subject) { o.Argv = o.Argv[:len(o.Argv)/2] },
	"argv-reversed": func(o *evidence.Observe, _ *subject) { o.Argv = slices.Clone(o.Argv); slices.Reverse(o.Argv) },
	"file-open": func(o *evidence.Observe, _ *subject) {
		hold(o, evidence.Descriptor{Number: 63, Kind: "file", Inode: 1, Device: 1})
	},
}

// alterObserved: observed DEED, of each observation of a producer.
func alterObserved(s *subject, words []string, yield yielding) {
	switch words[0] {
	case "shared-namespace":
		sharedNamespaces(s, yield)
	case "endpoint":
		for _, e := range s.attempt.Launch.HostEndpoints {
			changeObserved(s, "holds the host's "+e.Name, yield, func(o *evidence.Observe) {
				hold(o, evidence.Descriptor{Number: 63, Kind: "pipe", Device: e.Device, Inode: e.Launcher})
			})
		}
	case "inherited":
		for _, d := range s.attempt.Launch.Descriptors {
			changeObserved(s, "holds "+d.Name, yield, func(o *evidence.Observe) { hold(o, d) })
		}
	case "standard-input", "two-streams":
		number := map[string]int{"standard-input": 0, "two-streams": 1}[words[0]]
		changeObserved(s, words[0], yield, func(o *evidence.Observe) {
			o.Descriptors = slices.Clone(o.Descriptors)
			for i := range o.Descriptors {
				if o.Descriptors[i].Number == number {
					o.Descriptors[i] = evidence.Descriptor{Number: number, Kind: "pipe", Link: "altered", Device: 1, Inode: 1}
				}
			}
		})
	default:
		changeObserved(s, words[0], yield, func(o *evidence.Observe) { observations[words[0]](o, s) })
	}
}

func changeObserved(s *subject, word string, yield yielding, change func(*evidence.Observe)) {
	changeEach(s, yield, func(o evidence.Observe) []named[evidence.Observe] {
		change(&o)
		return []named[evidence.Observe]{{o.Who + " " + word, o}}
	})
}

func hold(o *evidence.Observe, d evidence.Descriptor) {
	o.Descriptors = append(slices.Clone(o.Descriptors), d)
}

// sharedNamespaces: each of its namespaces is the host's.
func sharedNamespaces(s *subject, yield yielding) {
	kind := reflect.TypeFor[evidence.Namespaces]()
	for i := range kind.NumField() {
		changeObserved(s, "shares "+kind.Field(i).Name, yield, func(o *evidence.Observe) {
			reflect.ValueOf(&o.Namespaces).Elem().Field(i).Set(reflect.ValueOf(o.HostNamespaces).Field(i))
		})
	}
}
