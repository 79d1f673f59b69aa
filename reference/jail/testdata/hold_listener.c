/*
 * hold_listener: run a program under a filter whose listener is held.
 *
 * Arranges: a filter that allows everything, with a listener that its child
 * inherits in effect but never as a descriptor; then the program.
 * Used by:  the jail tests, as the surroundings of a supervisor.
 * Exit:     that of the program; 70 a call failed.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };
	int status;

	if (argc < 2 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0)
		return 70;
	pid_t child = fork();
	if (child == 0) {
		execv(argv[1], argv + 1);
		_exit(70);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 70;
	return WEXITSTATUS(status);
}
