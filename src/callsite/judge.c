// SPDX-License-Identifier: GPL-3.0-or-later
// Classifies a site by what was found on the paths from the call, and by what the callers check.
#include "callsite/judge.h"

// Whether nothing is done with the result but comparisons with other values. What they say may be
// returned.
static bool is_sifted(enum site_use use, const struct follow_outcome *outcome, uint64_t failures)
{
    bool only =
        use == SITE_COMPARED || (use == SITE_RETURNED && (outcome->returned_same & failures) == 0);
    return only && (failures & ~outcome->sifted) == 0 && !outcome->repeated;
}

void judge_paths(struct site *site, const struct follow_outcome *outcome, uint64_t failures)
{
    site->unchecked = failures & ~outcome->told_apart;
    site->class = outcome->told_apart == 0 ? SITE_UNCHECKED
                  : site->unchecked == 0   ? SITE_CHECKED
                                           : SITE_PARTLY;
    site->use = outcome->use;
    site->use_address = outcome->use_address;
    site->argument = outcome->argument;
    site->passed_to = outcome->passed_to;
    if (outcome->told_apart != 0) {
        site->check_address = outcome->check_address;
        site->place = outcome->errors == outcome->told_apart      ? SITE_PLACE_ERRNO
                      : outcome->called_on == outcome->told_apart ? SITE_PLACE_CALLED_ON
                                                                  : SITE_PLACE_HERE;
        site->check = !outcome->dangerous      ? SITE_CHECK_BEFORE
                      : outcome->checked_after ? SITE_CHECK_AFTER
                                               : SITE_CHECK_SOME;
        if (!outcome->dangerous && site->use != SITE_RETURNED) {
            site->use = SITE_CHECKED_FIRST;
            site->use_address = 0;
        }
        if (outcome->interrupted) {
            site->class = SITE_PARTLY;
            site->check = SITE_CHECK_SOME;
            site->unchecked = failures;
            site->use = outcome->use;
        }
    } else if (is_sifted(site->use, outcome, failures)) {
        site->class = SITE_UNKNOWN;
        site->reason = "only compared with other values";
    } else if (!outcome->dangerous && outcome->returned_not_told_apart == 0 &&
               (outcome->cut || outcome->lost || outcome->on_stack)) {
        site->class = SITE_UNKNOWN;
        site->reason = outcome->cut    ? "more ways than the budget allows to follow"
                       : outcome->lost ? "a jump that is not understood"
                                       : "passed to a function on the stack";
    }
}

void judge_by_callers(struct site *site, const struct caller_checks *checks, bool pointer)
{
    site->callers = checks->callers;
    site->callers_checked = checks->checked;
    if (checks->callers == 0) {
        // A number that is passed on before, such as to a log, does no harm there.
        if (site->class == SITE_UNCHECKED && site->use != SITE_DEREFERENCED &&
            (site->use != SITE_PASSED || !pointer)) {
            site->class = SITE_UNKNOWN;
            site->reason = "returned to callers that are not known";
        }
        return;
    }
    if (checks->by_some == 0)
        return;
    if (site->class == SITE_UNCHECKED || site->class == SITE_UNKNOWN) {
        site->place = SITE_PLACE_CALLERS;
        site->check = checks->checked == checks->callers ? SITE_CHECK_BEFORE : SITE_CHECK_SOME;
    }
    site->unchecked &= ~checks->by_all;
    site->class = site->unchecked == 0 ? SITE_CHECKED : SITE_PARTLY;
    site->reason = NULL;
}

enum site_role judge_role(const struct possible_results *possible,
                          const struct follow_outcome *outcome)
{
    if ((outcome->returned_same & possible->successes) == 0)
        return SITE_ROLE_NONE;
    // A function that ends the program for most failures returns only those that are none, like
    // NULL for no memory of size zero.
    if ((outcome->returned_same & possible->failures) != 0 && !outcome->dies)
        return SITE_ROLE_PASSES;
    return outcome->told_apart != 0 ? SITE_ROLE_GUARDS : SITE_ROLE_NONE;
}
