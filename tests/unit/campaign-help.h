// SPDX-License-Identifier: GPL-3.0-or-later
// Stores with made-up campaigns, for tests of reports.
#ifndef CAMPAIGN_HELP_H
#define CAMPAIGN_HELP_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must_work(struct error *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "%s\n", error_message(error));
    abort();
}

// Text as a target may write it to do harm, wherever it is shown.
#define NASTY_BEGINNING                                                                            \
    "\33[31mred\33[0m \33]0;title\7 <script>alert(1)</script> \"'>&amp;]]> \xff\xfe\x80 "          \
    "\xe2\x80\xae"                                                                                 \
    "evil \xef\xbf\xbe \r"
#define NASTY_END "\t =1+1"
#define NASTY     NASTY_BEGINNING "\n" NASTY_END

// A word that fits into no line.
#define LONG_50   "abcdefghijklmnopqrstuvwxyz-0123456789-ABCDEFGHIJKL"
#define LONG_WORD LONG_50 LONG_50 LONG_50 LONG_50

struct maker {
    struct store *store;
    int64_t campaign;
    uint64_t candidates, trials;
    enum store_selection selection;
    const char *per;
    bool weighted, filtered;
    double weight; // of candidates; 0: 1
};

static inline void maker_start(struct maker *maker, const char *path, const char *name,
                               uint64_t candidates, uint64_t planned)
{
    if (maker->store == NULL)
        must_work(store_open(path, STORE_WRITE, &maker->store));
    must_work(store_begin(maker->store));
    const char *directory = getenv("CAMPAIGN_DIRECTORY");
    struct store_campaign campaign = {
        .name = name,
        .injector = "library",
        .definition = "campaign: made-up\ncommand: [cp, in, out]\n"
                      "environment: [\"TOKEN=s3cr3t\"]\nselection:\n  kind: all\n",
        .command = "cp in out",
        .directory = directory != NULL ? directory : "/nowhere",
        .version = "0.1.0",
        .machine = "Linux 6.1, 2 processors",
        .seed = 18446744073709551615ull,
        .created_s = 1700000000,
        .elapsed_s = 12.5,
        .candidates = candidates,
        .planned = planned,
        .state = STORE_FINISHED,
        .selection = maker->selection,
        .per = maker->per,
        .weighted = maker->weighted,
        .filtered = maker->filtered,
    };
    must_work(store_add_campaign(maker->store, &campaign));
    maker->campaign = campaign.id;
    maker->candidates = maker->trials = 0;
}

static inline void maker_end(struct maker *maker)
{
    must_work(store_commit(maker->store));
}

static inline void maker_remark(struct maker *maker, const struct store_remark *remark)
{
    struct store_remark row = *remark;
    row.campaign = maker->campaign;
    must_work(store_add_remark(maker->store, &row));
}

static inline void maker_reference(struct maker *maker, uint32_t number, int status, uint64_t hash)
{
    struct store_reference reference = {.campaign = maker->campaign,
                                        .number = number,
                                        .outcome = STORE_OUTCOME_EXIT,
                                        .status = status,
                                        .seconds = 0.010 + 0.001 * number};
    must_work(store_add_reference(maker->store, &reference));
    const struct store_artifact artifacts[] = {
        {.path = "<stdout>",
         .kind = ARTIFACT_STREAM,
         .mode = ARTIFACT_NO_MODE,
         .size = 10,
         .hash = 7},
        {.path = "/nowhere/out", .kind = ARTIFACT_FILE, .mode = 0644, .size = 10, .hash = hash},
    };
    for (size_t i = 0; i < 2; i++)
        must_work(store_add_artifact(maker->store, reference.id, &artifacts[i]));
}

