# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of C libraries whose error returns and side channels are known exactly.

An idiom is a generator function: it writes C text through its Maker and states the truth beside it.
Truth are sets of items: ("returns", value), ("errno", value, number),
("argument", value, which, offset, stored), ("variable", value, name, stored).
"""
import errno
import os
import random
import re

IDIOMS = []
CALLS = {}
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3,
                     "src/profile/system-calls.tab")
BELOW, ABOVE = "below", "above"


def idiom(function):
    IDIOMS.append(function)
    return function


class Function:
    def __init__(self, name, library, kind, bits, signed):
        self.name, self.library, self.idiom = name, library, kind
        self.bits, self.signed = bits, signed
        self.truth = set()
        self.pointer = False

    def successes(self):
        """Results that tell nobody of an error, where nothing else is done: 0 of what returns no
        pointer, 1 of a bool, and positive numbers beside negative ones."""
        results = {item[1] for item in self.truth}
        marked = {item[1] for item in self.truth if item[0] != "returns"}
        fine = set() if self.pointer else {0}
        fine |= {0, 1} if self.bits == 8 and not self.signed else set()
        if any(result < 0 for result in results):
            fine |= {result for result in results if result > 0}
        return fine - marked

    def way(self, value, *errnos):
        """Comes back with value, errno set to any of errnos."""
        self.truth.add(("returns", value))
        for number in errnos:
            self.truth.add(("errno", value, number))
        return self

    def ways(self, *values):
        for value in values:
            self.way(value)
        return self

    def argument(self, value, which, offset, stored):
        self.truth.add(("argument", value, which, offset, stored))
        return self

    def variable(self, value, name, stored):
        self.truth.add(("variable", value, name, stored))
        return self


COMMON = """#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#define APART __attribute__((noinline, noclone, noipa))
#define KEPT __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline, optnone))
#endif
static volatile int sink;
int foreign_step(int), foreign_read(void);
void foreign_clean(int);
void *foreign_new(size_t);
static inline long raw(long n, long a) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "rcx", "r11", "memory");
    return r;
}
"""
# What is called but of no interest: results that cannot be known.
FOREIGN = """int foreign_step(int x) { sink += x; return sink; }
int foreign_read(void) { return sink; }
void foreign_clean(int x) { sink ^= x; }
void *foreign_new(size_t n) { return (char *)&sink + sink + n; }
"""


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.text = {BELOW: COMMON + FOREIGN, ABOVE: COMMON}
        self.functions = []
        self.serial = 0
        self.kind = ""

    def add(self, text, library=ABOVE):
        self.text[library] += text + "\n"

    def function(self, head, body, library=ABOVE, bits=32, signed=True):
        """head: 'int {}(int x)'; the name is made here."""
        self.serial += 1
        name = f"{self.kind}_{self.serial}"
        self.add(head.format(name) + " {\n" + body + "\n}", library)
        function = Function(name, library, self.kind, bits, signed)
        function.pointer = "*{}" in head
        if library == BELOW:
            self.add(head.format(name) + ";", ABOVE)
        self.functions.append(function)
        return function

    def numbers(self, count, low=1, high=130):
        return self.random.sample(range(low, high), count)

    def unique(self, prefix):
        self.serial += 1
        return f"{prefix}_{self.serial}"


def write_program(seed, count):
    maker = Maker(seed)
    for one in IDIOMS:
        maker.kind = one.__name__
        for _ in range(count * (10 if one.__name__ == "mixed" else 1)):
            one(maker)
    return maker


# ---- plain codes ----

@idiom
def negative_code(m):
    a, b = m.numbers(2)
    m.function("int {}(int x)", f"if (x < 0) return -{a}; if (x == 7) {{ sink = 1; return -{b}; }}"
               " sink = x; return 0;").ways(-a, -b, 0)


@idiom
def positive_code(m):
    a, b = m.numbers(2)
    m.function("int {}(int x)", f"if (foreign_step(x)) return {a}; if (foreign_step(2)) return {b};"
               " return 0;").ways(a, b, 0)


@idiom
def other_or_error(m):
    a, = m.numbers(1)
    m.function("int {}(int x)", f"if (x > 100) return -{a}; return foreign_step(x) & 0xffff;").way(-a)


@idiom
def wide_code(m):
    a, = m.numbers(1, 1 << 33, 1 << 40)
    m.function("long {}(int x)", f"if (x == 3) return -{a}; if (x == 4) return -1; sink = x;"
               " return 0;", bits=64).ways(-a, -1, 0)


@idiom
def unsigned_code(m):
    a, = m.numbers(1)
    m.function("unsigned {}(int x)", f"if (foreign_step(x)) return 0xffffffffu - {a};"
               " if (foreign_step(3)) return 0xffffffffu; return 0;",
               signed=False).ways(0xffffffff - a, 0xffffffff, 0)


@idiom
def narrow_code(m):
    a, = m.numbers(1, 1, 100)
    kind, bits = m.random.choice((("signed char", 8), ("short", 16)))
    m.function(kind + " {}(int x)", f"if (foreign_step(x)) return -{a}; if (foreign_step(2))"
               " return -1; return 0;", bits=bits).ways(-a, -1, 0)


@idiom
def truth_value(m):
    a, = m.numbers(1)
    m.function("bool {}(int x)", f"if (x == 3) {{ errno = {a}; return false; }} sink = x;"
               " return true;", bits=8, signed=False).way(0, a).way(1)


@idiom
def comparison(m):
    a, = m.numbers(1)
    m.function("bool {}(int x)", f"return foreign_step(x) > {a};", bits=8, signed=False).ways(0, 1)


@idiom
def null_pointer(m):
    a, = m.numbers(1)
    m.function("void *{}(size_t n)", f"if (n > 100) {{ errno = {a}; return NULL; }}"
               " return (char *)&sink + n;", bits=64).way(0, a)


@idiom
def error_pointer(m):
    a, b = m.numbers(2)
    m.function("void *{}(size_t n)", f"if (n > 100) return (void *)-{a}l; if (n == 3) return (void *)"
               f"-{b}l; return (char *)&sink + n;", bits=64).ways(-a, -b)


# ---- errno ----

@idiom
def sets_errno(m):
    a, b = m.numbers(2)
    m.function("int {}(int x)", f"if (x == 1) {{ errno = {a}; return -1; }} if (x > 77) {{ sink = x;"
               f" errno = {b}; return -1; }} sink = 2; return 0;").way(-1, a, b).way(0)


@idiom
def sets_errno_late(m):
    a, b = m.numbers(2)
    m.function("int {}(int x)", f"int r = 0; if (foreign_step(x)) {{ errno = {a}; r = -1; }}"
               f" else if (foreign_step(1)) {{ errno = {b}; r = -2; }} foreign_clean(x); return r;"
               ).way(-1, a).way(-2, b).way(0)


@idiom
def sets_errno_chosen(m):
    a, b = m.numbers(2)
    m.function("int {}(int x)", f"if (foreign_step(x) < 0) {{ errno = x == 5 ? {a} : {b};"
               " return -1; } return 0;").way(-1, a, b).way(0)


@idiom
def returns_positive_errno(m):
    a, b, c = m.numbers(3)
    m.function("int {}(int x, int *p)", f"if (!p) return {a}; if (x < 0) return {b};"
               f" if (foreign_step(x)) return {c}; sink = *p; return 0;").ways(a, b, c, 0)


# ---- conditions as values ----

@idiom
def chosen(m):
    a, b, k = m.numbers(3)
    m.function("int {}(int x)", f"return x == {k} ? -{a} : -{b};").ways(-a, -b)


@idiom
def chosen_of_three(m):
    a, b, c = m.numbers(3)
    m.function("int {}(int x)", f"int r = foreign_step(x); return r < 0 ? -{a} : r == 0 ? -{b} : {c};"
               ).ways(-a, -b, c)


@idiom
def borrowed(m):
    k, = m.numbers(1)
    m.function("int {}(unsigned x)", f"return x < {k} ? -1 : 0;").ways(-1, 0)


@idiom
def negated_condition(m):
    k, = m.numbers(1)
    m.function("int {}(int x)", f"return -(foreign_step(x) > {k});").ways(-1, 0)


@idiom
def nonzero_as_minus_one(m):
    m.function("int {}(int x)", "return foreign_step(x) ? -1 : 0;").ways(-1, 0)


@idiom
def sign_of_condition(m):
    k, = m.numbers(1)
    m.function("int {}(int x)", f"return foreign_step(x) == {k} ? 1 : -1;").ways(1, -1)


@idiom
def borrowed_pair(m):
    a, b = m.numbers(2)
    m.function("int {}(unsigned x)", f"return x > 9 ? -{a} : {b};").ways(-a, b)


@idiom
def masked_errno(m):
    a, = m.numbers(1)
    m.function("int {}(int x)", f"return foreign_step(x) < 0 ? {a} : 0;").ways(a, 0)


# ---- switch ----

@idiom
def jump_table(m):
    codes = m.numbers(8)
    cases = "\n".join(f"case {i}: foreign_clean({i}); {'sink = x;' * (i % 3)} return -{c};"
                      for i, c in enumerate(codes))
    m.function("int {}(int x)", f"switch (x) {{\n{cases}\ndefault: return 0;\n}}").ways(
        0, *[-c for c in codes])


@idiom
def lookup_table(m):
    codes = m.numbers(9)
    cases = "\n".join(f"case {i}: return -{c};" for i, c in enumerate(codes))
    m.function("int {}(int x)", f"switch (x) {{\n{cases}\ndefault: return -200;\n}}").ways(
        -200, *[-c for c in codes])


@idiom
def lookup_table_offset(m):
    codes, base = m.numbers(7), m.random.randrange(5, 3000)
    cases = "\n".join(f"case {base + i}: e = {c}; break;" for i, c in enumerate(codes))
    m.function("int {}(int x)", f"int e; switch (x) {{\n{cases}\ndefault: e = 199;\n}}\n"
               "foreign_clean(x); return -e;").ways(-199, *[-c for c in codes])


@idiom
def lookup_errno(m):
    codes = m.numbers(6)
    cases = "\n".join(f"case {i + 1}: errno = {c}; break;" for i, c in enumerate(codes))
    m.function("int {}(int x)", f"switch (foreign_step(x)) {{\ncase 0: return 0;\n{cases}\n"
               "default: errno = 198;\n} return -1;").way(0).way(-1, 198, *codes)


@idiom
def linear_switch(m):
    a, = m.numbers(1)
    cases = "\n".join(f"case {i}: return {a + i};" for i in range(6))
    m.function("int {}(int x)", f"switch (x) {{\n{cases}\n}} return -1;").ways(
        -1, *range(a, a + 6))


@idiom
def sparse_switch(m):
    keys, codes = m.numbers(5, 1, 100000), m.numbers(5)
    cases = "\n".join(f"case {k}: return -{c};" for k, c in zip(keys, codes))
    m.function("int {}(int x)", f"switch (x) {{\n{cases}\n}} sink = x; return 0;").ways(
        0, *[-c for c in codes])


# ---- stack slots, saved registers, goto chains ----

@idiom
def goto_out(m):
    a, b, c = m.numbers(3)
    m.function("int {}(int x)", f"int err = -{a}; if (foreign_step(x)) goto out; err = -{b};"
               f" if (foreign_step(x + 1)) goto out; err = -{c}; if (foreign_step(x + 2)) goto out;"
               " err = 0;\nout: foreign_clean(x); return err;").ways(-a, -b, -c, 0)


@idiom
def volatile_slot(m):
    a, b = m.numbers(2)
    m.function("int {}(int x)", f"volatile int err = -{a}; if (foreign_step(x)) goto out;"
               f" err = -{b}; if (foreign_step(3)) goto out; err = 0;\nout: foreign_clean(x);"
               " return err;").ways(-a, -b, 0)


@idiom
def unwound(m):
    a, b, c = m.numbers(3)
    m.function("void *{}(int x)", f"void *p = foreign_new(x); if (!p) goto none; if (foreign_step(x)) {{"
               f" errno = {a}; goto release; }} if (foreign_step(2)) {{ errno = {b}; goto release; }}"
               f" return p;\nrelease: sink = x;\nnone: return NULL;", bits=64).way(0, a, b)


@idiom
def loop(m):
    a, b = m.numbers(2)
    m.function("int {}(int n)", f"int i; for (i = 0; i < n; i++) {{ if (foreign_step(i) < 0)"
               f" return -{a}; if (foreign_read() == i) {{ errno = {b}; return -1; }} }} return 0;"
               ).way(-a).way(-1, b).way(0)


@idiom
def loop_collects(m):
    a, = m.numbers(1)
    m.function("int {}(int n)", f"int r = 0; for (int i = 0; i < n; i++) if (foreign_step(i))"
               f" r = -{a}; return r;").ways(-a, 0)


@idiom
def recursion(m):
    a, b = m.numbers(2)
    name = m.unique("rec")
    m.add(f"static KEPT int {name}(int n) {{ if (n == 0) return -{a}; if (n > 1000) return -{b};"
          f" if (n == 1) {{ sink = n; return 0; }} foreign_clean(n); int r = {name}(n - 1);"
          " foreign_clean(r); return r; }")
    m.function("int {}(int n)", f"return {name}(n + sink);").ways(-a, -b, 0)


@idiom
def mutual_recursion(m):
    a, b = m.numbers(2)
    one, two = m.unique("even"), m.unique("odd")
    m.add(f"KEPT int {two}(int);\nKEPT int {one}(int n) {{ if (n == 0) return -{a};"
          f" foreign_clean(n); int r = {two}(n - 1); foreign_clean(r); return r; }}\n"
          f"KEPT int {two}(int n) {{ if (n == 0) return -{b}; foreign_clean(n); int r = {one}(n - 1);"
          " foreign_clean(r); return r; }")
    m.function("int {}(int n)", f"return {one}(n);").ways(-a, -b)


@idiom
def cold_part(m):
    a, b = m.numbers(2)
    cold = m.unique("report")
    m.add(f"__attribute__((cold, noinline)) static void {cold}(int x) {{ foreign_clean(x); sink = 4; }}")
    m.function("int {}(int x)", f"if (x < 0) {{ {cold}(x); foreign_clean(2); return -{a}; }}"
               f" if (x > 99) {{ {cold}(1); errno = {b}; return -1; }} foreign_clean(x);"
               " sink = 2; return 0;").way(-a).way(-1, b).way(0)


# ---- system calls ----

def number_of(name):
    """Of an error number's name; Python does not know all of them."""
    return {"ERFKILL": 132, "EHWPOISON": 133}.get(name) or getattr(errno, name)


