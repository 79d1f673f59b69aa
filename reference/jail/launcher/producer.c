/* producer: from clone to exec, on trusted code only. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

/* Moves this process, its one thread, into the prepared v1 groups. */
static void
join_cgroups(const struct spec *spec)
{
	for (size_t i = 0; i < spec->ntasks; i++)
		if (write(spec->tasks[i], "0", 1) != 1)
			fail("join cgroup", "");
}

static int
move_up(int fd, int above)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, above);

	if (high < 0)
		fail("move descriptor", "");
	return high;
}

static void
place(int fd, int number, int flags)
{
	if (dup3(fd, number, flags) != number)
		fail("place descriptor", "");
}

/*
 * Gives every passed descriptor its exact number and closes all others.
 * Everything first moves above all numbers in play, so that no placement
 * can overwrite a source.
 */
static void
place_descriptors(const struct spec *spec)
{
	int high[MAX_FDS], above = spec->control + 1;

	for (size_t i = 0; i < spec->nfds; i++) {
		if (spec->target[i] >= above)
			above = spec->target[i] + 1;
		if (spec->source[i] >= above)
			above = spec->source[i] + 1;
	}
	if (control >= above)
		above = control + 1;
	for (size_t i = 0; i < spec->nfds; i++)
		high[i] = move_up(spec->source[i], above);
	control = move_up(control, above);
	if (syscall(SYS_close_range, 0, above - 1, 0) != 0)
		fail("close descriptors", "");
	for (size_t i = 0; i < spec->nfds; i++)
		place(high[i], spec->target[i], 0);
	place(control, spec->control, O_CLOEXEC);
	control = spec->control;
	if (syscall(SYS_close_range, above, ~0U, 0) != 0)
		fail("close high descriptors", "");
}

/* Nothing of the supervisor's keys is reachable; no keyrings is fine too. */
static void
fresh_session_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		fail("join session keyring", "");
}

/*
 * Loads the filter and hands its listener to S; a tool's has none. WAIT_KILLABLE_RECV is an
 * optional refinement of the kernel; the refusal rules do not rest on it.
 */
static void
load_filter(const struct spec *spec)
{
	unsigned int flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	if (spec->tool) {
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &spec->filter) != 0)
			fail("load filter", "");
		return;
	}
	int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &spec->filter);

	if (listener < 0 && errno == EINVAL)
		listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &spec->filter);
	if (listener < 0)
		fail("load filter", "");
	say(SAY_LISTENER, 0, listener);
	close(listener);
}

/* Tries the one call that S must see and refuse. */
static void
canary(void)
{
	long child = syscall(SYS_fork, CANARY_FIRST, CANARY_SECOND);

	if (child == 0)
		_exit(0);
	say(SAY_CANARY, child < 0 ? errno : 0, -1);
}

void
producer_main(const struct spec *spec)
{
	join_cgroups(spec);
	if (setsid() < 0)
		fail("start session", "");
	place_descriptors(spec);
	limit_resources(spec);
	umask(022);
	drop_all_privilege(spec->uid, 1);
	fresh_session_keyring();
	if (chdir("/") != 0)
		fail("enter root", "");
	load_filter(spec);
	say(SAY_READY, 0, -1);
	for (int order = hear(); order != ORDER_GO; order = hear()) {
		if (order != ORDER_CANARY)
			_exit(1);
		canary();
	}
	execve(spec->exe, spec->argv.at, spec->env.at);
	fail("exec", spec->exe);
}
