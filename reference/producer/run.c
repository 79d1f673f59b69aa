/* run: one strategy from create to free, in the engine's order of calls. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "producer.h"

enum { MAGNIFIER_OFF = 0, MAGNIFIER_SAMPLES = 4, DISTRIBUTION_ENDPOINTS = 3 };

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
configure(struct run *run)
{
	const struct library *library = &run->library;

	run->strategy = library->create("{}");
	if (run->strategy == NULL)
		fail("strategy_create_failed", "{}", "the strategy could not be created");
	for (size_t i = 0; i < run->inputs.n; i++)
		library->set_input(run->strategy, run->inputs.member[i].key, run->inputs.member[i].value);
	for (size_t i = 0; i < run->overrides.n; i++)
		library->set_override(run->strategy, run->overrides.member[i].key, run->overrides.member[i].value);
	if ((options.trade_start != NULL && library->set_trade_start == NULL) ||
	    (*options.chart_tz != 0 && library->set_timezone == NULL))
		fail("strategy_library_incompatible", "{\"reason\":\"setter_missing\"}", "the strategy library lacks a setter");
	if (options.trade_start != NULL)
		library->set_trade_start(run->strategy, options.trade_start_ms);
	if (*options.chart_tz != 0)
		library->set_timezone(run->strategy, options.chart_tz);
}

static char *
copy(const char *text)
{
	char *own = strdup(text != NULL ? text : "");

	if (own == NULL)
		fail("out_of_memory", "{}", "no memory for the run's error");
	return own;
}

/* ^[a-z][a-z0-9_]{2,47}$ */
static int
is_code(const char *code)
{
	size_t length = strlen(code);

	return length >= 3 && length <= 48 && *code >= 'a' && *code <= 'z' &&
	    strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

/* Args that are not an object of scalars are replaced by none. */
static char *
reencode(const char *args)
{
	struct object arguments;
	struct text t = { .limit = SIZE_MAX };

	if (object_parse(args, &arguments) != 0)
		return copy("{}");
	put_arguments(&t, &arguments);
	put(&t, "%c", 0);
	return t.bytes;
}

/* What a run says of itself; all texts are copies that outlive the strategy. */
struct outcome {
	char *error, *code, *args;
	int failed, coded;
};

static struct outcome
ask(const struct run *run)
{
	const struct library *library = &run->library;
	void *strategy = run->strategy;
	struct outcome o = { .coded = library->last_error_code != NULL };

	o.error = copy(library->last_error != NULL ? library->last_error(strategy) : "");
	o.code = copy(o.coded ? library->last_error_code(strategy) : "");
	o.args = copy(o.coded && library->last_error_args != NULL ? library->last_error_args(strategy) : "{}");
	o.failed = *o.error != 0 || *o.code != 0;
	if (library->last_status != NULL && library->last_status(strategy) == 1)
		o.failed = 1;
	return o;
}

static _Noreturn void
fail_run(const struct outcome *o)
{
	const char *error = *o->error != 0 ? o->error : "the run did not complete and the engine reported no error";

	if (!o->coded)
		fail_exit(1, NULL, NULL, error);
	if (!is_code(o->code))
		fail_exit(1, "engine_unclassified_error", "{}", error);
	fail_exit(1, o->code, reencode(o->args), error);
}

static void
ask_incarnations(struct run *run)
{
	int32_t n = run->report.trades_length;

	if (run->library.entry_incarnation == NULL || n <= 0)
		return;
	run->incarnation = calloc((size_t)n, sizeof *run->incarnation);
	if (run->incarnation == NULL)
		fail("out_of_memory", "{}", "no memory for the trades");
	for (int32_t i = 0; i < n; i++)
		run->incarnation[i] = run->library.entry_incarnation(run->strategy, i);
}

static void
execute(struct run *run)
{
	double begin = seconds();

	run->library.run(run->strategy, run->feed.bar, run->feed.n, options.input_tf, options.script_tf,
	    MAGNIFIER_OFF, MAGNIFIER_SAMPLES, DISTRIBUTION_ENDPOINTS, &run->report);
	run->elapsed_seconds = seconds() - begin;
}

/* Runs, serialises, frees, and only then writes. */
void
run_backtest(struct run *run)
{
	struct text t = text_new();
	const char *nonfinite = NULL;
	char args[128] = "";

	configure(run);
	execute(run);
	struct outcome o = ask(run);
	if (!o.failed) {
		ask_incarnations(run);
		nonfinite = put_report(&t, run);
	}
	run->library.free_report(&run->report);
	run->library.free(run->strategy);
	if (o.failed)
		fail_run(&o);
	if (nonfinite != NULL) {
		struct text a = { .bytes = args, .room = sizeof args, .limit = sizeof args - 1 };
		put(&a, "{\"field\":\"%s\",\"reason\":\"nonfinite\"}", nonfinite);
		fail("report_result_invalid", args, "the report's %s is not finite", nonfinite);
	}
	publish(&t, 0);
}
