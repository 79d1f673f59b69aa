/* The supervisor's state: one epoll loop, one latched cause, exact counters. */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "jail.h"
#include "sha256.h"
#include "shape.h"

#include <sys/resource.h>

/* What the loop waits for; the index of a descriptor. */
enum event {
	EVENT_CANCEL, EVENT_LISTENER, EVENT_DIAGNOSTIC, EVENT_CANDIDATE, EVENT_WORKER, EVENT_PRODUCER, EVENT_LINK,
	EVENT_INIT, EVENT_REPORT_OUT, EVENT_DIAGNOSTIC_OUT, EVENTS
};

/* Ranks of R19 for observations of one batch; within one the lower order wins. */
enum rank {
	RANK_CANCEL, RANK_ISOLATION, RANK_BUDGET, RANK_TRANSPORT, RANK_EXPIRY, RANK_PRODUCER, RANK_ENDED, RANK_NONE
};
enum order { ORDER_TERMINAL, ORDER_REPORT, ORDER_SINK, ORDER_DIAGNOSTIC, ORDER_CANDIDATE, ORDER_INTERNAL };
enum budget { BUDGET_DIAGNOSTIC, BUDGET_REPORT };

struct cause {
	enum rank rank;
	int order;
	char code[50], args[FAILURE_TEXT]; /* args as compact JSON */
};

struct channel {
	uint64_t observed, accepted, written;
	bool truncated, complete, source_known;
	struct sha256 hash;
};

/* Bytes on their way: length of them, from start on. At most QUEUE_BYTES wait at one time. */
struct queue {
	unsigned char bytes[2 * QUEUE_BYTES];
	size_t start, length;
};

/* One of the host's endpoints. moved is when it last took a byte, or when bytes began to wait for it (ns). */
struct output {
	enum event event;
	enum order order;
	const char *name;
	struct channel *channel;
	struct queue queue;
	uint64_t moved;
	bool open, done; /* done: everything that will ever be queued is queued */
};

struct supervisor {
	struct request request;
	struct launch launch;
	struct worker worker;
	struct jail jail;
	bool terminal_good, streams_good;
	int epoll, fd[EVENTS];
	uint32_t armed[EVENTS];
	struct channel candidate, report, diagnostic;
	struct output report_out, diagnostic_out;
	struct queue to_worker;
	struct cause cause, seen;        /* the latched one; the best of this batch */
	const char *stage;               /* at the latch */
	uint64_t started, run_from, run_to, publish_from, publish_to, domain_until, reap_until, kill_at;
	bool launched, reaped, asked, answered, domain_empty, survivors;
	bool stopping, killed, expired, candidate_ended, diagnostic_ended, worker_told;
	bool judged, success_started, replaced;
	struct verdict verdict;
	size_t verdict_size;
	uint64_t document, handed, charged; /* bytes to publish, bytes got back from the worker, bytes charged (R08) */
	int wait_status;
	struct rusage used;
	int exit_status;
};

#define LATCHED(s) ((s)->cause.rank != RANK_NONE)

/* outcome.c: observing and latching (R19). args is a format of compact JSON members without the braces. */
void observe(struct supervisor *s, enum rank rank, int order, const char *code, const char *args, ...)
	__attribute__((format(printf, 5, 6)));
void latch(struct supervisor *s);
const char *stage_of(const struct supervisor *s); /* from launch and descriptor state only (R16) */
const char *exit_class(const struct cause *cause);
const char *english_of(const struct cause *cause);
int exit_of(const struct cause *cause);
uint64_t effective(const struct supervisor *s, enum knob knob);
uint64_t wall_end(const struct supervisor *s); /* ns */

/* channels.c: reading the producer's streams and writing the host's. */
void read_diagnostics(struct supervisor *s);
void read_candidate(struct supervisor *s);
void feed_worker(struct supervisor *s);
void read_worker(struct supervisor *s);
void write_output(struct supervisor *s, struct output *out);
void close_output(struct supervisor *s, struct output *out);
void check_stall(struct supervisor *s, struct output *out);
void queue_put(struct queue *queue, const void *bytes, size_t n);
void queue_take(struct queue *queue, size_t n);
void queue_add(struct output *out, const void *bytes, size_t n);
void close_event(struct supervisor *s, enum event event);

/* domain.c: the producer's processes. */
void read_listener(struct supervisor *s, uint32_t events);
void reap_producer(struct supervisor *s);
void read_link(struct supervisor *s);
void reap_init(struct supervisor *s);
void stop_producer(struct supervisor *s);
void force_producer(struct supervisor *s);
bool domain_settled(struct supervisor *s);
void end_domain(struct supervisor *s);

/* publish.c: what goes to the report endpoint, and when everything is over. */
void publish(struct supervisor *s);
bool finished(struct supervisor *s);

/* loop.c */
void run_loop(struct supervisor *s);
/* terminal.c: sends the record, once, and returns whether the host can have it. */
bool send_record(struct supervisor *s);
/* record.c: the record, LF included; 0 where it cannot be written within room bytes. */
size_t record_write(const struct supervisor *s, char *to, size_t room);

/* A text being written; room is never passed. */
struct text {
	char *at;
	size_t used, room;
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void usage_write(struct text *text, const struct supervisor *s);
void number_write(struct text *text, const char *name, uint64_t value);

#endif
