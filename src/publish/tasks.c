/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <string.h>

#include "publish/publish.h"

#define PREFIX "tasks."

static void tame(struct wp_published_task *task)
{
	char *at = task->name;

	task->name[sizeof(task->name) - 1] = '\0';
	for (; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
			*at = '?';
	}
}

uint32_t published_tasks(const char *folder, struct wp_published_task *tasks,
			 uint32_t room)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	uint32_t count = 0;

	while (stream && count < room && (entry = readdir(stream))) {
		struct wp_published_set set;

		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
		    published_read(folder, entry->d_name, &set, tasks + count,
				   sizeof(*tasks), room - count))
			count += (uint32_t)set.entries;
	}
	if (stream)
		closedir(stream);
	for (uint32_t i = 0; i < count; i++)
		tame(&tasks[i]);
	return count;
}
