// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal accuracy: how far faults that one level found agree with those of another.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "cli/mutate/accuracy-read.h"
#include "report/json.h"

struct settings {
    bool json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each type", FIELD(json)},
};

static const char *const causes[MATCH_CAUSES] = {
    [MATCH_OTHER] = "other", [MATCH_MACRO] = "macro", [MATCH_INLINE] = "inline"};

static size_t sum(const size_t counts[MATCH_CAUSES])
{
    size_t all = 0;
    for (int i = 0; i < MATCH_CAUSES; i++)
        all += counts[i];
    return all;
}

static void add(struct match_counts *to, const struct match_counts *from)
{
    to->reference += from->reference;
    to->compared += from->compared;
    to->correct += from->correct;
    for (int i = 0; i < MATCH_CAUSES; i++) {
        to->omitted[i] += from->omitted[i];
        to->spurious[i] += from->spurious[i];
    }
}

// A share of nothing is not shown.
static struct error *put_share(size_t part, size_t whole, struct buffer *text)
{
    if (whole == 0)
        return buffer_printf(text, "  %8s", "-");
    return buffer_printf(text, "  %6.2f %%", 100.0 * (double)part / (double)whole);
}

static struct error *put_row(const char *name, const struct match_counts *counts,
                             struct buffer *text)
{
    TRY(buffer_printf(text, "%-5s  %9zu  %8zu  %7zu  %7zu  %8zu", name, counts->reference,
                      counts->compared, counts->correct, sum(counts->omitted),
                      sum(counts->spurious)));
    TRY(put_share(counts->correct, counts->reference, text));
    TRY(put_share(sum(counts->spurious), counts->compared, text));
    return buffer_append(text, "\n", 1);
}

static struct error *put_causes(const struct match_counts *all, struct buffer *text)
{
    TRY(buffer_printf(text, "\n%-9s  %7s  %8s\n", "cause", "omitted", "spurious"));
    for (int i = 0; i < MATCH_CAUSES; i++)
        TRY(buffer_printf(text, "%-9s  %7zu  %8zu\n", causes[i], all->omitted[i],
                          all->spurious[i]));
    return NULL;
}

static struct error *put_text(const struct match_counts counts[MODEL_KINDS],
                              const struct accuracy_list *reference,
                              const struct accuracy_list *compared, struct buffer *text)
{
    struct match_counts all = {0};
    TRY(buffer_printf(text, "%-5s  %9s  %8s  %7s  %7s  %8s  %8s  %8s\n", "type", reference->level,
                      compared->level, "correct", "omitted", "spurious", "found", "spurious"));
    for (int kind = 0; kind < MODEL_KINDS; kind++) {
        add(&all, &counts[kind]);
        TRY(put_row(model_types[kind].field, &counts[kind], text));
    }
    TRY(put_row("all", &all, text));
    struct match_counts outside = all;
    outside.reference -= all.omitted[MATCH_MACRO] + all.omitted[MATCH_INLINE];
    outside.compared -= all.spurious[MATCH_MACRO] + all.spurious[MATCH_INLINE];
    for (int i = MATCH_OTHER + 1; i < MATCH_CAUSES; i++)
        outside.omitted[i] = outside.spurious[i] = 0;
    TRY(put_row("plain", &outside, text));
    TRY(put_causes(&all, text));
    TRY(buffer_printf(text,
                      "\nthe same argument is changed in %zu of %zu correct WPFV and, to the same "
                      "operator, in %zu of %zu\ncorrect WAEP\n",
                      counts[MODEL_WPFV].same, counts[MODEL_WPFV].correct, counts[MODEL_WAEP].same,
                      counts[MODEL_WAEP].correct));
    if (reference->placeless + compared->placeless > 0)
        TRY(buffer_printf(text, "\n%zu and %zu faults have no line and are not compared\n",
                          reference->placeless, compared->placeless));
    // The thesis: 18,183 faults in sources, 12,380 in binaries, 5,927 of them the same.
    return buffer_printf(text,
                         "\nfound: of %s faults; spurious: of %s faults. The thesis has 32.60 %% "
                         "and 52.12 %%\n(5,927 correct of 18,183 in sources and 12,380 in "
                         "binaries).\n",
                         reference->level, compared->level);
}

static void add_counts(struct json_builder *builder, json_t *row, const char *key,
                       const size_t counts[MATCH_CAUSES])
{
    json_t *object = json_add_object(builder, row, key);
    for (int i = 0; i < MATCH_CAUSES; i++)
        json_add_integer(builder, object, causes[i], counts[i]);
}

static struct error *put_json(const struct match_counts counts[MODEL_KINDS], struct buffer *text)
{
    for (int kind = 0; kind < MODEL_KINDS; kind++) {
        struct json_builder builder = {0};
        _cleanup_(json_release) json_t *row = json_object();
        _cleanup_(buffer_deinit) struct buffer line = {0};
        if (row == NULL)
            return error_no_memory();
        json_add_string(&builder, row, "field", model_types[kind].field);
        json_add_string(&builder, row, "type", model_types[kind].name);
        json_add_integer(&builder, row, "reference", counts[kind].reference);
        json_add_integer(&builder, row, "compared", counts[kind].compared);
        json_add_integer(&builder, row, "correct", counts[kind].correct);
        json_add_integer(&builder, row, "same", counts[kind].same);
        add_counts(&builder, row, "omitted", counts[kind].omitted);
        add_counts(&builder, row, "spurious", counts[kind].spurious);
        TRY(json_write_line(&builder, row, &line));
        TRY(buffer_append(text, line.data, line.size));
    }
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(accuracy_list_deinit) struct accuracy_list reference = {0}, compared = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct match_counts counts[MODEL_KINDS];
    TRY(accuracy_read(operands[0], &reference));
    TRY(accuracy_read(operands[1], &compared));
    if (compared.items.count == 0 && compared.placeless > 0)
        return error_new("no fault of %s has a line: a binary needs debug information, so that "
                         "places can be compared",
                         operands[1]);
    const struct match_list lists[2] = {
        {reference.items.items, reference.items.count, reference.uses.items, reference.uses.count},
        {compared.items.items, compared.items.count, NULL, 0},
    };
    TRY(match_compare(lists[0], lists[1], counts));
    TRY(settings->json ? put_json(counts, &text) : put_text(counts, &reference, &compared, &text));
    return output_print(&text);
}

const struct command cmd_accuracy = {
    .name = "accuracy",
    .summary = "Compare faults that one level found with those of another.",
    .operands = "REFERENCE COMPARED",
    .details =
        "Both are lists that 'ordeal mutate --json' wrote. Faults are the same if their type,\n"
        "file, function and line are.\n"
        "\n"
        "  ordeal mutate --json --macro-uses src/*.c > source\n"
        "  ordeal mutate --json --level binary program > binary\n"
        "  ordeal accuracy source binary\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 2,
    .most = 2,
    .run = run,
};