def read_calls():
    """The errors of system calls by number: the table that `ordeal profile` has built in."""
    with open(TABLE, encoding="utf-8") as file:
        calls = re.findall(r"CALL\((\d+), (\w+),([^)]*)\)", file.read())
    table = {int(number): {number_of(word) for word in re.findall(r"\bE[A-Z0-9]+", errors)}
             for number, _, errors in calls}
    for number, name, _ in calls:
        if name in ("mmap", "mprotect", "munmap", "brk", "mremap"):  # EINTR is for the dying
            table[int(number)].discard(errno.EINTR)
    return table


def call_errors(number):
    if not CALLS:
        CALLS.update(read_calls())
    return CALLS.get(number, set())


def some_call(m):
    """One that can fail."""
    while True:
        number = m.random.randrange(1, 300)
        if call_errors(number):
            return number


@idiom
def system_call_wrapper(m):
    n = some_call(m)
    m.function("long {}(long a)", f"long r = raw({n}, a); if ((unsigned long)r >= -4095ul) {{"
               " errno = -r; return -1; } return r;", bits=64).way(-1, *call_errors(n))


@idiom
def system_call_int_wrapper(m):
    n = some_call(m)
    m.function("int {}(int a)", f"int r = raw({n}, a); if (r < 0 && r >= -4095) {{ errno = -r;"
               " return -1; } return r;").way(-1, *call_errors(n))


