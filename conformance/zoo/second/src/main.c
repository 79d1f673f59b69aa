#include "supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Standard descriptors that the host left closed are occupied, so that nothing of ours can be taken for an endpoint.
 * An O_PATH descriptor is refused at admission. */
static bool hold_standard(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) != fd)
			return false;
	return true;
}

static void refuse(struct supervisor *s, const char *code, const char *args)
{
	observe(s, RANK_ISOLATION, 9, code, "%s", args);
	latch(s);
}

/* Everything that is decided before any work (R01, R03, R07). */
static void admit(struct supervisor *s)
{
	struct request *request = &s->request;
	bool alias = same_channel(1, 2);

	s->terminal_good = request->terminal >= 0 && admit_terminal(request->terminal) == ADMITTED;
	if (s->terminal_good && (same_channel(request->terminal, 1) || same_channel(request->terminal, 2)))
		s->terminal_good = false;
	s->streams_good = s->terminal_good && !alias && admit_stream(1) == ADMITTED && admit_stream(2) == ADMITTED;
	if (!s->streams_good || request->refused || s->launch.bad_attempt || s->launch.bad_option)
		refuse(s, "run_request_invalid", "\"option\":\"arguments\"");
	else if (request->mode && strcmp(request->mode, "STREAMED") == 0)
		refuse(s, "report_mode_unsupported", "\"contract\":\"pineforge-report/v1\",\"mode\":\"STREAMED\"");
	else if (request->mode)
		refuse(s, "report_mode_unsupported", "\"contract\":\"pineforge-report/v1\",\"mode\":\"SUMMARY_ONLY\"");
	else if (s->launch.no_attempt || s->launch.no_grant)
		refuse(s, "run_isolation_unavailable", "\"reason\":\"policy\"");
}

/* The arena of the jailed profile: shared memory at descriptor 5. It stays with the supervisor (C-70). */
static bool arena_there(void)
{
	struct stat st;

	return fstat(5, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && fcntl(5, F_GET_SEALS) >= 0;
}

static const char *start(struct supervisor *s)
{
	static const char *const reasons[] = {
		[JAIL_PLATFORM] = "\"reason\":\"platform\"",
		[JAIL_POLICY] = "\"reason\":\"policy\"",
		[JAIL_DESCRIPTOR] = "\"reason\":\"descriptor\"",
	};

	if (s->request.jailed && !arena_there())
		return reasons[JAIL_DESCRIPTOR];
	if (worker_start(&s->worker, &s->request, s->launch.spool, effective(s, KNOB_REPORT), wall_end(s)) != RESERVED)
		return reasons[JAIL_POLICY];
	enum jail_result result = jail_start(&s->jail, &s->request, &s->launch, wall_end(s));

	if (result != JAIL_READY)
		return reasons[result];
	s->launched = true;
	s->run_from = now_ns();
	return NULL;
}

static void end_process(pid_t pid)
{
	if (pid > 0 && kill(pid, SIGKILL) == 0)
		waitpid(pid, NULL, __WALL);
}

/* Whatever still runs. A process that the loop has reaped is not touched: its number may be somebody else's. */
static void end_started(struct supervisor *s)
{
	end_process(s->worker.pid);
	if (!s->launched) {
		end_process(s->jail.producer);
		end_process(s->jail.init);
	} else if (!s->domain_empty) {
		if (!s->reaped)
			kill(s->jail.producer, SIGKILL);
		kill(s->jail.init, SIGKILL);
	}
	s->publish_to = now_ns();
}

static int open_loop(struct supervisor *s)
{
	sigset_t cancel;

	sigemptyset(&cancel);
	sigaddset(&cancel, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &cancel, NULL) != 0)
		return -1;
	for (int i = 0; i < EVENTS; i++)
		s->fd[i] = -1;
	s->fd[EVENT_CANCEL] = signalfd(-1, &cancel, SFD_CLOEXEC | SFD_NONBLOCK);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	return s->epoll < 0 || s->fd[EVENT_CANCEL] < 0 ? -1 : 0;
}

