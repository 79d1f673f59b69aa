/*
 * producer: the untrusted side of the reference pairing. Loads one strategy
 * library, runs a backtest over one OHLCV file and writes one document.
 *
 * It keeps the public engine's run_json protocol: flags, order of native
 * calls, documents, exit codes (0 done, 1 failure, 2 usage). The document
 * goes to the descriptor in TOUCHSTONE_CANDIDATE_FD or, without that, to fd 1.
 * It is complete in memory, and strategy and report are freed, before the
 * first byte is written. Destructors run afterwards, at exit.
 *
 * One difference is wanted: where the engine's harness would print a trade or
 * summary value that is not finite as a bare NaN or Infinity, which is not
 * JSON, this one fails with report_result_invalid{field,reason:"nonfinite"}.
 *
 * TOUCHSTONE_REPORT_REMAINING, and later the snapshot's number, bounds the
 * document in memory: at most one byte more is kept, and that is then written,
 * so that the supervisor, whose limit it is, sees it exceeded.
 * TOUCHSTONE_ARENA_FD names shared memory in which the document is prepared
 * while it fits. TOUCHSTONE_SINK_FD takes the native sink; it is closed before
 * the first byte of any document. TOUCHSTONE_SNAPSHOT_FD then gives the
 * verified sink back, for the trades and the equity curve of a full report.
 *
 * Rules: R03, R04, R05, R08, R13.
 */
#ifndef PRODUCER_H
#define PRODUCER_H

#include <stddef.h>
#include <stdint.h>

#include "../../fixtures/native/engine_abi.h"

/* text.c: a growing document; a byte past the limit is dropped and noted. */
struct text {
	char *bytes;
	size_t used, room, limit;
	int over;		/* something was dropped */
	int borrowed;		/* bytes is the arena */
};
struct text text_new(void);
void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_string(struct text *t, const char *utf8, size_t max_bytes);
void put_real(struct text *t, double value);
void put_real_or_null(struct text *t, double value);

enum { NO_CUT = 1 << 30 };

/* options.c */
struct options {
	const char *so, *ohlcv, *inputs, *overrides, *input_tf, *script_tf, *chart_tz;
	const char *trade_start, *mode, *profile, *sink, *sink_fd, *phase_fd, *csv2bin;
	const char *policy, *window_start, *window_end, *preroll, *fed_start;
	int capabilities, validation, help;
	int supervised;
	int candidate;		/* descriptor of the document */
	int sink_out, snapshot, arena;	/* descriptors, -1 for none */
	uint64_t remaining;	/* bytes that the document may have */
	int64_t trade_start_ms;
};
extern struct options options;
void options_parse(int argc, char **argv);

/* object.c: one JSON object of scalars */
enum kind { KIND_STRING, KIND_NUMBER, KIND_WORD };
struct member {
	char *key, *value;	/* UTF-8; a number or true, false, null as spelled */
	enum kind kind;
};
struct object {
	struct member *member;
	size_t n;
};
int object_parse(const char *json, struct object *object);
size_t number_length(const char *s);
struct object settings_parse(const char *json, const char *option);
void put_settings(struct text *t, const struct object *settings);
void put_arguments(struct text *t, const struct object *arguments);

/* bars.c */
struct feed {
	engine_bar *bar;
	int n;
};
struct feed feed_read(const char *path);
void feed_dump(const struct feed *feed, const char *path);

/* library.c: what the strategy library exports; optional symbols may be NULL */
struct library {
	int (*abi)(void);
	void *(*create)(const char *);
	void (*set_input)(void *, const char *, const char *);
	void (*set_override)(void *, const char *, const char *);
	void (*run)(void *, engine_bar *, int, const char *, const char *, int, int, int, engine_report *);
	void (*free)(void *);
	void (*free_report)(engine_report *);
	const char *(*last_error)(void *);
	const char *(*last_error_code)(void *);
	const char *(*last_error_args)(void *);
	int (*last_status)(void *);
	uint64_t (*entry_incarnation)(void *, int);
	void (*set_trade_start)(void *, int64_t);
	void (*set_timezone)(void *, const char *);
	int (*set_sink)(void *, int);
	int (*finish_sink)(void *);
	int (*sink_receipt)(void *, engine_sink_receipt *);
	uint32_t (*window_version)(void);
	int (*set_window)(void *, const engine_window *);
	int (*window_counts)(void *, engine_window_counts *);
	uint32_t (*observer_version)(void);
	int (*set_observer)(void *, const engine_observer *);
	int (*observation)(void *, engine_observation *);
};
struct library library_load(const char *path);

