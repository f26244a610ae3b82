// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the arguments of an intercepted call. The prototype is looked up by the name of the
// function that was called, since the rule may have been a glob.
#include "report/run/facts.h"

#include "base/cleanup.h"
#include "report/text.h"
#include "scenario/tables.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

// Finds the pattern of the rule that covers this function. An exact name wins over a glob.
static const struct wire_pattern *pattern_of(const struct facts *facts,
                                             const struct wire_record *record, const char *function)
{
    const struct wire_view *view = facts->view;
    const struct wire_pattern *fallback = NULL;
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        const struct wire_pattern *pattern = &view->patterns[i];
        const uint32_t *refs = wire_view_rule_refs(view, pattern);
        bool of_rule = false;
        for (uint32_t j = 0; !of_rule && j < pattern->rule_refs.count; j++)
            of_rule = refs[j] == record->rule;
        const char *name = wire_view_string(view, pattern->name);
        if (!of_rule)
            continue;
        if (strcmp(name, function) == 0)
            return pattern;
        if (pattern->flags & WIRE_GLOB && fnmatch(name, function, 0) == 0)
            fallback = pattern;
    }
    return fallback;
}

static bool opens_without_mode(const struct wire_record *record, unsigned index)
{
    uint64_t flags = record->arguments[index - 1];
    return (flags & O_CREAT) == 0 && (flags & O_TMPFILE) != O_TMPFILE;
}

static bool fcntl_without_value(const struct wire_record *record)
{
    static const int commands[] = {F_GETFD,    F_GETFL,      F_GETOWN,   F_GETSIG,
                                   F_GETLEASE, F_GETPIPE_SZ, F_GET_SEALS};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if ((int)record->arguments[1] == commands[i])
            return true;
    return false;
}

// Some functions take their last argument only if an earlier one says so.
static bool lacks_last(const char *function, const struct wire_record *record)
{
    if (strcmp(function, "open") == 0 || strcmp(function, "open64") == 0)
        return opens_without_mode(record, 2);
    if (strcmp(function, "openat") == 0 || strcmp(function, "openat64") == 0)
        return opens_without_mode(record, 3);
    if (strcmp(function, "fcntl") == 0 || strcmp(function, "fcntl64") == 0)
        return fcntl_without_value(record);
    return false;
}

struct call_arguments facts_arguments(const struct facts *facts, const struct wire_record *record)
{
    char function[WIRE_FUNCTION_NAME];
    memcpy(function, record->function, sizeof function);
    function[sizeof function - 1] = '\0';
    const struct wire_pattern *pattern = pattern_of(facts, record, function);
    const struct prototype *prototype = prototype_find(function);
    struct call_arguments found = {.strings = pattern != NULL ? pattern->string_arguments : 0,
                                   .count = WIRE_ARGUMENTS};
    if (prototype == NULL)
        return found;
    found.kinds = prototype->arguments;
    found.count = (unsigned)strlen(prototype->arguments);
    if (pattern != NULL && pattern->arguments > found.count)
        found.count = pattern->arguments;
    else if (lacks_last(function, record))
        found.count--;
    if (found.count > WIRE_ARGUMENTS)
        found.count = WIRE_ARGUMENTS;
    return found;
}

static struct error *put_captured(const struct wire_record *record, unsigned which,
                                  struct buffer *text)
{
    const char *captured = record->strings[which];
    bool cut = strnlen(captured, WIRE_CAPTURED_SIZE) >= WIRE_CAPTURED_SIZE - 1;
    TRY(buffer_append(text, "\"", 1));
    TRY(text_put(text, captured, WIRE_CAPTURED_SIZE, '"'));
    return buffer_append(text, "\"...", cut ? 4 : 1);
}

static struct error *put_by_kind(char kind, uint64_t bits, struct buffer *text)
{
    switch (kind) {
    case PROTOTYPE_INT:
    case PROTOTYPE_FD:
        return buffer_printf(text, "%d", (int32_t)(uint32_t)bits);
    case PROTOTYPE_UNSIGNED:
        return buffer_printf(text, "%u", (uint32_t)bits);
    case PROTOTYPE_LONG:
        return buffer_printf(text, "%lld", (long long)bits);
    case PROTOTYPE_SIZE:
        return buffer_printf(text, bits <= INT64_MAX ? "%llu" : "0x%llx", (unsigned long long)bits);
    case PROTOTYPE_PATH:
    case PROTOTYPE_STRING:
    case PROTOTYPE_POINTER:
        if (bits == 0)
            return buffer_append(text, "NULL", 4);
        break;
    }
    return buffer_printf(text, "0x%llx", (unsigned long long)bits);
}

struct error *facts_put_argument(const struct call_arguments *arguments,
                                 const struct wire_record *record, unsigned index,
                                 struct buffer *text)
{
    unsigned which = 0;
    for (unsigned i = 0; i < index; i++)
        which += arguments->strings >> i & 1;
    uint64_t bits = record->arguments[index];
    if ((arguments->strings & 1u << index) && which < WIRE_CAPTURED_STRINGS && bits != 0)
        return put_captured(record, which, text);
    bool known = arguments->kinds != NULL && index < strlen(arguments->kinds);
    return put_by_kind(known ? arguments->kinds[index] : 0, bits, text);
}
