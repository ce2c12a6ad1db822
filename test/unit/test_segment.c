/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: design section 9: a file of mode 0600 in a directory of the user's own, one for all;
 * where anything about it is wrong, a private mapping, the wrong thing untouched, no error.
 * Every test works in a directory of its own.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/order.h"
#include "shm/segment.h"

static char directory[64];
static char path[96];

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/test_segment.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/segment", directory);
	return 0;
}

static unsigned for_each_entry(void (*act)(int directory_fd, const char *name))
{
	DIR *entries = opendir(directory);
	unsigned count = 0;

	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		if (entry->d_name[0] == '.' &&
		    (!entry->d_name[1] || !strcmp(entry->d_name, "..")))
			continue;
		count++;
		if (act)
			act(dirfd(entries), entry->d_name);
	}
	closedir(entries);
	return count;
}

static void remove_entry(int directory_fd, const char *name)
{
	if (unlinkat(directory_fd, name, 0))
		unlinkat(directory_fd, name, AT_REMOVEDIR);
}

static int remove_directory(void **state)
{
	(void)state;
	for_each_entry(remove_entry);
	return rmdir(directory);
}

static struct segment attach(const char *name)
{
	struct segment segment;

	memset(&segment, 0xa5, sizeof(segment));
	errno = 77;
	segment_attach_in(&segment, directory, name);
	assert_int_equal(errno, 77);
	assert_non_null(segment.map);
	return segment;
}

static void detach(struct segment *segment)
{
	munmap(segment->map, sizeof(struct wp_segment));
}

/* Usable, but nobody else's. */
static void assert_private(void)
{
	struct segment segment = attach("");
	struct segment other = attach("");

	assert_int_equal(segment.state, SEGMENT_PRIVATE);
	assert_true(segment_ready(&segment));
	word_write(&segment.map->devices[0].key, 99);
	assert_int_equal(word_read(&other.map->devices[0].key), 0);
	detach(&segment);
	detach(&other);
}

TEST(first_attach_makes_a_file_of_ones_own)
{
	struct segment segment = attach("");
	mode_t old_mask;
	struct stat st;

	assert_int_equal(segment.state, SEGMENT_SHARED);
	assert_true(segment_ready(&segment));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(st.st_size, sizeof(struct wp_segment));
	assert_true((uint64_t)st.st_blocks * 512 >= sizeof(struct wp_segment));
	assert_int_equal(for_each_entry(NULL), 1);
	detach(&segment);
	/* whatever the umask */
	unlink(path);
	old_mask = umask(0377);
	segment = attach("");
	umask(old_mask);
	assert_int_equal(segment.state, SEGMENT_SHARED);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	detach(&segment);
}

