// SPDX-License-Identifier: GPL-3.0-or-later
// Explains a finding by the trial that shows it, and stores the explanation.
#include "campaign/finding-explain.h"

#include "base/cleanup.h"

#include <string.h>

// Calls of the C library that write: which arguments say how much, and where to. Numbers from 1.
static const struct transfer {
    const char *function;
    uint8_t descriptor, size, items; // 0: none
} transfers[] = {
    {"write", 1, 3, 0},  {"pwrite", 1, 3, 0}, {"pwrite64", 1, 3, 0},        {"send", 1, 3, 0},
    {"sendto", 1, 3, 0}, {"fwrite", 0, 2, 3}, {"fwrite_unlocked", 0, 2, 3},
};

static const struct transfer *transfer_of(const struct injection *injection)
{
    for (size_t i = 0; injection->function != NULL && i < sizeof transfers / sizeof *transfers; i++)
        if (strcmp(transfers[i].function, injection->function) == 0)
            return &transfers[i];
    return NULL;
}

// What was to be written and was not.
static struct error *say_lost(const struct injection *injection, struct explanation *explanation)
{
    const struct transfer *transfer = transfer_of(injection);
    if (transfer == NULL || !injection->returned)
        return NULL;
    struct store_consequence *lost = explanation_add(explanation, CONSEQUENCE_LOST);
    if (lost == NULL)
        return error_no_memory();
    uint64_t size = injection->arguments[transfer->size - 1];
    lost->number =
        (int64_t)(transfer->items != 0 ? size * injection->arguments[transfer->items - 1] : size);
    uint64_t descriptor =
        transfer->descriptor != 0 ? injection->arguments[transfer->descriptor - 1] : 0;
    if (transfer->descriptor != 0 && ((int)descriptor == 1 || (int)descriptor == 2))
        lost->name = (int)descriptor == 1 ? "<stdout>" : "<stderr>";
    lost->function = transfer->function;
    return NULL;
}

static struct error *say_symptom(const struct judgement *judgement, struct explanation *explanation)
{
    static const struct {
        bool told;
        enum consequence_kind kind;
    } kinds[SYMPTOMS] = {
        [SYMPTOM_LOST] = {true, CONSEQUENCE_EMPTIES},
        [SYMPTOM_EMPTIED] = {true, CONSEQUENCE_EMPTIES},
        [SYMPTOM_REMOVED] = {true, CONSEQUENCE_LACKS},
        [SYMPTOM_WRONG] = {true, CONSEQUENCE_DIFFERS},
        [SYMPTOM_DAMAGED] = {true, CONSEQUENCE_DIFFERS},
        [SYMPTOM_MODE] = {true, CONSEQUENCE_DIFFERS},
        [SYMPTOM_KIND] = {true, CONSEQUENCE_DIFFERS},
        [SYMPTOM_NOT_WRITTEN] = {true, CONSEQUENCE_LACKS},
        [SYMPTOM_NOT_CHANGED] = {true, CONSEQUENCE_LACKS},
        [SYMPTOM_CHANGED] = {true, CONSEQUENCE_DIFFERS},
        [SYMPTOM_OUTPUT] = {true, CONSEQUENCE_DIFFERS},
        [SYMPTOM_LEFT] = {true, CONSEQUENCE_LEAVES},
    };
    if (judgement->symptom >= SYMPTOMS || !kinds[judgement->symptom].told)
        return NULL;
    struct store_consequence *symptom =
        explanation_add(explanation, kinds[judgement->symptom].kind);
    if (symptom == NULL)
        return error_no_memory();
    symptom->name = judgement->about;
    return NULL;
}

static struct error *say_injections(struct explainer *explainer, const struct observation *seen,
                                    const struct explain_crash *crash,
                                    struct explanation *explanation)
{
    const struct injection *first = seen->injections.count != 0 ? &seen->injections.items[0] : NULL;
    const struct injection *both[] = {first, injection_second(seen)};
    for (size_t i = 0; i < 2; i++) {
        if (both[i] == NULL || both[i]->signal != 0 || both[i]->frames.items.count == 0)
            continue;
        const char *equals = both[i]->fault != NULL ? strchr(both[i]->fault, '=') : NULL;
        const struct explain_call call = {.function = both[i]->function,
                                          .returned = both[i]->returned,
                                          .value = both[i]->value,
                                          .result = equals != NULL ? equals + 1 : NULL,
                                          .frames = &both[i]->frames,
                                          .below_stream = both[i]->stream_write};
        TRY(explain_failure(explainer, &call, crash, explanation));
    }
    return NULL;
}

static struct error *explain(struct explainer *explainer, const struct engine_result *result,
                             struct explanation *explanation)
{
    const struct observation *seen = &result->observation;
    enum verdict verdict = result->judgement.verdict;
    bool crashed = (verdict == VERDICT_CRASH || verdict == VERDICT_DELIBERATE) &&
                   seen->crash_frames.items.count != 0;
    const struct explain_crash crash = {.frames = &seen->crash_frames,
                                        .stack = seen->crash_stack,
                                        .signal = seen->crash_signal,
                                        .fault = seen->crash_fault,
                                        .address = seen->crash_address,
                                        .by_itself = seen->crash_by_itself};
    TRY(say_injections(explainer, seen, crashed ? &crash : NULL, explanation));
    if (crashed)
        return explain_crash(explainer, &crash, explanation);
    if (verdict == VERDICT_HANG)
        return explain_hang(result->stack, explanation);
    if (verdict != VERDICT_SILENT && verdict != VERDICT_WRONG_OUTPUT)
        return NULL;
    if (seen->injections.count != 0)
        TRY(say_lost(&seen->injections.items[0], explanation));
    TRY(say_symptom(&result->judgement, explanation));
    if (result->end != SANDBOX_EXIT || result->status != 0)
        return NULL;
    return explanation_add(explanation, CONSEQUENCE_SUCCEEDS) != NULL ? NULL : error_no_memory();
}

struct error *finding_explain(struct explainer **explainer, struct store *store, int64_t finding,
                              const struct engine_result *result)
{
    _cleanup_(explanation_deinit) struct explanation explanation = {0};
    if (*explainer == NULL)
        TRY(explainer_new(explainer));
    TRY(explain(*explainer, result, &explanation));
    TRY(store_delete_consequences(store, finding));
    for (size_t i = 0; i < explanation.items.count; i++) {
        explanation.items.items[i].finding = finding;
        TRY(store_add_consequence(store, &explanation.items.items[i]));
    }
    return NULL;
}
