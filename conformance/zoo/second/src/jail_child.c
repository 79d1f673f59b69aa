/* From the fork of the producer to its exec: everything between runs in the supervisor's own trusted code. */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int plain_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	return sigprocmask(SIG_SETMASK, &none, NULL) ? errno : 0;
}

/* A core limit of one byte, not of none: of none the kernel still starts a helper that a core is piped to, and that
 * helper is no part of the domain. */
static int bounds(void)
{
	static const struct {
		int what;
		rlim_t limit;
	} list[] = {{RLIMIT_CORE, 1}, {RLIMIT_MEMLOCK, 0}, {RLIMIT_MSGQUEUE, 0}, {RLIMIT_AS, (rlim_t)4 << 30}};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (setrlimit(list[i].what, &(struct rlimit){list[i].limit, list[i].limit}) != 0)
			return errno;
	return 0;
}

/* Standard descriptors and the candidate stay; everything else is closed, or will be by exec. */
static int descriptors(const struct jail_child *child)
{
	int keep[3] = {child->candidate, child->word, child->go};
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0 || dup2(nothing, 0) < 0)
		return errno;
	if (dup2(child->diagnostic, 1) < 0 || dup2(child->diagnostic, 2) < 0)
		return errno;
	for (int fd = 3; fd < 4096; fd++)
		if (fd != keep[0] && fd != keep[1] && fd != keep[2])
			close(fd);
	if (close_range(4096, ~0u, 0) != 0)
		return errno;
	return fcntl(child->candidate, F_SETFD, 0) ? errno : 0;
}

static int drop_rights(uid_t id)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
	const unsigned long locked = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
	                             SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
			return errno;
	if (prctl(PR_SET_SECUREBITS, locked, 0, 0, 0) != 0 || setgroups(0, NULL) != 0)
		return errno;
	if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
		return errno;
	if (syscall(SYS_capset, &header, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return errno;
	return 0;
}

/* Where memory runs out, this process goes first: the supervisor and its worker must stay (R02). */
static int offer_for_reclaim(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "1000", 4) == 4;

	if (fd >= 0)
		close(fd);
	return done ? 0 : EACCES;
}

static int enclose(const struct jail_child *child)
{
	int error;

	if (setsid() < 0 || unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
		return errno;
	if ((error = offer_for_reclaim()) || (error = root_enter(child)) || (error = plain_signals()))
		return error;
	if ((error = bounds()) || (error = descriptors(child)))
		return error;
	umask(022);
	/* A session keyring of its own: the inherited one would outlive this run. */
	if (syscall(SYS_keyctl, 1 /* join session */, NULL) < 0 && errno != ENOSYS)
		return errno;
	return drop_rights(child->id);
}

static void start_producer(const struct jail_child *child)
{
	char candidate[48], library[256], bars[256];
	char *argv[] = {"second-producer", NULL, NULL, library, bars, NULL};
	char *environment[] = {candidate, "LC_ALL=C", NULL};

	argv[1] = child->request->operation == OPERATION_BACKTEST ? "backtest" : "capabilities";
	argv[2] = child->request->jailed ? "jailed" : "unjailed";
	snprintf(candidate, sizeof candidate, "OSPREY_ANSWER=%d", child->candidate);
	root_path(library, child->request->library);
	root_path(bars, child->request->bars ? child->request->bars : "none");
	execve("/app/second-producer", argv, environment);
}

void jail_child_run(const struct jail_child *child)
{
	struct jail_word word = {.listener = -1};
	char go;

	word.error = enclose(child);
	if (word.error == 0) {
		word.listener = filter_install();
		word.error = word.listener < 0 ? errno : 0;
	}
	if (write(child->word, &word, sizeof word) != sizeof word || word.error)
		_exit(126);
	if (read(child->go, &go, 1) == 1) {
		close(word.listener);
		start_producer(child);
	}
	_exit(127);
}
