// SPDX-License-Identifier: GPL-3.0-or-later
// The interface of a library in reports, as text and JSON.
#include "report/campaign/interface-facts.h"

#include "base/cleanup.h"
#include "report/campaign/json.h"

static const unsigned limits[] = {8, 10};

static const char *const result_texts[STORE_RESULTS] = {
    [STORE_RESULT_MINUS_ONE] = "-1",       [STORE_RESULT_NULL] = "NULL pointer",
    [STORE_RESULT_ZERO] = "0, no pointer", [STORE_RESULT_POINTER] = "wrong pointer",
    [STORE_RESULT_VALUE] = "wrong value",
};

static struct error *put_share(struct terminal *terminal, const char *name, uint64_t hits,
                               uint64_t n)
{
    const struct campaign_share share = campaign_share(hits, n, STATS_CONFIDENCE);
    PUT(terminal, "  %-38s%9llu  ", name, (unsigned long long)hits);
    TRY(terminal_share(terminal, &share));
    return terminal_end_line(terminal);
}

static struct error *put_effects(struct terminal *terminal, const struct interface_facts *facts)
{
    TRY(terminal_heading(terminal, "Outcomes, and what the library gave its user"));
    for (unsigned i = 0; i < EFFECTS; i++)
        TRY(put_share(terminal, interface_effect_names[i], facts->effects[i], facts->trials));
    PUT(terminal, "  %-38s%9llu\n", "all, with faults that were never hit",
        (unsigned long long)facts->trials);
    if (facts->diverged != 0)
        PUT(terminal, "  %-38s%9llu\n", "called otherwise without a difference",
            (unsigned long long)facts->diverged);
    if (facts->unknown != 0)
        PUT(terminal, "  %-38s%9llu\n", "without a trace", (unsigned long long)facts->unknown);
    return NULL;
}

static struct error *put_sizes(struct terminal *terminal, const struct interface_facts *facts)
{
    if (facts->sizes[ALL_CLASSES].bytes.count == 0)
        return NULL;
    TRY(terminal_heading(terminal, "Corrupted bytes of the first call that differs"));
    PUT(terminal, "  %-14s%7s%10s  %-24s%s\n", "class of fault", "trials", "median",
        "at most 8 bytes", "at most 10 bytes");
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct corrupted_sizes *sizes = &facts->sizes[i];
        if (sizes->bytes.count == 0)
            continue;
        PUT(terminal, "  %-14s%7zu%10.1f", interface_class_names[i], sizes->bytes.count,
            corrupted_sizes_median(sizes));
        for (unsigned j = 0; j < 2; j++) {
            const struct campaign_share share = campaign_share(
                corrupted_sizes_up_to(sizes, limits[j]), sizes->bytes.count, STATS_CONFIDENCE);
            PUT(terminal, "  ");
            TRY(terminal_share(terminal, &share));
        }
        TRY(terminal_end_line(terminal));
    }
    return NULL;
}

static struct error *put_results(struct terminal *terminal, const struct interface_facts *facts)
{
    if (facts->wrong_results == 0)
        return NULL;
    TRY(terminal_heading(terminal, "Wrong return values"));
    PUT(terminal, "  %-24s%22s%22s\n", "", "memory as it should", "memory corrupted");
    uint64_t with = 0;
    for (unsigned i = 0; i < STORE_RESULTS; i++) {
        if (result_texts[i] == NULL)
            continue;
        with += facts->results[i][1];
        PUT(terminal, "  %-24s%22llu%22llu\n", result_texts[i],
            (unsigned long long)facts->results[i][0], (unsigned long long)facts->results[i][1]);
    }
    TRY(put_share(terminal, "with corrupted memory, of these", with, facts->wrong_results));
    return put_share(terminal, "wrong return values, of failures", facts->wrong_results_of_failures,
                     facts->failures);
}

