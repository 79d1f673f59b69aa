#include "shape.h"

#include <string.h>

/* Members of the documents, in the order in which the producer writes them. */
static const struct member {
	const char *name;
	enum scan_kind kind;
	const char *text; /* the only text allowed, where not NULL */
} members[2][9] = {
	[OPERATION_BACKTEST] = {{"engine", SCAN_STRING, ENGINE}, {"kind", SCAN_STRING, "backtest"},
	                        {"bars", SCAN_NUMBER, NULL}, {"net", SCAN_NUMBER, NULL},
	                        {"fills", SCAN_ARRAY, NULL}, {"note", SCAN_STRING, NULL}},
	[OPERATION_CAPABILITIES] = {{"engine", SCAN_STRING, ENGINE}, {"kind", SCAN_STRING, "capabilities"},
	                            {"abi", SCAN_NUMBER, NULL}, {"reports", SCAN_ARRAY, NULL}},
};

static int member_index(const struct shape *shape, const char *name)
{
	const struct member *list = members[shape->operation];

	for (int i = 0; list[i].name; i++)
		if (strcmp(list[i].name, name) == 0)
			return i;
	return -1;
}

static unsigned all_members(const struct shape *shape)
{
	unsigned bits = 0;

	for (int i = 0; members[shape->operation][i].name; i++)
		bits |= 1u << i;
	return bits;
}

static void copy_text(char *to, size_t room, const char *text, size_t length)
{
	size_t n = length < room ? length : room - 1;

	memcpy(to, text, n);
	to[n] = '\0';
}

static void on_key(void *self, int depth, const char *text, size_t length)
{
	struct shape *shape = self;

	if (depth > 2 || (depth == 2 && !shape->in_args))
		return;
	copy_text(shape->name, sizeof shape->name, text, length);
	if (length >= sizeof shape->name || strlen(shape->name) != length)
		shape->name[0] = '\0';
}

/* A member that only failure documents have, or that both have. */
static bool failure_member(struct shape *shape, enum scan_kind kind, const char *text, size_t length)
{
	if (strcmp(shape->name, "error") == 0) {
		shape->error = true;
		shape->wrong |= kind != SCAN_STRING;
	} else if (strcmp(shape->name, "code") == 0) {
		shape->code_seen = true;
		copy_text(shape->code, sizeof shape->code, text, length);
		shape->wrong |= kind != SCAN_STRING || strlen(shape->code) != length;
	} else if (strcmp(shape->name, "args") == 0) {
		shape->args_seen = true;
		shape->in_args = kind == SCAN_OBJECT;
		shape->wrong |= kind != SCAN_OBJECT;
	} else {
		return false;
	}
	return true;
}

static bool right_text(const struct member *member, const char *text, size_t length)
{
	return !member->text || (strlen(member->text) == length && strcmp(member->text, text) == 0);
}

static void on_member(struct shape *shape, enum scan_kind kind, const char *text, size_t length)
{
	if (failure_member(shape, kind, text, length))
		return;
	int i = member_index(shape, shape->name);
	const struct member *member = i < 0 ? NULL : &members[shape->operation][i];

	if (member == NULL || kind != member->kind || !right_text(member, text, length))
		shape->members |= 1u << 31; /* no report of this operation has that */
	else
		shape->members |= 1u << i;
	if (strcmp(shape->name, "engine") == 0 && kind != SCAN_STRING)
		shape->wrong = true;
}

static void on_value(void *self, int depth, enum scan_kind kind, const char *text, size_t length)
{
	struct shape *shape = self;

	if (depth == 1)
		on_member(shape, kind, text, length);
	if (depth != 2 || !shape->in_args)
		return;
	if (shape->args == CLAIM_ARGS) {
		shape->wrong = true;
		return;
	}
	struct claim_arg *arg = &shape->arg[shape->args++];

	strcpy(arg->name, shape->name);
	arg->kind = kind;
	arg->length = length;
	copy_text(arg->text, sizeof arg->text, text, length);
}

static void on_byte(void *self, unsigned char byte)
{
	struct shape *shape = self;

	if (!shape->in_args)
		return;
	if (shape->compact < CLAIM_BYTES)
		shape->text[shape->compact] = (char)byte;
	shape->compact++;
	if (shape->scan.depth == 1)
		shape->in_args = false;
}

int shape_start(struct shape *shape, enum operation operation)
{
	struct scan_user user = {.self = shape, .key = on_key, .value = on_value, .byte = on_byte};

	memset(shape, 0, sizeof *shape);
	shape->operation = operation;
	return scan_start(&shape->scan, user);
}

/* Whether a whole document is a failure of a known shape: an uncoded one is the older form (C-31). */
static bool good_failure(const struct shape *shape)
{
	if (!shape->error || shape->wrong || shape->code_seen != shape->args_seen)
		return false;
	return !shape->code_seen || catalog_allows(shape->code, shape->arg, shape->args);
}

static bool good_report(const struct shape *shape)
{
	return !shape->error && !shape->code_seen && !shape->args_seen && shape->members == all_members(shape);
}

int shape_add(struct shape *shape, const unsigned char *bytes, size_t n)
{
	if (scan_add(&shape->scan, bytes, n) == SCAN_BAD)
		return VERDICT_MALFORMED;
	if (scan_done(&shape->scan) && !good_report(shape) && !good_failure(shape))
		return VERDICT_MALFORMED;
	return 0;
}

void shape_finish(const struct shape *shape, struct verdict *verdict)
{
	memset(verdict, 0, sizeof *verdict);
	verdict->kind = VERDICT_PARTIAL;
	if (!scan_done(&shape->scan))
		return;
	verdict->kind = good_report(shape) ? VERDICT_REPORT : VERDICT_CLAIM;
	verdict->coded = shape->code_seen;
	if (!verdict->coded)
		return;
	strcpy(verdict->code, shape->code);
	verdict->omitted = shape->compact > CLAIM_BYTES;
	if (verdict->omitted)
		return;
	verdict->args_size = (uint32_t)shape->compact;
	memcpy(verdict->args, shape->text, shape->compact);
}
