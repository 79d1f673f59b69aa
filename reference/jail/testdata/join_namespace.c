/*
 * join_namespace: become a process of another pid namespace, and stay.
 *
 * Arranges: setns on the pid namespace of the process that the argument
 * names, a child in it that says "joined" on fd 1 and waits to be killed.
 * Used by:  the jail tests, outside the domain, as its intruder.
 * Exit:     0 once the child is gone; 70 a call failed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%s/ns/pid", argc > 1 ? argv[1] : "0");
	int fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWPID) != 0)
		return 70;
	pid_t child = fork();
	if (child < 0)
		return 70;
	if (child == 0) {
		if (write(1, "joined\n", 7) != 7)
			_exit(70);
		for (;;)
			pause();
	}
	return waitpid(child, NULL, 0) == child ? 0 : 70;
}
