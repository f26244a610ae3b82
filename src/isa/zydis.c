// SPDX-License-Identifier: GPL-3.0-or-later
// Loads Zydis at the first use. zydis() drops the error, isa_need() reports it.
#include "isa/zydis.h"

#include "base/late-library.h"
#include "isa/need.h"

#include <stdio.h>

static struct zydis functions;
static const struct late_function names[] = {
    {"ZydisDecoderInit", &functions.init},
    {"ZydisDecoderDecodeFull", &functions.decode},
    {"ZydisDecoderDecodeInstruction", &functions.decode_head},
    {"ZydisRegisterGetLargestEnclosing", &functions.enclosing},
};
static struct late_library library = LATE_LIBRARY(names);

static struct error *load(void)
{
    char name[64]; // of the version of the headers: others have other structure layouts
    snprintf(name, sizeof name, "libZydis.so.%u.%u", ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
             ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
    return late_library_need(&library, name);
}

const struct zydis *zydis(void)
{
    if (!late_library_is_ready(&library))
        error_free(load());
    return late_library_is_ready(&library) ? &functions : NULL;
}

struct error *isa_need(void)
{
    struct error *error = late_library_is_ready(&library) ? NULL : load();
    if (error == NULL)
        return NULL;
    return error_prefix(error,
                        "cannot decode instructions, Debian's package libzydis%u.%u does that",
                        ZYDIS_VERSION_MAJOR(ZYDIS_VERSION), ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
}
