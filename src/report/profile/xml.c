// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles in the XML format of the LFI article (Figure 2): for each error return, the side
// effects that come with it. What the article does not cover goes into attributes of our own.
#include "report/profile/profile.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "report/escape.h"

static struct error *put_attribute(struct buffer *text, const char *name, const char *value)
{
    TRY(buffer_printf(text, " %s=\"", name));
    TRY(escape_attribute(text, value));
    return buffer_append(text, "\"", 1);
}

static const char *module_name(const struct profile *profile)
{
    return profile->soname != 0 ? profile_text(profile, profile->soname)
                                : file_base_name(profile->path);
}

static struct error *put_errors(const struct profile *profile, const struct failure *failure,
                                struct buffer *text)
{
    if (!failure->sets_error || failure->error.kind != VALUE_ERRORS)
        return NULL;
    const struct error_set *numbers = &profile->sets.items.items[failure->error.set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(numbers, i))
            TRY(buffer_printf(
                text, "      <side-effect type=\"TLS\" name=\"errno\">%u</side-effect>\n", i));
    return NULL;
}

static struct error *put_effect(const struct profile *profile, const struct effect *effect,
                                struct buffer *text)
{
    static const char *const types[] = {[EFFECT_GLOBAL] = "global",
                                        [EFFECT_THREAD] = "TLS",
                                        [EFFECT_ARGUMENT] = "argument",
                                        [EFFECT_OWN_THREAD] = "TLS"};
    const char *name = profile_effect_name(profile, effect);
    TRY(buffer_printf(text, "      <side-effect type=\"%s\"", types[effect->kind]));
    if (effect->kind == EFFECT_ARGUMENT)
        TRY(buffer_printf(text, " argument=\"%u\" offset=\"%lld\"", effect->argument + 1u,
                          (long long)effect->where));
    else {
        TRY(put_attribute(text, "module", module_name(profile)));
        TRY(buffer_printf(text, " offset=\"%llx\"", (unsigned long long)effect->where));
    }
    if (name != NULL)
        TRY(put_attribute(text, "name", name));
    if (effect->source != 0)
        return buffer_printf(text, " width=\"%u\" from=\"argument %u\"/>\n", effect->width,
                             effect->source);
    return buffer_printf(text, " width=\"%u\">%lld</side-effect>\n", effect->width,
                         (long long)effect->value);
}

static struct error *put_result(const struct profile *profile, const struct failure *failure,
                                int64_t result, struct buffer *text)
{
    TRY(buffer_printf(text, "    <error-codes retval=\"%lld\" confidence=\"%u\">\n",
                      (long long)result, failure->confidence));
    TRY(put_errors(profile, failure, text));
    for (unsigned i = 0; i < failure->effect_count; i++)
        TRY(put_effect(profile, &failure->effects[i], text));
    return buffer_printf(text, "    </error-codes>\n");
}

static struct error *put_failure(const struct profile *profile, const struct failure *failure,
                                 struct buffer *text)
{
    if (failure->result.kind == VALUE_CONSTANT)
        return put_result(profile, failure, failure->result.number, text);
    const struct error_set *numbers = &profile->sets.items.items[failure->result.set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(numbers, i))
            TRY(put_result(profile, failure, failure->result.negative ? -(int64_t)i : (int64_t)i,
                           text));
    return NULL;
}

static struct error *put_function(const struct profile *profile, const struct profile_view *view,
                                  const struct profile_function *function, struct buffer *text)
{
    TRY(buffer_printf(text, "  <function"));
    TRY(put_attribute(text, "name", profile_text(profile, function->name)));
    if (function->version != 0)
        TRY(put_attribute(text, "version", profile_text(profile, function->version)));
    if (function->unknown != 0)
        TRY(put_attribute(text, "unknown", profile_text(profile, function->unknown)));
    TRY(buffer_printf(text, "%s>\n", function->cut ? " cut=\"yes\"" : ""));
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        if (profile_shows_failure(view, failure))
            TRY(put_failure(profile, failure, text));
    }
    return buffer_printf(text, "  </function>\n");
}

struct error *report_profiles_xml(const struct profile *profiles, size_t count,
                                  const struct profile_view *view, struct buffer *text)
{
    TRY(buffer_printf(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n%s",
                      count != 1 ? "<profiles>\n" : ""));
    for (size_t i = 0; i < count; i++) {
        const struct profile *profile = &profiles[i];
        TRY(buffer_printf(text, "<profile"));
        TRY(put_attribute(text, "library", module_name(profile)));
        TRY(buffer_printf(text, ">\n"));
        for (size_t j = 0; j < profile->functions.count; j++)
            if (profile_shows(view, profile, &profile->functions.items[j]))
                TRY(put_function(profile, view, &profile->functions.items[j], text));
        TRY(buffer_printf(text, "</profile>\n"));
    }
    return count != 1 ? buffer_printf(text, "</profiles>\n") : NULL;
}
