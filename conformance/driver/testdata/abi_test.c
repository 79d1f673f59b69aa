/* The seam of no engine: the control program's entry point is enough. */
#include "fixture.h"
