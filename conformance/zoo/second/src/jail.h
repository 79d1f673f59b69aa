/* The isolation of the producer: private namespaces, an identity of its own, no capabilities, a filter whose
 * listener the supervisor holds (R02, R18). */
#ifndef JAIL_H
#define JAIL_H

#include "second.h"

#include <linux/filter.h>

#define INIT_ID 61183u      /* identity of the first process of the namespace */
#define PRODUCER_ID 61184u  /* first of the 4096 identities of producers (C-79) */
#define ROOT_OPTIONS "size=67108864,nr_inodes=4096,mode=0755"
#define FILTER_ROOM 256

enum jail_result { JAIL_READY, JAIL_PLATFORM, JAIL_POLICY, JAIL_DESCRIPTOR };

struct jail {
	pid_t init, producer;
	int init_link, init_handle, producer_handle; /* socket; pidfds */
	int listener, diagnostic, candidate;
};

/* Builds everything and lets the producer go. On anything but JAIL_READY no customer code has run; what was
 * started is for the caller to kill. deadline is in ns. */
enum jail_result jail_start(struct jail *jail, const struct request *request, const struct launch *launch,
                            uint64_t deadline);

/* The first process of a new pid namespace; *link is the socket that asks it "q" and whose end ends it. */
pid_t init_start(int *link);

/* What the child says on its way: an errno, or the number of its listener. */
struct jail_word {
	int error, listener;
};

/* Descriptors that the child inherits on purpose. */
struct jail_child {
	const struct request *request;
	const char *spool, *attempt;
	int diagnostic, candidate; /* write ends */
	int word, go;              /* its word out; the supervisor's leave to start */
	uid_t id;
};

void jail_child_run(const struct jail_child *child) __attribute__((noreturn));
/* Private root folder: the system's libraries, the producer and its two inputs, an empty /tmp. 0 or an errno. */
int root_enter(const struct jail_child *child);
/* Paths of the inputs inside that root. */
void root_path(char to[256], const char *from);
/* Installs the filter and returns its listener, or -1. */
int filter_install(void);
/* Name of the process-creating call behind a notification, or NULL. */
const char *filter_operation(uint32_t architecture, int number);
/* Whether the parked child is what jail_child_run promises, seen from outside. */
bool attest(pid_t pid, const struct jail_child *child);
/* The folder of this program's own file, without a final slash. */
bool own_folder(char to[256]);

#endif
