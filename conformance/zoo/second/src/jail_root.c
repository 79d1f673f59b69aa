/* The producer's root: a small tmpfs with read-only pieces of the host's tree, entered before it loses its rights. */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECES = 12 };

struct piece {
	const char *from;
	char to[256];
	uint64_t attributes;
	int tree;      /* detached copy, or -1 for a symbolic link */
	bool folder;
	char target[256];
};

bool own_folder(char to[256])
{
	ssize_t n = readlink("/proc/self/exe", to, 255);

	if (n <= 0)
		return false;
	to[n] = '\0';
	*strrchr(to, '/') = '\0';
	return true;
}

void root_path(char to[256], const char *from)
{
	const char *slash = strrchr(from, '/');

	snprintf(to, 256, "/app/%s", slash ? slash + 1 : from);
}

/* Takes a detached, restricted copy of one path. Paths that do not exist are skipped where optional. */
static int take(struct piece *piece)
{
	struct stat st;
	struct mount_attr attributes = {.attr_set = piece->attributes};

	piece->tree = -1;
	if (lstat(piece->from, &st) != 0)
		return errno;
	if (S_ISLNK(st.st_mode) && piece->folder) {
		ssize_t n = readlink(piece->from, piece->target, sizeof piece->target - 1);

		return n < 0 ? errno : 0;
	}
	piece->tree = (int)syscall(SYS_open_tree, AT_FDCWD, piece->from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (piece->tree < 0)
		return errno;
	return mount_setattr(piece->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) ? errno : 0;
}

static int place(const struct piece *piece)
{
	if (piece->tree < 0)
		return symlink(piece->target, piece->to + 1) ? errno : 0;
	if (piece->folder && mkdir(piece->to + 1, 0755) != 0)
		return errno;
	if (!piece->folder) {
		int fd = open(piece->to + 1, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

		if (fd < 0)
			return errno;
		close(fd);
	}
	if (move_mount(piece->tree, "", AT_FDCWD, piece->to + 1, MOVE_MOUNT_F_EMPTY_PATH) != 0)
		return errno;
	close(piece->tree);
	return 0;
}

static int add(struct piece *list, int *n, const char *from, const char *to, bool folder, uint64_t attributes)
{
	struct piece *piece = &list[*n];

	*piece = (struct piece){.from = from, .folder = folder, .attributes = attributes};
	snprintf(piece->to, sizeof piece->to, "%s", to);
	int error = take(piece);

	if (error == 0)
		++*n;
	return error;
}

static int collect(struct piece *list, int *n, const struct jail_child *child, const char *program)
{
	const uint64_t code = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, device = MOUNT_ATTR_NOSUID;
	static const char *const system[] = {"/usr", "/lib", "/lib64"};
	char path[256];
	int error = add(list, n, program, "/app/second-producer", false, code);

	for (size_t i = 0; i < sizeof system / sizeof *system && error == 0; i++) {
		error = add(list, n, system[i], system[i], true, code);
		if (error == ENOENT && i > 0)
			error = 0;
	}
	root_path(path, child->request->library);
	if (error == 0)
		error = add(list, n, child->request->library, path, false, code);
	if (error == 0 && child->request->bars) {
		root_path(path, child->request->bars);
		error = add(list, n, child->request->bars, path, false, code);
	}
	return error ? error : add(list, n, "/dev/null", "/dev/null", false, device);
}

static int folders(void)
{
	if (mkdir("app", 0755) != 0 || mkdir("dev", 0755) != 0 || mkdir("tmp", 0777) != 0)
		return errno;
	return chmod("tmp", 01777) ? errno : 0;
}

int root_enter(const struct jail_child *child)
{
	static struct piece list[PIECES];
	char program[288];
	int n = 0, error;

	if (!own_folder(program))
		return errno;
	strcat(program, "/second-producer");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return errno;
	error = collect(list, &n, child, program);
	if (error)
		return error;
	/* The spool is a folder that surely exists; covering it also takes it out of the producer's sight. */
	if (mount("second", child->spool, "tmpfs", MS_NOSUID | MS_NODEV, ROOT_OPTIONS) != 0 || chdir(child->spool) != 0)
		return errno;
	error = folders();
	for (int i = 0; i < n && error == 0; i++)
		error = place(&list[i]);
	if (error)
		return error;
	if (syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		return errno;
	return 0;
}
