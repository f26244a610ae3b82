// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of traces of library interfaces, and what works on them: the input is two
// traces without packing, or one that is compared with itself. The second one begins with the first
// block of another process.
#include "interface/accesses.h"
#include "interface/compare.h"
#include "interface/corruption.h"
#include "report/interface/interface.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop(struct error *error)
{
    error_free(error);
}

// What is written of a trace must be readable.
static void count_accesses(const struct trace_source *source)
{
    struct program_list programs = {0};
    struct accesses accesses = {0}, again = {0};
    struct buffer text = {0};
    drop(programs_find(source, &programs));
    if (programs.programs.count > 0) {
        struct error *error = accesses_count(source, programs.programs.items[0], &accesses);
        if (error == NULL && accesses_write(&accesses, &text) == NULL && text.size != 0 &&
            accesses_read(text.data, text.size, &again) != NULL)
            abort();
        drop(error);
    }
    accesses_deinit(&accesses);
    accesses_deinit(&again);
    programs_deinit(&programs);
    buffer_deinit(&text);
}

static void make_profile(const struct interface_comparison *comparison)
{
    struct corruption profile = {0}, again = {0};
    struct buffer text = {0};
    if (comparison->outcome != INTERFACE_DIFFERS)
        return;
    struct error *error = corruption_make(comparison, &profile);
    if (error == NULL && corruption_write(&profile, &text) == NULL && profile.number != 0 &&
        corruption_read("it", 1, text.data, text.size, &again) != NULL)
        abort();
    drop(error);
    corruption_deinit(&profile);
    corruption_deinit(&again);
    buffer_deinit(&text);
}

static void compare(const struct trace_source *good, const struct trace_source *bad,
                    bool must_be_same)
{
    struct program_list programs[2] = {0};
    struct interface_comparison comparison = {0};
    struct buffer text = {0};
    drop(programs_find(good, &programs[0]));
    drop(programs_find(bad, &programs[1]));
    if (programs[0].programs.count > 0 && programs[1].programs.count > 0) {
        struct error *error = interface_compare(good, programs[0].programs.items[0], bad,
                                                programs[1].programs.items[0], &comparison);
        if (error == NULL && must_be_same && comparison.outcome != INTERFACE_SAME)
            abort();
        if (error == NULL) {
            make_profile(&comparison);
            drop(report_interface_comparison(&comparison, false, &text));
            drop(report_interface_comparison_json(&comparison, &text));
            interface_comparison_deinit(&comparison);
        }
        drop(error);
    }
    programs_deinit(&programs[0]);
    programs_deinit(&programs[1]);
    buffer_deinit(&text);
}

static size_t second_trace(const uint8_t *data, size_t size)
{
    struct interface_block block, first = {0};
    for (size_t at = 0; size - at >= sizeof block; at += block.size) {
        memcpy(&block, data + at, sizeof block);
        if (at == 0)
            first = block;
        if (block.process != first.process)
            return at;
        if (block.size < sizeof block || block.size > size - at)
            break;
    }
    return size / 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t half = second_trace(data, size);
    struct trace_source whole = {.blocks = data, .size = size};
    struct trace_source good = {.blocks = data, .size = half};
    struct trace_source bad = {.blocks = data + half, .size = size - half};
    count_accesses(&whole);
    compare(&whole, &whole, true);
    compare(&good, &bad, false);
    return 0;
}
