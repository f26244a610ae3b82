// SPDX-License-Identifier: GPL-3.0-or-later
// The file of a project, .ordeal.yaml: keys of ordeal-campaign(5) that every test and campaign of
// the project begins with.
#ifndef ORDEAL_DEFINITION_PROJECT_FILE_H
#define ORDEAL_DEFINITION_PROJECT_FILE_H

#include "base/error.h"

#define PROJECT_FILE ".ordeal.yaml"

// Looks for it in the working directory and above, up to the directory that has .git; without one
// nearby, in the working directory alone. *ret_path is NULL if there is none. A file that is not
// the user's own, or that everybody may write to, is an error: it names commands to run. The caller
// frees the path.
_must_check_ struct error *project_file_find(char **ret_path);

#endif
