/*
 * tick_beside: one thread makes one fsync of descriptor 1 while the main
 * thread counts how often it wakes, every ten milliseconds, until that is
 * over.
 *
 * Prints to stderr the milliseconds of the fsync and the number of wakes.
 * Exit: 0.
 */
#include "target.h"
#include <time.h>

static int over;
static long took;

static long
now_ms(void)
{
	struct timespec t;
	must("clock_gettime", clock_gettime(CLOCK_MONOTONIC, &t));
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *
sync_once(void *arg)
{
	long start = now_ms();
	fsync(1);
	took = now_ms() - start;
	__atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
	return arg;
}

int
main(void)
{
	pthread_t id;
	int ticks = 0;
	struct timespec pause = {0, 10000000};
	if (pthread_create(&id, NULL, sync_once, NULL) != 0)
		return 70;
	while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) {
		nanosleep(&pause, NULL);
		ticks++;
	}
	pthread_join(id, NULL);
	fprintf(stderr, "took=%ld ticks=%d\n", took, ticks);
	return 0;
}