TEST(header_says_what_it_is)
{
	struct segment segment = attach("");
	struct wp_header *header = &segment.map->header;
	char boot_id[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	assert_true(header->magic == WP_LAYOUT_MAGIC);
	assert_int_equal(header->version, WP_LAYOUT_VERSION);
	assert_int_equal(header->segment_bytes, sizeof(struct wp_segment));
	assert_true(header->created_ns > 0);
	if (file) {
		assert_non_null(fgets(boot_id, sizeof(boot_id), file));
		fclose(file);
		assert_int_equal(strncmp((char *)header->boot_id, boot_id, 36), 0);
	}
	detach(&segment);
}

TEST(second_attach_sees_the_first)
{
	struct segment first = attach("");
	struct segment second = attach("");

	assert_int_equal(second.state, SEGMENT_SHARED);
	assert_true(segment_ready(&first) && segment_ready(&second));
	word_write(&first.map->tasks[WP_TASKS - 1].weight, 12345);
	assert_int_equal(word_read(&second.map->tasks[WP_TASKS - 1].weight), 12345);
	detach(&first);
	detach(&second);
	/* and what was there is kept for those that come later */
	second = attach("");
	assert_int_equal(word_read(&second.map->tasks[WP_TASKS - 1].weight), 12345);
	detach(&second);
}

TEST(names_are_segments_of_their_own)
{
	struct segment common = attach("");
	struct segment named = attach("backup");
	char small[8];

	assert_int_equal(named.state, SEGMENT_SHARED);
	word_write(&common.map->devices[3].key, 5);
	assert_int_equal(word_read(&named.map->devices[3].key), 0);
	assert_int_equal(for_each_entry(NULL), 2);
	strcat(path, ".backup");
	assert_int_equal(access(path, F_OK), 0);
	assert_false(segment_path(small, sizeof(small), "/a", "b"));
	detach(&common);
	detach(&named);
}

TEST(no_descriptor_stays_open)
{
	int before = dup(0);
	struct segment first;
	struct segment second;
	int after;

	close(before);
	first = attach("");
	second = attach("");
	after = dup(0);
	assert_int_equal(after, before);
	close(after);
	detach(&first);
	detach(&second);
}

TEST(many_at_once_share_one)
{
	enum { CHILDREN = 16 };
	struct segment segment;
	int start[2];
	int status = 0;

	assert_int_equal(pipe(start), 0);
	for (int i = 0; i < CHILDREN; i++) {
		char byte;

		if (fork())
			continue;
		close(start[1]);
		if (read(start[0], &byte, 1))
			_exit(2);
		segment_attach_in(&segment, directory, "");
		if (segment.state != SEGMENT_SHARED || !segment_ready(&segment))
			_exit(1);
		word_add(&segment.map->devices[0].starts, 1);
		_exit(0);
	}
	close(start[0]);
	close(start[1]);
	for (int i = 0; i < CHILDREN; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	segment = attach("");
	assert_int_equal(word_read(&segment.map->devices[0].starts), CHILDREN);
	assert_int_equal(for_each_entry(NULL), 1);
	detach(&segment);
}

TEST(children_share_a_private_mapping)
{
	struct segment segment;
	int status = 0;

	chmod(directory, 0755);
	segment = attach("");
	assert_int_equal(segment.state, SEGMENT_PRIVATE);
	if (!fork()) {
		word_write(&segment.map->devices[0].starts, 7);
		_exit(0);
	}
	wait(&status);
	assert_int_equal(word_read(&segment.map->devices[0].starts), 7);
	detach(&segment);
}

TEST(directory_that_others_may_enter_is_not_used)
{
	static const mode_t modes[] = { 0701, 0710, 0704, 0777, 01777 };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(directory, modes[i]), 0);
		assert_private();
		assert_int_equal(for_each_entry(NULL), 0);
	}
}

TEST(directory_that_is_a_link_is_not_used)
{
	char real[sizeof(directory)];

	strcpy(real, directory);
	strcat(directory, ".link");
	assert_int_equal(symlink(real, directory), 0);
	assert_private();
	unlink(directory);
	strcpy(directory, real);
	assert_int_equal(for_each_entry(NULL), 0);
}

TEST(no_directory_is_private)
{
	char real[sizeof(directory)];

	strcpy(real, directory);
	directory[0] = '\0';
	assert_private();
	strcpy(directory, "/nonexistent");
	assert_private();
	strcpy(directory, real);
}

/* A file in place of the segment, as a segment is but for what the caller then changes. */
static void place_file(off_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static void assert_untouched(const struct stat *before)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_ino, before->st_ino);
	assert_int_equal(st.st_mode, before->st_mode);
	assert_int_equal(st.st_size, before->st_size);
	assert_int_equal(st.st_mtim.tv_nsec, before->st_mtim.tv_nsec);
	assert_int_equal(for_each_entry(NULL), 1);
}

static void assert_refused(void)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_private();
	assert_untouched(&st);
}

TEST(file_that_others_may_read_is_not_used)
{
	static const mode_t modes[] = { 0640, 0604, 0620, 0610, 0666 };

	place_file(sizeof(struct wp_segment));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_refused();
	}
}

