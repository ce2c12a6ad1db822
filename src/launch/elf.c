/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_sanitizer(const char *library)
{
	return !strncmp(library, "libasan.so", strlen("libasan.so")) ||
	       !strncmp(library, "libclang_rt.asan", strlen("libclang_rt.asan"));
}

static void read_loader(Elf *elf, const GElf_Phdr *segment, struct elf_facts *facts)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset,
					      segment->p_filesz, ELF_T_BYTE);

	if (data && data->d_size && data->d_size < sizeof(facts->loader)) {
		memcpy(facts->loader, data->d_buf, data->d_size);
		facts->loader[data->d_size] = '\0';
	}
}

static void read_segments(Elf *elf, struct elf_facts *facts)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_INTERP)
			read_loader(elf, &segment, facts);
	}
}

static void read_needed(Elf *elf, Elf_Scn *section, size_t strings,
			struct elf_facts *facts)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL;
	     i++) {
		const char *name;

		if (entry.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, strings, entry.d_un.d_val);
		if (name && is_sanitizer(name) && strlen(name) < sizeof(facts->sanitizer))
			strcpy(facts->sanitizer, name);
	}
}

/* Why by name: it is what Go's own tools look for, and it outlives strip. */
static bool is_go(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".go.buildinfo"))
			return true;
	}
	return false;
}

/* Why sections: libelf finds strings by them; a program stripped of them has no ASan. */
static void read_dynamic(Elf *elf, struct elf_facts *facts)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			read_needed(elf, section, header.sh_link, facts);
	}
}

static int read_facts(Elf *elf, struct elf_facts *facts)
{
	GElf_Ehdr header;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -ENOEXEC;
	facts->bits = header.e_ident[EI_CLASS];
	facts->order = header.e_ident[EI_DATA];
	facts->machine = header.e_machine;
	facts->type = header.e_type;
	facts->go = is_go(elf);
	read_dynamic(elf, facts);
	read_segments(elf, facts);
	return 0;
}

int elf_read(const char *path, struct elf_facts *facts)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	int result;

	memset(facts, 0, sizeof(*facts));
	if (fd < 0)
		return -errno;
	if (elf_version(EV_CURRENT) == EV_NONE) {
		close(fd);
		return -ENOSYS;
	}
	elf = elf_begin(fd, ELF_C_READ, NULL);
	result = read_facts(elf, facts);
	elf_end(elf);
	close(fd);
	return result;
}

bool elf_same_target(const struct elf_facts *a, const struct elf_facts *b)
{
	return a->bits == b->bits && a->order == b->order && a->machine == b->machine;
}

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_386:
		return "i386";
	case EM_X86_64:
		return "x86-64";
	case EM_ARM:
		return "Arm";
	case EM_AARCH64:
		return "AArch64";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "PowerPC";
	case EM_S390:
		return "S/390";
	case EM_MIPS:
		return "MIPS";
	default:
		return NULL;
	}
}

void elf_describe(const struct elf_facts *facts, char line[WP_ELF_TARGET_BYTES])
{
	const char *bits = facts->bits == ELFCLASS64 ? "64-bit" : "32-bit";
	const char *name = machine_name(facts->machine);

	if (name)
		snprintf(line, WP_ELF_TARGET_BYTES, "%s %s", bits, name);
	else
		snprintf(line, WP_ELF_TARGET_BYTES, "%s machine %u", bits,
			 facts->machine);
}
