/*
 * copy_file: copy FROM to TO through a buffer that is flushed when it is full
 * and when the output is closed.
 *
 * It checks every call and the number of bytes, with one planted bug: main
 * ignores what closing the output returns, so a failing last flush is lost
 * and the program claims success. Exit: 0 claims success, 1 reports failure.
 */
#include "target.h"
#include <sys/stat.h>

static struct {
	int fd;
	size_t used;
	unsigned char buffer[1000];
} out;

static int
flush(void)
{
	for (size_t at = 0; at < out.used;) {
		ssize_t r = write(out.fd, out.buffer + at, out.used - at);
		if (r < 0 && errno != EINTR)
			return -1;
		at += r > 0 ? (size_t)r : 0;
	}
	out.used = 0;
	return 0;
}

static int
close_output(void)
{
	int failed = flush();
	if (fsync(out.fd) < 0)
		failed = -1;
	return close(out.fd) < 0 ? -1 : failed;
}

int
main(int argc, char **argv)
{
	struct stat st;
	off_t copied = 0;
	if (argc != 3)
		usage("copy_file FROM TO");
	int in = open(argv[1], O_RDONLY);
	out.fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (in < 0 || out.fd < 0 || fstat(in, &st) < 0)
		return 1;
	for (;;) {
		ssize_t r = read(in, out.buffer + out.used, sizeof out.buffer - out.used);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return 1;
		if (r == 0)
			break;
		copied += r;
		out.used += r;
		if (out.used == sizeof out.buffer && flush() < 0)
			return 1;
	}
	if (copied != st.st_size || close(in) < 0)
		return 1;
	close_output(); /* the planted bug */
	return 0;
}
