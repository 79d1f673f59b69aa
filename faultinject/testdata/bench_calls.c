/*
 * bench_calls: THREADS threads make COUNT one-byte pwrites each, to files of
 * their own in DIR, with an fsync every SYNC calls.
 *
 * Used by the benchmark only. Prints how many calls failed. Exit: 0.
 */
#include "target.h"

static long count, every;
static const char *dir;
static int errors;

static void *
work(void *arg)
{
	char name[4096];
	snprintf(name, sizeof name, "%s/bench-%d-%ld", dir, (int)getpid(), (long)arg);
	int fd = must("open", open(name, O_RDWR | O_CREAT | O_TRUNC, 0600));
	must("unlink", unlink(name));
	for (long i = 1; i <= count; i++) {
		if (pwrite(fd, "x", 1, 0) != 1)
			__atomic_add_fetch(&errors, 1, __ATOMIC_SEQ_CST);
		if (i % every == 0 && fsync(fd) < 0)
			__atomic_add_fetch(&errors, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t id[16];
	if (argc != 5)
		usage("bench_calls THREADS COUNT SYNC DIR");
	long n = atol(argv[1]);
	count = atol(argv[2]);
	every = atol(argv[3]);
	dir = argv[4];
	for (long i = 0; i < n && i < 16; i++)
		if (pthread_create(&id[i], NULL, work, (void *)i) != 0)
			return 70;
	for (long i = 0; i < n && i < 16; i++)
		pthread_join(id[i], NULL);
	printf("errors=%d\n", errors);
	return 0;
}
