// SPDX-License-Identifier: GPL-3.0-or-later
// The model of software faults that field data support: 13 types and the constraints on where they
// are realistic. Every level (source, IR, binary) finds and makes faults of these types.
#ifndef ORDEAL_MUTATE_MODEL_H
#define ORDEAL_MUTATE_MODEL_H

#include <stdint.h>

enum model_kind {
    MODEL_MFC,
    MODEL_MVIV,
    MODEL_MVAV,
    MODEL_MVAE,
    MODEL_MIA,
    MODEL_MIFS,
    MODEL_MIEB,
    MODEL_MLAC,
    MODEL_MLOC,
    MODEL_MLPA,
    MODEL_WVAV,
    MODEL_WPFV,
    MODEL_WAEP,
    MODEL_KINDS,
};

// Constraints, as bits of a set.
enum model_constraint {
    MODEL_C01 = 1 << 1,
    MODEL_C02 = 1 << 2,
    MODEL_C03 = 1 << 3,
    MODEL_C04 = 1 << 4,
    MODEL_C05 = 1 << 5,
    MODEL_C06 = 1 << 6,
    MODEL_C07 = 1 << 7,
    MODEL_C08 = 1 << 8,
    MODEL_C09 = 1 << 9,
    MODEL_C10 = 1 << 10,
    MODEL_C11 = 1 << 11,
};
#define MODEL_CONSTRAINTS 11

// C09 and C10: the most statements of a block, of a part of an algorithm.
#define MODEL_MOST_STATEMENTS  5
#define MODEL_LEAST_STATEMENTS 2 // of a part of an algorithm

struct model_type {
    const char *field;       // acronym of the field study: "MFC"
    const char *name;        // what users see: "missing-call"
    const char *odc;         // class of Orthogonal Defect Classification
    const char *description; // one line
    const char *group;       // types that are counted together: "MVA"; or NULL
    uint32_t constraints;    // set of enum model_constraint
    const char *note;        // where this differs from the published table; or NULL
};

extern const struct model_type model_types[MODEL_KINDS];
// What a constraint demands, by its number (1 to MODEL_CONSTRAINTS).
extern const char *const model_constraints[MODEL_CONSTRAINTS + 1];

#endif
