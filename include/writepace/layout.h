/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segment: what all paced processes of a user share. Fixed-width words, no pointers.
 *
 *   header | 2 domains | 256 devices | 4096 tasks | 8192 files | settings | 4096 notes
 *
 * Every word is either counted (atomic add), replaced (compare-and-swap from a value read), or
 * claimed (compare-and-swap from 0). Nobody waits for anybody, a process may die between any
 * two of its steps: sums are repaired by the sweep, claims expire.
 *
 * Trust: random bytes written over it may cost accuracy, never a crash or a hang. Whatever is
 * read from it is bounded before it is used, and no index is ever read from it.
 */
#ifndef WRITEPACE_LAYOUT_H
#define WRITEPACE_LAYOUT_H

#include <stdint.h>

#define WP_LAYOUT_MAGIC UINT64_C(0x9d3ac1e85f7702b6) /* chosen at random once */
#define WP_LAYOUT_VERSION 1u
#define WP_DEVICES 256u
#define WP_TASKS 4096u
#define WP_FILES 8192u
#define WP_CONTROL_WORDS 56u /* room for struct control */
#define WP_VERDICT_WORDS 28u /* room for struct verdict */

#define WP_PERIOD_AUTO UINT64_MAX /* in header.period_ns: core/period.h chooses */

#define FPROP_STRIPES 4u

/* A striped count of a proportion domain; each word: period (20 bits) | events (44 bits). */
struct fprop_stripe {
	uint64_t word;
	uint64_t padding[7]; /* a line each */
};

struct fprop_count {
	struct fprop_stripe stripes[FPROP_STRIPES];
};

/* A domain of flexible proportions (core/fprop.h). */
struct fprop_domain {
	struct fprop_count count;
	uint64_t period; /* replaced: periods declared, ever */
	uint64_t padding[7];
};

struct wp_header {
	uint64_t magic; /* written last by the creator */
	uint32_t version;
	uint32_t
		word_bytes; /* sizeof(void *) makes no difference to the layout; for readers */
	uint64_t segment_bytes;
	uint64_t created_ns; /* CLOCK_BOOTTIME */
	uint8_t boot_id
		[40]; /* text of the kernel's boot id: times of another boot mean nothing */
	uint64_t sweep_ns; /* claimed: last sweep */
	/* aging: src/age */
	uint64_t
		period_end_ns; /* claimed: end of the running period, 0 = nothing to age */
	uint64_t
		period_ns; /* length of a period, 0 = the default, WP_PERIOD_AUTO = chosen */
	/* written by the helper, 0 = unknown or no helper */
	uint64_t helper_ns;          /* its heartbeat, CLOCK_MONOTONIC */
	uint64_t helper_id;          /* claimed: its pid << 32 | tid */
	uint64_t kernel_limit_bytes; /* from the kernel's thresholds of the moment */
	uint64_t pressure_q10;       /* factor on the global limit, 1024 = no pressure */
	/* replaced by whoever sweeps */
	uint64_t
		bandwidth_in_use_bps; /* sum over the devices written to in the last seconds */
	uint64_t outstanding_bytes; /* sum over all devices */
	uint32_t wake; /* futex: changes when the first event starts the timer */
	uint32_t reserved32;
	/* the chosen period: src/age */
	uint64_t sample_ns;   /* claimed: when the next sample is due */
	uint64_t sample_mark; /* replaced: writeout's count at the last one */
	uint64_t chosen;      /* replaced: core/period.h */
	uint64_t read_bytes;  /* counted: from block devices, by paced tasks, ever */
	uint64_t reserved[9];
};

