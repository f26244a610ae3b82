// SPDX-License-Identifier: GPL-3.0-or-later
// The words that options take as their values.
#include "cli/completion/completion.h"

#include "base/cleanup.h"
#include "store/severity.h"
#include "store/verdict.h"

#include <string.h>

// Options of the same name take the same words in every command. tests/e2e/completion.test gives
// each word to its option.
static const struct {
    const char *option, *words;
    bool list;
} known[] = {
    {"accelerator", "auto kvm tcg", false},
    {"at", "occurrence site stack", false},
    {"category", "CE UCNA SRAO SRAR undefined UC", false},
    {"class", "unchecked partly checked unknown", false},
    {"compare", "stdout stderr files", true},
    {"decide", "worlds markers variable", false},
    {"faultload", "all codes flags xen-codes xen-flags", false},
    {"fork", "auto never always", false},
    {"group-by", "type function module file component program", false},
    {"level", "source ir binary", false},
    {"per", "type function module file component", false},
    {"proof", "certain caused all", false},
    {"scope", "mine all", false},
    {"sandbox", "auto overlay copy none", false},
    {"unit", "simple generic-cache tlb memory memory-cache cache bus", false},
};

// What --fail-on takes: verdicts of trials that count, and severities.
static struct error *put_failures(struct buffer *words)
{
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].counts)
            TRY(buffer_printf(words, "%s ", verdict_facts[i].name));
    for (unsigned i = SEVERITY_NONE + 1; i < SEVERITIES; i++)
        TRY(buffer_printf(words, "%s%s", enum_name(&severity_names, i),
                          i + 1 < SEVERITIES ? " " : ""));
    return NULL;
}

struct error *completion_values(const struct option *option, struct completion_values *ret_values)
{
    struct completion_values values = {0};
    struct error *error = buffer_append(&values.words, "", 0);
    if (error == NULL && option->value != NULL && strcmp(option->name, "fail-on") == 0) {
        values.list = true;
        error = put_failures(&values.words);
    }
    for (size_t i = 0; error == NULL && i < sizeof known / sizeof *known; i++) {
        if (option->value == NULL || strcmp(option->name, known[i].option) != 0)
            continue;
        values.list = known[i].list;
        error = buffer_printf(&values.words, "%s", known[i].words);
    }
    if (error != NULL) {
        completion_values_deinit(&values);
        return error;
    }
    *ret_values = values;
    return NULL;
}

bool completion_takes_file(const struct option *option)
{
    return option->kind == OPTION_FILE || option->kind == OPTION_FILE_LIST;
}

bool completion_takes_finding(const struct command *command)
{
    return strcmp(command->name, "show") == 0 || strcmp(command->name, "replay") == 0;
}
