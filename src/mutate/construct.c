// SPDX-License-Identifier: GPL-3.0-or-later
#include "mutate/construct.h"

const char *const construct_words[CONSTRUCTS] = {
    [CONSTRUCT_MACRO] = "macro",
    [CONSTRUCT_INLINED] = "inlined",
    [CONSTRUCT_CHOSEN] = "inlined-by-choice",
    [CONSTRUCT_BUILTIN] = "builtin",
    [CONSTRUCT_SWITCH] = "switch",
    [CONSTRUCT_GOTO] = "goto",
    [CONSTRUCT_LEAVES] = "leaves",
    [CONSTRUCT_NESTED] = "nested",
    [CONSTRUCT_HEADING] = "heading",
    [CONSTRUCT_VALUE] = "value",
    [CONSTRUCT_CHANGE] = "change",
    [CONSTRUCT_ADDRESS] = "address",
};
