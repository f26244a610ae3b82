// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of a reference, for reference*.c alone.
#ifndef ORDEAL_ORACLE_REFERENCE_MODEL_H
#define ORDEAL_ORACLE_REFERENCE_MODEL_H

#include "oracle/lines.h"
#include "oracle/reference.h"

struct reference_run {
    enum sandbox_end end;
    int status;
    double seconds;
    ARRAY(struct artifact) artifacts; // by path
    char *sanitizer, *crash;          // as outcome_run.sanitizer, observation.crash_key
    char *failure;                    // why nothing can be compared with it, or NULL
};

// What is known of one path over all runs.
struct reference_item {
    const struct artifact *artifact; // of the first run that has it
    bool stable;                     // there in all runs, as the same kind of thing
    bool same;                       // with the same content
    bool same_mode;                  // with the same permissions, as far as they are known
    struct lines_model *lines;       // NULL if some run's content is no text, or was not kept
};

struct reference {
    const struct oracle *oracle;
    struct lines_filters *filters;
    ARRAY(struct reference_run) runs;
    ARRAY(struct reference_item) items; // by path
    ARRAY(char *) unsteady;             // directories in which other files appear every time
    ARRAY(struct store_remark) remarks; // texts of their own
    struct stats_moments seconds;
};

struct reference_run *reference_run_add(struct reference *reference); // NULL: no memory
void reference_run_deinit(struct reference_run *run);
int reference_by_path(const void *a, const void *b); // of struct artifact, for qsort
const struct artifact *reference_run_find(const struct reference_run *run, const char *path);
const struct reference_item *reference_find(const struct reference *reference, const char *path);
bool reference_is_unsteady(const struct reference *reference, const char *directory, size_t size);
// Whether a path is named like one that comes and goes: letters and digits may be others, as in
// names that are drawn or are sums of a content with the time in it.
bool reference_is_like_unsteady(const struct reference *reference, const char *path);
// Whether a text as it was before the runs is no other than what they make of it, but for what
// varies from run to run, such as the times that it keeps of other files: then to leave it is as
// good as to write it.
bool reference_is_like_before(const struct reference *reference, const struct reference_item *item);
// Whether not one line of a text as it was before the runs is in what they make of it, nor half of
// it otherwise: it is replaced and not edited. Of what is no text, or long, that is not known.
bool reference_replaces_content(const struct reference_item *item);
// Whether there was a file with something in it at this path before the runs.
bool reference_was_there(const char *path, uint64_t *ret_size);
// Whether the reference changes what was there before. What is made again with the same content is
// no loss: whoever made it can do so again.
bool reference_changes(const struct artifact *artifact);
// What the reference does not say on stderr: err_more and more of the difference.
_must_check_ struct error *reference_find_more(const struct reference *reference,
                                               const struct artifact *artifact,
                                               struct difference *difference);
// The same elsewhere: an output that speaks of the error that was injected, in the English words of
// strerror(3), reports it; unless these words may just be copied: no output of any reference run
// has them, nor a file as it was before, and all that the runs made of this one is known.
_must_check_ struct error *reference_find_report(const struct reference *reference,
                                                 const struct artifact *artifact,
                                                 const struct observation *observation,
                                                 struct difference *difference);
// Likewise; and whether a file does nothing else: all that the reference (item NULL: it does not
// have it) has is there.
_must_check_ struct error *reference_is_log(const struct reference *reference,
                                            const struct reference_item *item,
                                            const struct artifact *artifact,
                                            const struct observation *observation,
                                            struct difference *difference, bool *ret_log);
// Takes the text of the sentence; `path` of the output that varies, if it is about that, or NULL.
_must_check_ struct error *reference_remark_add(struct reference *reference, enum remark_kind kind,
                                                const char *path, struct buffer *sentence);
// Finds items and unsteady directories, with remarks.
_must_check_ struct error *reference_learn(struct reference *reference);

// Content as a text for lines.h; false if it is none.
bool reference_text(const struct artifact *artifact, struct lines_text *ret_text);
// A path as the store keeps it. Paths are bytes and the store keeps text: \xNN stands for a byte
// that is no UTF-8, \\ for a backslash.
_must_check_ struct error *reference_put_path(struct buffer *text, const char *path);
// "stdout" or the path, quoted.
_must_check_ struct error *reference_put_name(struct buffer *buffer, const char *path);

#endif
