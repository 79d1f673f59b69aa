/*
 * consume CPU_MS MEMORY FILES FILE_BYTES HOLE_BYTES DESCRIPTORS END: uses that
 * much of everything, says so on 1, and exits 0 or, with END "wait", waits.
 * FILES files in /tmp hold FILE_BYTES each, one more has a second name and a
 * length of HOLE_BYTES without backing; all but it lie in a folder.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void
check(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(70);
	}
}

static void
make_file(const char *path, size_t bytes)
{
	char *content = calloc(1, bytes + 1);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	check(content != NULL && fd >= 0, path);
	check(write(fd, content, bytes) == (ssize_t)bytes, path);
	close(fd);
	free(content);
}

static void
burn(long ms)
{
	struct timespec used;

	do
		check(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0, "clock");
	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

int
main(int argc, char **argv)
{
	char path[64];

	check(argc == 8, "usage");
	size_t memory = strtoul(argv[2], NULL, 10);
	char *touched = mmap(NULL, memory + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(touched != MAP_FAILED, "memory");
	memset(touched, 1, memory);
	check(mkdir("/tmp/folder", 0700) == 0, "folder");
	for (int i = 0; i < atoi(argv[3]); i++) {
		snprintf(path, sizeof path, "/tmp/folder/%d", i);
		make_file(path, strtoul(argv[4], NULL, 10));
	}
	make_file("/tmp/hole", 0);
	check(truncate("/tmp/hole", atol(argv[5])) == 0 && link("/tmp/hole", "/tmp/again") == 0, "hole");
	for (int i = 0; i < atoi(argv[6]); i++)
		check(dup(0) >= 0, "descriptor");
	burn(atol(argv[1]));
	check(write(1, "done", 4) == 4, "say");
	while (strcmp(argv[7], "wait") == 0)
		pause();
	return 0;
}
