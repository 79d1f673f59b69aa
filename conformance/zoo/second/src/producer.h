/* The strategy ABI of this engine, and the parts of its producer. fixtures/native/abi_second.c has the other side. */
#ifndef PRODUCER_H
#define PRODUCER_H

#include <stdint.h>
#include <stdio.h>

struct osprey_bar {
	int64_t time; /* ms */
	double open, high, low, close, volume;
};

/* A library exports `const struct osprey_strategy *osprey_strategy(void)`. */
struct osprey_strategy {
	uint32_t size, version; /* of this struct in bytes; 1 */
	int (*open)(void **state); /* 0, or the strategy was not created */
	void (*bar)(void *state, const struct osprey_bar *bar);
	double (*net)(void *state);
	uint64_t (*fills)(void *state);
	const char *(*fault)(void *state); /* NULL where the run succeeded */
	void (*close)(void *state);
};

/* Reads a CSV file whose first line names its columns. The caller frees *bars. 0, or -1. */
int bars_read(const char *path, struct osprey_bar **bars, size_t *n);
/* Answers with a failure document. Returns the exit status of the process. */
int fail(const char *error, const char *code, const char *args);

#endif
