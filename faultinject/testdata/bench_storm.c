/*
 * bench_storm: call fsync on descriptor 1 until it has failed COUNT times.
 *
 * Used by the benchmark only. Exit: 0.
 */
#include "target.h"

int
main(int argc, char **argv)
{
	if (argc != 2)
		usage("bench_storm COUNT");
	for (long left = atol(argv[1]); left > 0;)
		left -= fsync(1) < 0;
	return 0;
}
