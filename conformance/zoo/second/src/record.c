/* The terminal record (R10). Its members come in an order of their own: the contract asks for none (C-48). */
#include "supervisor.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

static const char *const knobs[KNOBS] = {"report_bytes", "diagnostic_bytes", "wall_ms", "stall_ms"};

void text_add(struct text *text, const char *format, ...)
{
	va_list list;

	if (text->used >= text->room)
		return;
	va_start(list, format);
	int n = vsnprintf(text->at + text->used, text->room - text->used, format, list);
	va_end(list);
	text->used = n < 0 ? text->room : text->used + (size_t)n;
}

void number_write(struct text *text, const char *name, uint64_t value)
{
	if (value <= SAFE_MAX)
		text_add(text, "\"%s\":%lu", name, value);
	else
		text_add(text, "\"%s\":null", name);
}

static const char *word(bool value) { return value ? "true" : "false"; }

static void hash_write(struct text *text, const char *name, const struct sha256 *hash)
{
	char hex[65];

	sha256_hex(hash, hex);
	text_add(text, "\"%s\":\"%s\"", name, hex);
}

static void counts_write(struct text *text, const char *name, const struct channel *channel, uint64_t written,
                         uint64_t limit)
{
	text_add(text, "\"%s\":{\"complete\":%s,\"truncated\":%s,\"source_total_known\":%s,", name, word(channel->complete),
	         word(channel->truncated), word(channel->source_known));
	number_write(text, "limit_bytes", limit);
	text_add(text, ",\"observed_bytes\":%lu,\"accepted_bytes\":%lu,", channel->observed, channel->accepted);
	number_write(text, "written_bytes", written);
	text_add(text, ",");
}

static void channels_write(struct text *text, const struct supervisor *s, size_t size)
{
	const struct channel status = {size, size, size, false, true, true, {{0}, 0, {0}}};
	uint64_t report = effective(s, KNOB_REPORT);

	text_add(text, "\"channels\":{");
	counts_write(text, "status", &status, size, TERMINAL_BYTES);
	text_add(text, "\"sha256\":null},");
	counts_write(text, "diagnostic", &s->diagnostic, s->diagnostic.written, effective(s, KNOB_DIAGNOSTIC));
	hash_write(text, "sha256", &s->diagnostic.hash);
	text_add(text, "},");
	counts_write(text, "candidate", &s->candidate, s->candidate.source_known ? s->candidate.observed : NOTHING, report);
	hash_write(text, "sha256", &s->candidate.hash);
	text_add(text, "},");
	counts_write(text, "report", &s->report, s->report.written, report);
	hash_write(text, "sha256", &s->report.hash);
	text_add(text, "},\"sink\":{\"complete\":true,\"truncated\":false,\"source_total_known\":true,\"limit_bytes\":null,"
	               "\"observed_bytes\":0,\"accepted_bytes\":0,\"written_bytes\":0,\"sha256\":null,"
	               "\"accepted_sha256\":null,\"logical_sha256\":null}},");
}

static void producer_write(struct text *text, const struct supervisor *s)
{
	const struct verdict *claim = &s->verdict;
	bool claimed = claim->kind == VERDICT_CLAIM, ended = s->launched && s->reaped;

	text_add(text, "\"producer\":{\"failure_claim_omitted\":%s,", word(claimed && claim->omitted));
	number_write(text, "exit_status", ended && WIFEXITED(s->wait_status) ? (uint64_t)WEXITSTATUS(s->wait_status) : NOTHING);
	text_add(text, ",");
	number_write(text, "signal", ended && WIFSIGNALED(s->wait_status) ? (uint64_t)WTERMSIG(s->wait_status) : NOTHING);
	if (s->launched)
		text_add(text, ",\"stage\":\"%s\",", LATCHED(s) ? s->stage : "publish");
	else
		text_add(text, ",\"stage\":null,");
	if (claimed && claim->coded && !claim->omitted)
		text_add(text, "\"failure\":{\"authority\":\"producer\",\"code\":\"%s\",\"args\":%.*s}},", claim->code,
		         (int)claim->args_size, claim->args);
	else
		text_add(text, "\"failure\":null},");
}

static void limits_write(struct text *text, const struct supervisor *s)
{
	text_add(text, "\"limits\":{\"terminal_bytes\":%u,\"relay_queue_bytes\":%u,\"producer_claim_bytes\":%u,"
	               "\"stop_grace_ms\":%u,\"sink_bytes\":null", TERMINAL_BYTES, QUEUE_BYTES, CLAIM_BYTES, GRACE_MS);
	for (int i = 0; i < KNOBS; i++) {
		const struct limit *limit = &s->launch.limit[i];

		text_add(text, ",\"%s\":{", knobs[i]);
		number_write(text, "effective", limit->effective);
		text_add(text, ",");
		number_write(text, "granted", limit->granted);
		text_add(text, ",");
		number_write(text, "requested", limit->requested);
		text_add(text, "}");
	}
	text_add(text, "},");
}

static void outcome_write(struct text *text, const struct supervisor *s)
{
	text_add(text, "\"complete\":%s,\"exit_class\":\"%s\",\"exit_status\":%d,", word(!LATCHED(s)), exit_class(&s->cause),
	         s->exit_status);
	if (LATCHED(s))
		text_add(text, "\"failure\":{\"authority\":\"supervisor\",\"code\":\"%s\",\"args\":%s},", s->cause.code, s->cause.args);
	else
		text_add(text, "\"failure\":null,");
}

static void cleanup_write(struct text *text, const struct supervisor *s)
{
	bool reaped = !s->launched || s->reaped, empty = !s->launched || s->domain_empty;

	text_add(text, "\"cleanup\":{\"artifacts_removed\":{\"measurement_state\":\"measured\",\"value\":true},"
	               "\"producer_reaped\":{\"measurement_state\":\"measured\",\"value\":%s},", word(reaped));
	if (empty)
		text_add(text, "\"domain_empty\":{\"measurement_state\":\"measured\",\"value\":true}},");
	else
		text_add(text, "\"domain_empty\":{\"measurement_state\":\"unavailable\",\"value\":null}},");
}

static size_t encode(const struct supervisor *s, char *to, size_t room, size_t size)
{
	struct text text = {to, 0, room};

	text_add(&text, "{\"contract\":\"supervised/v1\",\"version\":1,\"schema\":\"pf-run-terminal\",\"invocation\":\"run_json\","
	                "\"attempt_id\":\"%s\",", s->launch.attempt);
	outcome_write(&text, s);
	limits_write(&text, s);
	channels_write(&text, s, size);
	producer_write(&text, s);
	number_write(&text, "report_charged_bytes", s->charged);
	text_add(&text, ",\"sink_verification\":null,");
	cleanup_write(&text, s);
	usage_write(&text, s);
	text_add(&text, "}\n");
	return text.used;
}

/* The record holds its own length: it is written until that length stands still (C-37). */
size_t record_write(const struct supervisor *s, char *to, size_t room)
{
	size_t size = 0, next = encode(s, to, room, 0);

	while (next != size && next < room) {
		size = next;
		next = encode(s, to, room, size);
	}
	return next < room ? next : 0;
}
