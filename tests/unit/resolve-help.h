// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of resolving share: a module's answer taken apart.
#ifndef ORDEAL_TESTS_RESOLVE_HELP_H
#define ORDEAL_TESTS_RESOLVE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario/resolve.h"
#include "victim.h"
#include "wire/region.h"

#include <dlfcn.h>
#include <link.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// One module's answer, taken apart.
struct answer {
    struct scenario *scenario;
    struct buffer bytes;
    const struct wire_resolution *header;
    const struct wire_range *ranges;
    const struct wire_location *locations;
    const struct wire_step *steps;
};

static inline void answer_deinit(struct answer *answer)
{
    buffer_deinit(&answer->bytes);
    scenario_free(answer->scenario);
}

static inline void answer_take(struct answer *answer, const char *path)
{
    buffer_deinit(&answer->bytes);
    good(resolve_module(answer->scenario, path, path, &answer->bytes));
    assert_true(answer->bytes.size >= sizeof *answer->header);
    answer->header = (const struct wire_resolution *)answer->bytes.data;
    answer->ranges = (const struct wire_range *)(answer->header + 1);
    answer->locations =
        (const struct wire_location *)(answer->ranges + answer->header->range_count);
    answer->steps = (const struct wire_step *)(answer->locations + answer->header->location_count);
    assert_int_equal(answer->bytes.size,
                     (const char *)(answer->steps + answer->header->step_count) -
                         answer->bytes.data);
}

static inline void add_rule(struct answer *answer, const char *condition)
{
    char spec[512];
    snprintf(spec, sizeof spec, "read=-1/EIO when %s", condition);
    if (answer->scenario == NULL)
        good(scenario_new(&answer->scenario));
    good(scenario_add_spec(answer->scenario, spec));
}

static inline uint64_t bias_of(void *handle)
{
    struct link_map *map;
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    return map->l_addr;
}

static inline uint64_t address_of(const char *name, const char *symbol)
{
    char command[256];
    snprintf(command, sizeof command, "nm %s | awk '$3 == \"%s\" { print $1 }'", victim_path(name),
             symbol);
    FILE *pipe = popen(command, "r");
    unsigned long address = 0;
    assert_int_equal(fscanf(pipe, "%lx", &address), 1);
    pclose(pipe);
    return address;
}

#endif
