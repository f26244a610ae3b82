#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a C program of which it is known, call by call, whether failures are checked.

generate.py DIRECTORY SEED: part-*.c and main.c, the program; library.c, a library whose functions
fail in known ways; truth.json, what holds for the call in each line.
"""

import json
import pathlib
import random
import re
import sys

PARTS = 3

LIBRARY = """\
#include <errno.h>
#include <stdlib.h>
volatile int syn_state;
static char storage[4096];
void *syn_pointer(long size)
{
    if (size < 0 || syn_state == 1) {
        errno = ENOMEM;
        return NULL;
    }
    return storage + size % 64;
}
int syn_minus(int number)
{
    if (syn_state == 1) {
        errno = EIO;
        return -1;
    }
    if (syn_state == 2) {
        errno = EINTR;
        return -1;
    }
    return number & 1023;
}
int syn_codes(int number)
{
    if (syn_state == 1)
        return -1;
    if (syn_state == 2)
        return -2;
    if (syn_state == 3)
        return -3;
    return number & 1023;
}
int syn_negative(int number)
{
    if (syn_state == 1)
        return -EINVAL;
    if (syn_state == 2)
        return -ENOMEM;
    return number & 1023;
}
int syn_zero(int number)
{
    if (number < 0 || syn_state == 1) {
        errno = EIO;
        return -1;
    }
    return 0;
}
void syn_ok(int number) { syn_state += number & 0; }
void syn_failed(int number) { syn_state += number & 0; }
void syn_number(int number, long value) { syn_state += (number + (int)value) & 0; }
void syn_address(int number, void *value) { syn_state += value != storage ? number & 0 : 0; }
"""

HEADER = """\
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
void *syn_pointer(long size);
int syn_minus(int), syn_codes(int), syn_negative(int), syn_zero(int);
void syn_ok(int), syn_failed(int), syn_number(int, long), syn_address(int, void *);
extern volatile int syn_state;
struct pair { int number; void *address; int other; };
struct context { int a, b; long size; char *path, *text; struct pair *pair; char buffer[64]; };
extern int global_number;
extern void *global_address;
#define APART __attribute__((noinline))
"""


class Callee:
    """A function that can fail: its type, a call of it, and what its failures are."""

    def __init__(self, name, kind, ctype, call):
        self.name, self.kind, self.ctype, self.call = name, kind, ctype, call
        self.pointer = ctype.endswith("*")


CALLEES = [
    Callee("syn_pointer", "null", "char *", "syn_pointer(c->size)"),
    Callee("malloc", "null", "char *", "malloc(c->size)"),
    Callee("calloc", "null", "char *", "calloc(c->size, c->a)"),
    Callee("strdup", "null", "char *", "strdup(c->text)"),
    Callee("fopen", "null", "FILE *", "fopen(c->path, c->text)"),
    Callee("syn_minus", "minus", "int", "syn_minus(c->a)"),
    Callee("open", "minus", "int", "open(c->path, c->a)"),
    Callee("dup", "minus", "int", "dup(c->a)"),
    Callee("read", "length", "ssize_t", "read(c->a, c->buffer, c->size)"),
    Callee("write", "length", "ssize_t", "write(c->a, c->buffer, c->size)"),
    Callee("syn_zero", "zero", "int", "syn_zero(c->a)"),
    Callee("close", "zero", "int", "close(c->a)"),
    Callee("unlink", "zero", "int", "unlink(c->path)"),
    Callee("fsync", "zero", "int", "fsync(c->a)"),
    Callee("syn_codes", "codes", "int", "syn_codes(c->a)"),
    Callee("syn_negative", "negative", "int", "syn_negative(c->a)"),
    Callee("mmap", "mapped", "char *", "mmap(0, c->size, 3, 34, c->a, 0)"),
]

# Conditions that hold of a failed result `r`: (name, condition).
FULL = {
    "null": [("null", "r == NULL"), ("not", "!r"), ("reversed", "NULL == r")],
    "minus": [
        ("sign", "r < 0"),
        ("equal", "r == -1"),
        ("at-most", "r <= -1"),
        ("unsigned", "(unsigned)r > 0x7fffffffu"),
        ("unsigned-limit", "(unsigned)r >= 4096u"),
        ("bits", "r & 0x80000000"),
        ("sum", "r + 1 == 0"),
        ("positive", "!(r > 0)"),
        ("register", "r == minus_one"),
        ("inverted", "~r == 0"),
    ],
    "length": [
        ("sign", "r < 0"),
        ("equal", "r == -1"),
        ("positive", "r <= 0"),
        ("unsigned", "(size_t)r > 65536"),
        ("variable", "r != (ssize_t)c->size"),
        ("less-than-variable", "r < (ssize_t)c->size"),
        ("constant-length", "r != 16"),
        ("cut", "(int)r < 0"),
        ("register", "r == minus_one"),
    ],
    "zero": [
        ("sign", "r < 0"),
        ("equal", "r == -1"),
        ("not-zero", "r != 0"),
        ("truth", "r"),
        ("bits", "r & 1"),
        ("register", "r == minus_one"),
    ],
    "codes": [
        ("sign", "r < 0"),
        ("all", "r == -1 || r == -2 || r == -3"),
        ("range", "r >= -3 && r <= -1"),
        ("unsigned", "(unsigned)r >= 0xfffffff0u"),
        ("positive", "!(r >= 0)"),
    ],
    "negative": [
        ("sign", "r < 0"),
        ("all", "r == -EINVAL || r == -ENOMEM"),
        ("kernel", "(unsigned long)(long)r > -4096ul"),
    ],
    "mapped": [
        ("equal", "r == MAP_FAILED"),
        ("number", "(intptr_t)r == -1"),
        ("kernel", "(uintptr_t)r > -4096ul"),
    ],
}
PARTIAL = {
    "codes": [
        ("first", "r == -1", [-2, -3]),
        ("second", "r == -2", [-1, -3]),
        ("two", "r == -1 || r == -3", [-2]),
        ("below", "r < -1", [-1]),
        ("last", "r == -3", [-1, -2]),
    ],
    "negative": [("one", "r == -EINVAL", [-12]), ("other", "r == -ENOMEM", [-22])],
}
# Comparisons that say nothing about failures.
WRONG = {
    "minus": [("zero", "r == 0"), ("constant", "r == 7")],
    "mapped": [("null", "r == NULL")],
    "codes": [("other-code", "r == -9")],
}


class Program:
    """The lines of the program, and what is true of calls in them."""

    def __init__(self, generator):
        self.random = generator
        self.parts = [HEADER.splitlines() for _ in range(PARTS)]
        self.truth = []
        self.cases = []

    def part(self, number):
        return self.parts[number % PARTS]

    def case(self, build, *arguments):
        """Adds one case: `build` returns (lines, truth of the line that contains @CALL@)."""
        number = len(self.cases)
        lines = self.part(number)
        text, facts = build(number, *arguments)
        for line in text.strip("\n").splitlines():
            if "@CALL@" in line:
                line = line.replace("@CALL@", facts["call"])
                self.truth.append(
                    {
                        "file": f"part-{number % PARTS}.c",
                        "line": len(lines) + 1,
                        "case": number,
                        **{key: facts[key] for key in ("function", "idiom", "class")},
                        **{key: facts[key] for key in ("use", "missing", "check") if key in facts},
                    }
                )
            lines.append(line)
        self.cases.append(number)

    def write(self, directory):
        for number, lines in enumerate(self.parts):
            (directory / f"part-{number}.c").write_text("\n".join(lines) + "\n")
        declarations = "\n".join(f"void case_{n}(struct context *);" for n in self.cases)
        table = ", ".join(f"case_{n}" for n in self.cases)
        main = f"""{HEADER}{declarations}
