// SPDX-License-Identifier: GPL-3.0-or-later
// The look at the sources before they are compiled.
#ifndef ORDEAL_CLI_FAULTS_CC_SOURCE_H
#define ORDEAL_CLI_FAULTS_CC_SOURCE_H

#include "base/array.h"

// Finds the faults of the sources on a command line and adds to the plug-in's options where their
// table is. Adds nothing if nothing is compiled, if none of `types` (NULL: all) is found in
// sources, or if they cannot be looked at; then it says why. `skip` is as in --skip-files.
_must_check_ struct error *cc_look_at_sources(const char *compiler, char *const *arguments,
                                              const char *types, const char *skip,
                                              struct buffer *options);

#endif
