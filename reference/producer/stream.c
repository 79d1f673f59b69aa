/*
 * stream: reads the native sink, touchstone-sink/1, a line at a time from a
 * file of any size; one line of at most 1 MiB is held, and nothing is written.
 *
 * Header, equity points, trades, counts, digest and end are checked to the
 * letter. The values of the other records are left to the finalizer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "producer.h"

enum { LINE_BYTES = 1 << 20, TAGS = 7 };

static const char tags[] = "ETOVKXH";
static const char header[] = "{\"sink\":\"touchstone-sink\",\"version\":1,\"columns\":{"
    "\"E\":[\"time_ms\",\"equity\",\"open_profit\"],"
    "\"T\":[\"n\",\"side\",\"entry_time\",\"exit_time\",\"entry_price\",\"exit_price\",\"qty\",\"pnl\",\"pnl_pct\","
    "\"max_runup\",\"max_drawdown\",\"commission\",\"entry_bar_index\",\"exit_bar_index\",\"open_at_end\"],\"O\":[";
static const char *const equity_column[] = { NULL, "E.equity", "E.open_profit" };
#define EQUITY_KINDS "irr"
#define TRADE_KINDS "isiirrrrrrrriib"

/* Where a pass over the stream stands. */
struct pass {
	int fd;
	off_t at;		/* next byte to read */
	size_t begin, end;	/* what is held of buffer */
	char *buffer;
};

static struct pass
pass_begin(int fd)
{
	struct pass p = { .fd = fd, .buffer = calloc(1, LINE_BYTES + 1) };

	if (p.buffer == NULL)
		fail_memory("a line of the sink");
	return p;
}

