/* interrupted: trade_to_sink under a timer signal every millisecond, whose handler restarts nothing.
 *
 * Arranges: EINTR in every call that waits, until the process ends.
 * Seams:    sink.
 * Used by:  the producer tests.
 */
#include "fixture.h"

#include <signal.h>
#include <sys/time.h>

static void nothing(int signal) { (void)signal; }

void fixture_create(void)
{
	struct itimerval tick = {{0, 1000}, {0, 1000}};

	sigaction(SIGALRM, &(struct sigaction){.sa_handler = nothing}, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
}
