/*
 * create_by_library: one task-creating function of the C library, then a line.
 *
 * Arranges: the function and, on fd 1, "returned"; a child that comes to life
 * all the same writes "child". Names: fork vfork daemon spawn system popen
 * wordexp pthread thrd timer.
 * Used by:  the jail tests, with every C library that there is.
 * Exit:     0.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

static void *
nothing(void *argument)
{
	return argument;
}

static int
zero(void *argument)
{
	return argument != NULL;
}

static void
tick(union sigval value)
{
	(void)value;
}

static int
create(const char *by)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick };
	char *command[] = { "sh", NULL }, *none[] = { NULL };
	pthread_t thread;
	thrd_t other;
	timer_t timer;
	wordexp_t words;
	pid_t pid;

	if (strcmp(by, "fork") == 0)
		return fork() == 0;
	if (strcmp(by, "vfork") == 0)
		return (pid = vfork()) == 0 ? (_exit(0), 0) : pid > 0;
	if (strcmp(by, "daemon") == 0)
		return daemon(1, 1) == 0;
	if (strcmp(by, "spawn") == 0)
		return posix_spawn(&pid, "/bin/sh", NULL, NULL, command, none) == 0;
	if (strcmp(by, "system") == 0)
		return system(":") == 0;
	if (strcmp(by, "popen") == 0)
		return popen(":", "r") != NULL;
	if (strcmp(by, "pthread") == 0)
		return pthread_create(&thread, NULL, nothing, NULL) == 0;
	if (strcmp(by, "thrd") == 0)
		return thrd_create(&other, zero, NULL) == thrd_success;
	if (strcmp(by, "wordexp") == 0)
		return wordexp("$(:)", &words, 0) == 0;
	return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

int
main(int argc, char **argv)
{
	if (create(argc > 1 ? argv[1] : "fork"))
		return dprintf(1, "child\n") < 0;
	dprintf(1, "returned\n");
	return 0;
}
