// SPDX-License-Identifier: GPL-3.0-or-later
// Workers share the programs; each writes its results into shared memory. Faults are matched by
// type and by place: the lines of the target. Mutants are compared in the order of their places.
#include "mutate/generate/examine.h"

#include "base/cleanup.h"
#include "base/remove.h"
#include "base/stale.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE       "/tmp"
#define PREFIX      "ordeal-generate-"
#define MOST_FAULTS 64 // of a target
#define LONGEST     32 // bytes of a checksum's line

struct worker {
    const struct examine_options *options;
    char directory[128];
};

// What a tool made of the target: how many faults, and what their mutants print.
struct outcome {
    unsigned count;
    char output[MOST_FAULTS][LONGEST]; // "" if it was not run or did not end well
};

static struct error *write_file(const char *path, const struct buffer *text, mode_t mode)
{
    _cleanup_close_ int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (file < 0 || write(file, text->data, text->size) != (ssize_t)text->size)
        return error_from_errno(errno, "cannot write %s", path);
    return NULL;
}

// Runs a command of the shell and keeps the first line that it prints; "" if it fails.
static void run_line(char line[LONGEST], const char *command)
{
    char text[LONGEST] = "";
    FILE *pipe = popen(command, "re");
    *line = '\0';
    if (pipe == NULL)
        return;
    bool printed = fgets(text, sizeof text, pipe) != NULL;
    for (int c = 0; c != EOF;)
        c = getc(pipe);
    if (pclose(pipe) == 0 && printed)
        memcpy(line, text, sizeof text);
}

static struct error *compile(const struct worker *worker, const char *source, const char *program)
{
    _cleanup_(buffer_deinit) struct buffer command = {0};
    TRY(buffer_printf(&command, "%s -w %s -o %s %s 2>/dev/null", worker->options->compiler,
                      worker->options->flags, program, source));
    int status = system(command.data);
    return status == 0 ? NULL : error_new("'%s' fails", command.data);
}

static void execute(const char *program, char line[LONGEST])
{
    char command[768];
    snprintf(command, sizeof command, "ulimit -c 0; timeout 5 %s 2>/dev/null", program);
    run_line(line, command);
}

// ---- levels ----

// Makes the mutant of a candidate and runs it.
static struct error *run_candidate(const struct worker *worker, const struct mutate_set *set,
                                   size_t number, char line[LONGEST])
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    char source[192], program[192];
    bool compiled = set->level->compiled;
    snprintf(source, sizeof source, "%s/mutant.c", worker->directory);
    snprintf(program, sizeof program, "%s/mutant", worker->directory);
    unlink(program);
    TRY(set->level->apply(set, number, &text));
    TRY(write_file(compiled ? program : source, &text, compiled ? 0700 : 0600));
    struct error *error = compiled ? NULL : compile(worker, source, program);
    *line = '\0';
    if (error == NULL)
        execute(program, line);
    error_free(error);
    return NULL;
}

static struct error *try_level(const struct worker *worker, const struct mutate_level *level,
                               const struct generate_parameters *parameters,
                               const struct generate_program *program, const char *source,
                               const char *executable, struct outcome *outcome)
{
    _cleanup_(mutate_set_deinit) struct mutate_set set = {0};
    char *const operands[] = {(char *)(level->compiled ? executable : source), NULL};
    const struct mutate_request request = {.operands = operands};
    TRY(mutate_find(level, &request, &set));
    for (size_t i = 0; i < set.items.count; i++) {
        const struct mutate_candidate *candidate = &set.items.items[i];
        if (candidate->kind != parameters->kind || candidate->line < program->first ||
            candidate->line > program->last || outcome->count == MOST_FAULTS)
            continue;
        if (worker->options->execute && candidate->state == MUTATE_APPLICABLE)
            TRY(run_candidate(worker, &set, i, outcome->output[outcome->count]));
        outcome->count++;
    }
    return NULL;
}

// ---- adapters ----

static struct error *try_adapter(const struct worker *worker,
                                 const struct generate_parameters *parameters,
                                 const struct generate_program *program, const char *source,
                                 const char *executable, struct outcome *outcome)
{
    _cleanup_(buffer_deinit) struct buffer command = {0};
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    TRY(buffer_printf(&command, "set -- %s %s %s/mutants; rm -rf \"$3\"; mkdir \"$3\"; %s", source,
                      executable, worker->directory, worker->options->adapter));
    FILE *pipe = popen(command.data, "re");
    if (pipe == NULL)
        return error_from_errno(errno, "cannot run the adapter");
    while (getline(&line, &room, pipe) > 0) {
        char type[8], mutant[512] = "";
        unsigned at = 0;
        if (sscanf(line, "%7s %u %511s", type, &at, mutant) < 2 ||
            strcmp(type, model_types[parameters->kind].field) != 0 || at < program->first ||
            at > program->last || outcome->count == MOST_FAULTS)
            continue;
        if (worker->options->execute && *mutant != '\0')
            execute(mutant, outcome->output[outcome->count]);
        outcome->count++;
    }
    return pclose(pipe) == 0 ? NULL : error_new("the adapter fails");
}

