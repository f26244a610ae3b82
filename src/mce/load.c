// SPDX-License-Identifier: GPL-3.0-or-later
// Loads are data. The thesis that names their sizes does not say what is in them; the rules here
// are Ordeal's own.
#include "mce/load.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define AXES 9
#define UER  (MCE_VAL | MCE_UC)
#define FULL (UER | MCE_EN | MCE_MISCV | MCE_ADDRV)

struct rule {
    uint16_t codes[4];   // ends with 0; none: all of the units
    unsigned units;      // a bit for each unit
    bool filtered;       // each code also with F
    unsigned kinds;      // each as the first of `kinds`; 0: as what `always` has
    uint64_t always;     // bits of the status
    unsigned global;     // of MCG_STATUS
    uint64_t axes[AXES]; // bits that are clear and set; ends with 0
    unsigned global_axes;
    uint64_t size; // draws so many; 0: all
};

#define UNIT(name)        (1u << MCE_##name)
#define CACHES_TLB_MEMORY (UNIT(GENERIC_CACHE) | UNIT(TLB) | UNIT(MEMORY) | UNIT(CACHE))
#define THREE_CODES       0x0134, 0x0150, 0x0186

// By the index in MCE_LOADS.
static const struct rule rules[] = {
    {.units = ~0u,
     .kinds = 5,
     .always = MCE_VAL | MCE_EN | MCE_MISCV | MCE_ADDRV,
     .global = MCE_RIPV | MCE_EIPV | MCE_MCIP},
    {.units = CACHES_TLB_MEMORY,
     .filtered = true,
     .kinds = 3,
     .always = FULL,
     .global = MCE_RIPV | MCE_MCIP,
     .axes = {MCE_OVER},
     .global_axes = MCE_EIPV,
     .size = 4096},
    {.codes = {THREE_CODES},
     .always = FULL,
     .global = MCE_MCIP,
     .axes = {MCE_OVER, MCE_PCC, MCE_S, MCE_AR},
     .global_axes = MCE_RIPV | MCE_EIPV},
    {.units = CACHES_TLB_MEMORY,
     .filtered = true,
     .kinds = 3,
     .always = UER | MCE_MISCV,
     .axes = {MCE_OVER, MCE_EN, MCE_ADDRV},
     .global_axes = MCE_RIPV | MCE_EIPV | MCE_MCIP,
     .size = 49502},
    {.codes = {THREE_CODES},
     .always = UER,
     .global = MCE_MCIP,
     .axes = {MCE_OVER, MCE_EN, MCE_MISCV, MCE_ADDRV, MCE_PCC, MCE_S, MCE_AR},
     .global_axes = MCE_RIPV | MCE_EIPV},
};

static const uint64_t kinds[] = {MCE_UC, MCE_UC | MCE_S, MCE_UC | MCE_S | MCE_AR, MCE_UC | MCE_PCC,
                                 0}; // UCNA, SRAO, SRAR; UC, CE

// ---- The combinations of a load ----

struct space {
    const struct rule *rule;
    uint16_t codes[2 * MCE_MOST_CODES];
    size_t code_count;
    const uint64_t *kinds;
    size_t kind_count;
    unsigned bits, global_bits; // how many axes
    uint64_t size;
};

static void find_codes(struct space *space)
{
    uint16_t all[MCE_MOST_CODES];
    const struct rule *rule = space->rule;
    size_t count = mce_all_codes(all);
    for (size_t i = 0; i < 4 && rule->codes[i] != 0; i++)
        space->codes[space->code_count++] = rule->codes[i];
    for (size_t i = 0; i < count && rule->codes[0] == 0; i++) {
        if ((rule->units >> mce_code_unit(all[i]) & 1) == 0)
            continue;
        space->codes[space->code_count++] = all[i];
        if (rule->filtered)
            space->codes[space->code_count++] = all[i] | MCE_CODE_F;
    }
}

