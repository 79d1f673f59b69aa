/* options: flags and variables; exact spellings, --flag value or --flag=value. */
#include <errno.h>
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
	if (strcmp(options.profile, "jailed") != 0 && strcmp(options.profile, "unjailed") != 0)
		fail_usage("argument --profile: invalid choice: '%s'", options.profile);
}

/* Reads the variables before any library is loaded that could change them. */
void
options_parse(int argc, char **argv)
{
	const char *candidate = getenv("TOUCHSTONE_CANDIDATE_FD");

	options.candidate = candidate != NULL ? atoi(candidate) : 1;
	options.inputs = options.overrides = options.input_tf = options.script_tf = options.chart_tz = "";
	options.mode = "FULL";
	options.profile = "unjailed";
	for (int i = 1; i < argc; )
		i += take(argv, i);
	if (!options.help)
		check();
}
