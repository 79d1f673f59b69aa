/* The producer's processes: notifications, waits, the question whether anybody is left, and the two ways to end. */
#include "supervisor.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void read_listener(struct supervisor *s, uint32_t events)
{
	struct seccomp_notif notice;

	if ((events & EPOLLIN) == 0) { /* nobody runs under the filter any more */
		close_event(s, EVENT_LISTENER);
		return;
	}
	memset(&notice, 0, sizeof notice);
	if (ioctl(s->fd[EVENT_LISTENER], SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) {
		if (errno != EINTR && errno != ENOENT)
			close_event(s, EVENT_LISTENER);
		return;
	}
	const char *name = filter_operation(notice.data.arch, notice.data.nr);

	/* Never answered: the caller dies while it waits. */
	if (name)
		observe(s, RANK_ISOLATION, 0, "run_process_refused", "\"operation\":\"%s\"", name);
	else
		observe(s, RANK_ISOLATION, 1, "run_isolation_unavailable", "\"reason\":\"policy\"");
}

void reap_producer(struct supervisor *s)
{
	int status;

	if (wait4(s->jail.producer, &status, WNOHANG | __WALL, &s->used) != s->jail.producer)
		return;
	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		return;
	s->wait_status = status;
	s->reaped = true;
	s->run_to = now_ns();
	s->domain_until = after_ms(s->run_to, GRACE_MS);
	close_event(s, EVENT_PRODUCER);
	close_event(s, EVENT_LISTENER);
	s->asked = send(s->fd[EVENT_LINK], "q", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

void read_link(struct supervisor *s)
{
	char byte;
	ssize_t n = recv(s->fd[EVENT_LINK], &byte, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	s->answered = true;
	s->survivors = n != 1 || byte != 'e';
	if (s->survivors)
		observe(s, RANK_ISOLATION, 2, "run_isolation_unavailable", "\"reason\":\"policy\"");
	close_event(s, EVENT_LINK); /* its end: the namespace goes with it */
}

void reap_init(struct supervisor *s)
{
	int status;

	if (waitpid(s->jail.init, &status, WNOHANG | __WALL) != s->jail.init)
		return;
	s->domain_empty = true;
	close_event(s, EVENT_INIT);
}

static void signal_producer(struct supervisor *s, int number)
{
	if (s->fd[EVENT_PRODUCER] >= 0)
		syscall(SYS_pidfd_send_signal, s->fd[EVENT_PRODUCER], number, NULL, 0);
}

/* Kill at once, or after the grace where there is one to give (C-73). */
void stop_producer(struct supervisor *s)
{
	bool gentle = s->cause.rank == RANK_CANCEL || s->cause.rank == RANK_EXPIRY;

	s->stopping = true;
	s->candidate_ended = true;
	s->judged = true;
	close_event(s, EVENT_CANDIDATE);
	close_event(s, EVENT_WORKER);
	if (s->worker.pid > 0)
		kill(s->worker.pid, SIGKILL);
	if (!s->launched || s->reaped)
		return;
	s->kill_at = after_ms(now_ns(), gentle ? GRACE_MS : 0);
	if (gentle)
		signal_producer(s, SIGTERM);
	else
		force_producer(s);
}

void force_producer(struct supervisor *s)
{
	s->killed = true;
	s->reap_until = after_ms(now_ns(), GRACE_MS);
	signal_producer(s, SIGKILL);
}

/* True once the domain is known to be empty, or once waiting for that has no sense any more. */
bool domain_settled(struct supervisor *s)
{
	uint64_t now = now_ns();

	if (!s->launched || s->domain_empty)
		return true;
	if (!s->reaped)
		return s->killed && now >= s->reap_until;
	if (now < s->domain_until)
		return false;
	close_event(s, EVENT_LINK);
	syscall(SYS_pidfd_send_signal, s->jail.init_handle, SIGKILL, NULL, 0);
	return now >= after_ms(s->domain_until, GRACE_MS / 2);
}

/* What a kill that failed left alive: the record has told of it, and nothing may outlive this process all the same. */
void end_domain(struct supervisor *s)
{
	uint64_t until = after_ms(now_ns(), GRACE_MS / 2);

	if (!s->launched || s->domain_empty)
		return;
	if (!s->reaped)
		kill(s->jail.producer, SIGKILL);
	kill(s->jail.init, SIGKILL);
	while (!(s->reaped && s->domain_empty) && now_ns() < until) {
		s->reaped = s->reaped || waitpid(s->jail.producer, NULL, WNOHANG | __WALL) == s->jail.producer;
		s->domain_empty = s->domain_empty || waitpid(s->jail.init, NULL, WNOHANG | __WALL) == s->jail.init;
		poll(NULL, 0, 1);
	}
}
