// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the sentences that limit what a report's numbers show. Readers see them before a number
// can mislead them.
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "store/remark.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FEW_TRIALS     30
#define FEW_REFERENCES 3

__attribute__((format(printf, 2, 3))) static struct error *add_limit(struct campaign_facts *facts,
                                                                     const char *format, ...)
{
    char **limit = ARRAY_ADD(&facts->limits);
    if (limit == NULL)
        return error_no_memory();
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(limit, format, arguments);
    va_end(arguments);
    if (size < 0) {
        *limit = NULL;
        facts->limits.count--;
        return error_no_memory();
    }
    return NULL;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#define NUMBER(value) ((unsigned long long)(value))

static struct error *add_limits_of_trials(struct campaign_facts *facts)
{
    uint64_t all = campaign_trial_count(&facts->counts);
    uint64_t idle = facts->counts.verdicts[VERDICT_NOT_ACTIVATED];
    uint64_t invalid = facts->counts.verdicts[VERDICT_INVALID];
    uint64_t carried = campaign_counted(&facts->carried);
    if (facts->n == 0)
        TRY(add_limit(facts, "Nothing %swas tested: %s. %s", carried != 0 ? "new " : "",
                      all == 0         ? "no trial was run"
                      : invalid == all ? "no trial could be run"
                                       : "no trial reached its fault",
                      carried != 0 ? "All verdicts and findings are those of earlier trials."
                                   : "This says nothing about the target."));
    else if (facts->n < FEW_TRIALS)
        TRY(add_limit(facts, "Only %llu trial%s counted: the intervals are wide.", NUMBER(facts->n),
                      plural(facts->n)));
    if (idle != 0 && facts->n != 0)
        TRY(add_limit(facts,
                      "%llu of %llu trials never reached the fault: not counted, and not survived.",
                      NUMBER(idle), NUMBER(all)));
    uint64_t damaged = facts->damaged < invalid ? facts->damaged : invalid;
    if (invalid != damaged)
        TRY(add_limit(
            facts,
            "%llu trial%s could not be run, failed the pretest or told nothing: not counted.",
            NUMBER(invalid - damaged), plural(invalid - damaged)));
    if (damaged != 0)
        TRY(add_limit(facts,
                      "%llu trial%s damaged the region, the memory in which Ordeal notes what "
                      "happens to the target: not counted.",
                      NUMBER(damaged), plural(damaged)));
    return NULL;
}

// Why the campaign ended, and what was left out.
static struct error *add_limits_of_end(struct campaign_facts *facts)
{
    static const struct {
        const char *words, *option; // it needs a new limit to go on
    } ends[STORE_STOPS] = {
        [STORE_STOP_INTERVAL] = {"Ended because the share of failures was known as well as was "
                                 "asked for",
                                 " --until-interval WIDTH"},
        [STORE_STOP_FINDINGS] = {"Ended with the number of findings that was asked for",
                                 " --stop-after N"},
        [STORE_STOP_TRIALS] = {"Ended with the number of trials that was asked for",
                               " --max-trials N"},
        [STORE_STOP_TIME] = {"Ended when its time was over", " --time-budget TIME"},
        [STORE_STOP_INTERRUPT] = {"Interrupted", ""},
        [STORE_STOP_INVALID] = {"Stopped because trials could not be run", ""},
        [STORE_STOP_SLOTS] = {"Stopped because a process that leads trials died again and again",
                              ""},
    };
    const struct store_campaign *campaign = &facts->campaign;
    uint64_t all = campaign_trial_count(&facts->counts);
    const char *words = campaign->state == STORE_RUNNING       ? "Still running, or killed"
                        : campaign->state == STORE_INTERRUPTED ? "Interrupted"
                        : campaign->planned > all ? "Ended before all planned trials were run"
                                                  : NULL;
    const char *option = "";
    if (campaign->stopped_by != STORE_STOP_NONE) {
        words = ends[campaign->stopped_by].words;
        option = ends[campaign->stopped_by].option;
    }
    if (words == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer resume = {0}, counts = {0};
    TRY(campaign_put_resume(facts, &resume));
    if (campaign->planned > all)
        TRY(buffer_printf(&counts, ": %llu of %llu planned trials are done", NUMBER(all),
                          NUMBER(campaign->planned)));
    if (campaign->state == STORE_FINISHED && campaign->stopped_by == STORE_STOP_NONE)
        return add_limit(facts, "%s%s.", words, counts.data != NULL ? counts.data : "");
    return add_limit(facts, "%s%s; '%s%s' goes on.", words, counts.data != NULL ? counts.data : "",
                     resume.data, option);
}

// Not all candidates were equally likely to be chosen.
static struct error *add_limits_of_design(struct campaign_facts *facts)
{
    const struct campaign_design *design = &facts->design;
    char how[64];
    snprintf(how, sizeof how, "%s%s%s%s", design->per[0] != '\0' ? "so many per " : "", design->per,
             design->per[0] != '\0' && design->weighted ? ", " : "",
             design->weighted ? "by weight" : "");
    if (design->kind == CAMPAIGN_UNKNOWN)
        return add_limit(
            facts,
            "Candidates were chosen %s, and the weights are not in the store: what share of "
            "all candidates fails cannot be told.",
            how);
    TRY(add_limit(
        facts,
        "Candidates were chosen %s: each trial stands for as many candidates as it was chosen "
        "from, and the shares are estimates for all of them, worth %.1f equal trials. Shares "
        "of groups are of the trials run.",
        how, design->effective));
    if (design->outside != 0)
        TRY(add_limit(facts,
                      "The estimates leave out %llu candidates that had weight 0 or of whose group "
                      "none was run.",
                      NUMBER(design->outside)));
    return NULL;
}

static bool has_untested(const struct campaign_facts *facts)
{
    for (size_t i = 0; i < facts->remarks.count; i++)
        if (facts->remarks.items[i].kind == REMARK_UNTESTED)
            return true;
    return false;
}

// All candidates were chosen, and all trials were run.
static struct error *add_limits_of_full_run(struct campaign_facts *facts)
{
    uint64_t missed =
        facts->counts.verdicts[VERDICT_NOT_ACTIVATED] + facts->counts.verdicts[VERDICT_INVALID];
    bool untested = has_untested(facts);
    struct store_upsets drawn;
    TRY(store_find_upsets(facts->store, facts->campaign.id, &drawn));
    if (drawn.points != 0)
        return add_limit(facts,
                         "Candidates are classes of the upsets that were drawn: the shares of "
                         "verdicts are those of classes, and the shares of upsets stand under "
                         "'Upsets'.");
    if (missed == 0 && !untested)
        return add_limit(
            facts, "Exhaustive: every candidate was tried, so that for this workload the shares "
                   "are exact; the intervals hold where it stands for others like it.");
    if (missed != 0)
        return add_limit(
            facts,
            "All %llu candidates were tried, but %llu trial%s tested nothing: the shares are "
            "those of the others.",
            NUMBER(facts->selected), NUMBER(missed), plural(missed));
    return add_limit(facts,
                     "All %llu candidates were tried, but not all faults that were asked for have "
                     "candidates: see below.",
                     NUMBER(facts->selected));
}

static struct error *add_limits_of_sample(struct campaign_facts *facts)
{
    uint64_t chosen = facts->selected, of = facts->campaign.candidates;
    if (facts->campaign.selection == STORE_SELECT_SWEEP)
        return add_limit(
            facts,
            "A sweep: %llu of %llu candidates were tried, one occurrence after the other; "
            "the shares are theirs.",
            NUMBER(chosen), NUMBER(of));
    if (facts->campaign.changes_only)
        return add_limit(
            facts, "What changed: %llu of %llu candidates were to be tried; the shares are theirs.",
            NUMBER(chosen), NUMBER(of));
    if (facts->design.kind == CAMPAIGN_PLAIN)
        return add_limit(
            facts,
            "A sample: %llu of %llu candidates were chosen, all as likely as the others; the "
            "intervals say how far the shares may be from those of all candidates.",
            NUMBER(chosen), NUMBER(of));
    TRY(add_limit(facts, "A sample: %llu of %llu candidates were chosen.", NUMBER(chosen),
                  NUMBER(of)));
    return add_limits_of_design(facts);
}

static struct error *add_limits_of_selection(struct campaign_facts *facts)
{
    const struct store_campaign *campaign = &facts->campaign;
    uint64_t all = campaign_trial_count(&facts->counts);
    TRY(add_limits_of_end(facts));
    if (campaign->candidates == 0)
        return NULL;
    uint64_t times = facts->selected != 0 ? campaign->planned / facts->selected : 0;
    if (times > 1)
        TRY(add_limit(
            facts,
            "Run %llu times each, trials of one candidate are much alike: the intervals are "
            "narrower than they should be.",
            NUMBER(times)));
    if (facts->selected < campaign->candidates)
        return add_limits_of_sample(facts);
    if (campaign->planned != 0 && all >= campaign->planned && facts->n != 0)
        return add_limits_of_full_run(facts);
    if (campaign->listed && all != 0)
        return add_limit(facts,
                         "The most promising candidates come first: the shares are those of the "
                         "trials that were run, not of all.");
    return NULL;
}

static struct error *add_limits_of_references(struct campaign_facts *facts)
{
    const struct campaign_references *references = &facts->references;
    if (references->count == 0)
        return add_limit(facts, "There is no reference run: verdicts compare with nothing.");
    if (references->count < FEW_REFERENCES)
        TRY(add_limit(
            facts,
            "Only %llu reference run%s: output that is not the same every time may have been "
            "taken for a failure.",
            NUMBER(references->count), plural(references->count)));
    if (references->endings_differ)
        TRY(add_limit(facts,
                      "The reference runs did not all end the same way: verdicts are doubtful."));
    if (references->outputs_differ == 0)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer names = {0};
    for (size_t i = 0; i < references->differing.count; i++)
        TRY(buffer_printf(&names, "%s%s", i != 0 ? ", " : "", references->differing.items[i]));
    if (references->outputs_differ > references->differing.count)
        TRY(buffer_printf(&names, " and %llu more",
                          NUMBER(references->outputs_differ - references->differing.count)));
    return add_limit(
        facts,
        "Nondeterministic output: %llu of %llu outputs differ between reference runs (%s); "
        "parts that differ condemn no trial.",
        NUMBER(references->outputs_differ), NUMBER(references->outputs), names.data);
}

struct lives {
    uint64_t faults, lives;
};

static struct error *count_life(void *data, const struct store_trial *row)
{
    struct lives *lives = data;
    lives->faults += row->round != 0;
    lives->lives += row->round == 1;
    return NULL;
}

// Many faults were tried in one life of a server.
static struct error *add_limits_of_lives(struct campaign_facts *facts)
{
    struct lives lives = {0};
    if (!facts->campaign.long_lived)
        return NULL;
    TRY(store_each_trial(facts->store, facts->campaign.id, false, count_life, &lives));
    if (lives.lives > lives.faults || lives.faults == 0)
        return NULL;
    return add_limit(
        facts,
        "%llu faults were tried in %llu li%s of the server, one after the other: trials of "
        "one life are not independent, so that the intervals are narrower than they should "
        "be, and a failure may be owed to an earlier fault of its life.",
        NUMBER(lives.faults), NUMBER(lives.lives), lives.lives == 1 ? "fe" : "ves");
}

// Some trials did not run from the start.
static struct error *add_limits_of_forks(struct campaign_facts *facts)
{
    if (facts->forked + facts->disputed == 0)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer checks = {0};
    uint64_t checked = facts->checked + facts->disputed;
    if (facts->forked == 0)
        return add_limit(
            facts,
            "Forking at the injection point does not fit this workload: the first %llu "
            "trial%s that ran so ended otherwise than in full. %s count%s as in the full "
            "run, as do all others.",
            NUMBER(facts->disputed), facts->disputed == 1 ? "" : "s",
            facts->disputed == 1 ? "It" : "They", facts->disputed == 1 ? "s" : "");
    if (checked == 0)
        TRY(buffer_printf(&checks, "none was checked against a full run"));
    else
        TRY(buffer_printf(&checks, "%llu checked against full runs: %llu agree%s", NUMBER(checked),
                          NUMBER(facts->checked), facts->checked == 1 ? "s" : ""));
    if (facts->disputed != 0)
        TRY(buffer_printf(&checks, ", %llu do%s not and count%s as in the full run",
                          NUMBER(facts->disputed), facts->disputed == 1 ? "es" : "",
                          facts->disputed == 1 ? "s" : ""));
    return add_limit(facts, "Ran %llu of %llu trials by forking at the injection point; %s.",
                     NUMBER(facts->forked), NUMBER(campaign_trial_count(&facts->counts)),
                     checks.data);
}

struct error *campaign_limits_find(struct campaign_facts *facts)
{
    TRY(add_limits_of_trials(facts));
    TRY(add_limits_of_selection(facts));
    TRY(add_limits_of_lives(facts));
    TRY(add_limits_of_forks(facts));
    TRY(add_limits_of_references(facts));
    for (size_t i = 0; i < facts->remarks.count; i++) {
        const struct campaign_remark *remark = &facts->remarks.items[i];
        const struct store_remark row = {
            .kind = remark->kind, .about = remark->about, .text = remark->text};
        _cleanup_(buffer_deinit) struct buffer sentence = {0};
        TRY(remark_put(&sentence, &row));
        TRY(add_limit(facts, "%.2000s", sentence.data));
    }
    return NULL;
}
