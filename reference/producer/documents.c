/* documents: capabilities and the validation-only plan. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "producer.h"

/* This harness has no selected window, whatever the library exports. */
void
put_capabilities(struct text *t)
{
	put(t, "{\"engine\":\"pineforge\",\"capabilities\":{\"selected_window_wire_version\":0,"
	    "\"selected_window_contract_revisions\":[],\"report_policy\":null,\"fingerprint_version\":null,"
	    "\"report_shapes\":[],\"curve_point_budget\":null,\"results_digest_version\":null,"
	    "\"results_digest_platform\":null}}\n");
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
put_counts(struct text *t, int bars)
{
	put(t, "\"counts\":{\"supplied_input_bars\":%d,\"supplied_script_bars\":%d,\"fed_input_bars\":%d,"
	    "\"fed_script_bars\":%d,\"preroll_input_bars\":0,\"preroll_script_bars\":0,\"window_input_bars\":%d,"
	    "\"window_script_bars\":%d,\"equity_points\":%d,\"anchor_points\":0}", bars, bars, bars, bars, bars, bars, bars);
}

/*
 * The plan of the whole feed as one window. The members of feed, preroll and
 * indices are not public; only what is known of them is printed.
 */
void
put_validation(struct text *t, const struct feed *feed)
{
	long long first = (long long)feed->bar[0].timestamp, last = (long long)feed->bar[feed->n - 1].timestamp;
	int step = timeframe_seconds(options.input_tf, feed);

	put(t, "{\"engine\":\"pineforge\",\"validation_only\":true,\"report_window\":{\"wire_version\":1,"
	    "\"policy\":\"selected-window/v1\",\"applied\":false,\"window\":{\"start_ms\":%lld,\"end_ms\":%lld,"
	    "\"first_data_ms\":%lld,\"last_data_ms\":%lld,\"coverage\":\"full\"},", first, last + step * 1000LL, first, last);
	put(t, "\"feed\":{\"input_tf_seconds\":%d,\"script_tf\":", step);
	put_string(t, options.script_tf, NO_CUT);
	put(t, "},\"calendar\":{\"timezone\":");
	put_string(t, *options.chart_tz != 0 ? options.chart_tz : "UTC", NO_CUT);
	put(t, ",\"session\":null},\"preroll\":{\"requested_bars\":0},\"lookback\":{\"declared_required_chart_bars\":null,"
	    "\"status\":\"unknown\",\"has_unbounded_state\":null},");
	put_counts(t, feed->n);
	put(t, ",\"metering\":{\"billable_input_bars\":%d,\"preroll_billable_input_bars\":0,\"basis\":\"window_input_bars\"},"
	    "\"indices\":{}}}\n", feed->n);
}
