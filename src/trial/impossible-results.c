// SPDX-License-Identifier: GPL-3.0-or-later
// Finds injected results that no real failure has. It looks at the journal and not at the rules: a
// glob may stand for functions that the program never calls.
#include "trial/impossible-results.h"

#include "base/cleanup.h"
#include "scenario/tables.h"

#include <string.h>

#define WARNED_FUNCTIONS 8

static bool is_known(char names[][WIRE_FUNCTION_NAME + 1], size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const char *impossible_result(const struct wire_view *view, const struct wire_record *record,
                                     const char *function)
{
    if (record->state != WIRE_RECORD_COMPLETE || record->kind != WIRE_RECORD_INJECTION ||
        !(record->actions & WIRE_RETURN) || record->rule >= view->rule_count ||
        view->rules[record->rule].value_kind != WIRE_VALUE_INTEGER)
        return NULL;
    return prototype_impossible_result(function, record->value[0]);
}

struct error *impossible_results_warn(const struct wire_view *view, struct diagnosis *diagnosis)
{
    char names[WARNED_FUNCTIONS][WIRE_FUNCTION_NAME + 1];
    size_t count = 0;
    for (uint32_t i = 0; i < view->record_count && count < WARNED_FUNCTIONS; i++) {
        const struct wire_record *record = &view->journal[i];
        char *function = names[count];
        memcpy(function, record->function, WIRE_FUNCTION_NAME);
        function[WIRE_FUNCTION_NAME] = '\0';
        const char *failure = impossible_result(view, record, function);
        if (failure == NULL || is_known(names, count, function))
            continue;
        count++;
        TRY(diagnosis_warn(diagnosis,
                           "%lld is not how %s fails: it returns %s; what the program makes of it "
                           "says little",
                           (long long)record->value[0], function, failure));
    }
    return NULL;
}
