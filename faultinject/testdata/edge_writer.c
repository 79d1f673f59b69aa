/*
 * edge_writer: send TOTAL bytes of the pattern to descriptor 1, nonblocking,
 * and wait with an edge-triggered epoll set after EAGAIN.
 *
 * It hangs if an EAGAIN is not followed by an edge; it gives up after 5 s.
 * Exit: 0 all sent, 1 gave up, 70 a call failed.
 */
#include "target.h"
#include <sys/epoll.h>

int
main(int argc, char **argv)
{
	if (argc != 2)
		usage("edge_writer TOTAL");
	size_t total = strtoul(argv[1], NULL, 10), at = 0;
	int again = 0, set = must("epoll_create1", epoll_create1(0));
	struct epoll_event e = {.events = EPOLLOUT | EPOLLET, .data.u64 = 0x1122334455667788};
	must("fcntl", fcntl(1, F_SETFL, O_NONBLOCK));
	must("epoll_ctl", epoll_ctl(set, EPOLL_CTL_ADD, 1, &e));
	must("epoll_wait", epoll_wait(set, &e, 1, 0)); /* takes the first edge */
	while (at < total) {
		unsigned char part[100];
		size_t n = total - at < sizeof part ? total - at : sizeof part;
		for (size_t i = 0; i < n; i++)
			part[i] = pattern(at + i);
		ssize_t r = write(1, part, n);
		if (r >= 0) {
			at += r;
			continue;
		}
		if (errno != EAGAIN)
			must("write", -1);
		again++;
		if (must("epoll_wait", epoll_wait(set, &e, 1, 5000)) == 0)
			break;
		if (e.data.u64 != 0x1122334455667788)
			again += 1000;
	}
	fprintf(stderr, "sent=%zu again=%d\n", at, again);
	return at < total;
}
