/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an ELF file says about who can load it.
 */
#ifndef WP_LAUNCH_ELF_H
#define WP_LAUNCH_ELF_H

#include <limits.h>

#include "base/types.h"

#define WP_ELF_NAME_BYTES 256
#define WP_ELF_TARGET_BYTES 48

struct elf_facts {
	unsigned char bits;  /* ELFCLASS32 or ELFCLASS64 */
	unsigned char order; /* ELFDATA2LSB or ELFDATA2MSB */
	unsigned short machine;
	unsigned short type;
	bool go;               /* built by the Go compiler, with or without a loader */
	char loader[PATH_MAX]; /* the dynamic loader it asks for, "" = none: static */
	char sanitizer[WP_ELF_NAME_BYTES]; /* the ASan library it needs, "" = none */
};

/* Returns 0, -errno, or -ENOEXEC where the file is not ELF. */
int elf_read(const char *path, struct elf_facts *facts) WP_MUST_CHECK;

/* Do both run as one kind of process? */
bool elf_same_target(const struct elf_facts *a, const struct elf_facts *b);

/* "64-bit x86-64" */
void elf_describe(const struct elf_facts *facts, char line[WP_ELF_TARGET_BYTES]);

#endif
