// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of types that results have.
#ifndef ORDEAL_PROFILE_HEADER_DECLARED_H
#define ORDEAL_PROFILE_HEADER_DECLARED_H

// The type of a function's result, if its declaration is known.
enum declared_result {
    DECLARED_UNKNOWN,
    DECLARED_VOID,
    DECLARED_TRUTH,  // a yes or no
    DECLARED_NUMBER, // an int, an enumeration or less
    DECLARED_LONG,   // a number of 64 bits
    DECLARED_OTHER,  // what has no failures here: floating-point, or names a registered type
    DECLARED_POINTER,
    DECLARED_STRUCTURE,
};

#endif
