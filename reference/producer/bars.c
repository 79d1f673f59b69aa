/* bars: the OHLCV file, CSV with a header that names its columns in any order. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

enum { COLUMNS = 6, FIELDS_MAX = 64 };

static const char *const column[COLUMNS] = { "open", "high", "low", "close", "volume", "timestamp" };

static _Noreturn void
refuse(const char *reason, const char *path, const char *what)
{
	char args[64];

	snprintf(args, sizeof args, "{\"reason\":\"%s\"}", reason);
	fail("chart_bars_unreadable", args, "bars %s: %s", path, what);
}

/* Splits a line at its commas and trims the fields; returns their number. */
static int
split(char *line, char **field)
{
	int n = 0;

	for (char *part = strsep(&line, ","); part != NULL && n < FIELDS_MAX; part = strsep(&line, ",")) {
		part += strspn(part, " \t");
		for (char *end = part + strlen(part); end > part && isspace((unsigned char)end[-1]); )
			*--end = 0;
		field[n++] = part;
	}
	return n;
}

/* Finds where each column stands. */
static void
read_header(FILE *file, const char *path, int *place)
{
	char *line = NULL, *field[FIELDS_MAX];
	size_t room = 0;

	if (getline(&line, &room, file) < 0)
		refuse("empty", path, "no header");
	int n = split(line, field);
	for (int c = 0; c < COLUMNS; c++) {
		place[c] = -1;
		for (int i = 0; i < n; i++)
			if (strcmp(field[i], column[c]) == 0)
				place[c] = i;
		if (place[c] < 0)
			refuse("columns", path, column[c]);
	}
	free(line);
}

static engine_bar
read_bar(char **field, int n, const int *place, const char *path)
{
	double price[COLUMNS];
	char *end;
	engine_bar bar;

	for (int c = 0; c < COLUMNS; c++) {
		if (place[c] >= n)
			refuse("columns", path, column[c]);
		const char *text = field[place[c]];
		errno = 0;
		if (c == COLUMNS - 1)
			bar.timestamp = strtoll(text, &end, 10);
		else
			price[c] = strtod(text, &end);
		if (end == text || *end != 0 || (c == COLUMNS - 1 && errno != 0))
			refuse("value", path, column[c]);
	}
	bar.open = price[0], bar.high = price[1], bar.low = price[2], bar.close = price[3], bar.volume = price[4];
	return bar;
}

struct feed
feed_read(const char *path)
{
	struct feed feed = { NULL, 0 };
	char *line = NULL, *field[FIELDS_MAX];
	int place[COLUMNS], room_bars = 0;
	size_t room = 0;
	FILE *file = fopen(path, "re");

	if (file == NULL)
		refuse("io", path, strerror(errno));
	read_header(file, path, place);
	while (getline(&line, &room, file) >= 0) {
		int n = split(line, field);
		if (n == 1 && *field[0] == 0)
			continue;
		if (feed.n == room_bars) {
			room_bars = room_bars == 0 ? 1024 : room_bars * 2;
			feed.bar = reallocarray(feed.bar, (size_t)room_bars, sizeof *feed.bar);
			if (feed.bar == NULL || room_bars > INT_MAX / 4)
				fail("out_of_memory", "{}", "no memory for the bars of %s", path);
		}
		feed.bar[feed.n++] = read_bar(field, n, place, path);
	}
	if (ferror(file))
		refuse("io", path, "read failed");
	if (feed.n == 0)
		refuse("empty", path, "no bars");
	free(line);
	fclose(file);	/* read only: nothing is lost */
	return feed;
}

/* The utility of --csv2bin: the bars as the engine's structs. */
void
feed_dump(const struct feed *feed, const char *path)
{
	FILE *file = fopen(path, "we");

	if (file == NULL || fwrite(feed->bar, sizeof *feed->bar, (size_t)feed->n, file) != (size_t)feed->n ||
	    fclose(file) != 0) {
		fprintf(stderr, "producer: write %s: %s\n", path, strerror(errno));
		exit(1);
	}
}
