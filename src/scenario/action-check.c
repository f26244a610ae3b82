// SPDX-License-Identifier: GPL-3.0-or-later
// Checks that the actions of a rule go together and suit the function.
#include "scenario/action.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "wire/traits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Refuses the name of an errno as a value, unless the function returns errnos: read=EIO would
// return 5, a number of bytes.
static struct error *check_errno_value(const struct actions *actions, const struct source *source,
                                       const struct pattern *pattern)
{
    const char *failure = NULL, *function = pattern->name.chars, *value = actions->value_text.chars;
    if (!actions->is_errno || !prototype_failure(function, &failure) || failure == NULL ||
        failure == PROTOTYPE_ERRNO)
        return NULL;
    return source_error(source, actions->value_start,
                        "%s fails by returning %s, with errno beside it; write %s=%s/%s", function,
                        failure, function, failure, value);
}

static bool is_callable(const struct pattern *pattern)
{
    const struct wire_traits *traits = wire_traits_find(pattern->name.chars);
    return traits == NULL || !(traits->flags & WIRE_TRAIT_NOT_CALLABLE);
}

static struct error *check_observed(const struct actions *actions, const struct source *source,
                                    size_t offset, const struct pattern *pattern)
{
    if (!(actions->set & WIRE_OBSERVE))
        return NULL;
    if (actions->watch || actions->set != WIRE_OBSERVE)
        return source_error(source, offset,
                            "'observe' lets the function return what it does, so no other action "
                            "goes with it");
    if (!is_callable(pattern))
        return source_error(source, offset,
                            "%s returns twice or never, or looks at its caller: it cannot be "
                            "observed",
                            pattern->name.chars);
    return NULL;
}

static struct error *check_fate(const struct actions *actions, const struct source *source,
                                const struct pattern *pattern)
{
    const char *function = pattern->name.chars;
    bool performed = actions->set & WIRE_PERFORMED;
    if (!(actions->set & (WIRE_PERFORMED | WIRE_SKIPPED)))
        return NULL;
    if (!(actions->set & WIRE_RETURN))
        return source_error(source, actions->performed_start,
                            performed
                                ? "'performed' calls the function and then reports something else; "
                                  "say what: %s=-1/EIO, performed"
                                : "'skipped' does not call the function; say what it is to return: "
                                  "%s=-1/EIO, skipped",
                            function);
    if (performed && !is_callable(pattern))
        return source_error(source, actions->performed_start,
                            "%s returns twice or never, or looks at its caller: it cannot be "
                            "'performed'",
                            function);
    return NULL;
}

static struct error *check_after(const struct actions *actions, const struct source *source,
                                 const struct pattern *pattern)
{
    if (!(actions->set & WIRE_AFTER))
        return NULL;
    if (!(actions->set & (WIRE_DELAY | WIRE_OUT)))
        return source_error(source, actions->after_start,
                            "'after' says when a delay or an output parameter comes; the rule has "
                            "neither");
    if (!is_callable(pattern))
        return source_error(source, actions->after_start,
                            "%s returns twice or never, or looks at its caller: nothing can come "
                            "'after' it",
                            pattern->name.chars);
    return NULL;
}

// A result that is not in the registers of an integer or a floating point number.
static struct error *check_parts(const struct actions *actions, const struct source *source,
                                 const struct pattern *pattern)
{
    const char *function = pattern->name.chars;
    const struct wire_traits *traits = wire_traits_find(function);
    if (traits == NULL || !(actions->set & WIRE_RETURN))
        return NULL;
    if (traits->flags & WIRE_TRAIT_IN_MEMORY)
        return source_error(source, actions->value_start,
                            "%s returns a structure in memory, not a value; let it be called and "
                            "change its fields, or fail another function",
                            function);
    if (traits->flags & WIRE_TRAIT_COMPLEX_LONG && actions->value_kind != WIRE_VALUE_LONG_DOUBLE)
        return source_error(source, actions->value_start,
                            "%s returns complex long double; write its real part with L: %s=1.5L",
                            function, function);
    return NULL;
}

// What a function returns or overwrites is known when it has returned.
static struct error *check_outs(const struct actions *actions, const struct source *source,
                                size_t offset)
{
    for (unsigned i = 0; i < actions->out_count; i++)
        if ((actions->outs[i].argument == WIRE_OUT_RESULT ||
             actions->outs[i].kind == WIRE_OUT_KEPT) &&
            (actions->set & (WIRE_AFTER | WIRE_PERFORMED)) == 0)
            return source_error(source, offset,
                                "'result' and 'kept' are about a function that was called: add "
                                "'after', or 'performed' to a value");
    return NULL;
}

struct error *action_check(struct actions *actions, const struct source *source, size_t offset,
                           const struct pattern *pattern)
{
    if (actions->watch && actions->set != 0)
        return source_error(source, offset,
                            "'watch' injects nothing, so no other action goes "
                            "with it");
    if (!actions->watch && actions->set == 0)
        return source_error(source, offset, "say what to inject: %s=-1/EIO, %s delay 50ms, ...",
                            pattern->name.chars, pattern->name.chars);
    if (actions->errno_only && (actions->set & WIRE_RETURN))
        return source_error(source, actions->value_start,
                            "with 'errno only' the call goes through, so it has no return value; "
                            "write VALUE/ERRNO for both");
    TRY(check_observed(actions, source, offset, pattern));
    TRY(check_errno_value(actions, source, pattern));
    TRY(check_fate(actions, source, pattern));
    TRY(check_after(actions, source, pattern));
    TRY(check_outs(actions, source, offset));
    TRY(check_parts(actions, source, pattern));
    if (!(actions->set & WIRE_SHORT))
        return NULL;
    if (actions->set & WIRE_RETURN)
        return source_error(source, actions->short_start,
                            "with 'short' the call goes through, so it has no return value");
    if (actions->short_argument == 0 && pattern->prototype != NULL)
        actions->short_argument = pattern->prototype->count;
    if (actions->short_argument == 0)
        return source_error(source, actions->short_start,
                            "it is not known which argument of '%s' is the length; write "
                            "short(argument: N)",
                            pattern->name.chars);
    return NULL;
}
