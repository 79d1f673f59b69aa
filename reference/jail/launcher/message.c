/* message: typed packets to S on the control socket. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "launcher.h"

int control = FD_CONTROL;

/* Sends one packet: kind, value, text; fd travels with it unless negative. */
static int
send_packet(char kind, int32_t value, const char *text, int fd)
{
	char packet[512];
	size_t length = strnlen(text, sizeof packet - 1 - sizeof value);
	struct iovec iov = { packet, 1 + sizeof value + length };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} ancillary;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	packet[0] = kind;
	memcpy(packet + 1, &value, sizeof value);
	memcpy(packet + 1 + sizeof value, text, length);
	if (fd >= 0) {
		memset(&ancillary, 0, sizeof ancillary);
		msg.msg_control = ancillary.room;
		msg.msg_controllen = sizeof ancillary.room;
		struct cmsghdr *header = CMSG_FIRSTHDR(&msg);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof fd);
	}
	do
		sent = sendmsg(control, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

/* Sends one message; S gone means that nobody needs this process. */
void
say(char kind, int32_t value, int fd)
{
	if (send_packet(kind, value, "", fd) != 0)
		_exit(1);
}

/* Reports the failed step with errno and ends the process. */
void
fail(const char *step, const char *object)
{
	char text[400];
	int cause = errno;

	snprintf(text, sizeof text, "%s%s%s", step, *object ? " " : "", object);
	send_packet(SAY_ERROR, cause, text, -1);
	_exit(1);
}

/* Waits for one order of S; its end is the end of this process. */
int
hear(void)
{
	char order;
	ssize_t got;

	do
		got = recv(control, &order, 1, 0);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(1);
	return order;
}