@idiom
def system_call_raw(m):
    n = some_call(m)
    m.function("long {}(long a)", f"return raw({n}, a);", bits=64).ways(
        *[-e for e in call_errors(n)])


@idiom
def system_call_helper(m):
    n = some_call(m)
    helper = m.unique("result")
    m.add(f"static KEPT long {helper}(unsigned long r) {{ if (r > -4096ul) {{ errno = -r; return -1; }}"
          " return r; }")
    m.function("long {}(long a)", f"return {helper}(raw({n}, a));", bits=64).way(-1, *call_errors(n))


# ---- calls ----

def helper_that_fails(m, library):
    a, b = m.numbers(2)
    name = m.unique("inner")
    text = (f"KEPT int {name}(int x) {{ if (x == 3) {{ errno = {a}; return -1; }}"
            f" if (x > 50) {{ errno = {b}; return -2; }} sink = x; return 0; }}")
    m.add(text, library)
    if library == BELOW:
        m.add(f"int {name}(int);", ABOVE)
    return name, a, b


def anywhere(m):
    return helper_that_fails(m, m.random.choice((BELOW, ABOVE)))


@idiom
def tail_call(m):
    name, a, b = anywhere(m)
    m.function("int {}(int x)", f"sink = 1; return {name}(x + 1);").way(-1, a).way(-2, b).way(0)