int global_number;
void *global_address;
static void (*volatile const cases[])(struct context *) = {{{table}}};
int main(int count, char **words)
{{
    static struct pair pair;
    static struct context c;
    c.pair = &pair;
    c.path = c.text = words[0];
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases) && i < count - 1; i++)
        cases[i](&c);
    return 0;
}}
"""
        (directory / "main.c").write_text(main)
        (directory / "library.c").write_text(LIBRARY)
        (directory / "truth.json").write_text(json.dumps(self.truth, indent=0) + "\n")


def facts(callee, idiom, verdict, **more):
    return {"call": callee.call, "function": callee.name, "idiom": idiom, "class": verdict, **more}


def constants(condition):
    """A register that holds the constant, out of the compiler's sight."""
    if "minus_one" not in condition:
        return ""
    return '    long minus_one = -1;\n    asm("" : "+r"(minus_one));\n'


def of(condition, what):
    """The condition about something else than `r`."""
    return re.sub(r"\br\b", what, condition)


def use_of(callee, number):
    if callee.pointer:
        return f"syn_address({number}, r);"
    return f"syn_number({number}, r);"


# Every builder below: (number, callee, (idiom, condition, …)) -> text, facts.


def plain(number, callee, form, verdict="checked", **more):
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    if ({condition}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, name, verdict, **more),
    )


