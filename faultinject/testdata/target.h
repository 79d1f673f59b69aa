/*
 * target.h: what the test targets share. Exit: 0 done, 2 usage, 70 a call
 * failed that no test arranged.
 */
#ifndef TARGET_H
#define TARGET_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* must ends the target unless the call worked. */
static inline long
must(const char *what, long result)
{
	if (result < 0) {
		fprintf(stderr, "target: %s: %s\n", what, strerror(errno));
		exit(70);
	}
	return result;
}

static inline void
usage(const char *text)
{
	fprintf(stderr, "usage: %s\n", text);
	exit(2);
}

/* pattern is byte number i of every stream a target makes. */
static inline unsigned char
pattern(size_t i)
{
	return (unsigned char)(i * 7 + i / 251);
}

#endif
