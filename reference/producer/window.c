/*
 * window: the selected window of a report, selected-window/v1: what is asked
 * for, what of the feed is fed, and whether the module counted the same.
 *
 * The public engine's plan is a library of its own. Of that this stand-in
 * leaves out: sessions, time zones and months (a slot is a fixed number of
 * seconds, UTC, around the clock), request feeds and their inventory, the feed
 * digests, caps on bars, the module's state before the start, lineage and
 * pruning of trials, and fingerprints. The members of feed, preroll and indices
 * are not public: these are its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

enum { PREROLL_MAX = 5000 };

static const int64_t most = (INT64_C(1) << 53) - 1;

static _Noreturn void
refuse(const char *option, const char *why)
{
	char args[64];

	snprintf(args, sizeof args, "{\"option\":\"%s\"}", option);
	fail("window_request_invalid", args, "%s: %s", option, why);
}

/* Reads a decimal integer that JSON can hold exactly. */
static int64_t
integer(const char *text, const char *option)
{
	char *end;

	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (*text == 0 || strspn(text + (*text == '-'), "0123456789") != strlen(text + (*text == '-')) || *end != 0 ||
	    errno != 0 || value > most || value < -most)
		refuse(option, "not an integer");
	return value;
}

/* Milliseconds of a timeframe of fixed length. */
static int64_t
slot_ms(const char *timeframe, const char *option)
{
	char args[256];
	struct text t = { .bytes = args, .room = sizeof args, .limit = sizeof args - 1 };
	struct feed none = { NULL, 0 };

	if (*timeframe == 0)
		refuse(option, "needed with a selected window");
	int64_t seconds = timeframe_seconds(timeframe, &none);
	if (seconds > 0)
		return seconds * 1000;
	put(&t, "{\"capability\":\"timeframe\",\"timeframe\":");
	put_string(&t, timeframe, 64);
	put(&t, "}%c", 0);
	fail("window_mode_unsupported", args, "%s: no timeframe of a fixed length", option);
}

static void
check_aligned(const char *bound, int64_t value, int64_t step)
{
	char args[192];
	int64_t before = value - ((value % step) + step) % step;

	if (before == value)
		return;
	snprintf(args, sizeof args, "{\"bound\":\"%s\",\"next_boundary_ms\":%lld,\"previous_boundary_ms\":%lld,\"value_ms\":%lld}",
	    bound, (long long)(before + step), (long long)before, (long long)value);
	fail("window_boundary_unaligned", args, "the window's %s is no boundary of the script's timeframe", bound);
}

static void
check_flags(void)
{
	const char *others = options.window_start != NULL || options.window_end != NULL || options.preroll != NULL ||
	    options.fed_start != NULL ? "given without a report policy" : NULL;

	if (options.policy == NULL && others != NULL)
		refuse("report_policy", others);
	if (options.policy == NULL)
		return;
	if (strcmp(options.policy, "selected-window/v1") != 0)
		refuse("report_policy", "unknown");
	if (options.trade_start != NULL)
		fail("window_legacy_flag_conflict", "{\"option\":\"trade_start_ms\"}", "--trade-start-ms and a selected window");
	if (options.window_start == NULL)
		refuse("window_start_ms", "missing");
	if (options.window_end == NULL)
		refuse("window_end_ms", "missing");
}

static void
check_calendar(void)
{
	char args[1280];
	struct text t = { .bytes = args, .room = sizeof args, .limit = sizeof args - 1 };

	if (*options.chart_tz == 0 || strcmp(options.chart_tz, "UTC") == 0)
		return;
	put(&t, "{\"session\":null,\"timezone\":");
	put_string(&t, options.chart_tz, 128);
	put(&t, "}%c", 0);
	fail("window_calendar_unsupported", args, "a selected window is in UTC");
}

/* Checks the request, before any file is opened. Nothing is selected without a policy. */
struct window
window_parse(void)
{
	struct window w = { .selected = options.policy != NULL };
	char args[160];

	check_flags();
	if (!w.selected)
		return w;
	w.input_ms = slot_ms(options.input_tf, "input_tf");
	w.script_ms = slot_ms(options.script_tf, "script_tf");
	if (w.script_ms % w.input_ms != 0)
		fail("window_mode_unsupported", "{\"capability\":\"timeframe_ratio\"}", "the script's timeframe is no multiple of the input's");
	check_calendar();
	w.start = integer(options.window_start, "window_start_ms");
	w.end = integer(options.window_end, "window_end_ms");
	w.preroll = options.preroll != NULL ? integer(options.preroll, "preroll_bars") : 0;
	snprintf(args, sizeof args, "{\"requested\":%lld}", (long long)w.preroll);
	if (w.preroll < 0 || w.preroll > PREROLL_MAX)
		fail("window_preroll_out_of_range", args, "preroll of %lld bars", (long long)w.preroll);
	w.fed_start = options.fed_start != NULL ? integer(options.fed_start, "fed_start_ms") : w.start - w.preroll * w.script_ms;
	snprintf(args, sizeof args, "{\"end_ms\":%lld,\"fed_start_ms\":%lld,\"start_ms\":%lld}", (long long)w.end,
	    (long long)w.fed_start, (long long)w.start);
	if (w.start >= w.end || w.fed_start > w.start)
		fail("window_range_invalid", args, "the window's bounds are not in order");
	check_aligned("start", w.start, w.script_ms);
	check_aligned("end", w.end, w.script_ms);
	check_aligned("fed_start", w.fed_start, w.script_ms);
	return w;
}

