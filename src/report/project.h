// SPDX-License-Identifier: GPL-3.0-or-later
// The project that a report is about: a source tree. Code hosts show results at files of that tree,
// named relative to its root.
#ifndef ORDEAL_REPORT_PROJECT_H
#define ORDEAL_REPORT_PROJECT_H

#include "base/error.h"

struct project {
    char *root;      // absolute, without links; NULL: there is none, and no file is in it
    char *directory; // where relative names of files start; NULL: not known
};

// The root is the top directory of the Git working tree that `directory` is in, or `directory`
// itself if it is in none. If it is NULL or does not exist on this machine, the working directory
// takes its place. Free the result with project_deinit().
_must_check_ struct error *project_find(const char *directory, struct project *ret_project);
void project_deinit(struct project *project);

// The name of a file relative to the root; *ret_name is NULL unless that file exists in the tree.
// Relative names in the debug information of installed libraries are those of their own source
// tree: with such a `module` (its file name, or NULL), a relative `file` is in no project. The
// caller frees the name.
_must_check_ struct error *project_name_file(const struct project *project, const char *file,
                                             const char *module, char **ret_name);

#endif
