/* A second launcher of supervised/v1, written from the contract alone.
 *
 * One process supervises (main.c and what it links); it forks a worker that keeps and judges the candidate, the
 * first process of a private pid namespace (init.c), and the producer (jail_*.c, then producer.c).
 */
#ifndef SECOND_H
#define SECOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENGINE "osprey"
#define TERMINAL_BYTES 65536u /* bytes, LF included (H) */
#define QUEUE_BYTES 65536u    /* bytes that one relay direction may hold */
#define CLAIM_BYTES 8192u     /* compact bytes of a producer's arguments */
#define GRACE_MS 1000u        /* ms between the request to stop and the kill (G) */
#define CHUNK_BYTES 24576u    /* bytes of one read */
#define RETRY_MS 40u          /* ms after which a blocked write is tried again (C-61) */
#define NOTHING UINT64_MAX    /* a quantity that is not there: null in the record */
#define SAFE_MAX ((UINT64_C(1) << 53) - 1)
#define FAILURE_TEXT 192

enum operation { OPERATION_BACKTEST, OPERATION_CAPABILITIES };
enum knob { KNOB_REPORT, KNOB_DIAGNOSTIC, KNOB_WALL, KNOB_STALL, KNOBS };

/* Bytes or ms; NOTHING where not given, not granted or not resolved (R07, C-13). */
struct limit {
	uint64_t requested, granted, effective;
};

struct request {
	bool active;  /* supervised/v1 was asked for */
	bool refused; /* something about the options is wrong */
	bool jailed;
	const char *mode;        /* a report mode that nobody provides, or NULL */
	const char *library, *bars;
	enum operation operation;
	int terminal;            /* descriptor number, or -1 */
	const char *knob[KNOBS]; /* text as given, or NULL */
};

/* Reads the options and variables of the facade (C-5, C-6, C-8). */
void request_read(struct request *request, char **argv);
/* Runs the engine with no supervision at all: what callers had before. Does not return. */
void legacy_run(const struct request *request) __attribute__((noreturn));

/* The host's side of the launch, from the environment. */
struct launch {
	char attempt[33];
	bool bad_attempt, no_attempt;
	const char *spool;
	struct limit limit[KNOBS];
	bool bad_option; /* a knob is malformed or above its grant */
	bool no_grant;   /* a grant is missing or zero */
};

void launch_read(struct launch *launch, const struct request *request);
/* Decimal digits only. Returns false for anything else and for more than max. */
bool decimal(const char *text, uint64_t max, uint64_t *value);

/* An endpoint as admission sees it. */
enum admitted { ADMITTED, REFUSED };
enum admitted admit_stream(int fd);   /* the report or the diagnostics, R03, C-10 */
enum admitted admit_terminal(int fd); /* C-64 */
bool same_channel(int one, int other); /* C-11, C-65 */
/* Inode of the peer of a unix socket and its shutdown bits; false where the kernel does not tell. */
bool unix_peer(ino_t inode, uint32_t *peer, unsigned *shutdown);

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
uint64_t after_ms(uint64_t from, uint64_t ms); /* from plus ms, in ns; never wraps */

/* The worker: a process that reserves, keeps and judges the candidate. */
struct worker {
	pid_t pid;
	int socket; /* candidate bytes out; a verdict and the document back */
};

enum reserved { RESERVED, NOT_RESERVED, NO_WORKER };
/* Starts it and waits, to deadline (ns) at most, until bytes are reserved in the folder spool. */
enum reserved worker_start(struct worker *worker, const struct request *request, const char *spool, uint64_t bytes,
                           uint64_t deadline);

#endif
