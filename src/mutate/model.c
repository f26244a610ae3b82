// SPDX-License-Identifier: GPL-3.0-or-later
// The table of fault types (G-SWFIT; Tables 3.5 and 3.6 of the thesis on accuracy, classes of its
// Table 4.1).
#include "mutate/model.h"

#include <stddef.h>

// In all types, the module of C04, C07 and C11 is the function.
const struct model_type model_types[MODEL_KINDS] = {
    [MODEL_MFC] = {"MFC", "missing-call", "algorithm",
                   "remove function call whose result is not used", NULL, MODEL_C01 | MODEL_C02,
                   NULL},
    [MODEL_MVIV] = {"MVIV", "missing-init", "assignment",
                    "remove initialisation of a local variable with a value", "MVA",
                    MODEL_C02 | MODEL_C03 | MODEL_C04 | MODEL_C05 | MODEL_C06,
                    "a parameter has its value from the caller: no assignment is its first"},
    [MODEL_MVAV] = {"MVAV", "missing-value", "assignment",
                    "remove assignment of a value to a local variable", "MVA",
                    MODEL_C02 | MODEL_C03 | MODEL_C06 | MODEL_C07,
                    "C04 and C07 exclude each other; C07 holds"},
    [MODEL_MVAE] = {"MVAE", "missing-expression", "assignment",
                    "remove assignment of an expression to a local variable", "MVA",
                    MODEL_C02 | MODEL_C03 | MODEL_C06 | MODEL_C07,
                    "C04 and C07 exclude each other; C07 holds. += and ++ are assignments, too"},
    [MODEL_MIA] = {"MIA", "missing-condition", "checking",
                   "execute statements without the if around them", NULL, MODEL_C08 | MODEL_C09,
                   NULL},
    [MODEL_MIFS] = {"MIFS", "missing-if", "algorithm", "remove if and the statements it guards",
                    NULL, MODEL_C02 | MODEL_C08 | MODEL_C09, NULL},
    [MODEL_MIEB] = {"MIEB", "missing-if-before-else", "algorithm",
                    "remove if and its statements, keep those after else", NULL, MODEL_C09,
                    "the published C08 forbids the else that the type needs"},
    [MODEL_MLAC] = {"MLAC", "missing-and", "checking", "remove one operand of && in a condition",
                    "MLC", 0, "conditions of if, while, do and for; not of ?:"},
    [MODEL_MLOC] = {"MLOC", "missing-or", "checking", "remove one operand of || in a condition",
                    "MLC", 0, "conditions of if, while, do and for; not of ?:"},
    [MODEL_MLPA] = {"MLPA", "missing-part", "algorithm", "remove two to five statements in a row",
                    NULL, MODEL_C02 | MODEL_C10,
                    "two to five statements, none of them control or a loop"},
    [MODEL_WVAV] = {"WVAV", "wrong-value", "assignment", "assign wrong value to local variable",
                    NULL, MODEL_C03 | MODEL_C04 | MODEL_C06,
                    "the value plus one; the opposite of a truth value"},
    [MODEL_WPFV] = {"WPFV", "wrong-variable", "interface",
                    "use wrong variable in function call parameter", NULL, MODEL_C03 | MODEL_C11,
                    "another local variable of the same type: the last declared before the call"},
    [MODEL_WAEP] = {"WAEP", "wrong-expression", "interface",
                    "wrong arithmetic expression in function call parameter", NULL, 0,
                    "of the argument's outermost operator: + for all but +; for that one | (* for "
                    "floating point), - before a constant: compilers change the order of operands"},
};

const char *const model_constraints[MODEL_CONSTRAINTS + 1] = {
    NULL,
    "the result of the call is not used",
    "the construct is not the only statement of its block",
    "the variable is local",
    "it is the first assignment to the variable in the function",
    "the assignment is not inside a loop",
    "the assignment is not part of a for construct",
    "it is not the first assignment to the variable in the function",
    "the if has no else",
    "the block has at most five statements and no loop",
    "the statements are in one block, at most five, without loops",
    "the function has at least two variables",
};
