/*
 * fake: a supervisor that does as it is told, word for word.
 *
 * Arranges: bytes, packets and ends that no honest supervisor would send.
 *   ID WORD…  ID is the attempt's; it replaces 32 @ in whatever is sent.
 *   send=FD:FILE packet=FILE fill=FD:N trickle=FD:N empty close=FD exit=N kill=N stop
 *   orphan (holds every channel) stray (holds none) leave=FILE await (a SIGTERM) number=FILE (own pid)
 *   copy=FILE:FILE sink=NAME (nothing)
 *   group=FOLDER (makes a control group and leaves a process in it)
 * Exit: as told; 0 after the last word; 70 a call failed that no test arranged.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void must(long ok)
{
	if (ok < 0)
		_exit(70);
}

static sigset_t stop; /* held back until a word awaits it */

static void put(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);
		if (n <= 0)
			_exit(71); /* the reader has gone: no word that follows counts */
		bytes += n, size -= (size_t)n;
	}
}

/* load reads a file and puts the identity in its place. */
static char *load(const char *path, const char *id, size_t *size)
{
	struct stat stat;
	int fd = open(path, O_RDONLY);
	must(fd), must(fstat(fd, &stat));
	char *bytes = malloc((size_t)stat.st_size + 1);
	*size = (size_t)read(fd, bytes, (size_t)stat.st_size);
	bytes[*size] = 0;
	char *place = strstr(bytes, "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@");
	if (place)
		memcpy(place, id, 32);
	close(fd);
	return bytes;
}

static void fork_and_wait(int holds, const char *group)
{
	int ready[2];
	must(pipe(ready));
	pid_t pid = fork();
	must(pid);
	if (pid > 0) { /* go on once the child is where it belongs */
		close(ready[1]);
		must(read(ready[0], &pid, 1));
		close(ready[0]);
		return;
	}
	if (group) {
		must(mkdir(group, 0755)), must(chdir(group));
		int fd = open("cgroup.procs", O_WRONLY);
		must(fd), must(write(fd, "0", 1));
		close(fd), must(chdir("/"));
	}
	close(ready[0]), close(ready[1]);
	for (int fd = 0; !holds && fd < 16; fd++)
		close(fd);
	for (;;)
		pause();
}

static void pattern(int fd, long n, int slowly)
{
	char block[4096];
	memset(block, 'x', sizeof block);
	while (n > 0) {
		long part = slowly ? 1 : n < (long)sizeof block ? n : (long)sizeof block;
		put(fd, block, (size_t)part);
		n -= part;
		if (slowly)
			nanosleep(&(struct timespec){0, 2000000}, NULL);
	}
}

static void act(const char *word, const char *id)
{
	size_t size;
	int fd = 0;
	long n = 0;
	char name[4096] = "", target[4096] = "";
	char *bytes;

	if (sscanf(word, "send=%d:%4095s", &fd, name) == 2) {
		bytes = load(name, id, &size);
		put(fd, bytes, size);
	} else if (sscanf(word, "packet=%4095s", name) == 1) {
		bytes = load(name, id, &size);
		must(send(3, bytes, size, MSG_NOSIGNAL));
	} else if (sscanf(word, "fill=%d:%ld", &fd, &n) == 2)
		pattern(fd, n, 0);
	else if (sscanf(word, "trickle=%d:%ld", &fd, &n) == 2)
		pattern(fd, n, 1);
	else if (!strcmp(word, "empty"))
		must(send(3, "", 0, MSG_NOSIGNAL));
	else if (sscanf(word, "close=%d", &fd) == 1)
		must(close(fd));
	else if (sscanf(word, "exit=%d", &fd) == 1)
		exit(fd);
	else if (sscanf(word, "kill=%d", &fd) == 1)
		raise(fd);
	else if (!strcmp(word, "stop"))
		raise(SIGSTOP);
	else if (!strcmp(word, "orphan"))
		fork_and_wait(1, NULL);
	else if (!strcmp(word, "stray"))
		fork_and_wait(0, NULL);
	else if (sscanf(word, "copy=%4095[^:]:%4095s", name, target) == 2) {
		bytes = load(name, id, &size);
		fd = open(target, O_WRONLY | O_CREAT | O_EXCL, 0600);
		must(fd);
		put(fd, bytes, size);
	} else if (!strncmp(word, "sink=", 5))
		return;
	else if (sscanf(word, "group=%4095s", name) == 1)
		fork_and_wait(0, name);
	else if (sscanf(word, "leave=%4095s", name) == 1)
		must(open(name, O_WRONLY | O_CREAT, 0600));
	else if (sscanf(word, "number=%4095s", name) == 1) {
		FILE *file = fopen(name, "w");
		fprintf(file, "%d\n", getpid());
		fclose(file);
	} else if (!strcmp(word, "await")) {
		must(-sigwait(&stop, &fd));
	} else
		_exit(70);
}

int main(int argc, char **argv)
{
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	must(sigprocmask(SIG_BLOCK, &stop, NULL));
	for (int i = 2; i < argc; i++)
		act(argv[i], argv[1]);
	return 0;
}
