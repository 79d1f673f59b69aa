/* main: clone the init, join its namespaces, clone the producer. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

#define NAMESPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/*
 * Clones a child whose real parent is S. The exit signal must be 0 with
 * CLONE_PARENT; the kernel then takes ours, SIGCHLD. The kernel also writes
 * the pid into memory shared with S, so that no child is forgotten should
 * this process be killed before it can tell. A group, unless negative, is the
 * control group in which the child begins.
 */
static pid_t
clone_for_supervisor(uint64_t namespaces, int group, int32_t *shared, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_PIDFD | namespaces,
		.parent_tid = (uint64_t)(uintptr_t)shared,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
	};

	if (group >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)group;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* Descriptors are moved above every number that the producer may be given. */
static void
allow_high_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		fail("read descriptor limit", "");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		fail("raise descriptor limit", "");
}

/* Waits for init's byte and then for its end: by then it holds the lifeline only. */
static int
init_is_ready(int built)
{
	char byte;
	ssize_t got, total = 0;

	do {
		got = read(built, &byte, 1);
		total += got > 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	return total == 1;
}

static int32_t *
share_children(void)
{
	void *shared = mmap(NULL, 2 * sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_SHARED, FD_CHILDREN, 0);

	if (shared == MAP_FAILED)
		fail("share memory", "");
	close(FD_CHILDREN);
	return shared;
}

static int
clone_init(const struct spec *spec, int32_t *shared)
{
	int built[2], pidfd = -1;

	if (pipe2(built, O_CLOEXEC) != 0)
		fail("pipe", "");
	pid_t pid = clone_for_supervisor(NAMESPACES, -1, shared, &pidfd);
	if (pid < 0)
		fail("clone init", "");
	if (pid == 0) {
		close(built[0]);
		init_main(spec, built[1]);
	}
	close(built[1]);
	close(FD_LIFELINE);
	say(SAY_INIT, pid, pidfd);
	if (!init_is_ready(built[0]))
		_exit(1);	/* init has told S why */
	close(built[0]);
	return pidfd;
}

int
main(void)
{
	static struct spec spec;
	int pidfd = -1;

	reset_signals();
	spec_read(&spec);
	allow_high_descriptors();
	int32_t *shared = share_children();
	int init = clone_init(&spec, shared);
	if (setns(init, NAMESPACES) != 0)
		fail("join namespaces of init", "");
	close(init);
	pid_t pid = clone_for_supervisor(0, spec.group, shared + 1, &pidfd);
	if (pid < 0)
		fail("clone producer", "");
	if (pid == 0)
		producer_main(&spec);
	say(SAY_PRODUCER, pid, pidfd);
	return 0;
}
