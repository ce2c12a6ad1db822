/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gate.h"

#include "host/sys.h"

/* Fork: pages of its own, which a child finds zeroed (life.c). */
struct gate_entry gate_table[GATE_ENTRIES] __attribute__((aligned(4096)));

/* Why: a program that writes nothing need not have the table's pages at its end. */
static bool gate_used;

struct pace_process gate_process;
bool gate_inert = true;
__thread struct pace_task gate_task __attribute__((tls_model("initial-exec"))) =
	PACE_TASK_INIT;

/* Ask the kernel what @fd is. An entry in use by another descriptor gives way to this one. */
static enum gate_kind classify(int fd, struct gate_entry *entry)
{
	static const enum gate_kind kinds[] = {
		[BACKING_NONE] = GATE_PASS,
		[BACKING_ASIDE] = GATE_ASIDE,
		[BACKING_FILE] = GATE_PACED,
		[BACKING_BLOCK] = GATE_PACED,
	};
	enum gate_kind kind;
	struct backing backing;

	word_write(&entry->tag, 0);
	kernel_backing(fd, &backing);
	kind = kinds[backing.kind];
	entry->handle.backing = backing;
	pace_take_charged(&gate_process, &entry->handle);
	word_write(&entry->handle.slots, 0);
	if (fd < 0)
		return kind;
	gate_used = true;
	word_write(&entry->tag, gate_tag(fd, kind));
	return kind;
}

bool gate_slow(int fd, enum pace_manner manner)
{
	struct gate_entry *entry = gate_entry(fd);

	if (gate_inert || word_read(&entry->tag) == gate_tag(fd, GATE_ASIDE))
		return false;
	if (word_read(&entry->tag) != gate_tag(fd, GATE_PACED))
		return classify(fd, entry) == GATE_PACED;
	if (pace_before(&gate_process, &gate_task, &entry->handle, fd, manner))
		return true;
	return classify(fd, entry) == GATE_PACED;
}

struct wp_device *gate_sync(int fd)
{
	struct gate_entry *entry = gate_entry(fd);

	if (gate_inert || fd < 0)
		return NULL;
	if (word_read(&entry->tag) != gate_tag(fd, GATE_PACED) &&
	    classify(fd, entry) != GATE_PACED)
		return NULL;
	return pace_sync_begin(&gate_process, &gate_task, &entry->handle, fd);
}

void gate_close_known(int fd)
{
	struct gate_entry *entry = gate_entry(fd);

	if (word_read(&entry->tag) == gate_tag(fd, GATE_PACED) &&
	    pace_has_dirt(&entry->handle))
		pace_close(&gate_process, &gate_task, &entry->handle, fd);
	/* Signal: by now it may be another's. */
	if (word_read(&entry->tag) >> 2 == (uint64_t)(uint32_t)fd + 1)
		word_write(&entry->tag, 0);
}

int gate_find(const struct backing *backing)
{
	for (uint32_t i = 0; i < GATE_ENTRIES; i++) {
		uint64_t tag = word_read(&gate_table[i].tag);
		const struct pace_handle *handle = &gate_table[i].handle;
		int fd = (int)((tag >> 2) - 1);

		if (tag && tag == gate_tag(fd, GATE_PACED) && pace_has_dirt(handle) &&
		    handle->backing.inode == backing->inode &&
		    handle->backing.device == backing->device)
			return fd;
	}
	return -1;
}

int gate_other(const struct pace_handle *handle, struct pace_handle **found)
{
	uint64_t slots = word_read(&handle->slots);
	uint64_t most_bytes = 0;
	int most = -1;

	for (uint32_t i = 0; i < GATE_ENTRIES; i++) {
		uint64_t tag = word_read(&gate_table[i].tag);
		struct pace_handle *other = &gate_table[i].handle;
		uint64_t other_slots = word_read(&other->slots);
		int fd = (int)((tag >> 2) - 1);
		uint64_t bytes;

		if (!tag || tag != gate_tag(fd, GATE_PACED) || other_slots == slots ||
		    other_slots >> 32 != slots >> 32)
			continue;
		bytes = pace_outstanding_bytes(&gate_process, other);
		if (bytes > most_bytes) {
			most_bytes = bytes;
			most = fd;
			*found = other;
		}
	}
	return most;
}

void gate_close_range(uint32_t first, uint32_t last)
{
	if (!gate_used)
		return;
	for (uint32_t i = 0; i < GATE_ENTRIES; i++) {
		uint64_t tag = word_read(&gate_table[i].tag);
		uint64_t fd = (tag >> 2) - 1;

		if (tag && fd >= first && fd <= last)
			gate_close((int)fd);
	}
}

void gate_retire(void)
{
	if (gate_inert || !pace_own(&gate_process, &gate_task))
		return;
	gate_finish();
	gate_inert = true;
	word_write(&gate_process.retired, 1);
	for (uint32_t i = 0; i < GATE_ENTRIES; i++) {
		if (gate_table[i].tag)
			word_write(&gate_table[i].tag, 0);
	}
}
