// SPDX-License-Identifier: GPL-3.0-or-later
// Whether injected interface errors lead to the same outcomes as the code faults that they stand
// for. Of code faults, those trials count in which the interface differed and the call ended, so
// hangs do not; of injected errors, those in which the error was injected.
#include "report/campaign/interface-facts.h"

#include "base/cleanup.h"
#include "report/campaign/json.h"

#include <string.h>

enum { PASSED = EFFECT_CORRUPTED, ROWS };

struct side {
    uint64_t counts[ROWS];
    uint64_t n;
    double seconds; // of one trial
    bool measured;  // it compared interfaces
};
struct question {
    struct side sides[2];
    uint64_t rows[ROWS][2];
    struct stats_test test;
    double strength;
    bool asked; // one of the campaigns injected interface errors
};

static struct error *add_trial(void *data, const struct store_interface_trial *trial)
{
    struct side *side = data;
    enum interface_effect effect = interface_effect_of(trial);
    bool ended = trial->profile != NULL && strstr(trial->profile, " unfinished\n") == NULL;
    if (effect == EFFECTS || trial->verdict == VERDICT_NOT_ACTIVATED || (side->measured && !ended))
        return NULL;
    side->counts[effect > EFFECT_CORRUPTED ? PASSED : (unsigned)effect]++;
    side->n++;
    side->seconds += trial->seconds;
    return NULL;
}

static struct error *ask(const struct campaign_facts *const facts[2], struct question *question)
{
    for (unsigned i = 0; i < 2; i++) {
        struct interface_facts own;
        struct side *side = &question->sides[i];
        const char *injector = facts[i]->campaign.injector;
        question->asked |= injector != NULL && strcmp(injector, "interface") == 0;
        TRY(interface_facts_load(facts[i], &own));
        side->measured = own.compared;
        interface_facts_deinit(&own);
        TRY(store_each_interface_trial(facts[i]->store, facts[i]->campaign.id, add_trial, side));
        side->seconds = side->n != 0 ? side->seconds / (double)side->n : 0;
        for (unsigned j = 0; j < ROWS; j++)
            question->rows[j][i] = side->counts[j];
    }
    question->strength = stats_cramer((const uint64_t(*)[2])question->rows, ROWS);
    return stats_independence((const uint64_t(*)[2])question->rows, ROWS, &question->test);
}

static const char *row_name(unsigned row)
{
    return row == PASSED ? "pass" : interface_effect_names[row];
}

struct error *interface_put_comparison(struct terminal *terminal,
                                       const struct campaign_facts *before,
                                       const struct campaign_facts *after)
{
    struct question question = {0};
    TRY(ask((const struct campaign_facts *const[]){before, after}, &question));
    if (!question.asked)
        return NULL;
    TRY(terminal_heading(terminal, "Outcomes of errors that reached the interface"));
    for (unsigned i = 0; i < ROWS; i++) {
        PUT(terminal, "  %-8s", row_name(i));
        for (unsigned j = 0; j < 2; j++) {
            const struct side *side = &question.sides[j];
            const struct campaign_share share =
                campaign_share(side->counts[i], side->n, STATS_CONFIDENCE);
            PUT(terminal, "%8llu ", (unsigned long long)side->counts[i]);
            TRY(terminal_share(terminal, &share));
        }
        TRY(terminal_end_line(terminal));
    }
    PUT(terminal, "  %-8s%8llu%33llu\n", "all", (unsigned long long)question.sides[0].n,
        (unsigned long long)question.sides[1].n);
    PUT(terminal, "  same distribution: p ");
    TRY(terminal_test(terminal, &question.test));
    if (question.strength >= 0)
        PUT(terminal, ", Cramer's V %.2f", question.strength);
    TRY(terminal_end_line(terminal));
    PUT(terminal, "  a trial of A takes %.3g s, of B %.3g s\n", question.sides[0].seconds,
        question.sides[1].seconds);
    return NULL;
}

struct error *interface_put_comparison_json(const struct campaign_facts *before,
                                            const struct campaign_facts *after,
                                            struct report_sink *sink)
{
    struct question question = {0};
    struct json_builder builder;
    TRY(ask((const struct campaign_facts *const[]){before, after}, &question));
    if (!question.asked)
        return NULL;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "interface");
    for (unsigned j = 0; j < 2; j++) {
        json_t *side = json_add_object(&builder, line, j == 0 ? "before" : "after");
        for (unsigned i = 0; i < ROWS; i++)
            json_add_integer(&builder, side, row_name(i), question.sides[j].counts[i]);
        json_add_integer(&builder, side, "n", question.sides[j].n);
        json_add_real(&builder, side, "seconds", question.sides[j].seconds);
    }
    campaign_json_test(&builder, line, &question.test);
    if (question.strength >= 0)
        json_add_real(&builder, line, "cramer_v", question.strength);
    return campaign_json_end(&builder, line, sink);
}
