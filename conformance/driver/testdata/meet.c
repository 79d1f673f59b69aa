/* meet: candidate bytes around three meetings with the driver. */
#include "fixture.h"

FIXTURE_PAYLOAD;

void fixture_create(void)
{
	rendezvous(1);
	say("poked %llu", (unsigned long long)fixture_state.word[0]);
	candidate_write("abc", 3);
	rendezvous(2);
	candidate_write(fixture_payload.bytes, fixture_payload.size);
	rendezvous(3);
	say("end %s", arg("word", "none"));
}
