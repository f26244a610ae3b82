// SPDX-License-Identifier: GPL-3.0-or-later
// What sanitizers and valgrind complain about, found in what they print and in the files they
// write.
#ifndef ORDEAL_ORACLE_SANITIZER_REPORT_H
#define ORDEAL_ORACLE_SANITIZER_REPORT_H

#include "base/array.h"
#include "base/error.h"

#include <stddef.h>
#include <time.h>

// Appends a line for each complaint in `text` that `list` does not have yet:
// "AddressSanitizer: heap-use-after-free a.c:12:3 in f", "valgrind: Invalid read of size 4 in f
// (a.c:12)". Without process numbers and addresses: the same complaint gives the same line.
_must_check_ struct error *sanitizer_report_scan(const char *text, size_t size,
                                                 struct buffer *list);

// Beginnings of the paths of files that they write, as the workload's environment (*_OPTIONS with
// log_path, VALGRIND_OPTS) and command (--log-file) say. Owned strings.
typedef ARRAY(char *) sanitizer_report_paths;
_must_check_ struct error *sanitizer_report_find_paths(char *const *command,
                                                       char *const *environment,
                                                       const char *directory,
                                                       sanitizer_report_paths *paths);
void sanitizer_report_paths_deinit(sanitizer_report_paths *paths);

// Scans those that are below `root` and were written since `since`. What cannot be read is left
// out.
_must_check_ struct error *sanitizer_report_scan_files(const sanitizer_report_paths *paths,
                                                       const char *root,
                                                       const struct timespec *since,
                                                       struct buffer *list);

#endif
