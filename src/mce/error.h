// SPDX-License-Identifier: GPL-3.0-or-later
// A machine-check error of x86: what a processor's error-reporting registers hold when it tells the
// system that hardware has failed.
#ifndef ORDEAL_MCE_ERROR_H
#define ORDEAL_MCE_ERROR_H

#include "base/array.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

// Bits of MCi_STATUS.
#define MCE_VAL   (1ull << 63) // there is an error
#define MCE_OVER  (1ull << 62) // another one was lost
#define MCE_UC    (1ull << 61) // not corrected
#define MCE_EN    (1ull << 60) // reporting was enabled
#define MCE_MISCV (1ull << 59) // MCi_MISC is valid
#define MCE_ADDRV (1ull << 58) // MCi_ADDR is valid
#define MCE_PCC   (1ull << 57) // the processor's state may be wrong
#define MCE_S     (1ull << 56) // signalled by an exception
#define MCE_AR    (1ull << 55) // software has to act before the program goes on
#define MCE_CODE  0xffffull    // what failed: code.h
// Bits of MCG_STATUS.
#define MCE_RIPV 1u // the program can go on where it was interrupted
#define MCE_EIPV 2u // that place has to do with the error
#define MCE_MCIP 4u // a machine check is being handled

struct mce_error {
    uint64_t status;        // MCi_STATUS
    uint64_t global;        // MCG_STATUS
    uint64_t address, misc; // MCi_ADDR, MCi_MISC; 0 if their bits in the status are clear
    unsigned processor, bank;
    bool alone;          // only this processor is interrupted, not all
    struct words others; // lines of a file about what Ordeal does not use, such as TSC
};
void mce_error_deinit(struct mce_error *error);

struct mce_errors {
    ARRAY(struct mce_error) list;
};
void mce_errors_deinit(struct mce_errors *errors);

enum mce_category {
    MCE_NONE,        // VAL is clear
    MCE_CORRECTED,   // CE
    MCE_NO_ACTION,   // UCNA: uncorrected and recoverable, no action required
    MCE_OPTIONAL,    // SRAO: action optional
    MCE_REQUIRED,    // SRAR: action required
    MCE_UNDEFINED,   // AR without S
    MCE_UNCORRECTED, // UC: nothing is said about recovery, or PCC
    MCE_CATEGORIES
};
// "none", "CE", "UCNA", "SRAO", "SRAR", "undefined", "UC".
extern const char *const mce_category_names[MCE_CATEGORIES];
// `recovery`: the processor supports recovery by software (SER_P of MCG_CAP).
enum mce_category mce_category(uint64_t status, bool recovery);

// Appends the names of the bits that are set: "VAL UC EN"; bits without a name are left out.
_must_check_ struct error *mce_put_status_bits(uint64_t status, struct buffer *text);
_must_check_ struct error *mce_put_global_bits(uint64_t global, struct buffer *text);
// The bit of that name (in any case), or 0.
uint64_t mce_status_bit(const char *name, size_t size);
uint64_t mce_global_bit(const char *name, size_t size);

#endif
