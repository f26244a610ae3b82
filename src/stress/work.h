// SPDX-License-Identifier: GPL-3.0-or-later
// What a synthetic load does: three functions, each of which uses one area of a machine, and an
// array that carries data from one to the next. Nothing here looks for errors.
#ifndef ORDEAL_STRESS_WORK_H
#define ORDEAL_STRESS_WORK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stress_area { STRESS_CPU, STRESS_MEM, STRESS_IO, STRESS_AREAS };
extern const char *const stress_area_names[STRESS_AREAS];

#define WORK_ARRAY_WORDS 8192   // of the interdependence array
#define WORK_CHUNK_WORDS 131072 // of memory that one unit of work reads and writes
#define WORK_FILE_BYTES  65536  // that one unit writes and reads

struct stress_work {
    uint64_t *array;  // the interdependence array
    uint64_t *memory; // larger than the caches
    size_t memory_words, next_chunk;
    char *buffer; // WORK_FILE_BYTES
    int file;     // reopened by every unit, through /proc
    double kept;  // share of the array that functions do not reset
};

// Gets memory of `megabytes`, which every process forked later has a copy of, at the same place.
// `file` stays the caller's.
_must_check_ struct error *stress_work_init(struct stress_work *work, size_t megabytes,
                                            double kept);
void stress_work_deinit(struct stress_work *work);
// Sets a part of the array to its default values, which is done before each function.
void stress_work_reset(struct stress_work *work);
// Does one unit of a function: `turn` chooses which words of the array it reads and writes.
void stress_work_unit(struct stress_work *work, enum stress_area area, uint64_t turn);
// A sum of the array, which depends on all that was done.
uint64_t stress_work_sum(const struct stress_work *work);

#endif
