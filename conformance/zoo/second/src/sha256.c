#include "sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void schedule(uint32_t w[64], const unsigned char *from)
{
	for (int i = 0; i < 16; i++, from += 4)
		w[i] = (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void compress(uint32_t word[8], const unsigned char *from)
{
	uint32_t w[64], s[8];

	schedule(w, from);
	memcpy(s, word, sizeof s);
	/* The eight words keep their places; what each of them is called moves by one a round. */
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[-i & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7];
		uint32_t e = s[(4 - i) & 7], f = s[(5 - i) & 7], g = s[(6 - i) & 7], *h = &s[(7 - i) & 7];
		uint32_t one = *h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constant[i] + w[i];

		s[(3 - i) & 7] += one;
		*h = one + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
	}
	for (int i = 0; i < 8; i++)
		word[i] += s[i];
}

void sha256_start(struct sha256 *hash)
{
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(hash->word, first, sizeof first);
	hash->length = 0;
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t n)
{
	const unsigned char *from = bytes;

	while (n > 0) {
		size_t held = hash->length % 64, take = 64 - held < n ? 64 - held : n;

		memcpy(hash->block + held, from, take);
		hash->length += take;
		from += take;
		n -= take;
		if (held + take == 64)
			compress(hash->word, hash->block);
	}
}

void sha256_hex(const struct sha256 *hash, char hex[65])
{
	struct sha256 last = *hash;
	unsigned char size[8], zero = 0, one = 0x80;

	for (int i = 0; i < 8; i++)
		size[i] = (unsigned char)(hash->length * 8 >> (56 - 8 * i));
	sha256_add(&last, &one, 1);
	while (last.length % 64 != 56)
		sha256_add(&last, &zero, 1);
	sha256_add(&last, size, 8);
	for (int i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", last.word[i]);
}