static void lay_out(const struct rule *rule, struct space *ret_space)
{
    static const uint64_t nothing = 0;
    *ret_space = (struct space){.rule = rule, .kinds = &nothing, .kind_count = 1};
    find_codes(ret_space);
    if (rule->kinds != 0) {
        ret_space->kinds = kinds;
        ret_space->kind_count = rule->kinds;
    }
    while (ret_space->bits < AXES && rule->axes[ret_space->bits] != 0)
        ret_space->bits++;
    ret_space->global_bits = (unsigned)__builtin_popcount(rule->global_axes);
    ret_space->size = (uint64_t)ret_space->code_count * ret_space->kind_count
                      << (ret_space->bits + ret_space->global_bits);
}

static uint64_t digit(uint64_t *number, uint64_t base)
{
    uint64_t value = *number % base;
    *number /= base;
    return value;
}

static struct mce_error combine(const struct space *space, uint64_t number,
                                const struct mce_wanted *wanted)
{
    struct mce_error error = {.status = space->rule->always,
                              .global = space->rule->global,
                              .processor = wanted->processor,
                              .bank = wanted->bank,
                              .alone = wanted->alone};
    for (unsigned i = 0; i < space->bits; i++)
        error.status |= digit(&number, 2) != 0 ? space->rule->axes[i] : 0;
    for (unsigned i = 0; i < 3; i++)
        if ((space->rule->global_axes >> i & 1) != 0)
            error.global |= digit(&number, 2) << i;
    error.status |= space->kinds[digit(&number, space->kind_count)];
    error.status |= space->codes[number];
    error.address = (error.status & MCE_ADDRV) != 0 ? wanted->address : 0;
    error.misc = (error.status & MCE_MISCV) != 0 ? wanted->misc : 0;
    return error;
}

// ---- What is wanted of it ----

static bool is_any(const bool *set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (set[i])
            return true;
    return false;
}

static bool is_wanted(const struct mce_wanted *wanted, const struct mce_error *error)
{
    return (!is_any(wanted->units, MCE_UNITS) ||
            wanted->units[mce_code_unit((uint16_t)error->status)]) &&
           (!is_any(wanted->categories, MCE_CATEGORIES) ||
            wanted->categories[mce_category(error->status, true)]);
}

bool mce_mark_name(const char *const *names, size_t count, const char *word, bool *marks)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(names[i], word) == 0)
            return marks[i] = true;
    return false;
}

void mce_keep(struct mce_errors *errors, const struct mce_wanted *wanted)
{
    size_t kept = 0;
    for (size_t i = 0; i < errors->list.count; i++) {
        struct mce_error *error = &errors->list.items[i];
        if (is_wanted(wanted, error))
            errors->list.items[kept++] = *error;
        else
            mce_error_deinit(error);
    }
    errors->list.count = kept;
}

static struct error *draw(struct mce_errors *errors, uint64_t chosen, uint64_t seed)
{
    struct stats_random random = stats_random_start(seed, 1);
    _cleanup_free_ uint64_t *indices = NULL;
    uint64_t count;
    TRY(stats_sample(&random, errors->list.count, chosen, &indices, &count));
    for (uint64_t i = 0; i < count; i++) // ascending
        errors->list.items[i] = errors->list.items[indices[i]];
    errors->list.count = count;
    return NULL;
}

struct error *mce_generate(const struct mce_wanted *wanted, struct mce_errors *ret_errors)
{
    int load;
    TRY(choice_parse(MCE_LOADS, wanted->load, strlen(wanted->load), &load));
    _cleanup_free_ struct space *space = malloc(sizeof *space);
    if (space == NULL)
        return error_no_memory();
    lay_out(&rules[load], space);
    struct stats_random random = stats_random_start(wanted->seed, 0);
    _cleanup_free_ uint64_t *numbers = NULL;
    uint64_t count;
    TRY(stats_sample(&random, space->size, rules[load].size != 0 ? rules[load].size : space->size,
                     &numbers, &count));
    for (uint64_t i = 0; i < count; i++) {
        struct mce_error error = combine(space, numbers[i], wanted);
        if (!is_wanted(wanted, &error))
            continue;
        struct mce_error *place = ARRAY_ADD(&ret_errors->list);
        if (place == NULL)
            return error_no_memory();
        *place = error;
    }
    return wanted->sample != 0 ? draw(ret_errors, wanted->sample, wanted->seed) : NULL;
}
