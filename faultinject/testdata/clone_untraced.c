/*
 * clone_untraced: make a child with CLONE_UNTRACED which writes one byte to
 * descriptor 1.
 *
 * Prints to stderr what the child's write gave and the clone flags that its
 * parent finds afterwards in the argument it passed. Exit: 0.
 */
#include "target.h"
#include <linux/sched.h>

int
main(void)
{
	struct clone_args args = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
	long pid = must("clone3", syscall(SYS_clone3, &args, sizeof args));
	if (pid == 0) {
		dprintf(2, "write=%d ", write(1, "x", 1) < 0 ? errno : 0);
		_exit(0);
	}
	must("waitpid", waitpid(pid, NULL, 0));
	dprintf(2, "kept=%d\n", args.flags == CLONE_UNTRACED);
	return 0;
}
