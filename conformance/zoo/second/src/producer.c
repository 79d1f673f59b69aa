/* The producer: the only part that loads customer code. usage: second-producer OPERATION PROFILE LIBRARY BARS, with
 * the number of the answer's descriptor in OSPREY_ANSWER. The whole document is made in memory, the strategy is
 * freed, then the document is written and the descriptor closed; destructors run after that. */
#include "producer.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int answer_fd(void)
{
	const char *text = getenv("OSPREY_ANSWER");

	return text ? atoi(text) : -1;
}

/* Writes the document and closes the descriptor. Returns the exit status of the process. */
static int answer(char *document, size_t size, int status)
{
	int fd = answer_fd();

	for (size_t at = 0; at < size;) {
		ssize_t n = write(fd, document + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 3;
		at += (size_t)n;
	}
	free(document);
	return close(fd) == 0 ? status : 3;
}

/* The most of a failure's text: bytes taken, and bytes spelled. */
enum { TEXT_MAX = 16384, SPELLED_MAX = 61000 };

static void text_json(FILE *to, const char *text)
{
	for (const char *end = text + TEXT_MAX; *text && text < end && ftell(to) < SPELLED_MAX; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x7f)
			fprintf(to, "\\u%04x", byte);
		else
			fputc(byte, to);
	}
}

int fail(const char *error, const char *code, const char *args)
{
	char *document = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&document, &size);

	if (to == NULL)
		return 3;
	fprintf(to, "{\"engine\":\"osprey\",\"error\":\"");
	text_json(to, error);
	fprintf(to, "\",\"code\":\"%s\",\"args\":%s}\n", code, args);
	return fclose(to) == 0 ? answer(document, size, 1) : 3;
}

static void write_fills(FILE *to, const struct osprey_bar *bars, size_t n, uint64_t fills)
{
	fputc('[', to);
	for (uint64_t i = 0; i < fills; i++) {
		const struct osprey_bar *bar = &bars[n ? i % n : 0];

		fprintf(to, "%s{\"n\":%" PRIu64 ",\"at\":%" PRId64 ",\"price\":%.4f}", i ? "," : "", i + 1, n ? bar->time : 0,
		        n ? bar->close : 0.0);
	}
	fputc(']', to);
}

static int report(const struct osprey_bar *bars, size_t n, double net, uint64_t fills, char **document, size_t *size)
{
	FILE *to = open_memstream(document, size);

	if (to == NULL)
		return -1;
	fprintf(to, "{\"engine\":\"osprey\",\"kind\":\"backtest\",\"bars\":%zu,\"net\":%.6e,\"fills\":", n, net);
	write_fills(to, bars, n, fills);
	fprintf(to, ",\"note\":\"fees \\u20ac, \xc3\xa9t\xc3\xa9\"}\n");
	return fclose(to);
}

static int backtest(const struct osprey_strategy *strategy, const char *path)
{
	struct osprey_bar *bars = NULL;
	size_t n = 0, size = 0;
	char *document = NULL;
	void *state;

	if (bars_read(path, &bars, &n) != 0)
		return fail("the bars cannot be read", "chart_bars_unreadable", "{\"reason\":\"columns\"}");
	if (strategy->open(&state) != 0)
		return fail("the strategy was not created", "strategy_create_failed", "{}");
	for (size_t i = 0; i < n; i++)
		strategy->bar(state, &bars[i]);
	double net = strategy->net(state);
	const char *fault = strategy->fault(state);

	if (fault) {
		char *copy = strdup(fault);

		strategy->close(state);
		return fail(copy ? copy : "", "strategy_runtime_error", "{}");
	}
	if (report(bars, n, net, strategy->fills(state), &document, &size) != 0) {
		free(document);
		return fail("the report does not fit in memory", "out_of_memory", "{}");
	}
	strategy->close(state);
	free(bars);
	return answer(document, size, 0);
}

static int capabilities(void)
{
	static const char text[] = "{\"engine\":\"osprey\",\"kind\":\"capabilities\",\"abi\":1,\"reports\":[\"backtest\"]}\n";
	char *document = strdup(text);

	return document ? answer(document, sizeof text - 1, 0) : 3;
}

int main(int argc, char **argv)
{
	const struct osprey_strategy *(*entry)(void);
	void *library = argc < 4 ? NULL : dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return fail("the strategy cannot be loaded", "strategy_library_incompatible", "{\"reason\":\"load_failed\"}");
	*(void **)&entry = dlsym(library, "osprey_strategy");
	const struct osprey_strategy *strategy = entry ? entry() : NULL;

	if (strategy == NULL || strategy->size != sizeof *strategy || strategy->version != 1)
		return fail("the strategy is for another engine", "strategy_library_incompatible", "{\"reason\":\"abi_mismatch\"}");
	if (strcmp(argv[1], "capabilities") == 0)
		return capabilities();
	return backtest(strategy, argc > 4 ? argv[4] : "");
}
