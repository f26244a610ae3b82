// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal run: runs one trial and reports on it.
#include "cli/registry.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "cli/run/dry-run.h"
#include "cli/run/state-fault.h"
#include "elf/object.h"
#include "report/run/facts.h"
#include "report/run/run.h"
#include "sandbox/sandbox.h"
#include "scenario/scenario.h"
#include "trial/impossible-results.h"
#include "trial/trial.h"

#include <string.h>
#include <unistd.h>

#define EXIT_TIMEOUT   124
#define EXIT_NOT_FIRED 3

struct settings {
    struct option_list rules; // --inject, --scenario and --plugin, in order
    bool json, dry_run, all, strict;
    struct option_number seed, journal_records;
    uint64_t timeout_ns;
    const char *journal, *report, *stacks, *coordinator, *node, *sandbox;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"inject", 'i', OPTION_LIST, "SPEC",
     "what to inject and when: FUNCTION=VALUE[/ERRNO] [when EXPRESSION], or strace's "
     "FUNCTION:error=ERRNO:when=N; may be given again, the first rule that fires wins; or "
     "register NAME flip BIT at PLACE, memory PLACE flip BIT at PLACE",
     FIELD(rules)},
    {"scenario", 's', OPTION_FILE_LIST, "FILE",
     "rules from a scenario file, YAML or LFI's XML; may be given again", FIELD(rules)},
    {"plugin", 0, OPTION_FILE_LIST, "FILE",
     "a shared object with a trigger of your own, for plugin(NAME)", FIELD(rules)},
    {"dry-run", 'n', OPTION_FLAG, NULL,
     "do not run the command; print what would be intercepted where", FIELD(dry_run)},
    {"seed", 0, OPTION_NUMBER, "N",
     "start of all random decisions, instead of the scenario's; the report "
     "shows the one used",
     FIELD(seed)},
    {"timeout", 't', OPTION_SECONDS, "SECONDS",
     "kill the command and all it started after this time (also 500ms, 2m); exit status 124",
     FIELD(timeout_ns)},
    {"sandbox", 0, OPTION_TEXT, "KIND",
     "auto, overlay, copy or none: what the command changes is thrown away, as in a campaign "
     "(none)",
     FIELD(sandbox)},
    {"output", 'o', OPTION_FILE, "JOURNAL", "keep the journal in this file, for 'ordeal show'",
     FIELD(journal)},
    {"journal-records", 0, OPTION_NUMBER, "N",
     "how many injections and notes the journal can hold "
     "(1024)",
     FIELD(journal_records)},
    {"stacks", 0, OPTION_FILE, "FILE",
     "call stacks that new_stack has seen in earlier runs; is updated", FIELD(stacks)},
    {"coordinator", 0, OPTION_TEXT, "ADDRESS",
     "HOST:PORT or socket path of the 'ordeal coordinate' that answers remote(NAME)",
     FIELD(coordinator)},
    {"node", 0, OPTION_TEXT, "NAME", "what the coordinator calls this run (HOST-PID)", FIELD(node)},
    {"report", 'r', OPTION_FILE, "FILE", "write the report to this file instead of stderr",
     FIELD(report)},
    {"strict", 0, OPTION_FLAG, NULL, "exit status 3 unless every rule has fired", FIELD(strict)},
    {"json", 0, OPTION_FLAG, NULL, "write the report as JSON", FIELD(json)},
    {"all", 'a', OPTION_FLAG, NULL, "list every injection and rule, however many there are",
     FIELD(all)},
};

static void free_scenario(struct scenario **scenario)
{
    scenario_free(*scenario);
}

static struct error *take_fault(struct run_fault *fault, const char *spec)
{
    if (fault->spec != NULL)
        return error_new("one fault in a register or in memory at a time; there are '%s' and '%s'",
                         fault->spec, spec);
    fault->spec = spec;
    return NULL;
}

static struct error *build_scenario(const struct settings *settings, struct run_fault *fault,
                                    struct scenario **ret_scenario)
{
    _cleanup_(free_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    size_t count = settings->rules.entries.count;
    const struct option_entry *entries = settings->rules.entries.items;
    // Rules name plug-ins, so plug-ins are loaded first, wherever they are on the command line.
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].option, "plugin") == 0)
            TRY(scenario_add_plugin(scenario, entries[i].value));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].option, "inject") == 0)
            TRY(state_fault_is(entries[i].value) ? take_fault(fault, entries[i].value)
                                                 : scenario_add_spec(scenario, entries[i].value));
        if (strcmp(entries[i].option, "scenario") == 0)
            TRY(scenario_add_file(scenario, entries[i].value));
    }
    *ret_scenario = TAKE(scenario);
    return NULL;
}

static struct error *choose_seed(const struct settings *settings, const struct scenario *scenario,
                                 uint64_t *ret_seed)
{
    if (settings->seed.given) {
        *ret_seed = settings->seed.value;
        return NULL;
    }
    if (scenario_seed(scenario, ret_seed))
        return NULL;
    return random_seed(ret_seed);
}

static struct error *choose_sandbox(const struct settings *settings, enum sandbox_kind *ret_kind)
{
    int index;
    if (settings->sandbox == NULL)
        return NULL;
    struct error *error =
        choice_parse(SANDBOX_KINDS, settings->sandbox, strlen(settings->sandbox), &index);
    if (error != NULL)
        return error_prefix(error, "--sandbox");
    *ret_kind = (enum sandbox_kind)index;
    return NULL;
}

static int exit_status(const struct outcome *outcome)
{
    switch (outcome->kind) {
    case WIRE_OUTCOME_EXIT:
        return outcome->status;
    case WIRE_OUTCOME_SIGNAL:
        return 128 + outcome->status;
    default:
        return EXIT_TIMEOUT;
    }
}

