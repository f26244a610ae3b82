// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the kernel's keyrings from the processes in a sandbox.
#ifndef ORDEAL_SANDBOX_KEYRINGS_H
#define ORDEAL_SANDBOX_KEYRINGS_H

#include "base/error.h"

// From now on this process and its descendants have a session keyring of their own, and none of
// them can use the calls for keys: they fail with ENOSYS. Needs CAP_SYS_ADMIN in its user
// namespace.
_must_check_ struct error *keyrings_leave(void);

#endif
