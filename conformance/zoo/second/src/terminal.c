#include "supervisor.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long one packet may wait: P from the first attempt, and never past W+G+P from the start (R16, C-50). */
static uint64_t give_up(const struct supervisor *s)
{
	uint64_t stall = effective(s, KNOB_STALL), wall = effective(s, KNOB_WALL);

	if (stall == NOTHING || stall == 0)
		stall = s->launch.limit[KNOB_STALL].granted;
	if (stall == NOTHING || stall == 0)
		stall = 5000;
	uint64_t own = after_ms(now_ns(), stall);

	if (wall == NOTHING)
		return own;
	uint64_t all = after_ms(after_ms(wall_end(s), GRACE_MS), stall);

	return all < own ? all : own;
}

bool send_record(struct supervisor *s)
{
	static char record[TERMINAL_BYTES + 1];
	size_t size = record_write(s, record, sizeof record);
	uint64_t until = give_up(s);
	int fd = s->request.terminal;
	bool sent = false;

	while (size > 0 && !sent) {
		ssize_t n = send(fd, record, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent = n == (ssize_t)size;
		if (n >= 0 || (errno != EAGAIN && errno != EINTR) || now_ns() >= until)
			break;
		/* The kernel calls a full queue writable only when most of it is read: try again by the clock too. */
		poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, RETRY_MS / 2);
	}
	return close(fd) == 0 && sent;
}
