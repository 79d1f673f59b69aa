#include "producer.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6, LINE = 512 };

static const char *const names[COLUMNS] = {"open", "high", "low", "close", "volume", "timestamp"};

/* Which column each name is in. -1 where one is missing. */
static int read_header(char *line, int order[COLUMNS])
{
	int found = 0, at = 0;

	for (char *rest = NULL, *word = strtok_r(line, ",\r\n", &rest); word; word = strtok_r(NULL, ",\r\n", &rest), at++)
		for (int i = 0; i < COLUMNS; i++)
			if (strcmp(word, names[i]) == 0) {
				order[i] = at;
				found++;
			}
	return found == COLUMNS ? 0 : -1;
}

static int read_line(char *line, const int order[COLUMNS], struct osprey_bar *bar)
{
	char *field[16] = {NULL}, *rest = NULL;
	int n = 0;

	for (char *word = strtok_r(line, ",\r\n", &rest); word && n < 16; word = strtok_r(NULL, ",\r\n", &rest))
		field[n++] = word;
	for (int i = 0; i < COLUMNS; i++)
		if (order[i] >= n)
			return -1;
	bar->open = strtod(field[order[0]], NULL);
	bar->high = strtod(field[order[1]], NULL);
	bar->low = strtod(field[order[2]], NULL);
	bar->close = strtod(field[order[3]], NULL);
	bar->volume = strtod(field[order[4]], NULL);
	bar->time = strtoll(field[order[5]], NULL, 10);
	return 0;
}

int bars_read(const char *path, struct osprey_bar **bars, size_t *n)
{
	FILE *file = fopen(path, "r");
	char line[LINE];
	int order[COLUMNS], result = -1;
	size_t room = 0;

	if (file == NULL)
		return -1;
	if (fgets(line, sizeof line, file) && read_header(line, order) == 0)
		result = 0;
	while (result == 0 && fgets(line, sizeof line, file)) {
		if (*n == room) {
			struct osprey_bar *more = realloc(*bars, (room = room * 2 + 64) * sizeof **bars);

			result = more ? 0 : -1;
			*bars = more ? more : *bars;
		}
		if (result == 0)
			result = read_line(line, order, &(*bars)[(*n)++]);
	}
	fclose(file);
	return result;
}
