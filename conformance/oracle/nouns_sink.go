package oracle

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"touchstone/conformance/evidence"
	"touchstone/conformance/scenario"
)

// parseSink reads the words about the native sink.
//
// Rules: R05, R10, C-23.
func parseSink(words []string) (test, error) {
	if len(words) == 2 && words[0] == "equals" {
		return each(func(v *view, w *wants) { v.equalsDocument(w, "sink", v.sink(), words[1]) })
	}
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	judge, known := map[string]func(*view, *wants){
		"absent":     sinkAbsent,
		"internal":   sinkInternal,
		"exported":   func(v *view, w *wants) { sinkExported(v, w, v.sink()) },
		"verified":   sinkVerified,
		"unverified": sinkUnverified,
		"as-ended":   sinkAsEnded,
		"unpublished": func(v *view, w *wants) {
			w.that(len(v.sink()) == 0, fmt.Sprintf("%d bytes on the external sink", len(v.sink())), "none")
		},
	}[words[0]]
	if !known {
		return test{}, fmt.Errorf("unknown %q", words[0])
	}
	return each(judge)
}

// sink are the bytes of the external sink as the host read them.
func (v *view) sink() []byte { return v.attempt.File(evidence.ChannelFile(scenario.ChannelSink)) }

// sinkAsEnded: the record spells the finalizer's end as the kernel tells it.
func sinkAsEnded(v *view, w *wants) {
	ends := evidence.All[evidence.FinalizerExit](v.attempt)
	if len(ends) == 0 {
		w.undecided(NotRun, "needs the finalizer's end from the kernel (Linux 6.15), and a control that awaits it")
		return
	}
	said := fmt.Sprintf("exit_status=%s and signal=%s", v.at("sink_verification", "exit_status"), v.at("sink_verification", "signal"))
	wanted := waitStatus(evidence.ProducerExit(ends[0].Body))
	w.that(said == wanted, said, wanted+", as the kernel tells of the finalizer")
}

// sinkInternal: captured and verified, and written nowhere.
func sinkInternal(v *view, w *wants) {
	observed, seen := number(v.channel("sink", "observed_bytes"))
	w.that(seen == "" && observed > 0, fmt.Sprintf("sink.observed_bytes=%d %s", observed, seen), "more than 0")
	w.equal("sink.accepted_bytes", v.channel("sink", "accepted_bytes"), observed)
	w.equal("sink.written_bytes", v.channel("sink", "written_bytes"), 0)
	w.null("sink.sha256", v.channel("sink", "sha256"))
	sinkComplete(v, w)
}

// sinkComplete: whole, with a digest of the wire and another of what its
// trailer speaks of.
func sinkComplete(v *view, w *wants) {
	w.truth("sink.complete", v.channel("sink", "complete"), true)
	w.truth("sink.truncated", v.channel("sink", "truncated"), false)
	accepted, logical := v.channel("sink", "accepted_sha256"), v.channel("sink", "logical_sha256")
	w.that(!accepted.isNull() && !logical.isNull() && accepted.String() != logical.String(),
		fmt.Sprintf("sink.accepted_sha256=%s, logical_sha256=%s", accepted, logical), "two different digests")
}

// sinkExported: the record's counts and digests are those of the bytes that the
// host got, the logical one of all before the trailer's line, and the counts
// are the trailer's.
func sinkExported(v *view, w *wants, content []byte) {
	w.that(len(content) > 0, "no byte of it", "a stream")
	for _, name := range []string{"observed_bytes", "accepted_bytes", "written_bytes"} {
		w.equal("sink."+name, v.channel("sink", name), uint64(len(content)))
	}
	w.digest("sink.sha256", v.channel("sink", "sha256"), content)
	w.digest("sink.accepted_sha256", v.channel("sink", "accepted_sha256"), content)
	last := bytes.LastIndexByte(bytes.TrimSuffix(content, []byte("\n")), '\n') + 1
	w.digest("sink.logical_sha256", v.channel("sink", "logical_sha256"), content[:last])
	sinkComplete(v, w)
	sinkVerified(v, w)
	trailer, err := parseDocument(bytes.TrimSuffix(content[last:], []byte("\n")))
	if err != nil || !trailer.at("counts").isObject() {
		w.that(false, fmt.Sprintf("last line %q", excerpt(content, last)), "a trailer with counts")
		return
	}
	for _, tag := range sinkTags {
		counted, said := v.at("sink_verification", "counts", tag), trailer.at("counts", tag)
		w.that(counted.String() == said.String(), fmt.Sprintf("counts.%s=%s", tag, counted), fmt.Sprintf("counts.%s=%s as in the trailer", tag, said))
	}
	w.that(trailer.at("sha256").String() == v.channel("sink", "logical_sha256").String(), "trailer sha256 "+trailer.at("sha256").String(), "logical_sha256")
}

