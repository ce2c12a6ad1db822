/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observer/image.h"

/* Why not an array of numbers: nothing has to make one. WP_IMAGE is given by the build. */
__asm__(".section .rodata\n"
	".balign 16\n"
	".globl image_begin\n"
	"image_begin:\n"
	".incbin \"" WP_IMAGE "\"\n"
	".globl image_end\n"
	"image_end:\n"
	".byte 0\n"
	".previous\n");
