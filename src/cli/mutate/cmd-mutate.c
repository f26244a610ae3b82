// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal mutate: lists the software faults that programs can have, and writes files that have them.
#include "cli/registry.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "cli/faults/cc-arguments.h"
#include "cli/mutate/diff.h"
#include "cli/mutate/levels.h"
#include "cli/mutate/lines.h"
#include "cli/mutate/list.h"
#include "cli/mutate/score-show.h"
#include "cli/mutate/test-list.h"
#include "mutate/binary/level.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
    const char *level, *database, *output, *diff, *since, *stryker, *sarif, *sandbox, *tests;
    struct option_list types, functions, lines;
    struct option_number jobs, threshold, sampled, seed;
    uint64_t timeout_ns;
    bool json, check, unchecked, model, score;
    bool constructs;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"level", 0, OPTION_TEXT, "LEVEL", "source (the default), ir or binary", FIELD(level)},
    {"compile-commands", 'p', OPTION_FILE, "FILE",
     "how sources are compiled: compile_commands.json", FIELD(database)},
    {"type", 0, OPTION_LIST, "GLOB", "only faults of these types; may be given again",
     FIELD(types)},
    {"functions", 0, OPTION_LIST, "GLOB", "only faults in these functions; may be given again",
     FIELD(functions)},
    {"lines", 0, OPTION_LIST, "[FILE:]FIRST-LAST", "only faults in these lines; may be given again",
     FIELD(lines)},
    {"since-rev", 0, OPTION_TEXT, "REVISION", "only faults in lines that git says are newer",
     FIELD(since)},
    {"check", 0, OPTION_FLAG, NULL,
     "compile each, and mark those that do not compile or make no difference", FIELD(check)},
    {"check-sample", 0, OPTION_NUMBER, "N", "like --check, but only N of them, drawn at random",
     FIELD(sampled)},
    {"seed", 0, OPTION_NUMBER, "N", "of --check-sample: another sample", FIELD(seed)},
    {"out", 0, OPTION_FILE, "DIR", "write a file with the fault for each, into a new directory",
     FIELD(output)},
    {"no-check", 0, OPTION_FLAG, NULL, "write also what does not compile", FIELD(unchecked)},
    {"diff", 0, OPTION_TEXT, "ID|all", "print the change as a unified diff", FIELD(diff)},
    {"constructs", 0, OPTION_FLAG, NULL,
     "with --json, also list lines that machine code shows in another way, for 'ordeal accuracy'",
     FIELD(constructs)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each", FIELD(json)},
    {"score", 0, OPTION_FLAG, NULL, "run the command behind -- against each: which does it notice?",
     FIELD(score)},
    {"tests", 0, OPTION_FILE, "FILE",
     "of --score: a file with one command for each test, instead of one for all", FIELD(tests)},
    {"jobs", 0, OPTION_NUMBER, "N", "of --score: runs at a time", FIELD(jobs)},
    {"timeout", 0, OPTION_SECONDS, "TIME", "of --score: for one run", FIELD(timeout_ns)},
    {"threshold", 0, OPTION_NUMBER, "PERCENT", "of --score: exit status 1 if the score is lower",
     FIELD(threshold)},
    {"sandbox", 0, OPTION_TEXT, "KIND", "of --score: " SANDBOX_KINDS "; none with --level ir only",
     FIELD(sandbox)},
    {"stryker", 0, OPTION_FILE, "FILE", "of --score: write a report for Stryker's viewers",
     FIELD(stryker)},
    {"sarif", 0, OPTION_FILE, "FILE", "of --score: write what survived as SARIF", FIELD(sarif)},
    {"types", 0, OPTION_FLAG, NULL, "list the types of faults and their constraints", FIELD(model)},
};

// ---- which ----

