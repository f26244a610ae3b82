// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of a reference, shared by reference*.c.
#ifndef ORDEAL_ORACLE_REFERENCE_MODEL_H
#define ORDEAL_ORACLE_REFERENCE_MODEL_H

#include "observe/trace.h"
#include "oracle/lines.h"
#include "oracle/reference.h"
#include "oracle/told.h"

struct reference_invocation {
    char *text; // of the trace
    double seconds;
    int status;         // as waitpid() gives it
    struct trace trace; // the same as `text`, after reference_settle()
};

struct reference_run {
    enum sandbox_end end;
    int status;
    double seconds;
    ARRAY(struct artifact) artifacts; // sorted by path
    char *sanitizer, *crash;          // as outcome_run.sanitizer, observation.crash_key
    char *absent;                     // as outcome_run.absent, or NULL
    char *failure;                    // why it cannot serve as a reference, or NULL
    ARRAY(struct reference_invocation) invocations; // as outcome_run.invocations
    struct buffer interface; // as in outcome_run; after reference_settle() of the first run only
};

// Calls of a process about one thing, which are not the same in all runs. It points into the
// traces.
struct varying_call {
    size_t invocation; // from 0
    const char *process;
    const char *call;  // NULL: all that the process does
    const char *about; // the first argument, or ""
};

// What all runs together tell about one path.
struct reference_item {
    const struct artifact *artifact; // of the first run that has it
    bool stable;                     // all runs have it, and it is of the same kind
    bool same;                       // with the same content
    bool same_mode;                  // with the same permissions, as far as they are known
    struct lines_model *lines;       // NULL if some run's content is no text, or was not kept
    const struct format *format;     // which all runs have and a program could read; or NULL
    bool same_inside;                // of a format: all runs hold the same
};

struct reference {
    const struct oracle *oracle;
    struct lines_filters *filters;
    ARRAY(struct reference_run) runs;
    ARRAY(struct reference_item) items; // sorted by path
    ARRAY(char *) unsteady;             // directories in which every run leaves other files
    ARRAY(struct store_remark) remarks; // with owned strings
    struct stats_moments seconds;
    ARRAY(struct varying_call) varying;
    ARRAY(struct stats_moments) traced_seconds; // by invocation
    ARRAY(struct reference *) others;           // of the campaign's other inputs
};

// Of one input alone. The functions of reference.h are about all.
_must_check_ struct error *reference_add_one(struct reference *reference,
                                             const struct outcome_run *run);
void reference_clear_one(struct reference *reference);
void reference_free_one(struct reference *reference);
_must_check_ struct error *reference_settle_one(struct reference *reference);
_must_check_ struct error *reference_check_timeout_one(struct reference *reference);
uint64_t reference_timeout_one_ns(const struct reference *reference);
// The reference of an input, which is made if it is not there. The numbers of inputs have no gap.
_must_check_ struct error *reference_make(struct reference *reference, uint32_t input,
                                          struct reference **ret_reference);

struct reference_run *reference_run_add(struct reference *reference); // NULL: no memory
void reference_run_deinit(struct reference_run *run);
int reference_by_path(const void *a, const void *b); // of struct artifact, for qsort
const struct artifact *reference_run_find(const struct reference_run *run, const char *path);
const struct reference_item *reference_find(const struct reference *reference, const char *path);
bool reference_is_unsteady(const struct reference *reference, const char *directory, size_t size);
// Whether a path is named like one that only some runs have. Letters and digits may differ, as in
// random names and in checksums of a content with the time in it.
bool reference_is_like_unsteady(const struct reference *reference, const char *path);
// Whether the old content of a file equals what the runs make of it, except for what varies from
// run to run, such as the times of other files. Then not writing the file is as good as writing it.
bool reference_is_like_before(const struct reference *reference, const struct reference_item *item);
// Whether the runs replace a text and do not edit it: no line of the old content is in the new one,
// nor is half of it at the same place. False if it is no text, too long, or unreadable.
bool reference_replaces_content(const struct reference_item *item);
// Whether every run of a server had deleted this file when it served: then it is no data that can
// be lost.
bool reference_is_absent(const struct reference *reference, const char *path);
// Whether a file with content was at this path before the runs.
bool reference_was_there(const char *path, uint64_t *ret_size);
// Whether the reference changes the content that was there before. A file that is made again with
// the same content is no loss: it can be made once more.
bool reference_changes(const struct artifact *artifact);
// The mode of the file that was there before; ARTIFACT_NO_MODE: none was.
unsigned reference_mode_before(const char *path);
// Finds a line on stderr that the reference does not have: sets err_more and `more`.
_must_check_ struct error *reference_find_more(const struct reference *reference,
                                               const struct artifact *artifact,
                                               struct difference *difference);
