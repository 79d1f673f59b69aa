package host

// success is what a record must say to be a success, besides agreeing with what
// came: nothing was lost, nothing is left, and the report is the candidate.
//
// Rules: R13, R14.
func (c *checks) success(o *Observed) {
	c.equal("producer.exit_status", int64(0))
	c.equal("producer.signal", nil)
	c.equal("producer.failure_claim_omitted", false)
	c.note(!c.at("producer.stage").is('n'), "producer.stage: nothing ran")
	c.equal("cleanup.producer_reaped.value", true)
	c.equal("cleanup.domain_empty.value", true)
	c.note(!c.at("cleanup.artifacts_removed.value").same(false), "cleanup.artifacts_removed: something is left")
	c.note(o.Left == 0, "processes: %d outlived the supervisor", o.Left)
	c.note(o.Report.Bytes > 0, "report: empty")

	allowance := o.Limits[reportBytes].Effective
	c.passed("report", o.Report.Bytes, allowance)
	c.passed("diagnostic", o.Diagnostic.Bytes, o.Limits[diagnosticBytes].Effective)
	c.passed("candidate", o.Report.Bytes, allowance-c.count("channels.sink.accepted_bytes"))
	c.equal("channels.candidate.written_bytes", o.Report.Bytes)
	c.equal("channels.candidate.sha256", o.Report.SHA256)
	c.sink(o)
}

// passed: a channel that everything went through.
func (c *checks) passed(channel string, bytes, limit int64) {
	c.equal("channels."+channel+".observed_bytes", bytes)
	c.equal("channels."+channel+".accepted_bytes", bytes)
	c.equal("channels."+channel+".limit_bytes", limit)
	c.whole(channel)
}

// sink: an explicit one is verified and delivered whole; an internal one, which
// the host cannot see, is verified; without one there is nothing.
//
// Rules: R05, R10, C-23, C-27.
func (c *checks) sink(o *Observed) {
	explicit := o.Sink.Offered || o.NamedSink
	accepted := c.count("channels.sink.accepted_bytes")
	c.equal("channels.sink.observed_bytes", accepted)
	c.whole("sink")
	allowance := o.PlannedSink
	if allowance == 0 {
		allowance = o.Limits[reportBytes].Effective
	}
	if accepted == 0 && !explicit {
		c.oneOf("channels.sink.accepted_sha256", nil, emptyDigest)
		c.equal("channels.sink.logical_sha256", nil)
		c.oneOf("channels.sink.limit_bytes", nil, allowance)
		c.oneOf("limits.sink_bytes", nil, allowance)
		c.equal("sink_verification", nil)
		return
	}
	c.equal("channels.sink.limit_bytes", allowance)
	c.equal("limits.sink_bytes", allowance)
	c.verified()
	if explicit {
		c.equal("channels.sink.accepted_bytes", o.Sink.Bytes)
		c.equal("channels.sink.accepted_sha256", o.Sink.SHA256)
		return
	}
	c.note(c.at("channels.sink.accepted_sha256").is('"'), "channels.sink.accepted_sha256: none")
}

// verified: the finalizer's own word, whole.
func (c *checks) verified() {
	if !c.at("sink_verification").is('{') {
		c.note(false, "sink_verification: none")
		return
	}
	c.equal("sink_verification.exit_status", int64(0))
	c.equal("sink_verification.signal", nil)
	c.equal("sink_verification.complete", true)
	logical := c.at("channels.sink.logical_sha256")
	c.note(logical.is('"'), "channels.sink.logical_sha256: none")
	c.equal("sink_verification.sha256", logical.text)
	for _, count := range c.at("sink_verification.counts").members {
		c.note(!count.is('n'), "sink_verification.counts.%s: not known", count.name)
	}
}
