// SPDX-License-Identifier: GPL-3.0-or-later
// A reference and runs to be judged by it. setup() and teardown() are for the group of tests.
#ifndef ORDEAL_TESTS_JUDGE_HELP_H
#define ORDEAL_TESTS_JUDGE_HELP_H

#include "run-help.h"

#include <signal.h>

static struct oracle oracle = {.references = 2, .compare_stdout = true, .compare_files = true};
static struct reference *reference;

static inline int setup(void **state)
{
    if (victim_setup(state) != 0)
        return -1;
    good(reference_new(&oracle, &reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "done\n", "hello\n");
        run_file(&run, "/w/out", "content\n");
        refer(reference, run);
    }
    good(reference_settle(reference));
    return 0;
}

static inline int teardown(void **state)
{
    reference_free(reference);
    return victim_teardown(state);
}

// Another reference for a while; both are taken. The one before is returned.
static inline struct reference *instead(struct outcome_run first, struct outcome_run second)
{
    struct reference *before = reference;
    good(reference_new(&oracle, &reference));
    refer(reference, first);
    refer(reference, second);
    good(reference_settle(reference));
    return before;
}

static inline void back_to(struct reference *before)
{
    reference_free(reference);
    reference = before;
}

// As the reference, so far.
static inline struct outcome_run usual(int status, const char *out, const char *err)
{
    struct outcome_run run = run_new(status, out, err);
    run_file(&run, "/w/out", "content\n");
    return run;
}

// Takes the run.
static inline void judged(struct outcome_run run, enum verdict verdict, const char *reason,
                          const char *cause)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.reason, reason);
    assert_string_equal(verdict_facts[judgement.verdict].name, verdict_facts[verdict].name);
    assert_string_equal(judgement.cause, cause);
    for (const char *at = judgement.reason; *at != '\0'; at++)
        assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

static inline struct outcome_run crashed(const char *key, const char *stack)
{
    struct outcome_run run = usual(0, "", "");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = SIGSEGV;
    run.observation.crash_signal = SIGSEGV;
    run.observation.crash = strdup("SIGSEGV at 0x0 in x");
    run.observation.crash_key = strdup(key);
    run.observation.crash_stack = stack != NULL ? strdup(stack) : NULL;
    run.observation.crash_in_command = true;
    return run;
}

static inline void cause_is(struct outcome_run run, const char *cause)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.cause, cause);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

static inline void verdict_is(struct outcome_run run, enum verdict verdict)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_int_equal(judgement.verdict, verdict);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

// Gives the injection a stack, in a function of this module.
static inline struct outcome_run from(struct outcome_run run, const char *module, const char *stack)
{
    struct injection *injection = &run.observation.injections.items[0];
    free(injection->module);
    injection->module = strdup(module);
    injection->stack = strdup(stack);
    return run;
}

static inline struct outcome_run writes(const char *function, const char *out, const char *stack)
{
    struct outcome_run run = from(usual(0, out, ""), "/bin/x", stack);
    struct injection *injection = &run.observation.injections.items[0];
    free(injection->function);
    injection->function = strdup(function);
    free(injection->program);
    injection->program = strdup("x");
    return run;
}

#endif
