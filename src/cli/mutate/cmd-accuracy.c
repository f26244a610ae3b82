// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal accuracy: how far faults that one level found agree with those of another.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "cli/mutate/accuracy-sample.h"
#include "report/json.h"
#include "stats/stats.h"

#include <fnmatch.h>

struct settings {
    const char *sample;
    struct option_number seed;
    struct option_list system;
    bool json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each type", FIELD(json)},
    {"sample", 0, OPTION_FILE, "FILE",
     "write a sample for a person to inspect; later, read what was found", FIELD(sample)},
    {"seed", 0, OPTION_NUMBER, "N", "of --sample: another sample", FIELD(seed)},
    {"system", 0, OPTION_LIST, "GLOB",
     "files of the system: a table for them, and one for the application; may be given again",
     FIELD(system)},
};

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
    to->checked += from->checked;
    to->differ += from->differ;
    to->differ_correct += from->differ_correct;
    to->alike_correct += from->alike_correct;
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

// Of what is neither macro nor inlined code, constructs are unavoidable, and the rest is the
// tool's.
static struct error *put_causes(const struct match_counts *all, struct buffer *text)
{
    size_t unavoidable = 0, others = 0;
    TRY(buffer_printf(text, "\n%-13s  %7s  %8s\n", "cause", "omitted", "spurious"));
    for (int i = 1; i <= MATCH_CAUSES; i++) {
        int cause = i % MATCH_CAUSES; // OTHER comes last
        TRY(buffer_printf(text, "%-13s  %7zu  %8zu  %s\n", match_reasons[cause].word,
                          all->omitted[cause], all->spurious[cause],
                          match_reasons[cause].description));
        if (!match_is_copied(cause))
            *(cause == MATCH_OTHER ? &others : &unavoidable) +=
                all->omitted[cause] + all->spurious[cause];
    }
    if (unavoidable + others == 0)
        return NULL;
    double whole = (double)(unavoidable + others);
    return buffer_printf(
        text,
        "\nOf the %zu that are neither macro nor inlined, %.2f %% are at constructs "
        "that machine code\nshows in another way, and %.2f %% are the tool's (the "
        "thesis: 26.02 %% and 73.98 %%).\n",
        unavoidable + others, 100.0 * (double)unavoidable / whole, 100.0 * (double)others / whole);
}

// What the mutants of the reference's faults tell, if they were compiled: a fault that makes the
// same object code cannot be found.
static struct error *put_checked(const struct match_counts counts[MODEL_KINDS],
                                 const struct match_counts *all, struct buffer *text)
{
    if (all->checked == 0)
        return NULL;
    TRY(buffer_printf(text, "\n%-5s  %8s  %7s  %7s  %8s\n", "type", "compiled", "differ", "correct",
                      "found"));
    for (int kind = 0; kind <= MODEL_KINDS; kind++) {
        const struct match_counts *row = kind < MODEL_KINDS ? &counts[kind] : all;
        TRY(buffer_printf(text, "%-5s  %8zu  %7zu  %7zu",
                          kind < MODEL_KINDS ? model_types[kind].field : "all", row->checked,
                          row->differ, row->differ_correct));
        TRY(put_share(row->differ_correct, row->differ, text));
        TRY(buffer_append(text, "\n", 1));
    }
    struct stats_interval interval = stats_wilson(all->differ_correct, all->differ, 0.95);
    return buffer_printf(
        text,
        "\nof %zu mutants that were compiled, %zu make other object code and are no "
        "copies of macros\nor inlined code; of them %zu were found (95 %%: %.1f to "
        "%.1f %%). %zu were found that make the\nsame object code.\n",
        all->checked, all->differ, all->differ_correct, 100 * interval.low, 100 * interval.high,
        all->alike_correct);
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
    for (int i = 0; i < MATCH_CAUSES; i++)
        if (match_is_copied(i)) {
            outside.reference -= all.omitted[i];
            outside.compared -= all.spurious[i];
            outside.omitted[i] = outside.spurious[i] = 0;
        }
    TRY(put_row("plain", &outside, text));
    for (int i = MATCH_BUILTIN; i < MATCH_CAUSES; i++) {
        outside.reference -= all.omitted[i];
        outside.compared -= all.spurious[i];
        outside.omitted[i] = outside.spurious[i] = 0;
    }
    TRY(put_row("tool", &outside, text));
    TRY(put_causes(&all, text));
    TRY(put_checked(counts, &all, text));
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
        json_add_integer(builder, object, match_reasons[i].word, counts[i]);
}

