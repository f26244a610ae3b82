// SPDX-License-Identifier: GPL-3.0-or-later
// A directory with a file of campaigns in it, and rows to put there.
#ifndef ORDEAL_TESTS_STORE_HELP_H
#define ORDEAL_TESTS_STORE_HELP_H

#include "base/cleanup.h"
#include "store/internal.h"
#include "store/schema.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char help_directory[64], help_path[128];

__attribute__((unused)) static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

// The error must say `part`.
__attribute__((unused)) static void must_fail(struct error *error, const char *part)
{
    if (error == NULL)
        fail_msg("no error, but wanted: %s", part);
    if (strstr(error_message(error), part) == NULL)
        fail_msg("wanted '%s', got: %s", part, error_message(error));
    error_free(error);
}

__attribute__((unused)) static int help_setup(void **state)
{
    snprintf(help_directory, sizeof help_directory, "/tmp/ordeal-store-XXXXXX");
    if (mkdtemp(help_directory) == NULL)
        return -1;
    snprintf(help_path, sizeof help_path, "%s/c.db", help_directory);
    return 0;
}

__attribute__((unused)) static int help_teardown(void **state)
{
    static const char *const names[] = {"c.db", "c.db-wal", "c.db-shm", "c.db-lock", "link",
                                        "d.db", "d.db-wal", "d.db-shm", "d.db-lock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/%s", help_directory, names[i]);
        unlink(name);
    }
    return rmdir(help_directory);
}

__attribute__((unused)) static struct store *open_store(enum store_mode mode)
{
    struct store *store = NULL;
    must(store_open(help_path, mode, &store));
    return store;
}

static inline struct store_campaign some_campaign(void)
{
    return (struct store_campaign){.name = "copy",
                                   .injector = "library",
                                   .definition = "workload: cp in out\n",
                                   .command = "cp in out",
                                   .directory = "/home",
                                   .version = "0.1.0",
                                   .machine = "Linux 6.1",
                                   .seed = 0xfedcba9876543210,
                                   .created_s = 1700000000,
                                   .state = STORE_RUNNING};
}

static inline struct store_candidate some_candidate(int64_t campaign, uint64_t number)
{
    return (struct store_candidate){.campaign = campaign,
                                    .number = number,
                                    .spec = "read=-1/EIO when count == 3",
                                    .type = "read=-1/EIO",
                                    .function = "read",
                                    .weight = 1,
                                    .selected = true};
}

static inline struct store_trial some_trial(int64_t campaign, int64_t candidate, uint64_t number)
{
    return (struct store_trial){.campaign = campaign,
                                .candidate = candidate,
                                .number = number,
                                .seed = 0x8000000000000001,
                                .spec = "read=-1/EIO when count == 3",
                                .verdict = VERDICT_GRACEFUL,
                                .reason = "exit status 1, the reference has 0",
                                .outcome = STORE_OUTCOME_EXIT,
                                .status = 1,
                                .seconds = 0.25,
                                .activations = 1};
}

static inline struct store_injection some_injection(int64_t trial)
{
    return (struct store_injection){.trial = trial,
                                    .fault = "read=-1/EIO",
                                    .function = "read",
                                    .module = "/usr/bin/cp",
                                    .file = "src/copy.c",
                                    .line = 12,
                                    .symbol = "copy",
                                    .offset = 0x1234,
                                    .occurrence = 3,
                                    .process = 1,
                                    .thread = 1,
                                    .program = "cp",
                                    .stack = "copy\nmain"};
}

static inline struct store_finding some_finding(int64_t campaign, const char *cause)
{
    return (struct store_finding){.campaign = campaign,
                                  .verdict = VERDICT_CRASH,
                                  .cause = cause,
                                  .title = "SIGSEGV in copy",
                                  .site = "read in copy",
                                  .stack = "copy\nmain",
                                  .command = "ordeal replay 1"};
}

// A campaign with this many trials, one candidate each; returns its id.
__attribute__((unused)) static int64_t fill(struct store *store, unsigned trials)
{
    struct store_campaign campaign = some_campaign();
    must(store_begin(store));
    must(store_add_campaign(store, &campaign));
    for (unsigned i = 0; i < trials; i++) {
        struct store_candidate candidate = some_candidate(campaign.id, i + 1);
        must(store_add_candidate(store, &candidate));
        struct store_trial trial = some_trial(campaign.id, candidate.id, i + 1);
        trial.verdict = (enum verdict)(i % VERDICTS);
        must(store_add_trial(store, &trial));
        struct store_injection injection = some_injection(trial.id);
        must(store_add_injection(store, &injection));
    }
    must(store_commit(store));
    return campaign.id;
}

__attribute__((unused)) static int64_t query_number(struct store *store, const char *sql)
{
    int64_t value;
    must(store_pragma(store, sql, &value));
    return value;
}

#endif
