// SPDX-License-Identifier: GPL-3.0-or-later
// A piece of text the user wrote and where it stands, so that an error inside it can be shown in
// its file with line and caret.
#ifndef ORDEAL_SCENARIO_SOURCE_H
#define ORDEAL_SCENARIO_SOURCE_H

#include "base/error.h"
#include "base/suggestion.h"

#include <stddef.h>

enum source_mapping {
    SOURCE_DIRECT, // byte i of `text` is byte base + i of the file
    SOURCE_SCALAR, // `text` is what a YAML scalar at `base` stands for: quotes, folding, escapes
    SOURCE_FIXED,  // `text` was derived; errors show `base` and quote the text
};

struct source {
    const char *name; // of the file, or what the text is
    const char *file; // the whole file's text
    size_t file_size;
    const char *text; // what is parsed
    size_t size;
    size_t base; // where it stands in the file
    enum source_mapping mapping;
};

// A source that is the whole of a text.
struct source source_whole(const char *name, const char *text, size_t size);

// An error about byte `offset` of source->text.
__attribute__((format(printf, 3, 4))) _must_check_ struct error *
source_error(const struct source *source, size_t offset, const char *format, ...);

#endif
