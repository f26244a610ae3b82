// SPDX-License-Identifier: GPL-3.0-or-later
// Machine-check errors as text, in the format of mce-inject, the tool of Linux' developers:
//
//   CPU 2 BANK 8
//   MCGSTATUS MCIP RIPV
//   STATUS UNCORRECTED 0x0186
//   ADDR 0x11111000
//   NOBROADCAST
//
// Each error begins with CPU. ADDR and MISC set their bits of the status, which is always valid.
#ifndef ORDEAL_MCE_FILE_H
#define ORDEAL_MCE_FILE_H

#include "mce/error.h"

#define MCE_FILE_LIMIT (100u << 20)

// The caller ends the errors with mce_errors_deinit(), also after an error.
_must_check_ struct error *mce_read(const char *name, const char *text, size_t size,
                                    struct mce_errors *ret_errors);
// Appends an error. What it means stands before it as a comment.
_must_check_ struct error *mce_write(const struct mce_error *error, struct buffer *text);

#endif
