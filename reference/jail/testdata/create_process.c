/*
 * create_process: one process-creating call by the named entry, then a line.
 *
 * Arranges: the call and, on fd 1, "returned ERRNO"; a child that comes to
 * life all the same writes "child". Names: fork vfork clone clone3 thread
 * i386-fork i386-vfork i386-clone i386-clone3 i386-getpid x32-fork
 * x32-getpid, and shadow: an own filter first, then fork.
 * Used by:  the jail tests.
 * Exit:     0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long
call64(long number, long a, long b)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(0L) : "rcx", "r11", "memory");
	return result;
}

static long
call32(long number)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0L), "c"(0L), "d"(0L)
	    : "r8", "r9", "r10", "r11", "memory");
	return result;
}

static void *
nothing(void *argument)
{
	return argument;
}

static long
start_thread(void)
{
	pthread_t thread;

	return -pthread_create(&thread, NULL, nothing, NULL);
}

/* Tries to answer fork itself, before the supervisor's filter can ask. */
static long
shadow(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	long first = call64(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0) == -EPERM;

	errno = 0;
	long second = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 && errno == EPERM;
	dprintf(1, "own filter refused %ld %ld\n", first, second);
	return call64(SYS_fork, 0, 0);
}

static const struct {
	const char *name;
	long number, first, second;
} native[] = {
	{ "fork", SYS_fork, 0, 0 },
	{ "vfork", SYS_vfork, 0, 0 },
	{ "clone", SYS_clone, SIGCHLD, 0 },
	{ "clone3", SYS_clone3, 0, 0 },
	{ "x32-fork", 0x40000000L | SYS_fork, 0, 0 },
	{ "x32-getpid", 0x40000000L | SYS_getpid, 0, 0 },
};

static const struct {
	const char *name;
	long number;
} foreign[] = {
	{ "i386-fork", 2 }, { "i386-vfork", 190 }, { "i386-clone", 120 }, { "i386-clone3", 435 }, { "i386-getpid", 20 },
};

static long
create(const char *name)
{
	for (size_t i = 0; i < sizeof native / sizeof *native; i++)
		if (strcmp(name, native[i].name) == 0)
			return call64(native[i].number, native[i].first, native[i].second);
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if (strcmp(name, foreign[i].name) == 0)
			return call32(foreign[i].number);
	return strcmp(name, "shadow") == 0 ? shadow() : start_thread();
}

int
main(int argc, char **argv)
{
	long result = create(argc > 1 ? argv[1] : "fork");

	if (result == 0 && getpid() != 2)
		_exit(dprintf(1, "child\n") < 0);
	dprintf(1, "returned %ld\n", result < 0 ? -result : 0);
	return 0;
}
