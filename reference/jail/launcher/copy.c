/*
 * copy: files that the private root holds copies of. What a tool made is given
 * this way: the copy shares nothing with the folder that the tool could write.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

enum { MAX_COPIES = 16, PAGE = 4096 };

static int source[MAX_COPIES];

/* Opens what is to be copied, and returns the room that the copies need, in bytes. No symlink is followed. */
uint64_t
copies_take(const struct spec *spec)
{
	struct stat st;
	uint64_t room = 0;

	if (spec->copies.n > MAX_COPIES) {
		errno = E2BIG;
		fail("too many copies", "");
	}
	for (size_t i = 0; i < spec->copies.n; i++) {
		source[i] = open(spec->from.at[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (source[i] < 0 || fstat(source[i], &st) != 0)
			fail("open", spec->from.at[i]);
		if (!S_ISREG(st.st_mode)) {
			errno = EINVAL;
			fail("no file", spec->from.at[i]);
		}
		room += ((uint64_t)st.st_size / PAGE + 2) * PAGE;
	}
	return room;
}

static void
copy(int from, int to, const char *path)
{
	char block[65536];
	ssize_t got, done;

	while ((got = read(from, block, sizeof block)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			fail("read for", path);
		for (ssize_t at = 0; at < got; at += done) {
			done = write(to, block + at, (size_t)(got - at));
			if (done < 0 && errno == EINTR)
				done = 0;
			if (done < 0)
				fail("write", path);
		}
	}
}

/* Makes the copies in the new root, which is sealed behind them. */
void
copies_give(const struct spec *spec)
{
	for (size_t i = 0; i < spec->copies.n; i++) {
		const char *path = spec->copies.at[i];
		make_parents(path);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0555);
		if (fd < 0)
			fail("make file", path);
		copy(source[i], fd, path);
		if (close(fd) != 0 || close(source[i]) != 0)
			fail("close", path);
	}
}
