/* strategy.hpp: what a transpiled strategy runs on: orders, the report and the strategy ABI's symbols.
 *
 * Orders fill at the close of the bar that gives them, whole, without commission. One position at a time: an entry in
 * the other direction closes it first, one in the same direction is ignored. The equity starts at 100000.
 *
 * A module made of this has no native sink. TOUCHSTONE_STRATEGY(type) at the end of a file exports the ABI for the type.
 */
#ifndef TOUCHSTONE_STRATEGY_HPP
#define TOUCHSTONE_STRATEGY_HPP

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "series.hpp"

extern "C" {
#include "engine_abi.h"
}

namespace touchstone {

constexpr double initial_equity = 100000;

/* What a strategy sees of a bar. */
struct moment {
	double open, high, low, close, volume, time, index;
	double position = 0; /* negative: short */
	double entry = nothing;
	double equity = initial_equity;
};

class strategy {
public:
	virtual ~strategy() = default;
	virtual double *input(const std::string &key) = 0; /* nullptr: none of that name */
	virtual void bar() = 0;

	void set(const char *key, const char *text);
	void run(const engine_bar *bars, int count, engine_report *report);

	std::string error, code, arguments = "{}";
	int64_t trade_start = std::numeric_limits<int64_t>::min(); /* ms; no entry before it */

protected:
	moment now{};

	void enter_long(double size) { enter(1, size); }
	void enter_short(double size) { enter(-1, size); }
	void leave() { close(now.close, false); }
	void fail(const char *text) { stop("strategy_runtime_error", text); }

private:
	engine_trade open_trade{};
	const engine_bar *current = nullptr;
	double net_profit = 0, peak = initial_equity, drawdown = 0;
	std::vector<engine_trade> trades;
	std::vector<engine_equity_point> curve;

	void stop(const char *with, const std::string &text)
	{
		if (error.empty())
			error = text, code = with;
	}
	double side() const { return now.position < 0 ? -1 : 1; }
	void enter(int direction, double size);
	void close(double price, bool at_end);
	void watch();
	void value();
	void fill(engine_report *report, int count) const;
};

inline void strategy::set(const char *key, const char *text)
{
	double *place = input(key), value;
	char *end;

	value = std::strtod(text, &end);
	bool number = end != text && *end == 0 && std::isfinite(value);
	if (place == nullptr || !number) {
		stop("setting_rejected", "the input " + std::string(key) + (place ? " is no number" : " does not exist"));
		arguments = std::string("{\"entrypoint\":\"strategy_set_input\",\"reason\":\"") +
			(place ? "invalid_number_or_trailing_bytes" : "unknown_key") + "\"}";
		return;
	}
	*place = value;
}

inline void strategy::enter(int direction, double size)
{
	if (!(size > 0) || !std::isfinite(size) || current->timestamp < trade_start || now.position * direction > 0)
		return;
	leave();
	now.position = direction * size;
	now.entry = now.close;
	open_trade = engine_trade{};
	open_trade.entry_time = current->timestamp;
	open_trade.entry_price = now.close;
	open_trade.is_long = direction > 0;
	open_trade.qty = size;
	open_trade.entry_bar_index = static_cast<int32_t>(now.index);
}

inline void strategy::close(double price, bool at_end)
{
	if (now.position == 0)
		return;
	engine_trade trade = open_trade;
	trade.exit_time = current->timestamp;
	trade.exit_price = price;
	trade.pnl = (price - trade.entry_price) * now.position;
	trade.pnl_pct = 100 * (price / trade.entry_price - 1) * side();
	trade.exit_bar_index = static_cast<int32_t>(now.index);
	trade.open_at_end = at_end;
	trades.push_back(trade);
	net_profit += trade.pnl;
	now.position = 0;
	now.entry = nothing;
}

/* A trade that was open when the bar began has seen its extremes, whatever the bar does to it. */
inline void strategy::watch()
{
	double best = side() > 0 ? now.high : now.low, worst = side() > 0 ? now.low : now.high;

	if (now.position == 0)
		return;
	open_trade.max_runup = std::fmax(open_trade.max_runup, (best - now.entry) * now.position);
	open_trade.max_drawdown = std::fmax(open_trade.max_drawdown, (now.entry - worst) * now.position);
}

inline void strategy::value()
{
	double open_profit = now.position == 0 ? 0 : (now.close - now.entry) * now.position;

	now.equity = initial_equity + net_profit + open_profit;
	peak = std::fmax(peak, now.equity);
	drawdown = std::fmax(drawdown, peak - now.equity);
	curve.push_back({current->timestamp, now.equity, open_profit});
}

inline void strategy::run(const engine_bar *bars, int count, engine_report *report)
{
	for (int i = 0; i < count && error.empty(); i++) {
		current = &bars[i];
		now.open = current->open, now.high = current->high, now.low = current->low, now.close = current->close;
		now.volume = current->volume, now.time = static_cast<double>(current->timestamp), now.index = i;
		watch();
		bar();
		value();
	}
	if (count > 0 && error.empty())
		close(now.close, true);
	fill(report, count);
}

/* Totals of the trades that kind says yes to. */
template <typename Kind>
inline engine_trade_stats stats(const std::vector<engine_trade> &trades, Kind kind)
{
	engine_trade_stats s{};

	for (const engine_trade &t : trades) {
		if (!kind(t))
			continue;
		s.num_trades++;
		s.num_wins += t.pnl > 0, s.num_losses += t.pnl < 0, s.num_even += t.pnl == 0;
		(t.pnl > 0 ? s.gross_profit : s.gross_loss) += std::fabs(t.pnl);
		s.largest_win = std::fmax(s.largest_win, t.pnl);
		s.largest_loss = std::fmax(s.largest_loss, -t.pnl);
		s.avg_bars_in_trade += t.exit_bar_index - t.entry_bar_index;
	}
	auto share = [](double part, double whole) { return whole == 0 ? 0 : part / whole; };
	s.net_profit = s.gross_profit - s.gross_loss;
	s.net_profit_pct = 100 * s.net_profit / initial_equity;
	s.percent_profitable = 100 * share(s.num_wins, s.num_trades);
	s.profit_factor = share(s.gross_profit, s.gross_loss);
	s.avg_trade = s.expectancy = share(s.net_profit, s.num_trades);
	s.avg_win = share(s.gross_profit, s.num_wins);
	s.avg_loss = share(s.gross_loss, s.num_losses);
	s.ratio_avg_win_avg_loss = share(s.avg_win, s.avg_loss);
	s.avg_bars_in_trade = share(s.avg_bars_in_trade, s.num_trades);
	return s;
}

template <typename T>
inline T *copy(const std::vector<T> &from)
{
	T *to = static_cast<T *>(std::malloc(from.size() * sizeof(T) + 1));

	if (to == nullptr)
		std::abort();
	std::copy(from.begin(), from.end(), to);
	return to;
}

inline void strategy::fill(engine_report *report, int count) const
{
	report->trades = copy(trades);
	report->total_trades = report->trades_length = static_cast<int32_t>(trades.size());
	report->net_profit = net_profit;
	report->input_bars = report->script_bars = count;
	report->script_tf_ratio = 1;
	report->metrics.all = stats(trades, [](const engine_trade &) { return true; });
	report->metrics.longs = stats(trades, [](const engine_trade &t) { return t.is_long != 0; });
	report->metrics.shorts = stats(trades, [](const engine_trade &t) { return t.is_long == 0; });
	report->metrics.equity.max_equity_drawdown = drawdown;
	report->equity_curve = copy(curve);
	report->equity_curve_length = static_cast<int64_t>(curve.size());
}

inline strategy *self(void *opaque) { return static_cast<strategy *>(opaque); }

} // namespace touchstone