def partial(number, callee, form):
    return plain(number, callee, form, "partly", missing=form[2])


def wrong(number, callee, form):
    return plain(number, callee, ("wrong-" + form[0], form[1]), "unchecked", use="passed on")


def later(number, callee, form):
    """Checked after another call: in a register that calls preserve, or in a stack slot."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    syn_ok(c->b);
    syn_ok({number});
    if ({condition})
        syn_failed({number});
    else
        {use_of(callee, number)}
}}
""",
        facts(callee, "later-" + name, "checked"),
    )


def slot(number, callee, form):
    """The result lives on the stack, whatever the compiler would like."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype.rstrip()} volatile held;
    held = @CALL@;
    syn_ok({number});
    {callee.ctype} r = held;
    if ({condition}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "slot-" + name, "checked"),
    )


def vanishes(callee):
    """Compilers leave an allocation out that nobody else sees."""
    return callee.name in ("malloc", "calloc", "strdup")


def direct(number, callee, form):
    """No variable at all: if (f() < 0)."""
    name, condition = form[:2]
    if vanishes(callee) or len(re.findall(r"\br\b", condition)) != 1 or "minus_one" in condition:
        return plain(number, callee, form)
    return (
        f"""
void case_{number}(struct context *c)
{{
    if ({of(condition, "@CALL@")})
        syn_failed({number});
    else
        syn_ok({number});
}}
""",
        facts(callee, "direct-" + name, "checked"),
    )


def ends(number, callee, form):
    """A failure ends the program."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    if ({condition})
        {"abort();" if number % 2 else "exit(%d);" % (number % 100 + 1)}
    {use_of(callee, number)}
}}
""",
        facts(callee, "ends-" + name, "checked"),
    )


def in_loop(number, callee, form):
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    for (int i = 0; i < c->b; i++) {{
        {callee.ctype} r = @CALL@;
        if ({condition}) {{
            syn_failed({number});
            continue;
        }}
        {use_of(callee, number)}
    }}
}}
""",
        facts(callee, "loop-" + name, "checked"),
    )


def among_branches(number, callee, form):
    """The check is shared by two ways of getting the value."""
    name, condition = form[:2]
    other = "(void *)c->buffer" if callee.pointer else "c->b"
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r;
    if (c->b > {number})
        r = @CALL@;
    else
        r = {other};
    if ({condition}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "branches-" + name, "checked"),
    )


def in_caller(number, callee, form, wrapper="APART static"):
    """The value is returned, and the caller checks."""
    name, condition = form[:2]
    return (
        f"""
{wrapper} {callee.ctype} get_{number}(struct context *c)
{{
    syn_ok({number});
    return @CALL@;
}}
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = get_{number}(c);
    if ({condition}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "caller-" + name, "checked"),
    )


def in_caller_inlined(number, callee, form):
    return in_caller(number, callee, form, "static")


def in_callers(number, callee, form):
    """Two callers check, one of them through a second function in between."""
    name, condition = form[:2]
    return (
        f"""
APART static {callee.ctype} get_{number}(struct context *c)
{{
    syn_ok({number});
    {callee.ctype} r = @CALL@;
    syn_ok({number});
    return r;
}}
APART static {callee.ctype} between_{number}(struct context *c)
{{
    syn_ok({number});
    c->b++;
    return get_{number}(c);
}}
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = get_{number}(c);
    if ({condition}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
    r = between_{number}(c);
    if ({condition}) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "callers-" + name, "checked"),
    )


def caller_ignores(number, callee, form):
    return (
        f"""
APART static {callee.ctype} get_{number}(struct context *c)
{{
    syn_ok({number});
    return @CALL@;
}}
void case_{number}(struct context *c)
{{
    {callee.ctype} r = get_{number}(c);
    {use_of(callee, number)}
}}
""",
        facts(callee, "caller-unchecked", "unchecked"),
    )


