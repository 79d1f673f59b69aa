/* settings: --inputs and --overrides, and the args of a failed run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

enum { ARGUMENT_MAX = 1024 };

static int
is_integer(const char *number)
{
	return strpbrk(number, ".eE") == NULL;
}

/* Spells a number as Python's str does; an integer stays as it is. */
static char *
spell(const char *number)
{
	struct text t = { .limit = 64 };
	double value = strtod(number, NULL);

	if (is_integer(number) || !isfinite(value))
		return (char *)number;
	put_real(&t, value);
	put(&t, "%c", 0);
	return t.bytes;
}

/* Reads a JSON object of strings and numbers; an empty text is an empty object. */
struct object
settings_parse(const char *json, const char *option)
{
	struct object settings = { NULL, 0 };
	char args[64];

	snprintf(args, sizeof args, "{\"option\":\"%s\"}", option);
	if (*json == 0)
		return settings;
	if (object_parse(json, &settings) != 0)
		fail("run_request_invalid", args, "--%s is not a JSON object of strings and numbers", option);
	for (size_t i = 0; i < settings.n; i++) {
		struct member *m = &settings.member[i];
		if (m->kind == KIND_WORD)
			fail("run_request_invalid", args, "--%s: the value of '%s' is not a string or a number", option, m->key);
		if (m->kind == KIND_NUMBER)
			m->value = spell(m->value);
	}
	return settings;
}

void
put_settings(struct text *t, const struct object *settings)
{
	put(t, "{");
	for (size_t i = 0; i < settings->n; i++) {
		put(t, i == 0 ? "" : ",");
		put_string(t, settings->member[i].key, NO_CUT);
		put(t, ":");
		put_string(t, settings->member[i].value, NO_CUT);
	}
	put(t, "}");
}

/* Appends the args of a failure; each string is cut to the engine's limit. */
void
put_arguments(struct text *t, const struct object *arguments)
{
	put(t, "{");
	for (size_t i = 0; i < arguments->n; i++) {
		const struct member *m = &arguments->member[i];
		put(t, i == 0 ? "" : ",");
		put_string(t, m->key, NO_CUT);
		put(t, ":");
		if (m->kind == KIND_STRING)
			put_string(t, m->value, ARGUMENT_MAX);
		else if (m->kind == KIND_NUMBER && !is_integer(m->value))
			put_real_or_null(t, strtod(m->value, NULL));
		else
			put(t, "%s", m->value);
	}
	put(t, "}");
}
