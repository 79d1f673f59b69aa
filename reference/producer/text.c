/* text: the document in memory, in the spelling of Python's json module. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "producer.h"

/* The arena is used while the document fits; without one there is the heap. */
static void
borrow_arena(struct text *t)
{
	struct stat st;

	if (options.arena < 0 || fstat(options.arena, &st) != 0 || st.st_size <= 0)
		return;
	void *arena = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, options.arena, 0);
	if (arena == MAP_FAILED)
		return;
	t->bytes = arena;
	t->room = (size_t)st.st_size;
	t->borrowed = 1;
}

struct text
text_new(void)
{
	struct text t = { .limit = (size_t)options.remaining + 1 };

	borrow_arena(&t);
	return t;
}

static void
make_room(struct text *t, size_t wanted)
{
	size_t room = t->room == 0 ? 4096 : t->room;

	if (wanted <= t->room)
		return;
	while (room < wanted)
		room *= 2;
	if (room > t->limit)
		room = t->limit;
	char *grown = t->borrowed ? malloc(room) : realloc(t->bytes, room);
	if (grown == NULL)
		fail_memory("the document");
	if (t->borrowed)
		memcpy(grown, t->bytes, t->used);
	t->bytes = grown;
	t->room = room;
	t->borrowed = 0;
}

static void
append(struct text *t, const char *bytes, size_t n)
{
	if (n > t->limit - t->used) {
		n = t->limit - t->used;
		t->over = 1;
	}
	make_room(t, t->used + n);
	memcpy(t->bytes + t->used, bytes, n);
	t->used += n;
}

/* Appends at most 511 formatted bytes: keys, integers and other short pieces. */
void
put(struct text *t, const char *format, ...)
{
	char piece[512];
	va_list list;

	va_start(list, format);
	int n = vsnprintf(piece, sizeof piece, format, list);
	va_end(list);
	append(t, piece, n < (int)sizeof piece ? (size_t)n : sizeof piece - 1);
}

/* Decodes one character; U+FFFD and one byte for what is not UTF-8. */
static unsigned
decode(const unsigned char *s, size_t *length)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	unsigned c = n == 1 ? s[0] : s[0] & (0x7fU >> n);

	*length = 1;
	if (n == 0)
		return 0xfffd;
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0xfffd;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0xfffd;
	*length = n;
	return c;
}

static void
put_character(struct text *t, unsigned c)
{
	static const char plain[] = "\"\\\n\r\t\f\b", escape[] = "\"\\nrtfb";
	const char *found = c < 0x80 && c != 0 ? strchr(plain, (int)c) : NULL;

	if (found != NULL)
		put(t, "\\%c", escape[found - plain]);
	else if (c >= 0x20 && c < 0x7f)
		append(t, &(char){ (char)c }, 1);
	else if (c < 0x10000)
		put(t, "\\u%04x", c);
	else
		put(t, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
}

/* Appends a JSON string in ASCII; it ends at the last character that fits max_bytes of UTF-8. */
void
put_string(struct text *t, const char *utf8, size_t max_bytes)
{
	const unsigned char *s = (const unsigned char *)utf8;
	size_t taken = 0, length;

	append(t, "\"", 1);
	for (; *s != 0; s += length) {
		unsigned c = decode(s, &length);
		taken += c == 0xfffd ? 3 : length;
		if (taken > max_bytes)
			break;
		put_character(t, c);
	}
	append(t, "\"", 1);
}

/*
 * Writes the fewest digits that read back the same, as d.ddde+-x; returns
 * how many stand after the point. Up to DBL_DIG digits survive a normal
 * number, so a shorter spelling is that one without its zeros.
 */
static int
shortest(double value, char *digits, size_t room)
{
	int precision = fabs(value) < DBL_MIN ? 0 : DBL_DIG - 1;

	do
		snprintf(digits, room, "%.*e", precision, value);
	while (strtod(digits, NULL) != value && ++precision < 17);
	const char *exponent = strchr(digits, 'e');
	while (precision > 0 && exponent[-1] == '0') {
		exponent--;
		precision--;
	}
	snprintf(digits, room, "%.*e", precision, value);
	return precision;
}

/* Appends a finite number as Python's repr spells it. */
void
put_real(struct text *t, double value)
{
	char digits[40];
	int precision = shortest(value, digits, sizeof digits);
	char *exponent = strchr(digits, 'e');
	int power = atoi(exponent + 1);

	if (power >= -4 && power < 16) {
		snprintf(digits, sizeof digits, "%.*f", precision > power ? precision - power : 0, value);
		put(t, "%s%s", digits, strchr(digits, '.') == NULL ? ".0" : "");
	} else {
		*exponent = 0;
		put(t, "%se%+03d", digits, power);
	}
}

void
put_real_or_null(struct text *t, double value)
{
	if (isfinite(value))
		put_real(t, value);
	else
		put(t, "null");
}