// ---- programs ----

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

// How many mutants print what no mutant of the oracle prints. Both lists are in any order.
static unsigned count_different(struct outcome *tool, struct outcome *oracle)
{
    qsort(tool->output, tool->count, LONGEST, by_text);
    qsort(oracle->output, oracle->count, LONGEST, by_text);
    unsigned different = 0;
    for (unsigned i = 0; i < tool->count && i < oracle->count; i++)
        different += *tool->output[i] == '\0' || strcmp(tool->output[i], oracle->output[i]) != 0;
    return different;
}

static struct error *examine(const struct worker *worker, struct examine_result *result)
{
    const struct examine_options *options = worker->options;
    _cleanup_(generate_program_deinit) struct generate_program program = {0};
    _cleanup_free_ struct outcome *tool = calloc(1, sizeof *tool), *oracle = NULL;
    char source[192], executable[192];
    bool itself = options->level != NULL && options->level == options->oracle;
    if (tool == NULL || (oracle = calloc(1, sizeof *oracle)) == NULL)
        return error_no_memory();
    TRY(generate_program(&result->parameters, options->seed, &program));
    snprintf(source, sizeof source, "%s/program.c", worker->directory);
    snprintf(executable, sizeof executable, "%s/program", worker->directory);
    TRY(write_file(source, &program.text, 0600));
    if (!itself)
        TRY(compile(worker, source, executable));
    TRY(options->level != NULL
            ? try_level(worker, options->level, &result->parameters, &program, source, executable,
                        tool)
            : try_adapter(worker, &result->parameters, &program, source, executable, tool));
    result->expected = program.expected;
    result->found = tool->count;
    if (options->execute && tool->count == program.expected && tool->count > 0) {
        if (!itself)
            TRY(try_level(worker, options->oracle, &result->parameters, &program, source,
                          executable, oracle));
        result->different = count_different(tool, itself ? tool : oracle);
    }
    result->verdict = result->found < result->expected   ? EXAMINE_OMITTED
                      : result->found > result->expected ? EXAMINE_SPURIOUS
                      : result->different > 0            ? EXAMINE_INCORRECT
                                                         : EXAMINE_CORRECT;
    return NULL;
}

// ---- workers ----

static void work(struct worker *worker, struct examine_result *results, size_t count, size_t first,
                 size_t step)
{
    for (size_t i = first; i < count; i += step) {
        struct error *error = examine(worker, &results[i]);
        if (error != NULL) {
            fprintf(stderr, "%s\n", error_message(error));
            results[i].failed = true;
            results[i].verdict = EXAMINE_OMITTED;
        }
        error_free(error);
    }
}

static struct error *run_workers(const struct examine_options *options,
                                 struct examine_result *results, size_t count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = processors > 0 ? (size_t)processors : 1;
    struct error *error = NULL;
    stale_each(PLACE, PREFIX, false, remove_stale); // of processes that were killed
    for (size_t i = 0; i < workers; i++) {
        pid_t child = fork();
        if (child < 0)
            return error_from_errno(errno, "cannot start a process");
        if (child > 0)
            continue;
        struct worker worker = {.options = options};
        snprintf(worker.directory, sizeof worker.directory, PLACE "/" PREFIX "%s-XXXXXX",
                 stale_owner());
        if (mkdtemp(worker.directory) == NULL)
            _exit(1);
        work(&worker, results, count, i, workers);
        struct error *left = remove_tree(worker.directory);
        _exit(left != NULL);
    }
    for (size_t i = 0; i < workers; i++) {
        int status = 0;
        if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            error = error_new("a process that examines programs failed");
    }
    return error;
}

struct error *examine_all(const struct examine_options *options, const bool wanted[MODEL_KINDS],
                          struct examine_results *ret_results)
{
    struct examine_results results = {0};
    struct generate_parameters parameters = {0};
    bool begun = false;
    for (size_t number = 0; generate_next(&parameters, &begun);) {
        if (!wanted[parameters.kind] || (options->every > 1 && number++ % options->every != 0))
            continue;
        struct examine_result *result = ARRAY_ADD(&results.items);
        if (result == NULL)
            return examine_results_deinit(&results), error_no_memory();
        result->parameters = parameters;
    }
    size_t size = (results.items.count + 1) * sizeof *results.items.items;
    struct examine_result *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return examine_results_deinit(&results), error_no_memory();
    memcpy(shared, results.items.items, results.items.count * sizeof *shared);
    struct error *error = run_workers(options, shared, results.items.count);
    memcpy(results.items.items, shared, results.items.count * sizeof *shared);
    munmap(shared, size);
    if (error != NULL)
        return examine_results_deinit(&results), error;
    *ret_results = results;
    return NULL;
}

void examine_results_deinit(struct examine_results *results)
{
    ARRAY_DEINIT(&results->items);
}
