/* publish: the one write of the document, and the end of the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "producer.h"

/* A reader that has gone is an error of this write, and no signal; the strategy has the dispositions of a fresh process. */
static ssize_t
write_quietly(int fd, const void *bytes, size_t n)
{
	static const struct timespec at_once;
	sigset_t pipe, before, pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe, &before);
	sigpending(&pending);
	ssize_t done = write(fd, bytes, n);
	int error = errno;
	if (done < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
			;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return done;
}

static void
write_all(const struct text *t)
{
	size_t done = 0;

	while (done < t->used) {
		ssize_t n = write_quietly(options.candidate, t->bytes + done, t->used - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fprintf(stderr, "producer: write document: %s\n", n < 0 ? strerror(errno) : "no progress");
			exit(1);
		}
		done += (size_t)n;
	}
}

/* Ends the sink, writes, closes a private descriptor, and leaves through exit, so that destructors run. */
void
publish(struct text *t, int status)
{
	sink_settle(status == 0);
	write_all(t);
	if (options.candidate != 1 && close(options.candidate) != 0) {
		fprintf(stderr, "producer: close document: %s\n", strerror(errno));
		exit(1);
	}
	if (status == 0) {
		phase_enter(PHASE_COMPLETED);
		if (phases_broken()) {
			fputs("producer: the last phase record was not taken\n", stderr);
			exit(1);
		}
	}
	exit(status);
}
