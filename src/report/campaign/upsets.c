// SPDX-License-Identifier: GPL-3.0-or-later
// Weighs the verdicts of classes. Points are drawn independently, and what becomes of one depends
// on its class alone; so shares of points have binomial intervals, however few trials it took.
#include "report/campaign/upsets.h"

#include "base/cleanup.h"
#include "report/campaign/json.h"

#include <math.h>
#include <string.h>

enum notice { BY_SYSTEM, BY_PROGRAM, BY_NOBODY, NO_EFFECT, NOTICES };

static const struct {
    const char *name, *key;
} notices[NOTICES] = {
    [BY_SYSTEM] = {"detected by the system (signal, hang)", "by_system"},
    [BY_PROGRAM] = {"detected by the program", "by_program"},
    [BY_NOBODY] = {"wrong without a word", "wrong_silently"},
    [NO_EFFECT] = {"no effect", "no_effect"},
};

// NOTICES: the trial says nothing.
static enum notice notice_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_CRASH:
    case VERDICT_HANG:
        return BY_SYSTEM;
    case VERDICT_GRACEFUL:
    case VERDICT_DELIBERATE:
    case VERDICT_WRONG_OUTPUT:
        return BY_PROGRAM;
    case VERDICT_SILENT:
    case VERDICT_UNSTABLE:
        return BY_NOBODY;
    case VERDICT_PASS:
        return NO_EFFECT;
    default:
        return NOTICES;
    }
}

struct delays {
    ARRAY(double) seconds; // the shortest first
};

struct summary {
    struct store_upsets drawn; // points 0: none
    bool complete;             // every class was tried
    uint64_t trials, n;        // that say something; points or trials in the shares
    uint64_t hits[NOTICES];
    uint64_t silent; // points whose trial says nothing
    struct delays delays;
};

static void summary_deinit(struct summary *summary)
{
    ARRAY_DEINIT(&summary->delays.seconds);
}

static struct error *add_delay(void *data, const struct store_latency *row)
{
    struct delays *delays = data;
    double *slot = ARRAY_ADD(&delays->seconds);
    if (slot == NULL)
        return error_no_memory();
    *slot = row->seconds;
    return NULL;
}

static struct error *summarize(const struct campaign_facts *facts, struct summary *summary)
{
    struct store_weights weights;
    double all = 0;
    TRY(store_find_upsets(facts->store, facts->campaign.id, &summary->drawn));
    TRY(store_count_weights(facts->store, facts->campaign.id, &weights));
    TRY(store_each_latency(facts->store, facts->campaign.id, add_delay, &summary->delays));
    bool drawn = summary->drawn.points != 0;
    for (unsigned i = 0; i < VERDICTS; i++) {
        enum notice notice = notice_of(i);
        uint64_t count = drawn ? (uint64_t)llround(weights.weights[i]) : weights.trials[i];
        all += weights.weights[i];
        summary->trials += notice < NOTICES ? weights.trials[i] : 0;
        *(notice < NOTICES ? &summary->hits[notice] : &summary->silent) += count;
        summary->n += notice < NOTICES ? count : 0;
    }
    if (!drawn)
        return NULL;
    summary->complete = (uint64_t)llround(all) + summary->drawn.unread >= summary->drawn.points;
    summary->hits[NO_EFFECT] += summary->drawn.unread;
    summary->n += summary->drawn.unread;
    return NULL;
}

bool upsets_are_of(const struct campaign_facts *facts)
{
    const char *name = facts->campaign.injector;
    return name != NULL && (strcmp(name, "register") == 0 || strcmp(name, "memory") == 0);
}

static double quantile(const struct delays *delays, double part)
{
    size_t last = delays->seconds.count - 1;
    return delays->seconds.items[(size_t)llround(part * (double)last)];
}

static struct error *put_delays(struct terminal *terminal, const struct delays *delays)
{
    if (delays->seconds.count == 0)
        return NULL;
    PUT(terminal,
        "  From activation to crash: median %.3g ms, quartiles %.3g and %.3g ms (n %zu)\n",
        1e3 * quantile(delays, 0.5), 1e3 * quantile(delays, 0.25), 1e3 * quantile(delays, 0.75),
        delays->seconds.count);
    return NULL;
}

