// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a trial, from a region filled in by hand.
#include "trial-help.h"

#include "report/run/run.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>

static const char *const specs[] = {
    "open=-1/ENOENT when count == 2",
    "read delay 5ms",
    "write=-1/EIO when count == 9",
    "close=-1/EBADF",
    "no_such=1",
    "pow=0.5",
    "kill signal SIGUSR1, -1/EPERM",
    NULL,
};

struct fixture {
    struct region region;
    struct wire_view view;
    struct wire_rule_state *rules;
    struct wire_record *journal;
};

static struct wire_record *add_record(struct fixture *fixture, enum wire_record_kind kind)
{
    struct wire_record *record = &fixture->journal[fixture->region.map->journal_head++];
    record->state = WIRE_RECORD_COMPLETE;
    record->kind = (uint16_t)kind;
    record->pid = 100;
    record->tid = 100;
    record->process_number = record->thread_number = 1;
    strcpy(record->process_name, "victim");
    return record;
}

static struct wire_record *add_injection(struct fixture *fixture, uint32_t rule,
                                         const char *function, uint32_t actions)
{
    struct wire_record *record = add_record(fixture, WIRE_RECORD_INJECTION);
    record->rule = rule;
    record->actions = actions;
    record->occurrence = 2;
    record->time_ns = 1500000;
    record->value[0] = UINT64_MAX;
    strcpy(record->function, function);
    record->library = 1;
    record->frame_count = 2;
    record->frames[0] = WIRE_FRAME(0, 0x1234);
    record->frames[1] = WIRE_FRAME(WIRE_FRAME_UNKNOWN, 0x7fff0000);
    fixture->rules[rule].fired++;
    if (fixture->rules[rule].reached < fixture->rules[rule].fired)
        fixture->rules[rule].reached = fixture->rules[rule].fired;
    return record;
}

static void bind_all_but(struct fixture *fixture, uint32_t rule)
{
    struct wire_pattern_state *states =
        (struct wire_pattern_state *)((char *)fixture->region.map + fixture->region.map->patterns);
    for (uint32_t i = 0; i < fixture->view.pattern_count; i++) {
        const uint32_t *refs = wire_view_rule_refs(&fixture->view, &fixture->view.patterns[i]);
        states[i].bound = refs[0] != rule;
    }
}

static void fixture_start_with(struct fixture *fixture, const char *const *rules)
{
    memset(fixture, 0, sizeof *fixture);
    must(make_region(rules, NULL, 64, &fixture->region));
    struct wire_region *map = fixture->region.map;
    must(region_check(map, fixture->region.size, "region", &fixture->view));
    fixture->rules = (struct wire_rule_state *)((char *)map + map->rules);
    fixture->journal = (struct wire_record *)((char *)map + map->journal);
    struct wire_module *modules = (struct wire_module *)((char *)map + map->modules);
    strcpy(modules[0].path, "/nonexistent/victim");
    strcpy(modules[1].path, "/lib/libc.so.6");
    modules[0].state = modules[1].state = WIRE_MODULE_REGISTERED;
    map->outcome = WIRE_OUTCOME_SIGNAL;
    map->outcome_status = SIGSEGV;
    map->outcome_ns = 12300000;
    map->processes = 1;
    bind_all_but(fixture, 4);
}

static void fixture_start(struct fixture *fixture)
{
    fixture_start_with(fixture, specs);
}

static char *put(struct fixture *fixture, bool json, struct report_run run)
{
    run.view = &fixture->view;
    struct buffer text = {0};
    must(json ? report_run_json(&run, &text) : report_run_text(&run, &text));
    return text.data;
}

static char *report(struct fixture *fixture, bool json, struct report_run run)
{
    must(region_check(fixture->region.map, fixture->region.size, "region", &fixture->view));
    return put(fixture, json, run);
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' is in:\n%s", part, text);
}

