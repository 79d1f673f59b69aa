#include "supervisor.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void close_event(struct supervisor *s, enum event event)
{
	if (s->fd[event] < 0)
		return;
	/* A forked process may share the description: closing alone would leave it registered. */
	if (s->armed[event])
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->fd[event], NULL);
	s->armed[event] = 0;
	close(s->fd[event]);
	s->fd[event] = -1;
}

void queue_put(struct queue *queue, const void *bytes, size_t n)
{
	if (queue->start + queue->length + n > sizeof queue->bytes) {
		memmove(queue->bytes, queue->bytes + queue->start, queue->length);
		queue->start = 0;
	}
	memcpy(queue->bytes + queue->start + queue->length, bytes, n);
	queue->length += n;
}

void queue_take(struct queue *queue, size_t n)
{
	queue->start += n;
	queue->length -= n;
}

void queue_add(struct output *out, const void *bytes, size_t n)
{
	if (!out->open)
		return;
	if (out->queue.length == 0)
		out->moved = now_ns();
	queue_put(&out->queue, bytes, n);
}

static size_t smaller(uint64_t one, uint64_t other) { return (size_t)(one < other ? one : other); }

/* What one read found: bytes, nothing for now, the probe byte too, the end of the stream, or an error of our own. */
enum found { FOUND_BYTES, FOUND_NOTHING, FOUND_OVERFLOW, FOUND_END, FOUND_FAULT };

/* One read of at most the allowance and its probe byte; *accepted is how many bytes of it count. */
static enum found read_within(int fd, struct channel *channel, uint64_t limit, size_t room, unsigned char *bytes,
                              size_t *accepted)
{
	uint64_t left = limit - channel->accepted;
	size_t want = smaller(smaller(CHUNK_BYTES, room), left + 1);
	ssize_t n = read(fd, bytes, want);

	*accepted = 0;
	if (n == 0)
		return FOUND_END;
	if (n < 0)
		return errno == EINTR ? FOUND_BYTES : errno == EAGAIN ? FOUND_NOTHING : FOUND_FAULT;
	channel->observed += (uint64_t)n;
	*accepted = smaller((uint64_t)n, left);
	channel->accepted += *accepted;
	return (uint64_t)n > left ? FOUND_OVERFLOW : FOUND_BYTES;
}

static void internal_fault(struct supervisor *s)
{
	observe(s, RANK_TRANSPORT, ORDER_INTERNAL, "harness_internal_error", "%s", "");
}

void read_diagnostics(struct supervisor *s)
{
	struct output *out = &s->diagnostic_out;
	uint64_t limit = effective(s, KNOB_DIAGNOSTIC);
	unsigned char bytes[CHUNK_BYTES];
	enum found found = FOUND_BYTES;
	size_t n;

	while (found == FOUND_BYTES && out->queue.length < QUEUE_BYTES) {
		found = read_within(s->fd[EVENT_DIAGNOSTIC], &s->diagnostic, limit, QUEUE_BYTES - out->queue.length, bytes, &n);
		queue_add(out, bytes, n);
	}
	if (found == FOUND_OVERFLOW) {
		s->diagnostic.truncated = true;
		observe(s, RANK_BUDGET, BUDGET_DIAGNOSTIC, "diagnostic_budget_exceeded",
		        "\"cap_bytes\":%lu,\"used_bytes\":%lu,\"requested_bytes\":1", limit, limit);
	}
	if (found == FOUND_FAULT)
		internal_fault(s);
	if (found < FOUND_OVERFLOW)
		return;
	s->diagnostic.source_known = found == FOUND_END;
	s->diagnostic_ended = true;
	out->done = true;
	close_event(s, EVENT_DIAGNOSTIC);
}

void read_candidate(struct supervisor *s)
{
	struct queue *queue = &s->to_worker;
	uint64_t limit = effective(s, KNOB_REPORT);
	unsigned char bytes[CHUNK_BYTES];
	enum found found = FOUND_BYTES;
	size_t n;

	while (found == FOUND_BYTES && queue->length < QUEUE_BYTES) {
		found = read_within(s->fd[EVENT_CANDIDATE], &s->candidate, limit, QUEUE_BYTES - queue->length, bytes, &n);
		queue_put(queue, bytes, n);
		sha256_add(&s->candidate.hash, bytes, n);
		s->charged += n;
	}
	if (found == FOUND_OVERFLOW) {
		s->candidate.truncated = true;
		observe(s, RANK_BUDGET, BUDGET_REPORT, "report_budget_exceeded",
		        "\"channel\":\"json\",\"cap_bytes\":%lu,\"used_bytes\":%lu,\"requested_bytes\":1", limit, limit);
	}
	if (found == FOUND_FAULT)
		internal_fault(s);
	if (found < FOUND_OVERFLOW)
		return;
	s->candidate.source_known = found == FOUND_END;
	s->candidate_ended = true;
	close_event(s, EVENT_CANDIDATE);
}

static void worker_lost(struct supervisor *s)
{
	if (!s->judged || s->handed < s->document)
		internal_fault(s);
	s->judged = true;
	close_event(s, EVENT_WORKER);
}

void feed_worker(struct supervisor *s)
{
	struct queue *queue = &s->to_worker;

	while (queue->length > 0) {
		ssize_t n = send(s->fd[EVENT_WORKER], queue->bytes + queue->start, queue->length, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			queue->length = 0; /* it has seen enough; its verdict is on the way */
		if (n <= 0)
			return;
		queue_take(queue, (size_t)n);
	}
	if (s->candidate_ended && !s->worker_told) {
		shutdown(s->fd[EVENT_WORKER], SHUT_WR);
		s->worker_told = true;
	}
}

static void read_verdict(struct supervisor *s)
{
	char *to = (char *)&s->verdict;
	ssize_t n = recv(s->fd[EVENT_WORKER], to + s->verdict_size, sizeof s->verdict - s->verdict_size, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		worker_lost(s);
		return;
	}
	s->verdict_size += n > 0 ? (size_t)n : 0;
	if (s->verdict_size < sizeof s->verdict)
		return;
	s->judged = true;
	if (s->verdict.kind == VERDICT_MALFORMED)
		observe(s, RANK_TRANSPORT, ORDER_CANDIDATE, "report_channel_failed",
		        "\"channel\":\"candidate\",\"reason\":\"protocol\"");
	if (s->verdict.kind == VERDICT_FAULT)
		internal_fault(s);
	if (s->verdict.kind == VERDICT_STORAGE) /* R09: the storage has the sink's code, whatever it keeps */
		observe(s, RANK_TRANSPORT, ORDER_SINK, "report_sink_failed", "\"reason\":\"sink_io\"");
}

void read_worker(struct supervisor *s)
{
	struct output *out = &s->report_out;
	unsigned char bytes[CHUNK_BYTES];

	if (!s->judged) {
		read_verdict(s);
		return;
	}
	size_t want = smaller(CHUNK_BYTES, smaller(QUEUE_BYTES - out->queue.length, s->document - s->handed));
	ssize_t n = recv(s->fd[EVENT_WORKER], bytes, want, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		worker_lost(s);
		return;
	}
	if (n > 0) {
		s->handed += (uint64_t)n;
		queue_add(out, bytes, (size_t)n);
	}
	out->done = s->handed == s->document;
}
