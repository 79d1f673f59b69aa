/*
 * send_pattern: send the first -total bytes of the pattern to descriptor 1 by
 * one kind of call, chunk by chunk, and go on after short, interrupted and
 * empty transfers.
 *
 * Prints to stderr what it saw. Vectors have three parts; it checks after
 * every call that the kernel's caller finds its own lengths untouched.
 * Exit: 0 all sent, 1 an error ended it, 2 usage.
 */
#include "target.h"

static unsigned char *data;
static int damaged;

static ssize_t
send_some(const char *call, size_t at, size_t n)
{
	struct iovec v[3] = {{data + at, n / 3}, {data + at + n / 3, n / 3}, {data + at + n / 3 * 2, n - n / 3 * 2}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};
	ssize_t r = -1;

	if (!strcmp(call, "write"))
		return write(1, data + at, n);
	if (!strcmp(call, "pwrite64"))
		return pwrite(1, data + at, n, at);
	if (!strcmp(call, "sendto"))
		return send(1, data + at, n, 0);
	if (!strcmp(call, "writev"))
		r = writev(1, v, 3);
	else if (!strcmp(call, "pwritev"))
		r = pwritev(1, v, 3, at);
	else if (!strcmp(call, "sendmsg"))
		r = sendmsg(1, &m, 0);
	else
		usage("send_pattern CALL TOTAL CHUNK");
	int saved = errno;
	if (v[0].iov_len != n / 3 || v[1].iov_len != n / 3 || v[2].iov_len != n - n / 3 * 2 || m.msg_iovlen != 3)
		damaged++;
	errno = saved;
	return r;
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		usage("send_pattern CALL TOTAL CHUNK");
	size_t total = strtoul(argv[2], NULL, 10), chunk = strtoul(argv[3], NULL, 10), at = 0;
	int shorts = 0, eintr = 0, zero = 0, fault = 0;
	data = malloc(total + 1);
	for (size_t i = 0; i < total; i++)
		data[i] = pattern(i);
	while (at < total && !fault) {
		size_t n = total - at < chunk ? total - at : chunk;
		ssize_t r = send_some(argv[1], at, n);
		if (r < 0 && errno == EINTR)
			eintr++;
		else if (r < 0)
			fault = errno;
		else if (r == 0)
			zero++;
		else if ((size_t)r < n)
			shorts++;
		at += r > 0 ? (size_t)r : 0;
	}
	fprintf(stderr, "sent=%zu short=%d eintr=%d zero=%d errno=%d damaged=%d\n", at, shorts, eintr, zero, fault, damaged);
	return fault != 0;
}
