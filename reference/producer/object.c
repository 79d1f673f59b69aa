/* object: strict reader of one JSON object whose values are scalars. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

struct reader {
	const char *at;
	int bad;
};

static void
skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

/* Takes c if it is next. */
static int
next_is(struct reader *r, char c)
{
	skip_blanks(r);
	if (*r->at != c)
		return 0;
	r->at++;
	return 1;
}

static unsigned
hex4(struct reader *r)
{
	unsigned c = 0;

	for (int i = 0; i < 4; i++, r->at++) {
		if (!isxdigit((unsigned char)*r->at)) {
			r->bad = 1;
			return 0;
		}
		c = c << 4 | (unsigned)(isdigit((unsigned char)*r->at) ? *r->at - '0' : (*r->at | 32) - 'a' + 10);
	}
	return c;
}

static char *
encode(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Reads the character after \u; a pair is joined, a lone half becomes U+FFFD. */
static unsigned
escaped(struct reader *r)
{
	unsigned c = hex4(r);

	if (c < 0xd800 || c > 0xdfff)
		return c == 0 ? 0xfffd : c;	/* a NUL has no place in a C string */
	if (c > 0xdbff || r->at[0] != '\\' || r->at[1] != 'u')
		return 0xfffd;
	struct reader low = { r->at + 2, 0 };
	unsigned second = hex4(&low);
	if (low.bad || second < 0xdc00 || second > 0xdfff)
		return 0xfffd;
	r->at = low.at;
	return 0x10000 + ((c - 0xd800) << 10) + (second - 0xdc00);
}

static char *
read_string(struct reader *r)
{
	static const char escape[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	char *value = malloc(strlen(r->at) * 3 + 4), *to = value;

	while (!r->bad && *r->at != '"') {
		unsigned char c = (unsigned char)*r->at++;
		if (c < 0x20) {
			r->bad = 1;
		} else if (c != '\\') {
			*to++ = (char)c;
		} else if (*r->at == 'u') {
			r->at++;
			to = encode(to, escaped(r));
		} else {
			const char *found = *r->at != 0 ? strchr(escape, *r->at) : NULL;
			r->bad = found == NULL;
			if (!r->bad)
				*to++ = plain[found - escape], r->at++;
		}
	}
	if (!r->bad)
		r->at++;
	*to = 0;
	return value;
}

/* Returns the length of a JSON number, 0 for anything else. */
size_t
number_length(const char *s)
{
	const char *p = s + (*s == '-');
	size_t digits = strspn(p, "0123456789");

	if (digits == 0 || (digits > 1 && *p == '0'))
		return 0;
	p += digits;
	if (*p == '.') {
		digits = strspn(p + 1, "0123456789");
		if (digits == 0)
			return 0;
		p += 1 + digits;
	}
	if (*p == 'e' || *p == 'E') {
		const char *power = p + 1 + (p[1] == '+' || p[1] == '-');
		digits = strspn(power, "0123456789");
		if (digits == 0)
			return 0;
		p = power + digits;
	}
	return (size_t)(p - s);
}

static void
read_value(struct reader *r, struct member *m)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t length = 0;

	skip_blanks(r);
	if (next_is(r, '"')) {
		m->kind = KIND_STRING;
		m->value = read_string(r);
		return;
	}
	m->kind = KIND_NUMBER;
	length = number_length(r->at);
	for (size_t i = 0; length == 0 && i < 3; i++)
		if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
			length = strlen(words[i]);
			m->kind = KIND_WORD;
		}
	r->bad |= length == 0;
	m->value = strndup(r->at, length);
	r->at += length;
}

/* A repeated key keeps its first place and takes the last value, as Python has it. */
static void
add(struct object *object, struct member m)
{
	for (size_t i = 0; i < object->n; i++)
		if (strcmp(object->member[i].key, m.key) == 0) {
			object->member[i] = m;
			return;
		}
	object->member = realloc(object->member, (object->n + 1) * sizeof m);
	object->member[object->n++] = m;
}

/* Returns 0 and the members, or -1. */
int
object_parse(const char *json, struct object *object)
{
	struct reader r = { json, 0 };
	int first = 1;

	*object = (struct object){ NULL, 0 };
	if (!next_is(&r, '{'))
		return -1;
	while (!r.bad && !next_is(&r, '}')) {
		struct member m;
		if ((!first && !next_is(&r, ',')) || !next_is(&r, '"'))
			return -1;
		m.key = read_string(&r);
		if (r.bad || !next_is(&r, ':'))
			return -1;
		read_value(&r, &m);
		add(object, m);
		first = 0;
	}
	skip_blanks(&r);
	return r.bad || *r.at != 0 ? -1 : 0;
}
