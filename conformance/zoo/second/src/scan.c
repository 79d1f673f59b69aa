#include "scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

int scan_start(struct scan *scan, struct scan_user user)
{
	memset(scan, 0, sizeof *scan);
	scan->user = user;
	scan->keys = calloc(SCAN_KEYS, sizeof *scan->keys);
	scan->bucket = calloc(SCAN_KEYS / 2, sizeof *scan->bucket);
	if (scan->keys == NULL || scan->bucket == NULL)
		return -1;
	if (getrandom(&scan->seed, sizeof scan->seed, 0) != sizeof scan->seed)
		return -1;
	scan->seed = scan->seed >> 4 | 1u << 20;
	return 0;
}

bool scan_done(const struct scan *scan) { return scan->state == AT_DONE; }

static enum scan_result open_container(struct scan *scan, unsigned char byte)
{
	if (scan->depth == SCAN_DEPTH)
		return SCAN_BAD;
	scan->user.value(scan->user.self, scan->depth, byte == '{' ? SCAN_OBJECT : SCAN_ARRAY, "", 0);
	scan->container[++scan->depth] = byte;
	scan->first_key[scan->depth] = scan->live;
	scan->state = byte == '{' ? AT_FIRST_KEY : AT_FIRST_ITEM;
	return SCAN_GOOD;
}

static enum scan_result close_container(struct scan *scan, unsigned char byte)
{
	if (scan->container[scan->depth] != (byte == '}' ? '{' : '['))
		return SCAN_BAD;
	scan_keys_drop(scan);
	scan->depth--;
	scan->state = scan->depth == 0 ? AT_END : AT_AFTER;
	return SCAN_GOOD;
}

static enum scan_result start_number(struct scan *scan, unsigned char byte)
{
	scan->length = 0;
	scan_keep(scan, byte);
	scan->state = byte == '-' ? NUMBER_MINUS : byte == '0' ? NUMBER_ZERO : NUMBER_DIGITS;
	return SCAN_GOOD;
}

static enum scan_result start_value(struct scan *scan, unsigned char byte)
{
	switch (byte) {
	case '{':
	case '[':
		return open_container(scan, byte);
	case '"':
		scan_string_start(scan);
		scan->after_string = AT_AFTER;
		scan->state = IN_STRING;
		return SCAN_GOOD;
	case 't':
	case 'f':
	case 'n':
		scan->literal = byte == 't' ? "true" : byte == 'f' ? "false" : "null";
		scan->length = 1;
		scan->state = IN_LITERAL;
		return SCAN_GOOD;
	}
	return byte == '-' || (byte >= '0' && byte <= '9') ? start_number(scan, byte) : SCAN_BAD;
}

static enum scan_result literal_byte(struct scan *scan, unsigned char byte)
{
	if ((unsigned char)scan->literal[scan->length++] != byte)
		return SCAN_BAD;
	if (scan->literal[scan->length] == '\0') {
		enum scan_kind kind = scan->literal[0] == 'n' ? SCAN_NULL : SCAN_BOOLEAN;

		scan->user.value(scan->user.self, scan->depth, kind, scan->literal, scan->length);
		scan->state = AT_AFTER;
	}
	return SCAN_GOOD;
}

static enum scan_result close_string(struct scan *scan)
{
	if (scan->more > 0 || scan->lead)
		return SCAN_BAD;
	scan->text[scan->length < SCAN_TEXT ? scan->length : SCAN_TEXT] = '\0';
	scan->state = scan->after_string;
	if (scan->after_string == AT_AFTER) {
		scan->user.value(scan->user.self, scan->depth, SCAN_STRING, scan->text, scan->length);
		return SCAN_GOOD;
	}
	scan->user.key(scan->user.self, scan->depth, scan->text, scan->length);
	return scan_key_add(scan);
}

