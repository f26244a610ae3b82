// SPDX-License-Identifier: GPL-3.0-or-later
// A linked program or library with software faults inside: what the compiler pass wrote into it,
// where the linker put it, and its bytes, in which faults are enabled and disabled. Of a plain
// file, which was built without the pass, the faults are changes of its machine code
// (mutate/binary/plain.h).
#ifndef ORDEAL_MUTATE_IMAGE_H
#define ORDEAL_MUTATE_IMAGE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "mutate/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image_segment { // as it is loaded
    uint64_t address, offset, file_size;
    uint64_t physical; // where a machine without page tables has it; of kernels
    bool code;
};

struct image_function {
    uint64_t id, name_key;
    const char *name, *reason, *source;
    size_t first_candidate, candidates;
    size_t first_edge, edges;
    uint32_t flags; // enum map_flag
    uint32_t blocks;
    size_t markers; // that survived
    bool again;     // an inline function that another module has described before
};

struct image_candidate {
    size_t function;
    uint32_t number; // in the function
    const char *type, *file, *detail;
    uint32_t line, column, block;
    uint32_t flags;
    size_t copies; // places in the code that lead to it
    // Of a plain file:
    uint64_t address; // of the first instruction that is affected
    const char *id;   // as the level `binary` has it
};

struct image_target {
    uint64_t address;   // of the faulty clone
    uint64_t candidate; // which of the function's
};

struct image_left_out { // a fault that the source has, and the code has not
    size_t function;
    const char *type, *file, *detail;
    uint32_t line, column;
    uint32_t reason; // enum source_reason
};

struct image_marker {
    uint64_t address;
    size_t function;
    uint32_t block;
    size_t first_target, targets;
};

struct image_entry {
    uint64_t address; // of the five bytes
    uint64_t begin;   // of the instruction that is changed
    uint64_t twin;
    uint64_t first; // where the first two bytes of that instruction are kept; 0: nowhere
    size_t function;
    // What is there as long as it leads nowhere, and if it leads to the twin.
    unsigned char idle[MARK_NOP_SIZE], leads[MARK_NOP_SIZE];
};

#define IMAGE_PATCH 16 // bytes
struct image_patch {
    uint64_t address;
    unsigned char before[IMAGE_PATCH], after[IMAGE_PATCH];
    size_t size;
};
struct image_patches {
    ARRAY(struct image_patch) items;
};

struct image {
    char *path;
    struct buffer bytes;         // the whole file, without the note
    ARRAY(unsigned char *) maps; // unpacked
    unsigned decide;             // enum map_decide
    size_t modules;
    ARRAY(struct image_segment) segments;
    ARRAY(struct image_function) functions;
    ARRAY(struct image_candidate) candidates;
    ARRAY(struct image_left_out) left_out;
    ARRAY(uint64_t) edges;
    ARRAY(struct image_marker) markers; // by address
    ARRAY(struct image_target) targets;
    ARRAY(struct image_entry) entries;
    struct image_index *by_id; // functions, sorted
    uint64_t variable;         // address of what decides in the variable mode, or 0

    bool plain;
    struct image_patches changes; // of a plain file: by candidate; size 0: there is no room for it
    struct image_patches noted;   // changes that were made to the file before
    struct arena texts;           // of a plain file
};

// Reads a file, which may hold any bytes; the caller ends the image with image_close(). A file
// without faults inside gives an image without functions.
_must_check_ struct error *image_open(const char *path, struct image *ret_image);
// The same for bytes in memory, which the image takes over; `path` is for errors.
_must_check_ struct error *image_parse(const char *path, struct buffer *bytes,
                                       struct image *ret_image);
void image_close(struct image *image);

// The content of a section; empty if there is none of that name.
_must_check_ struct error *image_section(const struct image *image, const char *name,
                                         struct cursor *ret_bytes);
// Makes an entry in the image's bytes lead to its twin, or nowhere.
void image_set_entry(struct image *image, const struct image_entry *entry, bool leads);
// The bytes of the file at a link-time address of code; NULL if not all `size` of them are code.
unsigned char *image_code(const struct image *image, uint64_t address, size_t size);
// The four bytes that decide in the variable mode, or NULL.
unsigned char *image_variable(const struct image *image);
// The function with an id; SIZE_MAX if there is none.
size_t image_function_by_id(const struct image *image, uint64_t id);

