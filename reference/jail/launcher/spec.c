/* spec: the instructions of S. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

/* Returns the whole content of fd, NUL-terminated, and its length. */
static char *
read_whole(int fd, size_t *length)
{
	struct stat st;
	size_t done = 0;

	if (fstat(fd, &st) != 0)
		fail("stat instructions", "");
	char *bytes = malloc((size_t)st.st_size + 1);
	if (bytes == NULL)
		fail("allocate instructions", "");
	while (done < (size_t)st.st_size) {
		ssize_t got = pread(fd, bytes + done, (size_t)st.st_size - done, (off_t)done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			fail("read instructions", "");
		done += (size_t)got;
	}
	bytes[done] = 0;
	*length = done;
	return bytes;
}

static _Noreturn void
refuse(const char *why, const char *word)
{
	errno = EPROTO;
	fail(why, word);
}

static uint64_t
number(const char *text)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != 0)
		refuse("number", text);
	return value;
}

static void
add(struct words *words, char *word)
{
	if (words->n == MAX_WORDS)
		refuse("too many words at", word);
	words->at[words->n++] = word;
}

static void
add_descriptor(struct spec *spec, const char *value)
{
	int target, source;

	if (spec->nfds == MAX_FDS || sscanf(value, "%d:%d", &target, &source) != 2)
		refuse("descriptor", value);
	spec->target[spec->nfds] = target;
	spec->source[spec->nfds++] = source;
}

static void
take(struct spec *spec, const char *key, char *value)
{
	if (strcmp(key, "uid") == 0)
		spec->uid = (uint32_t)number(value);
	else if (strcmp(key, "scratch_bytes") == 0)
		spec->scratch_bytes = number(value);
	else if (strcmp(key, "scratch_files") == 0)
		spec->scratch_files = number(value);
	else if (strcmp(key, "control") == 0)
		spec->control = (int)number(value);
	else if (strcmp(key, "tasks") == 0 && spec->ntasks < MAX_CGROUPS)
		spec->tasks[spec->ntasks++] = (int)number(value);
	else if (strcmp(key, "group") == 0)
		spec->group = (int)number(value);
	else if (strcmp(key, "fd") == 0)
		add_descriptor(spec, value);
	else if (strcmp(key, "system") == 0)
		add(&spec->system, value);
	else if (strcmp(key, "exe") == 0)
		spec->exe = value;
	else if (strcmp(key, "file") == 0)
		add(&spec->files, value);
	else if (strcmp(key, "from") == 0 && spec->from.n == spec->copies.n)
		add(&spec->from, value);
	else if (strcmp(key, "copy") == 0 && spec->from.n == spec->copies.n + 1)
		add(&spec->copies, value);
	else if (strcmp(key, "tool") == 0)
		spec->tool = 1;
	else if (strcmp(key, "work") == 0)
		spec->work = value;
	else if (strcmp(key, "file_bytes") == 0)
		spec->file_bytes = number(value);
	else if (strcmp(key, "arg") == 0)
		add(&spec->argv, value);
	else if (strcmp(key, "env") == 0)
		add(&spec->env, value);
	else
		refuse("unknown instruction", key);
}

/* Reads instructions and filter; both descriptors are closed. */
void
spec_read(struct spec *spec)
{
	size_t length;
	char *words = read_whole(FD_SPEC, &length);

	spec->group = -1;
	for (char *word = words; word < words + length; ) {
		char *next = word + strlen(word) + 1;
		char *equals = strchr(word, '=');
		if (equals == NULL)
			refuse("instruction", word);
		*equals = 0;
		take(spec, word, equals + 1);
		word = next;
	}
	if (spec->uid == 0 || spec->exe == NULL || spec->argv.n == 0 || spec->control < 3)
		refuse("instructions incomplete", "");

	spec->filter.filter = (void *)read_whole(FD_FILTER, &length);
	spec->filter.len = (unsigned short)(length / sizeof(struct sock_filter));
	if (length == 0 || length > 4096 * sizeof(struct sock_filter))
		refuse("filter size", "");
	close(FD_SPEC);
	close(FD_FILTER);
}
