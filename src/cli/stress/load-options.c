// SPDX-License-Identifier: GPL-3.0-or-later
// What the options of a load mean, and what they are if they are not given.
#include "cli/stress/load-options.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct error *load_options_three(const char *option, const char *text,
                                 double ret_values[STRESS_AREAS])
{
    double values[STRESS_AREAS], sum = 0;
    const char *at = text;
    for (unsigned i = 0; i < STRESS_AREAS; i++) {
        char *end;
        values[i] = strtod(at, &end);
        if (end == at || *end != (i + 1 < STRESS_AREAS ? '/' : '\0') || !(values[i] >= 0) ||
            !(values[i] <= 1e15))
            return error_new("--%s takes three numbers such as 20/20/60, for cpu, mem and io, "
                             "not '%s'",
                             option, text);
        sum += values[i];
        at = end + 1;
    }
    if (!(sum > 0))
        return error_new("--%s %s: one of the three must be more than 0", option, text);
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        ret_values[i] = values[i];
    return NULL;
}

static struct error *read_percent(const char *option, const char *text, char stop, unsigned least,
                                  unsigned *ret_percent, const char **ret_rest)
{
    char *end;
    errno = 0;
    unsigned long percent = strtoul(text, &end, 10);
    if (end == text || errno != 0 || *text == '-' || percent < least || percent > 100 ||
        (*end != '\0' && *end != stop))
        return error_new("--%s takes percent from %u to 100, not '%s'", option, least, text);
    *ret_percent = (unsigned)percent;
    *ret_rest = end;
    return NULL;
}

static struct error *read_intensity(const char *text, unsigned ret_intensity[2])
{
    const char *rest;
    ret_intensity[0] = ret_intensity[1] = 100;
    if (text == NULL)
        return NULL;
    TRY(read_percent("intensity", text, '-', 1, &ret_intensity[0], &rest));
    ret_intensity[1] = ret_intensity[0];
    return *rest == '\0' ? NULL
                         : read_percent("intensity", rest + 1, '\0', 1, &ret_intensity[1], &rest);
}

// Beyond the caches, so that memory is really used.
static size_t usual_megabytes(void)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t megabytes = cache > 0 ? (size_t)cache * 4 >> 20 : 64;
    return megabytes < 16 ? 16 : megabytes > 128 ? 128 : megabytes;
}

static struct error *take(const char *option, const struct option_number *number, uint64_t most,
                          uint64_t otherwise, uint64_t *ret_value)
{
    *ret_value = number->given ? number->value : otherwise;
    return *ret_value >= 1 && *ret_value <= most
               ? NULL
               : error_new("--%s takes a number from 1 to %llu", option, (unsigned long long)most);
}

static struct error *read_units(const char *text, uint64_t ret_units[STRESS_AREAS])
{
    double units[STRESS_AREAS];
    if (text == NULL)
        return NULL;
    TRY(load_options_three("units", text, units));
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        ret_units[i] = (uint64_t)units[i];
    return NULL;
}

struct error *load_options_read(const struct load_settings *settings, unsigned copies_otherwise,
                                struct load_options *ret_options)
{
    uint64_t members, copies, megabytes;
    unsigned kept = 100;
    const char *rest, *temporary = getenv("TMPDIR");
    struct load_options options = {.mix = {33, 33, 33},
                                   .seed = settings->seed.given ? settings->seed.value : 1,
                                   .function_ns = settings->function_ns,
                                   .directory = settings->directory};
    if (settings->mix != NULL)
        TRY(load_options_three("mix", settings->mix, options.mix));
    TRY(read_units(settings->units, options.units));
    TRY(read_intensity(settings->intensity, options.intensity));
    if (settings->kept != NULL)
        TRY(read_percent("kept", settings->kept, '\0', 0, &kept, &rest));
    options.kept = kept / 100.0;
    TRY(take("processes", &settings->members, LOAD_MOST_MEMBERS, 2, &members));
    TRY(take("copies", &settings->copies, LOAD_MOST_COPIES, copies_otherwise, &copies));
    TRY(take("memory", &settings->megabytes, 65536, usual_megabytes(), &megabytes));
    TRY(take("functions", &settings->functions, UINT32_MAX, 10, &options.functions));
    if (copies % 2 == 0)
        return error_new("--copies takes an odd number: of two copies neither has a majority");
    options.members = (unsigned)members;
    options.copies = (unsigned)copies;
    options.megabytes = megabytes;
    if (options.function_ns == 0)
        options.function_ns = NS_PER_S;
    if (settings->duration_ns != 0 && settings->functions.given)
        return error_new("either --functions or --duration: both say when the load ends");
    if (settings->duration_ns != 0)
        options.functions = settings->duration_ns / options.function_ns + 1;
    if (options.directory == NULL)
        options.directory = temporary != NULL && *temporary == '/' ? temporary : "/tmp";
    *ret_options = options;
    return NULL;
}

struct error *load_options_signals(int *ret_descriptor)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    int descriptor = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor < 0)
        return error_from_errno(errno, "cannot receive signals");
    *ret_descriptor = descriptor;
    return NULL;
}

struct error *load_options_put(const struct load_options *options, struct buffer *text)
{
    TRY(buffer_printf(text, "%g/%g/%g, %u %s", options->mix[0], options->mix[1], options->mix[2],
                      options->members, options->members == 1 ? "process" : "processes"));
    if (options->copies != 1)
        TRY(buffer_printf(text, " in %u copies", options->copies));
    TRY(buffer_printf(text, ", %llu functions of about %g s each",
                      (unsigned long long)options->functions, clock_seconds(options->function_ns)));
    if (options->intensity[0] != 100 || options->intensity[1] != 100)
        TRY(buffer_printf(text, ", intensity %u to %u %%", options->intensity[0],
                          options->intensity[1]));
    return NULL;
}
