// SPDX-License-Identifier: GPL-3.0-or-later
// Makes, clears and repairs the region of a trial. A store to a page without storage would kill the
// target with SIGBUS, so everything that targets write is allocated. Most of it is allocated only
// when the command has lived for a moment, since hundreds of pages cost as much as starting a
// program.
#include "trial/region.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "trial/region-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define TIDY_MOST     4 // directories to remove: the command runs already and must be watched
#define EARLY_MODULES 16
#define EARLY_RECORDS 8
#define ARENA_SIZE    (64ull << 20)
#define ARENA_STEP    (1ull << 20)
#define PAGE_SIZE     4096ull

struct layout {
    uint64_t size; // of everything so far
    struct wire_region header;
};

// Reserves `count` elements and returns their offset.
static uint64_t layout_add(struct layout *layout, uint64_t count, uint64_t item_size)
{
    layout->size = (layout->size + 63) & ~63ull;
    uint64_t offset = layout->size;
    layout->size += count * item_size;
    return offset;
}

static void layout_new_page(struct layout *layout)
{
    layout->size = (layout->size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

static struct layout layout_make(const struct region_options *options, const char *path)
{
    const struct wire_plan *plan = options->plan;
    bool located = plan->query_count != 0 || plan->variable_count != 0;
    struct layout layout = {.size = sizeof layout.header};
    struct wire_region *header = &layout.header;
    header->magic = WIRE_REGION_MAGIC;
    header->version = WIRE_VERSION;
    header->answer_timeout_ms = TARGET_ANSWER_WAIT_NS / NS_PER_MS;
    header->options = options->options;
    header->journal_capacity =
        options->journal_records != 0 ? options->journal_records : REGION_JOURNAL_RECORDS;
    header->preload = layout_add(&layout, strlen(options->preload) + 1, 1);
    header->file = layout_add(&layout, strlen(path) + 1, 1);
    if (options->coverage != NULL)
        header->coverage = layout_add(&layout, strlen(options->coverage) + 1, 1);
    const struct region_program *program = options->program;
    if (program != NULL && program->file != NULL) {
        header->program =
            layout_add(&layout, strlen(program->asked) + strlen(program->file) + 2, 1);
        header->program_fingerprint = program->fingerprint;
    }
    size_t command_size = 0;
    for (; options->command[header->command_words] != NULL; header->command_words++)
        command_size += strlen(options->command[header->command_words]) + 1;
    header->command = layout_add(&layout, command_size, 1);
    // The plan gets pages of its own, since targets map them read-only.
    layout_new_page(&layout);
    header->plan = layout_add(&layout, options->plan_size, 1);
    layout_new_page(&layout);
    header->rules = layout_add(&layout, plan->rules.count, sizeof(struct wire_rule_state));
    header->patterns = layout_add(&layout, plan->patterns.count, sizeof(struct wire_pattern_state));
    header->programs = layout_add(&layout, 1, sizeof(struct wire_programs));
    header->mark_count = options->marks;
    header->stop_count = options->stops;
    header->marks = layout_add(&layout, options->marks, sizeof(uint32_t));
    header->modules = layout_add(&layout, WIRE_MODULES, sizeof(struct wire_module));
    header->remotes = layout_add(&layout, WIRE_REMOTES, sizeof(struct wire_remote));
    if (plan->uses & WIRE_USE_NEW_STACK)
        header->stack_set = layout_add(&layout, WIRE_STACK_SET, sizeof(uint64_t));
    header->journal = layout_add(&layout, header->journal_capacity + WIRE_LATE_CRASHES,
                                 sizeof(struct wire_record));
    if (options->options & WIRE_RECORD_CALLS)
        header->calls = layout_add(&layout, 1, sizeof(struct wire_calls));
    header->arena = layout_add(&layout, 0, 1);
    layout_add(&layout, located ? ARENA_SIZE : 0, 1);
    if (plan->patterns.count != 0) {
        layout_new_page(&layout);
        header->counts = layout_add(&layout, 1, sizeof(struct wire_counts));
    }
    header->size = layout.size;
    return layout;
}

static struct error *allocate(int file, const char *path, uint64_t from, uint64_t to)
{
    int code = 0;
    // A file that the target has cut short must stay short: region_mend() notices that.
    while (fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) != 0 &&
           (code = errno) == EINTR)
        code = 0;
    if (code == EOPNOTSUPP) // some file systems
        while ((code = posix_fallocate(file, (off_t)from, (off_t)(to - from))) == EINTR)
            ;
    if (code != 0)
        return error_from_errno(code, "no room for the trial's shared memory, %s needs %llu KiB",
                                path, (unsigned long long)((to - from + 1023) / 1024));
    return NULL;
}

// Gives storage to what targets write at once. For the rest, checks that there is room.
static struct error *allocate_early(int file, const char *path, const struct wire_region *header,
                                    bool asks_remotely)
{
    uint32_t records = header->journal_capacity + WIRE_LATE_CRASHES;
    uint64_t journal_end = header->journal + records * sizeof(struct wire_record);
    if (records > EARLY_RECORDS)
        records = EARLY_RECORDS;
    uint64_t first = header->modules + EARLY_MODULES * sizeof(struct wire_module);
    TRY(allocate(file, path, 0, first));
    if (asks_remotely)
        TRY(allocate(file, path, header->remotes,
                     header->remotes + WIRE_REMOTES * sizeof(struct wire_remote)));
    TRY(allocate(file, path, header->journal,
                 header->journal + records * sizeof(struct wire_record)));
    struct statvfs facts;
    if (fstatvfs(file, &facts) < 0)
        return error_from_errno(errno, "cannot tell how much room there is for %s", path);
    uint64_t room = (uint64_t)facts.f_bavail * facts.f_frsize;
    uint64_t counts = header->counts != 0 ? sizeof(struct wire_counts) : 0;
    if (facts.f_blocks != 0 && room < journal_end - first + counts)
        return error_from_errno(ENOSPC, "no room for the trial's shared memory, %s needs %llu KiB",
                                path, (unsigned long long)((journal_end + counts) / 1024));
    return NULL;
}

static void region_fill(struct region *region, const struct layout *layout,
                        const struct region_options *options)
{
    struct wire_region *map = region->map;
    *map = layout->header;
    char *base = (char *)map;
    strcpy(base + map->preload, options->preload);
    strcpy(base + map->file, region->path);
    if (options->coverage != NULL)
        strcpy(base + map->coverage, options->coverage);
    if (map->program != 0)
        strcpy(stpcpy(base + map->program, options->program->asked) + 1, options->program->file);
    char *word = base + map->command;
    for (uint32_t i = 0; i < map->command_words; i++)
        word = stpcpy(word, options->command[i]) + 1;
    memcpy(base + map->plan, options->plan, options->plan_size);
    memcpy(region->fixed, base, region->layout.rules);
}

struct error *region_reserve(struct region *region)
{
    if (region->reserved >= region->layout.arena)
        return NULL;
    TRY(allocate(region->file, region->path, region->reserved, region->layout.arena));
    region->reserved = region->layout.arena;
    if (region->layout.counts != 0)
        TRY(allocate(region->file, region->path, region->layout.counts,
                     region->layout.counts + sizeof(struct wire_counts)));
    return NULL;
}

static struct error *region_store(struct region *region, const struct region_options *options)
{
    // Targets write all over a table of calls from the first moment.
    if (options->whole || region->layout.calls != 0)
        return region_reserve(region);
    bool asks_remotely = (((const struct wire_plan *)options->plan)->uses & WIRE_USE_REMOTE) != 0;
    TRY(allocate_early(region->file, region->path, &region->layout, asks_remotely));
    region->reserved = region->layout.modules + EARLY_MODULES * sizeof(struct wire_module);
    return NULL;
}

// Makes the file as large as the layout needs, and drops a mapping that is too small. Never
// shrinks.
static struct error *region_resize(struct region *region, uint64_t size)
{
    if (size <= region->size)
        return NULL;
    if (ftruncate(region->file, (off_t)size) < 0)
        return error_from_errno(errno, "cannot make %s as large as %llu KiB", region->path,
                                (unsigned long long)(size / 1024));
    if (region->map != NULL)
        munmap(region->map, region->size);
    region->map = NULL;
    region->size = size;
    return NULL;
}

static struct error *region_map(struct region *region, const struct region_options *options)
{
    struct layout layout = layout_make(options, region->path);
    TRY(region_resize(region, layout.size));
    layout.header.size = region->size;
    region->layout = layout.header;
    region->arena_used = region->allocated = layout.header.arena;
    TRY(region_store(region, options));
    if (region->map == NULL) {
        void *map = mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED, region->file, 0);
        if (map == MAP_FAILED)
            return error_from_errno(errno, "cannot map %s", region->path);
        region->map = map;
    }
    char *fixed = realloc(region->fixed, layout.header.rules);
    if (fixed == NULL)
        return error_no_memory();
    region->fixed = fixed;
    region_fill(region, &layout, options);
    return NULL;
}

