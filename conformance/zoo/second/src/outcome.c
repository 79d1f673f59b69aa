#include "supervisor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void observe(struct supervisor *s, enum rank rank, int order, const char *code, const char *args, ...)
{
	va_list list;

	if (rank > s->seen.rank || (rank == s->seen.rank && order >= s->seen.order))
		return;
	s->seen.rank = rank;
	s->seen.order = order;
	snprintf(s->seen.code, sizeof s->seen.code, "%s", code);
	va_start(list, args);
	s->seen.args[0] = '{';
	vsnprintf(s->seen.args + 1, sizeof s->seen.args - 2, args, list);
	va_end(list);
	strcat(s->seen.args, "}");
}

void latch(struct supervisor *s)
{
	if (!LATCHED(s) && s->seen.rank != RANK_NONE) {
		s->stage = stage_of(s);
		s->cause = s->seen;
	}
	s->seen.rank = RANK_NONE;
}

const char *stage_of(const struct supervisor *s)
{
	if (s->success_started)
		return "publish";
	if (s->reaped)
		return "finalize";
	return s->launched ? "run" : "prepare";
}

const char *exit_class(const struct cause *cause)
{
	static const struct {
		const char *code, *name;
	} classes[] = {
		{"run_request_invalid", "input_refusal"},
		{"report_mode_unsupported", "input_refusal"},
		{"report_budget_exceeded", "resource_refusal"},
		{"diagnostic_budget_exceeded", "resource_refusal"},
		{"run_process_refused", "resource_refusal"},
		{"run_deadline_exceeded", "resource_refusal"},
		{"run_isolation_unavailable", "resource_refusal"},
		{"run_producer_failed", "producer_failure"},
		{"report_channel_failed", "transport_failure"},
		{"report_sink_failed", "transport_failure"},
		{"run_aborted", "aborted"},
	};

	if (cause->rank == RANK_NONE)
		return "success";
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (strcmp(classes[i].code, cause->code) == 0)
			return classes[i].name;
	return "harness_fault";
}

/* What R20 fixes of the codes that it adds; the others have words of ours. */
const char *english_of(const struct cause *cause)
{
	static const struct {
		const char *code, *text;
	} fixed[] = {
		{"report_budget_exceeded", "The report exceeds its admitted byte budget."},
		{"diagnostic_budget_exceeded", "The diagnostics exceed their admitted byte budget."},
		{"report_channel_failed", "A report transport could not complete."},
		{"run_isolation_unavailable", "The requested report isolation is unavailable."},
		{"run_process_refused", "The native process attempted forbidden process creation."},
		{"run_deadline_exceeded", "The admitted channel lifetime expired."},
		{"run_producer_failed", "The native report producer did not complete successfully."},
	};

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (strcmp(fixed[i].code, cause->code) == 0)
			return fixed[i].text;
	return "this run was refused";
}

int exit_of(const struct cause *cause)
{
	if (cause->rank == RANK_NONE)
		return 0;
	return strcmp(cause->code, "run_request_invalid") == 0 ? 2 : 1;
}

uint64_t effective(const struct supervisor *s, enum knob knob) { return s->launch.limit[knob].effective; }
