/* options: flags and variables; exact spellings, --flag value or --flag=value. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

struct options options;

static const struct {
	const char *name;
	const char **value;	/* NULL for a flag without value */
	int *flag;
} known[] = {
	{ "--so", &options.so, NULL },
	{ "--ohlcv", &options.ohlcv, NULL },
	{ "--inputs", &options.inputs, NULL },
	{ "--overrides", &options.overrides, NULL },
	{ "--input-tf", &options.input_tf, NULL },
	{ "--script-tf", &options.script_tf, NULL },
	{ "--trade-start-ms", &options.trade_start, NULL },
	{ "--chart-tz", &options.chart_tz, NULL },
	{ "--report-mode", &options.mode, NULL },
	{ "--profile", &options.profile, NULL },
	{ "--report-sink", &options.sink, NULL },
	{ "--report-sink-fd", &options.sink_fd, NULL },
	{ "--report-policy", &options.policy, NULL },
	{ "--window-start-ms", &options.window_start, NULL },
	{ "--window-end-ms", &options.window_end, NULL },
	{ "--preroll-bars", &options.preroll, NULL },
	{ "--fed-start-ms", &options.fed_start, NULL },
	{ "--run-phase-fd", &options.phase_fd, NULL },
	{ "--csv2bin", &options.csv2bin, NULL },
	{ "--capabilities-json", NULL, &options.capabilities },
	{ "--validate-window-only", NULL, &options.validation },
	{ "--help", NULL, &options.help },
};

/* Takes the option at argv[i]; returns the number of words it used. */
static int
take(char **argv, int i)
{
	size_t length = strcspn(argv[i], "=");
	const char *attached = argv[i][length] == '=' ? argv[i] + length + 1 : NULL;

	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		if (strlen(known[k].name) != length || strncmp(known[k].name, argv[i], length) != 0)
			continue;
		if (known[k].flag != NULL && attached != NULL)
			fail_usage("argument %s: ignored explicit argument '%s'", known[k].name, attached);
		if (known[k].flag != NULL) {
			*known[k].flag = 1;
			return 1;
		}
		const char *value = attached != NULL ? attached : argv[i + 1];
		if (value == NULL || (attached == NULL && strncmp(value, "--", 2) == 0))
			fail_usage("argument %s: expected one argument", known[k].name);
		*known[k].value = value;
		return attached != NULL ? 1 : 2;
	}
	fail_usage("unrecognized arguments: %s", argv[i]);
}

/* What is wrong with a descriptor for the sink is the caller's mistake. */
static int
sink_number(const char *number)
{
	char *end;
	long fd = strtol(number, &end, 10);
	int flags = *number >= '0' && *number <= '9' && *end == 0 && fd >= 3 && fd <= INT32_MAX && fd != ARENA_FD ?
	    fcntl((int)fd, F_GETFL) : -1;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		fail_usage("argument --report-sink-fd: '%s' is no descriptor to write to", number);
	return (int)fd;
}

static void
check(void)
{
	char *end;

	if (options.so == NULL && !options.validation && options.csv2bin == NULL)
		fail_usage("the following arguments are required: --so");
	if (options.ohlcv == NULL && !options.capabilities)
		fail_usage("the following arguments are required: --ohlcv");
	if (options.trade_start != NULL) {
		errno = 0;
		options.trade_start_ms = strtoll(options.trade_start, &end, 10);
		if (errno != 0 || end == options.trade_start || *end != 0)
			fail_usage("argument --trade-start-ms: invalid int value: '%s'", options.trade_start);
	}
	if (options.sink != NULL && (*options.sink == 0 || options.sink_fd != NULL))
		fail_usage("argument --report-sink: empty, or together with --report-sink-fd");
	if (options.sink_fd != NULL && !options.supervised)
		sink_claim(sink_number(options.sink_fd));
	if (strcmp(options.profile, "jailed") != 0 && strcmp(options.profile, "unjailed") != 0)
		fail_usage("argument --profile: invalid choice: '%s'", options.profile);
}

/* A descriptor's number in the supervisor's variables. */
static int
descriptor(const char *variable, int otherwise)
{
	const char *number = getenv(variable);

	return number != NULL ? atoi(number) : otherwise;
}

/* Reads the variables before any library is loaded that could change them. */
void
options_parse(int argc, char **argv)
{
	const char *remaining = getenv("TOUCHSTONE_REPORT_REMAINING");

	options.supervised = getenv("TOUCHSTONE_CANDIDATE_FD") != NULL;
	options.candidate = descriptor("TOUCHSTONE_CANDIDATE_FD", 1);
	options.sink_out = descriptor("TOUCHSTONE_SINK_FD", -1);
	sink_claim(options.sink_out);
	options.snapshot = descriptor("TOUCHSTONE_SNAPSHOT_FD", -1);
	options.arena = descriptor("TOUCHSTONE_ARENA_FD", -1);
	options.remaining = remaining != NULL ? strtoull(remaining, NULL, 10) : UINT64_MAX - 1;
	options.inputs = options.overrides = options.input_tf = options.script_tf = options.chart_tz = "";
	options.mode = "FULL";
	options.profile = "unjailed";
	for (int i = 1; i < argc; )
		i += take(argv, i);
	if (!options.help)
		check();
	if (!options.supervised && strcmp(options.profile, "jailed") == 0 && options.arena < 0)
		options.arena = ARENA_FD;	/* where the engine has it; used if it can be mapped */
}
