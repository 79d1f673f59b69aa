/*
 * hide_calls: do one thing that takes calls out of a tracer's sight, then
 * write one byte to descriptor 1.
 *
 * KIND is io_uring (set up a ring), filter (a seccomp filter of its own
 * refuses fsync) or x32 (a call of the x32 ABI). Exit: 0 done, 77 the
 * kernel does not offer it.
 */
#include "target.h"
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

static long
refuse_fsync(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};
	must("prctl", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int
main(int argc, char **argv)
{
	struct io_uring_params p = {0};
	long r = -1;
	if (argc != 2)
		usage("hide_calls KIND");
	if (!strcmp(argv[1], "io_uring"))
		r = syscall(SYS_io_uring_setup, 2, &p);
	else if (!strcmp(argv[1], "filter"))
		r = refuse_fsync();
	else if (!strcmp(argv[1], "x32"))
		r = syscall(0x40000000 | SYS_getpid);
	if (r < 0)
		return 77;
	fsync(1);
	return write(1, "x", 1) == 1 ? 0 : 1;
}