// In /dev/shm or, if it is missing or full, elsewhere. The first place's error is what is told.
static struct error *make_shared(const struct region_options *options, bool sweep,
                                 struct region *region)
{
    struct error *first = NULL;
    for (unsigned place = 0; place < REGION_FILE_PLACES;) {
        struct error *error = region_file_make_shared(sweep, &place, &region->file, &region->path,
                                                      &region->directory);
        bool made = error == NULL;
        if (made)
            error = region_map(region, options);
        if (error == NULL) {
            error_free(first);
            return NULL;
        }
        region_close(region);
        if (first == NULL)
            first = error;
        else
            error_free(error);
        if (!made)
            break;
    }
    return first;
}

static struct error *create(const struct region_options *options, bool sweep,
                            struct region *ret_region)
{
    struct region region = {.file = -1};
    struct error *error;
    if (options->journal_path == NULL) {
        error = make_shared(options, sweep, &region);
    } else {
        error = region_file_make_journal(options->journal_path, &region.file, &region.path,
                                         &region.temporary);
        if (error == NULL)
            error = region_map(&region, options);
    }
    // A journal gets its name only now, so that a run that cannot start leaves an older one alone.
    if (error == NULL && region.temporary != NULL) {
        if (rename(region.temporary, region.path) < 0)
            error = error_from_errno(errno, "cannot write the journal %s", region.path);
        else
            free(TAKE(region.temporary));
    }
    if (error != NULL) {
        region_close(&region);
        return error;
    }
    *ret_region = region;
    return NULL;
}