static void fill_trial(struct fixture *fixture)
{
    struct wire_record *record = add_injection(fixture, 0, "open", WIRE_RETURN | WIRE_ERRNO);
    record->error = ENOENT;
    record->arguments[0] = 0x7fff12345678;
    record->arguments[1] = 0xffffffff; // an int -1
    strcpy(record->strings[0], "/etc/\33[31m\"x\"");
    fixture->rules[0].reached = 2;
    record = add_injection(fixture, 1, "read", WIRE_DELAY);
    record->tid = 101;
    record->thread_number = 2;
    record->frames_cut = 1;
    fixture->rules[1].reached = 1;
    fixture->rules[2].reached = 3;
    record = add_record(fixture, WIRE_RECORD_NOTE);
    record->note = WIRE_NOTE_REMOTE_UNREACHABLE;
    strcpy(record->text, "disk\n");
}

static void the_text_tells_everything(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    fill_trial(&fixture);
    char *whys[8] = {[4] = (char *)"no module imports no_such"};
    char *warnings[] = {(char *)"static-program was not intercepted\33"};
    char *text =
        report(&fixture, false,
               (struct report_run){.reasons = whys, .warnings = warnings, .warning_count = 1});
    assert_string_equal(
        text,
        "ordeal: victim -x\n"
        "  killed by SIGSEGV after 12.3 ms, 2 faults injected, seed 42\n"
        "\n"
        "  1. open(\"/etc/\\x1b[31m\\\"x\\\"\", -1, 0) = -1 ENOENT\n"
        "     when count == 2\n"
        "     2nd call in victim, pid 100, 1.5 ms after the start\n"
        "     #0  /nonexistent/victim+0x1234\n"
        "     #1  0x7fff0000\n"
        "\n"
        "  2. read(0, NULL, 0), delayed 5.0 ms\n"
        "     always\n"
        "     2nd call in victim, pid 100, thread 2 (tid 101), 1.5 ms after the start\n"
        "     #0  /nonexistent/victim+0x1234\n"
        "     #1  0x7fff0000\n"
        "     ... and further frames\n"
        "\n"
        "  fired         open=-1/ENOENT when count == 2  (1 of 2 calls)\n"
        "  fired         read delay 5ms  (1 of 1 call)\n"
        "  not fired     write=-1/EIO when count == 9  (3 calls)\n"
        "  not reached   close=-1/EBADF\n"
        "  CANNOT APPLY  no_such=1\n"
        "  not reached   pow=0.5\n"
        "  not reached   kill signal SIGUSR1, -1/EPERM\n"
        "\n"
        "warning: the rule 'no_such=1' cannot apply: no module imports no_such\n"
        "warning: static-program was not intercepted\\x1b\n"
        "warning: victim (pid 100) let the call through, the coordinator was not reachable for "
        "remote disk\\n\n");
    free(text);
    region_close(&fixture.region);
}

static void colours_only_when_asked(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    fill_trial(&fixture);
    char *plain = report(&fixture, false, (struct report_run){0});
    has_not(plain, "\33");
    char *coloured = report(&fixture, false, (struct report_run){.colour = true});
    has(coloured, "\33[1;31mkilled by SIGSEGV\33[0m");
    has_not(coloured, "/etc/\33"); // the victim's own escapes stay spelled out
    free(plain);
    free(coloured);
    region_close(&fixture.region);
}

static void other_actions_are_shown(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    double half = 0.5;
    memcpy(add_injection(&fixture, 5, "pow", WIRE_RETURN)->value, &half, sizeof half);
    add_injection(&fixture, 6, "kill", WIRE_RETURN | WIRE_SIGNAL | WIRE_ERRNO)->error = EPERM;
    add_injection(&fixture, 3, "close", WIRE_ERRNO)->error = 4000;
    char *text = report(&fixture, false, (struct report_run){0});
    has(text, ") = 0.5\n");
    has(text, "= -1 EPERM, raised SIGUSR1\n");
    has(text, "errno set to errno 4000\n");
    free(text);
    region_close(&fixture.region);
}

