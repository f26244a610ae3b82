// SPDX-License-Identifier: GPL-3.0-or-later
// Adds, changes and reads rows: what campaigns write into a store and reports read from it.
#include "base/cleanup.h"
#include "store/internal.h"

#include <string.h>

// Runs a statement that changes one row. An error if no row has this id.
static struct error *finish_change(struct scan *scan, const char *table, int64_t id)
{
    bool got;
    TRY(scan_step(scan, &got));
    if (sqlite3_changes(scan->store->database) == 0)
        return error_new("%s: there is no %s %ld", scan->store->path, table, id);
    return NULL;
}

struct error *store_add_campaign(struct store *store, struct store_campaign *row)
{
    return row_add(store, ADD_CAMPAIGN, &table_campaign, row);
}

static const struct column update_columns[] = {
    {"id", KIND_INTEGER, offsetof(struct store_campaign, id), NULL},
    {"state", KIND_ENUM, offsetof(struct store_campaign, state), &state_names},
    {"elapsed_s", KIND_REAL, offsetof(struct store_campaign, elapsed_s), NULL},
    {"candidates", KIND_COUNT, offsetof(struct store_campaign, candidates), NULL},
    {"planned", KIND_OPTIONAL_COUNT, offsetof(struct store_campaign, planned), NULL},
    {"stopped_by", KIND_ENUM, offsetof(struct store_campaign, stopped_by), &stop_names},
};
static const struct table update_table = {"campaign", update_columns,
                                          sizeof update_columns / sizeof *update_columns};

static struct error *change_row(struct store *store, enum query query, const struct table *table,
                                const void *row, int64_t id)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, query, &scan));
    TRY(row_bind(&scan, table, row));
    return finish_change(&scan, table->name, id);
}

struct error *store_update_campaign(struct store *store, const struct store_campaign *row)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own,
                           change_row(store, UPDATE_CAMPAIGN, &update_table, row, row->id));
}

static struct error *set_definition(struct store *store, int64_t id, const char *definition)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, SET_DEFINITION, &scan));
    TRY(scan_bind_integer(&scan, 1, id));
    TRY(scan_bind_text(&scan, 2, definition));
    return finish_change(&scan, "campaign", id);
}

struct error *store_set_definition(struct store *store, int64_t id, const char *definition)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, set_definition(store, id, definition));
}

static struct error *remove_row(struct store *store, enum query query, int64_t id)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, query, &scan));
    TRY(scan_bind_integer(&scan, 1, id));
    return finish_change(&scan, "campaign", id);
}

struct error *store_remove_campaign(struct store *store, int64_t id)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, remove_row(store, REMOVE_CAMPAIGN, id));
}

struct error *store_find_campaign(struct store *store, int64_t id,
                                  struct store_campaign *ret_campaign)
{
    _cleanup_(scan_end) struct scan scan = {0};
    struct store_campaign campaign;
    bool got;
    TRY(scan_start(store, id == 0 ? NEWEST_CAMPAIGN : FIND_CAMPAIGN, &scan));
    if (id != 0)
        TRY(scan_bind_integer(&scan, 1, id));
    TRY(scan_step(&scan, &got));
    if (!got && id == 0)
        return error_new("%s: no campaign was stored in it", store->path);
    if (!got)
        return error_new("%s: there is no campaign %ld", store->path, id);
    TRY(row_read(&scan, &table_campaign, &campaign));
    TRY(row_copy_texts(&table_campaign, &campaign));
    *ret_campaign = campaign;
    return NULL;
}

void store_campaign_deinit(struct store_campaign *campaign)
{
    row_free_texts(&table_campaign, campaign);
}

struct error *store_each_campaign(struct store *store,
                                  struct error *(*row)(void *, const struct store_campaign *),
                                  void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_CAMPAIGN, &scan));
    EACH_ROW(scan, table_campaign, store_campaign)
}

struct error *store_add_variable(struct store *store, struct store_variable *row)
{
    return row_add(store, ADD_VARIABLE, &table_variable, row);
}

