/* use_tool_domain: says what a tool can do in its domain, one line a try, with the errno that stopped it or 0, and
 * ends with status 3. With "leave" it first leaves a helper behind that holds its output for ever.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, int result)
{
	printf("%s: %d\n", what, result < 0 ? errno : 0);
	fflush(stdout);
}

/* A child that ends at once, made with the given flags. */
static int made(unsigned long flags)
{
	long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		_exit(0);
	return child < 0 ? -1 : waitpid((pid_t)child, NULL, 0) == child ? 0 : -1;
}

static int file(const char *path, size_t size)
{
	static char block[1 << 16];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755), result = 0;

	if (fd < 0)
		return -1;
	for (; size > 0 && result >= 0; size -= result < 0 ? 0 : (size_t)result)
		result = (int)write(fd, block, size < sizeof block ? size : sizeof block);
	close(fd);
	return result;
}

int main(int argc, char **argv)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	char *const none[] = { NULL };

	signal(SIGXFSZ, SIG_IGN);
	if (argc > 1 && strcmp(argv[1], "leave") == 0 && fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
	say("fork", made(0));
	pid_t child = vfork();
	if (child == 0)
		_exit(0);
	say("vfork", (int)child);
	say("clone3", (int)syscall(SYS_clone3, &args, sizeof args));
	say("parent", made(CLONE_PARENT));
	say("user namespace", made(CLONE_NEWUSER));
	say("mount namespace", made(CLONE_NEWNS));
	say("pid and net namespaces", made(CLONE_NEWPID | CLONE_NEWNET));
	say("unshare", unshare(CLONE_NEWUSER));
	say("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	say("read file", open("/given/source", O_RDONLY));
	say("write file", open("/given/source", O_WRONLY));
	say("write work", file("/touchstone-work/fits", 100000));
	say("write more", file("/touchstone-work/more", 100001));
	say("run work", execve("/touchstone-work/fits", none, none));
	say("write root", file("/file", 1));
	say("write other", file("/usr/file", 1));
	return 3;
}
