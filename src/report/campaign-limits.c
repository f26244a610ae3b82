// SPDX-License-Identifier: GPL-3.0-or-later
// What limits the claims of a report, in sentences: the reader is told before the numbers mislead.
#include "report/campaign-facts.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FEW_TRIALS     30
#define FEW_REFERENCES 3

__attribute__((format(printf, 2, 3))) static struct error *say(struct campaign_facts *facts,
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

static struct error *on_trials(struct campaign_facts *facts)
{
    uint64_t all = campaign_all(&facts->counts);
    uint64_t idle = facts->counts.verdicts[VERDICT_NOT_ACTIVATED];
    uint64_t invalid = facts->counts.verdicts[VERDICT_INVALID];
    if (facts->n == 0)
        TRY(say(facts,
                "Nothing was tested: no trial reached its fault. This says nothing about the "
                "target."));
    else if (facts->n < FEW_TRIALS)
        TRY(say(facts, "Only %llu trial%s counted: the intervals are wide.", NUMBER(facts->n),
                plural(facts->n)));
    if (idle != 0 && facts->n != 0)
        TRY(say(facts,
                "%llu of %llu trials never reached the fault: not counted, and not survived.",
                NUMBER(idle), NUMBER(all)));
    if (invalid != 0)
        TRY(say(facts, "%llu trial%s could not be run or failed the pretest: not counted.",
                NUMBER(invalid), plural(invalid)));
    return NULL;
}

static struct error *on_selection(struct campaign_facts *facts)
{
    const struct store_campaign *campaign = &facts->campaign;
    uint64_t all = campaign_all(&facts->counts);
    if (campaign->state != STORE_FINISHED && campaign->planned > all)
        TRY(say(facts,
                "Stopped early or still running: %llu of %llu planned trials are done; "
                "'ordeal campaign --resume' goes on.",
                NUMBER(all), NUMBER(campaign->planned)));
    else if (campaign->state != STORE_FINISHED)
        TRY(say(facts, "Stopped early or still running: 'ordeal campaign --resume' goes on."));
    else if (campaign->planned > all)
        TRY(say(facts, "Ended before all planned trials were run: %llu of %llu.", NUMBER(all),
                NUMBER(campaign->planned)));
    if (campaign->candidates == 0)
        return NULL;
    uint64_t times = facts->selected != 0 ? campaign->planned / facts->selected : 0;
    if (times > 1)
        TRY(say(facts,
                "Run %llu times each, trials of one candidate are much alike: the intervals are "
                "narrower than they should be.",
                NUMBER(times)));
    if (facts->selected < campaign->candidates)
        return say(facts,
                   "A sample: %llu of %llu candidates were chosen. Where all were as likely to be "
                   "(no weights, no number per group), the intervals say how far the shares may be "
                   "from those of all candidates.",
                   NUMBER(facts->selected), NUMBER(campaign->candidates));
    if (campaign->planned != 0 && all >= campaign->planned && facts->n != 0)
        return say(facts,
                   "Exhaustive: every candidate was tried, so that for this workload the shares "
                   "are exact; the intervals hold where it stands for others like it.");
    return NULL;
}

static struct error *on_references(struct campaign_facts *facts)
{
    const struct campaign_references *references = &facts->references;
    if (references->count == 0)
        return say(facts, "There is no reference run: verdicts compare with nothing.");
    if (references->count < FEW_REFERENCES)
        TRY(say(facts,
                "Only %llu reference run%s: output that is not the same every time may have been "
                "taken for a failure.",
                NUMBER(references->count), plural(references->count)));
    if (references->endings_differ)
        TRY(say(facts, "The reference runs did not all end the same way: verdicts are doubtful."));
    if (references->outputs_differ != 0)
        TRY(say(facts,
                "Nondeterministic output: %llu of %llu outputs differ between reference runs (%s%s)"
                "; parts that differ condemn no trial.",
                NUMBER(references->outputs_differ), NUMBER(references->outputs),
                references->differing, references->outputs_differ > 1 ? ", ..." : ""));
    return NULL;
}

struct error *campaign_limits_find(struct campaign_facts *facts)
{
    TRY(on_trials(facts));
    TRY(on_selection(facts));
    TRY(on_references(facts));
    // The campaign's own warnings, a line each.
    for (const char *line = facts->campaign.warnings; line != NULL && *line != '\0';) {
        size_t size = strcspn(line, "\n");
        if (size != 0)
            TRY(say(facts, "%.*s", (int)(size < 2000 ? size : 2000), line));
        line += size + (line[size] == '\n');
    }
    return NULL;
}
