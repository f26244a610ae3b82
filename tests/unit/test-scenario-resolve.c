// Where queries and variables are in a module, checked against the truth: the module is loaded into
// the test, called, and from inside the call its frames are walked and the answers followed as the
// runtime follows them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario/resolve.h"
#include "victim.h"
#include "wire/region.h"

#include <dlfcn.h>
#include <link.h>
#include <time.h>
#include <unwind.h>

// One module's answer, taken apart.
struct answer {
    struct scenario *scenario;
    struct buffer bytes;
    const struct wire_resolution *header;
    const struct wire_range *ranges;
    const struct wire_location *locations;
    const struct wire_step *steps;
};

static void answer_deinit(struct answer *answer)
{
    buffer_deinit(&answer->bytes);
    scenario_free(answer->scenario);
}

static void answer_take(struct answer *answer, const char *path)
{
    buffer_deinit(&answer->bytes);
    good(resolve_module(answer->scenario, path, &answer->bytes));
    assert_true(answer->bytes.size >= sizeof *answer->header);
    answer->header = (const struct wire_resolution *)answer->bytes.data;
    answer->ranges = (const struct wire_range *)(answer->header + 1);
    answer->locations =
        (const struct wire_location *)(answer->ranges + answer->header->range_count);
    answer->steps = (const struct wire_step *)(answer->locations + answer->header->location_count);
    assert_int_equal(answer->bytes.size,
                     (const char *)(answer->steps + answer->header->step_count) -
                         answer->bytes.data);
}

static void add_rule(struct answer *answer, const char *condition)
{
    char spec[512];
    snprintf(spec, sizeof spec, "read=-1/EIO when %s", condition);
    if (answer->scenario == NULL)
        good(scenario_new(&answer->scenario));
    good(scenario_add_spec(answer->scenario, spec));
}

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

static bool matches(const struct answer *answer, uint32_t query, uint64_t address)
{
    for (uint32_t i = 0; i < answer->header->range_count; i++)
        if (answer->ranges[i].query == query && address >= answer->ranges[i].lo &&
            address < answer->ranges[i].hi)
            return true;
    return false;
}

static uint64_t bias_of(void *handle)
{
    struct link_map *map;
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    return map->l_addr;
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

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
        skip();
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
        skip();
    variables_in("clang", "-g -O0", false);
    variables_in("clang", "-g -O2", true);
    variables_in("clang", "-gdwarf-4 -O1", true);
}

static const char calls_source[] =
    "typedef void callback(void *);\n"                                                  // 1
    "__attribute__((noinline)) int plain_call(callback *call) {\n"                      // 2
    "  call(0); __asm__ volatile(\"\");\n"                                              // 3
    "  return 1;\n"                                                                     // 4
    "}\n"                                                                               // 5
    "__attribute__((noinline)) static int local_call(callback *call) {\n"               // 6
    "  call(0); __asm__ volatile(\"\"); return 2;\n"                                    // 7
    "}\n"                                                                               // 8
    "static inline __attribute__((always_inline)) int only_inlined(callback *call) {\n" // 9
    "  call(0); __asm__ volatile(\"\");\n"                                              // 10
    "  return 4;\n"                                                                     // 11
    "}\n"                                                                               // 12
    "int outer(callback *call) { return local_call(call) + 1; }\n"                      // 13
    "int around(callback *call) { return only_inlined(call) + 1; }\n"                   // 14
    "__attribute__((noreturn)) void last(callback *call) {\n"                           // 15
    "  call(0); __builtin_unreachable();\n"                                             // 16
    "}\n";                                                                              // 17

static uint64_t seen;
static sigjmp_buf escape;

static void note_caller(void *data)
{
    seen = (uint64_t)__builtin_return_address(0);
}

static void note_and_leave(void *data)
{
    seen = (uint64_t)__builtin_return_address(0);
    siglongjmp(escape, 1);
}

static uint64_t call_victim(void *handle, const char *name)
{
    ((int (*)(void (*)(void *)))dlsym(handle, name))(note_caller);
    return seen - bias_of(handle);
}

