// SPDX-License-Identifier: GPL-3.0-or-later
// Where variables are in a module, checked against the truth: the module is loaded into the test,
// called, and from inside the call its frames are walked and the answers followed as the runtime
// follows them.
#include "resolve-help.h"
#include "skip.h"

#include <unwind.h>

// Frames of the thread, innermost first.
#define FRAMES 40
struct frame {
    uint64_t pc, sp, registers[17];
};
static struct frame frames[FRAMES];
static size_t frame_count;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *data)
{
    if (frame_count == FRAMES)
        return _URC_END_OF_STACK;
    struct frame *frame = &frames[frame_count++];
    frame->pc = _Unwind_GetIP(context);
    frame->sp = _Unwind_GetCFA(context); // of the frame it called: its own stack pointer
    static const int preserved[] = {3, 6, 12, 13, 14, 15};
    for (size_t i = 0; i < sizeof preserved / sizeof preserved[0]; i++)
        frame->registers[preserved[i]] = _Unwind_GetGR(context, preserved[i]);
    return _URC_NO_REASON;
}

static bool follow(const struct answer *answer, const struct wire_location *location,
                   const struct frame *frame, uint64_t bias, int64_t *ret_value)
{
    uint64_t at = bias + (uint64_t)location->offset, value = 0;
    if (location->base == WIRE_BASE_CFA)
        at = frame[1].sp + (uint64_t)location->offset;
    else if (location->base != WIRE_BASE_STATIC)
        at = (location->reg == 7 ? frame->sp : frame->registers[location->reg]) +
             (uint64_t)location->offset;
    for (uint32_t i = 0; i < location->step_count; i++) {
        const struct wire_step *step = &answer->steps[location->first_step + i];
        if (step->load)
            memcpy(&at, (const void *)at, sizeof at);
        at += (uint64_t)step->offset;
    }
    if (location->width == 0 || location->base == WIRE_BASE_REGISTER_VALUE)
        value = at;
    else
        memcpy(&value, (const void *)at, location->width);
    uint32_t bits = location->bit_width != 0 ? location->bit_width : location->width * 8;
    value >>= location->bit_width != 0 ? location->bit_offset : 0;
    if (bits != 0 && bits < 64) {
        value <<= 64 - bits;
        value =
            location->is_signed ? (uint64_t)((int64_t)value >> (64 - bits)) : value >> (64 - bits);
    }
    *ret_value = (int64_t)value;
    return true;
}

static bool read_variable(const struct answer *answer, uint32_t variable, uint64_t bias,
                          int64_t *ret_value)
{
    const struct wire_location *global = NULL;
    for (size_t f = 0; f + 1 < frame_count; f++)
        for (uint32_t i = 0; i < answer->header->location_count; i++) {
            const struct wire_location *location = &answer->locations[i];
            if (location->variable != variable)
                continue;
            if (location->base == WIRE_BASE_STATIC)
                global = location;
            else if (frames[f].pc - 1 - bias >= location->lo &&
                     frames[f].pc - 1 - bias < location->hi)
                return follow(answer, location, &frames[f], bias, ret_value);
        }
    return global != NULL && follow(answer, global, NULL, bias, ret_value);
}

static const char variables_source[] =
    "typedef void callback(void);\n"
    "struct inner { int a; unsigned b : 3; int c : 5; long d : 33; };\n"
    "typedef struct item { struct item *next; long value; signed char tag;\n"
    "  union { int ui; short us; }; struct { unsigned char x, y; };\n"
    "  struct inner in[3]; const char *text; _Bool flag; double real; } item_t;\n"
    "enum color { RED, GREEN = 5, BLUE = -3 };\n"
    "enum size { SMALL, LARGE = 0xf0000000u };\n"
    "static item_t second = {.next = 0, .value = -99, .tag = -4, .ui = 0x12345678, .x = 1,\n"
    "  .y = 200, .in = {{1, 2, -3, 4}, {5, 6, -7, -8}, {9, 7, 15, 1L << 31}}, .text = \"hey\",\n"
    "  .flag = 1};\n"
    "item_t first = {.next = &second, .value = 11};\n"
    "int plain = -7;\n"
    "static unsigned short narrow = 65535;\n"
    "volatile const unsigned long long wide = 0xfedcba9876543210ull;\n"
    "enum color shade = BLUE;\n"
    "enum size size = LARGE;\n"
    "int matrix[3][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}};\n"
    "int *row = matrix[1];\n"
    "item_t *list = &first;\n"
    "item_t **handle = &list;\n"
    "__thread int per_thread = 4;\n"
    "double real = 1.5;\n"
    "void set(int v) { narrow = (unsigned short)v; }\n"
    "int use(void) { return narrow + shade + size + per_thread + (int)real; }\n"
    "__attribute__((noinline)) long leaf(long given, item_t *node, callback *call) {\n"
    "  static int calls = 41; calls++;\n"
    "  long kept = given * 3; char small = (char)-given;\n"
    "  call();\n"
    "  { long kept = given + 1000; item_t local = *node; local.value = kept; __asm__ volatile(\"\" "
    ": : "
    "\"r\"(&local) : \"memory\");\n"
    "    if (given == 8) call();\n"
    "    given += kept + local.value; __asm__ volatile(\"\" : \"+r\"(given)); }\n"
    "  __asm__ volatile(\"\" : \"+r\"(kept), \"+r\"(given));\n"
    "  return kept + given + small + calls;\n"
    "}\n"
    "static inline __attribute__((always_inline)) long inlined(long twist, callback *call) {\n"
    "  long deep = twist ^ 0x55; __asm__ volatile(\"\" : \"+r\"(deep)); call(); __asm__ "
    "volatile(\"\" : : "
    "\"r\"(deep));\n"
    "  return deep; }\n"
    "__attribute__((noinline)) long middle(long count, callback *call) {\n"
    "  long outer_only = count + 5; __asm__ volatile(\"\" : \"+r\"(outer_only));\n"
    "  long result = leaf(count, list->next, call);\n"
    "  __asm__ volatile(\"\" : : \"r\"(outer_only), \"r\"(count));\n"
    "  return result + outer_only;\n"
    "}\n"
    "long with_inlined(long count, callback *call) {\n"
    "  long r = inlined(count, call); __asm__ volatile(\"\" : : \"r\"(count)); return r + 1; }\n";

