package oracle

import (
	"strings"

	"touchstone/conformance/evidence"
)

func sawMounts(v *view) bool {
	_, seen := evidence.First[evidence.ProducerMounts](v.attempt)
	return seen
}

// hostNotMounted: neither the root of the host's file system nor the spool is
// to be found in the producer's mounts, whatever may be denied there.
//
// Rules: R02.
func hostNotMounted(v *view, w *wants) {
	for _, m := range evidence.All[evidence.ProducerMounts](v.attempt) {
		for _, line := range m.Body.Mounts {
			fields := strings.Fields(line) // id, parent, device, root within it, mount point
			if len(fields) < 5 {
				continue
			}
			w.that(fields[2] != m.Body.HostRoot || fields[3] != "/", "the host's root mounted in the producer at "+fields[4], "only parts of it")
			w.that(fields[2] != m.Body.Spool, "the spool mounted in the producer at "+fields[4], "none of it")
		}
	}
}
