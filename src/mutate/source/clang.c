// SPDX-License-Identifier: GPL-3.0-or-later
// Loads libclang. Its own path tells it where the compiler's headers are, so the directory of LLVM
// comes first.
#include "mutate/source/clang.h"

#include "base/late-library.h"

struct clang clang;

#define CLANG_NAME(name) {"clang_" #name, &clang.name},
static const struct late_function names[] = {CLANG_FUNCTIONS(CLANG_NAME)};
static struct late_library library = LATE_LIBRARY(names);

struct error *clang_need(void)
{
    static const char *const files[] = {"/usr/lib/llvm-19/lib/libclang-19.so.1",
                                        "libclang-19.so.19", "libclang-19.so.1"};
    struct error *error = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        error_free(error);
        error = late_library_need(&library, files[i]);
        if (error == NULL)
            return NULL;
    }
    return error_prefix(error, "cannot look at sources, Debian's package libclang1-19 does that");
}