struct expected {
    const char *expression;
    int64_t value;
    enum { BY_GCC, ALWAYS } readable; // with optimisation; without it all are
};

static const struct expected globals_expected[] = {
    {"plain", -7, ALWAYS},
    {"narrow", 65535, ALWAYS},
    {"wide", (int64_t)0xfedcba9876543210ull, ALWAYS},
    {"shade", -3, ALWAYS},
    {"size", 0xf0000000, ALWAYS},
    {"first.value", 11, ALWAYS},
    {"second.value", -99, ALWAYS},
    {"second.tag", -4, ALWAYS},
    {"second.ui", 0x12345678, ALWAYS},
    {"second.us", 0x5678, ALWAYS},
    {"second.x", 1, ALWAYS},
    {"second.y", 200, ALWAYS},
    {"second.flag", 1, ALWAYS},
    {"second.in[0].a", 1, ALWAYS},
    {"second.in[0].b", 2, ALWAYS},
    {"second.in[1].c", -7, ALWAYS},
    {"second.in[1].d", -8, ALWAYS},
    {"second.in[2].c", 15, ALWAYS},
    {"second.in[2].d", 1ll << 31, ALWAYS},
    {"second.text[1]", 'e', ALWAYS},
    {"*second.text", 'h', ALWAYS},
    {"matrix[2][3]", 23, ALWAYS},
    {"*matrix[1]", 10, ALWAYS},
    {"row[2]", 12, ALWAYS},
    {"*row", 10, ALWAYS},
    {"list->next->value", -99, ALWAYS},
    {"list->next->in[2].a", 9, ALWAYS},
    {"(*handle)->value", 11, ALWAYS},
    {"(**handle).value", 11, ALWAYS},
    {"handle[0][0].next->tag", -4, ALWAYS},
    {"leaf::calls", 42, ALWAYS},
    {"calls", 42, ALWAYS},
};

static const struct expected locals_expected[] = {
    {"given", 7, ALWAYS},         {"leaf::given", 7, ALWAYS},   {"kept", 21, BY_GCC},
    {"small", -7, BY_GCC},        {"node->value", -99, ALWAYS}, {"node->in[1].b", 6, ALWAYS},
    {"middle::count", 7, ALWAYS}, {"outer_only", 12, ALWAYS},
};

static const struct expected block_expected[] = {
    {"kept", 1008, ALWAYS},       {"local.value", 1008, ALWAYS}, {"local.tag", -4, ALWAYS},
    {"local.in[2].a", 9, ALWAYS}, {"given", 8, ALWAYS},
};

static const struct expected inlined_expected[] = {
    {"deep", 3 ^ 0x55, ALWAYS},
    {"inlined::deep", 3 ^ 0x55, ALWAYS},
    {"with_inlined::count", 3, ALWAYS},
};

// What cannot be read must be absent, not wrong.
static const char *const impossible[] = {
    "per_thread",          "real",       "second.real",  "second",
    "first.nothing",       "plain.x",    "plain[1]",     "*plain",
    "second->value",       "list.value", "no_such_name", "middle::plain",
    "leaf::no_such_local",
};

