/* The end of a run: which cause remains, what goes to the report endpoint, and when all is over (R13, R15). */
#include "supervisor.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Once the producer's end and its candidate are both known: the causes that follow from them. A claim comes before
 * the wait status, that before an early end of the stream (R19, C-34). */
static void conclude(struct supervisor *s)
{
	int status = s->wait_status, kind = s->verdict.kind;

	if (LATCHED(s) || !s->reaped || !s->candidate_ended || !s->judged)
		return;
	if (kind == VERDICT_CLAIM)
		observe(s, RANK_PRODUCER, 0, "run_producer_failed", "\"reason\":\"claim\"");
	else if (WIFSIGNALED(status))
		observe(s, RANK_PRODUCER, 1, "run_producer_failed", "\"reason\":\"signal\",\"signal\":%d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		observe(s, RANK_PRODUCER, 1, "run_producer_failed", "\"reason\":\"exit\",\"exit_status\":%d",
		        WEXITSTATUS(status));
	else if (kind == VERDICT_PARTIAL)
		observe(s, RANK_ENDED, 0, "report_channel_failed", "\"channel\":\"candidate\",\"reason\":\"protocol\"");
}

static void start_publishing(struct supervisor *s, uint64_t bytes)
{
	s->document = bytes;
	s->report.observed = bytes;
	s->report.accepted = bytes;
	s->report.source_known = true;
	s->publish_from = now_ns();
}

/* A failure document of our own words takes the place of whatever the producer said, where it fits R (R08, C-33). */
static void replace(struct supervisor *s)
{
	char line[512];
	uint64_t limit = effective(s, KNOB_REPORT);
	int n = snprintf(line, sizeof line,
	                 "{\"error\":\"%s\",\"args\":%s,\"code\":\"%s\",\"engine\":\"%s\"}\n",
	                 english_of(&s->cause), s->cause.args, s->cause.code, ENGINE);

	s->replaced = true;
	if (!s->streams_good || s->expired || !s->report_out.open || limit == NOTHING || (uint64_t)n > limit - s->charged)
		return;
	start_publishing(s, (uint64_t)n);
	s->charged += (uint64_t)n;
	queue_add(&s->report_out, line, (size_t)n);
	s->report_out.done = true;
}

static bool producer_over(struct supervisor *s)
{
	return domain_settled(s) && (s->diagnostic_ended || !s->launched);
}

void publish(struct supervisor *s)
{
	conclude(s);
	latch(s);
	if (LATCHED(s)) {
		if (!s->stopping)
			stop_producer(s);
		if (domain_settled(s) && !s->replaced && !s->success_started)
			replace(s);
		if (s->success_started)
			close_output(s, &s->report_out);
		if (!s->diagnostic_out.open) { /* nothing is read only to be discarded (R06) */
			close_event(s, EVENT_DIAGNOSTIC);
			s->diagnostic_ended = true;
		}
		return;
	}
	if (s->success_started || !s->reaped || s->verdict.kind != VERDICT_REPORT || !s->domain_empty || !producer_over(s))
		return;
	s->candidate.complete = true;
	s->success_started = true;
	start_publishing(s, s->candidate.accepted);
}

/* Nothing more can be written: both endpoints are closed, or have nothing left to say. */
bool finished(struct supervisor *s)
{
	struct output *report = &s->report_out, *diagnostics = &s->diagnostic_out;

	if (!LATCHED(s))
		return s->success_started && !report->open && !diagnostics->open;
	if (!domain_settled(s) || (report->open && report->queue.length > 0))
		return false;
	return !diagnostics->open || (diagnostics->queue.length == 0 && (s->diagnostic_ended || !s->launched || !s->reaped));
}
