/*
 * many_writers: THREADS threads write COUNT bytes each to descriptor 1, one a
 * call, all at once.
 *
 * Prints to stderr how many writes failed. Exit: 0.
 */
#include "target.h"

static long count;
static int errors;
static pthread_barrier_t together;

static void *
writer(void *arg)
{
	pthread_barrier_wait(&together);
	for (long i = 0; i < count; i++)
		if (write(1, "x", 1) < 0)
			__atomic_add_fetch(&errors, 1, __ATOMIC_SEQ_CST);
	return arg;
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		usage("many_writers THREADS COUNT");
	int n = atoi(argv[1]);
	pthread_t id[64];
	count = atol(argv[2]);
	pthread_barrier_init(&together, NULL, n);
	for (int i = 0; i < n && i < 64; i++)
		if (pthread_create(&id[i], NULL, writer, NULL) != 0)
			return 70;
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(id[i], NULL);
	fprintf(stderr, "errors=%d\n", errors);
	return 0;
}
