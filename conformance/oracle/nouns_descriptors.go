package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// held is one descriptor of the producer, as its fixture listed it or as the
// host saw it.
type held struct {
	number       int
	kind         string // chr fifo sock reg dir other
	device, node uint64
	null         bool // the null device
}

func (h held) String() string {
	return fmt.Sprintf("descriptor %d (%s %d:%d)", h.number, h.kind, h.device, h.node)
}

func parseDescriptors(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	switch words[0] {
	case "publishers-nonblocking":
		return each(publishersNonblocking)
	case "one-writer":
		return each(oneWriter)
	}
	judges := map[string]func(*view, []held, *wants){
		"allowed-only":         allowedOnly,
		"stdin-null":           stdinNull,
		"one-diagnostic-inode": oneDiagnosticInode,
		"no-host-endpoint":     noHostEndpoint,
		"no-extra":             noExtra,
	}
	judge, found := judges[words[0]]
	if !found {
		return test{}, fmt.Errorf("unknown %q", words[0])
	}
	return each(func(v *view, w *wants) {
		tables := v.descriptorTables()
		w.that(len(tables) > 0, "no list of the producer's descriptors", "a list from the fixture or from outside")
		for _, table := range tables {
			judge(v, table, w)
		}
	})
}

// descriptorTables are the fixture's own list and one for each observation.
func (v *view) descriptorTables() [][]held {
	var tables [][]held
	if own := listedDescriptors(lines(v.diagnostics())); len(own) > 0 {
		tables = append(tables, own)
	}
	for _, o := range evidence.All[evidence.Observe](v.attempt) {
		if o.Body.Who != "producer" || len(o.Body.Descriptors) == 0 {
			continue
		}
		var table []held
		for _, d := range o.Body.Descriptors {
			table = append(table, held{d.Number, kindOf(d), d.Device, d.Inode, d.Link == "/dev/null"})
		}
		tables = append(tables, table)
	}
	return tables
}

func kindOf(d evidence.Descriptor) string {
	switch d.Kind {
	case "pipe":
		return "fifo"
	case "stream", "seqpacket", "socket":
		return "sock"
	case "memfd", "file":
		return "reg"
	case "device":
		return "chr"
	}
	return "other"
}

// listedDescriptors reads "descriptor N type=T dev=D ino=I rdev=MAJ:MIN access=A".
func listedDescriptors(all []string) []held {
	var table []held
	for _, line := range all {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[0] != "descriptor" {
			continue
		}
		number, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		h := held{number: number}
		for _, f := range fields[2:] {
			key, value, _ := strings.Cut(f, "=")
			switch key {
			case "type":
				h.kind = value
			case "dev":
				h.device, _ = strconv.ParseUint(value, 10, 64) // 0 matches no endpoint
			case "ino":
				h.node, _ = strconv.ParseUint(value, 10, 64)
			case "rdev":
				h.null = value == "1:3"
			}
		}
		table = append(table, h)
	}
	return table
}

// allowedOnly: besides 0, 1 and 2 nothing but private streams, and the files
// that the profile itself admits (an arena).
//
// Rules: R03.
func allowedOnly(v *view, table []held, w *wants) {
	for _, h := range table {
		admitted := slices.ContainsFunc(v.attempt.Launch.Descriptors, func(d evidence.Descriptor) bool {
			return d.Kind == "memfd" && d.Inode == h.node && d.Device == h.device
		})
		private := h.kind == "fifo" || h.kind == "sock"
		w.that(h.number <= 2 || private || admitted, h.String(), "0, 1, 2 and private streams only")
	}
	noHostEndpoint(v, table, w)
}

func stdinNull(_ *view, table []held, w *wants) {
	i := slices.IndexFunc(table, func(h held) bool { return h.number == 0 })
	if i < 0 {
		w.that(false, "no descriptor 0", "the null device")
		return
	}
	w.that(table[i].null && table[i].kind == "chr", table[i].String(), "the null device")
}

func oneDiagnosticInode(_ *view, table []held, w *wants) {
	var found []held
	for _, h := range table {
		if h.number == 1 || h.number == 2 {
			found = append(found, h)
		}
	}
	if len(found) != 2 {
		w.that(false, fmt.Sprintf("%d of descriptors 1 and 2", len(found)), "both")
		return
	}
	same := found[0].device == found[1].device && found[0].node == found[1].node
	stream := found[0].kind == "fifo" || found[0].kind == "sock"
	w.that(same && stream, fmt.Sprintf("%s, %s", found[0], found[1]), "one private stream")
}

// noHostEndpoint compares inodes of both ends with what the producer holds.
func noHostEndpoint(v *view, table []held, w *wants) {
	for _, e := range v.attempt.Launch.HostEndpoints {
		for _, h := range table {
			same := h.device == e.Device && (h.node == e.Launcher || h.node == e.Host)
			w.that(!same, fmt.Sprintf("%s is the host's %s endpoint", h, e.Name), "no endpoint of the host")
		}
	}
}

// noExtra: what else the launcher inherited does not reach the producer.
func noExtra(v *view, table []held, w *wants) {
	extras := 0
	for _, d := range v.attempt.Launch.Descriptors {
		if !strings.HasPrefix(d.Name, "extra") {
			continue
		}
		extras++
		for _, h := range table {
			w.that(h.device != d.Device || h.node != d.Inode, fmt.Sprintf("%s is inherited descriptor %d", h, d.Number), "no inherited descriptor")
		}
	}
	if extras == 0 {
		w.undecided(Broken, "no extra descriptor was given to the launcher")
	}
}

// publishersNonblocking: the supervisor, seen while it publishes, would wait in
// no write to an endpoint of its host.
//
// Rules: R17.
func publishersNonblocking(v *view, w *wants) {
	seen := map[string]bool{}
	for _, o := range evidence.All[evidence.Observe](v.attempt) {
		for _, d := range o.Body.Descriptors {
			if o.Body.Who == scenario.Supervisor && slices.Contains([]string{"report", "diagnostic", "sink"}, d.Name) {
				seen[d.Name] = true
				w.that(d.Nonblocking, fmt.Sprintf("descriptor %d, the %s endpoint, blocks", d.Number, d.Name), "nonblocking")
			}
		}
	}
	w.that(seen["report"], "no supervisor with its report endpoint was observed", "one that publishes")
}

// oneWriter: an observed finalizer holds neither endpoint of which the
// supervisor is the only writer.
//
// Rules: R02, R03.
func oneWriter(v *view, w *wants) {
	seen := 0
	for _, o := range evidence.All[evidence.Observe](v.attempt) {
		if o.Body.Who != scenario.Finalizer || len(o.Body.Descriptors) == 0 {
			continue
		}
		seen++
		for _, d := range o.Body.Descriptors {
			own := d.Name == scenario.ChannelReport || d.Name == scenario.ChannelTerminal
			w.that(!own, fmt.Sprintf("descriptor %d of the finalizer is the host's %s endpoint", d.Number, d.Name), "the supervisor alone has it")
		}
	}
	w.that(seen > 0, "no finalizer with descriptors was observed", "one at work")
}