TEST(file_of_somebody_else_is_not_used)
{
	if (geteuid()) {
		print_message("# needs root to make such a file\n");
		skip();
	}
	place_file(sizeof(struct wp_segment));
	assert_int_equal(chown(path, 1, (gid_t)-1), 0);
	assert_refused();
}

TEST(directory_of_somebody_else_is_not_used)
{
	if (geteuid()) {
		print_message("# needs root to make such a directory\n");
		skip();
	}
	assert_int_equal(chown(directory, 1, (gid_t)-1), 0);
	assert_private();
	assert_int_equal(for_each_entry(NULL), 0);
}

TEST(short_file_is_not_used)
{
	place_file(sizeof(struct wp_segment) - 1);
	assert_refused();
	assert_int_equal(truncate(path, 0), 0);
	assert_refused();
}

TEST(link_is_not_followed)
{
	struct segment segment = attach("");
	char real[128];

	detach(&segment);
	snprintf(real, sizeof(real), "%s/segment.real", directory);
	assert_int_equal(rename(path, real), 0);
	assert_int_equal(symlink(real, path), 0);
	assert_private();
	assert_int_equal(for_each_entry(NULL), 2);
	/* nor one that leads nowhere made a file of */
	unlink(real);
	assert_private();
	assert_int_equal(access(real, F_OK), -1);
}

/* What it is linked to is somebody's work: of the right size, mode and owner. */
TEST(link_to_another_file_leaves_that_alone)
{
	struct segment segment;
	char real[128];
	char byte = 0;
	int fd;

	place_file(sizeof(struct wp_segment));
	snprintf(real, sizeof(real), "%s/work", directory);
	fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, "work", 4, 0), 4);
	assert_int_equal(link(path, real), 0);
	segment = attach("");
	assert_true(segment_ready(&segment));
	assert_int_equal(segment.state, SEGMENT_PRIVATE);
	memset(segment.map, 1, sizeof(*segment.map));
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'w');
	for (off_t at = 4; at < (off_t)sizeof(struct wp_segment); at += 997) {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		assert_int_equal(byte, 0);
	}
	close(fd);
	detach(&segment);
}

TEST(deleted_while_used_it_goes_on_and_others_have_another)
{
	struct segment segment = attach("");
	struct segment other;

	assert_int_equal(unlink(path), 0);
	word_write(&segment.map->devices[7].key, 99);
	other = attach("");
	assert_int_equal(other.state, SEGMENT_SHARED);
	assert_true(segment_ready(&segment) && segment_ready(&other));
	assert_int_equal(word_read(&segment.map->devices[7].key), 99);
	assert_int_equal(word_read(&other.map->devices[7].key), 0);
	detach(&segment);
	detach(&other);
}

/* Another layout is larger, or says another version: left alone, and so are we. */
TEST(two_layouts_at_once_do_not_meet)
{
	struct segment segment = attach("");
	struct segment second;

	segment.map->header.version = WP_LAYOUT_VERSION + 1;
	segment.map->header.segment_bytes += 4096;
	assert_int_equal(truncate(path, sizeof(struct wp_segment) + 4096), 0);
	second = attach("");
	assert_true(segment_ready(&second));
	assert_int_equal(second.state, SEGMENT_PRIVATE);
	word_write(&second.map->devices[7].key, 99);
	assert_int_equal(word_read(&segment.map->devices[7].key), 0);
	assert_int_equal(segment.map->header.version, WP_LAYOUT_VERSION + 1);
	detach(&segment);
	detach(&second);
}