@idiom
def through_pointer_table(m):
    name, a, b = helper_that_fails(m, ABOVE)
    m.function("int {}(int x)", f"foreign_clean(x); int r = {name}(x); foreign_clean(r); return r;"
               ).way(-1, a).way(-2, b).way(0)


@idiom
def wrapped(m):
    name, a, b = anywhere(m)
    m.function("int {}(int x)", f"if ({name}(x) < 0) return -9; foreign_clean(x); return 0;"
               ).way(-9, a, b).way(0)


@idiom
def translated(m):
    name, a, b = anywhere(m)
    m.function("int {}(int x)", f"int r = {name}(x); return r < 0 ? -1 : r;").way(-1, a, b).way(0)


@idiom
def passed_on(m):
    name, a, b = anywhere(m)
    other, c, d = anywhere(m)
    m.function("int {}(int x)", f"int r = {name}(x); if (r) return r; r = {other}(x + 1);"
               " if (r < 0) return r; foreign_clean(x); return 0;").way(-1, a, c).way(-2, b, d).way(0)


@idiom
def only_one_code(m):
    name, a, b = anywhere(m)
    m.function("int {}(int x)", f"if ({name}(x) == -1) return -5; foreign_clean(1); return 3;"
               ).way(-5, a).way(3, b)


