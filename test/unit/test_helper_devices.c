/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Oracle: trees of /sys and /proc as a kernel showed them (test/data/helper), put up again in a
 * temporary folder; what stands for what there was known from how they were made.
 */
#include "unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "helper/devices.h"
#include "helper/mounts.h"
#include "shm/device.h"

struct world {
	char root[64];
	struct helper helper;
	struct devices devices;
};

/* ---------------------------------------------------------------------- trees -- */

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void add_line(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	if (!file)
		fail_msg("%s can not be written", path);
	fprintf(file, "%s\n", text);
	fclose(file);
}

/* "path = line" or "path -> target" */
static void put(const struct world *world, char *line)
{
	char path[1200];
	char *end = line + strcspn(line, " ");
	bool link = !strncmp(end, " -> ", 4);
	const char *rest = end + (link ? 4 : 3);

	line[strcspn(line, "\n")] = '\0';
	if (*line == '#')
		return;
	*end = '\0';
	snprintf(path, sizeof(path), "%s/%s", world->root, line);
	make_folders(path);
	if (link)
		assert_return_code(symlink(rest, path), 0);
	else
		add_line(path, rest);
}

static void put_up(const struct world *world, const char *name)
{
	const char *source = getenv("srcdir");
	char line[1024];
	FILE *file;

	snprintf(line, sizeof(line), "%s/test/data/helper/%s", source ? source : ".",
		 name);
	file = fopen(line, "r");
	if (!file)
		fail_msg("%s is missing", line);
	while (fgets(line, sizeof(line), file))
		put(world, line);
	fclose(file);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

static int new_world(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	if (!world)
		return -1;
	strcpy(world->root, "/tmp/writepace-test-XXXXXX");
	world->helper.map = calloc(1, sizeof(struct wp_segment));
	world->helper.root = world->root;
	devices_begin(&world->devices);
	*state = world;
	return mkdtemp(world->root) && world->helper.map ? 0 : -1;
}

static int end_world(void **state)
{
	struct world *world = *state;

	nftw(world->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(world->helper.map);
	free(world);
	return 0;
}

#define WORLD(name) static void name(void **state)
#define TESTED(name) cmocka_unit_test_setup_teardown(name, new_world, end_world)

/* The slot of M:m, with some bytes written to it. */
static int written_slot(struct world *world, unsigned major, unsigned minor)
{
	int slot = device_slot(world->helper.map, makedev(major, minor));

	device_dirtied(&world->helper.map->devices[slot], 4096);
	return slot;
}

/* ------------------------------------------------------------ block devices -- */

WORLD(partition_stands_for_its_disk)
{
	struct world *world = *state;
	struct wp_segment *map = world->helper.map;
	int part = written_slot(world, 259, 0);
	int disk;

	put_up(world, "partition.tree");
	devices_look(&world->devices, &world->helper);
	disk = device_slot(map, makedev(7, 1));
	assert_int_equal(map->devices[part].alias, disk + 1);
	assert_int_equal(map->devices[disk].alias, 0);
	assert_int_equal(map->devices[part].identity, 1216);
	assert_int_equal(map->devices[disk].identity, 1216);
}

WORLD(unknown_device_stands_for_itself)
{
	struct world *world = *state;
	int slot = written_slot(world, 8, 17);

	devices_look(&world->devices, &world->helper);
	assert_int_equal(world->helper.map->devices[slot].alias, 0);
	assert_int_equal(world->helper.map->devices[slot].identity, 0);
}

WORLD(other_medium_makes_forget_what_was_learned)
{
	struct world *world = *state;
	int slot = written_slot(world, 7, 1);
	struct wp_device *device = &world->helper.map->devices[slot];

	put_up(world, "partition.tree");
	device->control[7] = 77;
	devices_look(&world->devices, &world->helper);
	/* Not known before: nothing says that it is another one. */
	assert_int_equal(device->control[7], 77);
	devices_look(&world->devices, &world->helper);
	assert_int_equal(device->control[7], 77);

	device->identity = 1215;
	device_dirtied(device, 4096);
	devices_look(&world->devices, &world->helper);
	assert_int_equal(device->identity, 1216);
	for (size_t i = 0; i < WP_CONTROL_WORDS; i++)
		assert_int_equal(device->control[i], 0);
}

WORLD(nothing_is_read_for_an_idle_device)
{
	struct world *world = *state;
	int slot = written_slot(world, 7, 1);

	devices_look(&world->devices, &world->helper);
	put_up(world, "partition.tree");
	devices_look(&world->devices, &world->helper);
	assert_int_equal(world->helper.map->devices[slot].identity, 0);
}

WORLD(statistics_of_a_disk_in_use)
{
	struct world *world = *state;
	int slot = written_slot(world, 7, 1);
	const struct wp_device *device = &world->helper.map->devices[slot];

	put_up(world, "partition.tree");
	devices_measure(&world->devices, &world->helper, 123);
	assert_int_equal(device->stat_ns, 123);
	assert_int_equal(device->stat_written_bytes, UINT64_C(238157516) * 512);
	assert_int_equal(device->stat_reads, 27118);
	assert_int_equal(device->stat_flushes, 29132);
	assert_int_equal(device->stat_inflight, 0);
}

WORLD(no_statistics_without_outstanding_bytes)
{
	struct world *world = *state;
	int slot = device_slot(world->helper.map, makedev(7, 1));

	put_up(world, "partition.tree");
	devices_measure(&world->devices, &world->helper, 123);
	assert_int_equal(world->helper.map->devices[slot].stat_ns, 0);
}

/* -------------------------------------------------------------------- btrfs -- */

WORLD(descriptor_on_btrfs_leads_to_its_mount)
{
	struct world *world = *state;
	struct holder holder = { .pid = 4242, .fd = 5 };
	struct btrfs btrfs;

	put_up(world, "btrfs.tree");
	assert_true(btrfs_of(world->root, &holder, &btrfs));
	assert_int_equal(btrfs.number, makedev(0, 43));
	assert_string_equal(btrfs.uuid, "d507eb9a-af38-4a4f-97be-c521404df539");
}

WORLD(descriptor_on_another_file_system_is_on_no_btrfs)
{
	struct world *world = *state;
	struct holder holder = { .pid = 4242, .fd = 6 };
	struct btrfs btrfs;

	put_up(world, "btrfs.tree");
	assert_true(btrfs_of(world->root, &holder, &btrfs));
	assert_int_equal(btrfs.number, 0);
	holder.fd = 7;
	assert_false(btrfs_of(world->root, &holder, &btrfs));
}

WORLD(number_without_a_mount_is_of_the_only_btrfs)
{
	struct world *world = *state;
	char other[] =
		"proc/self/mountinfo = 45 27 0:50 / /other rw - btrfs /dev/loop5 rw";
	struct btrfs btrfs;

	assert_false(btrfs_with(world->root, makedev(0, 45), &btrfs));
	put_up(world, "btrfs.tree");
	assert_true(btrfs_with(world->root, makedev(0, 45), &btrfs));
	assert_int_equal(btrfs.number, makedev(0, 43));
	assert_string_equal(btrfs.uuid, "d507eb9a-af38-4a4f-97be-c521404df539");
	/* one that is mounted is not: /proc */
	assert_true(btrfs_with(world->root, makedev(0, 21), &btrfs));
	assert_int_equal(btrfs.number, 0);
	/* two that it could be of */
	put(world, other);
	assert_false(btrfs_with(world->root, makedev(0, 45), &btrfs));
	assert_true(btrfs_with(world->root, makedev(0, 43), &btrfs));
	assert_int_equal(btrfs.number, makedev(0, 43));
}

WORLD(subvolume_without_an_open_file_is_met)
{
	struct world *world = *state;
	struct wp_segment *map = world->helper.map;
	int slot = written_slot(world, 0, 45);

	put_up(world, "btrfs.tree");
	devices_meet(&world->devices, &world->helper);
	assert_int_equal(map->devices[slot].alias, device_slot(map, makedev(0, 43)) + 1);
	/* once: what is known is looked at by the second */
	map->devices[slot].alias = 0;
	device_dirtied(&map->devices[slot], 4096);
	devices_meet(&world->devices, &world->helper);
	assert_int_equal(map->devices[slot].alias, 0);
	devices_look(&world->devices, &world->helper);
	assert_int_equal(map->devices[slot].alias, device_slot(map, makedev(0, 43)) + 1);
}

WORLD(subvolumes_are_one_device)
{
	struct world *world = *state;
	struct wp_segment *map = world->helper.map;
	struct btrfs btrfs = {
		.number = makedev(0, 43),
		.uuid = "d507eb9a-af38-4a4f-97be-c521404df539",
	};
	int first = written_slot(world, 0, 45);
	int second = written_slot(world, 0, 46);
	int whole;

	put_up(world, "btrfs.tree");
	devices_set_btrfs(&world->devices, &world->helper, first, &btrfs);
	devices_set_btrfs(&world->devices, &world->helper, second, &btrfs);
	whole = written_slot(world, 0, 43);
	assert_int_equal(map->devices[first].alias, whole + 1);
	assert_int_equal(map->devices[second].alias, whole + 1);
	assert_int_equal(map->devices[whole].alias, 0);

	devices_measure(&world->devices, &world->helper, 123);
	assert_int_equal(map->devices[whole].stat_written_bytes, UINT64_C(4288580) * 512);
	assert_int_equal(map->devices[whole].stat_flushes, 803);
}

WORLD(number_of_a_btrfs_used_again_by_another)
{
	struct world *world = *state;
	struct btrfs btrfs = { .number = makedev(0, 43), .uuid = "d507eb9a-af38" };
	int slot = written_slot(world, 0, 45);
	struct wp_device *device;

	devices_set_btrfs(&world->devices, &world->helper, slot, &btrfs);
	device = &world->helper.map
			  ->devices[device_slot(world->helper.map, makedev(0, 43))];
	device->control[7] = 77;
	devices_set_btrfs(&world->devices, &world->helper, slot, &btrfs);
	assert_int_equal(device->control[7], 77);
	strcpy(btrfs.uuid, "841d50b7-dbf7");
	devices_set_btrfs(&world->devices, &world->helper, slot, &btrfs);
	assert_int_equal(device->control[7], 0);
	/* And once more, by what is no btrfs: NFS. */
	btrfs = (struct btrfs){ 0 };
	devices_set_btrfs(&world->devices, &world->helper, slot, &btrfs);
	assert_int_equal(world->helper.map->devices[slot].alias, 0);
}

WORLD(overlay_leads_to_its_upper_directory)
{
	struct world *world = *state;
	const struct holder file = { .pid = 4242, .fd = 5 };
	const struct holder other = { .pid = 4242, .fd = 6 };
	const struct holder closed = { .pid = 4242, .fd = 7 };
	struct mount mount;

	put_up(world, "overlay.tree");
	assert_true(mounts_of(world->root, &file, &mount));
	assert_string_equal(mount.point, "/var/f o,o/m");
	assert_string_equal(mount.upper, "/var/f o,o/u");
	assert_string_equal(mount.top, "/");
	assert_true(mounts_of(world->root, &other, &mount));
	assert_string_equal(mount.upper, "");
	assert_false(mounts_of(world->root, &closed, &mount));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTED(partition_stands_for_its_disk),
		TESTED(unknown_device_stands_for_itself),
		TESTED(other_medium_makes_forget_what_was_learned),
		TESTED(nothing_is_read_for_an_idle_device),
		TESTED(statistics_of_a_disk_in_use),
		TESTED(no_statistics_without_outstanding_bytes),
		TESTED(descriptor_on_btrfs_leads_to_its_mount),
		TESTED(descriptor_on_another_file_system_is_on_no_btrfs),
		TESTED(number_without_a_mount_is_of_the_only_btrfs),
		TESTED(subvolume_without_an_open_file_is_met),
		TESTED(subvolumes_are_one_device),
		TESTED(number_of_a_btrfs_used_again_by_another),
		TESTED(overlay_leads_to_its_upper_directory),
	};

	return cmocka_run_group_tests_name("helper: devices", tests, NULL, NULL);
}