static bool fits(const struct option_list *globs, const char *text, const char *other)
{
    for (size_t i = 0; i < globs->entries.count; i++)
        if (fnmatch(globs->entries.items[i].value, text, 0) == 0 ||
            (other != NULL && fnmatch(globs->entries.items[i].value, other, 0) == 0))
            return true;
    return globs->entries.count == 0;
}

// *ret_wanted is by candidate, and the caller's to free.
static struct error *choose(const struct settings *settings, const struct mutate_set *set,
                            bool **ret_wanted)
{
    _cleanup_(line_ranges_deinit) struct line_ranges ranges = {0};
    _cleanup_free_ bool *wanted = calloc(set->items.count + 1, sizeof *wanted);
    if (wanted == NULL)
        return error_no_memory();
    for (size_t i = 0; i < settings->lines.entries.count; i++)
        TRY(line_ranges_add(&ranges, settings->lines.entries.items[i].value));
    if (settings->since != NULL)
        TRY(line_ranges_add_since(&ranges, settings->since));
    for (size_t i = 0; i < set->items.count; i++) {
        const struct mutate_candidate *candidate = &set->items.items[i];
        const struct model_type *type = &model_types[candidate->kind];
        wanted[i] = fits(&settings->types, type->name, type->field) &&
                    fits(&settings->functions, candidate->function, NULL) &&
                    line_ranges_have(&ranges, candidate->file, candidate->line);
    }
    *ret_wanted = TAKE(wanted);
    return NULL;
}

struct draw { // of a sample
    uint64_t order;
    size_t candidate;
};

static int compare_draws(const void *a, const void *b)
{
    const struct draw *left = a, *right = b;
    return (left->order > right->order) - (left->order < right->order);
}

// Those whose names have the smallest hashes: the same ones in each run, whatever else is listed.
static struct error *check_sample(const struct settings *settings, struct mutate_set *set,
                                  const bool *wanted)
{
    _cleanup_free_ struct draw *draws = calloc(set->items.count + 1, sizeof *draws);
    _cleanup_free_ bool *drawn = calloc(set->items.count + 1, sizeof *drawn);
    size_t count = 0;
    if (draws == NULL || drawn == NULL)
        return error_no_memory();
    for (size_t i = 0; i < set->items.count; i++)
        if (wanted[i] && set->items.items[i].state == MUTATE_APPLICABLE)
            draws[count++] =
                (struct draw){hash_mix(hash_text(set->items.items[i].id), settings->seed.value), i};
    qsort(draws, count, sizeof *draws, compare_draws);
    for (size_t i = 0; i < count && i < settings->sampled.value; i++)
        drawn[draws[i].candidate] = true;
    return set->level->check(set, drawn);
}

static struct error *check(const struct settings *settings, struct mutate_set *set,
                           const bool *wanted)
{
    bool all = settings->check || (settings->output != NULL && !settings->unchecked);
    if (set->level->check == NULL)
        return NULL;
    if (settings->sampled.given && !all)
        return check_sample(settings, set, wanted);
    return all ? set->level->check(set, wanted) : NULL;
}

// ---- what ----

// Writes the file with the fault; its name is the fault's number and the file's own name.
static struct error *write_mutant(const struct settings *settings, const struct mutate_set *set,
                                  size_t index, size_t number, char **ret_path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ char *path = NULL;
    TRY(set->level->apply(set, index, &text));
    if (asprintf(&path, "%s/%zu-%s", settings->output, number,
                 file_base_name(set->items.items[index].changed)) < 0)
        return path = NULL, error_no_memory();
    TRY(file_replace(path, &text));
    struct stat original;
    if (set->level->compiled && stat(set->items.items[index].changed, &original) == 0 &&
        chmod(path, original.st_mode & 0777) < 0)
        return error_from_errno(errno, "cannot make %s a program", path);
    *ret_path = TAKE(path);
    return NULL;
}