@idiom
def kept_over_cleanup(m):
    name, a, b = anywhere(m)
    m.function("int {}(int x)", f"int r = {name}(x); foreign_clean(x); foreign_clean(2); return r;"
               ).way(-1, a).way(-2, b).way(0)


@idiom
def negated_result(m):
    a, b = m.numbers(2)
    name = m.unique("inner")
    m.add(f"KEPT int {name}(int x) {{ if (x == 3) return {a}; if (x > 50) return {b}; sink = x;"
          " return 0; }")
    m.function("int {}(int x)", f"foreign_clean(x); return -{name}(x);").ways(-a, -b, 0)


@idiom
def fails_with_argument(m):
    a, b = m.numbers(2)
    name = m.unique("fail")
    m.add(f"static KEPT int {name}(int code) {{ errno = code; return -1; }}")
    m.function("int {}(int x)", f"if (x < 0) return {name}({a}); if (foreign_step(x)) return"
               f" {name}({b}); return 0;").way(-1, a, b).way(0)


@idiom
def returns_argument(m):
    a, b = m.numbers(2)
    name = m.unique("report")
    m.add(f"KEPT int {name}(int line, int code) {{ sink = line; foreign_clean(code); return code; }}",
          BELOW)
    m.add(f"int {name}(int, int);")
    m.function("int {}(int x)", f"if (x < 0) return {name}(__LINE__, -{a}); if (foreign_step(x))"
               f" return {name}(__LINE__, -{b}); return 0;").ways(-a, -b, 0)


