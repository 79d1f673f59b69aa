package alter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"touchstone/conformance/evidence"
)

// alterRecord: member DEED PATTERN….
func alterRecord(s *subject, words []string, yield yielding) {
	alterMembers(s.record, s.wanted(), words, func(target string, text []byte) {
		if !strings.HasPrefix(target, "channels.status") && len(text) != len(s.record) {
			text = recount(text)
		}
		yield(s.withPacket(target, text))
	})
}

// wanted are the members of the record that the search is after.
func (s *subject) wanted() []member {
	if s.aim == nil {
		return s.members
	}
	return slices.DeleteFunc(slices.Clone(s.members), func(m member) bool { return !s.aim.at(m.path) })
}

// alterDisposition: disposition DEED PATTERN…, of the host's document, but for
// the usage in a record that it repeats.
func alterDisposition(s *subject, words []string, yield yielding) {
	text := s.attempt.File(evidence.DispositionFile)
	members := slices.DeleteFunc(read(text), func(m member) bool { return strings.Contains(m.path, ".usage.") })
	alterMembers(text, members, words, func(target string, altered []byte) {
		yield(s.withFile(target, evidence.Disposition, altered))
	})
}

// alterCatalog: catalog DEED PATTERN…, of the launcher's failure catalog.
func alterCatalog(s *subject, words []string, yield yielding) {
	text := s.attempt.File(evidence.CatalogFile)
	alterMembers(text, read(text), words, func(target string, altered []byte) {
		yield(alteration{target: target, files: map[string][]byte{evidence.CatalogFile: altered}})
	})
}

func alterMembers(text []byte, members []member, words []string, yield func(string, []byte)) {
	do := memberDeeds[words[0]]
	for _, m := range members {
		if slices.ContainsFunc(words[1:], func(pattern string) bool { return under(pattern, m.path) }) {
			do(text, m, func(to string, altered []byte) { yield(m.path+" "+to, altered) })
		}
	}
}

// withPacket is the attempt with other bytes in its first packet.
func (s *subject) withPacket(target string, text []byte) alteration {
	events := s.events()
	i := find[evidence.Packet](events)
	p := events[i].Body.(evidence.Packet)
	p.Size = len(text)
	events[i].Body = p
	return alteration{target: target, events: events, files: map[string][]byte{p.File: text}}
}

// withFile is the attempt with other bytes on a channel.
func (s *subject) withFile(target, channel string, content []byte) alteration {
	tells := slices.ContainsFunc(s.attempt.Events, func(e evidence.Event) bool {
		b, is := e.Body.(evidence.Bytes)
		return is && b.Channel == channel
	})
	if s.attempt.File(evidence.ChannelFile(channel)) != nil && !tells { // a file that no event speaks of
		return alteration{target: target, files: map[string][]byte{evidence.ChannelFile(channel): content}}
	}
	return alteration{target: target, events: resized(s.events(), channel, int64(len(content))), files: map[string][]byte{evidence.ChannelFile(channel): content}}
}

// alterPackets: packet DEED, of the messages of the terminal endpoint.
func alterPackets(s *subject, words []string, yield yielding) {
	i := find[evidence.Packet](s.attempt.Events)
	if i < 0 {
		return
	}
	p := s.attempt.Events[i].Body.(evidence.Packet)
	flip := func(at int) []byte {
		text := bytes.Clone(s.record)
		text[at] ^= 1
		return text
	}
	texts := map[string][]byte{
		"flip-first": flip(0), "no-lf": bytes.TrimSuffix(s.record, []byte("\n")), "blank": splice(s.record, 1, 1, " "),
		"second-lf": append(bytes.Clone(s.record), '\n'), "halved": s.record[:len(s.record)/2], "doubled": slices.Concat(s.record, s.record),
		"not-utf8":  bytes.Replace(s.record, []byte("supervised/v1"), []byte("supervised/v\xff"), 1),
		"oversized": append(bytes.Clone(s.record), bytes.Repeat([]byte(" "), 65537-len(s.record))...),
	}
	if text, known := texts[words[0]]; known {
		yield(s.withPacket(words[0], text))
		return
	}
	s.alterMessages(words[0], i, p, yield)
}

