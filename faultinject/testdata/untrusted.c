/*
 * untrusted: say what a program can see of a tracer, then write one byte to
 * descriptor 1 and try to fork.
 *
 * Prints one line to stderr. Exit: 0.
 */
#include "target.h"
#include <sys/ptrace.h>

int
main(void)
{
	char line[256];
	int pid;
	FILE *f = fopen("/proc/self/status", "r");
	if (f == NULL)
		return 70;
	while (fgets(line, sizeof line, f) != NULL)
		if (!strncmp(line, "TracerPid", 9) || !strncmp(line, "Seccomp", 7) || !strncmp(line, "NoNewPrivs", 10)) {
			line[strcspn(line, "\n")] = ' ';
			line[strcspn(line, "\t")] = '=';
			dprintf(2, "%s", line);
		}
	fclose(f);
	dprintf(2, "uid=%d write=%d ", (int)getuid(), write(1, "u", 1) < 0 ? errno : 0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	dprintf(2, "fork=%d ", pid < 0 ? errno : 0);
	if (pid > 0)
		must("wait", wait(NULL));
	dprintf(2, "traceme=%ld\n", ptrace(PTRACE_TRACEME, 0, 0, 0));
	return 0;
}
