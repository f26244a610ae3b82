#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Idioms that were written down when the analysis was finished, to be scored once: what it was mended
with cannot flatter it here. holdout.py DIRECTORY SEED, as generate.py."""

import pathlib
import random
import sys

sys.dont_write_bytecode = True
from generate import CALLEES, FULL, Program, constants, facts, of, use_of


def chained(number, callee, form):
    """One condition of several, with the assignment in it."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r;
    if (c->b < 0 || (r = @CALL@, {condition}) || c->b > 77) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "chained-" + name, "checked"),
    )


def predicate(number, callee, form):
    """Another function says whether it failed."""
    name, condition = form[:2]
    return (
        f"""
APART static int bad_{number}({callee.ctype} r, struct context *c)
{{
{constants(condition)}    syn_ok({number});
    return {condition} ? 1 : 0;
}}
void case_{number}(struct context *c)
{{
    {callee.ctype} r = @CALL@;
    if (bad_{number}(r, c)) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "predicate-" + name, "checked"),
    )


def retried(number, callee, form):
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r;
    for (int tries = 0;; tries++) {{
        r = @CALL@;
        if (!({condition}))
            break;
        if (tries == 3) {{
            syn_failed({number});
            return;
        }}
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "retried-" + name, "checked"),
    )


def cleanup(number, callee, form):
    """A status that starts bad, and one way out."""
    name, condition = form[:2]
    return (
        f"""
APART int work_{number}(struct context *c)
{{
{constants(condition)}    int status = -1;
    char *memory = malloc(c->size);
    if (memory == NULL)
        return status;
    {callee.ctype} r = @CALL@;
    if ({condition})
        goto out;
    {use_of(callee, number)}
    status = 0;
out:
    free(memory);
    return status;
}}
void case_{number}(struct context *c)
{{
    if (work_{number}(c) < 0)
        syn_failed({number});
}}
""",
        facts(callee, "cleanup-" + name, "checked"),
    )


def in_array(number, callee, form):
    """In an array on the stack, checked in a second loop."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} all[4];
    {callee.ctype} r = @CALL@;
    all[c->b & 3] = r;
    if ({of(condition, "all[c->b & 3]")}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "array-" + name, "checked"),
    )


def likely(number, callee, form):
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    if (__builtin_expect(!!({condition}), 0)) {{
        syn_failed({number});
        abort();
    }}
    {use_of(callee, number)}
    {use_of(callee, number)}
}}
""",
        facts(callee, "likely-" + name, "checked"),
    )


def only_logged(number, callee, form):
    """Said, and used all the same: a check, if a poor one."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    if ({condition})
        syn_failed({number});
    {use_of(callee, number)}
}}
""",
        facts(callee, "only-logged-" + name, "checked"),
    )


def overwritten(number, callee, form):
    """The variable is compared when it holds something else."""
    name, condition = form[:2]
    other = "(void *)c->pair->address" if callee.pointer else "c->pair->number"
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    {use_of(callee, number)}
    r = {other};
    if ({condition})
        syn_failed({number});
}}
""",
        facts(callee, "overwritten", "unchecked", use="passed on"),
    )


def other_checked(number, callee, form):
    """Two calls, and the wrong result is checked."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} first = @CALL@;
    int r2 = syn_zero(c->b);
    if (r2 < 0) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number).replace("r)", "first)")}
}}
""",
        facts(callee, "other-checked", "unchecked", use="passed on"),
    )


def given_out(number, callee, form):
    """Through an argument of an exported function."""
    return (
        f"""
void give_{number}(struct context *c, {callee.ctype}*place)
{{
    *place = @CALL@;
    syn_ok({number});
}}
void case_{number}(struct context *c)
{{
    syn_ok({number});
}}
""",
        facts(callee, "given-out", "unchecked"),
    )


def conditional_use(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    {callee.ctype} r = @CALL@;
    if (c->b > 3)
        {use_of(callee, number)}
    else
        syn_ok({number});
}}
""",
        facts(callee, "conditional-use", "unchecked", use="passed on"),
    )


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    program = Program(random.Random(int(sys.argv[2])))
    for callee in CALLEES:
        for way in (chained, predicate, retried, cleanup, in_array, likely, only_logged):
            for form in program.random.sample(FULL[callee.kind], 2):
                program.case(way, callee, form)
        for way in (overwritten, other_checked, given_out, conditional_use):
            for form in program.random.sample(FULL[callee.kind], 2):
                program.case(way, callee, form)
    program.write(directory)


if __name__ == "__main__":
    main()
