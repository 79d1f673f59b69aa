/* consume: a producer that uses known amounts of everything, then ends as told.
 *
 * Arranges: --inputs "CPU_MS MEMORY FILES FILE_BYTES HOLE_BYTES DESCRIPTORS END": touched memory, files with content in
 *           /tmp, one more that is a hole, descriptors, and last processor time, so that all else is there to be seen
 *           meanwhile. END is report (a whole report), flood (of 2, without an end) or kill (itself).
 * Used by:  the usage tests of the supervisor.
 * Exit:     0 after a report; 70 for a call that failed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void need(int good)
{
	if (!good)
		_exit(70);
}

static void file(int number, size_t bytes, off_t length)
{
	char path[32], *content = calloc(1, bytes + 1);

	snprintf(path, sizeof path, "/tmp/%d", number);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	need(content && fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes && ftruncate(fd, length) == 0);
	close(fd);
	free(content);
}

static void burn(long ms)
{
	struct timespec used;

	do
		need(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

static void finish(const char *how)
{
	const char *report = "{\"engine\":\"p\",\"input\":{},\"applied_inputs\":{},\"applied_overrides\":{},"
			     "\"applied_runtime\":{},\"elapsed_seconds\":0,\"summary\":{},\"diagnostics\":{},\"trades\":[],"
			     "\"metrics\":{},\"equity_curve\":[]}\n";

	if (!strcmp(how, "report"))
		need(write(atoi(getenv("TOUCHSTONE_CANDIDATE_FD")), report, strlen(report)) == (ssize_t)strlen(report));
	else if (!strcmp(how, "kill"))
		raise(SIGKILL);
	else
		for (;;)
			need(write(2, report, strlen(report)) > 0);
}

int main(int argc, char **argv)
{
	long cpu, files, descriptors;
	size_t memory, bytes, hole;
	char end[16];
	const char *inputs = "";

	need(close(atoi(getenv("TOUCHSTONE_SINK_FD"))) == 0); /* it has none */
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--inputs"))
			inputs = argv[i + 1];
	need(sscanf(inputs, "%ld %zu %ld %zu %zu %ld %15s", &cpu, &memory, &files, &bytes, &hole, &descriptors, end) == 7);
	char *touched = mmap(NULL, memory + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(touched != MAP_FAILED);
	memset(touched, 1, memory);
	for (int i = 0; i < files; i++)
		file(i, bytes, (off_t)bytes);
	file((int)files, 0, (off_t)hole);
	for (long i = 0; i < descriptors; i++)
		need(dup(0) >= 0);
	burn(cpu);
	finish(end);
	return 0;
}