static void outcomes_are_named(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    static const struct {
        enum wire_outcome kind;
        int status;
        const char *says;
    } outcomes[] = {{WIRE_OUTCOME_EXIT, 3, "exit status 3 after"},
                    {WIRE_OUTCOME_TIMEOUT, 0, "timed out and was killed after"},
                    {WIRE_OUTCOME_SIGNAL, 999, "killed by signal 999"},
                    {WIRE_OUTCOME_NONE, 0, "unfinished, 0 faults"},
                    {77, 0, "unfinished"}};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        fixture.region.map->outcome = outcomes[i].kind;
        fixture.region.map->outcome_status = outcomes[i].status;
        char *text = report(&fixture, false, (struct report_run){0});
        has(text, outcomes[i].says);
        free(text);
    }
    region_close(&fixture.region);
}

static void long_lists_are_cut_and_losses_are_said(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    for (int i = 0; i < 30; i++)
        add_injection(&fixture, 1, "read", WIRE_DELAY);
    add_record(&fixture, WIRE_RECORD_NOTE)->state = WIRE_RECORD_OPEN;
    fixture.region.map->journal_head = 70;
    char *text = report(&fixture, false, (struct report_run){0});
    has(text, " 20. read");
    has_not(text, " 21. read");
    has(text, "... and 10 more; --all or --json shows them");
    has(text, "warning: 34 journal records were not completed");
    has(text, "warning: the journal was full: 6 records are lost");
    free(text);
    text = report(&fixture, false, (struct report_run){.all = true});
    has(text, " 30. read");
    free(text);
    region_close(&fixture.region);
}

static void a_stack_is_shown_once(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    add_injection(&fixture, 1, "read", WIRE_DELAY);
    add_injection(&fixture, 1, "read", WIRE_DELAY)->frames[1]++;
    add_injection(&fixture, 1, "read", WIRE_DELAY);
    add_injection(&fixture, 1, "read", WIRE_DELAY)->frames_cut = 1;
    add_injection(&fixture, 1, "read", WIRE_DELAY)->frame_count = 1;
    struct wire_record *last = add_injection(&fixture, 1, "read", WIRE_DELAY);
    last->frames[1]++;
    char *text = report(&fixture, false, (struct report_run){0});
    const char *third = strstr(text, "  3. "), *fourth = strstr(text, "  4. ");
    has(third, "     same stack as 1.\n\n  4. ");
    has(fourth, "... and further frames");
    has(strstr(text, "  6. "), "     same stack as 2.\n\n");
    *strstr(text, "  3. ") = '\0';
    has_not(text, "same stack");
    free(text);
    region_close(&fixture.region);
}

static void arguments_follow_the_function_that_was_called(void **state)
{
    static const struct {
        const char *function, *says;
        uint64_t arguments[WIRE_ARGUMENTS];
    } cases[] = {
        {"read", "read(3, 0x7f00, 128), delayed", {3, 0x7f00, 128}},
        {"lseek", "lseek(-1, -5, 2), delayed", {0xffffffff, (uint64_t)-5, 2}},
        {"open", "open(0x7f00, 0), delayed", {0x7f00, 0, 77}},
        {"open", "open(0x7f00, 64, 420), delayed", {0x7f00, 64, 0xdead000001a4}},
        {"openat", "openat(-100, NULL, 0), delayed", {(uint64_t)-100, 0, 0, 5}},
        {"calloc", "calloc(0xffffffffffffffff, 1), delayed", {UINT64_MAX, 1}},
        {"getpid", "getpid(), delayed", {9}},
        {"odd",
         "odd(rdi=0x1, rsi=0x0, rdx=0x10, rcx=0x0, r8=0x0, r9=0x6), del",
         {1, 0, 16, 0, 0, 6}},
    };
    static const char *const globs[] = {"*=-1", "* delay 5ms", NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        fixture_start_with(&fixture, globs);
        struct wire_record *record = add_injection(&fixture, 1, cases[i].function, WIRE_DELAY);
        memcpy(record->arguments, cases[i].arguments, sizeof record->arguments);
        char *text = report(&fixture, false, (struct report_run){0});
        has(text, cases[i].says);
        free(text);
        region_close(&fixture.region);
    }
}

