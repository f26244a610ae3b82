// SPDX-License-Identifier: GPL-3.0-or-later
// Rules count how often they fire. Blocks of software faults are only noted the first time that a
// process reaches them, and not by those that find a mark: so marks are taken away each time.
#include "engine/activation-watch.h"

#include "base/cleanup.h"
#include "wire/coverage.h"
#include "wire/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct activation_watch {
    char *map;
    size_t size;
    const struct wire_rule_state *rules;
    uint32_t rule_count, mark_count;
    uint64_t fired;  // when it was asked last
    uint32_t *marks; // of blocks
    uint32_t *taken;
};

static const char *find_path(char *const *environment)
{
    size_t size = strlen(WIRE_ENVIRONMENT);
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, WIRE_ENVIRONMENT, size) == 0 && (*environment)[size] == '=')
            return strchr(*environment + size, '/');
    return NULL;
}

static bool is_within(const struct activation_watch *watch, uint64_t offset, uint64_t count,
                      size_t size)
{
    return offset <= watch->size && count <= (watch->size - offset) / size;
}

// How many of the marks are about modules, and stand in front.
static struct error *count_modules(const char *path, uint32_t *ret_count)
{
    struct wire_coverage head;
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || pread(file, &head, sizeof head, 0) != sizeof head)
        return error_from_errno(errno, "cannot read %s", path);
    *ret_count = head.module_count;
    return NULL;
}

static struct error *find_marks(struct activation_watch *watch)
{
    const struct wire_region *region = (const void *)watch->map;
    uint32_t modules = 0, stops = region->stop_count * WIRE_STOP_MARKS;
    if (region->coverage == 0 || region->coverage >= watch->size ||
        !is_within(watch, region->marks, region->mark_count, sizeof *watch->marks))
        return NULL;
    TRY(count_modules(watch->map + region->coverage, &modules));
    if (modules > region->mark_count || stops > region->mark_count - modules)
        return NULL;
    watch->marks = (uint32_t *)(void *)(watch->map + region->marks) + modules;
    watch->mark_count = region->mark_count - modules - stops;
    watch->taken = calloc(watch->mark_count + 1, sizeof *watch->taken);
    return watch->taken == NULL ? error_no_memory() : NULL;
}

static struct error *find_rules(struct activation_watch *watch)
{
    const struct wire_region *region = (const void *)watch->map;
    if (!is_within(watch, region->plan, 1, sizeof(struct wire_plan)))
        return error_new("the region has no plan");
    const struct wire_plan *plan = (const void *)(watch->map + region->plan);
    if (!is_within(watch, region->rules, plan->rules.count, sizeof *watch->rules))
        return error_new("the region has no rules");
    watch->rules = (const void *)(watch->map + region->rules);
    watch->rule_count = plan->rules.count;
    return NULL;
}

static struct error *map(const char *path, struct activation_watch *watch)
{
    struct stat facts;
    _cleanup_close_ int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &facts) < 0)
        return error_from_errno(errno, "cannot open the region %s", path);
    if ((size_t)facts.st_size < sizeof(struct wire_region))
        return error_new("the region %s is too short", path);
    void *memory = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return error_from_errno(errno, "cannot map the region %s", path);
    watch->map = memory;
    watch->size = (size_t)facts.st_size;
    TRY(find_rules(watch));
    return find_marks(watch);
}

struct error *activation_watch_open(char *const *environment, struct activation_watch **ret_watch)
{
    const char *path = find_path(environment);
    *ret_watch = NULL;
    if (path == NULL)
        return NULL;
    struct activation_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return error_no_memory();
    struct error *error = map(path, watch);
    if (error != NULL)
        activation_watch_close(watch);
    else
        *ret_watch = watch;
    return error;
}

static bool take_marks(struct activation_watch *watch)
{
    bool any = false;
    for (uint32_t i = 0; i < watch->mark_count; i++) {
        uint32_t mark = __atomic_exchange_n(&watch->marks[i], 0, __ATOMIC_RELAXED);
        watch->taken[i] = mark > watch->taken[i] ? mark : watch->taken[i];
        any |= mark != 0;
    }
    return any;
}

bool activation_watch_ask(void *data)
{
    struct activation_watch *watch = data;
    uint64_t fired = 0;
    for (uint32_t i = 0; i < watch->rule_count; i++)
        fired += __atomic_load_n(&watch->rules[i].fired, __ATOMIC_RELAXED);
    bool activated = fired != watch->fired;
    watch->fired = fired;
    return take_marks(watch) || activated;
}

void activation_watch_close(struct activation_watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->taken != NULL) {
        take_marks(watch);
        for (uint32_t i = 0; i < watch->mark_count; i++)
            __atomic_store_n(&watch->marks[i], watch->taken[i], __ATOMIC_RELAXED);
    }
    if (watch->map != NULL)
        munmap(watch->map, watch->size);
    free(watch->taken);
    free(watch);
}
