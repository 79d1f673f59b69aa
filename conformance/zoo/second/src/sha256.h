/* SHA-256 (FIPS 180-4), streaming. */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t word[8];
	uint64_t length;
	unsigned char block[64];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *bytes, size_t n);
/* Writes 64 lowercase hex digits and a NUL; hash itself is left as it is, so that more can be added. */
void sha256_hex(const struct sha256 *hash, char hex[65]);

#endif