static void queries_in(const char *compiler, const char *options)
{
    static unsigned number;
    char name[32], flags[256];
    snprintf(name, sizeof name, "calls%u.so", number);
    snprintf(flags, sizeof flags, "-shared -fPIC %s", options);
    victim_build(compiler, name, calls_source, flags);
    const char *path = victim_path(name);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    uint64_t plain = call_victim(handle, "plain_call"), local = call_victim(handle, "outer"),
             inlined = call_victim(handle, "around"), last;
    if (sigsetjmp(escape, 0) == 0)
        ((void (*)(void (*)(void *)))dlsym(handle, "last"))(note_and_leave);
    last = seen - bias_of(handle);

    char line3[64], line10[64], wrong[64], site[64], module[64], other[64], stem[64];
    snprintf(line3, sizeof line3, "caller(%s.c:3)", name);
    snprintf(line10, sizeof line10, "caller(\"%s.c:10\")", name);
    snprintf(wrong, sizeof wrong, "caller(s%s.c:3)", name);
    snprintf(site, sizeof site, "caller(%s+0x%lx)", name, (unsigned long)plain);
    snprintf(module, sizeof module, "caller(%s)", name);
    snprintf(other, sizeof other, "caller(lib%s:plain_call)", name);
    snprintf(stem, sizeof stem, "caller(calls%u:plain_call)", number++);
    const char *const rules[] = {"caller(plain_call)",
                                 "caller(local_call)",
                                 "caller(only_inlined)",
                                 "caller(last)",
                                 "caller(*_call)",
                                 line3,
                                 line10,
                                 wrong,
                                 site,
                                 module,
                                 other,
                                 stem,
                                 "caller(absent)"};
    struct answer answer = {0};
    for (uint32_t i = 0; i < COUNT(rules); i++) {
        add_rule(&answer, rules[i]);
        assert_int_equal(scenario_query_count(answer.scenario), i + 1);
    }
    answer_take(&answer, path);
    const struct {
        uint32_t query;
        uint64_t address;
        bool matches;
    } facts[] = {
        {0, plain, true},  {0, local, false},  {0, inlined, false}, {0, last, false},
        {1, local, true},  {1, plain, false},  {2, inlined, true},  {2, plain, false},
        {3, last, true},   {3, plain, false},  {4, plain, true},    {4, local, true},
        {4, last, false},  {5, plain, true},   {5, local, false},   {6, inlined, true},
        {6, plain, false}, {7, plain, false},  {8, plain, true},    {8, plain + 1, false},
        {8, local, false}, {9, plain, true},   {9, last, true},     {10, plain, false},
        {11, plain, true}, {12, plain, false},
    };
    for (size_t i = 0; i < COUNT(facts); i++)
        if (matches(&answer, facts[i].query, facts[i].address) != facts[i].matches)
            fail_msg("%s %s: %s %s 0x%lx", compiler, options, rules[facts[i].query],
                     facts[i].matches ? "misses" : "matches", (unsigned long)facts[i].address);
    for (uint32_t i = 1; i < answer.header->range_count; i++)
        assert_true(answer.ranges[i].query > answer.ranges[i - 1].query ||
                    answer.ranges[i].lo > answer.ranges[i - 1].hi);
    answer_deinit(&answer);
    dlclose(handle);
}

static void functions_lines_and_sites(void **state)
{
    if (victim_has("gcc")) {
        queries_in("gcc", "-g -O0");
        queries_in("gcc", "-g -O2");
        queries_in("gcc", "-gdwarf-4 -O1");
    }
    if (victim_has("clang")) {
        queries_in("clang", "-g -O0");
        queries_in("clang", "-g -O2");
    }
}

// Hand-made code: two calls in a row, functions without sizes, split-off parts.
static const char assembly[] =
    "__asm__(\".text\\n.globl twin, sized\\n.type twin,@function\\n"
    "twin: endbr64\\ntwin_1: call *%rax\\ntwin_2: call *%rcx\\ntwin_3: nop\\nret\\n"
    ".type sized,@function\\nsized: nop\\nnop\\nret\\nsized_end: .size sized,.-sized\\n"
    ".type sized.cold,@function\\nsized.cold: nop\\nud2\\n.size sized.cold,.-sized.cold\\n"
    ".type sized.part.0.cold,@function\\nsized.part.0.cold: nop\\n.size sized.part.0.cold,1\\n"
    ".type sizedness,@function\\nsizedness: nop\\n.size sizedness,1\\n"
    ".type open_end,@function\\nopen_end: nop\\n"
    ".globl after\\n.type after,@function\\nafter: nop\\n.size after,1\\n"
    "\");\n";

static uint64_t address_of(const char *name, const char *symbol)
{
    char command[256];
    snprintf(command, sizeof command, "nm %s | awk '$3 == \"%s\" { print $1 }'", victim_path(name),
             symbol);
    FILE *pipe = popen(command, "r");
    unsigned long address = 0;
    assert_int_equal(fscanf(pipe, "%lx", &address), 1);
    pclose(pipe);
    return address;
}

