/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded before the library: ends the program when STRICT_LIBRARY, a part of an object's path,
 * calls the heap, a lock, the environment or the loader after the program's first own call of
 * one of them. Built and used by test/shim/hazards.sh; glibc on x86-64 only.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void __libc_free(void *old);

static uintptr_t first, last; /* of the library's code */
static bool armed;            /* constructors are over */
void *strict_dlsym;

static int find(struct dl_phdr_info *info, size_t bytes, void *name)
{
	(void)bytes;
	if (!strstr(info->dlpi_name, name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
			first = info->dlpi_addr + part->p_vaddr;
			last = first + part->p_memsz;
		}
	}
	return 1;
}

/* By the program's own hand (a weak reference to this), when it is ready. */
void strict_begin(void);
void strict_begin(void)
{
	const char *name = NULL;

	for (char **entry = environ; *entry; entry++) {
		if (!strncmp(*entry, "STRICT_LIBRARY=", 15))
			name = *entry + 15;
	}
	if (name)
		dl_iterate_phdr(find, (void *)(uintptr_t)name);
	if (!first)
		abort();
	armed = true;
}

void strict_look(uintptr_t from, const char *what);
void strict_look(uintptr_t from, const char *what)
{
	if (!armed || from < first || from >= last)
		return;
	armed = false;
	(void)!write(2, what, strlen(what));
	(void)!write(2, " called by the library\n", 23);
	abort();
}

#define LOOK(what) strict_look((uintptr_t)__builtin_return_address(0), what)

void *malloc(size_t bytes)
{
	LOOK("malloc");
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	LOOK("calloc");
	return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	LOOK("realloc");
	return __libc_realloc(old, bytes);
}

void free(void *old)
{
	LOOK("free");
	__libc_free(old);
}

char *getenv(const char *name)
{
	size_t length = strlen(name);

	LOOK("getenv");
	for (char **entry = environ; *entry; entry++) {
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return *entry + length + 1;
	}
	return NULL;
}

/* Why assembly: RTLD_NEXT goes by the caller's address, which a frame of ours would hide. */
__attribute__((constructor)) static void begin(void)
{
	strict_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!strict_dlsym)
		strict_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
}

static const char dlsym_name[] __attribute__((used)) = "dlsym";
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"push %rdi\n push %rsi\n sub $8, %rsp\n"
	"mov 24(%rsp), %rdi\n lea dlsym_name(%rip), %rsi\n call strict_look@PLT\n"
	"add $8, %rsp\n pop %rsi\n pop %rdi\n"
	"mov strict_dlsym@GOTPCREL(%rip), %rax\n"
	"mov (%rax), %rax\n test %rax, %rax\n jz 1f\n jmp *%rax\n"
	"1: push %rdi\n push %rsi\n sub $8, %rsp\n call strict_early@PLT\n"
	"add $8, %rsp\n pop %rsi\n pop %rdi\n jmp *%rax\n");

/* The library's constructor may come before ours. */
void *strict_early(void);
void *strict_early(void)
{
	begin();
	return strict_dlsym;
}
