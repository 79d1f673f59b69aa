/* The producer's system call filter, written out by hand: fork, vfork, clone and clone3 of every ABI go to the
 * listener; what could hide them or reach outside is denied; other ABIs are killed (C-63). */
#include "jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOREIGN_BIT 0x40000000u /* x32 numbers carry it */

struct name {
	unsigned number;
	const char *name;
};

static const struct name foreign_i386[] = {{2, "fork"}, {190, "vfork"}, {120, "clone"}, {435, "clone3"}};

#if defined(__x86_64__)
static const struct name native[] = {{SYS_fork, "fork"}, {SYS_vfork, "vfork"}, {SYS_clone, "clone"}, {SYS_clone3, "clone3"}};

static const unsigned short denied[] = {
	SYS_seccomp, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_open, SYS_pidfd_getfd,
	SYS_pidfd_send_signal, SYS_process_madvise, SYS_process_mrelease, SYS_unshare, SYS_setns, SYS_mount, SYS_umount2,
	SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
	SYS_mount_setattr, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_add_key, SYS_request_key,
	SYS_keyctl, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_fanotify_init, SYS_fanotify_mark,
	SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
	SYS_accept, SYS_accept4, SYS_modify_ldt, SYS_vmsplice, SYS_splice, SYS_tee, SYS_memfd_secret, SYS_move_pages,
	SYS_migrate_pages, SYS_set_mempolicy, SYS_mbind, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_syslog,
	SYS_reboot, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_iopl,
	SYS_ioperm, SYS_setrlimit, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,
	SYS_setgroups, SYS_capset, SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime,
};

/* Calls that are denied for one value of one argument only. */
static const struct {
	unsigned short number, argument;
	uint32_t value;
} denied_value[] = {
	{SYS_prctl, 0, 22},       /* PR_SET_SECCOMP */
	{SYS_prctl, 0, 59},       /* PR_SET_SYSCALL_USER_DISPATCH: calls that come back before a filter sees them */
	{SYS_ioctl, 1, 0x5412},   /* TIOCSTI */
	{SYS_ioctl, 1, 0x541c},   /* TIOCLINUX */
	{SYS_fcntl, 1, 1031},     /* F_SETPIPE_SZ */
};

struct program {
	struct sock_filter at[FILTER_ROOM];
	unsigned short n;
};

static void put(struct program *program, unsigned short code, uint32_t value, unsigned char yes, unsigned char no)
{
	program->at[program->n++] = (struct sock_filter){code, yes, no, value};
}

static void load(struct program *program, size_t offset)
{
	put(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct program *program, uint32_t action) { put(program, BPF_RET | BPF_K, action, 0, 0); }

static void answer_for(struct program *program, uint32_t number, uint32_t action)
{
	put(program, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
	answer(program, action);
}

static void notify_all(struct program *program, const struct name list[4], uint32_t bit)
{
	for (int i = 0; i < 4; i++)
		answer_for(program, list[i].number | bit, SECCOMP_RET_USER_NOTIF);
}

static void deny_value(struct program *program, size_t i)
{
	size_t argument = offsetof(struct seccomp_data, args) + 8u * denied_value[i].argument;

	put(program, BPF_JMP | BPF_JEQ | BPF_K, denied_value[i].number, 0, 4);
	load(program, argument);
	answer_for(program, denied_value[i].value, SECCOMP_RET_ERRNO | EPERM);
	load(program, offsetof(struct seccomp_data, nr));
}

/* Reading a limit is harmless; a new one (a third argument that is not NULL, in either half) is not. */
static void deny_new_limits(struct program *program)
{
	size_t limit = offsetof(struct seccomp_data, args) + 8u * 2;

	put(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 6);
	load(program, limit);
	put(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
	load(program, limit + 4);
	put(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	answer(program, SECCOMP_RET_ERRNO | EPERM);
	load(program, offsetof(struct seccomp_data, nr));
}

static void build(struct program *program)
{
	program->n = 0;
	load(program, offsetof(struct seccomp_data, arch));
	put(program, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 10, 0);
	load(program, offsetof(struct seccomp_data, nr));
	notify_all(program, foreign_i386, 0);
	answer(program, SECCOMP_RET_KILL_PROCESS);
	load(program, offsetof(struct seccomp_data, nr));
	notify_all(program, native, 0);
	notify_all(program, native, FOREIGN_BIT);
	put(program, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_BIT, 0, 1);
	answer(program, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < sizeof denied_value / sizeof *denied_value; i++)
		deny_value(program, i);
	deny_new_limits(program);
	for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
		answer_for(program, denied[i], SECCOMP_RET_ERRNO | EPERM);
	answer(program, SECCOMP_RET_ALLOW);
}

int filter_install(void)
{
	static struct program program;
	struct sock_fprog given = {.filter = program.at};
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	build(&program);
	given.len = program.n;
	long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &given);

	if (listener < 0 && errno == EINVAL)
		listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &given);
	return (int)listener;
}

const char *filter_operation(uint32_t architecture, int number)
{
	const struct name *list = architecture == AUDIT_ARCH_X86_64 ? native : foreign_i386;

	for (int i = 0; i < 4; i++)
		if (list[i].number == ((unsigned)number & ~FOREIGN_BIT))
			return list[i].name;
	return NULL;
}
#else
/* No numbers for this processor: the caller reports that the platform lacks the boundary. */
int filter_install(void)
{
	errno = ENOSYS;
	return -1;
}

const char *filter_operation(uint32_t architecture, int number)
{
	(void)architecture;
	(void)number;
	(void)foreign_i386;
	return NULL;
}
#endif
