/* Strict streaming scanner: one JSON object and one LF, nothing else (R04, C-29, C-62).
 *
 * Memory is bounded: nesting beyond SCAN_DEPTH and more than SCAN_KEYS keys of objects that are open at one time
 * are refused. Keys are compared by a hash of their decoded bytes, seeded per run.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_DEPTH 400
#ifndef SCAN_KEYS
#define SCAN_KEYS (1u << 19)
#endif
#define SCAN_TEXT 160

enum scan_kind { SCAN_STRING, SCAN_NUMBER, SCAN_BOOLEAN, SCAN_NULL, SCAN_OBJECT, SCAN_ARRAY };

/* What the scanner tells its user. depth is 1 for members of the outermost object. text holds the first bytes of
 * a decoded string, or of a number's token; length is the whole length. */
struct scan_user {
	void *self;
	void (*key)(void *self, int depth, const char *text, size_t length);
	void (*value)(void *self, int depth, enum scan_kind kind, const char *text, size_t length);
	void (*byte)(void *self, unsigned char byte); /* each byte that is not insignificant space, after the rest */
};

struct scan_key {
	uint64_t hash;
	uint32_t next;
};

struct scan {
	int state, after_string, depth;
	unsigned char container[SCAN_DEPTH + 1];
	uint32_t first_key[SCAN_DEPTH + 1];
	/* strings */
	int more;              /* UTF-8 continuation bytes still to come */
	unsigned char low, high;
	uint32_t unit, lead;   /* \u digits; a high surrogate that waits for its partner */
	int digits;
	uint64_t hash;
	const char *literal;
	char text[SCAN_TEXT + 1];
	size_t length;
	/* keys of open objects: a stack, chained into buckets */
	struct scan_key *keys;
	uint32_t *bucket, live;
	uint64_t seed;
	struct scan_user user;
};

enum scan_result { SCAN_GOOD, SCAN_BAD };

/* Returns 0, or -1 where memory for the keys cannot be had. */
int scan_start(struct scan *scan, struct scan_user user);
/* SCAN_BAD at the first byte that no valid document can have there; the scanner must not be fed further. */
enum scan_result scan_add(struct scan *scan, const unsigned char *bytes, size_t n);
/* Whether the object and its LF have been read whole. */
bool scan_done(const struct scan *scan);

/* Parts of the scanner, in scan_string.c and scan_keys.c. */
enum scan_result scan_string_byte(struct scan *scan, unsigned char byte);
void scan_string_start(struct scan *scan);
void scan_keep(struct scan *scan, unsigned char byte);
enum scan_result scan_key_add(struct scan *scan);
void scan_keys_drop(struct scan *scan);

enum scan_state {
	AT_START, AT_FIRST_KEY, AT_KEY, AT_COLON, AT_VALUE, AT_FIRST_ITEM, AT_AFTER, AT_END, AT_DONE,
	IN_STRING, IN_ESCAPE, IN_UNIT, IN_LITERAL,
	NUMBER_MINUS, NUMBER_ZERO, NUMBER_DIGITS, NUMBER_POINT, NUMBER_FRACTION, NUMBER_E, NUMBER_SIGN, NUMBER_EXPONENT,
};

#endif
