/* drive: runs a strategy library over given closes, with no producer around it, and says what the report holds.
 *
 * drive LIBRARY [KEY=VALUE…] CLOSE… : one line a trade on standard error, then the net profit or the failure.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../fixtures/native/engine_abi.h"

#define FIND(name) __typeof__(&name) own_##name = (__typeof__(&name))(uintptr_t)dlsym(library, #name)

int main(int argc, char **argv)
{
	static engine_bar bars[4096];
	engine_report report = {0};
	int count = 0;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (library == NULL)
		return fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "no library"), 2;
	FIND(strategy_create);
	FIND(strategy_set_input);
	FIND(run_backtest_full);
	FIND(strategy_get_last_error);
	FIND(strategy_get_last_error_code);
	FIND(strategy_get_last_error_args);
	FIND(report_free);
	FIND(strategy_free);
	void *strategy = own_strategy_create("{}");
	for (int i = 2; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (value != NULL) {
			*value = 0;
			own_strategy_set_input(strategy, argv[i], value + 1);
			continue;
		}
		double close = atof(argv[i]);
		bars[count] = (engine_bar){close, close + 1, close - 1, close, 10, (count + 1) * 60000};
		count++;
	}
	own_run_backtest_full(strategy, bars, count, "", "", 0, 4, 3, &report);
	for (int i = 0; i < report.trades_length; i++)
		fprintf(stderr, "%s %g %g x%g pnl %g bars %d-%d up %g down %g%s\n", report.trades[i].is_long ? "long" : "short",
			report.trades[i].entry_price, report.trades[i].exit_price, report.trades[i].qty, report.trades[i].pnl,
			report.trades[i].entry_bar_index, report.trades[i].exit_bar_index, report.trades[i].max_runup,
			report.trades[i].max_drawdown, report.trades[i].open_at_end ? " open" : "");
	if (*own_strategy_get_last_error(strategy) != 0)
		fprintf(stderr, "failed %s %s %s\n", own_strategy_get_last_error_code(strategy),
			own_strategy_get_last_error_args(strategy), own_strategy_get_last_error(strategy));
	else
		fprintf(stderr, "net %g points %d\n", report.net_profit, (int)report.equity_curve_length);
	own_report_free(&report);
	own_strategy_free(strategy);
	return 0;
}
