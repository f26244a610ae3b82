// SPDX-License-Identifier: GPL-3.0-or-later
// The system calls of a kernel image and what they can fail with. Everything is worked out when the
// image is opened; only the results are kept.
#ifndef ORDEAL_PROFILE_KERNEL_KERNEL_H
#define ORDEAL_PROFILE_KERNEL_KERNEL_H

#include "profile/value.h"

struct kernel;

// `path` is a vmlinux: an ELF file with symbols, not the compressed file a machine boots from.
_must_check_ struct error *kernel_open(const char *path, struct kernel **ret_kernel);
void kernel_close(struct kernel *kernel);

// Errors of a system call as programs see them; NULL if unknown. Has the type of
// profile_options.system_call.
const struct error_set *kernel_errors(const void *kernel, int64_t number);

struct kernel_call {
    int64_t number;
    const char *name;        // of the kernel's function, without __x64_sys_
    struct error_set errors; // as programs see them
    struct error_set direct; // those found without tables of operations
};
// By number.
size_t kernel_call_count(const struct kernel *kernel);
const struct kernel_call *kernel_call(const struct kernel *kernel, size_t index);
// "Linux version …" of the image, or "".
const char *kernel_version(const struct kernel *kernel);

// How much of the kernel was analysed.
struct kernel_figures {
    size_t functions;  // looked at
    size_t cut;        // of these, not completely
    size_t indirect;   // indirect calls in them
    size_t resolved;   // of these, known to go through a table of operations that is known
    size_t operations; // distinct operations of these
    unsigned rounds;
};
struct kernel_figures kernel_figures(const struct kernel *kernel);

#endif
