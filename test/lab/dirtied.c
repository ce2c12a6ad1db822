/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a command and writes what it and its children dirtied into a file, as the kernel counts.
 * Exit status: the command's, 128 and the signal that ended it.
 *
 * Usage: dirtied FILE COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	FILE *file;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &usage))
		return 2;
	file = fopen(argv[1], "w");
	if (!file || fprintf(file, "kernel=%ld\n", usage.ru_oublock * 512) < 0 ||
	    fclose(file))
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
