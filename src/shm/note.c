/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shm/note.h"

#include <string.h>

#include "base/order.h"

union words {
	struct verdict verdict;
	uint64_t word[WP_VERDICT_WORDS];
};

_Static_assert(sizeof(struct verdict) <= sizeof(uint64_t[WP_VERDICT_WORDS]),
	       "struct verdict outgrew its place");

struct wp_note *note_of(struct wp_segment *segment, int slot,
			const struct task_identity *identity)
{
	struct wp_note *note = &segment->notes[slot];
	uint64_t *words = (uint64_t *)note;

	if (word_read(&note->id) == identity->id &&
	    word_read(&note->start_ns) == identity->start_ns)
		return note;
	for (size_t i = 0; i < sizeof(*note) / sizeof(*words); i++)
		word_write(&words[i], 0);
	word_write(&note->start_ns, identity->start_ns);
	word_write(&note->id, identity->id);
	return note;
}

bool note_is_of(const struct wp_note *note, const struct wp_task *task)
{
	return word_read(&note->id) && word_read(&note->id) == word_read(&task->id) &&
	       word_read(&note->start_ns) == word_read(&task->start_ns);
}

void note_put(struct wp_note *note, const struct verdict *verdict)
{
	union words words = { .word = { 0 } };

	words.verdict = *verdict;
	for (size_t i = 0; i < WP_VERDICT_WORDS; i++)
		word_write(&note->verdict[i], words.word[i]);
	word_add(&note->verdicts, 1);
}

/* Why: a damaged word may hold what no bool is. */
static void mend_flag(bool *flag)
{
	unsigned char byte;

	memcpy(&byte, flag, sizeof(byte));
	*flag = byte & 1;
}

bool note_get(const struct wp_note *note, struct verdict *verdict)
{
	union words words;

	for (size_t i = 0; i < WP_VERDICT_WORDS; i++)
		words.word[i] = word_read(&note->verdict[i]);
	mend_flag(&words.verdict.free_running);
	mend_flag(&words.verdict.at_wall);
	mend_flag(&words.verdict.again);
	*verdict = words.verdict;
	return word_read(&note->verdicts) > 0;
}
