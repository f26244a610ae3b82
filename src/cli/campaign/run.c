// SPDX-License-Identifier: GPL-3.0-or-later
// Runs or resumes a campaign from the command line, and derives the exit status.
#include "cli/campaign/run.h"

#include "base/cleanup.h"
#include "base/suggestion.h"
#include "cli/campaign/progress.h"
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_FINDINGS 1
#define EXIT_UNTESTED 3

static struct error *unknown_fail_on(const char *word, size_t size)
{
    struct suggestion meant = suggestion_start(word, size);
    _cleanup_(buffer_deinit) struct buffer known = {0};
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].counts) {
            suggestion_offer(&meant, verdict_facts[i].name);
            TRY(buffer_printf(&known, "%s, ", verdict_facts[i].name));
        }
    for (unsigned i = SEVERITY_NONE + 1; i < SEVERITIES; i++) {
        suggestion_offer(&meant, enum_name(&severity_names, i));
        TRY(buffer_printf(&known, "%s%s", enum_name(&severity_names, i),
                          i + 1 < SEVERITIES ? ", " : ""));
    }
    char storage[SUGGESTION_SIZE];
    return error_new("--fail-on: '%.*s' is no verdict or severity to fail on%s; there are: %s",
                     (int)size, word, suggestion_text(&meant, storage), known.data);
}

// SEVERITIES if there is none of that name.
static unsigned severity_named(const char *word, size_t size)
{
    unsigned i = SEVERITY_NONE + 1;
    while (i < SEVERITIES && (strlen(enum_name(&severity_names, i)) != size ||
                              strncmp(enum_name(&severity_names, i), word, size) != 0))
        i++;
    return i;
}

struct error *campaign_parse_fail_on(const char *list, struct campaign_fail_on *ret_fail_on)
{
    struct campaign_fail_on fail_on = {0};
    for (int i = 0; i < VERDICTS; i++)
        fail_on.verdicts[i] = list == NULL && verdict_facts[i].failure;
    while (list != NULL && *list != '\0') {
        size_t size = strcspn(list, ",");
        enum verdict verdict = verdict_named(list, size);
        unsigned severity = severity_named(list, size);
        if (severity < SEVERITIES)
            fail_on.severities[severity] = true;
        else if (verdict < VERDICTS && verdict_facts[verdict].counts)
            fail_on.verdicts[verdict] = true;
        else
            return unknown_fail_on(list, size);
        list += size + (list[size] == ',');
    }
    *ret_fail_on = fail_on;
    return NULL;
}

static bool has_failed(const struct campaign_end *end, const struct campaign_fail_on *fail_on,
                       const struct report_shown *findings)
{
    for (int i = 0; i < VERDICTS; i++)
        if (fail_on->verdicts[i] &&
            (findings->shown[i] != 0 ||
             (findings->hidden[i] == 0 && findings->joined[i] == 0 && end->verdicts[i] != 0)))
            return true;
    for (int i = 0; i < SEVERITIES; i++)
        if (fail_on->severities[i] && findings->severities[i] != 0)
            return true;
    return false;
}

int campaign_exit_status(const struct campaign_end *end, const struct campaign_fail_on *fail_on,
                         const struct report_shown *findings)
{
    uint64_t counted = 0, all = 0;
    for (int i = 0; i < VERDICTS; i++) {
        all += end->verdicts[i];
        counted += verdict_facts[i].counts ? end->verdicts[i] : 0;
    }
    if (has_failed(end, fail_on, findings))
        return EXIT_FINDINGS;
    if (end->state != STORE_FINISHED)
        return EXIT_CANNOT_RUN; // an unfinished campaign without failures is no success
    if (all == 0 && end->stopped_by != STORE_STOP_NONE)
        return EXIT_CANNOT_RUN; // there was something to test, but no time for it
    return counted == 0 ? EXIT_UNTESTED : 0;
}

