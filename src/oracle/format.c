// SPDX-License-Identifier: GPL-3.0-or-later
// The table of formats. Scripts print names and contents, not times of access, sizes of the packed
// form or paths, so that two files that hold the same give the same output.
#include "oracle/format.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC(text) text, sizeof text - 1
#define FILE_ITSELF "/proc/self/fd/0"
#define CPIO        "cpio -i --quiet --to-stdout && cpio -itv --quiet <" FILE_ITSELF
// sqlite3 follows links itself, and would come to a name that means another file here.
#define DATABASE "sqlite3 -batch -init /dev/null -readonly \"file:$copy/db?immutable=1\" "

static const char *const journals[] = {"-journal", "-wal", NULL};

const struct format formats[] = {
    {"gzip", MAGIC("\x1f\x8b"), 0, "gzip", "gzip -dc", .packs = true},
    {"xz", MAGIC("\xfd\x37zXZ\0"), 0, "xz", "xz -dc", .packs = true},
    {"bzip2", MAGIC("BZh"), 0, "bzip2", "bzip2 -dc", .packs = true},
    {"zstd", MAGIC("\x28\xb5\x2f\xfd"), 0, "zstd", "zstd -dcq", .packs = true},
    {"lz4", MAGIC("\x04\x22\x4d\x18"), 0, "lz4", "lz4 -dcq", .packs = true},
    {"tar", MAGIC("ustar"), 257, "tar", "tar -xvvOf -", .archive = true, .streams = true},
    {"cpio", MAGIC("070701"), 0, "cpio", CPIO, .archive = true},
    {"binary cpio", MAGIC("\xc7\x71"), 0, "cpio", CPIO, .archive = true},
    {"zip", MAGIC("PK\3\4"), 0, "unzip", "unzip -Z1 " FILE_ITSELF " && unzip -p " FILE_ITSELF,
     .packs = false},
    {"PNG", MAGIC("\x89PNG\r\n\x1a\n"), 0, "pngcheck",
     "pngcheck -q " FILE_ITSELF " >&2 || exit 1; command -v pngtopam >/dev/null || exit 99; "
     "pngtopam -alphapam",
     .packs = false},
    {"JPEG", MAGIC("\xff\xd8\xff"), 0, "djpeg", "djpeg", .packs = false},
    {"SQLite", MAGIC("SQLite format 3\0"), 0, "sqlite3",
     "copy=$(mktemp -d) || exit 99; trap 'rm -rf \"$copy\"' EXIT; cat >\"$copy/db\" || exit 99; "
     "test \"$(" DATABASE "'PRAGMA integrity_check')\" = ok && " DATABASE ".dump",
     .beside = journals},
};
const size_t format_count = sizeof formats / sizeof *formats;

const struct format *format_find(const void *beginning, size_t size)
{
    for (size_t i = 0; i < format_count; i++)
        if (formats[i].offset + formats[i].size <= size &&
            memcmp((const char *)beginning + formats[i].offset, formats[i].magic,
                   formats[i].size) == 0)
            return &formats[i];
    return NULL;
}

const struct format *format_named(const char *name)
{
    for (size_t i = 0; i < format_count; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

struct error *format_script(const struct format *format, const struct format *inner,
                            char **ret_script)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "command -v %s >/dev/null || exit %d\n", format->tool,
                      FORMAT_NO_TOOL));
    if (inner != NULL)
        TRY(buffer_printf(&text, "command -v %s >/dev/null || exit %d\n%s | ", inner->tool,
                          FORMAT_NO_TOOL, format->script));
    TRY(buffer_printf(&text, "%s", inner != NULL ? inner->script : format->script));
    *ret_script = TAKE(text.data);
    return NULL;
}
