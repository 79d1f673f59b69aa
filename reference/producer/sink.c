/*
 * sink: where the module's native sink goes, and what is left of it for the
 * document.
 *
 * Supervised, its descriptor is given, the targets are the supervisor's, and
 * an automatic sink comes back as a snapshot. Unsupervised this program owns
 * them: a private temporary file of its own, one beside the named target that
 * is renamed at the end, or the caller's descriptor.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "producer.h"

#define SINK_IO "{\"reason\":\"sink_io\"}"

static int writer = -1;		/* given to the module; the last one of this process */
static int reader = -1;		/* of an own file */
static char *partial;		/* its name until it is renamed; NULL when there is none to remove */

static _Noreturn void
fail_io(const char *what)
{
	fail("report_sink_failed", SINK_IO, "%s: %s", what, strerror(errno));
}

/* A target that is there is removed first, so that a failed run leaves none; only a file is ever removed. */
static void
clear_target(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		fail_usage("argument --report-sink: '%s' is no regular file", path);
	if (unlink(path) != 0 && errno != ENOENT)
		fail_io(path);
}

/* A file of its own, open twice: one descriptor to write, one to read it back. */
static void
open_partial(const char *folder, const char *name)
{
	if (asprintf(&partial, "%s/.%s.%d.partial", folder, name, (int)getpid()) < 0)
		fail_memory("a path");
	writer = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	reader = writer < 0 ? -1 : open(partial, O_RDONLY | O_CLOEXEC);
	if (reader < 0)
		fail_io(partial);
}

static void
open_own(void)
{
	const char *folder = getenv("TMPDIR");

	if (options.sink != NULL) {
		char *one = strdup(options.sink), *other = strdup(options.sink);
		if (one == NULL || other == NULL)
			fail_memory("a path");
		clear_target(options.sink);
		open_partial(dirname(one), basename(other));
		return;
	}
	open_partial(folder != NULL && *folder != 0 ? folder : "/tmp", "report-sink");
	if (unlink(partial) != 0)
		fail_io(partial);
	partial = NULL;
}

/* From here on the descriptor is closed before the first byte of any document. */
void
sink_claim(int fd)
{
	writer = fd;
}

/* Decides the route of this module; one without the sink calls has only arrays. */
enum route
sink_open(const struct library *library)
{
	enum route route = options.sink != NULL ? ROUTE_NAMED : options.sink_fd != NULL ? ROUTE_INHERITED : ROUTE_AUTOMATIC;
	int calls = library->set_sink != NULL && library->finish_sink != NULL;

	if (route != ROUTE_AUTOMATIC && !calls)
		fail("strategy_library_incompatible", "{\"reason\":\"symbol_missing\"}", "the strategy library has no native sink");
	if (route == ROUTE_AUTOMATIC && (options.supervised ? writer < 0 : strcmp(options.profile, "jailed") == 0))
		calls = 0;
	if (!calls) {
		sink_close();
		return ROUTE_NONE;
	}
	if (!options.supervised && route != ROUTE_INHERITED)
		open_own();
	return route;
}

int
sink_descriptor(void)
{
	return writer;
}

/* Closes the last writer, once. Returns 0, or -1 for bytes that may be lost. */
int
sink_close(void)
{
	int fd = writer;

	writer = -1;
	return fd < 0 || close(fd) == 0 || errno == EINTR ? 0 : -1;
}

/* What the finished stream must be where no finalizer looks at it, and what an automatic route reads back. */
static struct outcome
check(struct run *run, const char *wire_sha256)
{
	struct stream_facts facts;
	char args[64];

	if (stream_check(run->stream, &facts) == 0) {
		if (wire_sha256 == NULL || strcmp(facts.wire_sha256, wire_sha256) == 0)
			return run_succeeded();
	} else if (facts.null_column != NULL) {
		snprintf(args, sizeof args, "{\"field\":\"%s\",\"reason\":\"nonfinite\"}", facts.null_column);
		return run_failed("report_result_invalid", args, "an equity point of the native sink is not finite");
	}
	return run_failed("report_sink_failed", SINK_IO, "the native sink is incomplete or damaged");
}

/*
 * After the module has finished: closes the sink, and for the automatic route
 * opens what it holds, unless that is nothing.
 */
struct outcome
sink_collect(struct run *run)
{
	struct snapshot snapshot;
	struct stat st = { .st_size = 0 };
	int empty = run->receipt_known && run->receipt.bytes == 0;

	if (sink_close() != 0 || (reader >= 0 && fstat(reader, &st) != 0))
		return run_failed("report_sink_failed", SINK_IO, "the native sink cannot be closed");
	if (!options.supervised && run->route == ROUTE_INHERITED && empty)
		return run_failed("report_sink_failed", SINK_IO, "the native sink is empty");
	if (run->route == ROUTE_INHERITED || (options.supervised && (run->route == ROUTE_NAMED || empty)))
		return run_succeeded();
	if (!options.supervised) {
		if (run->route == ROUTE_AUTOMATIC && st.st_size == 0)
			return run_succeeded();
		run->stream = reader;
		return check(run, NULL);
	}
	if (snapshot_receive(options.snapshot, &snapshot) != 0)
		return run_failed("report_sink_failed", SINK_IO, "the snapshot of the native sink is not as it says");
	options.remaining = snapshot.remaining;
	run->stream = snapshot.fd;
	return check(run, snapshot.sha256);
}

/* Before the first byte of the document: no writer is left, and an own file is in its place, or gone. */
void
sink_settle(int success)
{
	char *name = partial;

	partial = NULL;
	sink_close();
	if (name == NULL)
		return;
	if (!success || rename(name, options.sink) != 0) {
		int cause = errno;
		unlink(name);	/* the run has failed already, or fails now */
		errno = cause;
		if (success)
			fail_io(options.sink);
	}
}
