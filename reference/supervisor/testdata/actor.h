/* actor.h: what the two halves of the actor share. */
#ifndef ACTOR_H
#define ACTOR_H

#include <stddef.h>

/* all writes n bytes, or ends with status 70. */
void all(int fd, const char *from, size_t n);

/* open_sink takes the sink and snapshot descriptors and the file to copy. If the words do not mention the sink, it is
 * closed at once. */
void open_sink(const char *words, const char *path);

/* act_on_sink obeys one word about the sink; 0 if it is none. */
int act_on_sink(const char *word, const char *value, long n);

#endif
