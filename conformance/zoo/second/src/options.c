#include "second.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VERSION "supervised/v1"

enum slot {
	SLOT_CHANNEL, SLOT_TERMINAL, SLOT_REPORT, SLOT_DIAGNOSTIC, SLOT_WALL, SLOT_STALL,
	SLOT_MODE, SLOT_LIBRARY, SLOT_BARS, SLOT_PROFILE, SLOT_CAPABILITIES, SLOTS
};

/* Slots before SLOT_MODE belong to the channel contract and may come from a variable; an option wins. */
static const struct option {
	const char *flag, *variable;
} options[SLOTS] = {
	[SLOT_CHANNEL] = {"--report-channel", "PINEFORGE_REPORT_CHANNEL"},
	[SLOT_TERMINAL] = {"--terminal-status-fd", "PINEFORGE_TERMINAL_STATUS_FD"},
	[SLOT_REPORT] = {"--report-max-bytes", "PINEFORGE_REPORT_MAX_BYTES"},
	[SLOT_DIAGNOSTIC] = {"--diagnostic-max-bytes", "PINEFORGE_DIAGNOSTIC_MAX_BYTES"},
	[SLOT_WALL] = {"--channel-wall-ms", "PINEFORGE_CHANNEL_WALL_MS"},
	[SLOT_STALL] = {"--channel-stall-ms", "PINEFORGE_CHANNEL_STALL_MS"},
	[SLOT_MODE] = {"--report-mode", NULL},
	[SLOT_LIBRARY] = {"--strategy", NULL},
	[SLOT_BARS] = {"--bars", NULL},
	[SLOT_PROFILE] = {"--profile", NULL},
	[SLOT_CAPABILITIES] = {"--capabilities", NULL},
};

static int slot_of(const char *flag)
{
	for (int i = 0; i < SLOTS; i++)
		if (strcmp(options[i].flag, flag) == 0)
			return i;
	return -1;
}

/* Fills value from the arguments. False where one is unknown, lacks its value or contradicts itself. */
static bool read_arguments(const char *value[SLOTS], char **argv)
{
	bool good = argv[1] && strcmp(argv[1], "run_json") == 0;

	for (char **at = argv + 1 + (argv[1] != NULL); *at; at++) {
		int slot = slot_of(*at);
		const char *text = slot == SLOT_CAPABILITIES ? "yes" : NULL;

		if (slot >= 0 && text == NULL)
			text = *++at;
		if (slot < 0 || text == NULL) {
			good = false;
			if (slot >= 0)
				break;
			continue;
		}
		if (value[slot] && strcmp(value[slot], text) != 0)
			good = false;
		value[slot] = text;
	}
	return good;
}

static bool uses_channel(const char *value[SLOTS])
{
	for (int i = SLOT_TERMINAL; i < SLOT_MODE; i++)
		if (value[i])
			return true;
	return false;
}

static int terminal_number(const char *text)
{
	uint64_t number;

	if (text == NULL || !decimal(text, INT_MAX, &number) || number < 3 || number == 5)
		return -1;
	return (int)number;
}

/* What is asked of the engine; the same with and without the channel contract. */
static bool read_engine(struct request *request, const char *value[SLOTS])
{
	const char *mode = value[SLOT_MODE], *profile = value[SLOT_PROFILE];
	bool good = value[SLOT_LIBRARY] != NULL;

	request->library = value[SLOT_LIBRARY];
	request->bars = value[SLOT_BARS];
	request->operation = value[SLOT_CAPABILITIES] ? OPERATION_CAPABILITIES : OPERATION_BACKTEST;
	good &= request->bars != NULL || request->operation == OPERATION_CAPABILITIES;
	request->jailed = profile && strcmp(profile, "jailed") == 0;
	good &= profile == NULL || request->jailed || strcmp(profile, "unjailed") == 0;
	if (mode && (strcmp(mode, "SUMMARY_ONLY") == 0 || strcmp(mode, "STREAMED") == 0))
		request->mode = mode;
	else
		good &= mode == NULL || strcmp(mode, "FULL") == 0;
	return good;
}

void request_read(struct request *request, char **argv)
{
	const char *value[SLOTS] = {NULL};
	bool good = read_arguments(value, argv);

	memset(request, 0, sizeof *request);
	for (int i = 0; i < SLOT_MODE; i++)
		if (value[i] == NULL)
			value[i] = getenv(options[i].variable);
	good &= read_engine(request, value);
	request->active = value[SLOT_CHANNEL] != NULL;
	request->terminal = terminal_number(value[SLOT_TERMINAL]);
	for (int i = 0; i < KNOBS; i++)
		request->knob[i] = value[SLOT_REPORT + i];
	if (request->active)
		good &= strcmp(value[SLOT_CHANNEL], VERSION) == 0 && request->terminal >= 0;
	else
		good &= !uses_channel(value);
	request->refused = !good;
}
