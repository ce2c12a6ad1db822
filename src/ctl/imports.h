/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program asks other libraries for, as far as that says where its bytes may go unseen.
 */
#ifndef WP_CTL_IMPORTS_H
#define WP_CTL_IMPORTS_H

#include "base/types.h"

struct imports {
	char io_uring[64];  /* the library, "" = none */
	char allocator[64]; /* one of its own, "" = libc's */
	bool maps;          /* it may store to mapped files */
	bool raw;           /* syscall() */
};

/* False: no ELF, or it can not be read. Libraries' own libraries are not looked at. */
bool imports_read(const char *path, struct imports *imports);

#endif
