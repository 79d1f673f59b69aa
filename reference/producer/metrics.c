/* metrics: the statistics block; a value that is not finite is null. */
#include "producer.h"

struct field {
	const char *name;
	size_t offset;
	int integer;
};

#define INTEGER(member) { #member, offsetof(engine_trade_stats, member), 1 }
#define REAL(member) { #member, offsetof(engine_trade_stats, member), 0 }
#define EQUITY(name, member) { name, offsetof(engine_equity_stats, member), 0 }

static const struct field trade_field[] = {
	INTEGER(num_trades), INTEGER(num_wins), INTEGER(num_losses), INTEGER(num_even),
	REAL(percent_profitable), REAL(net_profit), REAL(net_profit_pct), REAL(gross_profit), REAL(gross_profit_pct),
	REAL(gross_loss), REAL(gross_loss_pct), REAL(profit_factor), REAL(avg_trade), REAL(avg_trade_pct), REAL(avg_win),
	REAL(avg_win_pct), REAL(avg_loss), REAL(avg_loss_pct), REAL(ratio_avg_win_avg_loss), REAL(largest_win),
	REAL(largest_win_pct), REAL(largest_loss), REAL(largest_loss_pct), REAL(commission_paid), REAL(expectancy),
	INTEGER(max_consecutive_wins), INTEGER(max_consecutive_losses),
	REAL(avg_bars_in_trade), REAL(avg_bars_in_wins), REAL(avg_bars_in_losses),
};

static const struct field equity_field[] = {
	EQUITY("max_equity_drawdown", max_equity_drawdown), EQUITY("max_equity_drawdown_pct", max_equity_drawdown_pct),
	EQUITY("max_equity_runup", max_equity_runup), EQUITY("max_equity_runup_pct", max_equity_runup_pct),
	EQUITY("buy_hold_return", buy_hold_return), EQUITY("buy_hold_return_pct", buy_hold_return_pct),
	EQUITY("sharpe_tv", sharpe_monthly), EQUITY("sortino_tv", sortino_monthly),
	EQUITY("sharpe_bar", sharpe_bar), EQUITY("sortino_bar", sortino_bar), EQUITY("cagr", cagr),
	EQUITY("calmar", calmar), EQUITY("recovery_factor", recovery_factor),
	EQUITY("time_in_market_pct", time_in_market_pct), EQUITY("open_pl", open_pl),
};

static void
put_block(struct text *t, const char *name, const void *block, const struct field *field, size_t n)
{
	put(t, "\"%s\":{", name);
	for (size_t i = 0; i < n; i++) {
		const char *at = (const char *)block + field[i].offset;
		put(t, "%s\"%s\":", i == 0 ? "" : ",", field[i].name);
		if (field[i].integer)
			put(t, "%d", *(const int32_t *)(const void *)at);
		else
			put_real_or_null(t, *(const double *)(const void *)at);
	}
	put(t, "}");
}

void
put_metrics(struct text *t, const engine_metrics *metrics)
{
	const size_t trades = sizeof trade_field / sizeof *trade_field;

	put(t, "\"metrics\":{");
	put_block(t, "all", &metrics->all, trade_field, trades);
	put(t, ",");
	put_block(t, "longs", &metrics->longs, trade_field, trades);
	put(t, ",");
	put_block(t, "shorts", &metrics->shorts, trade_field, trades);
	put(t, ",");
	put_block(t, "equity", &metrics->equity, equity_field, sizeof equity_field / sizeof *equity_field);
	put(t, "}");
}
