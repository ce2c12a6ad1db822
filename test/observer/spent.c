/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spent COMMAND ...: runs it and prints the microseconds of processor time that it took.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t span_us(struct timeval span)
{
	return span.tv_sec * INT64_C(1000000) + span.tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2)
		return EXIT_FAILURE;
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		return EXIT_FAILURE;
	printf("%" PRId64 "\n", span_us(usage.ru_utime) + span_us(usage.ru_stime));
	return EXIT_SUCCESS;
}
