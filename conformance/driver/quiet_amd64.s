#include "textflag.h"

// func quietHandler() uintptr
// The address of a signal handler that returns at once.
TEXT ·quietHandler(SB), NOSPLIT, $0-8
	LEAQ quiet<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

TEXT quiet<>(SB), NOSPLIT|NOFRAME, $0
	RET