TEST(damaged_one_is_renewed_by_who_starts_programs)
{
	struct segment segment = attach("");
	struct segment second = attach("");
	struct stat before;
	struct stat after;

	segment.map->header.magic ^= 1;
	assert_int_equal(stat(path, &before), 0);
	assert_true(segment_ready(&second));
	assert_int_equal(second.state, SEGMENT_PRIVATE);
	segment_renew_in(&second, directory, "");
	assert_int_equal(second.state, SEGMENT_SHARED);
	assert_true(segment_ready(&second));
	assert_int_equal(second.state, SEGMENT_SHARED);
	assert_int_equal(stat(path, &after), 0);
	assert_int_not_equal(after.st_ino, before.st_ino);
	detach(&segment);
	/* and not twice, nor one of another layout */
	segment_renew_in(&second, directory, "");
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	second.map->header.version++;
	assert_int_equal(truncate(path, sizeof(struct wp_segment) + 4096), 0);
	segment_renew_in(&second, directory, "");
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	detach(&second);
}

TEST(what_is_no_file_is_not_used)
{
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused();
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_private();
	assert_int_equal(for_each_entry(NULL), 1);
}

/* Attached as it is, and found out at the first use. */
static void assert_damage_found(size_t offset)
{
	struct segment segment = attach("");
	struct segment second;
	uint8_t *bytes = (uint8_t *)segment.map;

	bytes[offset] ^= 1;
	second = attach("");
	assert_int_equal(second.state, SEGMENT_SHARED);
	assert_true(segment_ready(&second));
	assert_int_equal(second.state, SEGMENT_PRIVATE);
	word_write(&second.map->devices[0].key, 99);
	assert_int_equal(segment.map->devices[0].key, 0);
	assert_true(segment_ready(&second));
	bytes[offset] ^= 1;
	detach(&segment);
	detach(&second);
}

TEST(damaged_header_is_found_at_the_first_use)
{
	assert_damage_found(offsetof(struct wp_header, magic));
	assert_damage_found(offsetof(struct wp_header, version));
	assert_damage_found(offsetof(struct wp_header, segment_bytes));
}

/* In a pid namespace of its own, where it is pid 1 as all the others are. */
static int attach_as_first(int start_fd)
{
	struct segment segment;
	pid_t pid;
	char byte;
	int status = 0;

	if (unshare(CLONE_NEWPID))
		return 77;
	pid = fork();
	if (pid) {
		wait(&status);
		return status ? 1 : 0;
	}
	if (getpid() != 1 || read(start_fd, &byte, 1))
		return 2;
	segment_attach_in(&segment, directory, "");
	if (segment.state != SEGMENT_SHARED || !segment_ready(&segment))
		return 1;
	word_add(&segment.map->devices[0].starts, 1);
	return 0;
}

TEST(same_pid_in_many_namespaces_shares_one)
{
	enum { CHILDREN = 8, ROUNDS = 20 };

	for (int round = 0; round < ROUNDS; round++) {
		struct segment segment;
		int start[2];
		int status;

		assert_int_equal(pipe(start), 0);
		for (int i = 0; i < CHILDREN; i++) {
			if (fork())
				continue;
			close(start[1]);
			_exit(attach_as_first(start[0]));
		}
		close(start[0]);
		close(start[1]);
		for (int i = 0; i < CHILDREN; i++) {
			wait(&status);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
				print_message("# no pid namespace to be had\n");
				skip();
			}
			assert_int_equal(status, 0);
		}
		segment = attach("");
		assert_int_equal(word_read(&segment.map->devices[0].starts), CHILDREN);
		assert_int_equal(for_each_entry(NULL), 1);
		detach(&segment);
		unlink(path);
	}
}

/* Somebody else's, of the same pid in another namespace: it may be at work on it. */
TEST(temporary_file_of_another_is_left_alone)
{
	char temporary[160];
	struct segment segment;

	snprintf(temporary, sizeof(temporary), "%s.new.%d", path, (int)getpid());
	assert_int_equal(symlink("/nonexistent/x", temporary), 0);
	segment = attach("");
	assert_int_equal(segment.state, SEGMENT_SHARED);
	assert_int_equal(for_each_entry(NULL), 2);
	detach(&segment);
}