def guard(number, callee, form):
    """xmalloc: those who call it need no check."""
    name, condition = form[:2]
    return (
        f"""
APART static {callee.ctype} must_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    if ({condition}) {{
        syn_failed({number});
        exit({number % 100 + 1});
    }}
    return r;
}}
void case_{number}(struct context *c)
{{
    {callee.ctype} r = must_{number}(c);
    {use_of(callee, number)}
    r = must_{number}(c);
    {use_of(callee, number)}
}}
""",
        facts(callee, "guard-" + name, "checked"),
    )


def translated(number, callee, form):
    """The result becomes another code, without a branch if the compiler likes."""
    name, condition = form[:2]
    if vanishes(callee):
        return plain(number, callee, form)
    return (
        f"""
APART static int get_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    return ({condition}) ? -{number + 5} : 0;
}}
void case_{number}(struct context *c)
{{
    if (get_{number}(c) != 0)
        syn_failed({number});
    else
        syn_ok({number});
}}
""",
        facts(callee, "translated-" + name, "checked"),
    )


def member(number, callee, form):
    """Stored in a structure and checked there."""
    name, condition = form[:2]
    field = "c->pair->address" if callee.pointer else "c->pair->number"
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {field} = @CALL@;
    if ({of(condition, field)}) {{
        syn_failed({number});
        return;
    }}
    syn_ok({number});
}}
""",
        facts(callee, "member-" + name, "checked"),
    )


def in_global(number, callee, form):
    name, condition = form[:2]
    where = "global_address" if callee.pointer else "global_number"
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {where} = @CALL@;
    if ({of(condition, where)}) {{
        syn_failed({number});
        return;
    }}
    syn_ok({number});
}}
""",
        facts(callee, "global-" + name, "checked"),
    )


def by_switch(number, callee, form):
    cases = {"codes": [-1, -2, -3], "negative": [-12, -22], "minus": [-1], "zero": [-1]}[callee.kind]
    arms = "\n".join(
        f"    case {code}:\n        syn_failed({number + at});\n        break;"
        for at, code in enumerate(cases)
    )
    return (
        f"""
void case_{number}(struct context *c)
{{
    int r = @CALL@;
    switch (r) {{
{arms}
    default:
        syn_number({number}, r);
    }}
}}
""",
        facts(callee, "switch", "checked"),
    )


def by_switch_partly(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    int r = @CALL@;
    switch (r) {{
    case -1:
        syn_failed({number});
        break;
    case -3:
        syn_failed({number + 1});
        break;
    case 4:
        syn_ok({number});
        break;
    default:
        syn_number({number}, r);
    }}
}}
""",
        facts(callee, "switch-partly", "partly", missing=[-2]),
    )


def by_errno(number, callee, form):
    """errno alone is looked at."""
    return (
        f"""
void case_{number}(struct context *c)
{{
    errno = 0;
    {callee.ctype} r = @CALL@;
    if (errno != 0) {{
        syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "errno-only", "checked"),
    )


def with_errno(number, callee, form):
    """Failures are told apart further."""
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    if ({condition}) {{
        if (errno == EAGAIN)
            syn_ok({number});
        else
            syn_failed({number});
        return;
    }}
    {use_of(callee, number)}
}}
""",
        facts(callee, "errno-too-" + name, "checked"),
    )


def interrupted_only(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    {callee.ctype} r;
    do
        r = @CALL@;
    while (r == -1 && errno == EINTR);
    {use_of(callee, number)}
}}
""",
        facts(callee, "interrupted-only", "partly", use="passed on"),
    )


def after_use(number, callee, form):
    name, condition = form[:2]
    return (
        f"""
void case_{number}(struct context *c)
{{
{constants(condition)}    {callee.ctype} r = @CALL@;
    {use_of(callee, number)}
    if ({condition})
        syn_failed({number});
    else
        syn_ok({number});
}}
""",
        facts(callee, "after-use-" + name, "checked", check="after", use="passed on"),
    )


