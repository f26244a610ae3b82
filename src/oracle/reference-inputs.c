// SPDX-License-Identifier: GPL-3.0-or-later
// The references of all inputs of a campaign: each input has its own, the first one holds the
// others.
#include "oracle/reference-model.h"

#include "base/cleanup.h"

#include <stdlib.h>

// Input 0 is the reference itself.
static struct reference *at(const struct reference *reference, size_t input)
{
    return input == 0 ? (struct reference *)reference : reference->others.items[input - 1];
}

const struct reference *reference_of(const struct reference *reference, uint32_t input)
{
    return input <= reference->others.count ? at(reference, input) : reference;
}

struct error *reference_make(struct reference *reference, uint32_t input,
                             struct reference **ret_reference)
{
    if (input > reference->others.count + 1)
        return error_new("there is no reference run of input %zu", reference->others.count + 2);
    if (input == reference->others.count + 1) {
        struct reference **slot = ARRAY_ADD(&reference->others);
        if (slot == NULL)
            return error_no_memory();
        reference->others.count--; // until there is one
        TRY(reference_new(reference->oracle, slot));
        reference->others.count++;
    }
    *ret_reference = at(reference, input);
    return NULL;
}

struct error *reference_add(struct reference *reference, const struct outcome_run *run)
{
    struct reference *own;
    TRY(reference_make(reference, run->input, &own));
    return reference_add_one(own, run);
}

void reference_clear(struct reference *reference)
{
    for (size_t i = 0; i < reference->others.count; i++)
        reference_free_one(reference->others.items[i]);
    reference->others.count = 0;
    reference_clear_one(reference);
}

void reference_free(struct reference *reference)
{
    if (reference == NULL)
        return;
    reference_clear(reference);
    reference_free_one(reference);
}

bool reference_is_fit(const struct reference *reference)
{
    for (size_t input = 0; input <= reference->others.count; input++)
        for (size_t i = 0; i < at(reference, input)->runs.count; i++)
            if (at(reference, input)->runs.items[i].failure != NULL)
                return false;
    return true;
}

bool reference_is_as_expected(const struct reference *reference)
{
    return reference_is_fit(reference) &&
           reference_status(reference) == (int)reference->oracle->status;
}

bool reference_is_late(const struct reference *reference)
{
    for (size_t input = 0; input <= reference->others.count; input++)
        for (size_t i = 0; i < at(reference, input)->runs.count; i++)
            if (at(reference, input)->runs.items[i].end == SANDBOX_TIMEOUT)
                return true;
    return false;
}

// Remarks say of which input they are, and the first reference gets them all.
static struct error *take_remarks(struct reference *reference, uint32_t input)
{
    const struct reference *own = at(reference, input);
    for (size_t i = 0; i < own->remarks.count; i++) {
        const struct store_remark *remark = &own->remarks.items[i];
        _cleanup_(buffer_deinit) struct buffer text = {0};
        if (remark->kind != REMARK_NOTE)
            continue;
        TRY(buffer_printf(&text, "input %u: %s", input + 1, remark->text));
        TRY(reference_remark_add(reference, REMARK_NOTE, NULL, &text));
    }
    return NULL;
}

static struct error *for_input(size_t input, struct error *error)
{
    return error == NULL || error == error_no_memory()
               ? error
               : error_prefix(error, "input %zu", input + 1);
}

struct error *reference_settle(struct reference *reference)
{
    struct error *error = reference_settle_one(reference);
    if (reference->others.count == 0)
        return error;
    TRY(for_input(0, error));
    for (size_t input = 1; input <= reference->others.count; input++) {
        TRY(for_input(input, reference_settle_one(at(reference, input))));
        if (at(reference, input)->runs.count > 1)
            TRY(take_remarks(reference, (uint32_t)input));
    }
    return NULL;
}

struct error *reference_check_timeout(struct reference *reference)
{
    if (reference->others.count == 0)
        return reference_check_timeout_one(reference);
    for (size_t input = 0; input <= reference->others.count; input++)
        TRY(for_input(input, reference_check_timeout_one(at(reference, input))));
    return NULL;
}

uint64_t reference_timeout_ns(const struct reference *reference)
{
    uint64_t most_ns = 0;
    for (size_t input = 0; input <= reference->others.count; input++) {
        uint64_t ns = reference_timeout_one_ns(at(reference, input));
        most_ns = ns > most_ns ? ns : most_ns;
    }
    return most_ns;
}
