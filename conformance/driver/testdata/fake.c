/* A launcher that does what its arguments say, one after another, and nothing else.
 *
 * usage: fake TERMINAL_FD LIBRARY PRODUCER STEP…    Steps: report=TEXT diagnostic=TEXT packet=TEXT (zero bytes allowed)
 * close=report|diagnostic|terminal  producer  producer-init (PID 1 of a new namespace)  publish (the candidate)
 * try (what is refused)  remove=PATH  show=FILE (to fd 2)  attack (every signal to process 1)  orphan  mount=DIR  group  file=PATH  segment  queue=/NAME  sleep-ms=N  flood (fd 2)  hang  exit=N  signal=N
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char candidate[1 << 20];
static size_t candidate_size;
static int terminal;

static void need(int ok, const char *what)
{
	if (!ok) {
		dprintf(2, "fake: %s: %s\n", what, strerror(errno));
		_exit(70);
	}
}

static void write_all(int fd, const char *from, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, from, n);
		need(done > 0, "write");
		from += done;
		n -= (size_t)done;
	}
}

static void be_producer(const char *producer, const char *library, int fd)
{
	need(dup2(2, 1) == 1 && dup2(fd, 77) == 77, "dup");
	close_range(3, 76, 0);
	close_range(78, ~0U, 0);
	setenv("CANDIDATE", "77", 1);
	execl(producer, producer, library, (char *)NULL);
	need(0, producer);
}

static void run_producer(const char *producer, const char *library, int as_init)
{
	int fds[2], status;
	ssize_t n;

	need(pipe2(fds, O_CLOEXEC) == 0, "pipe");
	need(!as_init || unshare(CLONE_NEWPID) == 0, "unshare");
	pid_t pid = fork();
	if (pid == 0)
		be_producer(producer, library, fds[1]);
	need(pid > 0 && close(fds[1]) == 0, "fork");
	while ((n = read(fds[0], candidate + candidate_size, sizeof candidate - candidate_size)) > 0)
		candidate_size += (size_t)n;
	close(fds[0]);
	need(waitpid(pid, &status, 0) == pid, "wait");
	if (WIFSIGNALED(status))
		dprintf(2, "producer signal %d\n", WTERMSIG(status));
}

static void make_group(void)
{
	char line[512], path[1024];
	FILE *own = fopen("/proc/self/cgroup", "r");

	while (own && fgets(line, sizeof line, own)) {
		line[strcspn(line, "\n")] = 0;
		char *at = strstr(line, ":memory:");
		if (at == NULL && strncmp(line, "0::", 3) != 0)
			continue;
		snprintf(path, sizeof path, "/sys/fs/cgroup/%s%s/left", at ? "memory" : "unified", at ? at + 8 : line + 3);
		if (mkdir(path, 0755) == 0)
			return;
		snprintf(path, sizeof path, "/sys/fs/cgroup%s/left", at ? at + 8 : line + 3);
		if (mkdir(path, 0755) == 0)
			return;
	}
	need(0, "group");
}

static void orphan(void)
{
	if (fork() == 0) {
		close_range(0, ~0U, 0);
		pause();
		_exit(0);
	}
}

static int named(const char *value)
{
	return strcmp(value, "report") == 0 ? 1 : strcmp(value, "diagnostic") == 0 ? 2 : terminal;
}

static void leave(const char *step, const char *value)
{
	if (strcmp(step, "mount") == 0)
		need(mount("tmpfs", value, "tmpfs", 0, "size=4096") == 0, "mount");
	else if (strcmp(step, "file") == 0)
		need(creat(value, 0600) >= 0, "file");
	else if (strcmp(step, "queue") == 0)
		need(mq_open(value, O_CREAT | O_RDWR, 0600, NULL) >= 0, "queue");
	else if (strcmp(step, "segment") == 0)
		need(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0, "segment");
	else if (strcmp(step, "group") == 0)
		make_group();
	else if (strcmp(step, "orphan") == 0)
		orphan();
	else
		need(0, step);
}

static void show(const char *path)
{
	char text[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY);

	need(fd >= 0, path);
	while ((n = read(fd, text, sizeof text)) > 0)
		write_all(2, text, (size_t)n);
	close(fd);
}

static const char *tried(int done) { return done >= 0 ? "ok" : strerrorname_np(errno); }

/* What this process is refused, in the order of scenario.Deprived's words. */
static void try_all(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	dprintf(2, "namespace %s, ", tried(unshare(CLONE_NEWNET)));
	dprintf(2, "filter %s, ", tried(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action)));
	dprintf(2, "privilege %s, ", tried(sethostname("x", 1)));
	dprintf(2, "descriptor %s", tried(fcntl(0, F_DUPFD, 200)));
}

static void take(const char *step, const char *value, char **argv)
{
	int number = atoi(value);

	if (strcmp(step, "report") == 0 || strcmp(step, "diagnostic") == 0)
		write_all(named(step), value, strlen(value));
	else if (strcmp(step, "packet") == 0)
		need(send(terminal, value, strlen(value), 0) >= 0, "send");
	else if (strcmp(step, "close") == 0)
		close(named(value));
	else if (strncmp(step, "producer", 8) == 0)
		run_producer(argv[3], argv[2], step[8] != 0);
	else if (strcmp(step, "publish") == 0)
		write_all(1, candidate, candidate_size);
	else if (strcmp(step, "show") == 0)
		show(value);
	else if (strcmp(step, "sleep-ms") == 0)
		nanosleep(&(struct timespec){number / 1000, number % 1000 * 1000000L}, NULL);
	else if (strcmp(step, "flood") == 0)
		for (;;) write_all(2, candidate, sizeof candidate);
	else if (strcmp(step, "try") == 0)
		try_all();
	else if (strcmp(step, "remove") == 0)
		dprintf(2, "remove %s", tried(unlink(value)));
	else if (strcmp(step, "hang") == 0)
		for (;;) pause();
	else if (strcmp(step, "attack") == 0)
		for (int s = 1; s < NSIG; s++) kill(1, s);
	else if (strcmp(step, "exit") == 0)
		_exit(number);
	else if (strcmp(step, "signal") == 0)
		kill(getpid(), number);
	else
		leave(step, value);
}

int main(int argc, char **argv)
{
	terminal = atoi(argv[1]);
	for (int i = 4; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (value)
			*value++ = 0;
		take(argv[i], value ? value : "", argv);
	}
	return 0;
}