def read_loop(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    ssize_t r;
    while ((r = @CALL@) > 0)
        syn_number({number}, r);
    syn_ok({number});
}}
""",
        facts(callee, "while-positive", "checked"),
    )


def read_loop_wrong(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    ssize_t r;
    while ((r = @CALL@) != 0)
        syn_number({number}, r);
    syn_ok({number});
}}
""",
        facts(callee, "while-not-zero", "unchecked", use="passed on"),
    )


def ignored(number, callee, form):
    cast = "(void)" if number % 2 else ""
    return (
        f"""
void case_{number}(struct context *c)
{{
    syn_ok({number});
    {cast}@CALL@;
    syn_ok({number});
}}
""",
        facts(callee, "ignored-cast" if cast else "ignored", "unchecked", use="ignored"),
    )


def passed(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    syn_ok({number});
    {callee.ctype} r = @CALL@;
    {use_of(callee, number)}
    syn_ok({number});
}}
""",
        facts(callee, "passed", "unchecked", use="passed on"),
    )


def dereferenced(number, callee, form):
    what = {0: "r[1] = (char)c->b;", 1: "c->b += *r;", 2: "((struct pair *)r)->other = c->a;"}
    return (
        f"""
void case_{number}(struct context *c)
{{
    char *r = (void *)@CALL@;
    {what[number % 3]}
    syn_address({number}, r);
}}
""",
        facts(callee, "dereferenced", "unchecked", use="dereferenced"),
    )


def stored(number, callee, form):
    if number % 2:
        where = "global_address" if callee.pointer else "global_number"
    else:
        where = "c->pair->address" if callee.pointer else "c->pair->number"
    return (
        f"""
void case_{number}(struct context *c)
{{
    {where} = @CALL@;
    syn_ok({number});
}}
""",
        facts(
            callee,
            "stored-global" if number % 2 else "stored-member",
            "unchecked",
            use="stored",
        ),
    )


def calculated(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    c->size += @CALL@;
    syn_ok({number});
}}
""",
        facts(callee, "calculated", "unchecked"),
    )


def indexed(number, callee, form):
    return (
        f"""
void case_{number}(struct context *c)
{{
    ssize_t r = @CALL@;
    c->buffer[r] = 0;
    syn_ok({number});
}}
""",
        facts(callee, "indexed", "unchecked"),
    )


def kinds(*wanted):
    return [callee for callee in CALLEES if callee.kind in wanted]


def add_checked(program):
    """Every way to check, for every function; where and how the value travels is drawn."""
    ways = [later, slot, direct, ends, in_loop, among_branches, in_caller, in_caller_inlined]
    ways += [in_callers, guard, translated, with_errno, after_use]
    for callee in CALLEES:
        for form in FULL[callee.kind]:
            program.case(plain, callee, form)
            chosen = program.random.sample(ways, 4)
            for way in chosen:
                program.case(way, callee, form)
    for callee in kinds("null", "mapped", "minus", "zero"):
        for form in program.random.sample(FULL[callee.kind], 2):
            program.case(member, callee, form)
            program.case(in_global, callee, form)
    for callee in kinds("codes", "negative", "minus", "zero"):
        program.case(by_switch, callee, None)
    for callee in kinds("minus", "zero", "length"):
        program.case(by_errno, callee, None)
    for callee in kinds("length"):
        program.case(read_loop, callee, None)


def add_others(program):
    for callee in CALLEES:
        for form in PARTIAL.get(callee.kind, []):
            for _ in range(3):
                program.case(partial, callee, form)
        for form in WRONG.get(callee.kind, []):
            for _ in range(3):
                program.case(wrong, callee, form)
        for _ in range(4):
            program.case(passed, callee, None)
            program.case(stored, callee, None)
            if not vanishes(callee):
                program.case(ignored, callee, None)
        program.case(caller_ignores, callee, None)
    for callee in kinds("null", "mapped"):
        for _ in range(4):
            program.case(dereferenced, callee, None)
    for callee in kinds("minus", "length"):
        program.case(interrupted_only, callee, None)
        program.case(calculated, callee, None)
        program.case(indexed, callee, None)
    for callee in kinds("length"):
        program.case(read_loop_wrong, callee, None)
    for _ in range(6):
        program.case(by_switch_partly, kinds("codes")[0], None)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    program = Program(random.Random(int(sys.argv[2])))
    add_checked(program)
    add_others(program)
    program.write(directory)


if __name__ == "__main__":
    main()
