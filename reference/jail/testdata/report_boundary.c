/*
 * report_boundary: print what a released producer sees of itself.
 *
 * Arranges: one line per fact on fd 1: descriptors, ids, mounts it can see,
 * and for each forbidden call "denied NAME errno"; nothing is changed by a
 * call that is let through by mistake except in this process.
 * Used by:  the jail tests.
 * Exit:     0.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name, ...) { #name, SYS_##name, { __VA_ARGS__ } }

static const struct {
	const char *name;
	long number;
	long argument[4];
} call[] = {
	CALL(seccomp, 1, 0, 0), CALL(ptrace, 0), CALL(unshare, 0x10000000), CALL(setns, 0, 0), CALL(mount, 0), CALL(umount2, 0),
	CALL(open_tree, -100, 0), CALL(move_mount, 0), CALL(fsopen, 0), CALL(fsmount, 0), CALL(mount_setattr, 0),
	CALL(chroot, 0), CALL(pivot_root, 0), CALL(io_uring_setup, 1, 0), CALL(io_uring_enter, -1), CALL(vmsplice, -1),
	CALL(splice, -1), CALL(tee, -1), CALL(keyctl, 1), CALL(add_key, 0), CALL(request_key, 0), CALL(bpf, 0),
	CALL(perf_event_open, 0), CALL(userfaultfd, 1), CALL(fanotify_init, 0), CALL(open_by_handle_at, -1),
	CALL(name_to_handle_at, -1), CALL(process_vm_readv, 1), CALL(process_vm_writev, 1), CALL(process_madvise, -1),
	CALL(kcmp, 1, 1), CALL(pidfd_open, 1), CALL(pidfd_getfd, -1), CALL(pidfd_send_signal, -1), CALL(move_pages, 0),
	CALL(socket, 1, 1, 0), CALL(socket, 40, 1, 0), CALL(socketpair, 1, 1, 0, 0), CALL(connect, -1), CALL(bind, -1),
	CALL(setrlimit, 99), CALL(modify_ldt, 0), CALL(memfd_secret, 0), CALL(syslog, 10), CALL(quotactl, 0),
	CALL(personality, 0), CALL(prctl, 22, 1), CALL(prctl, 0x100000016, 1), CALL(fcntl, 1, 1031, 4096),
	CALL(fcntl, 1, 0x100000407, 4096), CALL(ioctl, 0, 0x5412), CALL(ioctl, 0, 0x100005412), CALL(ioctl, 0, 0x541c),
	CALL(prlimit64, 0, 7, 1), { "statmount", 457, { 0 } }, CALL(setuid, 0), CALL(setgroups, 0, 0), CALL(kill, 1, 9),
	CALL(sethostname, 0), CALL(mknod, 0),
};

static void
list(const char *folder)
{
	DIR *dir = opendir(folder);

	printf("folder %s:", folder);
	if (dir == NULL) {
		printf(" errno %d\n", errno);
		return;
	}
	for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
		if (entry->d_name[0] != '.')
			printf(" %s", entry->d_name);
	printf("\n");
	closedir(dir);
}

int
main(int argc, char **argv, char **environment)
{
	struct rlimit limit;
	char name[64];

	printf("descriptors:");
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf(" %d", fd);
	printf("\nids: %d %d %d %d groups %d pid %d ppid %d\n", getuid(), geteuid(), getgid(), getegid(), getgroups(0, NULL), getpid(), getppid());
	printf("arguments: %d %s\n", argc, argc > 1 ? argv[1] : "");
	for (char **variable = environment; *variable != NULL; variable++)
		printf("environment: %s\n", *variable);
	list("/");
	list("/dev");
	list("/proc");
	for (size_t i = 0; i < sizeof call / sizeof *call; i++) {
		const long *a = call[i].argument;
		errno = 0;
		long got = syscall(call[i].number, a[0], a[1], a[2], a[3], 0, 0);
		printf("%s %s %#lx %d\n", got < 0 && errno == EPERM ? "denied" : "open", call[i].name, a[1], errno);
	}
	getrlimit(RLIMIT_CORE, &limit);
	printf("core: %lu %lu\n", (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
	printf("query: %ld\n", syscall(SYS_personality, 0xffffffffL));
	printf("write root: %d\n", open("/x", O_CREAT | O_WRONLY, 0600) < 0 ? errno : 0);
	int made = 0;
	do
		snprintf(name, sizeof name, "/tmp/f%d", made);
	while (mknod(name, S_IFREG | 0600, 0) == 0 && ++made < 1000);
	printf("scratch files: %d\n", made);
	long filled = 0;
	static char block[4096];
	int fd = open("/tmp/f0", O_WRONLY);
	for (ssize_t n = write(fd, block, sizeof block); n > 0; n = write(fd, block, sizeof block))
		filled += n;
	printf("scratch bytes: %ld\n", filled);
	return 0;
}
