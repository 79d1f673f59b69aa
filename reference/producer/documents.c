/* documents: capabilities and the plan of a window. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "producer.h"

/* What this harness can do with the library; there are no fingerprints, budgets and digests. */
void
put_capabilities(struct text *t, const struct library *library)
{
	int window = library->window_version != NULL && library->window_version() == 1;

	put(t, "{\"engine\":\"pineforge\",\"capabilities\":{\"selected_window_wire_version\":%d,"
	    "\"selected_window_contract_revisions\":%s,\"report_policy\":%s,\"fingerprint_version\":null,"
	    "\"report_shapes\":%s,\"curve_point_budget\":null,\"results_digest_version\":null,"
	    "\"results_digest_platform\":null}}\n", window, window ? "[\"1.3-parity\"]" : "[]",
	    window ? "\"selected-window/v1\"" : "null", window ? "[\"full/v1\"]" : "[]");
}

/* Seconds of a timeframe: minutes, or a number of S, H, D or W; else the distance of the first bars. */
int
timeframe_seconds(const char *timeframe, const struct feed *feed)
{
	char *end;
	long count = strtol(timeframe, &end, 10);

	if (end == timeframe)
		count = 1;
	if (*timeframe != 0 && count > 0 && count < 100000)
		switch (*end) {
		case 0: return (int)count * 60;
		case 'S': return (int)count;
		case 'H': return (int)count * 3600;
		case 'D': return (int)count * 86400;
		case 'W': return (int)count * 604800;
		}
	return feed->n > 1 ? (int)((feed->bar[1].timestamp - feed->bar[0].timestamp) / 1000) : 0;
}

/* "YYYY-MM-DD HH:MM UTC", or null for a year that C cannot hold. */
void
put_minute(struct text *t, int64_t ms)
{
	char minute[64];
	struct tm utc;
	time_t whole = (time_t)(ms / 1000 - (ms % 1000 < 0));

	if (gmtime_r(&whole, &utc) == NULL || strftime(minute, sizeof minute, "%Y-%m-%d %H:%M UTC", &utc) == 0)
		put(t, "null");
	else
		put(t, "\"%s\"", minute);
}

static void
put_counts(struct text *t, const struct window *w)
{
	put(t, "\"counts\":{\"supplied_input_bars\":%d,\"supplied_script_bars\":%d,\"fed_input_bars\":%d,"
	    "\"fed_script_bars\":%d,\"preroll_input_bars\":%d,\"preroll_script_bars\":%d,\"window_input_bars\":%d,"
	    "\"window_script_bars\":%d,\"equity_points\":%d,\"anchor_points\":0}", w->supplied.input, w->supplied.script,
	    w->before.input + w->inside.input, w->before.script + w->inside.script, w->before.input, w->before.script,
	    w->inside.input, w->inside.script, w->inside.script);
}

static void
put_feed(struct text *t, const struct window *w, const struct feed *feed)
{
	put(t, "\"feed\":{\"requested_start_ms\":%lld,\"fed_first_ms\":%lld,\"fed_last_ms\":%lld,"
	    "\"supplied_first_ms\":%lld,\"supplied_last_ms\":%lld,\"input_tf_seconds\":%lld,\"script_tf\":",
	    (long long)w->fed_start, (long long)feed->bar[0].timestamp, (long long)feed->bar[feed->n - 1].timestamp,
	    (long long)w->supplied_first, (long long)w->supplied_last, (long long)(w->input_ms / 1000));
	put_string(t, options.script_tf, NO_CUT);
	put(t, "},\"calendar\":{\"timezone\":");
	put_string(t, *options.chart_tz != 0 ? options.chart_tz : "UTC", NO_CUT);
	put(t, ",\"session\":null}");
}

/* The plan; feed is what is fed. */
void
put_window(struct text *t, const struct window *w, const struct feed *feed, int applied)
{
	long long first = feed->bar[w->before.input].timestamp, last = feed->bar[feed->n - 1].timestamp;
	int full = first < w->start + (w->input_ms > 0 ? w->input_ms : 1) && last + w->input_ms >= w->end;

	put(t, "\"report_window\":{\"wire_version\":1,\"policy\":\"selected-window/v1\",\"applied\":%s,"
	    "\"window\":{\"start_ms\":%lld,\"end_ms\":%lld,\"first_data_ms\":%lld,\"last_data_ms\":%lld,\"coverage\":\"%s\"},",
	    applied ? "true" : "false", (long long)w->start, (long long)w->end, first, last, full ? "full" : "partial");
	put_feed(t, w, feed);
	put(t, ",\"preroll\":{\"requested_bars\":%lld,\"fed_bars\":%d},\"lookback\":{\"declared_required_chart_bars\":null,"
	    "\"status\":\"unknown\",\"has_unbounded_state\":null},", (long long)w->preroll, w->before.script);
	put_counts(t, w);
	put(t, ",\"metering\":{\"billable_input_bars\":%d,\"preroll_billable_input_bars\":0,\"basis\":\"window_input_bars\"},"
	    "\"indices\":{\"first_window_input_bar\":%d,\"first_window_script_bar\":%d}}", w->inside.input, w->before.input,
	    w->before.script);
}

/* Nothing is decimated here. */
void
put_shape(struct text *t, const engine_report *report)
{
	long long points = (long long)report->equity_curve_length;

	put(t, "\"report_shape\":{\"version\":1,\"name\":\"full/v1\",\"curve_point_budget\":null,"
	    "\"canonical_equity_points\":%lld,\"emitted_equity_points\":%lld,\"canonical_trades\":%d,\"emitted_trades\":%d,"
	    "\"retained_point_indices\":null,\"curve_decimated\":false}", points, points, report->trades_length,
	    report->trades_length);
}

void
put_validation(struct text *t, const struct window *w, const struct feed *feed)
{
	put(t, "{\"engine\":\"pineforge\",\"validation_only\":true,");
	put_window(t, w, feed, 0);
	put(t, "}\n");
}
