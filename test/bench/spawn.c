/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a preload library adds to the start of a program: spawns /bin/true in rounds, each
 * round once without and once with each library, and prints for each its median time and
 * the median of what it took more than the plain one of the same round.
 *
 *	spawn ROUNDS LIBRARY...
 */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP_ROUNDS 10

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Our environment with LD_PRELOAD set to library, or without it. */
static char **environment(const char *library)
{
	size_t nr = 0;
	size_t at = 0;
	char **env;

	while (environ[nr])
		nr++;
	env = calloc(nr + 2, sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11))
			env[at++] = environ[i];
	if (library && asprintf(&env[at], "LD_PRELOAD=%s", library) < 0)
		return NULL;
	return env;
}

/* Time from the spawn to the end of the child, negative when it did not work out. */
static int64_t spawn_ns(char **env)
{
	static char program[] = "/bin/true";
	char *argv[] = { program, NULL };
	int64_t start_ns = now_ns();
	int status;
	pid_t pid;

	errno = posix_spawn(&pid, argv[0], NULL, NULL, argv, env);
	if (errno || waitpid(pid, &status, 0) != pid)
		return -1;
	if (status) {
		errno = ECHILD;
		return -1;
	}
	return now_ns() - start_ns;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a;
	int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static double median_us(int64_t *values_ns, size_t nr)
{
	qsort(values_ns, nr, sizeof(*values_ns), by_value);
	return (double)(values_ns[nr / 2] + values_ns[(nr - 1) / 2]) / 2000;
}

/* Variant 0 is the plain one, took_ns is [variant][round]. */
static int run(char ***env, size_t variant_nr, int64_t *took_ns, size_t rounds)
{
	for (size_t r = 0; r < rounds + WARM_UP_ROUNDS; r++)
		for (size_t v = 0; v < variant_nr; v++) {
			int64_t ns = spawn_ns(env[v]);

			if (ns < 0)
				return -1;
			if (r >= WARM_UP_ROUNDS)
				took_ns[v * rounds + r - WARM_UP_ROUNDS] = ns;
		}
	return 0;
}

static int fail(void)
{
	fprintf(stderr, "spawn: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	long rounds_given = argc < 3 ? 0 : strtol(argv[1], NULL, 10);
	size_t variant_nr = (size_t)argc - 1;
	int64_t *added_ns;
	int64_t *took_ns;
	size_t rounds;
	char ***env;

	if (rounds_given < 1 || rounds_given > 1000000) {
		fprintf(stderr, "usage: spawn ROUNDS LIBRARY...\n");
		return 2;
	}
	rounds = (size_t)rounds_given;
	env = calloc(variant_nr, sizeof(*env));
	took_ns = calloc(variant_nr * rounds, sizeof(*took_ns));
	added_ns = calloc(rounds, sizeof(*added_ns));
	if (!env || !took_ns || !added_ns)
		return fail();
	for (size_t v = 0; v < variant_nr; v++) {
		env[v] = environment(v ? argv[v + 1] : NULL);
		if (!env[v])
			return fail();
	}
	if (run(env, variant_nr, took_ns, rounds))
		return fail();

	/* From the last variant on: sorting the plain one ends the pairing. */
	for (size_t v = variant_nr; v-- > 0;) {
		int64_t *own_ns = took_ns + v * rounds;

		for (size_t r = 0; r < rounds; r++)
			added_ns[r] = own_ns[r] - took_ns[r];
		printf("%s start_us=%.1f added_us=%.1f\n", v ? argv[v + 1] : "plain",
		       median_us(own_ns, rounds), median_us(added_ns, rounds));
	}
	return 0;
}
