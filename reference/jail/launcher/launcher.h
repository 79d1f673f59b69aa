/*
 * launcher: builds the native execution domain of one producer for its
 * supervisor S, then goes away. See ../doc.go for processes and order.
 *
 * Started by S with: 3 the instructions (NUL-terminated key=value words),
 * 4 the control socket, 5 the init's end of the lifeline, 6 the filter
 * program, 7 shared memory for the pids of both processes; from 8 up the
 * ways into the control groups and the producer's descriptors.
 *
 * Exit: 0 both processes were cloned; 1 a message on the control socket says
 * what failed. Every failure is final: nothing is tried in a weaker way.
 */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

enum { FD_SPEC = 3, FD_CONTROL = 4, FD_LIFELINE = 5, FD_FILTER = 6, FD_CHILDREN = 7 };

enum { MAX_WORDS = 4096, MAX_CGROUPS = 8, MAX_FDS = 64 };

/* Messages to S on the control socket; orders from S are one byte. */
enum {
	SAY_INIT = 'i',		/* value: pid of init; with its pidfd */
	SAY_PRODUCER = 'p',	/* value: pid of the producer; with its pidfd */
	SAY_LISTENER = 'l',	/* with the seccomp listener */
	SAY_READY = 'r',	/* the producer is parked, all else is closed */
	SAY_CANARY = 'c',	/* value: errno of the fork, 0 when it worked */
	SAY_ERROR = 'e',	/* value: errno; text: the step that failed */
	ORDER_CANARY = 'c',
	ORDER_GO = 'g',
	ASK_SURVIVOR = 'q',	/* on the lifeline; answered by one of: */
	NOBODY = 'n',
	SOMEBODY = 's',
};

/* The canary's arguments: S must see exactly these in the notification. */
#define CANARY_FIRST 0x43616e6172790001UL
#define CANARY_SECOND 0x43616e6172790002UL

struct words {
	size_t n;
	char *at[MAX_WORDS + 1];	/* NULL-terminated */
};

struct spec {
	uint32_t uid;			/* and gid */
	uint64_t scratch_bytes, scratch_files;
	int control;			/* the parked producer's control socket */
	size_t ntasks, nfds;
	int tasks[MAX_CGROUPS];		/* open tasks files of v1 groups */
	int group;			/* folder of the unified group; -1 without one */
	int target[MAX_FDS], source[MAX_FDS];
	struct words system, files, argv, env;
	struct words copies, from;	/* where the root holds a copy, and of what */
	const char *exe;
	int tool;			/* creation calls are allowed: no listener */
	const char *work;		/* a tool's work folder; NULL without one */
	uint64_t file_bytes;		/* of a file that it writes; 0 for no bound */
	struct sock_fprog filter;
};

/* spec.c */
void spec_read(struct spec *spec);

/* message.c: control is the number of the caller's control socket */
extern int control;
void say(char kind, int32_t value, int fd);
_Noreturn void fail(const char *step, const char *object);
int hear(void);

/* root.c */
void root_build(const struct spec *spec);
void make_parents(const char *path);

/* copy.c */
uint64_t copies_take(const struct spec *spec);
void copies_give(const struct spec *spec);

/* init.c */
_Noreturn void init_main(const struct spec *spec, int built);

/* identity.c */
void drop_all_privilege(uint32_t uid, int change_uid);
void limit_resources(const struct spec *spec);
void reset_signals(void);

/* producer.c */
_Noreturn void producer_main(const struct spec *spec);

#endif
