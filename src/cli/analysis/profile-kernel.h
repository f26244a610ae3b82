// SPDX-License-Identifier: GPL-3.0-or-later
// Where profiles get the errors of system calls from: the built-in table, or a kernel image. The
// image is analysed only when it is needed.
#ifndef ORDEAL_CLI_ANALYSIS_PROFILE_KERNEL_H
#define ORDEAL_CLI_ANALYSIS_PROFILE_KERNEL_H

#include "profile/kernel/kernel.h"
#include "profile/library.h"
#include "profile/profile.h"

#include <pthread.h>

struct profile_kernel {
    const char *path;
    char *identity; // of the table or image in use
    pthread_mutex_t lock;
    bool tried, failed; // analysed already; without success
    struct kernel *kernel;
    struct error *error; // why the image could not be analysed; the caller checks it at the end
};
// `path` may be NULL. Fills in the options, which refer to `kernel` from then on: close it after
// the last use of the options.
_must_check_ struct error *profile_kernel_open(const char *path, struct profile_kernel *kernel,
                                               struct profile_options *options);
void profile_kernel_close(struct profile_kernel *kernel);

// Profiles a file that is a kernel image; its functions are the system calls. *ret_is: whether the
// file is one. It is no error if it is not.
_must_check_ struct error *profile_kernel_image(const char *path, struct profile *ret_profile,
                                                bool *ret_is);

#endif
