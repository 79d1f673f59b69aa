#include "catalog.h"

#include <stdlib.h>
#include <string.h>

static const struct row {
	const char *code, *args;
} rows[] = {
#include "catalog_rows.h"
};

/* Whether the n bytes at word are one of the "|"-separated words of list, which ends at a space or NUL. */
static bool listed(const char *list, const char *word, size_t n)
{
	for (;;) {
		size_t length = strcspn(list, "| ");

		if (length == n && memcmp(list, word, n) == 0)
			return true;
		if (list[length] != '|')
			return false;
		list += length + 1;
	}
}

/* An integer is a token without fraction or exponent that JSON readers keep exact. */
static bool integer(const struct claim_arg *arg)
{
	if (arg->kind != SCAN_NUMBER || arg->length > 17 || strpbrk(arg->text, ".eE"))
		return false;
	long long value = strtoll(arg->text, NULL, 10);

	return llabs(value) <= 9007199254740991LL;
}

static bool fits(const char *kind, const struct claim_arg *arg)
{
	bool scalar = arg->kind != SCAN_OBJECT && arg->kind != SCAN_ARRAY;
	size_t length = strcspn(kind, " ");

	if (*kind == '=')
		return arg->kind == SCAN_STRING && arg->length <= SCAN_TEXT && listed(kind + 1, arg->text, arg->length);
	kind++;
	length--;
	if (length == 7 && memcmp(kind, "integer", 7) == 0)
		return integer(arg);
	if (length == 6 && memcmp(kind, "number", 6) == 0)
		return arg->kind == SCAN_NUMBER;
	if (length == 6 && memcmp(kind, "scalar", 6) == 0)
		return scalar;
	if (length == 15 && memcmp(kind, "nullable_string", 15) == 0)
		return arg->kind == SCAN_STRING || arg->kind == SCAN_NULL;
	return arg->kind == SCAN_STRING;
}

static const struct claim_arg *named(const struct claim_arg *args, int n, const char *name, size_t length)
{
	for (int i = 0; i < n; i++)
		if (strlen(args[i].name) == length && memcmp(args[i].name, name, length) == 0)
			return &args[i];
	return NULL;
}

bool catalog_allows(const char *code, const struct claim_arg *args, int n)
{
	const char *at = NULL;
	int used = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].code, code) == 0)
			at = rows[i].args;
	if (at == NULL)
		return false;
	while (*at) {
		size_t length = strcspn(at, "?:=");
		bool optional = at[length] == '?';
		const struct claim_arg *arg = named(args, n, at, length);

		at += length + optional;
		if (arg ? !fits(at, arg) : !optional)
			return false;
		used += arg != NULL;
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	return used == n;
}