static struct {
    struct answer answer;
    uint64_t bias;
    const struct expected *expected;
    size_t count;
    bool optimised;
    unsigned call, at; // check in that call of the callback
    bool checked, clang;
    const char *flags;
} trial;

static void check_variables(void)
{
    if (++trial.call != trial.at)
        return;
    frame_count = 0;
    _Unwind_Backtrace(note_frame, NULL);
    trial.checked = true;
    for (size_t i = 0; i < trial.count; i++) {
        const struct expected *expected = &trial.expected[i];
        int64_t value;
        bool readable = read_variable(&trial.answer, (uint32_t)i, trial.bias, &value);
        if (!readable && (!trial.optimised || expected->readable == ALWAYS ||
                          (expected->readable == BY_GCC && !trial.clang)))
            fail_msg("%s: %s cannot be read", trial.flags, expected->expression);
        if (readable && value != expected->value)
            fail_msg("%s: %s is %lld, read as %lld", trial.flags, expected->expression,
                     (long long)expected->value, (long long)value);
    }
}

static void try_variables(const char *path, void *handle, const struct expected *expected,
                          size_t count, const char *function, long argument, unsigned at)
{
    trial.answer = (struct answer){0};
    for (size_t i = 0; i < count; i++) {
        char condition[256];
        snprintf(condition, sizeof condition, "var(%s) == 1", expected[i].expression);
        add_rule(&trial.answer, condition);
    }
    answer_take(&trial.answer, path);
    trial.bias = bias_of(handle);
    trial.expected = expected;
    trial.count = count;
    trial.call = 0;
    trial.at = at;
    trial.checked = false;
    if (strcmp(function, "middle") == 0 || strcmp(function, "with_inlined") == 0)
        ((long (*)(long, void (*)(void)))dlsym(handle, function))(argument, check_variables);
    assert_true(trial.checked);
    answer_deinit(&trial.answer);
    trial.answer = (struct answer){0};
}

static void check_impossible(const char *path)
{
    struct answer answer = {0};
    size_t count = sizeof impossible / sizeof impossible[0];
    for (size_t i = 0; i < count; i++) {
        char condition[256];
        snprintf(condition, sizeof condition, "var(%s) == 1", impossible[i]);
        add_rule(&answer, condition);
    }
    answer_take(&answer, path);
    for (uint32_t i = 0; i < answer.header->location_count; i++)
        fail_msg("%s was located", impossible[answer.locations[i].variable]);
    for (size_t i = 0; i < count; i++) {
        const char *why = NULL;
        good(resolve_explain_variable(answer.scenario, i, path, &why));
        assert_non_null(why);
    }
    const char *why;
    good(resolve_explain_variable(answer.scenario, 0, path, &why));
    assert_string_equal(why, "it is thread-local");
    good(resolve_explain_variable(answer.scenario, 4, path, &why));
    assert_string_equal(why, "it has no such member");
    good(resolve_explain_variable(answer.scenario, 10, path, &why));
    assert_string_equal(why, "there is no variable of that name");
    answer_deinit(&answer);
}

static void variables_in(const char *compiler, const char *options, bool optimised)
{
    static unsigned number;
    char name[32], flags[256];
    snprintf(name, sizeof name, "variables%u.so", number++); // the loader knows names
    snprintf(flags, sizeof flags, "-shared -fPIC -Wl,-z,now -w %s", options);
    victim_build(compiler, name, variables_source, flags);
    const char *path = victim_path(name);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    trial.flags = options;
    trial.optimised = optimised;
    trial.clang = strstr(compiler, "clang") != NULL;
    try_variables(path, handle, globals_expected, COUNT(globals_expected), "middle", 7, 1);
    try_variables(path, handle, locals_expected, COUNT(locals_expected), "middle", 7, 1);
    try_variables(path, handle, block_expected, COUNT(block_expected), "middle", 8, 2);
    try_variables(path, handle, inlined_expected, COUNT(inlined_expected), "with_inlined", 3, 1);
    check_impossible(path);
    dlclose(handle);
}

static void variables_of_gcc(void **state)
{
    if (!victim_has("gcc"))
        skip_because("gcc is not installed");
    variables_in("gcc", "-g -O0", false);
    variables_in("gcc", "-g -O2", true);
    variables_in("gcc", "-g -O1 -fomit-frame-pointer", true);
    variables_in("gcc", "-g -O2 -fno-omit-frame-pointer", true);
    variables_in("gcc", "-gdwarf-3 -gstrict-dwarf -O0", false);
    variables_in("gcc", "-gdwarf-4 -fdebug-types-section -O1", true);
    variables_in("gcc", "-g -gsplit-dwarf -O1", true);
    variables_in("gcc", "-g -gz -O0", false);
}

