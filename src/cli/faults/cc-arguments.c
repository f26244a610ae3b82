// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for the few compiler options that change what the plug-in has to do.
#include "cli/faults/cc-arguments.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)16 << 20)
#define DEEPEST      8 // nested response files

// Some options begin like -g but do not ask for debug information.
static bool asks_for_debug(const char *text)
{
    static const char *const others[] = {"-gz",      "-gcc",     "-gno-",   "-gcolumn-info",
                                         "-gstrict", "-gsimple", "-gembed", "-grecord"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(text, others[i], strlen(others[i])) == 0)
            return false;
    return strncmp(text, "-g", 2) == 0;
}

// Whether a list of sanitizers has cfi or a part of it, cfi-icall.
static bool has_cfi(const char *list)
{
    for (const char *at = list; at != NULL; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, "cfi", 3) == 0)
            return true;
    return false;
}

static bool scatters(const char *text)
{
    static const char *const options[] = {"-fbasic-block-sections=", "-fsplit-machine-functions"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncmp(text, options[i], strlen(options[i])) == 0)
            return strcmp(text, "-fbasic-block-sections=none") != 0;
    return false;
}

static bool is_together(const char *text)
{
    static const char *const options[] = {"-moutline", "-enable-machine-outliner", "-enable-ipra"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncmp(text, options[i], strlen(options[i])) == 0)
            return true;
    return false;
}

// The last of -gX and -g0 decides, and likewise for -flto, -ffunction-sections and
// -fno-discard-value-names.
static void scan_argument(const char *text, struct cc_arguments *found)
{
    if (strcmp(text, "-g0") == 0)
        found->debug = false;
    else if (asks_for_debug(text))
        found->debug = true;
    else if (strncmp(text, "-flto", 5) == 0)
        found->lto = true;
    else if (strcmp(text, "-fno-lto") == 0)
        found->lto = false;
    else if (strcmp(text, "-ffunction-sections") == 0)
        found->sections = true;
    else if (strcmp(text, "-fno-function-sections") == 0)
        found->sections = false;
    else if (strncmp(text, "-fsanitize=", 11) == 0) {
        found->cfi |= has_cfi(text + 11);
        found->coverage |= strstr(text, "fuzzer") != NULL;
    } else if (strncmp(text, "-fsanitize-coverage=", 20) == 0)
        found->coverage = true;
    else if (strncmp(text, "-fno-sanitize=", 14) == 0)
        found->cfi &= !has_cfi(text + 14) && strcmp(text + 14, "all") != 0;
    else if (strcmp(text, "-fno-discard-value-names") == 0)
        found->names = true;
    else if (strcmp(text, "-fdiscard-value-names") == 0)
        found->names = false;
    else if (is_together(text))
        found->together = true;
    else if (scatters(text))
        found->scattered = true;
}

// Takes the next word out of a response file, in place. Quotes and backslashes work as in a shell.
static char *next_word(char **rest)
{
    char *at = *rest + strspn(*rest, " \t\r\n"), *word = at, *end = at, quote = '\0';
    if (*at == '\0')
        return NULL;
    for (; *at != '\0' && (quote != '\0' || strchr(" \t\r\n", *at) == NULL); at++) {
        if (*at == quote)
            quote = '\0';
        else if (quote == '\0' && (*at == '"' || *at == '\''))
            quote = *at;
        else
            *end++ = *at == '\\' && at[1] != '\0' ? *++at : *at;
    }
    *rest = *at != '\0' ? at + 1 : at;
    *end = '\0';
    return word;
}

// ---- response files ----

static struct error *add_argument(struct cc_list *list, const char *text, unsigned depth);

static struct error *add_response_file(struct cc_list *list, const char *path, unsigned depth)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct error *error = depth <= DEEPEST ? buffer_read_regular(path, LARGEST_FILE, &text) : NULL;
    error_free(error);
    if (error != NULL || text.data == NULL)
        return NULL; // the compiler will report it
    char *rest = text.data;
    for (char *word; (word = next_word(&rest)) != NULL;)
        TRY(add_argument(list, word, depth));
    return NULL;
}

static struct error *add_argument(struct cc_list *list, const char *text, unsigned depth)
{
    if (*text == '@')
        return add_response_file(list, text + 1, depth + 1);
    char **slot = ARRAY_ADD(&list->items);
    char *copy = arena_copy(&list->arena, text, strlen(text));
    if (slot == NULL || copy == NULL)
        return error_no_memory();
    *slot = copy;
    return NULL;
}

struct error *cc_list_expand(char *const *arguments, struct cc_list *ret_list)
{
    _cleanup_(cc_list_deinit) struct cc_list list = {0};
    for (; *arguments != NULL; arguments++)
        TRY(add_argument(&list, *arguments, 0));
    if (ARRAY_ADD(&list.items) == NULL)
        return error_no_memory();
    *ret_list = list;
    list = (struct cc_list){0};
    return NULL;
}

void cc_list_deinit(struct cc_list *list)
{
    ARRAY_DEINIT(&list->items);
    arena_deinit(&list->arena);
}

void cc_arguments_scan(char *const *arguments, struct cc_arguments *ret_found)
{
    *ret_found = (struct cc_arguments){0};
    for (; *arguments != NULL; arguments++)
        scan_argument(*arguments, ret_found);
}
