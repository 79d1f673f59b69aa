/*
 * receive_pattern: read descriptor 0 to its end by one kind of call and check
 * that it is the pattern.
 *
 * Prints to stderr what it saw. Exit: 0 read to the end, 1 an error ended it.
 */
#include "target.h"

static unsigned char data[65536];

static ssize_t
receive_some(const char *call, size_t at)
{
	struct iovec v[2] = {{data, 100}, {data + 100, 900}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};

	if (!strcmp(call, "read"))
		return read(0, data, 1000);
	if (!strcmp(call, "pread64"))
		return pread(0, data, 1000, at);
	if (!strcmp(call, "recvfrom"))
		return recv(0, data, 1000, 0);
	if (!strcmp(call, "readv"))
		return readv(0, v, 2);
	if (!strcmp(call, "preadv"))
		return preadv(0, v, 2, at);
	if (!strcmp(call, "recvmsg"))
		return recvmsg(0, &m, 0);
	usage("receive_pattern CALL");
	return -1;
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		usage("receive_pattern CALL");
	size_t at = 0;
	int shorts = 0, eintr = 0, wrong = 0, fault = 0;
	for (;;) {
		ssize_t r = receive_some(argv[1], at);
		if (r < 0 && errno == EINTR) {
			eintr++;
			continue;
		}
		if (r < 0)
			fault = errno;
		if (r <= 0)
			break;
		shorts += r < 100;
		for (ssize_t i = 0; i < r; i++)
			wrong += data[i] != pattern(at + i);
		at += r;
	}
	fprintf(stderr, "received=%zu short=%d eintr=%d wrong=%d errno=%d\n", at, shorts, eintr, wrong, fault);
	return fault != 0;
}
