// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal completion bash: writes a completion script, made from the commands' tables.
#include "cli/registry.h"

#include "base/cleanup.h"

#include <string.h>

static bool takes_file(const struct option *option)
{
    return option->kind == OPTION_FILE || option->kind == OPTION_FILE_LIST;
}

// Writes "--name|-n" for each option that takes a value: a file name, or anything else.
static struct error *put_cases(struct buffer *text, const struct command *command, bool files)
{
    bool first = true;
    struct option option;
    for (size_t i = 0; command_option(command, i, &option); i++) {
        if (option.value == NULL || takes_file(&option) != files)
            continue;
        TRY(buffer_printf(text, "%s--%s", first ? "            " : "|", option.name));
        if (option.letter != 0)
            TRY(buffer_printf(text, "|-%c", option.letter));
        first = false;
    }
    if (first)
        return NULL;
    return buffer_printf(text, ") %s return ;;\n",
                         files ? "COMPREPLY=( $(compgen -f -- \"$word\") );" : "");
}

static struct error *put_valued(struct buffer *text, const struct option *option)
{
    if (option->value == NULL)
        return NULL;
    if (option->letter != 0)
        TRY(buffer_printf(text, "-%c ", option->letter));
    return buffer_printf(text, "--%s ", option->name);
}

static struct error *put_command(struct buffer *text, const struct command *command)
{
    struct option option;
    TRY(buffer_printf(text, "    %s)\n", command->name));
    if (command_option(command, 0, &option)) {
        TRY(buffer_printf(text, "        case $before in\n"));
        TRY(put_cases(text, command, true));
        TRY(put_cases(text, command, false));
        TRY(buffer_printf(text, "            *) ;;\n        esac\n"));
    }
    TRY(buffer_printf(text, "        valued='"));
    for (size_t i = 0; command_option(command, i, &option); i++)
        TRY(put_valued(text, &option));
    TRY(buffer_printf(text, "'\n        options='"));
    for (size_t i = 0; command_option(command, i, &option); i++)
        TRY(buffer_printf(text, "--%s ", option.name));
    TRY(buffer_printf(text, "--help'\n        words='"));
    for (size_t i = 0; command->words != NULL && command->words[i] != NULL; i++)
        TRY(buffer_printf(text, "%s%s", i == 0 ? "" : " ", command->words[i]));
    if (strcmp(command->name, "help") == 0)
        TRY(buffer_printf(text, "$verbs"));
    return buffer_printf(text, "'\n        follows=%d\n        ;;\n", command->command_follows);
}

// The part that is the same for every command. Bash splits an option's value at = and :, and its
// list of commands includes builtins, which other programs cannot run.
static const char ending[] =
    "    if [ \"$follows\" -eq 1 ]; then\n"
    "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "            case ${COMP_WORDS[i]} in\n"
    "            --) ((i++)); break ;;\n"
    "            -*)\n"
    "                if [[ \" $valued \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
    "                    [ \"${COMP_WORDS[i + 1]}\" != = ] || ((i++))\n"
    "                    ((i++))\n"
    "                    while [[ ${COMP_WORDS[i + 1]} == [=:] ]]; do ((i += 2)); done\n"
    "                fi\n"
    "                ;;\n"
    "            *) break ;;\n"
    "            esac\n"
    "        done\n"
    "        if [ \"$i\" -lt \"$COMP_CWORD\" ]; then\n"
    "            COMPREPLY=( $(compgen -f -- \"$word\") )\n"
    "            return\n"
    "        fi\n"
    "        if [[ $i -eq $COMP_CWORD && $word != -* ]]; then\n"
    "            if [[ $word == */* ]]; then\n"
    "                COMPREPLY=( $(compgen -f -- \"$word\") )\n"
    "                return\n"
    "            fi\n"
    "            for name in $(compgen -c -- \"$word\" | sort -u); do\n"
    "                ! type -P \"$name\" >/dev/null || COMPREPLY+=( \"$name\" )\n"
    "            done\n"
    "            return\n"
    "        fi\n"
    "    fi\n"
    "    if [[ $word == -* ]]; then\n"
    "        COMPREPLY=( $(compgen -W \"$options\" -- \"$word\") )\n"
    "    elif [ -n \"$words\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
    "        COMPREPLY=( $(compgen -W \"$words\" -- \"$word\") )\n"
    "    else\n"
    "        COMPREPLY=( $(compgen -f -- \"$word\") )\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _ordeal ordeal\n";

static struct error *put_script(struct buffer *text)
{
    TRY(buffer_printf(text, "# bash completion for ordeal; written by 'ordeal completion bash'\n"
                            "_ordeal()\n{\n"
                            "    local word=${COMP_WORDS[COMP_CWORD]} "
                            "before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                            "    local verbs='"));
    for (size_t i = 0; commands[i] != NULL; i++)
        TRY(buffer_printf(text, "%s%s", i == 0 ? "" : " ", commands[i]->name));
    TRY(buffer_printf(
        text, "'\n    local options='' words='' valued='' follows=0 name i\n    COMPREPLY=()\n"
              "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
              "        COMPREPLY=( $(compgen -W \"$verbs --help --version\" -- \"$word\") )\n"
              "        return\n    fi\n"
              "    case ${COMP_WORDS[1]} in\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        TRY(put_command(text, commands[i]));
    TRY(buffer_printf(text, "    *) return ;;\n    esac\n"));
    return buffer_append(text, ending, strlen(ending));
}

static struct error *run(const void *settings, char **operands, int *ret_status)
{
    if (strcmp(operands[0], "bash") != 0)
        return error_new("there is no completion for '%s'; there is one for bash", operands[0]);
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(put_script(&text));
    return output_print(&text);
}

static const char *const words[] = {"bash", NULL};

const struct command cmd_completion = {
    .name = "completion",
    .summary = "Print a script that lets the shell complete ordeal's commands and options.",
    .operands = "bash",
    .details = "  source <(ordeal completion bash)\n",
    .least = 1,
    .most = 1,
    .words = words,
    .run = run,
};
