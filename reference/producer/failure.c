/* failure: the engine's one-line failure document. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "producer.h"

enum { TEXT_MAX = 16384, BODY_MAX = 61440 };

/* Appends the body; text is cut to text_max bytes of UTF-8. */
static struct text
body(const char *code, const char *args, const char *error, size_t text_max)
{
	struct text t = text_new();

	put(&t, "{\"engine\":\"pineforge\",\"error\":");
	put_string(&t, error, text_max);
	if (code != NULL) {
		put(&t, ",\"code\":");
		put_string(&t, code, NO_CUT);
		put(&t, ",\"args\":");
		for (; *args != 0; args++)
			put(&t, "%c", *args);
	}
	put(&t, "}");
	return t;
}

/* Writes the failure and ends. Over the body's limit the args go first, then text is cut. */
void
fail_exit(int status, const char *code, const char *args, const char *error)
{
	size_t text_max = TEXT_MAX;
	struct text t = body(code, args, error, text_max);

	if (t.used > BODY_MAX)
		t = body(code, "{}", error, text_max);
	while (t.used > BODY_MAX) {
		text_max -= (t.used - BODY_MAX) / 6 + 1;
		t = body(code, "{}", error, text_max);
	}
	put(&t, "\n");
	publish(&t, status);
}

void
fail(const char *code, const char *args, const char *format, ...)
{
	char *error;
	va_list list;

	va_start(list, format);
	int n = vasprintf(&error, format, list);
	va_end(list);
	fail_exit(1, code, args, n < 0 ? "" : error);
}

/* The second time there is no memory for saying so. */
void
fail_memory(const char *what)
{
	static int failing;

	char args[128];

	if (failing++)
		exit(1);
	if (phase_after_execution() == NULL)
		fail("out_of_memory", "{}", "no memory for %s", what);
	snprintf(args, sizeof args, "{\"phase\":\"%s\",\"reason\":\"resource\"}", phase_after_execution());
	fail("report_post_execution_failed", args, "no memory for %s", what);
}

/* What argparse does, and the failure document besides. */
void
fail_usage(const char *format, ...)
{
	char *error;
	va_list list;

	va_start(list, format);
	int n = vasprintf(&error, format, list);
	va_end(list);
	fprintf(stderr, "usage: run_json --so SO --ohlcv OHLCV [options]\nrun_json: error: %s\n", n < 0 ? "" : error);
	fail_exit(2, "run_request_invalid", "{\"option\":\"arguments\"}", n < 0 ? "" : error);
}
