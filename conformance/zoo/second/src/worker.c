/* The worker: keeps the candidate in an unnamed file of the spool, judges it and hands it back. It is the only part
 * that touches the file system or parses what the producer wrote; the supervisor can kill it at any time (R09). */
#include "second.h"
#include "shape.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool put(int fd, const void *bytes, size_t n)
{
	const char *from = bytes;

	while (n > 0) {
		ssize_t done = write(fd, from, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from += done;
		n -= (size_t)done;
	}
	return true;
}

/* Reads to the end of the stream. The first impossible byte is reported at once; what follows is only kept. */
static void judge(int socket, int file, struct shape *shape, struct verdict *verdict)
{
	static unsigned char bytes[CHUNK_BYTES];
	ssize_t n;

	verdict->kind = 0;
	while ((n = read(socket, bytes, sizeof bytes)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || !put(file, bytes, (size_t)n)) {
			verdict->kind = n < 0 ? VERDICT_FAULT : VERDICT_STORAGE;
			return;
		}
		verdict->kind = shape_add(shape, bytes, (size_t)n);
		if (verdict->kind)
			return;
	}
	shape_finish(shape, verdict);
}

static void hand_back(int socket, int file)
{
	static char bytes[CHUNK_BYTES];
	ssize_t n;

	if (lseek(file, 0, SEEK_SET) != 0)
		return;
	while ((n = read(file, bytes, sizeof bytes)) > 0)
		if (!put(socket, bytes, (size_t)n))
			return;
}

static void work(int socket, const struct request *request, const char *spool, uint64_t bytes)
{
	static struct shape shape;
	static struct verdict verdict;
	int file = open(spool, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	bool kept = file >= 0 && bytes <= INT64_MAX && fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0;
	char answer = kept && shape_start(&shape, request->operation) == 0 ? 'y' : 'n';

	if (!put(socket, &answer, 1) || answer == 'n')
		return;
	judge(socket, file, &shape, &verdict);
	if (put(socket, &verdict, sizeof verdict) && verdict.kind == VERDICT_REPORT)
		hand_back(socket, file);
}

static enum reserved wait_answer(int socket, uint64_t deadline)
{
	char answer = 'n';

	for (;;) {
		uint64_t now = now_ns();
		int left = now < deadline ? (int)((deadline - now) / 1000000 + 1) : 0;
		int ready = poll(&(struct pollfd){.fd = socket, .events = POLLIN}, 1, left > 60000 ? 60000 : left);

		if (ready > 0 && read(socket, &answer, 1) == 1)
			return answer == 'y' ? RESERVED : NOT_RESERVED;
		if (ready > 0 || (ready < 0 && errno != EINTR))
			return NO_WORKER;
		if (now >= deadline)
			return NO_WORKER;
	}
}

enum reserved worker_start(struct worker *worker, const struct request *request, const char *spool, uint64_t bytes,
                           uint64_t deadline)
{
	int pair[2];

	if (spool == NULL)
		return NOT_RESERVED;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return NO_WORKER;
	worker->pid = fork();
	if (worker->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(pair[1], 0) == 0) {
			close_range(1, ~0u, 0);
			work(0, request, spool, bytes);
		}
		_exit(0);
	}
	close(pair[1]);
	worker->socket = pair[0];
	return worker->pid < 0 ? NO_WORKER : wait_answer(pair[0], deadline);
}
