// SPDX-License-Identifier: GPL-3.0-or-later
// Which findings count, by whose code they are in, and how that is said.
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/suggestion.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[REPORT_SCOPES] = {
    [REPORT_SCOPE_FIRST] = "first",
    [REPORT_SCOPE_MINE] = "mine",
    [REPORT_SCOPE_ALL] = "all",
};

// REPORT_SCOPES if there is none of that name.
static enum report_scope scope_named(const char *name, size_t size)
{
    for (int i = REPORT_SCOPE_STORED + 1; i < REPORT_SCOPES; i++)
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return (enum report_scope)i;
    return REPORT_SCOPES;
}

struct error *report_scope_parse(const char *name, enum report_scope *ret_scope)
{
    enum report_scope scope = name != NULL ? scope_named(name, strlen(name)) : REPORT_SCOPE_STORED;
    if (scope != REPORT_SCOPES) {
        *ret_scope = scope;
        return NULL;
    }
    struct suggestion meant = suggestion_start(name, strlen(name));
    for (int i = REPORT_SCOPE_STORED + 1; i < REPORT_SCOPES; i++)
        suggestion_offer(&meant, names[i]);
    char storage[SUGGESTION_SIZE];
    return error_new("--scope takes first, mine or all, not '%s'%s", name,
                     suggestion_text(&meant, storage));
}

enum report_scope report_scope_of(enum report_scope scope, const struct store_campaign *campaign)
{
    size_t size = 0;
    if (scope != REPORT_SCOPE_STORED)
        return scope;
    const char *said = campaign->definition != NULL
                           ? campaign_definition_value(campaign->definition, NULL, "scope", &size)
                           : NULL;
    scope = said != NULL ? scope_named(said, size) : REPORT_SCOPE_FIRST;
    return scope != REPORT_SCOPES ? scope : REPORT_SCOPE_FIRST;
}

bool report_is_aside(enum report_scope scope, enum store_scope of)
{
    return scope != REPORT_SCOPE_ALL && (of == STORE_SCOPE_TOOL || of == STORE_SCOPE_LIBRARY);
}

const char *campaign_aside_name(const struct campaign_finding *finding)
{
    if (!finding->aside)
        return NULL;
    return finding->scope == STORE_SCOPE_LIBRARY ? "in a system library" : "in another program";
}

// What may not be possible, or is not in the user's own code, is for those who ask.
bool campaign_is_note(const struct campaign_finding *finding)
{
    return finding->aside || finding->proof == STORE_PROOF_UNPROVEN ||
           finding->proof == STORE_PROOF_IMPOSSIBLE;
}

static struct error *note_program(void *data, const struct store_injection *row)
{
    uint64_t *program = data;
    if (*program == 0 && row->program != NULL)
        *program = hash_text(row->program);
    return NULL;
}

// Whether it is a further one of a program that is not tested: nobody mends a shell or an
// interpreter because of the program that it runs.
static struct error *is_further(struct campaign_facts *facts, struct map *programs,
                                const struct campaign_finding *finding, bool *ret_further)
{
    uint64_t program = 0;
    bool first = true;
    if (finding->aside && finding->scope == STORE_SCOPE_TOOL) {
        TRY(store_each_injection(facts->store, finding->trial, note_program, &program));
        if (program != 0)
            TRY(map_add(programs, program, &first));
    }
    *ret_further = !first;
    return NULL;
}

// Both parts keep their order.
struct error *campaign_put_aside(struct campaign_facts *facts)
{
    size_t count = facts->findings.count, at = 0;
    struct campaign_finding *findings = facts->findings.items;
    _cleanup_free_ struct campaign_finding *sorted = calloc(count + 1, sizeof *sorted);
    _cleanup_free_ bool *further = calloc(count + 1, sizeof *further);
    _cleanup_(map_deinit) struct map programs = {0};
    if (sorted == NULL || further == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        TRY(is_further(facts, &programs, &findings[i], &further[i]));
    for (int aside = 0; aside < 2; aside++)
        for (size_t i = 0; i < count; i++)
            if (findings[i].aside == aside && !further[i])
                sorted[at++] = findings[i];
    for (size_t i = 0; i < count; i++) {
        facts->carried_findings -= further[i] && findings[i].carried != NULL;
        if (further[i])
            campaign_finding_deinit(&findings[i]);
    }
    if (count != 0)
        memcpy(findings, sorted, at * sizeof *sorted);
    facts->others += count - at;
    facts->findings.count = at;
    return NULL;
}