struct wp_device {
	uint64_t key; /* claimed: device number + 1, 0 = free */
	/* counted, any task */
	uint64_t dirtied_bytes;     /* new dirt, ever */
	uint64_t written_bytes;     /* completed writeout, ever */
	uint64_t outstanding_bytes; /* files' and orphans', signed while updates race */
	uint64_t inflight_bytes;    /* part of it under writeback, signed */
	uint64_t orphan_bytes;      /* part of it nobody can ask for any more, signed */
	/* replaced, any task; CLOCK_MONOTONIC */
	uint64_t orphan_ns;            /* orphans have been drained up to then */
	uint64_t orphan_written_bytes; /* written_bytes then */
	uint64_t idle_ns;              /* last seen without work from us */
	uint64_t look_ns;              /* last time somebody looked after its writeback */
	uint64_t progress_ns;          /* last completion */
	uint64_t
		outstanding_off; /* what the last sweep found too much, twice -> mended */
	uint64_t inflight_off;
	uint64_t sweep_accounted_bytes; /* sums of the sweep under way */
	uint64_t sweep_inflight_bytes;
	uint64_t starts;      /* counted: units of writeback started, ever */
	uint64_t busy_starts; /* counted: those that found something in flight */
	uint64_t start_ns;    /* claimed: when the next unit is due */
	/* written by the helper */
	uint64_t
		alias; /* slot + 1 of the device it is a part of, 0 = it stands for itself; its own: nobody can
			see what is behind it */
	uint64_t identity; /* of the medium (disk sequence number), 0 = unknown */
	uint64_t stat_ns;  /* time of the following, 0 = never */
	uint64_t stat_written_bytes; /* sectors the device wrote, by anybody, ever */
	uint64_t stat_reads;
	uint64_t stat_flushes;
	uint64_t stat_inflight; /* requests */
	uint64_t
		orphan_stat_bytes; /* stat_written_bytes when orphans were last drained */
	uint64_t ceiling_ns;       /* replaced: the clock of writers under a ceiling */
	uint64_t sample_mark; /* replaced: the last seconds are what writeout has more */
	uint64_t busy_clock_ns; /* replaced: start_ns of the last busy start */
	/* replaced by whoever syncs: src/shm/sync */
	uint64_t sync_ns;       /* last sync by a paced task */
	uint64_t sync_process;  /* its pid */
	uint64_t sync_other_ns; /* last one by a process other than that */
	uint64_t syncs;         /* counted */
	uint64_t hold_begin_ns;
	uint64_t hold_end_ns; /* nobody starts writeback until then */
	uint64_t stranger_ns; /* by the helper: last seen used by somebody unpaced */
	uint64_t others_bps;  /* by the helper: what others write, paced files' apart */
	/* replaced, any task */
	uint64_t
		orphan_credit_bytes; /* written lately by the device, for no orphan yet */
	uint64_t orphan_turn_ns;     /* every 35 s: what is older is dropped */
	uint64_t
		orphan_old_bytes; /* orphans that were there at the turn, and still are */
	uint64_t watch_ns;  /* claimed: until then somebody looks after its next unit */
	uint64_t unseen_ns; /* last dirt in a file that only the helper may see */
	uint64_t
		kernel_limit_bytes; /* by the helper: the kernel's own of this device, 0 = none */
	/* replaced by whoever starts writeback: src/shm/turn */
	uint64_t turn;              /* file << 32 | 4 KiB pages it may still start */
	uint64_t turn_ns;           /* its file came last */
	uint64_t turn_wanted_ns;    /* last time another file wanted it */
	uint64_t turn_wanted_bytes; /* the most that one of those has to start */
	uint64_t busy_ns; /* replaced: when a start that was due last found it busy */
	uint64_t
		late_ns; /* counted: time lost as nobody came to start what was due, ever */
	/* by the helper, from the observer */
	uint64_t observed_ns; /* its heartbeat, 0 = never */
	uint64_t
		observed_bytes; /* outstanding then, as the kernel counts, others' apart */
	uint64_t observed_dirtied_bytes;  /* dirtied_bytes then */
	uint64_t observed_inflight_bytes; /* under writeback then, anybody's */
	/* counted, signed: orphans that were started by who can not look at them */
	uint64_t orphan_started_bytes;
	uint64_t orphan_landed_bytes; /* that are in flight no more, and not yet gone */
	uint64_t reserved[1];
	uint64_t control
		[WP_CONTROL_WORDS]; /* struct control; word 0 is claimed, the rest replaced */
	struct fprop_count writeout; /* its events in the writeout domain */
};

