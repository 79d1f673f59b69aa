/* scan_probe: judges documents as the launcher's worker would, for scan_test.go.
 *
 * Standard input: for each document its size and the size of the pieces to feed it in (both uint32_t, native order),
 * then its bytes. Standard output: one letter a document: R report, C claim, M malformed, P partial.
 */
#include "shape.h"

#include <stdio.h>
#include <stdlib.h>

static int judge(const unsigned char *bytes, size_t n, size_t piece)
{
	static struct shape shape;
	static struct verdict verdict;

	if (shape_start(&shape, OPERATION_BACKTEST) != 0)
		return '!';
	for (size_t at = 0; at < n && verdict.kind == 0; at += piece)
		if (shape_add(&shape, bytes + at, n - at < piece ? n - at : piece))
			verdict.kind = VERDICT_MALFORMED;
	if (verdict.kind != VERDICT_MALFORMED)
		shape_finish(&shape, &verdict);
	int kind = verdict.kind;

	verdict.kind = 0;
	free(shape.scan.keys);
	free(shape.scan.bucket);
	return "?RCMP"[kind];
}

int main(void)
{
	uint32_t head[2];

	while (fread(head, sizeof head, 1, stdin) == 1) {
		unsigned char *bytes = malloc(head[0] + 1);

		if (bytes == NULL || fread(bytes, 1, head[0], stdin) != head[0])
			return 1;
		putchar(judge(bytes, head[0], head[1]));
		free(bytes);
	}
	return 0;
}
