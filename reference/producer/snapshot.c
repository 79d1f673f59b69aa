/* snapshot: the supervisor's one packet, with a read-only descriptor of the verified sink. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "producer.h"

enum { PACKET_MAX = 65536, DESCRIPTORS_MAX = 8 };

/* Waits for the packet. Its end instead says that the sink was refused: then there is nothing to say here. */
static size_t
receive(int from, char *packet, int *fd)
{
	struct iovec vector = { packet, PACKET_MAX };
	union { char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))]; struct cmsghdr align; } control;
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes };
	ssize_t n;

	do
		n = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		exit(1);
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	*fd = -1;
	if (c != NULL && CMSG_NXTHDR(&message, c) == NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof *fd) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return (size_t)n;
}

/* Reads exactly the compact object, its members in their order; a second spelling of a number is no packet. */
static int
parse(const char *packet, size_t length, struct snapshot *s)
{
	static const char read[] = "{\"record\":\"snapshot\",\"version\":1,\"sink_bytes\":%llu,"
	    "\"remaining_report_bytes\":%llu,\"sha256\":\"%64[0-9a-f]";
	unsigned long long bytes, remaining;
	char again[512];

	if (length >= sizeof again || strlen(packet) != length ||
	    sscanf(packet, read, &bytes, &remaining, s->sha256) != 3)
		return -1;
	int n = snprintf(again, sizeof again, "{\"record\":\"snapshot\",\"version\":1,\"sink_bytes\":%llu,"
	    "\"remaining_report_bytes\":%llu,\"sha256\":\"%s\"}", bytes, remaining, s->sha256);
	s->bytes = bytes;
	s->remaining = remaining;
	return (size_t)n == length && strcmp(packet, again) == 0 && strlen(s->sha256) == 64 ? 0 : -1;
}

/* Whether it is a regular file of that size that cannot be written through this descriptor. */
static int
is_read_only_file(int fd, uint64_t bytes)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes && flags >= 0 &&
	    (flags & O_ACCMODE) == O_RDONLY;
}

/* Returns 0 for a snapshot whose numbers fit each other and what remained at the start; its digest is not compared here. */
int
snapshot_receive(int from, struct snapshot *s)
{
	static char packet[PACKET_MAX + 1];
	size_t length = receive(from, packet, &s->fd);

	if (s->fd < 0 || parse(packet, length, s) != 0 || !is_read_only_file(s->fd, s->bytes))
		return -1;
	return s->bytes <= options.remaining && s->remaining <= options.remaining - s->bytes ? 0 : -1;
}
