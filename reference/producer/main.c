/* main: which document, and what is refused before any library is loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

#define ARGUMENTS "{\"option\":\"arguments\"}"

/* The report modes without a provider, the jailed profile's path sink (C-70). */
static void
refuse_early(void)
{
	struct text args = { .limit = 4096 };

	if (strcmp(options.mode, "FULL") != 0) {
		put(&args, "{\"mode\":");
		put_string(&args, options.mode, 1024);
		put(&args, ",\"contract\":\"pineforge-report/v1\"}%c", 0);
		fail("report_mode_unsupported", args.bytes, "report mode %s is not supported", options.mode);
	}
	if (strcmp(options.profile, "jailed") == 0 && options.sink != NULL)
		fail("run_request_invalid", ARGUMENTS, "the jailed profile has no path sink");
}

static _Noreturn void
print_help(void)
{
	puts("usage: run_json --so SO --ohlcv OHLCV [--inputs JSON] [--overrides JSON] [--input-tf TF] [--script-tf TF]\n"
	    "                [--trade-start-ms MS] [--chart-tz TZ] [--report-mode FULL] [--profile unjailed|jailed]\n"
	    "                [--report-sink PATH | --report-sink-fd N] [--run-phase-fd N]\n"
	    "                [--report-policy selected-window/v1 --window-start-ms MS --window-end-ms MS [--preroll-bars N]\n"
	    "                 [--fed-start-ms MS]]\n"
	    "                [--capabilities-json] [--validate-window-only] [--csv2bin OUT] [--help]");
	exit(0);
}

static void
enter(enum phase phase)
{
	phase_enter(phase);
	if (phases_broken())
		fail("harness_internal_error", "{}", "a phase record was not taken");
}

int
main(int argc, char **argv)
{
	static struct run run;
	struct text t;

	options_parse(argc, argv);
	if (options.help)
		print_help();
	refuse_early();
	run.inputs = settings_parse(options.inputs, "inputs");
	run.overrides = settings_parse(options.overrides, "overrides");
	if (options.capabilities) {
		run.library = library_load(options.so);
		t = text_new();
		put_capabilities(&t, &run.library);
		publish(&t, 0);
	}
	run.window = window_parse();
	phases_begin(run.window.selected);
	enter(PHASE_PREFLIGHT);
	run.feed = feed_read(options.ohlcv);
	if (options.csv2bin != NULL) {
		feed_dump(&run.feed, options.csv2bin);
		return 0;
	}
	window_plan(&run.window, &run.feed);
	if (options.validation) {
		t = text_new();
		put_validation(&t, &run.window, &run.feed);
		publish(&t, 0);
	}
	enter(PHASE_EXECUTION);
	run.library = library_load(options.so);
	run_backtest(&run);
}
