/*
 * spawn_tree: write one byte to descriptor 1 from the main thread, a second
 * thread, a forked child, a vforked child and, after an exec of itself, the
 * main thread again.
 *
 * Prints to stderr each writer whose write failed. Exit: 0.
 */
#include "target.h"

static void
emit(const char *who)
{
	if (write(1, who, 1) < 0)
		dprintf(2, "failed=%s ", who);
}

static void *
thread(void *arg)
{
	emit("thread");
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t id;
	if (argc > 1) {
		emit("exec");
		dprintf(2, "end\n");
		return 0;
	}
	emit("main");
	if (pthread_create(&id, NULL, thread, NULL) != 0)
		return 70;
	pthread_join(id, NULL);
	if (must("fork", fork()) == 0) {
		emit("fork");
		_exit(0);
	}
	must("wait", wait(NULL));
	if (vfork() == 0) {
		emit("vfork");
		_exit(0);
	}
	must("wait", wait(NULL));
	execl("/proc/self/exe", argv[0], "again", NULL);
	return 70;
}