struct error *region_create(const struct region_options *options, struct region *ret_region)
{
    if (options->journal_records > REGION_JOURNAL_RECORDS_MAX)
        return error_new("a journal holds at most %d records", REGION_JOURNAL_RECORDS_MAX);
    // Without `whole` the caller is in a hurry and calls region_tidy() later. If this fails,
    // perhaps for lack of room, tidy up and try again.
    struct error *error = create(options, options->whole, ret_region);
    if (error == NULL || options->whole || options->journal_path != NULL)
        return error;
    error_free(error);
    return create(options, true, ret_region);
}

void region_tidy(const struct region *region)
{
    const char *slash = region->directory != NULL ? strrchr(region->directory, '/') : NULL;
    _cleanup_free_ char *parent =
        slash != NULL ? strndup(region->directory, (size_t)(slash - region->directory)) : NULL;
    if (parent != NULL)
        region_sweep(parent, TIDY_MOST);
}

bool region_is_shared(const struct region *region)
{
    // The kernel grants a write lease only if nobody else has the file open or mapped. If somebody
    // opens it meanwhile, the kernel sends us a signal: SIGURG, which is ignored.
    if (fcntl(region->file, F_SETSIG, SIGURG) < 0 || fcntl(region->file, F_SETLEASE, F_WRLCK) < 0)
        return true;
    fcntl(region->file, F_SETLEASE, F_UNLCK);
    return false;
}

