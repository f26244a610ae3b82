// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the scenario of the first reference run: rules that record calls and inject nothing.
#include "injectors/library/first-run.h"

#include "base/cleanup.h"
#include "injector/realism.h"
#include "injector/spec.h"

static struct error *watch(struct scenario *scenario, const char *function,
                           enum scenario_watch kind)
{
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(spec_put_word(&spec, function, SPEC_NAME));
    TRY(buffer_printf(&spec, " watch"));
    return scenario_add_watch(scenario, spec.data, kind);
}

// Functions that hint at possible errors: signal handlers and sockets make some possible. See
// choice.c.
static const char *const hinting[] = {"sigaction", "socket", "socketpair", "accept", "accept4"};

struct error *first_run_watch_system(struct scenario *scenario)
{
    for (size_t i = 0; i < realism_count(); i++)
        if (realism_at(i)->errors[0] != '\0')
            TRY(watch(scenario, realism_at(i)->name, SCENARIO_WATCH_VARIANTS));
    for (size_t i = 0; i < realism_alias_count(); i++)
        TRY(watch(scenario, realism_alias_at(i)->name, SCENARIO_WATCH_VARIANTS));
    return NULL;
}

struct error *first_run_watch(struct scenario *scenario, bool everything)
{
    if (everything)
        return scenario_add_spec(scenario, "* watch");
    TRY(first_run_watch_system(scenario));
    for (size_t i = 0; i < sizeof hinting / sizeof *hinting; i++)
        TRY(watch(scenario, hinting[i], SCENARIO_WATCH_VARIANTS));
    return scenario_add_watch(scenario, "* watch", SCENARIO_WATCH_OUTSIDE);
}

struct error *first_run_watch_function(struct scenario *scenario, const char *function,
                                       const char *library, const char *condition)
{
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(spec_put_word(&spec, function, SPEC_NAME));
    TRY(buffer_printf(&spec, " watch%s%s", condition != NULL ? " when " : "",
                      condition != NULL ? condition : ""));
    return realism_is_system(library)
               ? scenario_add_spec(scenario, spec.data)
               : scenario_add_watch(scenario, spec.data, SCENARIO_WATCH_OUTSIDE);
}