static void
check_bars(const struct feed *feed, int64_t step)
{
	char args[96];

	for (int i = 0; i < feed->n; i++) {
		int64_t at = feed->bar[i].timestamp;
		const char *reason = at > most || at < -most || at % step != 0 ? "not_aligned" :
		    i > 0 && at <= feed->bar[i - 1].timestamp ? "not_increasing" : NULL;
		if (reason == NULL)
			continue;
		snprintf(args, sizeof args, "{\"field\":\"timestamp\",\"index\":%d,\"reason\":\"%s\"}", i, reason);
		fail("chart_bars_rejected", args, "bar %d: %s", i, reason);
	}
}

/* Bars of the feed from begin (inclusive) to end (exclusive), and the script's bars that they make. */
static struct bar_count
count(const struct feed *feed, int64_t begin, int64_t end, int64_t step)
{
	struct bar_count c = { 0, 0 };
	int64_t slot = 0;

	for (int i = 0; i < feed->n; i++) {
		int64_t at = feed->bar[i].timestamp;
		if (at < begin || at >= end)
			continue;
		int64_t next = step > 0 ? at / step - (at % step < 0) : at;
		c.script += c.input++ == 0 || next != slot;
		slot = next;
	}
	return c;
}

/* The whole feed as one window, for a plan that nobody asked to select. */
static void
plan_whole(struct window *w, const struct feed *feed)
{
	w->input_ms = (int64_t)timeframe_seconds(options.input_tf, feed) * 1000;
	w->script_ms = *options.script_tf != 0 ? (int64_t)timeframe_seconds(options.script_tf, feed) * 1000 : w->input_ms;
	w->start = w->fed_start = feed->bar[0].timestamp;
	w->end = feed->bar[feed->n - 1].timestamp + (w->input_ms > 0 ? w->input_ms : 1);
}

/* Plans, and trims the feed to what is fed. */
void
window_plan(struct window *w, struct feed *feed)
{
	char args[128];
	int first = 0;

	if (w->selected)
		check_bars(feed, w->input_ms);
	else
		plan_whole(w, feed);
	w->supplied_first = feed->bar[0].timestamp;
	w->supplied_last = feed->bar[feed->n - 1].timestamp;
	w->supplied = count(feed, INT64_MIN, INT64_MAX, w->script_ms);
	w->inside = w->supplied;
	if (!w->selected)
		return;
	w->inside = count(feed, w->start, w->end, w->script_ms);
	w->before = count(feed, w->fed_start, w->start, w->script_ms);
	snprintf(args, sizeof args, "{\"end_ms\":%lld,\"fed_start_ms\":%lld,\"time_ms\":%lld}", (long long)w->end,
	    (long long)w->fed_start, (long long)w->supplied_first);
	if (options.fed_start != NULL && w->supplied_first > w->fed_start)
		fail("window_feed_range_invalid", args, "the feed begins after the start that was asked for");
	snprintf(args, sizeof args, "{\"end_ms\":%lld,\"start_ms\":%lld}", (long long)w->end, (long long)w->start);
	if (w->inside.input == 0)
		fail("window_no_observations", args, "no bar is inside the window");
	while (feed->bar[first].timestamp < w->fed_start)
		first++;
	feed->bar += first;
	feed->n = w->before.input + w->inside.input;
}

/* Gives the module its window; -1 if it takes none. */
int
window_give(const struct run *run)
{
	const struct library *library = &run->library;
	engine_window window = { sizeof window, 1, run->window.start, run->window.end };

	if (!run->window.selected)
		return 0;
	if (library->window_version == NULL || library->window_version() != 1 || library->set_window == NULL ||
	    library->window_counts == NULL)
		return -1;
	return library->set_window(run->strategy, &window);
}

static struct outcome
mismatch(const char *field, int expected, uint64_t actual)
{
	char args[160];

	snprintf(args, sizeof args, "{\"actual\":%llu,\"expected\":%d,\"field\":\"%s\"}",
	    (unsigned long long)(actual < (uint64_t)most ? actual : (uint64_t)most), expected, field);
	return run_failed("window_report_mismatch", args, "the module counted other bars than the plan");
}

/* Holds the module's counts against the plan, and its trades against the start. */
struct outcome
window_check(const struct run *run)
{
	engine_window_counts counts = { .size = sizeof counts, .version = 1 };
	const struct window *w = &run->window;
	char args[96];

	if (!w->selected)
		return run_succeeded();
	if (run->library.window_counts(run->strategy, &counts) != 0 || counts.window_input != (uint64_t)w->inside.input)
		return mismatch("counts.window_input_bars", w->inside.input, counts.window_input);
	if (counts.window_script != (uint64_t)w->inside.script)
		return mismatch("counts.window_script_bars", w->inside.script, counts.window_script);
	for (int32_t i = 0; i < run->report.trades_length; i++) {
		if (run->report.trades[i].entry_time >= w->start)
			continue;
		snprintf(args, sizeof args, "{\"fill_ms\":%lld,\"start_ms\":%lld}", (long long)run->report.trades[i].entry_time,
		    (long long)w->start);
		return run_failed("window_prestart_fill", args, "a trade was opened before the window");
	}
	return run_succeeded();
}