/* sha256.c */
struct digest {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};
void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);
void digest_text(const struct digest *d, char text[65]);

/* stream.c */
struct stream_facts {
	uint64_t bytes;			/* read and sound */
	char sha256[65];		/* of everything before the trailer */
	char wire_sha256[65];		/* of everything */
	const char *null_column;	/* "E.column" of an equity point with a null */
};
int stream_check(int fd, struct stream_facts *facts);
void stream_trades(int fd, int (*each)(void *context, const engine_trade *trade, int64_t n), void *context);
void stream_points(int fd, int (*each)(void *context, const engine_equity_point *point), void *context);

/* snapshot.c */
struct snapshot {
	int fd;
	uint64_t bytes, remaining;
	char sha256[65];		/* of the whole stream */
};
int snapshot_receive(int from, struct snapshot *s);

/* window.c; without a policy nothing is selected and the whole feed is fed */
struct bar_count {
	int input, script;
};
struct window {
	int selected;
	int64_t start, end, fed_start;		/* ms; end exclusive */
	int64_t preroll, input_ms, script_ms;
	int64_t supplied_first, supplied_last;
	struct bar_count supplied, before, inside;	/* before: fed, and not inside */
};
struct window window_parse(void);
void window_plan(struct window *w, struct feed *feed);

/* run.c */
enum route { ROUTE_NONE, ROUTE_AUTOMATIC, ROUTE_NAMED, ROUTE_INHERITED };
struct run {
	struct feed feed;
	struct window window;
	struct object inputs, overrides;
	struct library library;
	void *strategy;
	engine_report report;
	uint64_t *incarnation;	/* one a trade, NULL where the library has none */
	double elapsed_seconds;
	enum route route;	/* of the native sink */
	engine_sink_receipt receipt;
	int receipt_known;
	int stream;		/* the verified sink to take trades and points from, -1 for the arrays */
};
_Noreturn void run_backtest(struct run *run);

/* How a run went; all texts are copies that outlive the strategy. */
struct outcome {
	char *error, *code, *args;
	int failed, coded;
};
struct outcome run_succeeded(void);
struct outcome run_failed(const char *code, const char *args, const char *error);

int window_give(const struct run *run);
struct outcome window_check(const struct run *run);

/* phase.c */
enum phase { PHASE_PREFLIGHT, PHASE_EXECUTION, PHASE_RESULT_ASSEMBLY, PHASE_SERIALIZATION, PHASE_COMPLETED };
void phases_begin(int track);
size_t phase_enter(enum phase phase);
int phases_broken(void);
int phases_attach(const struct run *run);
void phases_detach(const struct run *run);
int phases_observed(const struct run *run);
const char *phase_after_execution(void);

/* sink.c, in the order of the calls */
enum { ARENA_FD = 5 };		/* reserved for the arena, never a sink */
void sink_claim(int fd);
enum route sink_open(const struct library *library);
int sink_descriptor(void);
struct outcome sink_collect(struct run *run);
int sink_close(void);
void sink_settle(int success);

/* report.c; returns the field that is not finite, NULL when all are */
const char *put_report(struct text *t, const struct run *run);

/* metrics.c */
void put_metrics(struct text *t, const engine_metrics *metrics);

/* documents.c */
void put_capabilities(struct text *t, const struct library *library);
void put_validation(struct text *t, const struct window *w, const struct feed *feed);
void put_window(struct text *t, const struct window *w, const struct feed *feed, int applied);
void put_shape(struct text *t, const engine_report *report);
int timeframe_seconds(const char *timeframe, const struct feed *feed);
void put_minute(struct text *t, int64_t ms);

/* failure.c; args is a JSON object; code NULL gives the legacy line of two members */
_Noreturn void fail(const char *code, const char *args, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void fail_memory(const char *what);
_Noreturn void fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail_exit(int status, const char *code, const char *args, const char *error);

/* publish.c */
_Noreturn void publish(struct text *t, int status);

#endif