static void one_range(const struct answer *answer, uint32_t query, uint64_t lo, uint64_t hi)
{
    size_t found = 0;
    for (uint32_t i = 0; i < answer->header->range_count; i++)
        if (answer->ranges[i].query == query && answer->ranges[i].lo == lo &&
            answer->ranges[i].hi == hi)
            found++;
    if (found != 1)
        fail_msg("query %u has no range 0x%lx..0x%lx", query, (unsigned long)lo, (unsigned long)hi);
}

static size_t range_count(const struct answer *answer, uint32_t query)
{
    size_t found = 0;
    for (uint32_t i = 0; i < answer->header->range_count; i++)
        found += answer->ranges[i].query == query;
    return found;
}

static void exact_ranges(void **state)
{
    victim_build(victim_compiler(), "hand.so", assembly, "-shared -fPIC -nostdlib");
    uint64_t first = address_of("hand.so", "twin_1"), second = address_of("hand.so", "twin_2"),
             third = address_of("hand.so", "twin_3"), twin = address_of("hand.so", "twin"),
             sized = address_of("hand.so", "sized"), open_end = address_of("hand.so", "open_end"),
             after = address_of("hand.so", "after"),
             part = address_of("hand.so", "sized.part.0.cold");
    struct answer answer = {0};
    char rule[128];
    const uint64_t sites[] = {first, second, third, 0xffffff, twin};
    for (size_t i = 0; i < COUNT(sites); i++) {
        snprintf(rule, sizeof rule, "caller(hand.so+0x%lx)", (unsigned long)sites[i]);
        add_rule(&answer, rule);
    }
    add_rule(&answer, "caller(sized)");
    add_rule(&answer, "caller(open_end)");
    add_rule(&answer, "caller(twin)");
    answer_take(&answer, victim_path("hand.so"));
    one_range(&answer, 0, second, second + 1); // the call's own address
    assert_int_equal(range_count(&answer, 0), 1);
    one_range(&answer, 1, second, second + 1); // the address of one call and the return of another
    one_range(&answer, 1, third, third + 1);
    one_range(&answer, 2, third, third + 1); // a return address
    assert_int_equal(range_count(&answer, 2), 1);
    assert_int_equal(range_count(&answer, 3), 0); // not in the module
    one_range(&answer, 4, twin, twin + 1);
    one_range(&answer, 5, sized + 1, part + 2); // three parts in a row, not its namesake
    assert_int_equal(range_count(&answer, 5), 1);
    one_range(&answer, 6, open_end + 1, after + 1); // up to the next function
    one_range(&answer, 7, twin + 1, sized + 1);
    answer_deinit(&answer);
    // Without section headers the exported functions are still there.
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("hand.so"), 1 << 26, &file));
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)file.data;
    header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
    victim_write("bare.so", file.data, file.size, 0755);
    answer = (struct answer){0};
    add_rule(&answer, "caller(sized)");
    answer_take(&answer, victim_path("bare.so"));
    one_range(&answer, 0, sized + 1, sized + 4);
    answer_deinit(&answer);
}

static void cplusplus_names(void **state)
{
    if (!victim_has("g++"))
        skip();
    victim_build("g++", "names.so",
                 "namespace ns { struct C { int m(int); int operator()(int); C(); ~C(); };\n"
                 "int C::m(int a) { return a; } C::C() { } C::~C() { }\n"
                 "template <class T> T tf(T a) { return a; } template int tf<int>(int);\n"
                 "int counter = 6; struct D { static int shared; }; int D::shared = 8;\n"
                 "int free_one(int a) { return a; } int free_one(char a) { return a; } }\n"
                 "int refer(int &r, struct ns::C &c) { return r; }\n"
                 "int m() { return 1; }\n",
                 "-shared -fPIC -g -O0");
    struct answer answer = {0};
    static const struct {
        const char *frame;
        const char *symbols[3];
    } cases[] = {
        {"ns::C::m", {"_ZN2ns1C1mEi"}},
        {"C::m", {"_ZN2ns1C1mEi"}},
        {"_ZN2ns1C1mEi", {"_ZN2ns1C1mEi"}},
        {"m", {"_ZN2ns1C1mEi", "_Z1mv"}},
        {"\"ns::tf<int>\"", {"_ZN2ns2tfIiEET_S1_"}},
        {"ns::tf", {"_ZN2ns2tfIiEET_S1_"}},
        {"free_one", {"_ZN2ns8free_oneEi", "_ZN2ns8free_oneEc"}},
        {"\"ns::free_one(char)\"", {"_ZN2ns8free_oneEc"}},
        {"\"ns::C::*\"", {"_ZN2ns1C1mEi", "_ZN2ns1CC1Ev", "_ZN2ns1CD1Ev"}},
        {"ns::C::C", {"_ZN2ns1CC1Ev"}},
        {"s::C::m", {NULL}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char rule[128];
        snprintf(rule, sizeof rule, "caller(%s)", cases[i].frame);
        add_rule(&answer, rule);
    }
    add_rule(&answer, "var(ns::counter) == 6 and var(D::shared) == 8 and var(refer::r) == 1");
    answer_take(&answer, victim_path("names.so"));
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].symbols[0] == NULL)
            assert_int_equal(range_count(&answer, i), 0);
        for (size_t j = 0; j < 3 && cases[i].symbols[j] != NULL; j++)
            if (!matches(&answer, i, address_of("names.so", cases[i].symbols[j]) + 1))
                fail_msg("%s misses %s", cases[i].frame, cases[i].symbols[j]);
    }
    assert_false(matches(&answer, 7, address_of("names.so", "_ZN2ns8free_oneEi") + 1));
    assert_int_equal(answer.header->location_count, 3);
    uint32_t seen_variables = 0;
    for (uint32_t i = 0; i < 3; i++)
        seen_variables |= 1u << answer.locations[i].variable;
    assert_int_equal(seen_variables, 7);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(answer.locations[i].step_count, answer.locations[i].variable == 2);
    answer_deinit(&answer);
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

