// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a synthetic load, which `ordeal load` and `ordeal stress` share.
#ifndef ORDEAL_CLI_STRESS_LOAD_OPTIONS_H
#define ORDEAL_CLI_STRESS_LOAD_OPTIONS_H

#include "cli/command.h"
#include "stress/load.h"

struct load_settings {
    const char *mix, *intensity, *kept, *directory, *units;
    struct option_number members, copies, functions, megabytes, seed;
    uint64_t function_ns, duration_ns;
};

// clang-format off
#define LOAD_OPTIONS(settings, load)                                                               \
    {"mix", 'm', OPTION_TEXT, "CPU/MEM/IO",                                                        \
     "proportions in which the functions are drawn; 33/33/33 if it is not given",                  \
     offsetof(settings, load.mix)},                                                                \
    {"processes", 'p', OPTION_NUMBER, "N", "processes that do so; 2 if it is not given",           \
     offsetof(settings, load.members)},                                                            \
    {"functions", 'n', OPTION_NUMBER, "N",                                                         \
     "functions that each of them does; 10 if neither this nor --duration is given",               \
     offsetof(settings, load.functions)},                                                          \
    {"duration", 0, OPTION_SECONDS, "TIME",                                                        \
     "as many functions as take this time if nothing else runs",                                   \
     offsetof(settings, load.duration_ns)},                                                        \
    {"function-time", 0, OPTION_SECONDS, "TIME",                                                   \
     "how long a function takes if nothing else runs; 1s if it is not given",                      \
     offsetof(settings, load.function_ns)},                                                        \
    {"intensity", 0, OPTION_TEXT, "PERCENT[-PERCENT]",                                             \
     "share of the work that is done, the rest is slept: of all functions, or of the first and "   \
     "the last; 100 if it is not given",                                                           \
     offsetof(settings, load.intensity)},                                                          \
    {"memory", 0, OPTION_NUMBER, "MB",                                                             \
     "memory that a process reads and writes; four times the last cache, from 16 to 128 MB, if "   \
     "it is not given",                                                                            \
     offsetof(settings, load.megabytes)},                                                          \
    {"kept", 0, OPTION_TEXT, "PERCENT",                                                            \
     "share of the data of one function that reaches the next one; 100 if it is not given",        \
     offsetof(settings, load.kept)},                                                               \
    {"directory", 'd', OPTION_FILE, "DIRECTORY",                                                   \
     "where the files are, which have no names; $TMPDIR or /tmp if it is not given",               \
     offsetof(settings, load.directory)},                                                          \
    {"units", 0, OPTION_TEXT, "CPU/MEM/IO",                                                        \
     "units of work of each function, as an earlier run has found out; 0: find out",                           \
     offsetof(settings, load.units)},                                                              \
    {"seed", 0, OPTION_NUMBER, "N", "for what is drawn; 1 if it is not given",                     \
     offsetof(settings, load.seed)}
// clang-format on

_must_check_ struct error *load_options_read(const struct load_settings *settings,
                                             unsigned copies_otherwise,
                                             struct load_options *ret_options);
// Reads "A/B/C", numbers from 0 on, not all of them 0.
_must_check_ struct error *load_options_three(const char *option, const char *text,
                                              double ret_values[STRESS_AREAS]);
// A descriptor that tells of SIGINT, SIGTERM and SIGHUP, which no longer end this process.
_must_check_ struct error *load_options_signals(int *ret_descriptor);
// One line: the mix, the processes, the functions.
_must_check_ struct error *load_options_put(const struct load_options *options,
                                            struct buffer *text);

#endif