#define TOUCHSTONE_STRATEGY(type)                                                                                      \
	extern "C" {                                                                                                   \
	int pf_abi_version(void) { return ENGINE_ABI_VERSION; }                                                        \
	void *strategy_create(const char *) { return static_cast<touchstone::strategy *>(new type); }                  \
	void strategy_set_input(void *s, const char *key, const char *value) { touchstone::self(s)->set(key, value); } \
	void strategy_set_override(void *, const char *, const char *) {}                                              \
	void strategy_set_trade_start_time(void *s, int64_t ms) { touchstone::self(s)->trade_start = ms; }             \
	void strategy_set_chart_timezone(void *, const char *) {}                                                      \
	void run_backtest_full(void *s, engine_bar *bars, int count, const char *, const char *, int, int, int,        \
		engine_report *report)                                                                                 \
	{                                                                                                              \
		touchstone::self(s)->run(bars, count, report);                                                         \
	}                                                                                                              \
	const char *strategy_get_last_error(void *s) { return touchstone::self(s)->error.c_str(); }                    \
	const char *strategy_get_last_error_code(void *s) { return touchstone::self(s)->code.c_str(); }                \
	const char *strategy_get_last_error_args(void *s) { return touchstone::self(s)->arguments.c_str(); }           \
	int strategy_last_run_status(void *s) { return touchstone::self(s)->error.empty() ? 0 : 1; }                   \
	void strategy_free(void *s) { delete touchstone::self(s); }                                                    \
	void report_free(engine_report *report)                                                                        \
	{                                                                                                              \
		std::free(report->trades);                                                                             \
		std::free(report->equity_curve);                                                                       \
		report->trades = nullptr;                                                                              \
		report->equity_curve = nullptr;                                                                        \
	}                                                                                                              \
	}

#endif
