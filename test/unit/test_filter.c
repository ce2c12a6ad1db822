/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: the filter's program, run by an interpreter of what it may consist of, against what
 * calls.def says of each call.
 */
#include "unit.h"

#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>

#include "any/calls.h"
#include "any/filter.h"
#include "host/inside.h"

static struct filter filter;

static uint32_t load(const struct seccomp_data *data, uint32_t at)
{
	uint32_t value;

	assert_true(at % 4 == 0 && at + 4 <= sizeof(*data));
	memcpy(&value, (const char *)data + at, sizeof(value));
	return value;
}

static uint32_t run(const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t at = 0; at < filter.count; at++) {
		const struct sock_filter *one = &filter.code[at];

		switch (one->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(data, one->k);
			break;
		case BPF_JMP | BPF_JA:
			at += one->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += a == one->k ? one->jt : one->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			at += a >= one->k ? one->jt : one->jf;
			break;
		case BPF_RET | BPF_K:
			return one->k;
		default:
			fail_msg("an instruction of another kind: %#x", one->code);
		}
	}
	fail_msg("it ends without an answer");
	return 0;
}

static int setup(void **state)
{
	(void)state;
	filter_build(&filter);
	return 0;
}

static struct seccomp_data data_of(uint32_t arch, int number)
{
	return (struct seccomp_data){ .arch = arch, .nr = number };
}

static void lengths(uint32_t arch, int number, int length)
{
	static const struct {
		uint64_t bytes;
		uint32_t answer;
	} cases[] = {
		{ 0, SECCOMP_RET_ALLOW },
		{ 1, SECCOMP_RET_ALLOW },
		{ 4095, SECCOMP_RET_ALLOW },
		{ 4096, SECCOMP_RET_USER_NOTIF },
		{ 1 << 20, SECCOMP_RET_USER_NOTIF },
		{ UINT64_C(1) << 32, SECCOMP_RET_USER_NOTIF },
		{ INT64_MAX, SECCOMP_RET_USER_NOTIF },
	};
	struct seccomp_data data = data_of(arch, number);

	/* the other arguments do not count */
	memset(data.args, 0xff, sizeof(data.args));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		data.args[length] = cases[i].bytes;
		assert_int_equal(run(&data), cases[i].answer);
	}
}

static void check_call(uint32_t arch, int number, int length)
{
	struct seccomp_data data = data_of(arch, number);

	if (number < 0)
		return;
	if (length >= 0)
		lengths(arch, number, length);
	else
		assert_int_equal(run(&data), SECCOMP_RET_USER_NOTIF);
}

TEST(each_call_waits)
{
	for (size_t i = 0; i < call_count; i++) {
		check_call(CALLS_NATIVE_ARCH, calls[i].native, calls[i].length);
#ifdef CALLS_COMPAT_ARCH
		check_call(CALLS_COMPAT_ARCH, calls[i].compat, calls[i].length);
#endif
	}
}

static void check_others(uint32_t arch)
{
	for (int number = 0; number < 1000; number++) {
		struct seccomp_data data = data_of(arch, number);

		memset(data.args, 0xff, sizeof(data.args));
		if (!calls_find(arch, number))
			assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
	}
}

TEST(others_pass)
{
	check_others(CALLS_NATIVE_ARCH);
#ifdef CALLS_COMPAT_ARCH
	check_others(CALLS_COMPAT_ARCH);
#endif
}

/* Of an ABI that is not known everything passes, x32 among them. */
TEST(unknown_abi_passes)
{
	struct seccomp_data data = data_of(AUDIT_ARCH_PPC64LE, SYS_write);

	data.args[2] = 1 << 20;
	assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
	data = data_of(CALLS_NATIVE_ARCH, SYS_write | 0x40000000);
	data.args[2] = 1 << 20;
	assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
}

TEST(it_tells_who_is_inside)
{
	struct seccomp_data data = data_of(CALLS_NATIVE_ARCH, SYS_prctl);

	assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
	data.args[0] = INSIDE_PRCTL;
	assert_int_equal(run(&data), SECCOMP_RET_ERRNO | INSIDE_ERRNO);
	/* and where there is no filter the kernel says something else */
	assert_false(inside_any());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_waits),
		cmocka_unit_test(others_pass),
		cmocka_unit_test(unknown_abi_passes),
		cmocka_unit_test(it_tells_who_is_inside),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
