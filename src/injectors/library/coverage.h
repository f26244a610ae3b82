// SPDX-License-Identifier: GPL-3.0-or-later
// How much recovery code is executed, without faults and with them: code that only runs after a
// call has failed. Found in the machine code, measured by breakpoints in the target.
#ifndef ORDEAL_INJECTORS_LIBRARY_COVERAGE_H
#define ORDEAL_INJECTORS_LIBRARY_COVERAGE_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"
#include "injector/journal-reader.h"
#include "injectors/library/analysis.h"
#include "injectors/library/gcov.h"
#include "store/store.h"
#include "trial/cover-file.h"

struct cover_place {
    uint32_t module; // of cover.modules
    uint64_t address;
    uint32_t code, reached; // reached: before this process began to measure
    char *function, *file;  // or NULL
    unsigned line;
};

struct cover {
    ARRAY(char *) modules;
    ARRAY(struct cover_place) places; // by module, then by address
    struct cover_file file;
    struct gcov gcov;
    bool measuring;
};
void cover_deinit(struct cover *cover);

struct cover_wanted { // whose code is of interest; globs of paths or names, or NULL
    const struct words *modules;
    const struct words *excluded;
};
// Of everything that made a call in a recorded run, except the C library. The analysis has the
// branches that only failures take.
_must_check_ struct error *cover_find(struct cover *cover, const struct analysis *analysis,
                                      const struct cover_wanted *wanted,
                                      struct journal_reader *reader);
// As a campaign that is gone on with has it.
_must_check_ struct error *cover_load(struct cover *cover, struct store *store, int64_t campaign);
// From then on cover->file is what targets need.
_must_check_ struct error *cover_measure(struct cover *cover);
// With what was reached so far.
_must_check_ struct error *cover_save(const struct cover *cover, struct store *store,
                                      int64_t campaign);

#endif
