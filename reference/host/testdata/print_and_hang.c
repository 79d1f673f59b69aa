/* print_and_hang: writes one byte to fd 2 at its first bar and never returns from it.
 *
 * Arranges: a run that is known to have begun, and that only a request to stop ends.
 */
#include "../../../fixtures/native/fixture.h"

#include <unistd.h>

void fixture_bar(void)
{
	while (write(2, ".", 1) != 1)
		;
	for (;;)
		pause();
}
