/* Without the channel contract: the engine in this very process, its report on standard output. */
#include "jail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void legacy_run(const struct request *request)
{
	char program[288], *operation = request->operation == OPERATION_BACKTEST ? "backtest" : "capabilities";
	char *argv[] = {"second-producer", operation, "unjailed", (char *)request->library, (char *)request->bars, NULL};

	if (request->refused) {
		fputs("second: these options are not understood, or need --report-channel supervised/v1\n", stderr);
		exit(2);
	}
	if (request->mode) {
		printf("{\"args\":{\"contract\":\"pineforge-report/v1\",\"mode\":\"%s\"},\"code\":\"report_mode_unsupported\","
		       "\"engine\":\"%s\",\"error\":\"this report mode is not provided\"}\n", request->mode, ENGINE);
		exit(1);
	}
	if (own_folder(program) && setenv("OSPREY_ANSWER", "1", 1) == 0) {
		strcat(program, "/second-producer");
		execv(program, argv);
	}
	perror("second: start the producer");
	exit(1);
}
