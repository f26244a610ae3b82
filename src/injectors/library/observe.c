// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what a shot or a reference run left in the region: injections, crashes and recorded calls.
#include "injectors/library/internal.h"

#include "base/cleanup.h"
#include "injector/fault-text.h"
#include "trial/calls.h"
#include "trial/region.h"
#include "trial/resolver.h"

#include <stdlib.h>
#include <string.h>

// Notes a place in a condition that no module has. The condition never holds; most likely the place
// is misspelt.
static struct error *note_unknown_place(const struct library *library,
                                        struct observation *observation)
{
    const struct resolver *resolver = runtime_session_resolver(library->session);
    if (resolver == NULL || observation->note != NULL)
        return NULL;
    for (size_t i = 0; i < scenario_query_count(library->current); i++)
        if (!resolver_found_query(resolver, i)) {
            struct buffer text = {0};
            TRY(buffer_printf(&text, "caller() or stack(): no module of any process has '%s'",
                              scenario_query(library->current, i)->text));
            observation->note = text.data;
            break;
        }
    return NULL;
}

// A trial with two faults counts as activated only if both fired.
static struct error *note_unhit(const struct library *library, const struct wire_view *view,
                                struct observation *observation)
{
    uint32_t hit = 0, rules = 0;
    for (uint32_t i = 0; i < scenario_rule_count(library->current) && i < view->rule_count; i++) {
        hit += view->rule_states[i].fired != 0;
        rules += strcmp(scenario_rule(library->current, i).action, "watch") != 0;
    }
    // Of those inside an observed call, the first is the cause that is tried. The others are of
    // calls that may not be made then.
    if (library->observing)
        hit = hit >= 2 ? rules : hit;
    if (hit == 0 || hit == rules)
        return NULL;
    observation->activations = 0;
    free(observation->note);
    observation->note = strdup("only one of the two faults was hit");
    return observation->note != NULL ? NULL : error_no_memory();
}

// Notes calls that could not be recorded. Nobody would miss their candidates in the report.
static struct error *note_lost(const struct recording *recording, uint64_t lost_before,
                               struct observation *observation)
{
    if (recording->lost == lost_before || observation->note != NULL)
        return NULL;
    observation->note = strdup("a reference run makes more different calls than can be recorded: "
                               "not all that could fail are candidates");
    return observation->note != NULL ? NULL : error_no_memory();
}

// The calls inside the call that was observed.
static struct error *note_inside(const struct library *library, const struct wire_view *view,
                                 struct observed_call *observed)
{
    _cleanup_(calls_deinit) struct calls calls = {0};
    TRY(calls_read(view, &calls));
    observed->lost |= calls.lost != 0;
    for (size_t i = 0; i < calls.rows.count; i++) {
        const struct calls_row *row = &calls.rows.items[i];
        struct inner_call *call = ARRAY_ADD(&observed->calls);
        if (call == NULL)
            return error_no_memory();
        call->function = strdup(calls.functions.items[row->function].name);
        call->module = strdup(row->module);
        call->offset = row->offset;
        call->first = row->first;
        call->count = row->count;
        call->order = row->stack;
        if (call->function == NULL || call->module == NULL)
            return error_no_memory();
        struct journal_reader_place place = {0};
        if (row->module[0] != '\0')
            place = journal_reader_find(library->reader, row->module, row->offset - 1);
        call->symbol = place.symbol != NULL ? strdup(place.symbol) : NULL;
    }
    return NULL;
}

static struct error *record(struct library *library, const struct wire_view *view,
                            struct observation *observation)
{
    bool stacks = library_tells_stacks(library);
    struct recording *recording = stacks ? &library->stacks : &library->plan.recording;
    uint64_t lost = recording->lost;
    observation->activations = 0; // watching is not injecting
    TRY(recording_add(recording, view, library->reader));
    if (stacks)
        TRY(descriptor_kinds_add(&library->kinds, recording));
    else if (recording->runs == 1 && !library->automatic)
        TRY(untested_faults_diagnose(&library->untested, &library->plan, view));
    return note_lost(recording, lost, observation);
}

// Works on a copy: the target still runs and writes to the region.
struct injected_thread library_last_injected(void *self)
{
    const struct library *library = self;
    struct region *region = runtime_session_region(library->session);
    struct region_copy copy = {0};
    struct injected_thread found = {0};
    region_mend(region);
    struct error *error = region->cut ? error_no_memory() : region_copy_take(region, &copy);
    for (uint32_t i = 0; error == NULL && i < copy.view.record_count; i++) {
        const struct wire_record *record = &copy.view.journal[i];
        if (record->state == WIRE_RECORD_COMPLETE && record->kind == WIRE_RECORD_INJECTION)
            found = (struct injected_thread){(pid_t)record->pid, (pid_t)record->tid};
    }
    if (error == NULL)
        region_copy_close(&copy);
    error_free(error);
    return found;
}

// Adds what the run has reached to what all runs have.
static void take_marks(const struct library *library, const struct wire_view *view,
                       struct observation *observation)
{
    if (view->region->coverage == 0 || observation->damage != WIRE_DAMAGE_NONE)
        return;
    if (!cover_file_add(&library->covered->file, view->marks, view->region->mark_count,
                        library->is_reference ? STORE_BY_REFERENCE : STORE_BY_TRIAL))
        observation->damage = WIRE_DAMAGE_MARK;
}

struct error *library_observe(void *self, const char *root, struct observation *observation)
{
    struct library *library = self;
    const struct scenario *scenario =
        library->is_reference ? library_watching(library) : library->current;
    struct wire_view view;
    TRY(journal_reader_end_session(library->reader, library->session, root, scenario, &view,
                                   observation));
    take_marks(library, &view, observation);
    if (observation->damage != WIRE_DAMAGE_NONE)
        return library->is_reference ? journal_reader_damage_error() : NULL;
    observation->plan_hash = runtime_session_plan_hash(library->session);
    fault_text_note_errors(observation);
    if (library->is_reference)
        return record(library, &view, observation);
    if (library->following != NULL)
        TRY(choice_follow(&library->followed, library->following, &view, library->reader));
    else
        TRY(note_unhit(library, &view, observation));
    if (library->observing && library->following == NULL)
        TRY(note_inside(library, &view, &observation->observed));
    return note_unknown_place(library, observation);
}
