/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* writepacectl devices */
#include "ctl/devices.h"

const struct table_column devices_columns[] = {
	{ NULL, "user", TABLE_TEXT },
	{ NULL, "segment", TABLE_TEXT },
	{ "DEVICE", "name", TABLE_TEXT },
	{ "NUMBER", "device", TABLE_TEXT },
	{ NULL, "mount", TABLE_TEXT },
	{ "LIMIT", "limit_bytes", TABLE_BYTES },
	{ "OUTST", "outstanding_bytes", TABLE_BYTES },
	{ "FLIGHT", "inflight_bytes", TABLE_BYTES },
	{ "WINDOW", "window_bytes", TABLE_BYTES },
	{ "BANDW", "bandwidth_bps", TABLE_RATE },
	{ "SHARE", "share", TABLE_RATIO },
	{ "BASE", "base_rate_bps", TABLE_RATE },
	{ "POS", "position", TABLE_RATIO },
	{ "HOLD", "holds", TABLE_FLAG },
	{ "OTHERS", "others", TABLE_FLAG },
	{ NULL, "background_bytes", TABLE_BYTES },
	{ NULL, "setpoint_bytes", TABLE_BYTES },
	{ NULL, "wall_bytes", TABLE_BYTES },
	{ NULL, "orphan_bytes", TABLE_BYTES },
	{ NULL, "dirtied_bytes", TABLE_BYTES },
	{ NULL, "written_bytes", TABLE_BYTES },
	{ NULL, "others_bps", TABLE_RATE },
	{ NULL, "set_rate_bps", TABLE_RATE },
	{ NULL, "set_max_bytes", TABLE_BYTES },
	{ NULL, "kernel_dirty_bytes", TABLE_BYTES },
	{ NULL, "kernel_written_bytes", TABLE_BYTES },
	{ 0 },
};

static void put_kernel(struct table *table, const struct place *place)
{
	uint64_t bytes = 0;
	bool known = place_dirty_bytes(place, &bytes);

	table_number_if(table, known, bytes);
	known = place_written_bytes(place, &bytes);
	table_number_if(table, known, bytes);
}

void devices_put(struct table *table, const struct view_segment *segment,
		 const struct view_device *device)
{
	const struct verdict *verdict = &device->verdict;

	table_row(table);
	table_text(table, segment->user);
	table_text(table, segment->name);
	table_text(table, device->place.name);
	table_text(table, device->place.id);
	table_text(table, device->place.mount);
	table_number_if(table, device->judged, verdict->limit_bytes);
	table_number(table, device->outstanding_bytes);
	table_number(table, device->inflight_bytes);
	table_number_if(table, device->window_bytes, device->window_bytes);
	table_number_if(table, device->bandwidth_bps, device->bandwidth_bps);
	table_number(table, device->share_q10);
	table_number_if(table, device->base_bps, device->base_bps);
	table_number_if(table, device->judged, verdict->pos_q10);
	table_number(table, device->holds);
	table_number(table, device->others);
	table_number_if(table, device->judged, verdict->background_bytes);
	table_number_if(table, device->judged, verdict->setpoint_bytes);
	table_number_if(table, device->judged, verdict->wall_bytes);
	table_number(table, device->orphan_bytes);
	table_number(table, device->dirtied_bytes);
	table_number(table, device->written_bytes);
	table_number_if(table, device->measured, device->others_bps);
	table_number_if(table, device->set_rate_bps, device->set_rate_bps);
	table_number_if(table, device->set_max_bytes, device->set_max_bytes);
	put_kernel(table, &device->place);
}

struct table *devices_table(const struct sight *sight, bool json)
{
	struct table *table = table_new("devices", devices_columns, json);
	struct view_device device;

	for (size_t i = 0; i < sight->count; i++)
		for (size_t slot = 0; slot < WP_DEVICES; slot++)
			if (view_device(sight, &sight->segments[i], slot, &device))
				devices_put(table, &sight->segments[i], &device);
	return table;
}

int devices_print(struct ctl *ctl, int argc, char **argv,
		  struct table *(*make)(const struct sight *sight, bool json))
{
	struct table *table;
	struct sight sight;

	ctl_option(ctl, argc, argv, NULL);
	if (optind < argc)
		return ctl_usage(ctl);
	if (!view_take(&sight, ctl))
		return CTL_NOBODY;
	table = make(&sight, ctl->json);
	table_print(table);
	table_free(table);
	view_free(&sight);
	return CTL_DONE;
}

int run_devices(struct ctl *ctl, int argc, char **argv)
{
	return devices_print(ctl, argc, argv, devices_table);
}