static inline int64_t maker_candidate(struct maker *maker, const char *type, const char *function,
                                      const char *file, unsigned line, bool selected)
{
    char spec[256];
    snprintf(spec, sizeof spec, "%.200s when count == %llu", type,
             (unsigned long long)maker->candidates + 1);
    struct store_candidate candidate = {
        .campaign = maker->campaign,
        .number = ++maker->candidates,
        .spec = spec,
        .type = type,
        .function = function,
        .module = "/usr/bin/cp",
        .file = file,
        .line = line,
        .component = line % 2 != 0 ? "copying" : NULL,
        .position = maker->candidates,
        .weight = maker->weight > 0 ? maker->weight : 1,
        .selected = selected,
    };
    must_work(store_add_candidate(maker->store, &candidate));
    return candidate.id;
}

// A trial with its injection; one that failed joins the finding of its cause (NULL: none).
struct made_trial {
    int64_t candidate;
    enum verdict verdict;
    const char *type, *reason, *cause, *title, *site, *file, *stack, *output, *command;
    unsigned line;
    const char *called_from; // stack of the injection; NULL: a usual one
};

static inline void maker_finding(struct maker *maker, const struct made_trial *made, int64_t trial)
{
    struct store_finding finding = {
        .campaign = maker->campaign,
        .verdict = made->verdict,
        .cause = made->cause,
        .title = made->title,
        .site = made->site != NULL ? made->site : "",
        .file = made->file,
        .line = made->line,
        .stack = made->stack,
        .trial = trial,
        .command = made->command,
        .severity = severity_of(made->verdict, HARM_NONE),
    };
    must_work(store_add_finding(maker->store, &finding));
    must_work(store_set_trial_finding(maker->store, trial, finding.id));
}

static inline int64_t maker_trial(struct maker *maker, const struct made_trial *made)
{
    bool idle = !verdict_facts[made->verdict].counts;
    struct store_trial trial = {
        .campaign = maker->campaign,
        .candidate = made->candidate,
        .number = ++maker->trials,
        .seed = 1000 + maker->trials,
        .spec = made->type,
        .verdict = made->verdict,
        .reason = made->reason != NULL ? made->reason : "",
        .outcome = made->verdict == VERDICT_CRASH  ? STORE_OUTCOME_SIGNAL
                   : made->verdict == VERDICT_HANG ? STORE_OUTCOME_TIMEOUT
                                                   : STORE_OUTCOME_EXIT,
        .status = made->verdict == VERDICT_CRASH      ? 11
                  : made->verdict == VERDICT_GRACEFUL ? 1
                                                      : 0,
        .seconds = 0.01 + 0.0001 * (double)(maker->trials % 50),
        .started_s = 0.02 * (double)maker->trials,
        .activations = idle ? 0 : 1,
        .crash = made->verdict == VERDICT_CRASH ? "SIGSEGV at 0x0" : NULL,
        .stack = made->stack,
        .output = made->output,
    };
    must_work(store_add_trial(maker->store, &trial));
    if (!idle) {
        struct store_injection injection = {
            .trial = trial.id,
            .fault = made->type,
            .function = "read",
            .module = "/usr/bin/cp",
            .file = made->file,
            .line = made->line,
            .offset = 0x1234,
            .symbol = "copy_block",
            .occurrence = maker->trials,
            .process = 1,
            .thread = 1,
            .program = maker->trials % 3 == 0 ? "sh" : "cp",
            .seconds = 0.004,
            .stack = made->called_from != NULL
                         ? made->called_from
                         : "copy_block at src/copy.c:42 (cp)\nmain at src/cp.c:10 (cp)",
        };
        must_work(store_add_injection(maker->store, &injection));
    }
    if (made->cause != NULL)
        maker_finding(maker, made, trial.id);
    return trial.id;
}

