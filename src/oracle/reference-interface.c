// SPDX-License-Identifier: GPL-3.0-or-later
// What libraries give their user: that it is the same in all reference runs, and how a run differs.
// Of the references, the first one's trace is kept.
#include "base/cleanup.h"
#include "interface/accesses.h"
#include "interface/corruption.h"
#include "oracle/reference-model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void propagation_deinit(struct propagation *propagation)
{
    free(propagation->function);
    free(propagation->profile);
    *propagation = (struct propagation){0};
}

struct open_trace {
    struct trace_source source;
    struct program_list list;
};

static void open_trace_deinit(struct open_trace *trace)
{
    programs_deinit(&trace->list);
}

static struct error *open_trace(const struct buffer *content, struct open_trace *trace)
{
    trace->source = (struct trace_source){.content = content->data, .size = content->size};
    return programs_find(&trace->source, &trace->list);
}

// The classes of table 4.3.
static enum store_result result_class(const struct corruption *profile)
{
    if (profile->result_bytes == 0)
        return STORE_RESULT_RIGHT;
    switch (profile->new_class) {
    case CLASS_MINUS_ONE:
        return STORE_RESULT_MINUS_ONE;
    case CLASS_NULL:
        return STORE_RESULT_NULL;
    case CLASS_ZERO:
        return STORE_RESULT_ZERO;
    case CLASS_POINTER_SAME:
    case CLASS_POINTER_OTHER:
        return STORE_RESULT_POINTER;
    default:
        return profile->old_class == CLASS_POINTER_SAME || profile->old_class == CLASS_POINTER_OTHER
                   ? STORE_RESULT_POINTER
                   : STORE_RESULT_VALUE;
    }
}

static struct error *describe(const struct interface_comparison *comparison,
                              struct propagation *propagation)
{
    _cleanup_(corruption_deinit) struct corruption profile = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    propagation->outcome = comparison->outcome == INTERFACE_DIFFERS ? STORE_INTERFACE_DIFFERS
                                                                    : STORE_INTERFACE_DIVERGED;
    propagation->call = comparison->call;
    if (comparison->outcome != INTERFACE_DIFFERS)
        return NULL;
    TRY(corruption_make(comparison, &profile));
    TRY(corruption_write(&profile, &text));
    propagation->corrupted = comparison->corrupted_bytes;
    propagation->wrong = comparison->bytes[CHANGE_WRONG_VALUE];
    propagation->omitted = comparison->bytes[CHANGE_OMITTED_STORE];
    propagation->spurious = comparison->bytes[CHANGE_SPURIOUS_STORE];
    propagation->result = result_class(&profile);
    propagation->function = TAKE(profile.function);
    propagation->profile = TAKE(text.data);
    return NULL;
}

// Of several programs, the first that differs.
static struct error *compare(const struct open_trace *good, const struct open_trace *bad,
                             struct propagation *propagation)
{
    size_t counts[2] = {good->list.programs.count, bad->list.programs.count};
    propagation->known = true;
    propagation->outcome = STORE_INTERFACE_SAME;
    for (size_t i = 0; i < counts[0] && i < counts[1]; i++) {
        struct interface_comparison comparison;
        TRY(interface_compare(&good->source, good->list.programs.items[i], &bad->source,
                              bad->list.programs.items[i], &comparison));
        bool same = comparison.outcome == INTERFACE_SAME;
        struct error *error = same ? NULL : describe(&comparison, propagation);
        interface_comparison_deinit(&comparison);
        if (error != NULL || !same)
            return error;
    }
    if (counts[0] != counts[1])
        propagation->outcome = STORE_INTERFACE_DIVERGED;
    return NULL;
}

static struct error *compare_traces(const struct buffer *good_trace, const struct buffer *bad_trace,
                                    struct propagation *propagation)
{
    _cleanup_(open_trace_deinit) struct open_trace good = {0}, bad = {0};
    TRY(open_trace(good_trace, &good));
    TRY(open_trace(bad_trace, &bad));
    return compare(&good, &bad, propagation);
}

