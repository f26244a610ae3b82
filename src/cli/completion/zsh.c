// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the completion script for zsh.
#include "cli/completion/completion.h"

#include "base/cleanup.h"

#include <string.h>

// Appends a text inside single quotes, with a backslash before each of `special`.
static struct error *put_quoted(struct buffer *text, const char *words, const char *special)
{
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == '\'') {
            TRY(buffer_printf(text, "'\\''"));
            continue;
        }
        TRY(buffer_printf(text, "%s%c", strchr(special, *at) != NULL ? "\\" : "", *at));
    }
    return NULL;
}

static bool may_repeat(const struct option *option)
{
    return option->kind == OPTION_LIST || option->kind == OPTION_FILE_LIST ||
           option->kind == OPTION_FLAG_LIST;
}

// What follows the help of an option that takes a value: ":message:action".
static struct error *put_value(struct buffer *text, const struct option *option)
{
    _cleanup_(completion_values_deinit) struct completion_values values = {0};
    TRY(completion_values(option, &values));
    TRY(buffer_printf(text, ":"));
    TRY(put_quoted(text, option->value, ":\\"));
    if (completion_takes_file(option))
        return buffer_printf(text, ":_files");
    if (values.words.size == 0)
        return buffer_printf(text, ": ");
    if (values.list)
        return buffer_printf(text, ":_values -s , %s %s", option->name, values.words.data);
    return buffer_printf(text, ":(%s)", values.words.data);
}

static struct error *put_option(struct buffer *text, const struct option *option)
{
    TRY(buffer_printf(text, "        "));
    if (may_repeat(option))
        TRY(buffer_printf(text, "'*'"));
    else if (option->letter != 0)
        TRY(buffer_printf(text, "'(-%c --%s)'", option->letter, option->name));
    if (option->letter != 0)
        TRY(buffer_printf(text, "{-%c%s,--%s%s}'", option->letter, option->value != NULL ? "+" : "",
                          option->name, option->value != NULL ? "=" : ""));
    else
        TRY(buffer_printf(text, "'--%s%s", option->name, option->value != NULL ? "=" : ""));
    TRY(buffer_printf(text, "["));
    TRY(put_quoted(text, option->help, "[]\\"));
    TRY(buffer_printf(text, "]"));
    if (option->value != NULL)
        TRY(put_value(text, option));
    return buffer_printf(text, "' \\\n");
}

static struct error *put_operands(struct buffer *text, const struct command *command)
{
    if (command->command_follows || command->passes_options)
        return buffer_printf(
            text, "        '(-)1:command:_ordeal_command' '*::arguments:_normal' && ret=0\n");
    if (completion_takes_finding(command))
        return buffer_printf(text, "        '1:finding or file:_ordeal_findings' && ret=0\n");
    if (strcmp(command->name, "help") == 0)
        return buffer_printf(text, "        '1:command:_ordeal_verbs' && ret=0\n");
    if (command->words == NULL)
        return buffer_printf(text, "        '*:file:_files' && ret=0\n");
    TRY(buffer_printf(text, "        '1: :("));
    for (size_t i = 0; command->words[i] != NULL; i++)
        TRY(buffer_printf(text, "%s%s", i == 0 ? "" : " ", command->words[i]));
    return buffer_printf(text, ")' '*:file:_files' && ret=0\n");
}

static struct error *put_command(struct buffer *text, const struct command *command)
{
    TRY(buffer_printf(text, "    %s)\n        _arguments -s -S \\\n", command->name));
    struct option option;
    for (size_t i = 0; command_option(command, i, &option); i++)
        TRY(put_option(text, &option));
    const struct option help = {.name = "help", .letter = 'h', .help = "print the usage"};
    TRY(put_option(text, &help));
    TRY(put_operands(text, command));
    return buffer_printf(text, "        ;;\n");
}

static const char helpers[] =
    "# The findings of the store that --db names, or of ordeal.db; or a file.\n"
    "_ordeal_findings()\n{\n"
    "    local store=${opt_args[--db]:-ordeal.db}\n"
    "    local -a found\n"
    "    found=( ${(f)\"$($ordeal " COMPLETION_FINDINGS " $store 2>/dev/null |\n"
    "        sed -nE 's/^.*: [a-z]+: (.*) \\[[^ ]+ (F[0-9]+)\\]$/\\2:\\1/p')\"} )\n"
    "    _describe -t findings finding found\n"
    "    _files\n"
    "}\n"
    "_ordeal_command()\n{\n"
    "    _command_names -e || _files\n"
    "}\n";

struct error *completion_zsh(struct buffer *text)
{
    TRY(buffer_printf(text, "#compdef ordeal\n"
                            "# zsh completion for ordeal; written by 'ordeal completion zsh'\n"));
    TRY(buffer_append(text, helpers, strlen(helpers)));
    TRY(buffer_printf(text, "_ordeal_verbs()\n{\n    local -a verbs\n    verbs=(\n"));
    for (size_t i = 0; commands[i] != NULL; i++) {
        TRY(buffer_printf(text, "        '%s:", commands[i]->name));
        TRY(put_quoted(text, commands[i]->summary, ":\\"));
        TRY(buffer_printf(text, "'\n"));
    }
    TRY(buffer_printf(text, "    )\n    _describe command verbs\n}\n"
                            "_ordeal()\n{\n"
                            "    local ordeal=$words[1] state line ret=1\n"
                            "    typeset -A opt_args\n"
                            "    _arguments -C '(- *)'{-h,--help}'[print the usage]' \\\n"
                            "        '(- *)'{-V,--version}'[print the version]' \\\n"
                            "        '1: :_ordeal_verbs' '*::argument:->argument' && ret=0\n"
                            "    [[ $state = argument ]] || return ret\n"
                            "    case $words[1] in\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        TRY(put_command(text, commands[i]));
    return buffer_printf(text, "    esac\n    return ret\n}\n"
                               "# Read from a directory of $fpath, or with source.\n"
                               "if [ \"$funcstack[1]\" = _ordeal ]; then\n"
                               "    _ordeal \"$@\"\n"
                               "else\n"
                               "    compdef _ordeal ordeal\n"
                               "fi\n");
}
