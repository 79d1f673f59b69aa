/* identity: ids, capabilities, limits, signals of init and producer. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

/* Empties the bounding set: whatever the kernel knows, also if we do not. */
static void
drop_bounding_set(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) != 0)
			fail("drop bounding capability", "");
	if (errno != EINVAL)
		fail("read bounding set", "");
}

static void
clear_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		fail("clear ambient capabilities", "");
	if (syscall(SYS_capset, &header, none) != 0)
		fail("clear capabilities", "");
}

/*
 * Leaves the process without any way back to privilege. The order is fixed:
 * bounding set and securebits need CAP_SETPCAP, the ids need CAP_SETUID, and
 * with the fixup off only capset takes the capabilities away.
 */
void
drop_all_privilege(uint32_t uid, int change_uid)
{
	unsigned long bits = SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_CAP_AMBIENT_RAISE;
	unsigned long locks = SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
	    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	drop_bounding_set();
	if (prctl(PR_SET_SECUREBITS, bits | locks, 0, 0, 0) != 0)
		fail("lock securebits", "");
	if (setgroups(0, NULL) != 0)
		fail("clear groups", "");
	if (change_uid && setresgid(uid, uid, uid) != 0)
		fail("change gid", "");
	if (change_uid && setresuid(uid, uid, uid) != 0)
		fail("change uid", "");
	clear_capabilities();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		fail("set no_new_privs", "");
}

/* Sets both limits to value, or leaves a lower hard limit: raising needs a right that S may lack. */
static void
limit(int resource, rlim_t value, const char *name)
{
	struct rlimit both;

	if (getrlimit(resource, &both) != 0)
		fail("read limit", name);
	if (both.rlim_max > value)
		both.rlim_max = value;
	both.rlim_cur = both.rlim_max;
	if (setrlimit(resource, &both) != 0)
		fail("limit", name);
}

/*
 * A core limit of 0 does not stop a core pipe helper, 1 does; S attests the
 * 1, so a lower hard limit of its own is a refusal. The stack is
 * bounded so that an unlimited one of S does not change the memory layout.
 */
void
limit_resources(const struct spec *spec)
{
	rlim_t descriptors = 1024;

	for (size_t i = 0; i < spec->nfds; i++)
		if ((rlim_t)spec->target[i] >= descriptors)
			descriptors = (rlim_t)spec->target[i] + 1;
	limit(RLIMIT_CORE, 1, "core");
	limit(RLIMIT_MEMLOCK, 0, "memlock");
	limit(RLIMIT_MSGQUEUE, 0, "msgqueue");
	limit(RLIMIT_NICE, 0, "nice");
	limit(RLIMIT_RTPRIO, 0, "rtprio");
	limit(RLIMIT_STACK, 8 << 20, "stack");
	limit(RLIMIT_NOFILE, descriptors, "nofile");
	if (spec->file_bytes > 0)
		limit(RLIMIT_FSIZE, spec->file_bytes, "fsize");
}

/* Default disposition and an empty mask, whatever S uses. */
void
reset_signals(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		if (number != SIGKILL && number != SIGSTOP)
			sigaction(number, &plain, NULL);	/* two numbers of libc are refused */
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		fail("clear signal mask", "");
}