// The candidate that a marker's target belongs to. Markers of a function that several modules
// describe belong to the first description.
size_t image_target_candidate(const struct image *image, const struct image_marker *marker,
                              const struct image_target *target);

// ---- enabling and disabling ----

void image_patches_deinit(struct image_patches *patches);

// Which candidates are enabled: one flag per candidate.
_must_check_ struct error *image_enabled(const struct image *image, bool **ret_enabled);
// Which functions have one of these candidates, or may contain an inlined copy of one that has: one
// flag per function.
_must_check_ struct error *image_find_callers(const struct image *image, const bool *enabled,
                                              bool **ret_reached);
// Clears the flag of a candidate, and of those whose code the optimiser merged with it.
void image_forget(const struct image *image, size_t candidate, bool *enabled);
// The first candidate whose code the optimiser merged with this one's; itself if there is none.
size_t image_same_code(const struct image *image, size_t candidate);
// Changes the image's bytes so that exactly these candidates are enabled. *ret_patches lists the
// changes. Fails if two of them are in one block.
_must_check_ struct error *image_enable(struct image *image, const bool *enabled,
                                        struct image_patches *ret_patches);
// Undoes these changes.
void image_undo(struct image *image, const struct image_patches *patches);
// Finds the candidates that a text names: a number from the list, or TYPE@PLACE. PLACE is a
// function, FILE:LINE or FILE:LINE:COLUMN, the file with all its directories or only the last ones.
_must_check_ struct error *image_find(const struct image *image, const char *text,
                                      size_t *ret_candidate);
// Writes the bytes to a file, atomically, with the mode of the image's own file. A plain file with
// faults gets a note at its end.
_must_check_ struct error *image_write(const struct image *image, const char *path);

// ---- changes of machine code ----

// Splits the note off the bytes of a file: which changes were made in it. Fails if they are not
// there.
_must_check_ struct error *image_take_note(struct image *image);
// Appends the note of these candidates; none are no note.
_must_check_ struct error *image_put_note(const struct image *image, const bool *enabled,
                                          struct buffer *bytes);
// Gives the bytes the code back that the file had before all changes that are noted.
void image_restore(struct image *image);
// What a file with a note was before its changes, in a file without a name; -1: there is no note.
_must_check_ struct error *image_open_original(const char *path, int *ret_file);
// Parts of the functions above, for plain files.
void image_find_changed(const struct image *image, bool *enabled);
bool image_is_same_change(const struct image *image, size_t one, size_t other);
_must_check_ struct error *image_change(struct image *image, const bool *enabled,
                                        struct image_patches *patches);
_must_check_ struct error *image_write_code(uint64_t address, unsigned char *code,
                                            const unsigned char *wanted, size_t size,
                                            struct image_patches *patches);

// ---- in a process ----

struct process_report {
    size_t threads, patches;
    uint64_t stopped_ns; // how long the threads were stopped
    bool *running;       // by function: a thread is in its pristine code; the caller frees it
};
// Changes a running process that has the image loaded so that exactly these candidates are enabled,
// or with `add` these as well. Stops all threads meanwhile, and makes sure that none is within
// patched bytes.
_must_check_ struct error *process_enable(int process, struct image *image, const bool *enabled,
                                          bool add, struct process_report *ret_report);

// Runs a command whose program is the image, with these enabled from its first instruction on;
// *ret_status is what waitpid() says.
_must_check_ struct error *process_run(char *const *command, struct image *image,
                                       const bool *enabled, int *ret_status);

// ---- checking ----

struct verify_report {
    size_t markers, entries, targets;
    size_t eliminated; // chosen candidates without code: the optimiser or linker saw no need for it
    size_t unchosen;   // candidates that the build had no room for
    size_t idle;       // candidates whose mistakes would make no difference
    size_t unreachable;     // places in code without an unwind table: it is not disassembled
    struct buffer problems; // one line each
    size_t problem_count;
};
_must_check_ struct error *image_verify(const struct image *image,
                                        struct verify_report *ret_report);
void verify_report_deinit(struct verify_report *report);

#endif
