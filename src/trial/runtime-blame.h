// SPDX-License-Identifier: GPL-3.0-or-later
// Deaths of targets that the runtime caused, or may have caused.
#ifndef ORDEAL_TRIAL_RUNTIME_BLAME_H
#define ORDEAL_TRIAL_RUNTIME_BLAME_H

#include "base/error.h"
#include "wire/view.h"

// A sentence if a process was killed for a system call that the runtime made, or may have made.
// *ret_text is NULL if nothing speaks for that; the caller frees it.
_must_check_ struct error *runtime_blame(const struct wire_view *view, char **ret_text);

#endif
