// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the reports of sanitizers and valgrind, in what they print and in the files they write.
#ifndef ORDEAL_ORACLE_SANITIZER_REPORT_H
#define ORDEAL_ORACLE_SANITIZER_REPORT_H

#include "base/array.h"
#include "base/error.h"

#include <stddef.h>
#include <time.h>

// Appends a line for each report in `text` that `list` does not have yet: "AddressSanitizer:
// heap-use-after-free a.c:12:3 in f", "valgrind: Invalid read of size 4 in f (a.c:12)". Process
// numbers and addresses are left out, so that the same report gives the same line.
_must_check_ struct error *sanitizer_report_scan(const char *text, size_t size,
                                                 struct buffer *list);

// Finds the beginnings of the paths of the report files, as the workload's environment (*_OPTIONS
// with log_path, VALGRIND_OPTS) and command (--log-file) give them. Relative ones are below
// `directory`. The strings are owned by the list.
typedef ARRAY(char *) sanitizer_report_paths;
_must_check_ struct error *sanitizer_report_find_paths(char *const *command,
                                                       char *const *environment,
                                                       const char *directory,
                                                       sanitizer_report_paths *paths);
void sanitizer_report_paths_deinit(sanitizer_report_paths *paths);

// Scans the files with these beginnings below `root` that were written since `since`. Files that
// cannot be read are skipped.
_must_check_ struct error *sanitizer_report_scan_files(const sanitizer_report_paths *paths,
                                                       const char *root,
                                                       const struct timespec *since,
                                                       struct buffer *list);

#endif
