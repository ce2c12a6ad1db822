/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/imports.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

static void see_library(const char *name, struct imports *imports)
{
	static const char *const allocators[] = { "libjemalloc", "libtcmalloc",
						  "libmimalloc" };

	if (!strncmp(name, "liburing", 8))
		snprintf(imports->io_uring, sizeof(imports->io_uring), "%s", name);
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (!strncmp(name, allocators[i], strlen(allocators[i])))
			snprintf(imports->allocator, sizeof(imports->allocator), "%s",
				 name);
}

static void see_needed(Elf *elf, Elf_Data *data, size_t strings, struct imports *imports)
{
	GElf_Dyn entry;

	for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name = elf_strptr(elf, strings, entry.d_un.d_val);

		if (entry.d_tag == DT_NEEDED && name)
			see_library(name, imports);
	}
}

static void see_symbols(Elf *elf, Elf_Data *data, size_t strings, struct imports *imports)
{
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, strings, symbol.st_name);

		if (symbol.st_shndx != SHN_UNDEF || !name)
			continue;
		imports->maps =
			imports->maps || !strcmp(name, "mmap") || !strcmp(name, "mmap64");
		imports->raw = imports->raw || !strcmp(name, "syscall");
	}
}

static void see_section(Elf *elf, Elf_Scn *section, struct imports *imports)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header))
		return;
	if (header.sh_type == SHT_DYNAMIC)
		see_needed(elf, data, header.sh_link, imports);
	else if (header.sh_type == SHT_DYNSYM)
		see_symbols(elf, data, header.sh_link, imports);
}

bool imports_read(const char *path, struct imports *imports)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	bool is_elf;
	Elf *elf;

	memset(imports, 0, sizeof(*imports));
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	while (is_elf && (section = elf_nextscn(elf, section)))
		see_section(elf, section, imports);
	elf_end(elf);
	close(fd);
	return is_elf;
}
