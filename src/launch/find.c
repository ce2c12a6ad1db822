/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STANDARD_PATH "/bin:/usr/bin" /* what execvp() takes when PATH is not set */
#define BLANKS " \t"

/*
 * Can this process execute it? 0, -ENOENT or -EACCES. What cannot be seen is not there: a
 * folder of PATH that is closed to this user must not hide that a command was not found.
 */
static int try_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return -ENOENT;
	if (!S_ISREG(status.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
		return -EACCES;
	return 0;
}

static int search_path(const char *list, const char *command, char *path)
{
	char candidate[PATH_MAX];
	int result = -ENOENT;

	for (;; list++) {
		int length = (int)strcspn(list, ":");
		/* An empty entry is the current directory. */
		int used = snprintf(candidate, sizeof(candidate), "%.*s%s%s", length,
				    list, length ? "/" : "./", command);
		int tried = used < PATH_MAX ? try_file(candidate) : -ENOENT;

		if (tried == 0 || (tried == -EACCES && result == -ENOENT)) {
			result = tried;
			strcpy(path, candidate);
		}
		list += length;
		if (tried == 0 || !*list)
			return result;
	}
}

int find_command(const char *command, char *path)
{
	const char *list = getenv("PATH");

	if (!*command || strlen(command) >= PATH_MAX)
		return -ENOENT;
	if (!strchr(command, '/'))
		return search_path(list ? list : STANDARD_PATH, command, path);
	strcpy(path, command);
	if (access(path, F_OK) != 0 && errno == EACCES)
		return -EACCES;
	return try_file(path);
}

const char *find_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file's first line, without its end; "" where it cannot be read. */
static void first_line(const char *path, char line[WP_SCRIPT_LINE_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, line, WP_SCRIPT_LINE_BYTES - 1);

	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

bool find_script(const char *path, struct script *script)
{
	char line[WP_SCRIPT_LINE_BYTES];
	const char *word;
	size_t length;

	first_line(path, line);
	if (strncmp(line, "#!", 2) != 0)
		return false;
	length = strlen(line);
	while (length && strchr(BLANKS, line[length - 1]))
		line[--length] = '\0';
	word = line + 2 + strspn(line + 2, BLANKS);
	length = strcspn(word, BLANKS);
	memcpy(script->interpreter, word, length);
	script->interpreter[length] = '\0';
	word += length;
	strcpy(script->argument, word + strspn(word, BLANKS));
	return length > 0;
}

/* Words of env's command line that come before the command. */
static bool is_env_option(const char *word)
{
	return *word == '-' || strchr(word, '=');
}

/* Options of env that take the next word. */
static bool takes_a_word(const char *word)
{
	static const char *const options[] = { "-u", "--unset", "-C", "--chdir" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(word, options[i]))
			return true;
	return false;
}

/* What follows -S, --split-string or an S in a group of letters; NULL = no split. */
static const char *split_string(const char *argument)
{
	static const char long_option[] = "--split-string";
	size_t length = sizeof(long_option) - 1;

	if (!strncmp(argument, long_option, length) && strchr("= ", argument[length]))
		return argument + length + 1;
	if (argument[0] == '-' && argument[1] != '-') {
		const char *letter = argument + strcspn(argument, "S" BLANKS);

		return *letter == 'S' ? letter + 1 : NULL;
	}
	return NULL;
}

bool find_env_command(const char *argument, char command[WP_SCRIPT_LINE_BYTES])
{
	const char *words = split_string(argument);
	char line[WP_SCRIPT_LINE_BYTES];
	char *rest;

	/* Why: without -S the kernel gives env the whole rest of the line as one word. */
	if (!words) {
		strcpy(command, argument);
		return *argument && !is_env_option(argument);
	}
	if (strpbrk(words, "'\"\\$#"))
		return false;
	strcpy(line, words);
	for (char *word = strtok_r(line, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		if (!is_env_option(word)) {
			strcpy(command, word);
			return true;
		}
		if (takes_a_word(word))
			strtok_r(NULL, BLANKS, &rest);
	}
	return false;
}