// On resumption, a definition that is given must equal the stored one. What is not given is taken
// from the stored one: the seed, and everything else if there is neither a file nor a command.
static struct error *check_resumed(const struct campaign_arguments *words, struct store *store,
                                   int64_t id)
{
    if (!campaign_is_defined(words))
        return NULL;
    _cleanup_(definition_deinit) struct definition definition = {0};
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    bool seeded = true;
    TRY(store_find_campaign(store, id, &row));
    if (words->file == NULL && words->command == NULL) {
        TRY(definition_new(&definition));
        TRY(definition_parse(&definition, "definition", row.definition, strlen(row.definition)));
        TRY(campaign_redefine(words, &definition));
    } else {
        TRY(campaign_define(words, &definition, &seeded));
    }
    if (!seeded)
        definition.seed = row.seed;
    return campaign_compare(store, id, &definition);
}

static struct error *resume(const struct campaign_arguments *words, struct store *store,
                            struct campaign_control *control, struct campaign_end *ret_end)
{
    _cleanup_(definition_deinit) struct definition limits = {0};
    int64_t id;
    TRY(definition_new(&limits));
    TRY(campaign_set_limits(words, &limits));
    control->jobs = limits.jobs;
    bool limited = limits.time_budget_ns != 0 || limits.max_trials != 0 || limits.stop_after != 0 ||
                   limits.until_interval > 0;
    TRY(campaign_find_unfinished(store, 0, limited, &id));
    TRY(check_resumed(words, store, id));
    control->limits = limited ? &limits : NULL;
    struct error *error = campaign_resume(store, id, control, ret_end);
    control->limits = NULL;
    return error;
}

struct error *campaign_define_checked(const struct campaign_arguments *words,
                                      struct definition *ret_definition)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    bool seeded;
    TRY(campaign_define(words, &definition, &seeded));
    TRY(definition_check(&definition));
    *ret_definition = definition;
    definition = (struct definition){0};
    return NULL;
}

const char *campaign_store_path(const struct campaign_job *job)
{
    return job->store != NULL ? job->store : STORE_DEFAULT;
}

// Input that is piped into the command line is probably meant for the workload, which does not get
// it.
static void warn_of_input(const struct definition *definition,
                          const struct campaign_control *control)
{
    struct stat status;
    if (definition->input != NULL || control->warn == NULL || fstat(STDIN_FILENO, &status) < 0)
        return;
    if (S_ISFIFO(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size > 0))
        control->warn(control->data, "standard input is /dev/null for the workload; --input FILE "
                                     "gives it one");
}

static void warn_of_injector(const struct campaign_arguments *words,
                             const struct definition *definition,
                             const struct campaign_control *control)
{
    _cleanup_free_ char *why = campaign_replaced_injector(words, definition);
    char text[512];
    if (why == NULL || control->warn == NULL)
        return;
    snprintf(text, sizeof text, "system calls of %s are made to fail: %s", words->command[0], why);
    control->warn(control->data, text);
}

struct error *campaign_carry_out(const struct campaign_job *job, struct store **ret_store,
                                 struct campaign_end *ret_end)
{
    const char *path = campaign_store_path(job);
    _cleanup_(definition_deinit) struct definition definition = {0};
    if (!job->resume)
        TRY(campaign_define_checked(job->words, &definition));
    else if (access(path, F_OK) < 0)
        return error_from_errno(errno, "there is nothing to resume: %s", path);
    // A limit on file sizes should be an error of the store, not kill this process.
    signal(SIGXFSZ, SIG_IGN);
    _cleanup_(store_closep) struct store *store = NULL;
    TRY(store_open(path, STORE_WRITE, &store));
    struct progress *progress = NULL;
    TRY(progress_new(job->quiet, &progress));
    struct campaign_control *control = progress_control(progress);
    control->known = job->known;
    if (!job->resume) {
        warn_of_input(&definition, control);
        warn_of_injector(job->words, &definition, control);
    }
    struct error *error = job->resume ? resume(job->words, store, control, ret_end)
                                      : campaign_start(&definition, store, control, ret_end);
    progress_free(progress);
    if (error == NULL)
        *ret_store = TAKE(store);
    else
        store_discard(TAKE(store)); // a campaign that could not start leaves no file behind
    return error;
}

void campaign_gather(struct store *store)
{
    error_free(store_gather(store)); // without room for it all stays readable where it is
}