/* Hands the streams over to the loop. */
static void attach(struct supervisor *s)
{
	if (s->launched) {
		s->fd[EVENT_LISTENER] = s->jail.listener;
		s->fd[EVENT_DIAGNOSTIC] = s->jail.diagnostic;
		s->fd[EVENT_CANDIDATE] = s->jail.candidate;
		s->fd[EVENT_WORKER] = s->worker.socket;
		s->fd[EVENT_PRODUCER] = s->jail.producer_handle;
		s->fd[EVENT_LINK] = s->jail.init_link;
		s->fd[EVENT_INIT] = s->jail.init_handle;
	}
	s->fd[EVENT_REPORT_OUT] = 1;
	s->fd[EVENT_DIAGNOSTIC_OUT] = 2;
	s->report_out = (struct output){.event = EVENT_REPORT_OUT, .order = ORDER_REPORT, .name = "report",
	                                .channel = &s->report, .open = true};
	s->diagnostic_out = (struct output){.event = EVENT_DIAGNOSTIC_OUT, .order = ORDER_DIAGNOSTIC, .name = "diagnostic",
	                                    .channel = &s->diagnostic, .open = true};
	fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
	fcntl(2, F_SETFL, fcntl(2, F_GETFL) | O_NONBLOCK);
}

/* Facts that only the end can settle: what was delivered whole, and whether a source ended by itself (C-43). */
static void settle(struct supervisor *s)
{
	struct output *report = &s->report_out, *diagnostics = &s->diagnostic_out;
	bool cut = s->launched && (!s->reaped || WIFSIGNALED(s->wait_status) || s->killed);

	close_output(s, report);
	close_output(s, diagnostics);
	latch(s);
	if (cut) {
		s->candidate.source_known = false;
		s->diagnostic.source_known = false;
	}
	if (!s->launched)
		s->diagnostic.source_known = true;
	s->report.truncated |= s->report.written < s->report.accepted;
	s->diagnostic.truncated |= s->diagnostic.written < s->diagnostic.accepted;
	s->report.source_known = true;
	s->report.complete = report->done && s->report.accepted > 0 && s->report.written == s->report.accepted;
	s->diagnostic.complete = s->diagnostic.source_known && s->diagnostic.written == s->diagnostic.accepted &&
	                         !s->diagnostic.truncated && (diagnostics->done || !s->launched);
	s->candidate.complete &= s->candidate.source_known;
}

/* Starts everything. What is not there when W ends is late, not unavailable. */
static void start_within(struct supervisor *s)
{
	const char *why = start(s);

	if (why == NULL)
		return;
	s->expired = now_ns() >= wall_end(s);
	if (s->expired)
		refuse(s, "run_deadline_exceeded", "\"stage\":\"prepare\"");
	else
		refuse(s, "run_isolation_unavailable", why);
}

static int supervise(struct supervisor *s)
{
	if (!LATCHED(s))
		start_within(s);
	if (s->streams_good && effective(s, KNOB_REPORT) != NOTHING && effective(s, KNOB_WALL) != NOTHING &&
	    effective(s, KNOB_STALL) != NOTHING) {
		attach(s);
		run_loop(s);
		settle(s);
	} else {
		s->report.source_known = true;
		close(1);
		close(2);
	}
	end_started(s);
	s->exit_status = exit_of(&s->cause);
	if (!s->terminal_good)
		return s->exit_status ? s->exit_status : 1;
	bool told = send_record(s);

	end_domain(s);
	return told || s->exit_status ? s->exit_status : 1;
}

int main(int argc, char **argv)
{
	static struct supervisor s;
	bool held = hold_standard();

	(void)argc;
	s.started = now_ns();
	s.cause.rank = s.seen.rank = RANK_NONE;
	request_read(&s.request, argv);
	if (!s.request.active)
		legacy_run(&s.request);
	if (!held || close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0 || open_loop(&s) != 0)
		return 1;
	sha256_start(&s.candidate.hash);
	sha256_start(&s.report.hash);
	sha256_start(&s.diagnostic.hash);
	launch_read(&s.launch, &s.request);
	admit(&s);
	return supervise(&s);
}
