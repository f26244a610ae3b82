// SPDX-License-Identifier: GPL-3.0-or-later
// How the environment is written of a definition that only adds to this process's own.
#ifndef ORDEAL_DEFINITION_WRITE_H
#define ORDEAL_DEFINITION_WRITE_H

#include "definition/definition.h"

// Whether the environment has all variables of this process, if with other values. Then it can be
// written as an addition.
bool write_is_addition(const struct words *environment);
// Like definition_write(), but only variables that differ from this process's, with secrets masked.
_must_check_ struct error *write_added(const struct definition *definition, struct buffer *text);

#endif
