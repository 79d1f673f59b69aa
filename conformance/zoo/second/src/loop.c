#include "supervisor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t after_ms(uint64_t from, uint64_t ms)
{
	return ms > (UINT64_MAX - from) / 1000000 ? UINT64_MAX : from + ms * 1000000;
}

uint64_t wall_end(const struct supervisor *s) { return after_ms(s->started, effective(s, KNOB_WALL)); }

/* What each descriptor is watched for now; 0 takes it out, so that a mere hang-up cannot wake the loop. */
static uint32_t wanted(const struct supervisor *s, enum event event)
{
	switch (event) {
	case EVENT_DIAGNOSTIC:
		return s->diagnostic_out.queue.length < QUEUE_BYTES ? EPOLLIN : 0;
	case EVENT_CANDIDATE:
		return s->to_worker.length < QUEUE_BYTES ? EPOLLIN : 0;
	case EVENT_WORKER:
		if (!s->judged)
			return EPOLLIN | (s->to_worker.length > 0 || (s->candidate_ended && !s->worker_told) ? EPOLLOUT : 0u);
		return s->success_started && s->handed < s->document && s->report_out.queue.length < QUEUE_BYTES ? EPOLLIN : 0;
	case EVENT_LINK:
		return s->asked && !s->answered ? EPOLLIN : 0;
	case EVENT_REPORT_OUT:
		return s->report_out.queue.length > 0 ? EPOLLOUT : 0;
	case EVENT_DIAGNOSTIC_OUT:
		return s->diagnostic_out.queue.length > 0 ? EPOLLOUT : 0;
	default:
		return EPOLLIN;
	}
}

static void arm(struct supervisor *s)
{
	for (int i = 0; i < EVENTS; i++) {
		uint32_t want = s->fd[i] < 0 ? 0 : wanted(s, (enum event)i);
		struct epoll_event event = {.events = want, .data.u32 = (uint32_t)i};

		if (want == s->armed[i])
			continue;
		int operation = want == 0 ? EPOLL_CTL_DEL : s->armed[i] == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

		epoll_ctl(s->epoll, operation, s->fd[i], &event);
		s->armed[i] = want;
	}
}

static void earlier(uint64_t *at, bool holds, uint64_t other)
{
	if (holds && other < *at)
		*at = other;
}

static int patience(const struct supervisor *s)
{
	const struct output *outs[] = {&s->report_out, &s->diagnostic_out};
	uint64_t now = now_ns(), at = now + UINT64_C(60000000000);

	earlier(&at, !s->expired, wall_end(s));
	earlier(&at, s->stopping && s->launched && !s->reaped && !s->killed, s->kill_at);
	earlier(&at, s->launched && !s->domain_empty && (s->reaped || s->killed), now + 20000000);
	for (int i = 0; i < 2; i++) {
		bool waits = outs[i]->open && outs[i]->queue.length > 0;

		earlier(&at, waits, after_ms(outs[i]->moved, effective(s, KNOB_STALL)));
		earlier(&at, waits, now + RETRY_MS * UINT64_C(1000000));
	}
	return at <= now ? 0 : (int)((at - now + 999999) / 1000000);
}

static void read_cancel(struct supervisor *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd[EVENT_CANCEL], &info, sizeof info) == sizeof info)
		observe(s, RANK_CANCEL, 0, "run_aborted", "%s", "");
}

static void handle(struct supervisor *s, enum event event, uint32_t events)
{
	if (s->fd[event] < 0)
		return;
	switch (event) {
	case EVENT_CANCEL: read_cancel(s); break;
	case EVENT_LISTENER: read_listener(s, events); break;
	case EVENT_DIAGNOSTIC: read_diagnostics(s); break;
	case EVENT_CANDIDATE: read_candidate(s); break;
	case EVENT_WORKER: read_worker(s); break;
	case EVENT_PRODUCER: reap_producer(s); break;
	case EVENT_LINK: read_link(s); break;
	case EVENT_INIT: reap_init(s); break;
	case EVENT_REPORT_OUT: write_output(s, &s->report_out); break;
	case EVENT_DIAGNOSTIC_OUT: write_output(s, &s->diagnostic_out); break;
	case EVENTS: break;
	}
}

/* The kernel refuses to wait for us: our own fault, and the run must still be brought to its end. Every handler but
 * the listener's returns at once where nothing is there. */
static void sweep(struct supervisor *s)
{
	observe(s, RANK_TRANSPORT, ORDER_INTERNAL, "harness_internal_error", "%s", "");
	for (int i = EVENT_DIAGNOSTIC; i < EVENTS; i++)
		handle(s, (enum event)i, 0);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Deadlines that have passed. At W data work stops for good (R16). */
static void check_deadlines(struct supervisor *s)
{
	check_stall(s, &s->report_out);
	check_stall(s, &s->diagnostic_out);
	if (!s->expired && now_ns() >= wall_end(s)) {
		s->expired = true;
		observe(s, RANK_EXPIRY, 0, "run_deadline_exceeded", "\"stage\":\"%s\"", stage_of(s));
		latch(s);
		close_output(s, &s->report_out);
		close_output(s, &s->diagnostic_out);
		close_event(s, EVENT_DIAGNOSTIC);
		s->diagnostic_ended = true;
	}
	if (s->stopping && s->launched && !s->reaped && !s->killed && now_ns() >= s->kill_at)
		force_producer(s);
}

/* One look at everything. */
static void look(struct supervisor *s, int timeout)
{
	struct epoll_event events[EVENTS];

	arm(s);
	int n = epoll_wait(s->epoll, events, EVENTS, timeout);

	if (n < 0 && errno != EINTR)
		sweep(s);
	for (int i = 0; i < n; i++)
		handle(s, (enum event)events[i].data.u32, events[i].events);
}

void run_loop(struct supervisor *s)
{
	for (;;) {
		publish(s);
		if (s->fd[EVENT_WORKER] >= 0 && !s->judged)
			feed_worker(s);
		write_output(s, &s->report_out);
		write_output(s, &s->diagnostic_out);
		latch(s);
		if (LATCHED(s) && !s->stopping)
			continue;
		if (finished(s))
			return;
		look(s, patience(s));
		if (patience(s) == 0) /* a deadline has passed, perhaps while this process stood still: with what came before it */
			look(s, 0);
		check_deadlines(s);
	}
}
