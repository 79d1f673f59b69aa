/*
 * store_file: write ten bytes to PATH.tmp, sync, close and rename it to PATH,
 * and say what each step returned.
 *
 * After the close it says whether the descriptor is still open: a failed
 * close has closed it. Exit: 0, whatever the steps returned.
 */
#include "target.h"

static void
say(const char *step, long result)
{
	dprintf(2, "%s=%d ", step, result < 0 ? errno : 0);
}

int
main(int argc, char **argv)
{
	char tmp[4096];

	if (argc != 2)
		usage("store_file PATH");
	snprintf(tmp, sizeof tmp, "%s.tmp", argv[1]);
	int fd = must("open", open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0644));
	say("write", write(fd, "0123456789", 10));
	say("fsync", fsync(fd));
	say("close", close(fd));
	dprintf(2, "open=%d ", fcntl(fd, F_GETFD) >= 0);
	say("rename", rename(tmp, argv[1]));
	dprintf(2, "\n");
	return 0;
}
