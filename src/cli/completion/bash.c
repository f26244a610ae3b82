// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the completion script for bash.
#include "cli/completion/completion.h"

#include "base/cleanup.h"

#include <string.h>

// Writes one case, "--name|-n) …", for an option that takes a value.
static struct error *put_case(struct buffer *text, const struct option *option)
{
    _cleanup_(completion_values_deinit) struct completion_values values = {0};
    TRY(completion_values(option, &values));
    TRY(buffer_printf(text, "            --%s", option->name));
    if (option->letter != 0)
        TRY(buffer_printf(text, "|-%c", option->letter));
    if (completion_takes_file(option))
        return buffer_printf(text, ") _ordeal_files; return ;;\n");
    if (values.words.size == 0)
        return buffer_printf(text, ") return ;;\n");
    return buffer_printf(text, ") _ordeal_%s '%s'; return ;;\n", values.list ? "list" : "words",
                         values.words.data);
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
    TRY(buffer_printf(text, "    %s)\n        case $before in\n", command->name));
    for (size_t i = 0; command_option(command, i, &option); i++)
        if (option.value != NULL)
            TRY(put_case(text, &option));
    TRY(buffer_printf(text, "            *) ;;\n        esac\n        valued='"));
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
    return buffer_printf(text, "'\n        follows=%d findings=%d\n        ;;\n",
                         command->command_follows, completion_takes_finding(command));
}

// What completes one word; they use the variables of _ordeal.
static const char helpers[] =
    "# Called by the shell itself.\n"
    "_ordeal_files()\n{\n"
    "    COMPREPLY=( $(compgen -f -- \"$word\") )\n"
    "}\n"
    "_ordeal_words()\n{\n"
    "    COMPREPLY=( $(compgen -W \"$1\" -- \"$word\") )\n"
    "}\n"
    "# Of a list with commas, the last word.\n"
    "_ordeal_list()\n{\n"
    "    local last=${word##*,}\n"
    "    COMPREPLY=( $(compgen -P \"${word%\"$last\"}\" -W \"$1\" -- \"$last\") )\n"
    "    compopt -o nospace 2>/dev/null\n"
    "}\n"
    "# The findings of the store that --db names, or of ordeal.db.\n"
    "_ordeal_findings()\n{\n"
    "    local store=ordeal.db index\n"
    "    for ((index = 2; index < COMP_CWORD; index++)); do\n"
    "        if [ \"${COMP_WORDS[index]}\" = --db ]; then\n"
    "            store=${COMP_WORDS[index + 1]}\n"
    "            [ \"$store\" != = ] || store=${COMP_WORDS[index + 2]}\n"
    "        fi\n"
    "    done\n"
    "    COMPREPLY=( $(compgen -W \"$(\"${COMP_WORDS[0]}\" " COMPLETION_FINDINGS
    " \"$store\" 2>/dev/null |\n"
    "        sed -n 's/.* \\(F[0-9]*\\)]$/\\1/p')\" -- \"$word\") $(compgen -f -- \"$word\") )\n"
    "}\n";

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
    "            _ordeal_files\n"
    "            return\n"
    "        fi\n"
    "        if [[ $i -eq $COMP_CWORD && $word != -* ]]; then\n"
    "            if [[ $word == */* ]]; then\n"
    "                _ordeal_files\n"
    "                return\n"
    "            fi\n"
    "            for name in $(compgen -c -- \"$word\" | sort -u); do\n"
    "                ! type -P \"$name\" >/dev/null || COMPREPLY+=( \"$name\" )\n"
    "            done\n"
    "            return\n"
    "        fi\n"
    "    fi\n"
    "    if [[ $word == -* ]]; then\n"
    "        _ordeal_words \"$options\"\n"
    "    elif [ \"$findings\" -eq 1 ]; then\n"
    "        _ordeal_findings\n"
    "    elif [ -n \"$words\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
    "        _ordeal_words \"$words\"\n"
    "    else\n"
    "        _ordeal_files\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _ordeal ordeal\n";

struct error *completion_bash(struct buffer *text)
{
    TRY(buffer_printf(text, "# bash completion for ordeal; written by 'ordeal completion bash'\n"));
    TRY(buffer_append(text, helpers, strlen(helpers)));
    TRY(buffer_printf(text, "_ordeal()\n{\n"
                            "    local word=${COMP_WORDS[COMP_CWORD]} "
                            "before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                            "    # --name=value comes as three words\n"
                            "    if [ \"$word\" = = ]; then\n"
                            "        word=\n"
                            "    elif [ \"$before\" = = ]; then\n"
                            "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
                            "    fi\n"
                            "    local verbs='"));
    for (size_t i = 0; commands[i] != NULL; i++)
        TRY(buffer_printf(text, "%s%s", i == 0 ? "" : " ", commands[i]->name));
    TRY(buffer_printf(text,
                      "'\n    local options='' words='' valued='' follows=0 findings=0 name i\n"
                      "    COMPREPLY=()\n"
                      "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                      "        _ordeal_words \"$verbs --help --version\"\n"
                      "        return\n    fi\n"
                      "    case ${COMP_WORDS[1]} in\n"));
    for (size_t i = 0; commands[i] != NULL; i++)
        TRY(put_command(text, commands[i]));
    TRY(buffer_printf(text, "    *) return ;;\n    esac\n"));
    return buffer_append(text, ending, strlen(ending));
}
