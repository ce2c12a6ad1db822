/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "next.h"

#include <stdbool.h>
#include <string.h>

#define HIDDEN_VERSION 0x8000 /* for programs that were linked with it, not for dlsym() */
#define WORD_BITS (8 * sizeof(ElfW(Addr)))

extern ElfW(Dyn) _DYNAMIC[];
/* What glibc shows debuggers: all that is loaded, in order. Others have none, or another name. */
extern struct r_debug _r_debug __attribute__((weak));

/* A loader may have made addresses of a table's offsets, or not. */
static const void *table_at(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? base + value : value);
}

static bool read_object(struct next_object *object, const struct link_map *map)
{
	*object = (struct next_object){ .base = map->l_addr };
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		const void *table = table_at(object->base, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			object->symbols = table;
		else if (entry->d_tag == DT_STRTAB)
			object->strings = table;
		else if (entry->d_tag == DT_GNU_HASH)
			object->hashes = table;
		else if (entry->d_tag == DT_VERSYM)
			object->versions = table;
	}
	return object->symbols && object->strings && object->hashes &&
	       object->hashes[0] && object->hashes[2];
}

void next_look(struct next_objects *objects)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;

	objects->count = 0;
	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	if (!map)
		return;
	/* What comes after one that can not be read is not the next. */
	while ((map = map->l_next) && objects->count < NEXT_OBJECTS &&
	       read_object(&objects->list[objects->count], map))
		objects->count++;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_definition(const struct next_object *object, uint32_t number)
{
	const ElfW(Sym) *symbol = &object->symbols[number];

	return symbol->st_value && symbol->st_shndx != SHN_UNDEF &&
	       !(object->versions && object->versions[number] & HIDDEN_VERSION);
}

/* The number of the symbol, 0 where it is not defined. */
static uint32_t find_in(const struct next_object *object, const char *name, uint32_t hash)
{
	uint32_t bucket_count = object->hashes[0];
	uint32_t first = object->hashes[1];
	uint32_t word_count = object->hashes[2];
	const ElfW(Addr) *words = (const void *)(object->hashes + 4);
	const uint32_t *buckets = (const void *)(words + word_count);
	const uint32_t *chains = buckets + bucket_count;
	ElfW(Addr) word = words[hash / WORD_BITS % word_count];
	uint32_t number;

	if (!(word >> hash % WORD_BITS &
	      word >> (hash >> (object->hashes[3] & 31)) % WORD_BITS & 1))
		return 0;
	number = buckets[hash % bucket_count];
	if (number < first)
		return 0;
	for (;; number++) {
		uint32_t chain = chains[number - first];

		if ((chain | 1) == (hash | 1) &&
		    !strcmp(object->strings + object->symbols[number].st_name, name) &&
		    is_definition(object, number))
			return number;
		if (chain & 1)
			return 0;
	}
}

void *next_find(const struct next_objects *objects, const char *name)
{
	uint32_t hash = hash_of(name);

	for (uint32_t i = 0; i < objects->count; i++) {
		const struct next_object *object = &objects->list[i];
		uint32_t number = find_in(object, name, hash);
		const ElfW(Sym) *symbol = &object->symbols[number];

		if (!number)
			continue;
		if ((symbol->st_info & 0xf) != STT_FUNC)
			return NULL;
		return (void *)(object->base + symbol->st_value);
	}
	return NULL;
}