static void every_rule_that_cannot_apply_is_explained(void **state)
{
    static const char *const many[] = {"a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1",
                                       "h=1", "i=1", "j=1", "k=1", "l=1", NULL};
    struct region region;
    must(make_region(many, NULL, 4, &region));
    struct wire_view view;
    must(region_check(region.map, region.size, "region", &view));
    struct report_run run = {.view = &view};
    struct buffer text = {0};
    must(report_run_text(&run, &text));
    has(text.data, "the rule 'j=1' cannot apply");
    has_not(text.data, "the rule 'k=1' cannot apply");
    has(text.data, "... and 2 more rules cannot apply; --all or --json says why\n");
    buffer_deinit(&text);
    run.all = true;
    must(report_run_text(&run, &text));
    has(text.data, "the rule 'l=1' cannot apply");
    has_not(text.data, "more rules");
    buffer_deinit(&text);
    region_close(&region);
}

static json_t *path(json_t *root, const char *key, size_t index, const char *inner)
{
    return json_object_get(json_array_get(json_object_get(root, key), index), inner);
}

static void json_says_the_same(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    fill_trial(&fixture);
    strcpy(fixture.journal[1].process_name, "bad\xff");
    char *text = report(&fixture, true, (struct report_run){0});
    for (const char *at = text; *at != '\0'; at++)
        assert_true(*at == '\n' || (*at >= ' ' && *at < 127));
    json_error_t problem;
    json_t *root = json_loads(text, 0, &problem);
    assert_non_null(root);
    json_t *outcome = json_object_get(root, "outcome");
    assert_string_equal(json_string_value(json_object_get(outcome, "kind")), "signal");
    assert_string_equal(json_string_value(json_object_get(outcome, "signal")), "SIGSEGV");
    assert_int_equal(json_integer_value(json_object_get(root, "seed")), 42);
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "command"), 1)),
                        "-x");
    static const char *const states[] = {"fired",        "fired",       "reached",    "not-reached",
                                         "cannot-apply", "not-reached", "not-reached"};
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(json_string_value(path(root, "rules", i, "state")), states[i]);
    assert_non_null(path(root, "rules", 4, "why"));
    assert_int_equal(json_array_size(json_object_get(root, "injections")), 2);
    assert_string_equal(json_string_value(path(root, "injections", 0, "errno")), "ENOENT");
    assert_string_equal(json_string_value(path(root, "injections", 0, "value")), "-1");
    assert_string_equal(json_string_value(path(root, "injections", 0, "library")), "libc.so.6");
    assert_string_equal(
        json_string_value(json_array_get(path(root, "injections", 0, "arguments"), 0)),
        "\"/etc/\\x1b[31m\\\"x\\\"\"");
    json_t *site = path(root, "injections", 0, "site");
    assert_string_equal(json_string_value(json_object_get(site, "module")), "/nonexistent/victim");
    assert_string_equal(json_string_value(json_object_get(site, "offset")), "0x1234");
    assert_string_equal(json_string_value(path(root, "injections", 1, "program")),
                        "bad\xef\xbf\xbd");
    assert_true(json_is_true(path(root, "injections", 1, "stack_cut")));
    assert_string_equal(json_string_value(path(root, "notes", 0, "note")), "remote-unreachable");
    json_decref(root);
    free(text);
    region_close(&fixture.region);
}

