/*
 * root: the producer's private root: named paths read-only, three devices,
 * a sized /tmp, for a tool /touchstone-work, and nothing else; no /proc.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

#ifndef OPEN_TREE_CLONE	/* musl has none of the mount interface of 5.2 */
#include <linux/mount.h>

static int
open_tree(int dir, const char *path, unsigned int flags)
{
	return (int)syscall(SYS_open_tree, dir, path, flags);
}

static int
move_mount(int from, const char *path, int to, const char *at, unsigned int flags)
{
	return (int)syscall(SYS_move_mount, from, path, to, at, flags);
}

static int
mount_setattr(int dir, const char *path, unsigned int flags, struct mount_attr *attributes, size_t size)
{
	return (int)syscall(SYS_mount_setattr, dir, path, flags, attributes, size);
}
#endif

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define WORK (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define DEVICE (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

static const char *const device[] = { "/dev/null", "/dev/zero", "/dev/urandom" };

enum { DEVICES = 3, MAX_ENTRIES = 512 };

/* One thing of the old root, taken before that is left. */
struct entry {
	const char *path;
	int tree;		/* detached copy of the mount; -1 for a symlink */
	char link[PATH_MAX];
	uint64_t attributes;
};

static struct entry entry[MAX_ENTRIES];
static size_t entries;

/* Takes what lies at from, to be given at path. */
static void
take(const char *from, const char *path, uint64_t attributes, int may_be_missing, int keep_symlink)
{
	struct entry *e = &entry[entries];
	struct stat st;

	if (entries == MAX_ENTRIES) {
		errno = E2BIG;
		fail("too many paths at", path);
	}
	if (may_be_missing && lstat(from, &st) != 0 && errno == ENOENT)
		return;
	e->path = path;
	e->attributes = attributes;
	e->tree = -1;
	ssize_t length = keep_symlink ? readlink(from, e->link, sizeof e->link - 1) : -1;
	if (length < 0)
		e->tree = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (length < 0 && e->tree < 0)
		fail("take", from);
	entries++;
}

static void
take_all(const struct spec *spec)
{
	for (size_t i = 0; i < spec->system.n; i++)
		take(spec->system.at[i], spec->system.at[i], READ_ONLY, 1, 1);
	for (size_t i = 0; i < DEVICES; i++)
		take(device[i], device[i], DEVICE, 0, 0);
	take(spec->exe, spec->exe, READ_ONLY, 0, 0);
	for (size_t i = 0; i < spec->files.n; i++)
		take(spec->files.at[i], spec->files.at[i], READ_ONLY, 0, 0);
	if (spec->work != NULL)
		take(spec->work, "/touchstone-work", WORK, 0, 0);
}

/* Makes the folders above path. */
void
make_parents(const char *path)
{
	char part[PATH_MAX];

	if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part) {
		errno = ENAMETOOLONG;
		fail("make parents of", path);
	}
	for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(part, 0755) != 0 && errno != EEXIST && errno != EROFS)
			fail("make folder", part);
		*slash = '/';
	}
}

/* Says whether the path already shows the taken file: it lies in a tree given before. */
static int
already_there(const struct entry *e)
{
	struct stat have, want;

	return stat(e->path, &have) == 0 && fstat(e->tree, &want) == 0 &&
	    have.st_dev == want.st_dev && have.st_ino == want.st_ino;
}

static void
make_mount_point(const struct entry *e)
{
	struct stat st;

	if (fstat(e->tree, &st) != 0)
		fail("stat", e->path);
	if (S_ISDIR(st.st_mode)) {
		if (mkdir(e->path, 0755) != 0 && errno != EEXIST)
			fail("make folder", e->path);
		return;
	}
	int fd = open(e->path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0)
		fail("make file", e->path);
	close(fd);
}

static void
give(const struct entry *e)
{
	struct mount_attr attributes = { .attr_set = e->attributes, .propagation = MS_PRIVATE };

	make_parents(e->path);
	if (e->tree < 0) {
		if (symlink(e->link, e->path) != 0 && errno != EEXIST)
			fail("make symlink", e->path);
		return;
	}
	if (already_there(e))
		return;
	make_mount_point(e);
	if (mount_setattr(e->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) != 0)
		fail("restrict mount", e->path);
	if (move_mount(e->tree, "", AT_FDCWD, e->path, MOVE_MOUNT_F_EMPTY_PATH) != 0)
		fail("mount", e->path);
}

static void
mount_tmpfs(const char *path, const char *options)
{
	if (mount("scratch", path, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
		fail("mount tmpfs", path);
}

/* Swaps the root for a new tmpfs with room for the copies. /proc is the one folder that S is known to have. */
static void
enter_new_root(uint64_t room)
{
	char options[128];

	snprintf(options, sizeof options, "size=%llu,nr_inodes=4096,mode=0755", (1ULL << 20) + (unsigned long long)room);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		fail("make mounts private", "");
	mount_tmpfs("/proc", options);
	if (chdir("/proc") != 0 || syscall(SYS_pivot_root, ".", ".") != 0)
		fail("change root", "");
	if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		fail("leave old root", "");
}

/* Inodes that mount points took are not the producer's. */
static void
size_scratch(const struct spec *spec)
{
	char options[128];
	struct statfs fs;

	if (statfs("/tmp", &fs) != 0)
		fail("measure", "/tmp");
	snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu", (unsigned long long)spec->scratch_bytes,
	    (unsigned long long)(spec->scratch_files + (uint64_t)(fs.f_files - fs.f_ffree)));
	if (mount("scratch", "/tmp", NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, options) != 0)
		fail("size", "/tmp");
}

void
root_build(const struct spec *spec)
{
	struct mount_attr sealed = { .attr_set = READ_ONLY };

	umask(0);
	take_all(spec);
	enter_new_root(copies_take(spec));
	if (mkdir("/tmp", 0755) != 0)
		fail("make folder", "/tmp");
	mount_tmpfs("/tmp", "mode=1777");
	for (size_t i = 0; i < entries; i++)
		give(&entry[i]);
	copies_give(spec);
	size_scratch(spec);
	if (mount_setattr(AT_FDCWD, "/", 0, &sealed, sizeof sealed) != 0)
		fail("seal root", "");
}
