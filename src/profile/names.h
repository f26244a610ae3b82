// SPDX-License-Identifier: GPL-3.0-or-later
// What the name of a function says about it, if nothing better is known.
#ifndef ORDEAL_PROFILE_NAMES_H
#define ORDEAL_PROFILE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

// It answers a question (is_valid), or compares two things (strcmp).
bool name_is_predicate(const char *name);
bool name_is_comparison(const char *name);
// Whether it asks if a result is a failure: jv_is_valid, ZSTD_isError.
bool name_asks_validity(const char *name);
// Whether a function tells about an error that was before: ERR_peek_last_error.
bool name_asks_error(const char *name);
// It gives something up, and a pointer that it returns is what is left of it: udev_unref.
bool name_releases(const char *name);
// It looks for something: glp_find_row.
bool name_finds(const char *name);
// Its result is a size, a number of things or a position: json_array_size, ftell.
bool name_is_measure(const char *name);
// Its result is a kind, a state or a version of something: uv_handle_get_type.
bool name_tells_kind(const char *name);
// Whether a name says that something is done, not asked.
bool name_does(const char *name);
// The same of a function whose result is a yes or no, or may be: more words say it.
bool name_acts(const char *name);
// It goes on to the next of something: uv_fs_scandir_next.
bool name_iterates(const char *name);
// Whether a result of a function of the C library is documented and no failure: one of the threads
// gets -1 from pthread_barrier_wait(), and time() returns -1 for a wrong pointer only.
bool name_allows_result(const char *name, int64_t number);
// A function of a library (its soname) that has no result for failure, as its documentation defines
// it. POSIX says of some "no errors are defined" and that the result is always a string, or that
// NULL tells of no error. GLib's slices end the program instead, but their code hides that.
bool name_never_fails(const char *library, const char *name);
// A function of the C library whose result is hardly ever used: printf, pthread_mutex_unlock.
bool name_is_never_used(const char *name);
// It makes an object: foo_create, foo_new.
bool name_makes_object(const char *name);
// It takes the first or last thing out of an object: dbus_connection_pop_message.
bool name_takes_out(const char *name);
// It makes as much or another of what it is given: g_malloc, g_strdup.
bool name_copies(const char *name);
// A function of the C library that looks for something. NULL says that it is not there, which is
// an answer to whoever asks: what is returned because of it need not be a failure.
bool name_answers(const char *name);
// It turns data into other data and returns how much that is: LZ4_compress_default.
bool name_transforms(const char *name);
// It checks something: gluCheckExtension.
bool name_checks(const char *name);
// It gets a property: pango_gravity_get_for_script.
bool name_gets(const char *name);
// Whether a function sets something; it may say whether that changed.
bool name_sets(const char *name);
// Its result is a time to wait: uv_backend_timeout.
bool name_is_timeout(const char *name);
// It reports an error: ERR_set_error, __xmlRaiseError.
bool name_reports_error(const char *name);
// It reports that a function must not be called as it was: g_return_if_fail_warning.
enum name_misuse {
    NAME_MISUSE_NONE,
    NAME_MISUSE,
    NAME_MISUSE_LEVEL, // if its second argument is NAME_CRITICAL: g_critical() is for mistakes
};
#define NAME_CRITICAL 8
enum name_misuse name_reports_misuse(const char *name);

#endif