struct error *store_each_variable(struct store *store, int64_t campaign,
                                  struct error *(*row)(void *, const struct store_variable *),
                                  void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_VARIABLE, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_variable, store_variable)
}

struct error *store_add_remark(struct store *store, struct store_remark *row)
{
    return row_add(store, ADD_REMARK, &table_remark, row);
}

struct error *store_each_remark(struct store *store, int64_t campaign,
                                struct error *(*row)(void *, const struct store_remark *),
                                void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_REMARK, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_remark, store_remark)
}

struct error *store_add_reference(struct store *store, struct store_reference *row)
{
    return row_add(store, ADD_REFERENCE, &table_reference, row);
}

struct error *store_add_artifact(struct store *store, int64_t reference,
                                 const struct store_artifact *row)
{
    struct store_artifact_row artifact = {reference, *row};
    return row_add(store, ADD_ARTIFACT, &table_artifact, &artifact);
}

struct error *store_each_reference(struct store *store, int64_t campaign,
                                   struct error *(*row)(void *, const struct store_reference *),
                                   void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_REFERENCE, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_reference, store_reference)
}

struct error *store_each_artifact(struct store *store, int64_t reference,
                                  struct error *(*row)(void *, const struct store_artifact *),
                                  void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_ARTIFACT, &scan));
    TRY(scan_bind_integer(&scan, 1, reference));
    for (;;) {
        struct store_artifact_row one;
        bool got;
        TRY(scan_step(&scan, &got));
        if (!got)
            return NULL;
        TRY(row_read(&scan, &table_artifact, &one));
        TRY(row(data, &one.artifact));
    }
}

struct error *store_add_candidate(struct store *store, struct store_candidate *row)
{
    return row_add(store, ADD_CANDIDATE, &table_candidate, row);
}

// Sets one column of one row.
static struct error *set(struct store *store, enum query query, const char *table, int64_t id,
                         int64_t value)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, query, &scan));
    TRY(scan_bind_integer(&scan, 1, id));
    TRY(scan_bind_integer(&scan, 2, value));
    return finish_change(&scan, table, id);
}

struct error *store_each_candidate(struct store *store, int64_t campaign, uint64_t after,
                                   uint64_t limit,
                                   struct error *(*row)(void *, const struct store_candidate *),
                                   void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_CANDIDATE, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    TRY(scan_bind_integer(&scan, 2, after > INT64_MAX ? INT64_MAX : (int64_t)after));
    TRY(scan_bind_integer(&scan, 3, limit == 0 || limit > INT64_MAX ? -1 : (int64_t)limit));
    EACH_ROW(scan, table_candidate, store_candidate)
}

struct error *store_add_trial(struct store *store, struct store_trial *row)
{
    return row_add(store, ADD_TRIAL, &table_trial, row);
}

struct error *store_add_injection(struct store *store, struct store_injection *row)
{
    return row_add(store, ADD_INJECTION, &table_injection, row);
}

struct error *store_set_trial_finding(struct store *store, int64_t trial, int64_t finding)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, set(store, SET_TRIAL_FINDING, "trial", trial, finding));
}

static struct error *sum_up(void *data, const struct store_count *row)
{
    *(struct store_count *)data = *row;
    return NULL;
}

static struct error *invalidate(struct store *store, int64_t campaign, uint64_t number,
                                const char *reason)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, INVALIDATE_ALIKE_TRIALS, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    TRY(scan_bind_integer(&scan, 2, (int64_t)number));
    TRY(scan_bind_text(&scan, 3, reason));
    return scan_step(&scan, &got);
}

struct error *store_invalidate_trials(struct store *store, int64_t campaign, uint64_t number,
                                      const char *reason, struct store_count *ret_before)
{
    bool own;
    struct store_count before = {0};
    TRY(store_count_alike(store, campaign, number, sum_up, &before));
    TRY(store_write_start(store, &own));
    TRY(store_write_end(store, own, invalidate(store, campaign, number, reason)));
    *ret_before = before;
    return NULL;
}

struct error *store_each_trial(struct store *store, int64_t campaign, bool confirmations,
                               struct error *(*row)(void *, const struct store_trial *), void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, confirmations ? EACH_TRIAL_AND_CONFIRMATION : EACH_TRIAL, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_trial, store_trial)
}