// Does the same for other outputs. An output reports the fault if it has the words of strerror(3),
// in English, for the error that was injected. These words do not count if they may just be copied
// from somewhere: if an output of a reference run has them, if a changed file had them before, or
// if a reference run's version of this output was not kept as a whole. It also reports it if it has
// another line by which programs tell of errors; see reference_find_told().
_must_check_ struct error *reference_find_report(const struct reference *reference,
                                                 const struct artifact *artifact,
                                                 const struct outcome_run *run,
                                                 struct difference *difference);
// Finds the first line of an output that tells of an error (told.h) more often than any reference
// run does, numbers being all the same, and appends it to `line`. TOLD_NOTHING: there is none, or
// it cannot be known because a reference run's version was not kept as a whole.
_must_check_ struct error *reference_find_told(const struct reference *reference,
                                               const struct artifact *artifact,
                                               enum told_where where, struct buffer *line,
                                               struct told *ret_told);
// Calls reference_find_report(), and tells whether the report is all that is new in this file:
// everything that the reference has is there, or the reference does not have the file (item NULL).
_must_check_ struct error *reference_is_log(const struct reference *reference,
                                            const struct reference_item *item,
                                            const struct artifact *artifact,
                                            const struct outcome_run *run,
                                            struct difference *difference, bool *ret_log);
// How a packed file, archive, image or database differs from the reference's in what it holds. The
// bytes differ already.
enum packed_relation {
    PACKED_UNKNOWN, // the reference's has no format, or nobody could tell
    PACKED_SAME,    // it holds the same
    PACKED_OTHER,   // it is sound, but holds something else
    PACKED_DAMAGED, // it is empty, or cannot be read
};
enum packed_relation reference_packed(const struct reference_item *item,
                                      const struct artifact *artifact);
// Appends what is wrong with it: "x.gz is damaged (9 bytes instead of 31): gzip says '...'". For
// PACKED_OTHER and PACKED_DAMAGED.
_must_check_ struct error *reference_put_packed(struct buffer *sentence,
                                                const struct reference_item *item,
                                                const struct artifact *artifact,
                                                enum packed_relation relation);
// Adds a remark and takes the sentence's text. `path` is the output that the remark is about, or
// NULL.
_must_check_ struct error *reference_remark_add(struct reference *reference, enum remark_kind kind,
                                                const char *path, struct buffer *sentence);
// Likewise about visible behaviour, if that is wanted.
_must_check_ struct error *reference_learn_behaviour(struct reference *reference);
// Checks what libraries give their user, if that is wanted: it must be the same in all runs.
_must_check_ struct error *reference_learn_interface(struct reference *reference);
// The trace and the number of accesses, as artifacts.
_must_check_ struct error *reference_save_interface(struct store *store, int64_t id,
                                                    const struct reference_run *run);
_must_check_ struct error *reference_load_interface(const struct store_artifact *row,
                                                    struct reference_run *run);
// Fills in items and unsteady directories, and adds remarks about what varies.
_must_check_ struct error *reference_learn(struct reference *reference);

// The content as a text for lines.h; false if it is no text. It points into the artifact.
bool reference_text(const struct artifact *artifact, struct lines_text *ret_text);
// Appends a path as the store keeps it. Paths are bytes and the store keeps text: \xNN stands for a
// byte that is not UTF-8, \\ for a backslash.
_must_check_ struct error *reference_put_path(struct buffer *text, const char *path);
// Appends "stdout", "stderr" or the path, quoted.
_must_check_ struct error *reference_put_name(struct buffer *buffer, const char *path);

#endif
