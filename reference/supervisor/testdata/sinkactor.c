/* sinkactor: the actor's words about the native sink.
 *
 * Arranges: native sinks of every kind. Words: sink (the whole file that --so names), sink=N (its next N bytes), end
 *           (close the sink), hold (a duplicate of it stays open), snapshot (wait for the snapshot and print what came
 *           with it and what can be done to it on 2), deaf (take no descriptors), keep (print the errno of sending the candidate on the snapshot
 *           socket). Without a word that begins with "sink" or "hold" the sink is closed before the first word.
 * Used by:  the end-to-end tests of the supervisor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "actor.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

static int sink = -1, snapshot = -1, source = -1;

void open_sink(const char *words, const char *path)
{
	source = path ? open(path, O_RDONLY) : -1;
	sink = getenv("TOUCHSTONE_SINK_FD") ? atoi(getenv("TOUCHSTONE_SINK_FD")) : -1;
	snapshot = getenv("TOUCHSTONE_SNAPSHOT_FD") ? atoi(getenv("TOUCHSTONE_SNAPSHOT_FD")) : -1;
	if (words && !strstr(words, "sink") && !strstr(words, "hold"))
		close(sink);
}

/* copy passes on the next n bytes of the source, all of them if n is 0. */
static void copy(size_t n)
{
	static char block[65536];
	ssize_t got;

	for (size_t left = n; n == 0 || left > 0; left -= (size_t)got) {
		got = read(source, block, n && left < sizeof block ? left : sizeof block);
		if (got <= 0)
			return;
		all(sink, block, (size_t)got);
	}
}

static int receive(char *packet, size_t size, ssize_t *length)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {packet, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *header;
	int fd = -1;

	*length = recvmsg(snapshot, &message, 0);
	header = CMSG_FIRSTHDR(&message);
	if (*length > 0 && header)
		memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

static void show(void)
{
	char packet[4096], byte;
	struct stat stat = {0};
	ssize_t length, next;
	int fd = receive(packet, sizeof packet, &length), writes, maps;

	if (length <= 0)
		_exit(1);
	fstat(fd, &stat);
	writes = pwrite(fd, "x", 1, 0) < 0 ? errno : 0;
	maps = mmap(NULL, 1, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0;
	receive(&byte, 1, &next);
	dprintf(2, "%.*s size=%lld mode=%o uid=%d flags=%d write=%d map=%d chmod=%d cut=%d next=%zd", (int)length, packet,
		(long long)stat.st_size, stat.st_mode & 07777, stat.st_uid != getuid(), fcntl(fd, F_GETFL) & O_ACCMODE, writes,
		maps, fchmod(fd, 0666) ? errno : 0, ftruncate(fd, 0) ? errno : 0, next);
}

int act_on_sink(const char *word, const char *value, long n)
{
	if (!strcmp(word, "sink"))
		copy(value ? (size_t)n : 0);
	else if (!strcmp(word, "end"))
		close(sink);
	else if (!strcmp(word, "hold"))
		dup(sink);
	else if (!strcmp(word, "snapshot"))
		show();
	else if (!strcmp(word, "deaf"))
		setsockopt(snapshot, SOL_SOCKET, SO_PASSRIGHTS, &(int){0}, sizeof(int));
	else if (!strcmp(word, "keep"))
		dprintf(2, "send=%d", send(snapshot, "x", 1, MSG_NOSIGNAL) < 0 ? errno : 0);
	else
		return 0;
	return 1;
}
