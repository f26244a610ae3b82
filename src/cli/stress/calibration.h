// SPDX-License-Identifier: GPL-3.0-or-later
// What a calibration has found out, in a file: later runs use the same scale and do the same work.
#ifndef ORDEAL_CLI_STRESS_CALIBRATION_H
#define ORDEAL_CLI_STRESS_CALIBRATION_H

#include "stress/run.h"

struct calibration {
    struct stress_range range;
    uint64_t units[STRESS_AREAS];
    enum measure_memory memory;
    size_t samples;
};

// *ret_there is false if there is no such file, or an empty one. A file that was made for a load of
// another size is an error.
_must_check_ struct error *calibration_read(const char *path, const struct load_options *load,
                                            bool *ret_there, struct calibration *ret_calibration);
_must_check_ struct error *calibration_write(const char *path, const struct load_options *load,
                                             const struct calibration *calibration);

#endif