static struct error *put_shares(struct terminal *terminal, const struct summary *summary)
{
    for (unsigned i = 0; i < NOTICES; i++) {
        const struct campaign_share share =
            campaign_share(summary->hits[i], summary->n, STATS_CONFIDENCE);
        PUT(terminal, "  %-38s%9llu  ", notices[i].name, (unsigned long long)summary->hits[i]);
        TRY(terminal_share(terminal, &share));
        TRY(terminal_end_line(terminal));
    }
    return NULL;
}

static struct error *put_drawn(struct terminal *terminal, const struct summary *summary)
{
    const struct store_upsets *drawn = &summary->drawn;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    double all = (double)drawn->instructions * (double)drawn->bits;
    TRY(terminal_heading(terminal, "Upsets, uniform over instructions and bits of registers"));
    TRY(buffer_printf(&text,
                      "%llu drawn over %llu instructions x %llu bits; %llu of them hit what is not "
                      "read any more (of all: %.1f %%)",
                      (unsigned long long)drawn->points, (unsigned long long)drawn->instructions,
                      (unsigned long long)drawn->bits, (unsigned long long)drawn->unread,
                      all > 0 ? 100 * (1 - drawn->read / all) : 0));
    if (drawn->all_classes != 0) { // otherwise every point was tried
        PUT(terminal, "  ");
        TRY(terminal_wrap(terminal, text.data, 2));
    }
    if (!summary->complete) {
        PUT(terminal, "  Not all classes have been tried: there is no estimate yet\n");
        return NULL;
    }
    TRY(put_shares(terminal, summary));
    if (summary->silent != 0)
        PUT(terminal, "  %-38s%9llu\n", "not counted: trials that say nothing",
            (unsigned long long)summary->silent);
    text.size = 0;
    if (drawn->all_classes == 0)
        return NULL;
    TRY(buffer_printf(
        &text,
        "%llu trials of %llu classes stand for %llu plain ones; all %llu classes of the "
        "run stand for %.3g",
        (unsigned long long)summary->trials, (unsigned long long)drawn->classes,
        (unsigned long long)summary->n, (unsigned long long)drawn->all_classes, all));
    PUT(terminal, "  ");
    TRY(terminal_wrap(terminal, text.data, 2));
    return NULL;
}

struct error *upsets_put_text(struct terminal *terminal, const struct campaign_facts *facts)
{
    _cleanup_(summary_deinit) struct summary summary = {0};
    if (!upsets_are_of(facts))
        return NULL;
    TRY(summarize(facts, &summary));
    if (summary.drawn.points != 0) {
        TRY(put_drawn(terminal, &summary));
    } else if (summary.n != 0) {
        TRY(terminal_heading(terminal, "Who notices activated faults"));
        TRY(put_shares(terminal, &summary));
    }
    return put_delays(terminal, &summary.delays);
}

struct error *upsets_put_json(const struct campaign_facts *facts, struct report_sink *sink)
{
    _cleanup_(summary_deinit) struct summary summary = {0};
    struct json_builder builder;
    if (!upsets_are_of(facts))
        return NULL;
    TRY(summarize(facts, &summary));
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "upsets");
    const struct store_upsets *drawn = &summary.drawn;
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {{"points", drawn->points},       {"instructions", drawn->instructions},
                   {"bits", drawn->bits},           {"unread", drawn->unread},
                   {"classes", drawn->classes},     {"all_classes", drawn->all_classes},
                   {"trials", summary.trials},      {"n", summary.n},
                   {"not_counted", summary.silent}, {"complete", summary.complete}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (drawn->points != 0 || i >= 6)
            json_add_integer(&builder, line, numbers[i].key, numbers[i].number);
    for (unsigned i = 0; i < NOTICES; i++)
        json_add_integer(&builder, line, notices[i].key, summary.hits[i]);
    if (summary.delays.seconds.count != 0)
        json_add_real(&builder, line, "median_delay", quantile(&summary.delays, 0.5));
    return campaign_json_end(&builder, line, sink);
}
