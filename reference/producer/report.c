/* report: the engine's full success report, member order included. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

/* The first field that is not finite where that has no spelling. */
static const char *nonfinite;

static void
put_finite(struct text *t, const char *key, double value, const char *field)
{
	put(t, "\"%s\":", key);
	if (isfinite(value))
		put_real(t, value);
	else if (nonfinite == NULL)
		nonfinite = field;
}

#define PUT_FINITE(t, block, key, value) put_finite(t, #key, value, #block "." #key)

static void
put_input(struct text *t, const struct feed *feed)
{
	int64_t first = feed->bar[0].timestamp, last = feed->bar[feed->n - 1].timestamp;

	put(t, "\"input\":{\"ohlcv\":");
	put_string(t, options.ohlcv, NO_CUT);
	put(t, ",\"bars\":%d,\"first_ts\":%lld,\"last_ts\":%lld,\"first_time\":", feed->n, (long long)first, (long long)last);
	put_minute(t, first);
	put(t, ",\"last_time\":");
	put_minute(t, last);
	put(t, "}");
}

static void
put_runtime(struct text *t, const engine_report *report)
{
	put(t, "\"applied_runtime\":{\"input_tf\":");
	put_string(t, options.input_tf, NO_CUT);
	put(t, ",\"script_tf\":");
	put_string(t, options.script_tf, NO_CUT);
	put(t, ",\"input_tf_seconds\":%d,\"script_tf_seconds\":%d,\"script_tf_ratio\":%d,\"needs_aggregation\":%s",
	    report->input_tf_seconds, report->script_tf_seconds, report->script_tf_ratio,
	    report->needs_aggregation ? "true" : "false");
	put(t, ",\"bar_magnifier\":false,\"magnifier_samples\":4,\"magnifier_dist\":\"endpoints\",\"magnifier_volume_weighted\":false");
	if (options.trade_start != NULL)
		put(t, ",\"trade_start_ms\":%lld,\"chart_tz\":", (long long)options.trade_start_ms);
	else
		put(t, ",\"trade_start_ms\":null,\"chart_tz\":");
	put_string(t, options.chart_tz, NO_CUT);
	put(t, options.policy != NULL ? ",\"report_window\":\"selected-window/v1\"}" : "}");
}

static void
put_summary(struct text *t, const engine_report *report)
{
	int32_t wins = 0, losses = 0, n = report->trades_length;
	double best = 0, worst = 0;

	for (int32_t i = 0; i < n; i++) {
		double pnl = report->trades[i].pnl;
		wins += pnl > 0;
		losses += pnl < 0;
		if (i == 0 || pnl > best)
			best = pnl;
		if (i == 0 || pnl < worst)
			worst = pnl;
	}
	put(t, "\"summary\":{\"total_trades\":%d,\"wins\":%d,\"losses\":%d,", report->total_trades, wins, losses);
	PUT_FINITE(t, summary, win_rate_pct, n > 0 ? 100.0 * wins / n : 0);
	put(t, ",");
	PUT_FINITE(t, summary, net_pnl, report->net_profit);
	put(t, ",");
	PUT_FINITE(t, summary, avg_trade, n > 0 ? report->net_profit / n : 0);
	put(t, ",");
	PUT_FINITE(t, summary, best_trade, best);
	put(t, ",");
	PUT_FINITE(t, summary, worst_trade, worst);
	put(t, ",");
	PUT_FINITE(t, summary, max_drawdown, report->metrics.equity.max_equity_drawdown);
	put(t, ",\"bars_processed\":%lld}", (long long)report->script_bars);
}

static void
put_diagnostics(struct text *t, const engine_report *report)
{
	put(t, "\"diagnostics\":{\"input_bars_processed\":%lld,\"script_bars_processed\":%lld,"
	    "\"magnifier_sub_bars_total\":%lld,\"magnifier_sample_ticks_total\":%lld,\"bar_magnifier_enabled\":%s}",
	    (long long)report->input_bars, (long long)report->script_bars, (long long)report->magnifier_sub_bars,
	    (long long)report->magnifier_ticks, report->bar_magnifier ? "true" : "false");
}

