/* late_error: a run that fails only when it is asked, after its execution was observed to be over.
 *
 * Arranges: a failure without a code in the phase result_assembly.
 * Seams:    window.
 * Used by:  the producer tests.
 */
#include "fixture.h"

static int asked;

void fixture_get(void) { asked = 1; }
const char *fixture_error(void) { return asked ? "late" : NULL; }