// Reads one row by its id. The row gets its own copies of the texts.
static struct error *find(struct store *store, enum query query, const struct table *table,
                          int64_t id, void *row)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, query, &scan));
    TRY(scan_bind_integer(&scan, 1, id));
    TRY(scan_step(&scan, &got));
    if (!got)
        return error_new("%s: there is no %s %ld", store->path, table->name, id);
    TRY(row_read(&scan, table, row));
    return row_copy_texts(table, row);
}

struct error *store_find_trial(struct store *store, int64_t id, struct store_trial *ret_trial,
                               struct store_candidate *ret_candidate)
{
    struct store_trial trial;
    struct store_candidate candidate;
    TRY(find(store, FIND_TRIAL, &table_trial, id, &trial));
    struct error *error =
        find(store, FIND_CANDIDATE, &table_candidate, trial.candidate, &candidate);
    if (error != NULL) {
        store_trial_deinit(&trial);
        return error;
    }
    *ret_trial = trial;
    *ret_candidate = candidate;
    return NULL;
}

void store_trial_deinit(struct store_trial *trial)
{
    row_free_texts(&table_trial, trial);
}

void store_candidate_deinit(struct store_candidate *candidate)
{
    row_free_texts(&table_candidate, candidate);
}

struct error *store_each_injection(struct store *store, int64_t trial,
                                   struct error *(*row)(void *, const struct store_injection *),
                                   void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_INJECTION, &scan));
    TRY(scan_bind_integer(&scan, 1, trial));
    EACH_ROW(scan, table_injection, store_injection)
}

struct error *store_each_program_and_stack(struct store *store, int64_t campaign,
                                           struct error *(*row)(void *, const char *program,
                                                                const char *stack),
                                           void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, EACH_PROGRAM_AND_STACK, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    for (;;) {
        TRY(scan_step(&scan, &got));
        if (!got)
            return NULL;
        const char *program = (const char *)sqlite3_column_text(scan.statement, 0);
        const char *stack = (const char *)sqlite3_column_text(scan.statement, 1);
        if (program == NULL || stack == NULL)
            return error_no_memory();
        TRY(row(data, program, stack));
    }
}

static struct error *find_finding(struct store *store, struct store_finding *row)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, FIND_FINDING, &scan));
    TRY(scan_bind_integer(&scan, 1, row->campaign));
    TRY(scan_bind_text(&scan, 2, row->cause));
    TRY(scan_step(&scan, &got));
    if (!got)
        return error_new("%s: a finding went lost while it was stored", store->path);
    row->id = sqlite3_column_int64(scan.statement, 0);
    row->trials = (uint64_t)sqlite3_column_int64(scan.statement, 1);
    row->trial = sqlite3_column_int64(scan.statement, 2);
    return NULL;
}

static struct error *add_finding(struct store *store, struct store_finding *row)
{
    struct store_finding first = *row;
    first.id = 0;
    first.trials = row->trials != 0 ? row->trials : 1;
    TRY(row_add(store, ADD_FINDING, &table_finding, &first));
    return find_finding(store, row);
}

struct error *store_add_finding(struct store *store, struct store_finding *row)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, add_finding(store, row));
}

struct error *store_update_finding(struct store *store, const struct store_finding *row)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own,
                           change_row(store, UPDATE_FINDING, &table_finding, row, row->id));
}

struct error *store_prove_finding(struct store *store, const struct store_finding *row)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own,
                           change_row(store, PROVE_FINDING, &table_finding, row, row->id));
}

struct error *store_join_finding(struct store *store, const struct store_finding *row)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own,
                           change_row(store, JOIN_FINDING, &table_finding, row, row->id));
}

struct error *store_confirm_finding(struct store *store, int64_t id, enum store_confirmed confirmed)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, set(store, CONFIRM_FINDING, "finding", id, confirmed));
}

struct error *store_each_finding(struct store *store, int64_t campaign,
                                 struct error *(*row)(void *, const struct store_finding *),
                                 void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_FINDING, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_finding, store_finding)
}