// `part`: of the program; NULL if it was not divided.
static struct error *put_json(const char *part, const struct match_counts counts[MODEL_KINDS],
                              struct buffer *text)
{
    for (int kind = 0; kind < MODEL_KINDS; kind++) {
        struct json_builder builder = {0};
        _cleanup_(json_release) json_t *row = json_object();
        _cleanup_(buffer_deinit) struct buffer line = {0};
        if (row == NULL)
            return error_no_memory();
        if (part != NULL)
            json_add_string(&builder, row, "part", part);
        json_add_string(&builder, row, "field", model_types[kind].field);
        json_add_string(&builder, row, "type", model_types[kind].name);
        json_add_integer(&builder, row, "reference", counts[kind].reference);
        json_add_integer(&builder, row, "compared", counts[kind].compared);
        json_add_integer(&builder, row, "correct", counts[kind].correct);
        json_add_integer(&builder, row, "same", counts[kind].same);
        json_add_integer(&builder, row, "checked", counts[kind].checked);
        json_add_integer(&builder, row, "differ", counts[kind].differ);
        json_add_integer(&builder, row, "differ_correct", counts[kind].differ_correct);
        json_add_integer(&builder, row, "alike_correct", counts[kind].alike_correct);
        add_counts(&builder, row, "omitted", counts[kind].omitted);
        add_counts(&builder, row, "spurious", counts[kind].spurious);
        TRY(json_write_line(&builder, row, &line));
        TRY(buffer_append(text, line.data, line.size));
    }
    return NULL;
}

// ---- parts of a program ----

static bool is_system(const struct option_list *globs, const char *file)
{
    for (size_t i = 0; i < globs->entries.count; i++)
        if (fnmatch(globs->entries.items[i].value, file, 0) == 0)
            return true;
    return false;
}

// What a list has in files of the system, or in the others. Texts stay the list's.
static struct error *take_part(const struct accuracy_list *list, const struct option_list *globs,
                               bool system, struct accuracy_list *ret_part)
{
    _cleanup_(accuracy_list_deinit) struct accuracy_list part = {.level = list->level};
    for (size_t i = 0; i < list->items.count; i++) {
        if (is_system(globs, list->items.items[i].file) != system)
            continue;
        struct match_fault *fault = ARRAY_ADD(&part.items);
        if (fault == NULL)
            return error_no_memory();
        *fault = list->items.items[i];
    }
    for (size_t i = 0; i < list->constructs.count; i++) {
        struct construct_line *construct = ARRAY_ADD(&part.constructs);
        if (construct == NULL)
            return error_no_memory();
        *construct = list->constructs.items[i];
    }
    *ret_part = part;
    part = (struct accuracy_list){0};
    return NULL;
}

static struct match_list list_of(const struct accuracy_list *list)
{
    return (struct match_list){list->items.items, list->items.count, list->constructs.items,
                               list->constructs.count};
}

static struct error *put_part(const struct settings *settings, const char *name,
                              const struct accuracy_list *reference,
                              const struct accuracy_list *compared, struct buffer *text)
{
    _cleanup_(match_result_deinit) struct match_result result = {0};
    TRY(match_compare(list_of(reference), list_of(compared), &result));
    if (settings->json)
        return put_json(name, result.counts, text);
    if (name != NULL)
        TRY(buffer_printf(text, "%s%s code\n\n", text->size > 0 ? "\n" : "", name));
    return put_text(result.counts, reference, compared, text);
}

static struct error *put_parts(const struct settings *settings,
                               const struct accuracy_list *reference,
                               const struct accuracy_list *compared, struct buffer *text)
{
    static const char *const names[] = {"application", "system"};
    if (settings->system.entries.count == 0)
        return put_part(settings, NULL, reference, compared, text);
    for (int system = 1; system >= 0; system--) {
        _cleanup_(accuracy_list_deinit) struct accuracy_list left = {0}, right = {0};
        TRY(take_part(reference, &settings->system, system, &left));
        TRY(take_part(compared, &settings->system, system, &right));
        TRY(put_part(settings, names[system], &left, &right, text));
    }
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(accuracy_list_deinit) struct accuracy_list reference = {0}, compared = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(match_result_deinit) struct match_result result = {0};
    TRY(accuracy_read(operands[0], &reference));
    TRY(accuracy_read(operands[1], &compared));
    if (compared.items.count == 0 && compared.placeless > 0)
        return error_new("no fault of %s has a line: a binary needs debug information, so that "
                         "places can be compared",
                         operands[1]);
    if (settings->sample == NULL) {
        TRY(put_parts(settings, &reference, &compared, &text));
        return output_print(&text);
    }
    bool complete = false;
    if (settings->system.entries.count > 0)
        return error_new("--system and --sample exclude each other");
    TRY(match_compare(list_of(&reference), list_of(&compared), &result));
    TRY(accuracy_sample(settings->sample, settings->seed.value, &reference, &compared, &result,
                        &text, &complete));
    *ret_status = complete ? 0 : 1;
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
        "  ordeal mutate --json --constructs src/*.c > source\n"
        "  ordeal mutate --json --constructs --level binary program > binary\n"
        "  ordeal accuracy source binary\n"
        "  ordeal accuracy --system 'kernel/*' source binary\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 2,
    .most = 2,
    .run = run,
};
