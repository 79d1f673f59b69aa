#include "second.h"

#include <stdlib.h>
#include <string.h>

/* Defaults of the contract's table (R07) and the variables that carry the host's grants. */
static const struct {
	const char *variable;
	uint64_t otherwise;
} grants[KNOBS] = {
	[KNOB_REPORT] = {"SECOND_GRANT_REPORT", 67108864},
	[KNOB_DIAGNOSTIC] = {"SECOND_GRANT_DIAGNOSTIC", 1048576},
	[KNOB_WALL] = {"SECOND_GRANT_WALL", 600000},
	[KNOB_STALL] = {"SECOND_GRANT_STALL", 5000},
};

bool decimal(const char *text, uint64_t max, uint64_t *value)
{
	uint64_t sum = 0;

	if (*text == '\0')
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		if (sum > (max - (uint64_t)(*text - '0')) / 10)
			return false;
		sum = sum * 10 + (uint64_t)(*text - '0');
	}
	*value = sum;
	return true;
}

/* Omitted: the table's default within the grant (C-14). Zero: the grant. Anything else is taken or refused. */
static bool resolve(struct limit *limit, const char *text, uint64_t otherwise)
{
	if (text == NULL) {
		limit->effective = otherwise < limit->granted ? otherwise : limit->granted;
		return true;
	}
	uint64_t value;

	if (!decimal(text, SAFE_MAX - 1, &value))
		return false;
	limit->requested = value;
	if (limit->granted != NOTHING && value > limit->granted)
		return false;
	limit->effective = value ? value : limit->granted;
	return true;
}

static void read_attempt(struct launch *launch)
{
	const char *text = getenv("SECOND_ATTEMPT");

	memset(launch->attempt, '0', 32);
	launch->attempt[32] = '\0';
	launch->no_attempt = text == NULL;
	if (text == NULL)
		return;
	launch->bad_attempt = strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32;
	if (!launch->bad_attempt)
		memcpy(launch->attempt, text, 32);
}

void launch_read(struct launch *launch, const struct request *request)
{
	memset(launch, 0, sizeof *launch);
	read_attempt(launch);
	launch->spool = getenv("SECOND_SPOOL");
	for (int i = 0; i < KNOBS; i++) {
		struct limit *limit = &launch->limit[i];
		const char *text = getenv(grants[i].variable);
		uint64_t granted = NOTHING;

		*limit = (struct limit){NOTHING, NOTHING, NOTHING};
		if (text && decimal(text, SAFE_MAX, &granted))
			limit->granted = granted;
		if (!resolve(limit, request->knob[i], grants[i].otherwise))
			launch->bad_option = true;
		if (limit->granted == NOTHING || limit->granted == 0) {
			launch->no_grant = true;
			limit->effective = NOTHING;
		}
	}
}
