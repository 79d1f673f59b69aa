/* golden_stream: writes one golden stream of contracts/sink on stdout, by name, with the fixtures' C writer.
 *
 * Used by: golden_test.go, which writes the same streams with the Go writer.
 * Exit:    0 written; 2 no such stream; 70 a write failed.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink_writer.h"

static int write_all(void *context, const void *bytes, size_t n)
{
	const char *from = bytes;

	while (n > 0) {
		ssize_t done = write(*(int *)context, from, n);

		if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			from += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

static void populated(struct sink_writer *w)
{
	const int64_t start = 1700000000000;

	SINK_RECORD(w, 'K', sink_text("length"), sink_integer(14));
	SINK_RECORD(w, 'K', sink_text("limit"), sink_integer(9007199254740991));
	SINK_RECORD(w, 'K', sink_text("floor"), sink_integer(-9007199254740991));
	SINK_RECORD(w, 'H', sink_text("overbought"), sink_real(70));
	for (int bar = 0; bar < 3; bar++) {
		int64_t time = start + bar * 900000;

		SINK_RECORD(w, 'O', sink_integer(bar), sink_integer(time), sink_real(100.5 + bar), sink_real(101.25 + bar),
			sink_real(99.75 + bar), sink_real(101 + bar), sink_real(1e15 * (bar + 1)));
		SINK_RECORD(w, 'V', sink_text("RSI"), sink_integer(bar), bar ? sink_real(0.1 * bar) : sink_null());
		SINK_RECORD(w, 'E', sink_integer(time), sink_real(100000 + bar * 0.1), sink_real(-1e-7 * bar));
	}
	SINK_RECORD(w, 'T', sink_integer(1), sink_text("long"), sink_integer(start), sink_integer(start + 900000),
		sink_real(100.5), sink_real(102), sink_real(1), sink_real(1.5), sink_real(1.4925373134328357), sink_real(2.25),
		sink_real(0), sink_real(0), sink_integer(0), sink_integer(1), sink_bool(0));
	SINK_RECORD(w, 'X', sink_integer(start), sink_text("log"),
		sink_text("quote \" backslash \\ slash / bell \a tab \t line\nend"));
	SINK_RECORD(w, 'X', sink_integer(start), sink_text("alert"),
		sink_text("\u00fcber \u00a3 \u65e5\u672c \u2028 \ufffd \U0001f642 \U0010ffff \x7f"));
}

/* A stream of one equity point with no equity. */
static void equity_null(struct sink_writer *w)
{
	SINK_RECORD(w, 'E', sink_integer(1700000000000), sink_real(NAN), sink_real(0));
}

static void end(struct sink_writer *w, const char *name)
{
	char digest[65];
	uint64_t counts[SINK_TAG_COUNT];

	sink_digest_text(w, digest);
	memcpy(counts, w->counts, sizeof counts);
	if (strcmp(name, "altered-digest") == 0)
		memset(digest, '0', 64);
	if (strcmp(name, "altered-counts") == 0)
		counts[0]++;
	if (strcmp(name, "no-trailer") != 0)
		sink_trailer_saying(w, counts, digest);
	if (strcmp(name, "after-trailer") == 0)
		sink_bytes(w, "\n", 1);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"zero-trade", "populated", "equity-null", "altered-digest", "altered-counts",
		"after-trailer", "no-trailer", "long-line-under", "long-line-exact", "long-line-over"};
	struct sink_writer w;
	int out = 1, known = 0;
	const char *name = argc == 2 ? argv[1] : "";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		known |= strcmp(name, names[i]) == 0;
	if (!known)
		return 2;
	sink_begin(&w, write_all, &out);
	sink_header(&w);
	if (strcmp(name, "equity-null") == 0)
		equity_null(&w);
	else if (strncmp(name, "long-line-", 10) == 0)
		sink_event_line(&w, SINK_LINE_MAX + (name[10] == 'o') - (name[10] == 'u'));
	else if (strcmp(name, "zero-trade") != 0)
		populated(&w);
	end(&w, name);
	return w.error ? 70 : 0;
}
