/* init: the trusted PID 1 of the domain. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

/* Says whether any other process is left in the namespace. */
static char
survivor(void)
{
	/* Permission plays no part: only an empty namespace gives ESRCH. */
	return kill(-1, 0) != 0 && errno == ESRCH ? NOBODY : SOMEBODY;
}

/* Answers queries until the lifeline ends, with S or by its wish. */
static _Noreturn void
wait_on_lifeline(void)
{
	for (;;) {
		char query, answer;
		ssize_t got = recv(FD_LIFELINE, &query, 1, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got != 1 || query != ASK_SURVIVOR)
			_exit(0);
		answer = survivor();
		if (send(FD_LIFELINE, &answer, 1, MSG_NOSIGNAL) != 1)
			_exit(0);
	}
}

/* Closes all but the lifeline and built, which gets the number after it. */
static void
keep_two_descriptors(int built)
{
	if (dup2(built, FD_LIFELINE + 1) < 0)
		fail("keep descriptor", "");
	if (syscall(SYS_close_range, 0, FD_LIFELINE - 1, 0) != 0 ||
	    syscall(SYS_close_range, FD_LIFELINE + 2, ~0U, 0) != 0)
		_exit(1);
}

/* Builds the private root, tells the launcher through built, and stays. */
void
init_main(const struct spec *spec, int built)
{
	/* Orphans of the domain must not stay behind as zombies. */
	if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
		fail("ignore children", "");
	root_build(spec);
	drop_all_privilege(0, 0);
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		fail("clear dumpable", "");
	keep_two_descriptors(built);
	if (write(FD_LIFELINE + 1, "b", 1) != 1 || close(FD_LIFELINE + 1) != 0)
		_exit(1);
	wait_on_lifeline();
}
