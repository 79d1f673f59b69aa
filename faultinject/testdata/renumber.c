/*
 * renumber: write one byte each to two files, A and B in the folder DIR,
 * while their descriptors change numbers: by close and open, dup2, dup, and
 * a socket that passes one. Then to a memfd named "scratch".
 *
 * Prints to stderr the letters of the writes that failed, in order of the
 * calls A B A B A A M. Exit: 0.
 */
#include "target.h"
#include <sys/mman.h>

static void
emit(int fd, const char *letter)
{
	if (write(fd, letter, 1) < 0)
		dprintf(2, "%s", letter);
}

static int
pass(int fd)
{
	int pair[2];
	char space[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {"x", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	char byte;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	must("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	must("sendmsg", sendmsg(pair[0], &m, 0));
	v.iov_base = &byte;
	must("recvmsg", recvmsg(pair[1], &m, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		usage("renumber DIR");
	must("chdir", chdir(argv[1]));
	int a = must("open", open("A", O_WRONLY | O_CREAT | O_APPEND, 0644));
	emit(a, "A");
	must("close", close(a));
	int b = must("open", open("B", O_WRONLY | O_CREAT | O_APPEND, 0644));
	emit(b, "B"); /* the number that A had */
	a = must("open", open("A", O_WRONLY | O_APPEND));
	must("dup2", dup2(a, b));
	emit(b, "A");
	b = must("open", open("B", O_WRONLY | O_APPEND));
	must("dup2", dup2(b, a));
	emit(a, "B");
	a = must("open", open("A", O_WRONLY | O_APPEND));
	emit(dup(a), "A");
	emit(pass(a), "A");
	emit(must("memfd_create", memfd_create("scratch", 0)), "M");
	dprintf(2, "\n");
	return 0;
}