struct error *reference_find_propagation(const struct reference *reference,
                                         const struct outcome_run *run,
                                         struct propagation *ret_propagation)
{
    struct propagation propagation = {0};
    if (run->interface.size == 0 || reference->runs.count == 0 ||
        reference->runs.items[0].interface.size == 0)
        return NULL;
    struct error *error =
        compare_traces(&reference->runs.items[0].interface, &run->interface, &propagation);
    // What a faulty library has done to the tool is no error of ours: then nothing is known.
    if (error != NULL)
        propagation_deinit(&propagation);
    error_free(error);
    *ret_propagation = propagation;
    return NULL;
}

static struct error *refuse(const struct propagation *propagation, size_t number)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (propagation->function != NULL)
        TRY(buffer_printf(&text, ": call %" PRIu64 ", of %s, differs in %" PRIu64 " bytes",
                          propagation->call, propagation->function, propagation->corrupted));
    else if (propagation->outcome == STORE_INTERFACE_DIVERGED)
        TRY(buffer_printf(&text, ": after call %" PRIu64 " it is called otherwise",
                          propagation->call));
    return error_new("what the library gives its user is not the same in reference runs 1 and %zu, "
                     "without any fault%s; trials could not be compared with it (time, random "
                     "numbers and threads do that)",
                     number, text.data != NULL ? text.data : "");
}

struct error *reference_learn_interface(struct reference *reference)
{
    if (reference->oracle->interface.count == 0)
        return NULL;
    struct reference_run *first = &reference->runs.items[0];
    if (first->interface.size == 0)
        return error_new("what the library gives its user could not be recorded in reference run "
                         "1: packed, it is more than 256 MB");
    for (size_t i = 1; i < reference->runs.count; i++) {
        struct reference_run *run = &reference->runs.items[i];
        _cleanup_(propagation_deinit) struct propagation propagation = {0};
        if (run->interface.size == 0)
            continue; // it has been compared
        TRY(compare_traces(&first->interface, &run->interface, &propagation));
        if (propagation.outcome != STORE_INTERFACE_SAME)
            return refuse(&propagation, i + 1);
        buffer_deinit(&run->interface);
    }
    return NULL;
}

// ---- the store ----

static struct error *save(struct store *store, int64_t id, const char *path,
                          const struct buffer *bytes, uint64_t size)
{
    const struct store_artifact row = {.path = path,
                                       .kind = ARTIFACT_STREAM,
                                       .mode = ARTIFACT_NO_MODE,
                                       .size = size,
                                       .content = bytes->data,
                                       .content_size = bytes->size};
    return store_add_artifact(store, id, &row);
}

struct error *reference_save_interface(struct store *store, int64_t id,
                                       const struct reference_run *run)
{
    _cleanup_(buffer_deinit) struct buffer text = {0}, packed = {0};
    _cleanup_(open_trace_deinit) struct open_trace trace = {0};
    if (run->interface.size == 0)
        return NULL;
    TRY(save(store, id, STORE_INTERFACE, &run->interface, run->interface.size));
    TRY(open_trace(&run->interface, &trace));
    for (size_t i = 0; i < trace.list.programs.count && i < 1; i++) {
        struct accesses accesses = {0};
        TRY(accesses_count(&trace.source, trace.list.programs.items[i], &accesses));
        struct error *error = accesses_write(&accesses, &text);
        accesses_deinit(&accesses);
        TRY(error);
    }
    TRY(trace_pack(text.data != NULL ? text.data : "", text.size, &packed));
    return save(store, id, STORE_ACCESSES, &packed, text.size);
}

struct error *reference_load_interface(const struct store_artifact *row, struct reference_run *run)
{
    buffer_deinit(&run->interface);
    return buffer_append(&run->interface, row->content, row->content_size);
}
