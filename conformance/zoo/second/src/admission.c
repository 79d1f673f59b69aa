#include "second.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int option_of(int fd, int name)
{
	int value = -1;
	socklen_t size = sizeof value;

	return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

static bool connected(int fd)
{
	struct sockaddr_un name;
	socklen_t size = sizeof name;

	return getpeername(fd, (struct sockaddr *)&name, &size) == 0;
}

/* A socket that only its owner's own side, or the peer's refusal to read, has shut for writing. A peer that is
 * gone shuts both ways: that is a transport failure of the run, not an option error. */
static bool shut_for_writing(const struct stat *st)
{
	uint32_t peer;
	unsigned shutdown;

	return unix_peer(st->st_ino, &peer, &shutdown) && shutdown == 2;
}

enum admitted admit_stream(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st) != 0)
		return REFUSED;
	if (S_ISFIFO(st.st_mode))
		return (flags & (O_ACCMODE | O_PATH)) == O_WRONLY ? ADMITTED : REFUSED;
	if (!S_ISSOCK(st.st_mode) || option_of(fd, SO_DOMAIN) != AF_UNIX || option_of(fd, SO_TYPE) != SOCK_STREAM)
		return REFUSED;
	return connected(fd) && !shut_for_writing(&st) ? ADMITTED : REFUSED;
}

enum admitted admit_terminal(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
		return REFUSED;
	if (option_of(fd, SO_DOMAIN) != AF_UNIX || option_of(fd, SO_TYPE) != SOCK_SEQPACKET)
		return REFUSED;
	if (option_of(fd, SO_ACCEPTCONN) != 0 || option_of(fd, SO_SNDBUF) < (int)TERMINAL_BYTES + 32)
		return REFUSED;
	return connected(fd) && !shut_for_writing(&st) ? ADMITTED : REFUSED;
}

bool same_channel(int one, int other)
{
	struct stat a, b;
	uint32_t peer;
	unsigned shutdown;

	if (fstat(one, &a) != 0 || fstat(other, &b) != 0)
		return false;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return true;
	if (!S_ISSOCK(a.st_mode) || !S_ISSOCK(b.st_mode) || a.st_dev != b.st_dev)
		return false;
	return unix_peer(a.st_ino, &peer, &shutdown) && peer == (uint32_t)b.st_ino;
}
