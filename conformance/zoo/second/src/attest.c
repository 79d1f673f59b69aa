/* The supervisor's own look at the parked child, through /proc, before any customer code (R02). */
#include "jail.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_file(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, room - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	to[n] = '\0';
	return true;
}

/* The number after "NAME:" in a status file, in the given base; ULLONG_MAX where it is missing. */
static unsigned long long field(const char *status, const char *name, int base)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, base) : ~0ull;
}

static bool identity(const char *status, uid_t id)
{
	static const char *const sets[] = {"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapBnd:", "\nCapAmb:"};
	char wanted[80];

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if (field(status, sets[i], 16) != 0)
			return false;
	snprintf(wanted, sizeof wanted, "\nUid:\t%u\t%u\t%u\t%u\n", id, id, id, id);
	if (strstr(status, wanted) == NULL)
		return false;
	memcpy(wanted + 1, "Gid", 3);
	return strstr(status, wanted) != NULL && field(status, "\nNoNewPrivs:", 10) == 1;
}

/* One filter more than the supervisor itself runs under (C-78). */
static bool filtered(const char *status)
{
	char own[8192];

	if (!read_file("/proc/self/status", own, sizeof own))
		return false;
	return field(status, "\nSeccomp:", 10) == 2 &&
	       field(status, "\nSeccomp_filters:", 10) == field(own, "\nSeccomp_filters:", 10) + 1;
}

static bool separate(pid_t pid)
{
	static const char *const names[] = {"pid", "mnt", "net", "ipc", "uts"};
	char path[64], theirs[64], own[64];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		memset(theirs, 0, sizeof theirs);
		memset(own, 0, sizeof own);
		snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, names[i]);
		if (readlink(path, theirs, sizeof theirs - 1) <= 0)
			return false;
		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		if (readlink(path, own, sizeof own - 1) <= 0 || strcmp(own, theirs) == 0)
			return false;
	}
	return true;
}

static bool closes_on_exec(pid_t pid, const char *number)
{
	char path[64], text[512];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%.10s", pid, number);
	return read_file(path, text, sizeof text) && (field(text, "flags:", 8) & O_CLOEXEC) != 0;
}

static bool descriptors(pid_t pid, int candidate)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	DIR *folder = opendir(path);
	bool good = folder != NULL;

	for (struct dirent *entry; good && (entry = readdir(folder));) {
		int number = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && number > 2 && number != candidate)
			good = closes_on_exec(pid, entry->d_name);
	}
	if (folder)
		closedir(folder);
	return good;
}

bool attest(pid_t pid, const struct jail_child *child)
{
	char path[64], status[8192];

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (!read_file(path, status, sizeof status))
		return false;
	return identity(status, child->id) && filtered(status) && separate(pid) && descriptors(pid, child->candidate);
}
