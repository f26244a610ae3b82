// SPDX-License-Identifier: GPL-3.0-or-later
// One table by type, then one by each parameter: which of its values a tool fails at.
#include "cli/mutate/generate-show.h"

#include "base/cleanup.h"

#include <stdio.h>

static const char *const verdicts[EXAMINE_VERDICTS] = {"correct", "omitted", "spurious",
                                                       "incorrect"};

void generate_add_parameters(struct json_builder *builder, json_t *row,
                             const struct generate_parameters *parameters)
{
    json_add_string(builder, row, "field", model_types[parameters->kind].field);
    json_add_string(builder, row, "type", model_types[parameters->kind].name);
    json_add_format(builder, row, "violated", "C%02u", parameters->violated);
    json_add_string(builder, row, "context", generate_context_word(parameters->context));
    json_add_integer(builder, row, "nesting", parameters->nesting);
    json_add_string(builder, row, "operand", generate_operand_word(parameters->operand));
    json_add_string(builder, row, "complexity", generate_complexity_word(parameters->complexity));
}

struct error *generate_put_counts(const size_t counts[MODEL_KINDS][MODEL_CONSTRAINTS + 1],
                                  struct buffer *text)
{
    size_t all = 0, valid = 0;
    TRY(buffer_printf(text, "type  violated  programs\n"));
    for (int kind = 0; kind < MODEL_KINDS; kind++)
        for (int i = 0; i <= MODEL_CONSTRAINTS; i++) {
            if (counts[kind][i] == 0)
                continue;
            char violated[8] = "none";
            if (i > 0)
                snprintf(violated, sizeof violated, "C%02d", i);
            TRY(buffer_printf(text, "%-4s  %-8s  %8zu\n", model_types[kind].field, violated,
                              counts[kind][i]));
            all += counts[kind][i];
            valid += i == 0 ? counts[kind][i] : 0;
        }
    return buffer_printf(text,
                         "%zu programs: %zu where all constraints hold, %zu where one does not\n",
                         all, valid, all - valid);
}

struct error *generate_put_json(const struct examine_results *results, struct buffer *text)
{
    for (size_t i = 0; i < results->items.count; i++) {
        const struct examine_result *result = &results->items.items[i];
        struct json_builder builder = {0};
        _cleanup_(json_release) json_t *row = json_object();
        _cleanup_(buffer_deinit) struct buffer line = {0};
        if (row == NULL)
            return error_no_memory();
        generate_add_parameters(&builder, row, &result->parameters);
        json_add_integer(&builder, row, "expected", result->expected);
        json_add_integer(&builder, row, "found", result->found);
        json_add_integer(&builder, row, "different", result->different);
        json_add_string(&builder, row, "verdict",
                        result->failed ? "failed" : verdicts[result->verdict]);
        TRY(json_write_line(&builder, row, &line));
        TRY(buffer_append(text, line.data, line.size));
    }
    return NULL;
}

// ---- tables ----

struct tally {
    size_t programs, faults, found, by_verdict[EXAMINE_VERDICTS];
};

static void count(struct tally *tally, const struct examine_result *result)
{
    tally->programs++;
    tally->faults += result->expected;
    tally->found += result->found;
    tally->by_verdict[result->verdict]++;
}

static struct error *put_tally(const char *name, const struct tally *tally, struct buffer *text)
{
    if (tally->programs == 0)
        return NULL;
    const size_t *by = tally->by_verdict;
    return buffer_printf(text, "%-20s  %8zu  %7zu  %7zu  %7zu  %7zu  %8zu  %9zu  %6.2f %%\n", name,
                         tally->programs, tally->faults, tally->found, by[EXAMINE_CORRECT],
                         by[EXAMINE_OMITTED], by[EXAMINE_SPURIOUS], by[EXAMINE_INCORRECT],
                         100.0 * (double)by[EXAMINE_CORRECT] / (double)tally->programs);
}