struct wp_task {
	uint64_t id; /* claimed: pid << 32 | tid, 0 = free */
	uint64_t
		start_ns; /* CLOCK_BOOTTIME of its process's attach: a reused pid is newer */
	uint64_t namespace_id; /* inode of its pid namespace */
	uint64_t heartbeat_ns; /* silent for 35 s: the slot may be taken */
	uint64_t device_key;   /* of its last slow path */
	uint64_t dirtied_bytes;
	uint64_t dirtied_word; /* its events in the dirtied domain: period | events */
	uint64_t weight;
};

struct wp_file {
	uint64_t key;             /* claimed: (device slot + 1) << 56 | inode, 0 = free */
	uint64_t accounted_bytes; /* outstanding as far as counted; replaced */
	uint64_t inflight_bytes;  /* replaced */
	uint64_t seen_ns;      /* last look; silent for 1 s: its bytes become orphans */
	uint64_t lent_bytes;   /* what became orphans that way, to be taken back */
	uint64_t low_bytes;    /* nothing is outstanding below this offset */
	uint64_t cursor_bytes; /* writeback was started up to here */
	uint64_t whole_ns;     /* last look at the whole file */
	uint64_t holder;       /* pid << 32 | descriptor of who looked last */
	uint64_t holder_start_ns; /* start_ns of that process */
	uint64_t unseen;          /* 1: only the helper may look at it (overlayfs) */
	/* of who can not look at it: dirt anywhere that was not started, the end when last seen */
	uint64_t blind_bytes;
	uint64_t blind_end_bytes;
	uint64_t looked_ns;     /* last time it was asked what is outstanding */
	uint64_t look_every_ns; /* not again before: a look takes its time */
	uint64_t flight_bytes;  /* what is in flight lies between here and the cursor */
};

/* What a person set while programs run (writepacectl set): src/shm/setting; replaced. */
struct wp_setting {
	uint64_t value; /* 0 = nothing */
	uint64_t seal;  /* not that of the value: damage, nothing is set */
};

struct wp_device_setting {
	struct wp_setting rate_bps;
	struct wp_setting max_bytes;
	uint64_t reserved[4];
};

struct wp_settings {
	struct wp_setting limit_bytes; /* over all devices */
	struct wp_setting drain_ns;
	uint64_t reserved[4];
	struct wp_device_setting devices[WP_DEVICES];
};

/* What a task tells those who look: its sums, and its last verdict. Written by it alone. */
struct wp_note {
	uint64_t id;       /* of the task whose note it is, and its start */
	uint64_t start_ns; /* other ones than in the slot of the task: not its note */
	struct wp_setting set_weight; /* by writepacectl */
	uint64_t charged_bytes;
	uint64_t uncovered_bytes;
	uint64_t sleeps;
	uint64_t slept_ns;
	uint64_t reserved[3];
	uint64_t verdicts;                  /* counted, when the words are written */
	uint64_t verdict[WP_VERDICT_WORDS]; /* struct verdict */
};

struct wp_segment {
	struct wp_header header;
	struct fprop_domain writeout; /* members: devices, events: bytes written out */
	struct fprop_domain dirtied;  /* members: tasks, events: bytes dirtied */
	struct wp_device devices[WP_DEVICES];
	struct wp_task tasks[WP_TASKS];
	struct wp_file files[WP_FILES];
	struct wp_settings settings;
	struct wp_note notes[WP_TASKS]; /* of the tasks in the same slots */
};

_Static_assert(sizeof(struct wp_header) == 256, "layout");
_Static_assert(sizeof(struct wp_device) == 1152, "layout");
_Static_assert(sizeof(struct wp_task) == 64, "layout");
_Static_assert(sizeof(struct wp_file) == 128, "layout");
_Static_assert(sizeof(struct wp_note) == 320, "layout");
_Static_assert(sizeof(struct wp_segment) < (4u << 20), "at most 4 MiB");

#endif
