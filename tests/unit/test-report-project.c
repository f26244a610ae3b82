// SPDX-License-Identifier: GPL-3.0-or-later
// Which files are in a project's source tree, and the rules of SARIF logs.
#include "base/cleanup.h"
#include "report/campaign/ci/sarif-rules.h"
#include "report/project.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[PATH_MAX];

static const char *at(const char *name)
{
    static char paths[4][PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static void make(const char *name)
{
    int file = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    close(file);
}

static int set_up(void **state)
{
    char name[] = "/tmp/ordeal-project-XXXXXX";
    assert_non_null(mkdtemp(name));
    assert_non_null(realpath(name, top));
    static const char *const directories[] = {"tree",          "tree/.git",  "tree/src",
                                              "tree/src/deep", "tree/libio", "other"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        assert_int_equal(mkdir(at(directories[i]), 0700), 0);
    make("tree/src/a.c");
    make("tree/libio/getc.c");
    make("tree/.git/config");
    make("other/b.c");
    assert_int_equal(symlink(at("other/b.c"), at("tree/src/link.c")), 0);
    assert_int_equal(symlink(at("tree"), at("alias")), 0);
    return 0;
}

static int tear_down(void **state)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", top);
    return system(command);
}

static void named(const struct project *project, const char *file, const char *module,
                  const char *expected)
{
    _cleanup_free_ char *name = NULL;
    assert_null(project_name_file(project, file, module, &name));
    if (expected == NULL)
        assert_null(name);
    else
        assert_string_equal(name, expected);
}

static void files_of_a_working_tree(void **state)
{
    _cleanup_(project_deinit) struct project project = {0};
    assert_null(project_find(at("alias/src/deep"), &project));
    assert_string_equal(project.root, at("tree"));
    named(&project, at("tree/src/a.c"), NULL, "src/a.c");
    named(&project, at("alias/src/a.c"), NULL, "src/a.c");
    named(&project, at("tree/src/deep/../a.c"), "libc.so.6", "src/a.c");
    named(&project, "../a.c", "a", "src/a.c");
    named(&project, "./src/a.c", "a", "src/a.c");
    // Not there, no file, elsewhere, Git's own.
    named(&project, at("tree/src/none.c"), NULL, NULL);
    named(&project, at("tree/src"), NULL, NULL);
    named(&project, at("other/b.c"), NULL, NULL);
    named(&project, at("tree/src/link.c"), NULL, NULL);
    named(&project, at("treeless"), NULL, NULL);
    named(&project, at("tree/.git/config"), NULL, NULL);
    named(&project, "", NULL, NULL);
    named(&project, NULL, NULL, NULL);
    // The C library has a file of this name in its own tree.
    named(&project, "./libio/getc.c", "libc.so.6", NULL);
    named(&project, "./libio/getc.c", "/nowhere/libmine.so", "libio/getc.c");
}

static void directories_without_git(void **state)
{
    struct project project = {0};
    assert_null(project_find(at("other"), &project));
    assert_string_equal(project.root, at("other"));
    named(&project, at("other/b.c"), NULL, "b.c");
    named(&project, at("tree/src/a.c"), NULL, NULL);
    project_deinit(&project);
    // The whole file system is no project; a directory that is not there is not this machine's.
    assert_null(project_find("/", &project));
    assert_null(project.root);
    named(&project, at("other/b.c"), NULL, NULL);
    project_deinit(&project);
    assert_int_equal(chdir(at("tree/src")), 0);
    assert_null(project_find("/nowhere/at/all", &project));
    assert_string_equal(project.root, at("tree"));
    named(&project, "a.c", NULL, "src/a.c");
    project_deinit(&project);
    assert_int_equal(chdir("/"), 0);
}

static void rules_fit_all_findings(void **state)
{
    for (enum verdict verdict = 0; verdict < VERDICTS; verdict++)
        for (enum harm harm = HARM_NONE; harm <= HARM_LOSS; harm++) {
            enum severity severity = severity_of(verdict, harm);
            size_t rule = campaign_rule_find(verdict, severity);
            if (!verdict_facts[verdict].finding) {
                assert_int_equal(rule, campaign_rule_count - 1);
                continue;
            }
            assert_int_equal(campaign_rules[rule].verdict, verdict);
            assert_int_equal(campaign_rules[rule].severity, severity);
        }
    // A severity that goes with no such verdict: the rule of the verdict, at least.
    assert_int_equal(campaign_rules[campaign_rule_find(VERDICT_HANG, SEVERITY_LOSS)].verdict,
                     VERDICT_HANG);
    static const double least[SEVERITIES] = {
        [SEVERITY_LOSS] = 9, [SEVERITY_HIGH] = 7, [SEVERITY_MEDIUM] = 4};
    static const char *const levels[SEVERITIES] = {
        [SEVERITY_NONE] = "note",
        [SEVERITY_LOSS] = "error",
        [SEVERITY_HIGH] = "error",
        [SEVERITY_MEDIUM] = "warning",
    };
    for (size_t i = 0; i < campaign_rule_count; i++) {
        const struct campaign_rule *rule = &campaign_rules[i];
        double score = strtod(rule->sarif.score, NULL);
        assert_true(score > least[rule->severity] && score < 10);
        assert_string_equal(rule->sarif.level, levels[rule->severity]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rule->sarif.id, campaign_rules[j].sarif.id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_working_tree),
        cmocka_unit_test(directories_without_git),
        cmocka_unit_test(rules_fit_all_findings),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