func (s *subject) alterMessages(deed string, i int, p evidence.Packet, yield yielding) {
	events := s.events()
	another := p
	another.Index, another.File = 1, evidence.PacketFile(1)
	end := find[evidence.TerminalEOF](events)
	switch deed {
	case "dropped":
		yield(alteration{target: "no packet", events: slices.Delete(events, i, i+1)})
	case "second":
		yield(alteration{target: "two packets", events: put(events, i+1, another), files: map[string][]byte{another.File: s.record}})
	case "truncated":
		p.Flags = []string{"MSG_TRUNC"}
		events[i].Body = p
		yield(alteration{target: "MSG_TRUNC", events: events})
	case "end-missing":
		yield(alteration{target: "no end", events: slices.Delete(events, end, end+1)})
	case "end-failed":
		events[end].Body = evidence.TerminalEOF{Error: "ECONNRESET"}
		yield(alteration{target: "ECONNRESET", events: events})
	case "after-end":
		events = slices.Delete(events, i, i+1)
		yield(alteration{target: "the packet after the end", events: put(events, end, p)})
	}
}

// alterBytes: bytes CHANNEL DEED.
func alterBytes(s *subject, words []string, yield yielding) {
	channel := words[0]
	content := s.attempt.File(evidence.ChannelFile(channel))
	for _, c := range altered(s, words[1], content) {
		if !bytes.Equal(c.content, content) || (content == nil) != (c.content == nil) {
			yield(s.withFile(channel+" "+c.word, channel, c.content))
		}
	}
}

// become is a channel's content after a deed, with a word for it.
type become struct {
	word    string
	content []byte
}

func altered(s *subject, deed string, content []byte) (all []become) {
	n := len(content)
	switch deed {
	case "flip":
		for _, at := range []int{0, n / 2, n - 2, n - 1} {
			if at >= 0 && at < n {
				all = append(all, become{fmt.Sprintf("byte %d", at), splice(content, at, at+1, string(content[at]^1))})
			}
		}
	case "cut":
		if n > 0 {
			all = append(all, become{"last byte cut", content[:n-1]})
		}
	case "halved":
		if n > 2 {
			all = append(all, become{"halved", content[:n/2]})
		}
	case "appended":
		all = append(all, become{"a byte appended", slices.Concat(content, []byte("x"))})
	case "emptied":
		all = append(all, become{"emptied", []byte{}})
	case "put":
		all = append(all, become{"a failure document", s.document(s.failure, `"error":"altered"`)}, become{"a success document", s.document(s.success, "")})
	case "descriptor-listed":
		for _, d := range s.attempt.Launch.Descriptors {
			line := fmt.Sprintf("descriptor 63 type=fifo dev=%d ino=%d rdev=0:0 access=w\n", d.Device, d.Inode)
			all = append(all, become{"with " + d.Name, slices.Concat(content, []byte(line))})
		}
	case "planted":
		for _, text := range s.planted {
			all = append(all, become{fmt.Sprintf("with %.20q", text), slices.Concat(content, []byte(text))})
		}
	case "line-dropped", "line-altered", "probe":
		all = linesAltered(deed, content)
	}
	return all
}

// document is a report that the attempt did not give, with the members by which
// such a document is known.
func (s *subject) document(members []string, more string) []byte {
	parts := []string{`"engine":"altered"`}
	if more != "" {
		parts = append(parts, more)
	}
	for _, name := range members {
		if name != "engine" && name != "error" {
			parts = append(parts, fmt.Sprintf("%q:0", name))
		}
	}
	return []byte("{" + strings.Join(parts, ",") + "}\n")
}

// linesAltered changes one line of a fixture's words at a time. A probe says
// what it denied, and the other way round.
func linesAltered(deed string, content []byte) (all []become) {
	const most = 120
	at := 0
	for line := range bytes.Lines(content) {
		if len(all) == most {
			break
		}
		start, end := at, at+len(line)
		at = end
		text := string(bytes.TrimSuffix(line, []byte("\n")))
		fields := strings.Fields(text)
		switch isProbe := len(fields) == 3 && fields[0] == "probe"; {
		case deed == "probe" && isProbe && fields[2] == "ok":
			all = append(all, become{text + " denied", splice(content, start, end, "probe "+fields[1]+" EPERM\n")})
		case deed == "probe" && isProbe:
			all = append(all, become{text + " allowed", splice(content, start, end, "probe "+fields[1]+" ok\n")})
		case deed == "line-dropped":
			all = append(all, become{fmt.Sprintf("without %.40q", text), splice(content, start, end, "")})
		case deed == "line-altered" && len(text) > 0:
			all = append(all, become{fmt.Sprintf("altered %.40q", text), splice(content, start, start+1, string(content[start]^1))})
		}
	}
	return all
}
