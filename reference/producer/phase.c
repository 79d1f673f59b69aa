/*
 * phase: where a run stands, and a record of each step on --run-phase-fd.
 *
 * A selected run is tracked with or without that descriptor. The module says
 * when its execution is over, through the observer. A record is one line in one
 * nonblocking write; one that is not taken whole fails the run.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "producer.h"

static const char *const name[] = { "preflight", "execution", "result_assembly", "serialization", "completed" };

static int tracked, fd = -1, broken, boundaries;
static enum phase now;
static double begun[PHASE_COMPLETED + 1];	/* ms since the first one began */

static double
milliseconds(void)
{
	static double zero;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	double ms = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
	if (zero == 0)
		zero = ms;
	return round((ms - zero) * 1e3) / 1e3;
}

/* Begins tracking where it is asked for. The descriptor is borrowed. */
void
phases_begin(int track)
{
	int domain = 0, type = 0;
	char *end;

	tracked = track || options.phase_fd != NULL;
	if (options.phase_fd == NULL)
		return;
	long number = strtol(options.phase_fd, &end, 10);
	if (end == options.phase_fd || *end != 0 || number < 3 || number > INT32_MAX || number == ARENA_FD ||
	    getsockopt((int)number, SOL_SOCKET, SO_DOMAIN, &domain, &(socklen_t){ sizeof domain }) != 0 ||
	    getsockopt((int)number, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof type }) != 0 ||
	    domain != AF_UNIX || type != SOCK_STREAM)
		fail_usage("argument --run-phase-fd: '%s' is no stream socket", options.phase_fd);
	fd = (int)number;
}

static void
put_span(struct text *t, const char *key, enum phase from)
{
	put(t, ",\"%s\":", key);
	put_real(t, round((begun[from + 1] - begun[from]) * 1e3) / 1e3);
}

/* Returns the bytes of the record, 0 for none, and notes one that was not taken. */
static size_t
send_record(void)
{
	struct text t = { .limit = 1024 };

	if (fd < 0)
		return 0;
	put(&t, "{\"record\":\"run_phase\",\"version\":1,\"sequence\":%d,\"scope\":\"run\",\"trial_id\":null,\"phase\":\"%s\","
	    "\"elapsed_ms\":", (int)now, name[now]);
	put_real(&t, begun[now]);
	if (now == PHASE_COMPLETED) {
		put_span(&t, "execution_ms", PHASE_EXECUTION);
		put_span(&t, "result_assembly_ms", PHASE_RESULT_ASSEMBLY);
		put(&t, ",\"results_digest_ms\":null");
		put_span(&t, "serialization_ms", PHASE_SERIALIZATION);
	}
	put(&t, "}\n");
	broken |= send(fd, t.bytes, t.used, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)t.used;
	free(t.bytes);
	return t.used;
}

/* Enters the next phase. Returns the bytes of its record; phases_broken tells whether they were taken. */
size_t
phase_enter(enum phase phase)
{
	if (!tracked)
		return 0;
	now = phase;
	begun[phase] = milliseconds();
	return send_record();
}

int
phases_broken(void)
{
	return broken;
}

/* The phase as a failure after the execution names it; NULL before that, and where nothing is tracked. */
const char *
phase_after_execution(void)
{
	return tracked && now >= PHASE_RESULT_ASSEMBLY ? name[now < PHASE_COMPLETED ? now : PHASE_SERIALIZATION] : NULL;
}

static int
on_boundary(void *context, const engine_boundary *boundary, engine_boundary_receipt *receipt)
{
	(void)context;
	if (boundary->size != sizeof *boundary || boundary->version != 1 || boundary->run_generation == 0 ||
	    boundary->attempt_serial == 0 || boundaries++ > 0)
		return -1;
	uint32_t sent = (uint32_t)phase_enter(PHASE_RESULT_ASSEMBLY);
	*receipt = (engine_boundary_receipt){ sizeof *receipt, 1, boundary->run_generation, sent, broken ? 0 : sent, fd >= 0, 0 };
	return broken ? -1 : 0;
}

/* Attaches the observer; -1 if the library cannot be observed. */
int
phases_attach(const struct run *run)
{
	static const engine_observer observer = { sizeof observer, 1, NULL, on_boundary };
	const struct library *library = &run->library;

	if (!tracked)
		return 0;
	if (library->observer_version == NULL || library->observer_version() != 1 || library->set_observer == NULL ||
	    library->observation == NULL)
		return -1;
	return library->set_observer(run->strategy, &observer);
}

void
phases_detach(const struct run *run)
{
	if (tracked)
		run->library.set_observer(run->strategy, NULL);
}

/* Whether the module said exactly once, and knows, that its execution is over. */
int
phases_observed(const struct run *run)
{
	engine_observation o = { .size = sizeof o, .version = 1 };

	return !tracked || (boundaries == 1 && run->library.observation(run->strategy, &o) == 0 && o.boundary_delivered == 1);
}
