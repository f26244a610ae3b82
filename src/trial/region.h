// SPDX-License-Identifier: GPL-3.0-or-later
// The region of a trial (layout: wire/region.h). The controller makes the file, every process of
// the trial maps it, and the controller reads it afterwards. Also reads journal files, which are
// regions that were kept.
#ifndef ORDEAL_TRIAL_REGION_H
#define ORDEAL_TRIAL_REGION_H

#include "base/error.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stddef.h>

#define REGION_JOURNAL_RECORDS     1024
#define REGION_JOURNAL_RECORDS_MAX 4000000

struct region {
    struct wire_region *map;   // shared, writable
    struct wire_region layout; // the header as it was made: a target may overwrite the mapped one
    char *fixed;               // a copy of everything before the rules' states, plan included
    uint64_t size;
    int file;
    char *path;         // absolute
    char *directory;    // private directory to remove with the file; NULL for a journal to keep
    char *temporary;    // name of a journal that is not complete yet, or NULL
    uint64_t reserved;  // bytes at the start of the file that have storage
    uint64_t allocated; // end of the part of the arena that has storage
    uint64_t arena_used;
    bool cut; // a target has truncated the file: what it held is lost
};

// Which file the kernel executes for a path, so that a process need not look for its own.
struct region_program {
    char *asked, *file;   // the path, and the file behind it; NULL: not known
    uint64_t fingerprint; // of its program headers, to notice another file under that path
};

struct region_options {
    const char *journal_path; // keep the region here; NULL: in memory, gone with the trial
    const void *plan;         // a compiled plan
    size_t plan_size;
    const char *preload; // the value of LD_PRELOAD for every process
    char *const *command;
    uint32_t journal_records;             // 0 = REGION_JOURNAL_RECORDS
    uint32_t options;                     // enum wire_option bits
    const char *coverage;                 // path of the coverage file, or NULL
    uint32_t marks;                       // that targets make about it
    uint32_t stops;                       // faults in it
    const struct region_program *program; // or NULL
    bool whole; // storage for everything at once, as if by region_reserve()
};

// Makes and maps the file. What a target touches in its first moments has storage, and there is
// room for the rest. Fails if there is none. The caller ends it with region_close().
_must_check_ struct error *region_create(const struct region_options *options,
                                         struct region *ret_region);
// Adds the calls of struct wire_counts to `reached` of the rules in `bytes`, a region up to its
// arena, and zeroes them. Does nothing with a region that region_check() refuses.
void region_add_counts(void *bytes, uint64_t size, struct wire_counts *counts);
// Gives storage to everything that targets write.
_must_check_ struct error *region_reserve(struct region *region);
// Uses the region of a finished trial for another one, under the same name. No process may map it
// any more: ask region_is_shared().
_must_check_ struct error *region_renew(struct region *region,
                                        const struct region_options *options);
// Whether another process has the file open or mapped. In doubt, true.
bool region_is_shared(const struct region *region);
// Removes the file, unless it is a journal to keep. The mapping stays usable.
// For all bytes of rules and records, which may hold texts of the user: paths, arguments. The size
// stays. Call it when no process uses the region any more.
void region_each_text(struct region *region, void (*change)(char *bytes, size_t size));
void region_remove(struct region *region);
// Removes the file likewise and releases everything.
void region_close(struct region *region);
// Releases everything and leaves the file, which belongs to the parent of a forked child.
void region_forget(struct region *region);

// The plan, in the controller's own copy: targets may overwrite the mapped one.
static inline const struct wire_plan *region_plan(const struct region *region)
{
    return (const struct wire_plan *)(region->fixed + region->layout.plan);
}

// Notes when the trial began.
void region_start(struct region *region, uint64_t now_ns);
// Call it before the mapping is read after targets have run. If one of them truncated the file,
// gives it its size back and sets `cut`: reading beyond the end would kill us.
void region_mend(struct region *region);
// Notes how the trial ended, and repairs what stray writes of targets did to anything but counters,
// states and records.
void region_conclude(struct region *region, enum wire_outcome outcome, int status, uint64_t ns);
// Does that repair in a copy of the region's bytes, or in the mapping, and notes how much time has
// passed.
void region_restore(const struct region *region, struct wire_region *bytes);

// Copies bytes into the arena. Fails when the arena or the disk is full.
_must_check_ struct error *region_arena_put(struct region *region, const void *bytes, size_t size,
                                            uint64_t *ret_offset);

// Removes what dead controllers of this user left in `parent`, at most `most` directories.
void region_sweep(const char *parent, unsigned most);
// Does the same for a few directories beside the region. Call it after a region_create() without
// `whole`.
void region_tidy(const struct region *region);

// Checks every bound of a region in memory, and sets the view's `damage`. `size` may end where the
// arena begins. The bytes must be aligned to 8, and the view points into them. An error says what
// is damaged; `name` is the file's name in it.
_must_check_ struct error *region_check(const void *bytes, uint64_t size, const char *name,
                                        struct wire_view *ret_view);

// What region_check() sets `damage` to.
enum wire_damage region_find_damage(const struct wire_view *view);

// A private copy of a region without its arena, checked. Ended with region_copy_close().
struct region_copy {
    void *bytes;
    struct wire_view view;
};
// Reads a journal file.
_must_check_ struct error *region_copy_open(const char *path, struct region_copy *ret_copy);
// Copies a live region, so that processes that are left over cannot change it any more.
_must_check_ struct error *region_copy_take(const struct region *region,
                                            struct region_copy *ret_copy);
void region_copy_close(struct region_copy *copy);

#endif