static void variables_of_clang(void **state)
{
    if (!victim_has("clang"))
        skip_because("clang is not installed");
    variables_in("clang", "-g -O0", false);
    variables_in("clang", "-g -O2", true);
    variables_in("clang", "-gdwarf-4 -O1", true);
}

static void globals_without_dwarf(void **state)
{
    victim_build(victim_compiler(), "symbols.so",
                 "int counted = 5; char text[100]; int f(void) { return counted; }",
                 "-shared -fPIC -g0");
    struct answer answer = {0};
    add_rule(&answer, "var(symbols!counted) == 5 and var(symbols.so!text) == 1 and "
                      "var(symbols!counted.x) == 1");
    answer_take(&answer, victim_path("symbols.so"));
    assert_int_equal(answer.header->location_count, 1);
    assert_int_equal(answer.locations[0].variable, 0);
    assert_int_equal(answer.locations[0].width, 4);
    assert_int_equal(answer.locations[0].offset, address_of("symbols.so", "counted"));
    answer_deinit(&answer);
}

static size_t locations_of(const char *variable, const char *module)
{
    struct answer answer = {0};
    char condition[128];
    snprintf(condition, sizeof condition, "var(%s) == 5", variable);
    add_rule(&answer, condition);
    answer_take(&answer, victim_path(module));
    size_t count = answer.header->location_count;
    answer_deinit(&answer);
    return count;
}

// A bare name is the program's, or of a library built with debug information: the variables of
// other libraries are asked for with their module.
static void bare_names_are_not_looked_for_everywhere(void **state)
{
    static const char library[] = "int counted = 5;";
    const char *compiler = victim_compiler();
    victim_build(compiler, "foreign.so", library, "-shared -fPIC -g0");
    victim_build(compiler, "own.so", library, "-shared -fPIC -g");
    victim_build(compiler, "stripped", "int counted = 5; int main(void) { return counted; }",
                 "-g0");
    // A library that can be run, as libc.so.6 can, is still a library.
    victim_build(compiler, "runnable.so", "int counted = 5; int main(void) { return counted; }",
                 "-g0 -pie -fPIE -rdynamic -Wl,-soname,runnable.so");
    assert_int_equal(locations_of("counted", "foreign.so"), 0);
    assert_int_equal(locations_of("foreign!counted", "foreign.so"), 1);
    assert_int_equal(locations_of("counted", "own.so"), 1);
    assert_int_equal(locations_of("counted", "stripped"), 1);
    assert_int_equal(locations_of("counted", "runnable.so"), 0);
    assert_int_equal(locations_of("\"runnable*\"!counted", "runnable.so"), 1);
}

// The linker copies an imported variable into a program at a fixed address.
static void copied_globals(void **state)
{
    victim_build(victim_compiler(), "libowner.so", "int shared_counter = 5;", "-shared -fPIC -g");
    victim_build(victim_compiler(), "copier",
                 "extern int shared_counter; int main(void) { return shared_counter; }",
                 "-g -fno-pie -no-pie -L. -lowner");
    struct answer answer = {0};
    add_rule(&answer, "var(shared_counter) == 5");
    answer_take(&answer, victim_path("copier"));
    assert_int_equal(answer.header->location_count, 1);
    assert_int_equal(answer.locations[0].offset, address_of("copier", "shared_counter"));
    answer_deinit(&answer);
}

// Truncated and damaged files give an answer or an error.
static void damaged_files(void **state)
{
    victim_build(victim_compiler(), "sound.so", variables_source, "-shared -fPIC -g -O1 -w");
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("sound.so"), 1 << 26, &file));
    struct answer answer = {0};
    add_rule(&answer, "caller(leaf, sound.so.c:30) and var(list->next->in[2].c) == 1");
    add_rule(&answer, "stack(inlined, \"mid*\") and var(kept) == 1 and var(matrix[1][2]) == 2");
    unsigned seed = 7;
    for (size_t i = 0; i < 1500; i++) {
        struct buffer bytes = {0};
        size_t size = file.size;
        seed = seed * 1103515245 + 12345;
        size_t at = (seed >> 3) % file.size;
        if (i < 300)
            size = file.size * i / 300;
        else
            file.data[at] ^= (char)(1 << i % 8);
        victim_write("damaged.so", file.data, size, 0644);
        if (i >= 300)
            file.data[at] ^= (char)(1 << i % 8);
        struct error *error = resolve_module(answer.scenario, victim_path("damaged.so"),
                                             victim_path("damaged.so"), &bytes);
        assert_true(i >= 300 || error != NULL);
        error_free(error);
        buffer_deinit(&bytes);
    }
    answer_deinit(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_gcc),
        cmocka_unit_test(variables_of_clang),
        cmocka_unit_test(globals_without_dwarf),
        cmocka_unit_test(bare_names_are_not_looked_for_everywhere),
        cmocka_unit_test(copied_globals),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
