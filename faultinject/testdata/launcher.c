/*
 * launcher: run PROGRAM as a supervisor would: in new namespaces, as user
 * 65534, under a seccomp filter whose listener this process keeps and answers
 * every fork with EPERM. Then write ten bytes to descriptor 1, in pieces if
 * the kernel takes them so.
 *
 * Prints to stderr how many short writes there were. Exit: as PROGRAM.
 */
#include "target.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

static void
jailed(int sock, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {5, code};
	must("setresuid", setresuid(65534, 65534, 65534));
	must("prctl", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	int fd = must("listener", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
	must("number", write(sock, &fd, sizeof fd));
	must("taken", read(sock, &fd, sizeof fd));
	execv(argv[1], argv + 1);
	_exit(70);
}

static void *
answer(void *arg)
{
	struct seccomp_notif request = {0};
	while (ioctl(*(int *)arg, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0) {
		struct seccomp_notif_resp reply = {.id = request.id, .error = -EPERM};
		ioctl(*(int *)arg, SECCOMP_IOCTL_NOTIF_SEND, &reply);
		memset(&request, 0, sizeof request);
	}
	return arg;
}

int
main(int argc, char **argv)
{
	int pair[2], number, status, shorts = 0;
	pthread_t id;
	if (argc < 2)
		usage("launcher PROGRAM");
	must("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	long spaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;
	pid_t pid = must("clone", syscall(SYS_clone, spaces | SIGCHLD, 0, 0, 0, 0));
	if (pid == 0)
		jailed(pair[1], argv);
	must("number", read(pair[0], &number, sizeof number));
	int pidfd = must("pidfd_open", syscall(SYS_pidfd_open, pid, 0));
	int listener = must("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, number, 0));
	if (pthread_create(&id, NULL, answer, &listener) != 0)
		return 70;
	must("taken", write(pair[0], &number, sizeof number));
	must("waitpid", waitpid(pid, &status, 0));
	for (int at = 0; at < 10; shorts += at < 10)
		at += must("report", write(1, "0123456789" + at, 10 - at));
	fprintf(stderr, "shorts=%d\n", shorts);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