static struct error *show(const struct settings *settings, const struct mutate_set *set,
                          const bool *wanted, struct buffer *text)
{
    size_t number = 0;
    for (size_t i = 0; i < set->items.count; i++) {
        const struct mutate_candidate *candidate = &set->items.items[i];
        _cleanup_free_ char *written = NULL;
        if (!wanted[i])
            continue;
        number++;
        if (settings->output != NULL && candidate->state == MUTATE_APPLICABLE)
            TRY(write_mutant(settings, set, i, number, &written));
        TRY(settings->json ? list_put_json(candidate, set, number, written, text)
                           : list_put_row(candidate, number, text));
    }
    if (number == 0 && !settings->json)
        TRY(buffer_printf(text, "%s\n",
                          set->items.count == 0 ? "no fault is possible here"
                                                : "no fault fits the options"));
    if (set->understood < set->functions && !settings->json)
        TRY(buffer_printf(
            text,
            "%zu of %zu functions were reconstructed; in %zu that are optimised, only "
            "calls, conditions and parts\n",
            set->understood, set->functions, set->optimised));
    for (size_t i = 0; i < set->constructs.count && settings->json; i++)
        TRY(list_put_construct(&set->constructs.items[i], text));
    return NULL;
}

static struct error *show_diffs(const struct settings *settings, const struct mutate_set *set,
                                const bool *wanted, struct buffer *text)
{
    bool all = strcmp(settings->diff, "all") == 0, found = all;
    for (size_t i = 0; i < set->items.count; i++) {
        const struct mutate_candidate *candidate = &set->items.items[i];
        _cleanup_(buffer_deinit) struct buffer before = {0}, after = {0};
        if (!wanted[i] || (!all && strcmp(settings->diff, candidate->id) != 0))
            continue;
        found = true;
        if (candidate->state == MUTATE_NO_TEXT || candidate->state == MUTATE_NO_ROOM) {
            if (!all)
                return error_new("%s is in a macro and cannot be written alone", candidate->id);
            continue;
        }
        TRY(set->level->apply(set, i, &after));
        TRY(buffer_read_regular(candidate->changed, SIZE_MAX, &before));
        TRY(buffer_printf(text, "# %s %s\n", candidate->id, model_types[candidate->kind].name));
        TRY(diff_put(candidate->changed, &before, &after, text));
    }
    return found ? NULL
                 : error_new("there is no fault %s; 'ordeal mutate --json FILE.c' tells all ids",
                             settings->diff);
}

// ---- the score ----

static struct error *write_report(const char *path,
                                  struct error *(*put)(const struct mutate_set *,
                                                       const struct score *, struct buffer *),
                                  const struct mutate_set *set, const struct score *score)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (path == NULL)
        return NULL;
    TRY(put(set, score, &text));
    return file_replace(path, &text);
}

static struct error *choose_sandbox(const struct settings *settings, const struct mutate_set *set,
                                    enum sandbox_kind *ret_kind)
{
    if (settings->sandbox == NULL)
        return NULL;
    int kind = SANDBOX_AUTO;
    struct error *error =
        choice_parse(SANDBOX_KINDS, settings->sandbox, strlen(settings->sandbox), &kind);
    if (error != NULL)
        return error_prefix(error, "--sandbox");
    if (kind == SANDBOX_NONE && !set->level->compiled)
        return error_new("--sandbox none would change the user's own sources");
    *ret_kind = (enum sandbox_kind)kind;
    return NULL;
}