// Records of a target that wrote everywhere.
static void nonsense_records_do_no_harm(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    memset(fixture.journal, 0xff, 3 * sizeof *fixture.journal);
    for (uint16_t i = 0; i < 3; i++) {
        fixture.journal[i].state = WIRE_RECORD_COMPLETE;
        fixture.journal[i].kind = i;
    }
    struct wire_module *modules =
        (struct wire_module *)((char *)fixture.region.map + fixture.region.map->modules);
    memset(modules, 0xff, sizeof *modules);
    add_injection(&fixture, 0, "open", 0xffffffff); // takes the place of the first
    fixture.region.map->journal_head = 3;
    fixture.journal[0].library = 0;
    const struct report_run run = {.symbolize = true, .all = true};
    for (int json = 0; json < 2; json++) {
        char *text = report(&fixture, json, run);
        has(text, json ? "\"damage\": \"record\"" : "warning: the command damaged the region");
        free(text);
        // Even if it were not noticed.
        fixture.view.damage = WIRE_DAMAGE_NONE;
        fixture.view.record_count = 3;
        free(put(&fixture, json, run));
    }
    region_close(&fixture.region);
}

static void damaged_counts_are_not_shown(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    add_injection(&fixture, 0, "open", WIRE_RETURN);
    fixture.rules[1].fired = 17969682043120722147ull;
    char *text = report(&fixture, false, (struct report_run){0});
    has(text, "unknown       open=-1/ENOENT");
    has(text, "damaged the region");
    has(text, "a rule fired more often than its functions were called");
    has_not(text, "injected, seed");
    has_not(text, "17969682043120722147");
    free(text);
    text = report(&fixture, true, (struct report_run){0});
    has(text, "\"damage\": \"fired\"");
    has(text, "\"state\": \"unknown\"");
    has_not(text, "\"fired\":");
    has_not(text, "\"processes\":");
    free(text);
    region_close(&fixture.region);
}

static void crashes_are_told(void **state)
{
    struct fixture fixture;
    fixture_start(&fixture);
    struct wire_record *record = add_record(&fixture, WIRE_RECORD_CRASH);
    record->error = SIGBUS;
    record->actions = WIRE_CRASH_FAULT;
    record->value[0] = 0xdead0000;
    record->frames[0] = WIRE_FRAME(0, 0x1234);
    record->frames[1] = WIRE_FRAME(WIRE_FRAME_UNKNOWN, 0x99);
    record->frame_count = 2;
    for (int i = 0; i < 6; i++) {
        record = add_record(&fixture, WIRE_RECORD_CRASH);
        record->error = SIGABRT;
        record->actions = WIRE_CRASH_SENT;
        record->value[1] = i == 0 ? record->pid : 4711;
        record->frame_count = 0;
    }
    char *text = report(&fixture, false, (struct report_run){0});
    has(text, "crashed: SIGBUS at address 0xdead0000, pid 100");
    has(text, "#0  /nonexistent/victim+0x1234\n");
    has(text, "#1  0x99\n");
    has(text, "crashed: SIGABRT, raised by itself");
    has(text, "crashed: SIGABRT, sent by pid 4711");
    has(text, "... and 2 more processes crashed");
    free(text);
    text = report(&fixture, false, (struct report_run){.all = true});
    has_not(text, "more processes crashed");
    free(text);
    text = report(&fixture, true, (struct report_run){0});
    has(text, "\"signal\": \"SIGBUS\"");
    has(text, "\"address\": \"0xdead0000\"");
    has(text, "\"sender\": 4711");
    free(text);
    region_close(&fixture.region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes_are_told),
        cmocka_unit_test(damaged_counts_are_not_shown),
        cmocka_unit_test(the_text_tells_everything),
        cmocka_unit_test(colours_only_when_asked),
        cmocka_unit_test(other_actions_are_shown),
        cmocka_unit_test(outcomes_are_named),
        cmocka_unit_test(long_lists_are_cut_and_losses_are_said),
        cmocka_unit_test(a_stack_is_shown_once),
        cmocka_unit_test(arguments_follow_the_function_that_was_called),
        cmocka_unit_test(every_rule_that_cannot_apply_is_explained),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(nonsense_records_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
