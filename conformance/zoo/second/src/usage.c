/* The usage block (R12): what was measured, and for everything else that it was not. */
#include "supervisor.h"

#include <string.h>

/* One stage's or the job's measurements; NOTHING where there is none. */
struct measured {
	const char *state, *scope;
	uint64_t wall, user, system, rss, report, sink, diagnostic;
	uint64_t wall_limit, wall_asked, report_limit, report_asked, diagnostic_limit, diagnostic_asked;
};

static const struct measured unknown = {
	"measured", "stage_process", NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
	NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
};

/* A quantity that a cell can hold: how much was used, or how much at most. */
struct cell {
	const char *name, *unit, *scope, *source;
	uint64_t used, peak, limit, requested;
};

static void cell_write(struct text *text, const char *stage_state, const struct cell *cell)
{
	bool there = cell->used <= SAFE_MAX || cell->peak <= SAFE_MAX;
	const char *state = strcmp(stage_state, "not_started") == 0 ? stage_state : there ? "measured" : "unavailable";

	text_add(text, "\"%s\":{\"state\":\"%s\",\"source\":\"%s\",\"scope\":\"%s\",\"unit\":\"%s\",", cell->name, state,
	         there ? cell->source : "none", cell->scope, cell->unit);
	number_write(text, "limit", cell->limit);
	text_add(text, ",");
	number_write(text, "requested", cell->requested);
	text_add(text, ",");
	number_write(text, "peak", cell->peak);
	text_add(text, ",");
	number_write(text, "used", cell->used);
	text_add(text, "}");
}

static void measured_write(struct text *text, const struct measured *m)
{
	static const struct {
		const char *name, *unit;
	} never[] = {{"memory_private", "bytes"}, {"memory_job", "bytes"}, {"scratch_logical", "bytes"},
	             {"scratch_allocated", "bytes"}, {"work_logical", "bytes"}, {"work_allocated", "bytes"},
	             {"scratch_files", "count"}, {"work_files", "count"}, {"open_fds", "count"}, {"processes", "count"},
	             {"arena_claimed", "bytes"}, {"arena_capacity", "bytes"}};

	for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
		const char *scope = i == 1 ? "job_domain" : i >= 10 ? "attachment" : m->scope;
		struct cell cell = {never[i].name, never[i].unit, scope, "none", NOTHING, NOTHING, NOTHING, NOTHING};

		cell_write(text, m->state, &cell);
		text_add(text, ",");
	}
}

static void entry_write(struct text *text, const struct measured *m)
{
	const struct cell cells[] = {
		{"wall", "ms", m->scope, "clock", m->wall, NOTHING, m->wall_limit, m->wall_asked},
		{"cpu_user", "us", m->scope, "wait4", m->user, NOTHING, NOTHING, NOTHING},
		{"cpu_system", "us", m->scope, "wait4", m->system, NOTHING, NOTHING, NOTHING},
		{"memory_rss", "bytes", m->scope, "wait4", NOTHING, m->rss, NOTHING, NOTHING},
		{"report_bytes", "bytes", m->scope, "channel", m->report, NOTHING, m->report_limit, m->report_asked},
		{"sink_bytes", "bytes", m->scope, "channel", m->sink, NOTHING, NOTHING, NOTHING},
		{"diagnostic_bytes", "bytes", m->scope, "channel", m->diagnostic, NOTHING, m->diagnostic_limit, m->diagnostic_asked},
	};

	text_add(text, "{\"state\":\"%s\",\"resources\":{", m->state);
	measured_write(text, m);
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		text_add(text, i ? "," : "");
		cell_write(text, m->state, &cells[i]);
	}
	text_add(text, "}}");
}

static uint64_t micro(const struct timeval *time) { return (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_usec; }

static uint64_t span_ms(uint64_t from, uint64_t to) { return from && to > from ? (to - from) / 1000000 : 0; }

static struct measured run_stage(const struct supervisor *s)
{
	struct measured m = unknown;

	if (!s->launched) {
		m.state = "not_started";
		return m;
	}
	m.wall = span_ms(s->run_from, s->reaped ? s->run_to : now_ns());
	if (s->reaped) {
		m.user = micro(&s->used.ru_utime);
		m.system = micro(&s->used.ru_stime);
		m.rss = (uint64_t)s->used.ru_maxrss * 1024;
	}
	m.diagnostic = s->diagnostic.accepted;
	return m;
}

/* A stage of which only the time is known, or one that never began. */
static struct measured timed_stage(bool began, uint64_t from, uint64_t to)
{
	struct measured m = unknown;

	m.state = began ? "measured" : "not_started";
	m.wall = began ? span_ms(from, to) : NOTHING;
	return m;
}

static struct measured job(const struct supervisor *s)
{
	struct measured m = unknown;
	struct rusage children;

	m.scope = "job_domain";
	m.wall = span_ms(s->started, now_ns());
	if (getrusage(RUSAGE_CHILDREN, &children) == 0) {
		m.user = micro(&children.ru_utime);
		m.system = micro(&children.ru_stime);
	}
	m.report = s->charged;
	m.sink = 0;
	m.diagnostic = s->diagnostic.accepted;
	m.wall_limit = effective(s, KNOB_WALL);
	m.wall_asked = s->launch.limit[KNOB_WALL].requested;
	m.report_limit = effective(s, KNOB_REPORT);
	m.report_asked = s->launch.limit[KNOB_REPORT].requested;
	m.diagnostic_limit = effective(s, KNOB_DIAGNOSTIC);
	m.diagnostic_asked = s->launch.limit[KNOB_DIAGNOSTIC].requested;
	return m;
}

void usage_write(struct text *text, const struct supervisor *s)
{
	uint64_t end = s->publish_to ? s->publish_to : now_ns(), publish = s->publish_from ? s->publish_from : end;
	const struct measured all = job(s), stages[] = {
		timed_stage(false, 0, 0), timed_stage(false, 0, 0), run_stage(s),
		timed_stage(s->launched && s->reaped, s->run_to, publish), timed_stage(s->launched && s->publish_from > 0, publish, end),
	};
	static const char *const names[] = {"prepare", "compile", "run", "finalize", "publish"};

	text_add(text, "\"usage\":{\"job\":");
	entry_write(text, &all);
	text_add(text, ",\"stages\":{");
	for (int i = 0; i < 5; i++) {
		text_add(text, "%s\"%s\":", i ? "," : "", names[i]);
		entry_write(text, &stages[i]);
	}
	text_add(text, "},\"version\":1}");
}