/* In a child with a mount table of its own: nothing is left mounted, whatever happens. */
static int attach_on_full_file_system(void)
{
	struct segment segment;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("full", directory, "tmpfs", 0, "size=256k,mode=0700"))
		return 77;
	segment_attach_in(&segment, directory, "");
	if (segment.state != SEGMENT_PRIVATE || !segment_ready(&segment))
		return 1;
	memset(segment.map->files, 1, sizeof(segment.map->files)); /* no SIGBUS */
	return for_each_entry(NULL) ? 2 : 0;
}

TEST(full_file_system_is_private_and_no_sigbus)
{
	int status = 0;

	if (!fork())
		_exit(attach_on_full_file_system());
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("# no tmpfs can be mounted here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/*
 * In a container of its own, as far as the segment is concerned: what is below /run and /dev/shm
 * is new, and then neither is there to be written to.
 */
static int attach_in_container(void)
{
	struct segment first;
	struct segment second;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("own", "/dev/shm", "tmpfs", 0, "size=8m,mode=1777") ||
	    (!access("/run/user", F_OK) &&
	     mount("own", "/run/user", "tmpfs", 0, "size=64k,mode=0755")))
		return 77;
	segment_attach(&first, "");
	segment_attach(&second, "");
	if (first.state != SEGMENT_SHARED || second.state != SEGMENT_SHARED)
		return 1;
	word_write(&first.map->devices[0].key, 7);
	if (word_read(&second.map->devices[0].key) != 7)
		return 2;
	if (umount2("/dev/shm", MNT_DETACH) ||
	    mount("no", "/dev/shm", "tmpfs", MS_RDONLY, "size=8m"))
		return 3;
	segment_attach(&first, "");
	return first.state == SEGMENT_PRIVATE && segment_ready(&first) ? 0 : 4;
}

TEST(container_has_a_segment_of_its_own_or_none)
{
	int status = 0;

	if (!fork())
		_exit(attach_in_container());
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("# no tmpfs can be mounted here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

#define IN_DIRECTORY(test) \
	cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(first_attach_makes_a_file_of_ones_own),
		IN_DIRECTORY(header_says_what_it_is),
		IN_DIRECTORY(second_attach_sees_the_first),
		IN_DIRECTORY(names_are_segments_of_their_own),
		IN_DIRECTORY(no_descriptor_stays_open),
		IN_DIRECTORY(many_at_once_share_one),
		IN_DIRECTORY(children_share_a_private_mapping),
		IN_DIRECTORY(directory_that_others_may_enter_is_not_used),
		IN_DIRECTORY(directory_that_is_a_link_is_not_used),
		IN_DIRECTORY(no_directory_is_private),
		IN_DIRECTORY(file_that_others_may_read_is_not_used),
		IN_DIRECTORY(file_of_somebody_else_is_not_used),
		IN_DIRECTORY(directory_of_somebody_else_is_not_used),
		IN_DIRECTORY(short_file_is_not_used),
		IN_DIRECTORY(link_is_not_followed),
		IN_DIRECTORY(link_to_another_file_leaves_that_alone),
		IN_DIRECTORY(deleted_while_used_it_goes_on_and_others_have_another),
		IN_DIRECTORY(two_layouts_at_once_do_not_meet),
		IN_DIRECTORY(damaged_one_is_renewed_by_who_starts_programs),
		IN_DIRECTORY(what_is_no_file_is_not_used),
		IN_DIRECTORY(damaged_header_is_found_at_the_first_use),
		IN_DIRECTORY(same_pid_in_many_namespaces_shares_one),
		IN_DIRECTORY(temporary_file_of_another_is_left_alone),
		IN_DIRECTORY(full_file_system_is_private_and_no_sigbus),
		cmocka_unit_test(container_has_a_segment_of_its_own_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
