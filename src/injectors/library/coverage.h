// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how much recovery code runs, without faults and with them. Recovery code runs only after
// a call has failed. It is found in the machine code and measured by breakpoints in the target.
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
    uint32_t code, reached; // its first bytes; whether it was reached before this process
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

struct cover_wanted { // globs of paths or names of modules; NULL: no restriction
    const struct words *modules;
    const struct words *excluded;
};
// Finds the recovery code of all analysed modules except the C library. The analysis must have kept
// the branches that only failures take.
_must_check_ struct error *cover_find(struct cover *cover, const struct analysis *analysis,
                                      const struct cover_wanted *wanted,
                                      struct journal_reader *reader);
// Loads the places of a resumed campaign.
_must_check_ struct error *cover_load(struct cover *cover, struct store *store, int64_t campaign);
// Starts measuring: creates cover->file, which targets map.
_must_check_ struct error *cover_measure(struct cover *cover);
// Stores the places and whether each was reached so far.
_must_check_ struct error *cover_save(const struct cover *cover, struct store *store,
                                      int64_t campaign);

#endif
