// SPDX-License-Identifier: GPL-3.0-or-later
// Machine-check errors that a guest gets by QEMU's monitor.
#ifndef ORDEAL_GUEST_MACHINE_CHECK_H
#define ORDEAL_GUEST_MACHINE_CHECK_H

#include "guest/qmp.h"
#include "guest/system.h"
#include "mce/error.h"

// An error if the system does not have this error's processor.
_must_check_ struct error *guest_check_error(const struct guest_system *system,
                                             const struct mce_error *error);
// The same for all, and, if they come together, whether its processors can take that.
_must_check_ struct error *guest_check_errors(const struct guest_system *system,
                                              const struct mce_errors *errors, bool together);
// Puts one into the registers of its processor. Sets *gave_up if a processor gives up because of
// it, and leaves it otherwise.
_must_check_ struct error *guest_inject_error(struct guest_qmp *qmp, const struct mce_error *error,
                                              uint64_t deadline_ns, bool *gave_up);

#endif
