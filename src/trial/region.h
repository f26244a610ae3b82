// SPDX-License-Identifier: GPL-3.0-or-later
// The region file of a trial (layout: wire/region.h): made by the controller, mapped by every
// process of the trial, read afterwards; and journal files read back later.
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
    struct wire_region layout; // the header as it was made: a target may overwrite the other
    char *fixed;               // likewise everything before the rules' states, plan included
    uint64_t size;
    int file;
    char *path;         // absolute
    char *directory;    // private directory to remove with the file; NULL for a journal to keep
    char *temporary;    // name of a journal that is not complete yet, or NULL
    uint64_t reserved;  // bytes at the start of the file that have storage
    uint64_t allocated; // end of the part of the arena that has storage
    uint64_t arena_used;
    bool cut; // a target has cut the file short: what it held is lost
};

// What the kernel executes when it is asked for a path, so that a process need not look for it.
struct region_program {
    char *asked, *file; // NULL: not known
    uint64_t fingerprint;
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
    const struct region_program *program; // or NULL
    bool whole; // storage for everything at once, as if by region_reserve()
};

// Makes and maps the file. Everything a target touches in its first moments has storage, and there
// is room for the rest; region_reserve() gives storage to all of it.
_must_check_ struct error *region_create(const struct region_options *options,
                                         struct region *ret_region);
_must_check_ struct error *region_reserve(struct region *region);
// Makes the region of a trial that is over that of another one, under the same name. No process may
// map it any more, see region_is_shared().
_must_check_ struct error *region_renew(struct region *region,
                                        const struct region_options *options);
// Whether another process has the file open or mapped, or may have: in doubt, yes.
bool region_is_shared(const struct region *region);
// Removes the file, unless it is a journal to keep; the mapping stays usable.
void region_remove(struct region *region);
void region_close(struct region *region);
// Closes what a forked child got from its parent, whose file stays.
void region_forget(struct region *region);

// The controller's own copy: the one targets see may be overwritten by them.
static inline const struct wire_plan *region_plan(const struct region *region)
{
    return (const struct wire_plan *)(region->fixed + region->layout.plan);
}

// Notes when the trial began.
void region_start(struct region *region, uint64_t now_ns);
// Before the mapping is read when targets have run: gives a file that one of them has cut short its
// size back, for what is mapped beyond the end would kill us, and notes that.
void region_mend(struct region *region);
// Notes how it ended, and undoes what a stray write of a target did to anything that is not a
// counter, a state or a record.
void region_conclude(struct region *region, enum wire_outcome outcome, int status, uint64_t ns);
// The latter in a copy of the region's bytes.
void region_restore(const struct region *region, struct wire_region *bytes);

// Copies bytes into the arena. An error when the arena or the disk is full.
_must_check_ struct error *region_arena_put(struct region *region, const void *bytes, size_t size,
                                            uint64_t *ret_offset);

// Removes what controllers of this user that no longer live left in `parent`: at most so many.
void region_sweep(const char *parent, unsigned most);
// The same beside the region, a few: due after a region_create() that was not `whole`.
void region_tidy(const struct region *region);

// Checks every bound of a region in memory. `size` may end where the arena begins.
// The bytes must be aligned to 8. The view points into them.
_must_check_ struct error *region_check(const void *bytes, uint64_t size, const char *name,
                                        struct wire_view *ret_view);

// A journal file read back: a private copy without the arena, checked.
struct region_copy {
    void *bytes;
    struct wire_view view;
};
_must_check_ struct error *region_copy_open(const char *path, struct region_copy *ret_copy);
// The same of a live region, so that processes that are left over cannot change it any more.
_must_check_ struct error *region_copy_take(const struct region *region,
                                            struct region_copy *ret_copy);
void region_copy_close(struct region_copy *copy);

#endif
