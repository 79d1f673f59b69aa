/* Strings: strict UTF-8, escapes, surrogate pairs. Decoded bytes are hashed as they come and their first ones kept. */
#include "scan.h"

#include <string.h>

#define FIELD ((UINT64_C(1) << 61) - 1)

void scan_string_start(struct scan *scan)
{
	scan->length = 0;
	scan->hash = 1;
	scan->more = 0;
	scan->lead = 0;
}

void scan_keep(struct scan *scan, unsigned char byte)
{
	unsigned __int128 next = (unsigned __int128)scan->hash * scan->seed + byte + 1;
	uint64_t folded = (uint64_t)(next & FIELD) + (uint64_t)(next >> 61);

	scan->hash = folded >= FIELD ? folded - FIELD : folded;
	if (scan->length < SCAN_TEXT)
		scan->text[scan->length] = (char)byte;
	scan->length++;
}

static void keep_point(struct scan *scan, uint32_t point)
{
	if (point < 0x80) {
		scan_keep(scan, (unsigned char)point);
		return;
	}
	int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
	static const unsigned char lead[4] = {0, 0xc0, 0xe0, 0xf0};

	scan_keep(scan, (unsigned char)(lead[more] | point >> 6 * more));
	while (more-- > 0)
		scan_keep(scan, (unsigned char)(0x80 | (point >> 6 * more & 0x3f)));
}

/* A unit of a \u escape is whole: a lone surrogate of either half is refused. */
static enum scan_result unit(struct scan *scan)
{
	uint32_t value = scan->unit;

	scan->state = IN_STRING;
	if (scan->lead) {
		if (value < 0xdc00 || value > 0xdfff)
			return SCAN_BAD;
		keep_point(scan, 0x10000 + ((scan->lead - 0xd800) << 10) + (value - 0xdc00));
		scan->lead = 0;
		return SCAN_GOOD;
	}
	if (value >= 0xdc00 && value <= 0xdfff)
		return SCAN_BAD;
	if (value >= 0xd800 && value <= 0xdbff)
		scan->lead = value;
	else
		keep_point(scan, value);
	return SCAN_GOOD;
}

static int hex_digit(unsigned char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static enum scan_result escape(struct scan *scan, unsigned char byte)
{
	static const char name[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";

	if (byte == 'u') {
		scan->state = IN_UNIT;
		scan->unit = 0;
		scan->digits = 0;
		return SCAN_GOOD;
	}
	const char *found = byte ? strchr(name, byte) : NULL;

	if (found == NULL || scan->lead)
		return SCAN_BAD;
	scan_keep(scan, (unsigned char)meaning[found - name]);
	scan->state = IN_STRING;
	return SCAN_GOOD;
}

/* Table 3-7 of the Unicode standard: which second byte may follow a lead byte. */
static enum scan_result lead_byte(struct scan *scan, unsigned char byte)
{
	if (byte < 0xc2 || byte > 0xf4)
		return SCAN_BAD;
	scan->more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
	scan->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
	scan->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
	scan_keep(scan, byte);
	return SCAN_GOOD;
}

static enum scan_result plain(struct scan *scan, unsigned char byte)
{
	if (scan->more > 0) {
		if (byte < scan->low || byte > scan->high)
			return SCAN_BAD;
		scan->more--;
		scan->low = 0x80;
		scan->high = 0xbf;
		scan_keep(scan, byte);
		return SCAN_GOOD;
	}
	if (byte == '\\') {
		scan->state = IN_ESCAPE;
		return SCAN_GOOD;
	}
	if (scan->lead || byte < 0x20)
		return SCAN_BAD;
	if (byte >= 0x80)
		return lead_byte(scan, byte);
	scan_keep(scan, byte);
	return SCAN_GOOD;
}

enum scan_result scan_string_byte(struct scan *scan, unsigned char byte)
{
	if (scan->state == IN_ESCAPE)
		return escape(scan, byte);
	if (scan->state == IN_STRING)
		return plain(scan, byte);
	int digit = hex_digit(byte);

	if (digit < 0)
		return SCAN_BAD;
	scan->unit = scan->unit << 4 | (uint32_t)digit;
	return ++scan->digits == 4 ? unit(scan) : SCAN_GOOD;
}