/* Gives the next line, LF included; 0 at the end, -1 for what is no line. A number in it ends before the buffer does. */
static ssize_t
pass_line(struct pass *p, const char **line)
{
	for (;;) {
		char *found = memchr(p->buffer + p->begin, '\n', p->end - p->begin);
		if (found != NULL) {
			*line = p->buffer + p->begin;
			p->begin = (size_t)(found + 1 - p->buffer);
			return found + 1 - *line;
		}
		memmove(p->buffer, p->buffer + p->begin, p->end - p->begin);
		p->end -= p->begin;
		p->begin = 0;
		ssize_t n = pread(p->fd, p->buffer + p->end, LINE_BYTES - p->end, p->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 || p->end > 0 ? -1 : 0;
		p->end += (size_t)n;
		p->at += n;
	}
}

union value {
	int64_t integer;
	double real;
};

/* Reads an integer of the dialect; returns its length, 0 for none. */
static size_t
scan_integer(const char *s, int64_t *value)
{
	const int64_t most = (INT64_C(1) << 53) - 1;
	size_t length = number_length(s);

	if (length == 0 || length > 17 || strcspn(s, ".eE") < length || strncmp(s, "-0", 2) == 0)
		return 0;
	*value = strtoll(s, NULL, 10);
	return *value >= -most && *value <= most ? length : 0;
}

static size_t
scan_word(const char *s, const char *yes, const char *no, int64_t *value)
{
	*value = strncmp(s, yes, strlen(yes)) == 0;
	return *value ? strlen(yes) : strncmp(s, no, strlen(no)) == 0 ? strlen(no) : 0;
}

/*
 * Reads a record's values by their kinds: i integer, r real or null, s side,
 * b boolean. Returns the index of the first that is not so, -1 for a record
 * that is sound to its end.
 */
static int
scan(const char *s, const char *kinds, union value *v)
{
	for (int i = 0; kinds[i] != 0; i++) {
		size_t length = 0;
		if (*s++ != ',')
			return i;
		if (kinds[i] == 'r' && strncmp(s, "null", 4) == 0) {
			v[i].real = NAN;
			length = 4;
		} else if (kinds[i] == 'r') {
			length = number_length(s);
			v[i].real = strtod(s, NULL);
			if (!isfinite(v[i].real))
				length = 0;
		} else if (kinds[i] == 'i') {
			length = scan_integer(s, &v[i].integer);
		} else {
			length = kinds[i] == 's' ? scan_word(s, "\"long\"", "\"short\"", &v[i].integer) :
			    scan_word(s, "true", "false", &v[i].integer);
		}
		if (length == 0)
			return i;
		s += length;
	}
	return strncmp(s, "]\n", 2) == 0 ? -1 : (int)strlen(kinds);
}

/* Checks one record; a null in an equity point names its column. */
static int
check_record(const char *line, size_t length, uint64_t *counts, const char **null_column)
{
	union value v[sizeof TRADE_KINDS];
	const char *tag = length > 8 && strncmp(line, "[\"", 2) == 0 && line[2] != 0 ? strchr(tags, line[2]) : NULL;
	int bad = -1;

	if (tag == NULL || strncmp(line + 3, "\",", 2) != 0 || strncmp(line + length - 2, "]\n", 2) != 0)
		return -1;
	counts[tag - tags]++;
	if (*tag == 'T')
		return scan(line + 4, TRADE_KINDS, v) < 0 ? 0 : -1;
	if (*tag != 'E')
		return 0;
	bad = scan(line + 4, EQUITY_KINDS, v);
	for (int i = 1; bad < 0 && i < 3 && *null_column == NULL; i++)
		if (isnan(v[i].real))
			*null_column = equity_column[i];
	return bad < 0 ? 0 : -1;
}

/* The only trailer that fits what came before it. */
static int
is_trailer(const char *line, size_t length, const uint64_t *counts, const char *digest)
{
	char wanted[512];
	int n = snprintf(wanted, sizeof wanted, "{\"end\":\"touchstone-sink\",\"counts\":{");

	for (int i = 0; i < TAGS; i++)
		n += snprintf(wanted + n, sizeof wanted - (size_t)n, "%s\"%c\":%llu", i == 0 ? "" : ",", tags[i],
		    (unsigned long long)counts[i]);
	n += snprintf(wanted + n, sizeof wanted - (size_t)n, "},\"sha256\":\"%s\"}\n", digest);
	return length == (size_t)n && memcmp(line, wanted, length) == 0;
}

/* Reads it all. Returns 0, or -1 with what is wrong: null_column is set for a null in an equity point only. */
int
stream_check(int fd, struct stream_facts *facts)
{
	struct pass p = pass_begin(fd);
	struct digest wire;
	uint64_t counts[TAGS] = { 0 };
	const char *line;
	int lines = 0, ended = 0, bad = 0;
	ssize_t length;

	*facts = (struct stream_facts){ .null_column = NULL };
	digest_begin(&wire);
	while (!bad && facts->null_column == NULL && (length = pass_line(&p, &line)) != 0) {
		if (length < 0 || ended)
			bad = 1;
		else if (lines++ == 0)
			bad = length < (ssize_t)sizeof header || memcmp(line, header, sizeof header - 1) != 0;
		else if (*line == '{') {
			digest_text(&wire, facts->sha256);
			ended = is_trailer(line, (size_t)length, counts, facts->sha256);
			bad = !ended;
		} else
			bad = check_record(line, (size_t)length, counts, &facts->null_column) != 0;
		if (!bad)
			digest_add(&wire, line, (size_t)length);
	}
	free(p.buffer);
	digest_text(&wire, facts->wire_sha256);
	facts->bytes = wire.bytes;
	return bad || !ended || facts->null_column != NULL ? -1 : 0;
}

/* The next trade of a checked stream; n is its number. Returns 0 at the end. */
static int
next_trade(struct pass *p, engine_trade *trade, int64_t *n)
{
	union value v[sizeof TRADE_KINDS];
	const char *line;

	while (pass_line(p, &line) > 0) {
		if (strncmp(line, "[\"T\"", 4) != 0 || scan(line + 4, TRADE_KINDS, v) >= 0)
			continue;
		*n = v[0].integer;
		*trade = (engine_trade){ .is_long = (int32_t)v[1].integer, .entry_time = v[2].integer,
			.exit_time = v[3].integer, .entry_price = v[4].real, .exit_price = v[5].real, .qty = v[6].real,
			.pnl = v[7].real, .pnl_pct = v[8].real, .max_runup = v[9].real, .max_drawdown = v[10].real,
			.commission = v[11].real, .entry_bar_index = (int32_t)v[12].integer,
			.exit_bar_index = (int32_t)v[13].integer, .open_at_end = (int32_t)v[14].integer };
		return 1;
	}
	return 0;
}

/* Calls back for each trade of a checked stream, in its order, until that returns 0. */
void
stream_trades(int fd, int (*each)(void *context, const engine_trade *trade, int64_t n), void *context)
{
	struct pass p = pass_begin(fd);
	engine_trade trade;
	int64_t n;

	while (next_trade(&p, &trade, &n) && each(context, &trade, n))
		;
	free(p.buffer);
}

/* The same for the equity points. */
void
stream_points(int fd, int (*each)(void *context, const engine_equity_point *point), void *context)
{
	struct pass p = pass_begin(fd);
	union value v[sizeof EQUITY_KINDS];
	const char *line;

	while (pass_line(&p, &line) > 0) {
		if (strncmp(line, "[\"E\"", 4) != 0 || scan(line + 4, EQUITY_KINDS, v) >= 0)
			continue;
		engine_equity_point point = { v[0].integer, v[1].real, v[2].real };
		if (!each(context, &point))
			break;
	}
	free(p.buffer);
}