// A campaign that shows every verdict: 200 trials, of which `crashes` crashed.
static inline void make_plain(struct maker *maker, const char *path, const char *name,
                              unsigned crashes)
{
    static const char *const types[] = {"read=-1/EIO", "write=-1/ENOSPC", "malloc=0/ENOMEM"};
    static const char *const functions[] = {"read", "write", "malloc"};
    maker_start(maker, path, name, 300, 200);
    for (uint32_t i = 1; i <= 5; i++)
        maker_reference(maker, i, 0, i == 5 ? 8 : 9);
    for (unsigned i = 0; i < 300; i++) {
        unsigned kind = i % 3;
        int64_t candidate =
            maker_candidate(maker, types[kind], functions[kind], "src/copy.c", 40 + kind, i < 200);
        if (i >= 200)
            continue;
        struct made_trial trial = {.candidate = candidate, .type = types[kind]};
        unsigned row = i / 3;
        if (kind == 0 && row < crashes) {
            trial.verdict = VERDICT_CRASH;
            trial.reason = "died of SIGSEGV; the reference exits with 0";
            trial.cause = "crash|copy_block (cp)|main (cp)";
            trial.title = "SIGSEGV in copy_block at src/copy.c:42 after read=-1/EIO";
            trial.site = "src/copy.c:42 in copy_block";
            trial.file = "src/copy.c";
            trial.line = 42;
            trial.stack = "copy_block at src/copy.c:42 (cp)\nmain at src/cp.c:10 (cp)\n"
                          "__libc_start_main (libc.so.6)";
            trial.output = "cp: error reading 'in': Input/output error\n";
            trial.command = "ordeal run --inject 'read=-1/EIO when count == 1' -- cp in out";
        } else if (kind == 1 && row < 2) {
            trial.verdict = VERDICT_HANG;
            trial.reason = "still running after 1.0 s";
            trial.cause = "hang|wait_for_space (cp)";
            trial.title = "hang in wait_for_space after write=-1/ENOSPC";
            trial.site = "src/copy.c:41 in flush";
            trial.command = "ordeal run --inject 'write=-1/ENOSPC when count == 1' -- cp in out";
        } else if (kind == 1 && row < 5) {
            trial.verdict = VERDICT_SILENT;
            trial.reason = "/nowhere/out differs and nothing was reported";
            trial.cause = "silent|/nowhere/out";
            trial.title = "out is cut short, and nothing was said";
            trial.site = "src/copy.c:41 in flush";
            trial.command =
                "ordeal run --inject 'write=-1/ENOSPC when count == 4 and path(\"/nowhere/a quite "
                "long/name of a file\")' --seed 4711 -- cp in out";
        } else if (row < 3) {
            trial.verdict = kind == 2 ? VERDICT_WRONG_OUTPUT : VERDICT_GRACEFUL;
            trial.reason = "said something";
        } else if (row % 10 == 9) {
            trial.verdict = VERDICT_NOT_ACTIVATED;
            trial.reason = "the fault was not hit";
        } else if (row == 40 && kind == 0) {
            trial.verdict = VERDICT_INVALID;
            trial.reason = "the pretest failed";
        } else {
            trial.verdict = row % 3 == 0 ? VERDICT_PASS : VERDICT_GRACEFUL;
            trial.reason =
                row % 3 == 0 ? "as the reference" : "exit status 1, the reference's is 0";
        }
        if (trial.verdict == VERDICT_WRONG_OUTPUT) {
            trial.cause = "wrong-output|<stdout>";
            trial.title = "standard output differs";
            trial.command = "ordeal replay 9";
        }
        maker_trial(maker, &trial);
    }
    maker_end(maker);
}

