/* The host's endpoints: only positive writes count, every failure is told apart, each closes once (R16, R17). */
#include "supervisor.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void failed(struct supervisor *s, struct output *out, const char *reason)
{
	observe(s, RANK_TRANSPORT, out->order, "report_channel_failed", "\"channel\":\"%s\",\"reason\":\"%s\"", out->name,
	        reason);
	out->channel->truncated = true;
	close_output(s, out);
}

static const char *reason_of(int error)
{
	return error == EPIPE || error == ECONNRESET || error == ENOTCONN ? "peer_closed" : "io";
}

void write_output(struct supervisor *s, struct output *out)
{
	struct queue *queue = &out->queue;

	while (out->open && queue->length > 0 && now_ns() < wall_end(s)) { /* no byte after W, however late we look (R16) */
		ssize_t n = write(s->fd[out->event], queue->bytes + queue->start, queue->length);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return;
		if (n <= 0) {
			failed(s, out, n == 0 ? "io" : reason_of(errno));
			return;
		}
		sha256_add(&out->channel->hash, queue->bytes + queue->start, (size_t)n);
		out->channel->written += (uint64_t)n;
		out->moved = now_ns();
		queue_take(queue, (size_t)n);
	}
	if (out->open && out->done && queue->length == 0)
		close_output(s, out);
}

/* Closes one endpoint. Bytes that still wait are discarded: the delivered representation is then a short one. */
void close_output(struct supervisor *s, struct output *out)
{
	int fd = s->fd[out->event];

	if (!out->open)
		return;
	out->open = false;
	if (out->queue.length > 0)
		out->channel->truncated = true;
	out->queue.length = 0;
	if (s->armed[out->event])
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, fd, NULL);
	s->armed[out->event] = 0;
	s->fd[out->event] = -1;
	if (close(fd) == 0 || errno == EINTR)
		return;
	out->done = false;
	observe(s, RANK_TRANSPORT, out->order, "report_channel_failed", "\"channel\":\"%s\",\"reason\":\"io\"", out->name);
}

void check_stall(struct supervisor *s, struct output *out)
{
	if (!out->open || out->queue.length == 0)
		return;
	write_output(s, out); /* a peer may have made room without the kernel calling it writable (C-61) */
	uint64_t at = after_ms(out->moved, effective(s, KNOB_STALL));

	/* A stall that would end after W is W's (C-52). */
	if (out->open && out->queue.length > 0 && now_ns() >= at && at <= wall_end(s))
		failed(s, out, "deadline");
}