var sinkTags = strings.Split("ETOVKXH", "")

// parseArtifact reads the words about what stands at a named sink's target.
//
// Rules: R15, C-35.
func parseArtifact(words []string) (test, error) {
	if err := exactly(words, 1); err != nil {
		return test{}, err
	}
	switch words[0] {
	case "exported":
		return each(artifactExported)
	case "absent":
		return each(artifactAbsent)
	case "renamed":
		return each(artifactRenamed)
	}
	return test{}, fmt.Errorf("unknown %q", words[0])
}

// artifactExported: the stream, owned by whom the launcher runs as, writable by
// nobody else, and nothing else that is named after it.
func artifactExported(v *view, w *wants) {
	sinkExported(v, w, v.attempt.File(evidence.ArtifactFile))
	nothingBeside(v, w)
	t, found := evidence.First[evidence.Target](v.attempt)
	w.that(found && t.Body.UID == t.Body.Launched && t.Body.Mode&0o133 == 0, fmt.Sprintf("mode %o, owner %d", t.Body.Mode, t.Body.UID),
		fmt.Sprintf("a file of %d that nobody else can write", t.Body.Launched))
}

func nothingBeside(v *view, w *wants) {
	target := v.attempt.Scenario.Requests[scenario.RequestPathSink]
	for _, l := range evidence.All[evidence.Leftover](v.attempt) {
		w.that(l.Body.What != "file" || !strings.Contains(l.Body.Detail, path.Base(target)), "left behind: "+l.Body.Detail, "no file of that name")
	}
}

// artifactRenamed: the name came with the whole file, by a rename out of the
// same folder, and nobody wrote to what bears it.
//
// Rules: R15.
func artifactRenamed(v *view, w *wants) {
	t, _ := evidence.First[evidence.Target](v.attempt)
	steps := strings.Join(t.Body.Steps, " ")
	w.that(steps == "moved" || steps == "deleted moved", "at the target's name: "+steps, "one rename out of its folder, after the old file's removal")
}

// artifactAbsent: neither the target nor anything that is named after it.
func artifactAbsent(v *view, w *wants) {
	target := v.attempt.Scenario.Requests[scenario.RequestPathSink]
	w.that(target != "", "no named sink was asked for", "a target")
	content := v.attempt.File(evidence.ArtifactFile)
	w.that(content == nil, fmt.Sprintf("%d bytes at %s: %q", len(content), target, excerpt(content, 0)), "no file there")
	nothingBeside(v, w)
}

// sinkVerified: the finalizer ended with 0, counted everything, and its digest
// is the logical one.
func sinkVerified(v *view, w *wants) {
	w.equal("sink_verification.exit_status", v.at("sink_verification", "exit_status"), 0)
	w.null("sink_verification.signal", v.at("sink_verification", "signal"))
	w.truth("sink_verification.complete", v.at("sink_verification", "complete"), true)
	for _, tag := range sinkTags {
		_, counted := v.at("sink_verification", "counts", tag).uint()
		w.that(counted, "counts."+tag+"="+v.at("sink_verification", "counts", tag).String(), "a number")
	}
	version := v.at("sink_verification", "finalizer_version")
	w.that(version != nil && !version.isNull(), "finalizer_version="+version.String(), "the finalizer's version")
	digest := v.at("sink_verification", "sha256")
	w.that(!digest.isNull() && digest.String() == v.channel("sink", "logical_sha256").String(),
		"sink_verification.sha256="+digest.String(), "channels.sink.logical_sha256")
}

// sinkUnverified: nothing that only a finalizer that ended well could know.
func sinkUnverified(v *view, w *wants) {
	w.truth("sink_verification.complete", v.at("sink_verification", "complete"), false)
	w.null("sink_verification.sha256", v.at("sink_verification", "sha256"))
	for _, tag := range sinkTags {
		w.null("counts."+tag, v.at("sink_verification", "counts", tag))
	}
}

func parseUnreadSink(words []string) (test, error) {
	conditions, err := parseConditions([]string{"unread" + strings.Join(words, "")}, "unread")
	if err != nil || len(words) != 1 {
		return test{}, fmt.Errorf("want <=N: %w", err)
	}
	return each(func(v *view, w *wants) { conditions[0].number(v.unreadSink(w), w) })
}

// unreadSink are the bytes of the external sink that the host read after the
// first byte of the report.
func (v *view) unreadSink(w *wants) (unread uint64) {
	begun := false
	for _, b := range evidence.All[evidence.Bytes](v.attempt) {
		switch {
		case b.Body.Channel == scenario.ChannelReport:
			begun = true
		case b.Body.Channel == scenario.ChannelSink && begun:
			unread += uint64(b.Body.Size)
		}
	}
	w.that(begun && len(v.sink()) > 0, "no report or no sink", "both")
	return unread
}