static struct error *report(const struct settings *settings, const struct trial *trial,
                            const struct run_fault *fault, struct output *output)
{
    _cleanup_(diagnosis_deinit) struct diagnosis diagnosis = {0};
    TRY(diagnosis_make(&trial->view, &diagnosis));
    TRY(impossible_results_warn(&trial->view, &diagnosis));
    for (size_t i = 0; i < trial->warnings.count; i++)
        TRY(diagnosis_warn(&diagnosis, "%s", trial->warnings.items[i]));
    const struct report_run run = {
        .view = &trial->view,
        .warnings = diagnosis.warnings.items,
        .warning_count = diagnosis.warnings.count,
        .reasons = diagnosis.whys,
        .sandbox = trial->sandbox != SANDBOX_NONE ? sandbox_kind_word(trial->sandbox) : NULL,
        .changes = trial->changes.items,
        .change_count = trial->changes.count,
        .changed = trial->change_count,
        .state = fault->spec != NULL ? &fault->report : NULL,
        .symbolize = true,
        .all = settings->all,
        .colour = settings->report == NULL && output_colour(STDERR_FILENO),
    };
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(settings->json ? report_run_json(&run, &text) : report_run_text(&run, &text));
    return output_put(output, &text);
}

// Rules without an action only watch. Those of a damaged region have not provably fired.
static struct error *all_fired(const struct trial *trial, bool *ret_fired)
{
    _cleanup_(facts_deinit) struct facts facts = {0};
    TRY(facts_init(&facts, &trial->view, false));
    *ret_fired = true;
    for (uint32_t i = 0; i < trial->view.rule_count; i++)
        *ret_fired &= facts.rule_states[i] == RULE_FIRED || facts.idle_members[i] ||
                      trial->view.rules[i].actions == 0;
    return NULL;
}

// In `--inject read=-1 when count == 1 -- cat` the quotes are missing, and the shell has split the
// rule into words.
static struct error *check_quotes(const struct settings *settings, char **operands)
{
    static const char *const words[] = {"when", "delay", "signal", "short", "errno", "="};
    size_t count = settings->rules.entries.count;
    if (count == 0)
        return NULL;
    const struct option_entry *last = &settings->rules.entries.items[count - 1];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(operands[0], words[i]) != 0 || strcmp(last->option, "inject") != 0)
            continue;
        _cleanup_(elf_program_deinit) struct elf_program program = {0};
        _cleanup_error_ struct error *missing = elf_find_program(operands[0], &program);
        if (missing != NULL)
            return error_new("there is no command '%s'; put the whole rule into quotes: "
                             "--inject '%s %s ...'",
                             operands[0], last->value, operands[0]);
    }
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(free_scenario) struct scenario *scenario = NULL;
    _cleanup_(run_fault_deinit) struct run_fault fault = {0};
    TRY(check_quotes(settings, operands));
    TRY(build_scenario(settings, &fault, &scenario));
    if (settings->journal_records.given &&
        (settings->journal_records.value == 0 ||
         settings->journal_records.value > REGION_JOURNAL_RECORDS_MAX))
        return error_new("--journal-records must be from 1 to %d", REGION_JOURNAL_RECORDS_MAX);
    if (fault.spec != NULL)
        TRY(run_fault_prepare(&fault, operands[0]));
    if (settings->dry_run)
        return dry_run(scenario, operands[0], settings->json, settings->report);
    enum sandbox_kind sandbox = SANDBOX_NONE;
    TRY(choose_sandbox(settings, &sandbox));
    struct trial_options trial_options = {
        .command = operands,
        .scenario = scenario,
        .timeout_ns = settings->timeout_ns,
        .journal_path = settings->journal,
        .stacks_path = settings->stacks,
        .coordinator = settings->coordinator,
        .node = settings->node,
        .journal_records = (uint32_t)settings->journal_records.value,
        .sandbox = sandbox,
        .state_file = fault.file.path,
    };
    TRY(choose_seed(settings, scenario, &trial_options.seed));
    _cleanup_(output_close) struct output output;
    TRY(output_open(settings->report, STDERR_FILENO, &output));
    struct trial trial;
    TRY(trial_run(&trial_options, &trial));
    if (fault.spec != NULL)
        run_fault_conclude(&fault, trial.view.region->start_ns);
    struct error *error = report(settings, &trial, &fault, &output);
    *ret_status = exit_status(&trial.outcome);
    bool fired = true;
    if (error == NULL && settings->strict)
        error = all_fired(&trial, &fired);
    if (settings->strict && fault.spec != NULL)
        fired &= fault.result.injected != 0;
    if (!fired)
        *ret_status = EXIT_NOT_FIRED;
    trial_deinit(&trial);
    return error;
}

const struct command cmd_run = {
    .name = "run",
    .summary =
        "Run a command once, inject faults into its library calls, and report what happened.",
    .operands = "[--] COMMAND [ARGUMENT]...",
    .details =
        "The exit status is the command's own: 128 plus the signal's number if one killed it, 124\n"
        "after --timeout, 2 if it could not be run, 3 if a rule did not fire with --strict.\n"
        "\n"
        "  ordeal run -i 'read=-1/EIO when count == 1' -- wc -l /etc/passwd\n"
        "  ordeal run -i 'malloc=NULL when stack(parse_header)' -- ./server\n"
        "  ordeal run -i 'write short when fd(1).socket and random(0.1)' --seed 7 -- ./client\n"
        "  ordeal run -i 'register rax flip 3 at save.c:22 when count == 2' -- ./editor\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .command_follows = true,
    .without_mathematics = true,
    .run = run,
};
