/*
 * end_as_told: end the way the argument says.
 *
 * Arranges: exit-N: that exit status; signal-N: that signal, raised by
 * itself; wait: an endless pause with SIGTERM ignored.
 * Used by:  the jail tests.
 * Exit:     as told; 2 for another argument.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int number;

	if (sscanf(how, "exit-%d", &number) == 1)
		return number;
	if (sscanf(how, "signal-%d", &number) == 1)
		return raise(number);
	if (strcmp(how, "wait") != 0)
		return 2;
	signal(SIGTERM, SIG_IGN);
	if (write(1, "waiting\n", 8) != 8)
		return 2;
	for (;;)
		pause();
}
