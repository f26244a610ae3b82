// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the completion script for fish.
#include "cli/completion/completion.h"

#include "base/cleanup.h"

#include <string.h>

// Appends a text in single quotes.
static struct error *put_quoted(struct buffer *text, const char *words)
{
    TRY(buffer_printf(text, "'"));
    for (const char *at = words; *at != '\0'; at++)
        TRY(buffer_printf(text, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at));
    return buffer_printf(text, "'");
}

static struct error *put_option(struct buffer *text, const struct command *command,
                                const struct option *option)
{
    _cleanup_(completion_values_deinit) struct completion_values values = {0};
    TRY(completion_values(option, &values));
    TRY(buffer_printf(text, "complete -c ordeal -n '__ordeal_in %s' -l %s", command->name,
                      option->name));
    if (option->letter != 0)
        TRY(buffer_printf(text, " -s %c", option->letter));
    if (completion_takes_file(option))
        TRY(buffer_printf(text, " -r -F"));
    else if (option->value != NULL)
        TRY(buffer_printf(text, " -x"));
    if (values.words.size != 0)
        TRY(buffer_printf(text, values.list ? " -a '(__fish_append , %s)'" : " -a '%s'",
                          values.words.data));
    TRY(buffer_printf(text, " -d "));
    TRY(put_quoted(text, option->help));
    return buffer_printf(text, "\n");
}

static struct error *put_operands(struct buffer *text, const struct command *command)
{
    if (completion_takes_finding(command))
        return buffer_printf(text,
                             "complete -c ordeal -n '__ordeal_in %s' -F -a '(__ordeal_findings)'\n",
                             command->name);
    if (command->command_follows || command->passes_options) {
        TRY(buffer_printf(text,
                          "complete -c ordeal -n '__ordeal_in %s' -x "
                          "-a '(__fish_complete_subcommand --fcs-skip=2",
                          command->name));
        struct option option;
        for (size_t i = 0; command_option(command, i, &option); i++) {
            if (option.value == NULL)
                continue;
            TRY(buffer_printf(text, " --%s", option.name));
            if (option.letter != 0)
                TRY(buffer_printf(text, " -%c", option.letter));
        }
        return buffer_printf(text, ")'\n");
    }
    if (strcmp(command->name, "help") == 0)
        return buffer_printf(text, "complete -c ordeal -n '__ordeal_in help' -f -a "
                                   "'(__ordeal_verbs)'\n");
    if (command->words == NULL)
        return buffer_printf(text, "complete -c ordeal -n '__ordeal_in %s' -F\n", command->name);
    TRY(buffer_printf(text, "complete -c ordeal -n '__ordeal_in %s' -F -a '", command->name));
    for (size_t i = 0; command->words[i] != NULL; i++)
        TRY(buffer_printf(text, "%s%s", i == 0 ? "" : " ", command->words[i]));
    return buffer_printf(text, "'\n");
}

static struct error *put_verbs(struct buffer *text)
{
    TRY(buffer_printf(text, "function __ordeal_verbs\n    printf '%%s\\t%%s\\n'"));
    for (size_t i = 0; commands[i] != NULL; i++) {
        TRY(buffer_printf(text, " \\\n        %s ", commands[i]->name));
        TRY(put_quoted(text, commands[i]->summary));
    }
    return buffer_printf(text, "\nend\n");
}

// The options of __fish_complete_subcommand begin with two dashes, too: a short one comes first.
static const char helpers[] =
    "# Whether the words so far begin with this command of ordeal.\n"
    "function __ordeal_in\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
    "end\n"
    "function __ordeal_without\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "# The findings of the store that --db names, or of ordeal.db.\n"
    "function __ordeal_findings\n"
    "    set -l words (commandline -opc)\n"
    "    command -q $words[1]; or return\n"
    "    set -l store ordeal.db\n"
    "    if set -l at (contains -i -- --db $words)\n"
    "        set store $words[(math $at + 1)]\n"
    "    end\n"
    "    $words[1] " COMPLETION_FINDINGS " $store 2>/dev/null |\n"
    "        sed -nE 's/^.*: [a-z]+: (.*) \\[[^ ]+ (F[0-9]+)\\]$/\\2\\t\\1/p'\n"
    "end\n";

struct error *completion_fish(struct buffer *text)
{
    TRY(buffer_printf(text, "# fish completion for ordeal; written by 'ordeal completion fish'\n"));
    TRY(buffer_append(text, helpers, strlen(helpers)));
    TRY(put_verbs(text));
    TRY(buffer_printf(text, "complete -c ordeal -f\n"
                            "complete -c ordeal -n __ordeal_without -a '(__ordeal_verbs)'\n"
                            "complete -c ordeal -n __ordeal_without -l version -s V "
                            "-d 'print the version'\n"
                            "complete -c ordeal -l help -s h -d 'print the usage'\n"));
    struct option option;
    for (size_t i = 0; commands[i] != NULL; i++) {
        for (size_t k = 0; command_option(commands[i], k, &option); k++)
            TRY(put_option(text, commands[i], &option));
        TRY(put_operands(text, commands[i]));
    }
    return NULL;
}
