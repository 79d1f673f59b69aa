/* actor: a producer that does what its --inputs say, word by word, and nothing else.
 *
 * Arranges: candidates, diagnostics and ends of every kind, and the words of sinkactor.c. Words: report=N (a whole
 *           report document of N bytes, LF included), summary=N (the same beside an explicit sink), claim=N (a whole failure document whose args text has N bytes), legacy (a failure document
 *           without code), text=S (S as it stands on the candidate), lf, close (the candidate), out=N and err=N (N
 *           bytes on 1 and 2), status=N, signal=N, call=N (a raw system call without arguments), spin, stubborn
 *           (ignore SIGTERM), show=PATH (whether there is such a file, on 2). Ends with status 0 after the last word.
 * Used by:  the end-to-end tests of the supervisor.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "actor.h"

static int candidate;

void all(int fd, const char *from, size_t n)
{
	while (n > 0) {
		ssize_t taken = write(fd, from, n);

		if (taken < 0)
			_exit(70);
		from += taken;
		n -= (size_t)taken;
	}
}

static void fill(int fd, size_t n)
{
	static char block[65536];

	memset(block, 'x', sizeof block);
	for (; n > sizeof block; n -= sizeof block)
		all(fd, block, sizeof block);
	all(fd, block, n);
}

static void document(const char *head, const char *tail, size_t pad)
{
	all(candidate, head, strlen(head));
	fill(candidate, pad);
	all(candidate, tail, strlen(tail));
}

static void report(size_t size, int summary)
{
	const char *head = summary ? "{\"engine\":\"pineforge\",\"input\":{},\"applied_inputs\":{},\"applied_overrides\":{},"
			   "\"applied_runtime\":{},\"elapsed_seconds\":0.0,\"summary\":{},\"diagnostics\":{},"
			   "\"report_sink\":{},\"metrics\":{},\"fingerprint\":\""
			   : "{\"engine\":\"pineforge\",\"input\":{},\"applied_inputs\":{},\"applied_overrides\":{},"
			   "\"applied_runtime\":{},\"elapsed_seconds\":0.0,\"summary\":{},\"diagnostics\":{},"
			   "\"trades\":[],\"metrics\":{},\"equity_curve\":[],\"fingerprint\":\"";
	const char *tail = "\"}\n";

	if (size < strlen(head) + strlen(tail))
		_exit(2);
	document(head, tail, size - strlen(head) - strlen(tail));
}

static void act(const char *word, const char *value)
{
	long n = value ? strtol(value, NULL, 10) : 0;

	if (act_on_sink(word, value, n))
		return;
	if (!strcmp(word, "report") || !strcmp(word, "summary"))
		report((size_t)n, *word == 's');
	else if (!strcmp(word, "claim"))
		document("{\"engine\":\"pineforge\",\"error\":\"no\",\"code\":\"report_result_invalid\",\"args\":{\"field\":\"",
			 "\",\"reason\":\"nonfinite\"}}\n", (size_t)n);
	else if (!strcmp(word, "legacy"))
		document("{\"engine\":\"pineforge\",\"error\":\"no\"}\n", "", 0);
	else if (!strcmp(word, "text"))
		all(candidate, value, strlen(value));
	else if (!strcmp(word, "lf"))
		all(candidate, "\n", 1);
	else if (!strcmp(word, "close"))
		close(candidate);
	else if (!strcmp(word, "out"))
		fill(1, (size_t)n);
	else if (!strcmp(word, "err"))
		fill(2, (size_t)n);
	else if (!strcmp(word, "status"))
		_exit((int)n);
	else if (!strcmp(word, "signal"))
		raise((int)n);
	else if (!strcmp(word, "call"))
		syscall(n, 0, 0, 0, 0, 0);
	else if (!strcmp(word, "show"))
		fputs(access(value, F_OK) ? "no file\n" : "a file\n", stderr);
	else if (!strcmp(word, "stubborn"))
		signal(SIGTERM, SIG_IGN);
	else if (!strcmp(word, "spin"))
		for (;;)
			pause();
	else
		_exit(2);
}

int main(int argc, char **argv)
{
	char *inputs = NULL, *source = NULL, *rest = NULL;

	candidate = getenv("TOUCHSTONE_CANDIDATE_FD") ? atoi(getenv("TOUCHSTONE_CANDIDATE_FD")) : 1;
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--inputs"))
			inputs = argv[i + 1];
		else if (!strcmp(argv[i], "--so"))
			source = argv[i + 1];
	open_sink(inputs, source);
	for (char *word = strtok_r(inputs, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		act(word, value);
	}
	return 0;
}