static bool has_crash(const struct region *region)
{
    const struct wire_record *records =
        (const struct wire_record *)((char *)region->map + region->layout.journal);
    uint64_t count = region->map->journal_head;
    for (uint64_t i = 0; i < count && i < region->layout.journal_capacity; i++)
        if (records[i].kind == WIRE_RECORD_CRASH)
            return true;
    records += region->layout.journal_capacity;
    for (uint32_t i = 0; i < WIRE_LATE_CRASHES; i++)
        if (records[i].state != WIRE_RECORD_EMPTY)
            return true;
    return false;
}

// Zeroes everything, whatever was written where.
static struct error *wipe_all(struct region *region)
{
    if (fallocate(region->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  (off_t)region->size) < 0)
        return error_from_errno(errno, "cannot clear %s", region->path);
    region->reserved = 0;
    return NULL;
}

static void wipe_counts(struct wire_counts *counts)
{
    uint32_t used = counts->used < WIRE_COUNT_ROWS ? counts->used : WIRE_COUNT_ROWS - 1;
    memset(counts->counts, 0, (used + 1) * sizeof counts->counts[0]);
    memset(counts->functions, 0, (used + 1) * sizeof counts->functions[0]);
    memset(counts, 0, offsetof(struct wire_counts, counts));
}

// Zeroes what targets and controller normally write, which is much less than everything.
static void wipe_used(struct region *region)
{
    const struct wire_region *layout = &region->layout;
    char *base = (char *)region->map;
    uint64_t records = region->map->journal_head;
    if (records > layout->journal_capacity)
        records = layout->journal_capacity;
    memset(base + layout->journal, 0, records * sizeof(struct wire_record));
    struct wire_module *modules = (struct wire_module *)(base + layout->modules);
    for (uint32_t i = 0; i < WIRE_MODULES && modules[i].state != WIRE_MODULE_FREE; i++)
        memset(&modules[i], 0, sizeof modules[i]); // entries are used in order
    if (layout->stack_set != 0)
        memset(base + layout->stack_set, 0, WIRE_STACK_SET * sizeof(uint64_t));
    if (layout->calls != 0)
        memset(base + layout->calls, 0, sizeof(struct wire_calls));
    if (layout->counts != 0)
        wipe_counts((struct wire_counts *)(base + layout->counts));
    memset(base + layout->arena, 0, region->arena_used - layout->arena);
    memset(base + layout->remotes, 0, WIRE_REMOTES * sizeof(struct wire_remote));
    memset(base, 0, layout->modules);
}

struct error *region_renew(struct region *region, const struct region_options *options)
{
    if (options->journal_records > REGION_JOURNAL_RECORDS_MAX)
        return error_new("a journal holds at most %d records", REGION_JOURNAL_RECORDS_MAX);
    // A program that crashed may have written anywhere.
    if (region->arena_used - region->layout.arena > ARENA_STEP || has_crash(region))
        TRY(wipe_all(region));
    else
        wipe_used(region);
    return region_map(region, options);
}

void region_start(struct region *region, uint64_t now_ns)
{
    struct wire_region *map = region->map, *layout = &region->layout;
    struct stat space;
    map->start_ns = layout->start_ns = now_ns;
    map->namespace = layout->namespace = stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
    map->controller = layout->controller = (uint32_t)getpid();
    map->controller_group = layout->controller_group = (uint32_t)getpgrp();
}

