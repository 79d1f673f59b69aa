#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum jail_result because(int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
		return JAIL_DESCRIPTOR;
	case ENOSYS:
	case EINVAL:
	case ENODEV:
		return JAIL_PLATFORM;
	}
	return JAIL_POLICY;
}

/* Private streams. The candidate's number is whatever the kernel gives, but never a number with a meaning. */
static int make_streams(struct jail *jail, struct jail_child *child, int word[2], int go[2])
{
	int diagnostic[2], candidate[2];

	if (pipe2(diagnostic, O_CLOEXEC) != 0 || pipe2(candidate, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(word, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0)
		return errno;
	jail->diagnostic = diagnostic[0];
	jail->candidate = candidate[0];
	child->diagnostic = diagnostic[1];
	child->candidate = candidate[1];
	child->word = word[1];
	child->go = go[0];
	if (fcntl(diagnostic[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(candidate[0], F_SETFL, O_NONBLOCK) != 0)
		return errno;
	if (child->candidate != 5)
		return 0;
	child->candidate = fcntl(candidate[1], F_DUPFD_CLOEXEC, 6);
	close(candidate[1]);
	return child->candidate < 0 ? errno : 0;
}

static bool hear(int fd, struct jail_word *word, uint64_t deadline)
{
	uint64_t now = now_ns();
	int left = now < deadline ? (int)((deadline - now) / 1000000 + 1) : 0;
	int ready;

	do
		ready = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, left > 60000 ? 60000 : left);
	while (ready < 0 && errno == EINTR);
	return ready > 0 && read(fd, word, sizeof *word) == sizeof *word;
}

/* The namespace's first process and the producer's process, both children of this one. */
static int start_both(struct jail *jail, const struct jail_child *child)
{
	if (unshare(CLONE_NEWPID) != 0)
		return errno;
	jail->init = init_start(&jail->init_link);
	if (jail->init < 0)
		return errno;
	jail->init_handle = (int)syscall(SYS_pidfd_open, jail->init, 0);
	jail->producer = fork();
	if (jail->producer == 0)
		jail_child_run(child);
	if (jail->producer < 0)
		return errno;
	jail->producer_handle = (int)syscall(SYS_pidfd_open, jail->producer, 0);
	return jail->init_handle < 0 || jail->producer_handle < 0 ? errno : 0;
}

static enum jail_result release(struct jail *jail, const struct jail_child *child, int word, int go, uint64_t deadline)
{
	struct jail_word heard;

	if (!hear(word, &heard, deadline))
		return JAIL_POLICY;
	if (heard.error)
		return because(heard.error);
	jail->listener = (int)syscall(SYS_pidfd_getfd, jail->producer_handle, heard.listener, 0);
	if (jail->listener < 0 || !attest(jail->producer, child))
		return JAIL_POLICY;
	return write(go, "g", 1) == 1 ? JAIL_READY : JAIL_POLICY;
}

enum jail_result jail_start(struct jail *jail, const struct request *request, const struct launch *launch,
                            uint64_t deadline)
{
	struct jail_child child = {.request = request, .spool = launch->spool, .attempt = launch->attempt};
	char part[4] = {launch->attempt[0], launch->attempt[1], launch->attempt[2], '\0'};
	int word[2], go[2], error;

	child.id = PRODUCER_ID + (uid_t)strtoul(part, NULL, 16);
	error = make_streams(jail, &child, word, go);
	if (error == 0)
		error = start_both(jail, &child);
	if (error)
		return because(error);
	close(child.diagnostic);
	close(child.candidate);
	close(word[1]);
	close(go[0]);
	enum jail_result result = release(jail, &child, word[0], go[1], deadline);

	close(word[0]);
	close(go[1]);
	return result;
}