static struct error *put_accesses(struct terminal *terminal, const struct interface_facts *facts)
{
    const struct stats_correlation *correlation = &facts->correlation;
    if (correlation->n <= 2)
        return NULL;
    TRY(terminal_heading(terminal, "Stores without a fault, and trials that corrupt the byte"));
    PUT(terminal, "  %-24s%12s%14s\n", "stores to a byte", "bytes", "corrupted in");
    for (unsigned i = 0; i < ACCESS_BINS; i++) {
        if (!(facts->accesses[i].bytes > 0))
            continue;
        char range[48];
        snprintf(range, sizeof range, i == 0 ? "%llu" : "%llu to %llu", 1ull << i, (2ull << i) - 1);
        PUT(terminal, "  %-24s%12.0f%12.2f %%\n", range, facts->accesses[i].bytes,
            100 * interface_corruption_rate(facts, i));
    }
    if (correlation->r >= -1)
        PUT(terminal, "  Spearman's rho %.3f (p %.2g, n %zu bytes)\n", correlation->r,
            correlation->p, correlation->n);
    return NULL;
}

struct error *interface_put_text(struct terminal *terminal, const struct campaign_facts *facts)
{
    _cleanup_(interface_facts_deinit) struct interface_facts own = {0};
    TRY(interface_facts_load(facts, &own));
    if (!own.compared || own.trials == 0)
        return NULL;
    TRY(put_effects(terminal, &own));
    TRY(put_sizes(terminal, &own));
    TRY(put_results(terminal, &own));
    return put_accesses(terminal, &own);
}

static void add_sizes(struct json_builder *builder, json_t *line,
                      const struct interface_facts *facts)
{
    json_t *classes = json_add_object(builder, line, "corrupted");
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct corrupted_sizes *sizes = &facts->sizes[i];
        json_t *class = json_add_object(builder, classes, interface_class_names[i]);
        json_add_integer(builder, class, "trials", sizes->bytes.count);
        if (sizes->bytes.count == 0)
            continue;
        json_add_real(builder, class, "median", corrupted_sizes_median(sizes));
        json_add_integer(builder, class, "up_to_8", corrupted_sizes_up_to(sizes, 8));
        json_add_integer(builder, class, "up_to_10", corrupted_sizes_up_to(sizes, 10));
    }
}

static void add_accesses(struct json_builder *builder, json_t *line,
                         const struct interface_facts *facts)
{
    json_t *bins = json_add_array(builder, line, "accesses");
    for (unsigned i = 0; i < ACCESS_BINS; i++) {
        if (!(facts->accesses[i].bytes > 0))
            continue;
        json_t *bin = json_add_object(builder, bins, NULL);
        json_add_integer(builder, bin, "stores", 1ull << i);
        json_add_real(builder, bin, "bytes", facts->accesses[i].bytes);
        json_add_real(builder, bin, "corruption_rate", interface_corruption_rate(facts, i));
    }
}

struct error *interface_put_json(const struct campaign_facts *facts, struct report_sink *sink)
{
    _cleanup_(interface_facts_deinit) struct interface_facts own = {0};
    struct json_builder builder;
    TRY(interface_facts_load(facts, &own));
    if (!own.compared)
        return NULL;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "interface");
    json_add_integer(&builder, line, "trials", own.trials);
    json_add_integer(&builder, line, "not_activated", own.not_activated);
    json_add_integer(&builder, line, "unknown", own.unknown);
    json_add_integer(&builder, line, "diverged", own.diverged);
    json_add_real(&builder, line, "seconds", own.seconds);
    json_t *effects = json_add_object(&builder, line, "outcomes");
    for (unsigned i = 0; i < EFFECTS; i++)
        json_add_integer(&builder, effects, interface_effect_names[i], own.effects[i]);
    add_sizes(&builder, line, &own);
    json_t *results = json_add_object(&builder, line, "results");
    for (unsigned i = 0; i < STORE_RESULTS; i++) {
        if (result_texts[i] == NULL)
            continue;
        json_t *result = json_add_object(&builder, results, enum_name(&result_names, i));
        json_add_integer(&builder, result, "without_corruption", own.results[i][0]);
        json_add_integer(&builder, result, "with_corruption", own.results[i][1]);
    }
    json_add_integer(&builder, line, "failures", own.failures);
    json_add_integer(&builder, line, "failures_with_wrong_result", own.wrong_results_of_failures);
    add_accesses(&builder, line, &own);
    if (own.correlation.n > 2 && own.correlation.r >= -1) {
        json_add_real(&builder, line, "rho", own.correlation.r);
        json_add_real(&builder, line, "p", own.correlation.p);
        json_add_integer(&builder, line, "n", own.correlation.n);
    }
    return campaign_json_end(&builder, line, sink);
}