static void separate_debug_file(void **state)
{
    victim_build(victim_compiler(), "split.so", calls_source, "-shared -fPIC -g -O0");
    assert_true(victim_run("objcopy --only-keep-debug split.so split.so.debug && strip split.so && "
                           "objcopy --add-gnu-debuglink=split.so.debug split.so"));
    struct answer answer = {0};
    add_rule(&answer, "caller(local_call, split.so.c:3) and var(split!plain_call::call) != 0");
    answer_take(&answer, victim_path("split.so"));
    assert_int_equal(range_count(&answer, 0), 1);
    assert_int_equal(range_count(&answer, 1), 1);
    assert_int_equal(answer.header->location_count, 1);
    // Of another build: not believed.
    victim_build(victim_compiler(), "other.so", calls_source, "-shared -fPIC -g -O2 -DX");
    assert_true(victim_run("objcopy --only-keep-debug other.so split.so.debug"));
    answer_take(&answer, victim_path("split.so"));
    assert_int_equal(answer.header->range_count, 0);
    assert_int_equal(answer.header->location_count, 0);
    answer_deinit(&answer);
}

static void modules_nobody_asks_for_are_not_opened(void **state)
{
    struct answer answer = {0};
    add_rule(&answer, "caller(libx.so:f) and var(liby!z) == 1 and caller(libx+0x10)");
    answer_take(&answer, "/nonexistent/libz.so.1");
    assert_int_equal(answer.header->range_count, 0);
    struct buffer bytes = {0};
    bad(resolve_module(answer.scenario, "/nonexistent/libx.so.1", &bytes), "libx.so.1");
    bad(resolve_module(answer.scenario, "/nonexistent/liby.so", &bytes), "liby.so");
    victim_write("libx.so", "not an object", 13, 0644);
    bad(resolve_module(answer.scenario, victim_path("libx.so"), &bytes), "not an ELF file");
    assert_null(bytes.data);
    answer_deinit(&answer);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The bounds are ten times what it takes, so that only a change of order shows.
static void many_queries_are_quick(void **state)
{
    victim_build(victim_compiler(), "many.so", calls_source, "-shared -fPIC -g");
    struct answer answer = {0};
    uint64_t start = address_of("many.so", "plain_call");
    for (unsigned i = 0; i < 10000; i++) {
        char rule[128];
        snprintf(rule, sizeof rule, "caller(many.so+0x%lx)", (unsigned long)(start + i));
        add_rule(&answer, rule);
        if (i % 2 == 0) {
            snprintf(rule, sizeof rule, "caller(function_%u)", i);
            add_rule(&answer, rule);
        }
    }
    assert_int_equal(scenario_query_count(answer.scenario), 15000);
    double before = seconds();
    answer_take(&answer, victim_path("many.so"));
    double taken = seconds() - before;
    if (taken > 1)
        fail_msg("15000 queries took %.3f s", taken);
    assert_true(answer.header->range_count > 50);
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
        struct error *error = resolve_module(answer.scenario, victim_path("damaged.so"), &bytes);
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
        cmocka_unit_test(functions_lines_and_sites),
        cmocka_unit_test(exact_ranges),
        cmocka_unit_test(cplusplus_names),
        cmocka_unit_test(globals_without_dwarf),
        cmocka_unit_test(bare_names_are_not_looked_for_everywhere),
        cmocka_unit_test(copied_globals),
        cmocka_unit_test(separate_debug_file),
        cmocka_unit_test(modules_nobody_asks_for_are_not_opened),
        cmocka_unit_test(many_queries_are_quick),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