/* The state that byte leads to inside a number, or -1 where the number ends before it. */
static int number_next(int state, unsigned char byte)
{
	bool digit = byte >= '0' && byte <= '9', e = byte == 'e' || byte == 'E';

	switch (state) {
	case NUMBER_MINUS: return !digit ? -1 : byte == '0' ? NUMBER_ZERO : NUMBER_DIGITS;
	case NUMBER_ZERO: return byte == '.' ? NUMBER_POINT : e ? NUMBER_E : -1;
	case NUMBER_DIGITS: return digit ? NUMBER_DIGITS : byte == '.' ? NUMBER_POINT : e ? NUMBER_E : -1;
	case NUMBER_POINT: return digit ? NUMBER_FRACTION : -1;
	case NUMBER_FRACTION: return digit ? NUMBER_FRACTION : e ? NUMBER_E : -1;
	case NUMBER_E: return byte == '+' || byte == '-' ? NUMBER_SIGN : digit ? NUMBER_EXPONENT : -1;
	default: return digit ? NUMBER_EXPONENT : -1;
	}
}

/* Ends a number at a byte that is not part of it. */
static enum scan_result number_end(struct scan *scan)
{
	int state = scan->state;

	if (state != NUMBER_ZERO && state != NUMBER_DIGITS && state != NUMBER_FRACTION && state != NUMBER_EXPONENT)
		return SCAN_BAD;
	scan->text[scan->length < SCAN_TEXT ? scan->length : SCAN_TEXT] = '\0';
	scan->user.value(scan->user.self, scan->depth, SCAN_NUMBER, scan->text, scan->length);
	scan->state = AT_AFTER;
	return SCAN_GOOD;
}

static enum scan_result between(struct scan *scan, unsigned char byte)
{
	bool object = scan->container[scan->depth] == '{';

	switch (scan->state) {
	case AT_FIRST_KEY:
	case AT_KEY:
		if (byte == '}' && scan->state == AT_FIRST_KEY)
			return close_container(scan, byte);
		scan_string_start(scan);
		scan->after_string = AT_COLON;
		scan->state = IN_STRING;
		return byte == '"' ? SCAN_GOOD : SCAN_BAD;
	case AT_COLON:
		scan->state = AT_VALUE;
		return byte == ':' ? SCAN_GOOD : SCAN_BAD;
	case AT_FIRST_ITEM:
		return byte == ']' ? close_container(scan, byte) : start_value(scan, byte);
	case AT_VALUE:
		return start_value(scan, byte);
	}
	if (byte != ',')
		return byte == '}' || byte == ']' ? close_container(scan, byte) : SCAN_BAD;
	scan->state = object ? AT_KEY : AT_VALUE;
	return SCAN_GOOD;
}

static enum scan_result edge(struct scan *scan, unsigned char byte)
{
	if (scan->state == AT_START)
		return byte == '{' ? open_container(scan, byte) : SCAN_BAD;
	if (scan->state == AT_DONE || byte != '\n')
		return SCAN_BAD;
	scan->state = AT_DONE;
	return SCAN_GOOD;
}

static enum scan_result one(struct scan *scan, unsigned char byte)
{
	if (scan->state >= NUMBER_MINUS) {
		int next = number_next(scan->state, byte);

		if (next >= 0) {
			scan->state = next;
			scan_keep(scan, byte);
			return SCAN_GOOD;
		}
		if (number_end(scan) == SCAN_BAD)
			return SCAN_BAD;
	}
	if (scan->state == IN_STRING && byte == '"')
		return close_string(scan);
	if (scan->state >= IN_STRING && scan->state <= IN_UNIT)
		return scan_string_byte(scan, byte);
	if (scan->state == IN_LITERAL)
		return literal_byte(scan, byte);
	if (scan->state == AT_START || scan->state == AT_END || scan->state == AT_DONE)
		return edge(scan, byte);
	return between(scan, byte);
}

static bool space(const struct scan *scan, unsigned char byte)
{
	bool outside = scan->state > AT_START && scan->state < AT_END;

	return (outside || scan->state >= NUMBER_MINUS) && (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r');
}

enum scan_result scan_add(struct scan *scan, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (space(scan, bytes[i])) {
			if (scan->state >= NUMBER_MINUS && number_end(scan) == SCAN_BAD)
				return SCAN_BAD;
			continue;
		}
		if (one(scan, bytes[i]) == SCAN_BAD)
			return SCAN_BAD;
		scan->user.byte(scan->user.self, bytes[i]);
	}
	return SCAN_GOOD;
}
