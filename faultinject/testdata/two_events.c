/*
 * two_events: the main thread polls two pipes; one thread writes to the first
 * pipe and then to the second.
 *
 * Prints to stderr how many pipes the first poll that reports anything
 * reports. Without help it is one: the second write waits until that poll is
 * over, or for a second. Exit: 0.
 */
#include "target.h"

static int first[2], second[2], polled[2];

static void *
writer(void *arg)
{
	struct pollfd p = {polled[0], POLLIN, 0};
	must("write first", write(first[1], "1", 1));
	must("poll", poll(&p, 1, 1000));
	must("pwrite second", write(second[1], "22", 2));
	return arg;
}

int
main(void)
{
	pthread_t id;
	must("pipe", pipe(first));
	must("pipe", pipe(second));
	must("pipe", pipe(polled));
	struct pollfd p[2] = {{first[0], POLLIN, 0}, {second[0], POLLIN, 0}};
	if (pthread_create(&id, NULL, writer, NULL) != 0)
		return 70;
	int n = must("ppoll", ppoll(p, 2, NULL, NULL));
	must("write polled", write(polled[1], "333", 3));
	pthread_join(id, NULL);
	fprintf(stderr, "batch=%d\n", n);
	return 0;
}