static struct error *show_score(const struct settings *settings, struct mutate_set *set,
                                const bool *wanted, char **command, struct buffer *text,
                                int *ret_status)
{
    _cleanup_(score_deinit) struct score score = {0};
    _cleanup_(test_list_deinit) struct test_list tests = {0};
    struct score_options how = {.jobs = (unsigned)settings->jobs.value,
                                .timeout_ns = settings->timeout_ns,
                                .sandbox = SANDBOX_AUTO};
    if (*command == NULL && settings->tests == NULL)
        return error_new("--score needs the command that runs the tests: ordeal mutate --score "
                         "FILE.c -- make check");
    if (set->level == &mutate_level_binary)
        return error_new("--score works with sources and, with --level ir, with what 'ordeal cc' "
                         "has built");
    if (*command != NULL && settings->tests != NULL)
        return error_new("a command behind -- and --tests exclude each other");
    TRY(settings->tests != NULL ? test_list_read(settings->tests, &tests)
                                : test_list_add(&tests, command));
    how.tests = (char *const *const *)tests.items.items;
    how.test_count = tests.items.count;
    how.named = settings->tests != NULL;
    TRY(choose_sandbox(settings, set, &how.sandbox));
    if (set->level->check != NULL)
        TRY(set->level->check(set, wanted));
    TRY(score_run(set, wanted, &how, &score));
    TRY(write_report(settings->stryker, score_put_stryker, set, &score));
    TRY(write_report(settings->sarif, score_put_sarif, set, &score));
    TRY(score_put_text(set, &score, text));
    bool enough = !settings->threshold.given ||
                  100 * score_share(&score) >= (double)settings->threshold.value;
    *ret_status = enough ? 0 : 1;
    return NULL;
}

// ---- the command line ----

// The compiler's arguments end at "--" if a command follows; otherwise "--" may stand before its
// options. An option of ours among them is a mistake that the compiler would not explain.
static struct error *split_operands(const struct settings *settings, char **operands,
                                    char ***ret_command)
{
    char **kept = operands, **at = operands;
    for (; *at != NULL && !(settings->score && strcmp(*at, "--") == 0); at++) {
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (strncmp(*at, "--", 2) == 0 && strcmp(*at + 2, options[i].name) == 0)
                return error_new("%s must come before the first file or compiler option", *at);
        if (strcmp(*at, "--") != 0)
            *kept++ = *at;
    }
    *ret_command = at + (*at != NULL);
    *kept = NULL;
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    const struct mutate_level *level = NULL;
    _cleanup_(cc_list_deinit) struct cc_list list = {0};
    _cleanup_(mutate_set_deinit) struct mutate_set set = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ bool *wanted = NULL;
    char **command = NULL;
    if (settings->model) {
        TRY(list_put_types(settings->json, &text));
        return output_print(&text);
    }
    TRY(level_find(settings->level, &level));
    TRY(split_operands(settings, operands, &command));
    TRY(cc_list_expand(operands, &list));
    const struct mutate_request request = {list.items.items, settings->database,
                                           settings->constructs};
    TRY(mutate_find(level, &request, &set));
    TRY(choose(settings, &set, &wanted));
    if (settings->output != NULL && mkdir(settings->output, 0777) < 0)
        return error_from_errno(errno, "cannot make the directory %s", settings->output);
    TRY(check(settings, &set, wanted));
    if (settings->score)
        TRY(show_score(settings, &set, wanted, command, &text, ret_status));
    else if (settings->diff != NULL)
        TRY(show_diffs(settings, &set, wanted, &text));
    else
        TRY(show(settings, &set, wanted, &text));
    return output_print(&text);
}

const struct command cmd_mutate = {
    .name = "mutate",
    .summary = "List the software faults that programs can have, and write files that have them.",
    .operands = "FILE... [COMPILER-OPTION...] [-- COMMAND...]",
    .details =
        "Takes the arguments of a compiler, which name the sources and how they are compiled.\n"
        "\n"
        "  ordeal mutate -Iinclude src/parse.c\n"
        "  ordeal mutate --out mutants --type 'missing-*' src/parse.c -Iinclude\n"
        "  ordeal mutate -p build/compile_commands.json --since-rev main\n"
        "  ordeal mutate --score --threshold 80 src/parse.c -Iinclude -- make check\n"
        "  ordeal mutate --level ir --score ./tests -- ./tests\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .most = UINT32_MAX,
    .passes_options = true,
    .keeps_separator = true,
    .command_follows = true,
    .run = run,
};
