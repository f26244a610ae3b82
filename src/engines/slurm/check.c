// SPDX-License-Identifier: GPL-3.0-or-later
// The campaign as a small store in the shared directory: definition without secrets, references,
// what the injector has measured. A node reads a copy of its own, since SQLite does not promise to
// work across machines.
#include "engines/slurm/check.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/remove.h"
#include "base/secrets.h"
#include "injector/inputs.h"
#include "oracle/reference.h"
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATABASE   "campaign.db"
#define REFERENCES 2 // runs before a node is said to differ

static struct error *fill_store(struct store *store, const struct engine_options *options)
{
    const struct engine_task *task = &options->task;
    const struct injector_learning *learning = task->injector->learning;
    struct store_campaign row = {
        .name = task->definition->name,
        .injector = task->definition->injector,
        .definition = options->stored_definition,
        .command = "",
        .directory = task->definition->directory,
        .version = ORDEAL_VERSION,
        .machine = "",
        .seed = task->definition->seed,
    };
    TRY(store_add_campaign(store, &row));
    TRY(reference_save(task->reference, store, row.id));
    if (learning == NULL || learning->save == NULL)
        return NULL;
    // It is the controller's, which knows what was measured.
    return learning->save((void *)(uintptr_t)task->leader, store, row.id);
}

static struct error *save_store(const struct spool *spool, const struct engine_options *options)
{
    _cleanup_free_ char *path = spool_file(spool, DATABASE ".new"),
                        *final = spool_file(spool, DATABASE);
    if (path == NULL || final == NULL)
        return error_no_memory();
    spool_remove(spool, DATABASE ".new");
    struct store *store = NULL;
    struct error *error = store_open(path, STORE_WRITE, &store);
    if (error == NULL)
        error = fill_store(store, options);
    if (error == NULL)
        error = store_gather(store);
    store_close(store);
    if (error == NULL && rename(path, final) < 0)
        error = error_from_errno(errno, "cannot write %s", final);
    static const char *const others[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char name[sizeof DATABASE ".new-lock"];
        snprintf(name, sizeof name, DATABASE ".new%s", others[i]);
        spool_remove(spool, name);
    }
    return error;
}

struct error *site_save(const struct spool *spool, const struct engine_options *options)
{
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    struct setup setup = {
        .stuck_ns = options->stuck_ns,
        .ahead = options->ahead,
        .ignored = options->task.definition->oracle.ignored, // only looked at, as the next
    };
    if (options->task.switchable != NULL)
        setup.switchable = *options->task.switchable;
    TRY(save_store(spool, options));
    TRY(setup_put(&bytes, &setup));
    return spool_write(spool, "setup", &bytes);
}

static struct error *read_store(struct site *site, struct store *store)
{
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    TRY(store_find_campaign(store, 0, &row));
    TRY(definition_new(&site->definition));
    TRY(definition_parse(&site->definition, "the campaign's definition", row.definition,
                         strlen(row.definition)));
    const char *missing = definition_missing_variable(&site->definition, true);
    if (missing != NULL)
        return error_new("%s is not in the environment of the job", missing);
    TRY(definition_learn_secrets(&site->definition));
    TRY(definition_restore_secrets(&site->definition));
    words_clear(&site->definition.oracle.ignored);
    for (size_t i = 0; i < site->setup.ignored.count; i++)
        TRY(words_add(&site->definition.oracle.ignored, site->setup.ignored.items[i],
                      strlen(site->setup.ignored.items[i])));
    site->injector = injector_find(site->definition.injector);
    if (site->injector == NULL)
        return error_new("there is no injector '%s'", site->definition.injector);
    TRY(shooting_new(&site->definition, site->injector, &site->shooting));
    const struct injector_learning *learning = site->injector->learning;
    if (learning != NULL && learning->load != NULL)
        TRY(learning->load(shooting_injector(site->shooting), store, row.id));
    return reference_load(&site->definition.oracle, inputs_count(&site->definition.inputs), store,
                          row.id, &site->reference);
}

static struct error *copy_database(const struct spool *spool, char *directory, char **ret_path)
{
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    TRY(spool_read(spool, DATABASE, &bytes));
    if (mkdtemp(directory) == NULL)
        return error_from_errno(errno, "cannot make a directory in /tmp");
    if (asprintf(ret_path, "%s/%s", directory, DATABASE) < 0)
        return *ret_path = NULL, error_no_memory();
    return file_replace(*ret_path, &bytes);
}

static struct error *load_store(struct site *site, const char *path)
{
    _cleanup_(store_closep) struct store *store = NULL;
    TRY(store_open(path, STORE_WRITE, &store));
    return read_store(site, store);
}

struct error *site_load(const struct spool *spool, struct site *site)
{
    char directory[] = "/tmp/ordeal-site-XXXXXX";
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    _cleanup_free_ char *path = NULL;
    TRY(spool_read(spool, "setup", &bytes));
    TRY(setup_get(&bytes, &site->setup));
    struct error *error = copy_database(spool, directory, &path);
    if (error == NULL)
        error = load_store(site, path);
    if (path == NULL) // there is no directory
        return error;
    struct error *second = remove_tree(directory);
    if (error == NULL)
        return second;
    error_free(second);
    return error;
}

void site_deinit(struct site *site)
{
    reference_free(site->reference);
    shooting_free(site->shooting);
    definition_deinit(&site->definition);
    setup_deinit(&site->setup);
}

// Says how a run without faults differs, or "same".
static struct error *compare_run(const struct site *site, struct outcome_run *run, char **ret_how)
{
    _cleanup_(difference_deinit) struct difference difference = {0};
    _cleanup_(deviations_deinit) struct deviations deviations = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(shooting_decode(site->shooting, run, site->reference));
    TRY(reference_compare(site->reference, run, &difference));
    if (oracle_has_behaviour(&site->definition.oracle))
        TRY(reference_find_deviations(site->reference, run, &deviations));
    const char *how = difference.sentence;
    if (how != NULL && *how == '\0')
        how = NULL;
    const struct deviation *deviation = deviations_first(&deviations);
    if (how == NULL && deviation != NULL)
        how = deviation->sentence != NULL ? deviation->sentence : "it behaves differently";
    if (run->trouble != NULL)
        how = run->trouble;
    bool ended = run->workload.end == SANDBOX_EXIT;
    if (how == NULL && (run->setup_failed || outcome_failed(&run->pretest)))
        how = "setup or pretest fails";
    if (how == NULL && !ended) {
        TRY(outcome_put_end(&text, &run->workload));
        how = text.data;
    }
    *ret_how = strdup(how != NULL ? how : "same");
    return *ret_how == NULL ? error_no_memory() : secrets_mask(ret_how);
}

static struct error *run_reference(const struct site *site, char **ret_how)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    if (inputs_count(&site->definition.inputs) != 0)
        TRY(shooting_set_input(site->shooting, 0));
    TRY(shooting_run(site->shooting, NULL, site->definition.seed,
                     reference_timeout_ns(site->reference), &run));
    return compare_run(site, &run, ret_how);
}

struct error *site_check(const struct site *site, struct node_facts *facts)
{
    _cleanup_free_ char *how = NULL;
    TRY(node_facts_add(facts, FACT_SANDBOX, "",
                       sandbox_kind_word(sandbox_kind(shooting_sandbox(site->shooting)))));
    TRY(node_facts_collect(facts, &site->definition));
    for (int i = 0; i < REFERENCES && (how == NULL || strcmp(how, "same") != 0); i++) {
        free(TAKE(how));
        TRY(run_reference(site, &how));
    }
    return node_facts_add(facts, FACT_REFERENCES, "", how);
}
