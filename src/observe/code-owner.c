// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the owner of code in /proc/PID/maps, which is read again when a call comes from memory that
// was not there before.
#include "observe/code-owner.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void code_owners_deinit(struct code_owners *owners)
{
    ARRAY_DEINIT(&owners->ranges);
}

static const struct code_range *find(const struct code_owners *owners, uint64_t place)
{
    for (size_t i = 0; i < owners->ranges.count; i++) {
        const struct code_range *range = &owners->ranges.items[i];
        if (place >= range->start && place < range->end)
            return range;
    }
    return NULL;
}

static void read_ranges(struct code_owners *owners, const struct tracer_task *task,
                        const char *name)
{
    char path[64], line[PATH_MAX + 128];
    snprintf(path, sizeof path, "/proc/%d/maps", task->tid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    owners->ranges.count = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        uint64_t start, end;
        char rights[5];
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, rights) != 3 ||
            rights[2] != 'x')
            continue;
        const char *mapped = strchr(line, '/');
        struct code_range *range = ARRAY_ADD(&owners->ranges);
        if (range == NULL)
            return;
        *range = (struct code_range){start, end,
                                     mapped != NULL && strcmp(file_base_name(mapped), name) == 0};
    }
}

bool code_is_of(struct code_owners *owners, const struct tracer_task *task, uint64_t place,
                const char *name)
{
    const struct code_range *range = find(owners, place);
    if (range == NULL) {
        read_ranges(owners, task, name);
        range = find(owners, place);
    }
    return range != NULL && range->foreign;
}
