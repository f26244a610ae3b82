// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader of a trial's report must know before believing it: rules that could not apply,
// stacks that ended too soon, lost records.
#include "report/run/page.h"

#include "base/cleanup.h"
#include "report/text.h"

#include <string.h>

#define SHOWN_NOTES 10

static struct error *put_warning_heading(struct page *page)
{
    PAINTED(page, YELLOW, "warning:");
    PUT(page, " ");
    return NULL;
}

// Conditions that might have held, had the whole stack been seen.
static struct error *put_unfinished(struct page *page)
{
    const struct wire_view *view = page->facts.view;
    uint32_t shown = 0;
    if (view->damage != WIRE_DAMAGE_NONE)
        return NULL;
    for (uint32_t i = 0; i < view->rule_count; i++) {
        unsigned count = view->rule_states[i].unfinished;
        if (count == 0 || (shown++ >= SHOWN_NOTES && !page->run->all))
            continue;
        TRY(put_warning_heading(page));
        PUT(page, "the rule '");
        TRY(text_put(&page->text, wire_view_string(view, view->rules[i].text), SIZE_MAX, 0));
        PUT(page,
            "' was checked %u %s without seeing the whole stack: some code on it has neither an "
            "unwind table nor frame pointers\n",
            count, count == 1 ? "time" : "times");
    }
    if (shown > SHOWN_NOTES && !page->run->all)
        PUT(page, "... and %u more rules; --all or --json shows them\n", shown - SHOWN_NOTES);
    return NULL;
}

// Whether a rule is written as the one before it, and fails to apply as that one does.
static bool is_repeated(const struct page *page, uint32_t index)
{
    const char *text = page_rule_text(page, index);
    return index != 0 && page->facts.rule_states[index - 1] == RULE_CANNOT_APPLY &&
           strcmp(text, page_rule_text(page, index - 1)) == 0;
}

static struct error *put_cannot_apply(struct page *page)
{
    const struct wire_view *view = page->facts.view;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < view->rule_count; i++) {
        if (page->facts.rule_states[i] != RULE_CANNOT_APPLY || page->facts.idle_members[i] ||
            is_repeated(page, i) || (shown++ >= SHOWN_NOTES && !page->run->all))
            continue;
        const char *why = page->run->reasons != NULL ? page->run->reasons[i] : NULL;
        TRY(put_warning_heading(page));
        PUT(page, "the rule '");
        TRY(text_put(&page->text, page_rule_text(page, i), SIZE_MAX, 0));
        PUT(page, "' cannot apply: ");
        TRY(text_put(&page->text, why != NULL ? why : "no process imports such a function",
                     SIZE_MAX, 0));
        PUT(page, "\n");
    }
    if (shown > SHOWN_NOTES && !page->run->all)
        PUT(page, "... and %u more rules cannot apply; --all or --json says why\n",
            shown - SHOWN_NOTES);
    return NULL;
}

static struct error *put_notes(struct page *page)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < page->facts.view->record_count; i++) {
        const struct wire_record *record = facts_record(&page->facts, i, WIRE_RECORD_NOTE);
        if (record == NULL || (shown++ >= SHOWN_NOTES && !page->run->all))
            continue;
        TRY(put_warning_heading(page));
        TRY(text_put(&page->text, record->process_name, sizeof record->process_name, 0));
        PUT(page, " (pid %u) %s ", record->pid, facts_note_meaning(record->note));
        TRY(text_put(&page->text, record->text, sizeof record->text, 0));
        PUT(page, "\n");
    }
    if (shown > SHOWN_NOTES && !page->run->all)
        PUT(page, "... and %u more notes; --all or --json shows them\n", shown - SHOWN_NOTES);
    return NULL;
}

static struct error *put_damage(struct page *page)
{
    enum wire_damage damage = page->facts.view->damage;
    if (damage == WIRE_DAMAGE_NONE)
        return NULL;
    TRY(put_warning_heading(page));
    PUT(page,
        "the command damaged the region, the shared memory in which Ordeal notes what happens: %s. "
        "Nothing is known of what was injected.\n",
        wire_damage_text(damage).meaning);
    return NULL;
}

struct error *page_put_warnings(struct page *page)
{
    size_t before = page->text.size;
    PUT(page, "\n");
    TRY(put_damage(page));
    TRY(put_cannot_apply(page));
    TRY(put_unfinished(page));
    for (size_t i = 0; i < page->run->warning_count; i++) {
        TRY(put_warning_heading(page));
        TRY(text_put(&page->text, page->run->warnings[i], SIZE_MAX, 0));
        PUT(page, "\n");
    }
    TRY(put_notes(page));
    if (page->facts.torn != 0) {
        TRY(put_warning_heading(page));
        PUT(page,
            "%llu journal %s not completed: the process died while writing, or a signal handler "
            "left by a jump (siglongjmp) meanwhile\n",
            (unsigned long long)page->facts.torn,
            page->facts.torn == 1 ? "record was" : "records were");
    }
    if (page->facts.lost != 0) {
        TRY(put_warning_heading(page));
        PUT(page, "the journal was full: %llu %s lost; --journal-records makes it larger\n",
            (unsigned long long)page->facts.lost,
            page->facts.lost == 1 ? "record is" : "records are");
    }
    if (page->facts.view->region->stack_set_lost != 0 &&
        page->facts.view->damage == WIRE_DAMAGE_NONE) {
        TRY(put_warning_heading(page));
        PUT(page, "%llu call stacks found no room in the set of new_stack\n",
            (unsigned long long)page->facts.view->region->stack_set_lost);
    }
    if (page->text.size == before + 1)
        page->text.data[page->text.size = before] = '\0';
    return NULL;
}
