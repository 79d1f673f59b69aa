/* What a candidate is: the report of the requested operation, a failure, or neither (R04, R11). */
#ifndef SHAPE_H
#define SHAPE_H

#include "catalog.h"
#include "second.h"

enum verdict_kind {
	VERDICT_REPORT = 1, /* a whole document of the requested shape */
	VERDICT_CLAIM,      /* a whole failure document */
	VERDICT_MALFORMED,  /* a byte or a whole value that cannot be right */
	VERDICT_PARTIAL,    /* the stream ended early; its cause is for the supervisor to find (R19) */
	VERDICT_FAULT,      /* the worker itself failed */
	VERDICT_STORAGE,    /* what keeps the document failed */
};

/* The worker's answer, sent as it stands. args holds the compact text of a claim's arguments, where they fit. */
struct verdict {
	int kind;
	bool coded, omitted;
	char code[50];
	uint32_t args_size;
	char args[CLAIM_BYTES];
};

struct shape {
	struct scan scan;
	enum operation operation;
	int member;             /* of the outermost object, index into the table of the operation; -1 unknown */
	unsigned members;       /* bits of the members seen with their right kind */
	bool wrong, error, coded, args_seen, code_seen, in_args;
	char code[50], name[50];
	struct claim_arg arg[CLAIM_ARGS];
	int args;
	size_t compact;         /* bytes of the arguments in compact form, more than CLAIM_BYTES where too long */
	char text[CLAIM_BYTES];
};

int shape_start(struct shape *shape, enum operation operation);
/* VERDICT_MALFORMED at the first impossible byte, or at the end of a document of a wrong shape; otherwise 0. */
int shape_add(struct shape *shape, const unsigned char *bytes, size_t n);
/* The verdict at the end of the stream. */
void shape_finish(const struct shape *shape, struct verdict *verdict);

#endif
