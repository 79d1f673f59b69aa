/*
 * interrupted_writer: write COUNT numbered lines of eight bytes to descriptor
 * 1, a pipe that is full most of the time, while a timer interrupts every two
 * milliseconds. With RESTART 0 the handler lacks SA_RESTART.
 *
 * Prints to stderr the numbers of the writes that failed with EIO, and how
 * many returned EINTR. Exit: 0.
 */
#include "target.h"
#include <sys/time.h>

static void
on_alarm(int sig)
{
	(void)sig;
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		usage("interrupted_writer COUNT RESTART");
	long count = atol(argv[1]), calls = 0;
	int eintr = 0;
	struct sigaction act = {.sa_handler = on_alarm, .sa_flags = atoi(argv[2]) ? SA_RESTART : 0};
	struct itimerval tick = {{0, 2000}, {0, 2000}};
	must("sigaction", sigaction(SIGALRM, &act, NULL));
	must("setitimer", setitimer(ITIMER_REAL, &tick, NULL));
	for (long i = 1; i <= count; i++) {
		char line[32];
		snprintf(line, sizeof line, "%07ld\n", i);
		for (;;) {
			ssize_t r = write(1, line, 8);
			calls++;
			if (r == 8)
				break;
			if (r < 0 && errno == EINTR) {
				eintr++;
				continue;
			}
			fprintf(stderr, "failed=%ld call=%ld ", i, calls);
			break;
		}
	}
	fprintf(stderr, "eintr=%d\n", eintr);
	return 0;
}