static void
put_trade(struct text *t, const engine_trade *trade, int64_t n)
{
	put(t, "{\"n\":%lld,\"side\":\"%s\",\"entry_time\":%lld,\"exit_time\":%lld,", (long long)n, trade->is_long ? "long" : "short",
	    (long long)trade->entry_time, (long long)trade->exit_time);
	PUT_FINITE(t, trades, entry_price, trade->entry_price);
	put(t, ",");
	PUT_FINITE(t, trades, exit_price, trade->exit_price);
	put(t, ",");
	PUT_FINITE(t, trades, qty, trade->qty);
	put(t, ",");
	PUT_FINITE(t, trades, pnl, trade->pnl);
	put(t, ",");
	PUT_FINITE(t, trades, pnl_pct, trade->pnl_pct);
	put(t, ",");
	PUT_FINITE(t, trades, max_runup, trade->max_runup);
	put(t, ",");
	PUT_FINITE(t, trades, max_drawdown, trade->max_drawdown);
	put(t, ",");
	PUT_FINITE(t, trades, commission, trade->commission);
	put(t, ",\"entry_bar_index\":%d,\"exit_bar_index\":%d,\"open_at_end\":%s", trade->entry_bar_index,
	    trade->exit_bar_index, trade->open_at_end ? "true" : "false");
}

/* The document, and what it says of trades. */
struct target {
	struct text *t;
	const struct run *run;
	int64_t i;		/* trades or points so far */
};

static int
put_next_trade(void *context, const engine_trade *trade, int64_t n)
{
	struct target *to = context;

	put(to->t, to->i == 0 ? "" : ",");
	put_trade(to->t, trade, n);
	if (to->run->incarnation != NULL && to->i < to->run->report.trades_length)
		put(to->t, ",\"entry_incarnation\":%llu", (unsigned long long)to->run->incarnation[to->i]);
	put(to->t, "}");
	to->i++;
	return nonfinite == NULL && !to->t->over;
}

static void
put_trades(struct text *t, const struct run *run)
{
	struct target to = { t, run, 0 };

	put(t, "\"trades\":[");
	if (run->stream >= 0)
		stream_trades(run->stream, put_next_trade, &to);
	else
		for (int32_t i = 0; i < run->report.trades_length && put_next_trade(&to, &run->report.trades[i], i + 1); i++)
			;
	put(t, "]");
}

static int
put_next_point(void *context, const engine_equity_point *point)
{
	struct target *to = context;

	put(to->t, "%s{\"time_ms\":%lld,\"equity\":", to->i++ == 0 ? "" : ",", (long long)point->time_ms);
	put_real_or_null(to->t, point->equity);
	put(to->t, ",\"open_profit\":");
	put_real_or_null(to->t, point->open_profit);
	put(to->t, "}");
	return !to->t->over;
}

static void
put_curve(struct text *t, const struct run *run)
{
	struct target to = { t, run, 0 };

	put(t, "\"equity_curve\":[");
	if (run->stream >= 0)
		stream_points(run->stream, put_next_point, &to);
	else
		for (int64_t i = 0; i < run->report.equity_curve_length && put_next_point(&to, &run->report.equity_curve[i]); i++)
			;
	put(t, "]");
}

/* The explicit sink in place of trades and curve, by the caller's name for it. */
static void
put_sink(struct text *t, const struct run *run)
{
	put(t, "\"report_sink\":{\"format\":\"touchstone-sink/1\"");
	if (run->route == ROUTE_NAMED) {
		put(t, ",\"path\":");
		put_string(t, options.sink, NO_CUT);
	}
	if (run->receipt_known) {
		put(t, ",\"bytes\":%llu,\"sha256\":", (unsigned long long)run->receipt.bytes);
		put_string(t, run->receipt.sha256, NO_CUT);
		put(t, "}");
	} else {
		put(t, ",\"bytes\":null,\"sha256\":null}");
	}
}

/* Seconds rounded to four places. */
static void
put_elapsed(struct text *t, double value)
{
	char rounded[64];

	snprintf(rounded, sizeof rounded, "%.4f", value);
	put(t, "\"elapsed_seconds\":");
	put_real(t, strtod(rounded, NULL));
}

const char *
put_report(struct text *t, const struct run *run)
{
	int whole = run->route == ROUTE_NONE || run->route == ROUTE_AUTOMATIC;

	put(t, "{\"engine\":\"pineforge\",");
	put_input(t, &run->feed);
	put(t, ",\"applied_inputs\":");
	put_settings(t, &run->inputs);
	put(t, ",\"applied_overrides\":");
	put_settings(t, &run->overrides);
	put(t, ",");
	put_runtime(t, &run->report);
	put(t, ",");
	put_elapsed(t, run->elapsed_seconds);
	put(t, ",");
	put_summary(t, &run->report);
	put(t, ",");
	put_diagnostics(t, &run->report);
	put(t, ",");
	if (whole)
		put_trades(t, run);
	else
		put_sink(t, run);
	put(t, ",");
	put_metrics(t, &run->report.metrics);
	if (whole) {
		put(t, ",");
		put_curve(t, run);
	}
	if (run->window.selected) {
		put(t, ",");
		put_window(t, &run->window, &run->feed, 1);
		put(t, ",");
		put_shape(t, &run->report);
	}
	put(t, ",\"fingerprint\":null}\n");
	return nonfinite;
}
