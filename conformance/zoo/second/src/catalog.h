/* The failure catalog, for judging a producer's claim (R11). */
#ifndef CATALOG_H
#define CATALOG_H

#include "scan.h"

#define CLAIM_ARGS 12

/* One scalar argument of a claim. */
struct claim_arg {
	char name[50];
	enum scan_kind kind;
	char text[SCAN_TEXT + 1]; /* first bytes of the value */
	size_t length;
};

/* Whether code is known and the n arguments are exactly what its row allows. */
bool catalog_allows(const char *code, const struct claim_arg *args, int n);

#endif