static struct error *put_head(const char *name, struct buffer *text)
{
    return buffer_printf(text, "%-20s  %8s  %7s  %7s  %7s  %7s  %8s  %9s  %8s\n", name, "programs",
                         "faults", "found", "correct", "omitted", "spurious", "incorrect",
                         "correct");
}

static unsigned kind_of(const struct generate_parameters *parameters)
{
    return parameters->kind;
}
static unsigned violated_of(const struct generate_parameters *parameters)
{
    return parameters->violated;
}
static unsigned context_of(const struct generate_parameters *parameters)
{
    return parameters->context;
}
static unsigned nesting_of(const struct generate_parameters *parameters)
{
    return parameters->nesting;
}
static unsigned operand_of(const struct generate_parameters *parameters)
{
    return parameters->operand;
}
static unsigned complexity_of(const struct generate_parameters *parameters)
{
    return parameters->complexity;
}

static const char *name_of(unsigned parameter, unsigned value, char room[32])
{
    switch (parameter) {
    case 0:
        return model_types[value].field;
    case 2:
        return generate_context_word(value);
    case 4:
        return generate_operand_word(value);
    case 5:
        return generate_complexity_word(value);
    default:
        snprintf(room, 32, parameter == 1 && value > 0 ? "C%02u" : "%u", value);
        return parameter == 1 && value == 0 ? "none" : room;
    }
}

static const struct {
    const char *name;
    unsigned (*of)(const struct generate_parameters *);
    unsigned values;
} parameters[] = {
    {"type", kind_of, MODEL_KINDS},
    {"violated", violated_of, MODEL_CONSTRAINTS + 1},
    {"context", context_of, GENERATE_CONTEXTS},
    {"nesting", nesting_of, GENERATE_DEEPEST + 1},
    {"operand", operand_of, GENERATE_OPERANDS},
    {"complexity", complexity_of, GENERATE_COMPLEXITIES},
};

static struct error *put_failures(const struct examine_results *results, struct buffer *text)
{
    for (size_t i = 0; i < results->items.count; i++) {
        const struct examine_result *result = &results->items.items[i];
        const struct generate_parameters *p = &result->parameters;
        if (result->verdict != EXAMINE_CORRECT)
            TRY(buffer_printf(
                text, "%s violated C%02u, %s %u, %s, %s: %u of %u, %s\n",
                model_types[p->kind].field, p->violated, generate_context_word(p->context),
                p->nesting, generate_operand_word(p->operand),
                generate_complexity_word(p->complexity), result->found, result->expected,
                result->failed ? "failed" : verdicts[result->verdict]));
    }
    return NULL;
}

struct error *generate_put_tables(const struct examine_results *results, bool failures,
                                  struct buffer *text)
{
    struct tally all = {0};
    if (failures)
        TRY(put_failures(results, text));
    for (unsigned p = 0; p < sizeof parameters / sizeof *parameters; p++) {
        struct tally tallies[MODEL_KINDS + MODEL_CONSTRAINTS] = {0};
        char room[32];
        for (size_t i = 0; i < results->items.count; i++) {
            const struct examine_result *result = &results->items.items[i];
            count(&tallies[parameters[p].of(&result->parameters)], result);
            if (p == 0)
                count(&all, result);
        }
        TRY(put_head(parameters[p].name, text));
        for (unsigned value = 0; value < parameters[p].values; value++)
            TRY(put_tally(name_of(p, value, room), &tallies[value], text));
        TRY(buffer_printf(text, "\n"));
    }
    TRY(put_head("", text));
    return put_tally("all", &all, text);
}

bool generate_is_enough(const struct examine_results *results, double percent)
{
    struct tally tallies[MODEL_KINDS] = {0};
    for (size_t i = 0; i < results->items.count; i++)
        count(&tallies[results->items.items[i].parameters.kind], &results->items.items[i]);
    for (int i = 0; i < MODEL_KINDS; i++)
        if (100.0 * (double)tallies[i].by_verdict[EXAMINE_CORRECT] <
            percent * (double)tallies[i].programs)
            return false;
    return true;
}
