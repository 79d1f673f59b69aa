/*
 * strategy: a library of ABI 4 whose behaviour a setting chooses.
 *
 * Arranges: by the override "do": trade (two trades, a curve, metrics that
 * are not finite), nonfinite (a trade price that is not a number), fail
 * (text, code and args), badcode (a code that is none), badargs (args that
 * are no object of scalars), longtext and hugetext (texts over the limits),
 * status (failure by status only), uncreated, curve (a long equity curve).
 * -DABI=n changes the version; -DSYMBOL=other takes an export away.
 * Used by:  the producer tests.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../../fixtures/native/engine_abi.h"

#ifndef ABI
#define ABI ENGINE_ABI_VERSION
#endif

static char behaviour[32], text[70000];

static int
doing(const char *name)
{
	return strcmp(behaviour, name) == 0;
}

int
pf_abi_version(void)
{
	return ABI;
}

void *
strategy_create(const char *settings)
{
	return strcmp(settings, "{}") == 0 && getenv("UNCREATED") == NULL ? behaviour : NULL;
}

void
strategy_set_input(void *strategy, const char *key, const char *value)
{
	(void)strategy, (void)key, (void)value;
}

void
strategy_set_override(void *strategy, const char *key, const char *value)
{
	(void)strategy;
	if (strcmp(key, "do") == 0)
		strncpy(behaviour, value, sizeof behaviour - 1);
}

static void
trade(engine_report *report, const engine_bar *bars)
{
	report->trades = calloc(2, sizeof *report->trades);
	report->total_trades = report->trades_length = 2;
	report->trades[0] = (engine_trade){ .entry_time = bars[0].timestamp, .exit_time = bars[1].timestamp,
	    .entry_price = 1e16, .exit_price = 1e-5, .pnl = 0.1, .pnl_pct = 123456789.125, .is_long = 1, .qty = 1,
	    .max_runup = 5e-324, .max_drawdown = 1.7976931348623157e308, .commission = -0.0, .exit_bar_index = 1 };
	report->trades[1] = (engine_trade){ .entry_time = bars[1].timestamp, .exit_time = bars[2].timestamp,
	    .entry_price = doing("nonfinite") ? NAN : 0.0001, .exit_price = 9999999999999998, .pnl = -0.3, .open_at_end = 1 };
	report->net_profit = 0.1 + 0.2;
	report->metrics.all.num_trades = 2;
	report->metrics.all.profit_factor = INFINITY;
	report->metrics.equity.sharpe_monthly = NAN;
	report->metrics.equity.open_pl = -1.5;
	report->equity_curve = calloc(2, sizeof *report->equity_curve);
	report->equity_curve_length = 2;
	report->equity_curve[0] = (engine_equity_point){ 1, 1000000, -INFINITY };
	report->equity_curve[1] = (engine_equity_point){ -1, 1e22, 0.5 };
}

static void
long_curve(engine_report *report)
{
	report->equity_curve_length = 100000;
	report->equity_curve = calloc(100000, sizeof *report->equity_curve);
	for (int i = 0; i < 100000; i++)
		report->equity_curve[i].equity = i / 3.0;
}

void
run_backtest_full(void *strategy, engine_bar *bars, int count, const char *input_tf, const char *script_tf,
    int magnifier, int samples, int distribution, engine_report *report)
{
	(void)strategy, (void)input_tf, (void)script_tf, (void)magnifier, (void)samples, (void)distribution;
	report->input_bars = report->script_bars = count;
	report->input_tf_seconds = report->script_tf_seconds = 900;
	report->script_tf_ratio = 1;
	if (doing("trade") || doing("nonfinite"))
		trade(report, bars);
	if (doing("curve"))
		long_curve(report);
}

const char *
strategy_get_last_error(void *strategy)
{
	(void)strategy;
	if (doing("longtext"))
		for (int i = 0; i < 60000; i += 2)
			memcpy(text + i, "\xc3\xa9", 2);	/* a letter of two bytes */
	if (doing("hugetext"))
		memset(text, 1, 60000);	/* six ASCII characters each */
	if (doing("fail") || doing("badcode") || doing("badargs"))
		strcpy(text, "bad \xff \"text\"");
	return text;
}

const char *
strategy_get_last_error_code(void *strategy)
{
	(void)strategy;
	if (doing("badcode"))
		return "Not A Code";
	return doing("fail") || doing("badargs") || doing("hugetext") ? "pine_runtime_limit" : NULL;
}

const char *
strategy_get_last_error_args(void *strategy)
{
	(void)strategy;
	return doing("badargs") ? "{\"a\":[1]}" : "{ \"limit\": \"map_pairs\", \"max\": 50000, \"x\": 1.50, \"y\": null }";
}

int
strategy_last_run_status(void *strategy)
{
	(void)strategy;
	return doing("status");
}

void
strategy_free(void *strategy)
{
	(void)strategy;
}

void
report_free(engine_report *report)
{
	free(report->trades);
	free(report->equity_curve);
}
