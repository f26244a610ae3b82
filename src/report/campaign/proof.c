// SPDX-License-Identifier: GPL-3.0-or-later
// Which findings are shown, by whether their faults can happen, and how that is said.
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "base/suggestion.h"

#include <string.h>

static const char *const names[REPORT_PROOFS] = {
    [REPORT_PROOF_CERTAIN] = "certain",
    [REPORT_PROOF_CAUSED] = "caused",
    [REPORT_PROOF_ALL] = "all",
};

struct error *report_proof_parse(const char *name, enum report_proof *ret_proof)
{
    *ret_proof = REPORT_PROOF_USUAL;
    if (name == NULL)
        return NULL;
    struct suggestion meant = suggestion_start(name, strlen(name));
    for (int i = REPORT_PROOF_USUAL + 1; i < REPORT_PROOFS; i++) {
        suggestion_offer(&meant, names[i]);
        if (strcmp(names[i], name) == 0) {
            *ret_proof = (enum report_proof)i;
            return NULL;
        }
    }
    char storage[SUGGESTION_SIZE];
    return error_new("--proof takes certain, caused or all, not '%s'%s", name,
                     suggestion_text(&meant, storage));
}

static bool proof_hides(enum report_proof shown, enum store_proof proof)
{
    switch (proof) {
    case STORE_PROOF_CAUSED:
        return shown == REPORT_PROOF_CERTAIN;
    case STORE_PROOF_UNPROVEN:
        return shown == REPORT_PROOF_CERTAIN || shown == REPORT_PROOF_CAUSED;
    case STORE_PROOF_IMPOSSIBLE:
        return shown != REPORT_PROOF_ALL;
    default:
        return false;
    }
}

// What a comparison or a clock says once and never again is chance more often than not. A crash was
// one, even if it does not come back.
static bool is_chance(const struct store_finding *row)
{
    return row->confirmed == STORE_FLAKY &&
           (row->verdict == VERDICT_SILENT || row->verdict == VERDICT_WRONG_OUTPUT ||
            row->verdict == VERDICT_HANG);
}

enum report_hidden report_hides(struct report_choice shown, const struct store_finding *row)
{
    if (row->suppressed != NULL)
        return REPORT_SUPPRESSED;
    if (proof_hides(shown.proof, row->proof))
        return REPORT_HIDDEN_BY_PROOF;
    if (shown.scope == REPORT_SCOPE_MINE && report_is_aside(shown.scope, store_scope_of(row)))
        return REPORT_HIDDEN_BY_SCOPE;
    return shown.proof != REPORT_PROOF_ALL && is_chance(row) ? REPORT_UNREPEATED : REPORT_SHOWN;
}

struct counting {
    struct report_choice choice;
    struct report_shown *counts;
};

static struct error *count_finding(void *data, const struct store_finding *row)
{
    const struct counting *counting = data;
    enum report_hidden why = report_hides(counting->choice, row);
    bool aside = report_is_aside(counting->choice.scope, store_scope_of(row)),
         hidden = why != REPORT_SHOWN || aside;
    if (row->verdict >= VERDICTS)
        return NULL;
    if (row->part_of != 0) {
        counting->counts->joined[row->verdict]++;
        return NULL;
    }
    if (aside && (why == REPORT_SHOWN || why == REPORT_HIDDEN_BY_SCOPE))
        counting->counts->others[store_scope_of(row)]++;
    (hidden ? counting->counts->hidden : counting->counts->shown)[row->verdict]++;
    if (!hidden && row->severity < SEVERITIES)
        counting->counts->severities[row->severity]++;
    counting->counts->carried += !hidden && row->carried != NULL;
    return NULL;
}

struct error *report_count_shown(struct store *store, int64_t campaign, enum report_proof proof,
                                 enum report_scope scope, struct report_shown *ret_counts)
{
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    TRY(store_find_campaign(store, campaign, &row));
    struct counting counting = {{proof, report_scope_of(scope, &row)}, ret_counts};
    *ret_counts = (struct report_shown){0};
    return store_each_finding(store, campaign, count_finding, &counting);
}

static struct error *put_cause(const struct campaign_finding *finding, struct buffer *text)
{
    TRY(buffer_printf(text, "%s%s fails%s%s", finding->proof_call,
                      finding->proof_lasting ? ", and what is tried instead," : "",
                      finding->proof_error != NULL ? " with " : "",
                      finding->proof_error != NULL ? finding->proof_error : ""));
    if (finding->proof_caller != NULL)
        TRY(buffer_printf(text, " in %s", finding->proof_caller));
    if (finding->proof_result == NULL || finding->proof_function == NULL)
        return NULL;
    bool same = finding->proof_caller != NULL &&
                strcmp(finding->proof_caller, finding->proof_function) == 0;
    return same ? buffer_printf(text, ", which returns %s", finding->proof_result)
                : buffer_printf(text, ", and %s returns %s", finding->proof_function,
                                finding->proof_result);
}

struct error *campaign_put_proof(const struct campaign_finding *finding, struct buffer *text)
{
    switch (finding->proof) {
    case STORE_PROOF_CAUSED:
        TRY(buffer_printf(text, "caused: "));
        return finding->proof_call != NULL ? put_cause(finding, text)
                                           : buffer_printf(text, "by what it calls");
    case STORE_PROOF_UNPROVEN:
        if (finding->proof_result != NULL)
            return buffer_printf(text,
                                 "unproven: perhaps not a failure, since without any fault other "
                                 "calls from there return %s, too",
                                 finding->proof_result);
        return buffer_printf(text, finding->proof_tries != 0
                                       ? "unproven: no failure of the system that was tried causes "
                                         "it, but input or arguments may"
                                       : "unproven: it was not tried what causes it");
    case STORE_PROOF_IMPOSSIBLE:
        return buffer_printf(text, "not possible: everything that could cause it was tried, and "
                                   "did not");
    default:
        return NULL;
    }
}
