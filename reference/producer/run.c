/* run: one strategy from create to free, in the engine's order of calls. */
#define _GNU_SOURCE
#include <stdio.h>
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
	if (window_give(run) != 0)
		fail("window_mode_unsupported", "{\"capability\":\"selected_window\"}", "the strategy library takes no selected window");
	if (phases_attach(run) != 0)
		fail("strategy_library_incompatible", "{\"reason\":\"symbol_missing\"}", "the strategy library has no execution observer");
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

struct outcome
run_succeeded(void)
{
	return (struct outcome){ .failed = 0 };
}

struct outcome
run_failed(const char *code, const char *args, const char *error)
{
	return (struct outcome){ copy(error), copy(code), copy(args), 1, 1 };
}

/* What a run says of itself. */
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
	const char *phase = phase_after_execution(), *error = *o->error != 0 ? o->error : "the run did not complete and the engine reported no error";

	int memory = o->coded && strcmp(o->code, "out_of_memory") == 0;
	if (phase != NULL && (memory || !o->coded || !is_code(o->code))) {
		char args[128];
		snprintf(args, sizeof args, "{\"phase\":\"%s\",\"reason\":\"%s\"}", phase, memory ? "resource" : "exception");
		fail_exit(1, "report_post_execution_failed", args, error);
	}
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

/* The module's own words where its sink fails, unless they are no code. */
static struct outcome
ask_sink(const struct run *run)
{
	struct outcome o = ask(run);

	if (o.failed && o.coded && is_code(o.code))
		return o;
	return run_failed("report_sink_failed", "{\"reason\":\"sink_io\"}", *o.error != 0 ? o.error : "the native sink failed");
}

/* Ends the native sink, and takes it back where the document needs it. */
static struct outcome
finish_sink(struct run *run)
{
	if (run->route == ROUTE_NONE)
		return run_succeeded();
	if (run->library.finish_sink(run->strategy) != 0)
		return ask_sink(run);
	run->receipt_known = run->library.sink_receipt != NULL &&
	    run->library.sink_receipt(run->strategy, &run->receipt) == 0;
	run->receipt.sha256[sizeof run->receipt.sha256 - 1] = 0;
	return sink_collect(run);
}

/* What a run that did not fail must have done. */
static struct outcome
inspect(struct run *run)
{
	struct outcome o;

	if (phases_broken())
		return run_failed("harness_internal_error", "{}", "a phase record was not taken");
	if (!phases_observed(run))
		return run_failed("report_post_execution_failed", "{\"phase\":\"result_assembly\",\"reason\":\"exception\"}",
		    "the end of the execution was not observed once");
	o = finish_sink(run);
	return o.failed ? o : window_check(run);
}

static struct outcome
serialise(struct text *t, struct run *run)
{
	char args[128], error[128];

	ask_incarnations(run);
	phase_enter(PHASE_SERIALIZATION);
	if (phases_broken())
		return run_failed("harness_internal_error", "{}", "a phase record was not taken");
	*t = text_new();
	const char *nonfinite = put_report(t, run);
	if (nonfinite == NULL)
		return run_succeeded();
	snprintf(args, sizeof args, "{\"field\":\"%s\",\"reason\":\"nonfinite\"}", nonfinite);
	snprintf(error, sizeof error, "the report's %s is not finite", nonfinite);
	return run_failed("report_result_invalid", args, error);
}

static void
release(struct run *run)
{
	phases_detach(run);
	if (run->window.selected)
		run->library.set_window(run->strategy, NULL);
	run->library.free_report(&run->report);
	run->library.free(run->strategy);
}

/* Runs, ends the sink, serialises, frees, and only then writes. */
void
run_backtest(struct run *run)
{
	struct outcome o = run_succeeded();
	struct text t;

	run->stream = -1;
	run->route = sink_open(&run->library);
	configure(run);
	if (run->route != ROUTE_NONE && run->library.set_sink(run->strategy, sink_descriptor()) != 0)
		o = ask_sink(run);
	if (!o.failed) {
		execute(run);
		o = ask(run);
	}
	if (!o.failed)
		o = inspect(run);
	if (!o.failed)
		o = serialise(&t, run);
	release(run);
	if (o.failed)
		fail_run(&o);
	publish(&t, 0);
}
