// SPDX-License-Identifier: GPL-3.0-or-later
// Options in the environment: takes a text apart into words, as a shell would without expanding
// anything.
#include "base/cleanup.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\n"

// Copies the next word to `to`, with its NUL. False: a quote does not end.
static bool take_word(const char **at, char **to)
{
    char quote = '\0';
    const char *from = *at;
    char *end = *to;
    for (; *from != '\0' && (quote != '\0' || strchr(BLANKS, *from) == NULL); from++) {
        if (quote == '\0' && (*from == '\'' || *from == '"'))
            quote = *from;
        else if (*from == quote)
            quote = '\0';
        else if (*from == '\\' && quote != '\'' && from[1] != '\0')
            *end++ = *++from;
        else
            *end++ = *from;
    }
    *end++ = '\0';
    *at = from;
    *to = end;
    return quote == '\0';
}

static struct error *parse(const struct command *command, const char *text, char *storage,
                           char **words, void *settings)
{
    size_t count = 0;
    while (*(text += strspn(text, BLANKS)) != '\0') {
        words[count++] = storage;
        if (!take_word(&text, &storage))
            return error_new("a quote does not end");
    }
    words[count] = NULL;
    bool help = false;
    char **operands = words;
    // The operands come from the command line alone.
    struct command options = *command;
    options.least = 0;
    options.most = UINT32_MAX;
    options.keeps_separator = true;
    TRY(options_parse(&options, words, settings, &operands, &help));
    if (help)
        return error_new("--help has no place here");
    return operands[0] != NULL ? error_new("'%s' is no option", operands[0]) : NULL;
}

struct error *options_parse_environment(const struct command *command, char *const *arguments,
                                        void *settings, char **ret_storage)
{
    const char *text = getenv(ENVIRONMENT_OPTIONS);
    if (text == NULL)
        return NULL;
    for (; *arguments != NULL && strcmp(*arguments, "--") != 0; arguments++)
        if (strcmp(*arguments, "--resume") == 0)
            return NULL;
    size_t size = strlen(text);
    _cleanup_free_ char *storage = malloc(size + 2);
    _cleanup_free_ char **words = calloc(size / 2 + 2, sizeof *words);
    if (storage == NULL || words == NULL)
        return error_no_memory();
    struct error *error = parse(command, text, storage, words, settings);
    *ret_storage = TAKE(storage); // the settings point into it
    return error != NULL && error != error_no_memory() ? error_prefix(error, ENVIRONMENT_OPTIONS)
                                                       : error;
}