// A campaign whose every text wants to do harm.
static inline void make_nasty(struct maker *maker, const char *path)
{
    maker_start(maker, path, NASTY, 4, 4);
    struct store_campaign campaign = {.id = maker->campaign,
                                      .state = STORE_INTERRUPTED,
                                      .elapsed_s = 1e300,
                                      .candidates = 4,
                                      .planned = 9};
    static const struct store_remark remarks[] = {
        {.text = "first " NASTY_BEGINNING},
        {.text = NASTY_END},
        {.text = "second warning"},
        {.kind = REMARK_UNTESTED, .about = "wirte=-1/EIO", .text = "did you mean <\"write\">?"},
    };
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        maker_remark(maker, &remarks[i]);
    must_work(store_update_campaign(maker->store, &campaign));
    maker_reference(maker, 1, 3, 9);
    for (unsigned i = 0; i < 4; i++) {
        int64_t candidate =
            maker_candidate(maker, i == 3 ? "=cmd|' /C calc'!A0" : NASTY, NASTY, NASTY, 1, true);
        struct made_trial trial = {
            .candidate = candidate,
            .verdict = i < 2 ? VERDICT_CRASH : VERDICT_SILENT,
            .type = i == 3   ? "@SUM(1)"
                    : i == 2 ? LONG_WORD
                             : NASTY,
            .reason = i == 3 ? "-2+3" : NASTY,
            .cause = i == 0 ? NASTY : "other " NASTY,
            .title = i == 0 ? NASTY : "\xe6\xbc\xa2\xe5\xad\x97" NASTY NASTY,
            .site = i == 0 ? LONG_WORD : NASTY,
            .file = i == 0 ? NASTY : "../../a b/%41:<x>.c",
            .line = 4000000000u,
            .stack = NASTY "\n" NASTY,
            .output = NASTY,
            .command = i == 0 ? NASTY : "ordeal run --inject 'unfinished " NASTY,
        };
        maker_trial(maker, &trial);
    }
    maker_end(maker);
}

// Very many trials, each candidate at one of many sites.
static inline void make_large(struct maker *maker, const char *path, unsigned count)
{
    maker_start(maker, path, "large", count, count);
    for (uint32_t i = 1; i <= 5; i++)
        maker_reference(maker, i, 0, 9);
    for (unsigned i = 0; i < count; i++) {
        char type[32], file[64], cause[64], title[128];
        snprintf(type, sizeof type, "function%u=-1/EIO", i % 37);
        snprintf(file, sizeof file, "src/part-%u.c", i % 211);
        int64_t candidate = maker_candidate(maker, type, "read", file, i % 997 + 1, true);
        struct made_trial trial = {.candidate = candidate,
                                   .type = type,
                                   .file = file,
                                   .line = i % 997 + 1,
                                   .reason = "exit status 1, the reference's is 0",
                                   .verdict = i % 2 ? VERDICT_PASS : VERDICT_GRACEFUL};
        if (i % 20 == 0) {
            snprintf(cause, sizeof cause, "crash|%u", i % 300);
            snprintf(title, sizeof title, "SIGSEGV in function%u", i % 300);
            trial.verdict = VERDICT_CRASH;
            trial.cause = cause;
            trial.title = title;
            trial.command = "ordeal replay 1";
            trial.stack = "one at a.c:1 (large)\ntwo at b.c:2 (large)";
        } else if (i % 20 == 1) {
            trial.verdict = VERDICT_NOT_ACTIVATED;
        }
        maker_trial(maker, &trial);
    }
    maker_end(maker);
}

// Nothing was activated.
static inline void make_idle(struct maker *maker, const char *path)
{
    maker_start(maker, path, "idle", 3, 3);
    for (unsigned i = 0; i < 3; i++) {
        struct made_trial trial = {.candidate =
                                       maker_candidate(maker, "read=-1/EIO", "read", NULL, 0, true),
                                   .type = "read=-1/EIO",
                                   .verdict = VERDICT_NOT_ACTIVATED,
                                   .reason = "the fault was not hit"};
        maker_trial(maker, &trial);
    }
    maker_end(maker);
}

// What end-to-end tests call: KIND FILE [NUMBER].
static inline int make_store(const char *kind, const char *path, const char *number)
{
    struct maker maker = {0};
    unsigned count = number != NULL ? (unsigned)atoi(number) : 12;
    if (strcmp(kind, "plain") == 0)
        make_plain(&maker, path, "made up", count);
    else if (strcmp(kind, "nasty") == 0)
        make_nasty(&maker, path);
    else if (strcmp(kind, "large") == 0)
        make_large(&maker, path, count);
    else if (strcmp(kind, "idle") == 0)
        make_idle(&maker, path);
    else
        return 2;
    store_close(maker.store);
    return 0;
}

#endif