void region_restore(const struct region *region, struct wire_region *bytes)
{
    const struct wire_region *layout = &region->layout;
    const size_t before = offsetof(struct wire_region, requests),
                 after = offsetof(struct wire_region, command);
    const bool overwritten =
        bytes->overwritten != 0 || (!region->cut && memcmp(bytes, layout, before) != 0);
    char *to = (char *)bytes;
    memcpy(to, layout, before);
    bytes->options = layout->options;
    bytes->overwritten = overwritten;
    // Leaves `fork` alone: a workload that forks may be about to wait on a word in it, which must
    // not change even for a moment.
    memcpy(to + after, (const char *)layout + after, sizeof *layout - after);
    bytes->watched_ns = clock_ns() - layout->start_ns;
    memcpy(to + sizeof *layout, region->fixed + sizeof *layout, layout->rules - sizeof *layout);
}

void region_mend(struct region *region)
{
    struct stat facts;
    if (fstat(region->file, &facts) == 0 && (uint64_t)facts.st_size >= region->size)
        return;
    region->cut = true;
    region->reserved = 0;
    // If even that fails, zeros are better than SIGBUS beyond the end.
    if (ftruncate(region->file, (off_t)region->size) < 0)
        mmap(region->map, region->size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void region_conclude(struct region *region, enum wire_outcome outcome, int status, uint64_t ns)
{
    region->layout.outcome = outcome;
    region->layout.outcome_status = status;
    region->layout.outcome_ns = ns;
    region_mend(region);
    region_restore(region, region->map);
}

void region_each_text(struct region *region, void (*change)(char *bytes, size_t size))
{
    region_mend(region);
    const struct wire_region *layout = &region->layout;
    struct wire_record *records = (struct wire_record *)((char *)region->map + layout->journal);
    uint64_t count = region->map->journal_head;
    if (count > layout->journal_capacity)
        count = layout->journal_capacity + WIRE_LATE_CRASHES;
    change((char *)region->map + sizeof *layout, layout->rules - sizeof *layout);
    change((char *)region->fixed + sizeof *layout, layout->rules - sizeof *layout);
    for (uint64_t i = 0; i < count; i++)
        if (records[i].kind == WIRE_RECORD_INJECTION)
            change(&records[i].strings[0][0], sizeof records[i].strings);
        else if (records[i].kind == WIRE_RECORD_NOTE || records[i].kind == WIRE_RECORD_EXEC)
            change(records[i].text, sizeof records[i].text);
}

void region_remove(struct region *region)
{
    if (region->temporary != NULL)
        unlink(region->temporary);
    free(TAKE(region->temporary));
    if (region->directory == NULL)
        return;
    if (region->path != NULL)
        unlink(region->path);
    rmdir(region->directory);
    free(TAKE(region->directory));
}

void region_close(struct region *region)
{
    region_remove(region);
    region_forget(region);
}

void region_forget(struct region *region)
{
    if (region->map != NULL)
        munmap(region->map, region->size);
    if (region->file >= 0)
        close(region->file);
    free(region->path);
    free(region->directory);
    free(region->temporary);
    free(region->fixed);
    *region = (struct region){.file = -1};
}

struct error *region_arena_put(struct region *region, const void *bytes, size_t size,
                               uint64_t *ret_offset)
{
    uint64_t start = (region->arena_used + 63) & ~63ull;
    uint64_t limit = region->layout.counts != 0 ? region->layout.counts : region->size;
    if (start > limit || size > limit - start)
        return error_new("the locations of the modules need more than %llu MiB",
                         (unsigned long long)(ARENA_SIZE >> 20));
    uint64_t end = start + size;
    if (end > region->allocated) {
        uint64_t target = (end + ARENA_STEP - 1) / ARENA_STEP * ARENA_STEP;
        if (target > limit)
            target = limit;
        TRY(allocate(region->file, region->path, region->allocated, target));
        region->allocated = target;
    }
    memcpy((char *)region->map + start, bytes, size);
    region->arena_used = end;
    *ret_offset = start;
    return NULL;
}
