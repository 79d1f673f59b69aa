/* tool: a transpiler, compiler or binder that does what its words say, in order, up to the first argument that is none.
 *
 * Words: out=N, err=N (N bytes on 1 and 2), say=VARIABLE (its value, or "-", on 2), fork (a child that ends at once), leave
 *        (a helper that holds the output for ever), link=PATH (the library is a name for PATH), status=N,
 *        signal=N, spin, stubborn (ignore SIGTERM). A tool without
 *        words does nothing and ends with status 0.
 * Used by: the end-to-end tests of the entrypoint.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(int fd, long n)
{
	char block[4096];

	memset(block, 't', sizeof block);
	while (n > 0) {
		ssize_t taken = write(fd, block, n < (long)sizeof block ? (size_t)n : sizeof block);

		if (taken < 0)
			_exit(70);
		n -= taken;
	}
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void leave(void)
{
	pid_t child = fork();

	if (child < 0)
		_exit(71);
	if (child == 0) {
		setsid();
		signal(SIGTERM, SIG_IGN);
		wait_for_ever();
	}
}

static void have_helper(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		_exit(71);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		long n = value ? strtol(value + 1, NULL, 10) : 0;

		if (!strncmp(argv[i], "out=", 4))
			fill(1, n);
		else if (!strncmp(argv[i], "err=", 4))
			fill(2, n);
		else if (!strncmp(argv[i], "say=", 4))
			fprintf(stderr, "%s\n", getenv(value + 1) ? getenv(value + 1) : "-");
		else if (!strcmp(argv[i], "fork"))
			have_helper();
		else if (!strcmp(argv[i], "leave"))
			leave();
		else if (!strncmp(argv[i], "link=", 5))
			_exit(symlink(value + 1, "/touchstone-work/strategy.so") != 0);
		else if (!strncmp(argv[i], "status=", 7))
			_exit((int)n);
		else if (!strncmp(argv[i], "signal=", 7))
			raise((int)n);
		else if (!strcmp(argv[i], "stubborn"))
			signal(SIGTERM, SIG_IGN);
		else if (!strcmp(argv[i], "spin"))
			wait_for_ever();
		else
			break;
	}
	return 0;
}
