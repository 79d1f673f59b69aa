/* main: which document, and what is refused before any library is loaded. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

#define ARGUMENTS "{\"option\":\"arguments\"}"

/* The report modes without a provider, the jailed profile's sink (C-70), and what is not built. */
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
	if (options.phase_fd != NULL)
		fail("run_request_invalid", ARGUMENTS, "this producer has no progress relay");
}

static _Noreturn void
print_help(void)
{
	puts("usage: run_json --so SO --ohlcv OHLCV [--inputs JSON] [--overrides JSON] [--input-tf TF] [--script-tf TF]\n"
	    "                [--trade-start-ms MS] [--chart-tz TZ] [--report-mode FULL] [--profile unjailed|jailed]\n"
	    "                [--report-sink PATH | --report-sink-fd N]\n"
	    "                [--capabilities-json] [--validate-window-only] [--csv2bin OUT] [--help]");
	exit(0);
}

int
main(int argc, char **argv)
{
	static struct run run;
	struct text t;

	signal(SIGPIPE, SIG_IGN);	/* a gone reader is a write error here, as in the engine's harness */
	options_parse(argc, argv);
	if (options.help)
		print_help();
	refuse_early();
	run.inputs = settings_parse(options.inputs, "inputs");
	run.overrides = settings_parse(options.overrides, "overrides");
	if (options.capabilities) {
		library_load(options.so);
		t = text_new();
		put_capabilities(&t);
		publish(&t, 0);
	}
	run.feed = feed_read(options.ohlcv);
	if (options.csv2bin != NULL) {
		feed_dump(&run.feed, options.csv2bin);
		return 0;
	}
	if (options.validation) {
		t = text_new();
		put_validation(&t, &run.feed);
		publish(&t, 0);
	}
	run.library = library_load(options.so);
	run_backtest(&run);
}