@idiom
def indirect_function(m):
    a, b = m.numbers(2)
    name = m.unique("picked")
    library = m.random.choice((BELOW, ABOVE))
    # All implementations of a function do the same, only differently.
    m.add(f"static int {name}_one(int x) {{ if (x < 0) return -{a}; if (x > 9) return -{b}; sink = x;"
          " return 0; }\n"
          f"static int {name}_two(int x) {{ if (x > 9) {{ foreign_clean(x); return -{b}; }}"
          f" sink = x + 1; return x < 0 ? -{a} : 0; }}\n"
          f"static int (*{name}_pick(void))(int) {{ __builtin_cpu_init(); return"
          f" __builtin_cpu_supports(\"avx2\") ? {name}_one : {name}_two; }}\n"
          f"int {name}(int) __attribute__((ifunc(\"{name}_pick\")));", library)
    if library == BELOW:
        m.add(f"int {name}(int);")
    m.function("int {}(int x)", f"int r = {name}(x); foreign_clean(x); return r;").ways(-a, -b, 0)
    direct = Function(name, library, m.kind, 32, True).ways(-a, -b, 0)
    m.functions.append(direct)


# ---- other side channels ----

@idiom
def output_parameter(m):
    a, b = m.numbers(2)
    m.function("int {}(int x, int *out)", f"if (x < 0) {{ *out = {a}; return -1; }} if (x == 9) {{"
               f" *out = {b}; return -2; }} sink = x; return 0;").way(-1).way(-2).way(0).argument(
        -1, 1, 0, a).argument(-2, 1, 0, b)


@idiom
def output_structure(m):
    a, b = m.numbers(2)
    tag = m.unique("status")
    m.add(f"struct {tag} {{ int line, code; long more; }};")
    m.function(f"int {{}}(struct {tag} *s, int x)", f"if (foreign_step(x)) {{ s->code = {a};"
               f" s->more = -{b}; return -1; }} return 0;").ways(-1, 0).argument(
        -1, 0, 4, a).argument(-1, 0, 8, -b)


@idiom
def output_chosen(m):
    a, b = m.numbers(2)
    m.function("int {}(int x, int *out)", f"if (foreign_step(x)) {{ *out = x == 5 ? {a} : {b};"
               " return -1; } return 0;").ways(-1, 0).argument(-1, 1, 0, a).argument(-1, 1, 0, b)


@idiom
def output_checked(m):
    a, = m.numbers(1)
    m.function("void *{}(int x, int *out)", f"if (foreign_step(x)) {{ if (out) *out = -{a};"
               " return NULL; } return (void *)&sink;", bits=64).way(0).argument(0, 1, 0, -a)


@idiom
def output_of_helper(m):
    a, b = m.numbers(2)
    name = m.unique("set")
    m.add(f"static KEPT int {name}(int *place, int code) {{ *place = code; return -1; }}")
    m.function("int {}(int x, int *out)", f"if (x < 0) return {name}(out, {a}); if (foreign_step(x))"
               f" return {name}(out, {b}); return 0;").ways(-1, 0).argument(-1, 1, 0, a).argument(
        -1, 1, 0, b)


@idiom
def global_variable(m):
    a, b = m.numbers(2)
    name = m.unique("last")
    hidden = m.random.choice(("", '__attribute__((visibility("hidden"))) '))
    m.add(f"{hidden}int {name};\nint {name}_read(void)"
          f" {{ return {name}; }}")
    m.function("int {}(int x)", f"if (x < 0) {{ {name} = {a}; return -1; }} if (foreign_step(x)) {{"
               f" {name} = {b}; return -2; }} return 0;").ways(-1, -2, 0).variable(
        -1, name, a).variable(-2, name, b)


