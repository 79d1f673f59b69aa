/* Keys of the objects that are open: a stack of hashes, chained into buckets. Objects close in the reverse order
 * of opening, so the newest keys are always the heads of their chains and leave without a search. */
#include "scan.h"

#define BUCKETS (SCAN_KEYS / 2)

/* Equal keys of different objects must differ: mixes the identity of the object in. */
static uint64_t identity(const struct scan *scan)
{
	uint64_t mixed = scan->hash ^ (scan->first_key[scan->depth] + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	mixed ^= (uint64_t)scan->depth << 56;
	return mixed ? mixed : 1;
}

static uint32_t *chain(struct scan *scan, uint64_t hash)
{
	return &scan->bucket[(hash ^ hash >> 32) % BUCKETS];
}

enum scan_result scan_key_add(struct scan *scan)
{
	uint64_t hash = identity(scan);
	uint32_t *head = chain(scan, hash);

	for (uint32_t at = *head; at != 0; at = scan->keys[at - 1].next)
		if (scan->keys[at - 1].hash == hash && at - 1 >= scan->first_key[scan->depth])
			return SCAN_BAD;
	if (scan->live == SCAN_KEYS)
		return SCAN_BAD;
	scan->keys[scan->live] = (struct scan_key){hash, *head};
	*head = ++scan->live;
	return SCAN_GOOD;
}

void scan_keys_drop(struct scan *scan)
{
	while (scan->live > scan->first_key[scan->depth]) {
		struct scan_key *key = &scan->keys[--scan->live];

		*chain(scan, key->hash) = key->next;
	}
}