@idiom
def global_through_helper(m):
    a, = m.numbers(1)
    name = m.unique("last")
    m.add(f"int {name};\nstatic KEPT int {name}_set(int x) {{ if (x == 3) {{ {name} = {a};"
          " return -1; } sink = x; return 0; }")
    m.function("int {}(int x)", f"foreign_clean(x); if ({name}_set(x)) return -7; return 0;"
               ).ways(-7, 0).variable(-7, name, a)


@idiom
def thread_variable(m):
    a, b = m.numbers(2)
    name = m.unique("own")
    model = m.random.choice(("", '__attribute__((tls_model("initial-exec")))'))
    m.add(f"{m.random.choice(('', 'static '))}__thread int {name} {model};\n"
          f"int {name}_read(void) {{ return {name}; }}\nint *{name}_where(void) {{ return &{name}; }}")
    m.function("int {}(int x)", f"if (x < 0) {{ {name} = {a}; return -1; }} if (foreign_step(x)) {{"
               f" {name} = {b}; return -2; }} return 0;").ways(-1, -2, 0).variable(
        -1, name, a).variable(-2, name, b)


# ---- everything at once ----

def failing_check(m, number, last, leave):
    """A condition and what happens when it holds: C text, and (value, errnos, effects) truth."""
    a, = m.numbers(1)
    value = -(number + 2)
    condition = m.random.choice((f"x == {m.random.randrange(1, 500)}", "foreign_step(x)",
                                 f"foreign_step(x) < {number}", "foreign_read() != x",
                                 f"(unsigned)x > {m.random.randrange(600, 900)}u", "x & 8"))
    if m.random.random() < 0.2:
        condition = f"(foreign_read() > {number} && {condition})"
    kind = m.random.randrange(6)
    if kind == 0:
        return f"if ({condition}) {leave(-a)}", [(-a, [], [])]
    if kind == 1:
        return f"if ({condition}) {{ errno = {a}; {leave(-1)} }}", [(-1, [a], [])]
    if kind == 2:
        return (f"if ({condition}) {{ *out = {a}; {leave(value)} }}",
                [(value, [], [("argument", value, 2, 0, a)])])
    if kind == 3:
        return (f"if ({condition}) {{ {last} = {a}; {leave(value)} }}",
                [(value, [], [("variable", value, last, a)])])
    if kind == 4:
        name, b, c = anywhere(m)
        return f"r = {name}(x + {number}); if (r < 0) {leave('r')}", [(-1, [b], []), (-2, [c], [])]
    name, b, c = anywhere(m)
    return f"if ({name}(foreign_read())) {leave(value)}", [(value, [b, c], [])]


@idiom
def mixed(m):
    last = m.unique("state")
    m.add(f"int {last};\nint {last}_read(void) {{ return {last}; }}")
    chained = m.random.random() < 0.5

    def leave(value):
        return f"{{ err = {value}; goto out; }}" if chained else f"return {value};"

    text, truth = ["int r, err; sink = y;"], []
    for number in range(m.random.randrange(2, 7)):
        # What was asked before must not decide what is asked next.
        check, ways = failing_check(m, number, last, leave)
        check = "x = foreign_read();\n" + check
        if m.random.random() < 0.2:
            check = f"for (int i = 0; i < y; i++) {{ foreign_clean(i); {check} }}"
        text.append(check)
        truth += ways
        if m.random.random() < 0.3:
            text.append(f"foreign_clean({number});")
    text.append("err = 0; out: foreign_clean(y); return err;" if chained else "return 0;")
    function = m.function("int {}(int x, int y, int *out)", "\n".join(text)).way(0)
    for value, errnos, effects in truth:
        function.way(value, *errnos)
        function.truth.update(effects)
