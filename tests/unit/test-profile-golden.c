// SPDX-License-Identifier: GPL-3.0-or-later
// Compares instructions, blocks and outcomes of small pieces of code, tests/golden/profile/*.s,
// with what they are known to be: NAME.txt. A change of behaviour is a difference there;
// ORDEAL_REBASE=1 writes them anew.
#include "profile/library.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/object.h"
#include "flow/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden-help.h"

static const char *const kinds[] = {
    [ISA_OTHER] = "other",
    [ISA_NOTHING] = "nothing",
    [ISA_CONSTANT] = "constant",
    [ISA_COPY] = "copy",
    [ISA_LOAD] = "load",
    [ISA_STORE] = "store",
    [ISA_STORE_CONSTANT] = "store-constant",
    [ISA_ADDRESS] = "address",
    [ISA_ADD] = "add",
    [ISA_SUBTRACT] = "subtract",
    [ISA_SUBTRACT_MEMORY] = "subtract-memory",
    [ISA_ADD_CARRY] = "add-carry",
    [ISA_SUBTRACT_CARRY] = "subtract-carry",
    [ISA_AND] = "and",
    [ISA_OR] = "or",
    [ISA_XOR] = "xor",
    [ISA_SHIFT_LEFT] = "shift-left",
    [ISA_SHIFT_RIGHT] = "shift-right",
    [ISA_SHIFT_SIGNED] = "shift-signed",
    [ISA_NEGATE] = "negate",
    [ISA_INVERT] = "invert",
    [ISA_BORROW] = "borrow",
    [ISA_SET] = "set",
    [ISA_SELECT] = "select",
    [ISA_COMPARE] = "compare",
    [ISA_TEST] = "test",
    [ISA_COMPARE_MEMORY] = "compare-memory",
    [ISA_BIT] = "bit",
    [ISA_PUSH] = "push",
    [ISA_POP] = "pop",
    [ISA_LEAVE] = "leave",
    [ISA_CALL] = "call",
    [ISA_CALL_INDIRECT] = "call-indirect",
    [ISA_JUMP] = "jump",
    [ISA_JUMP_INDIRECT] = "jump-indirect",
    [ISA_BRANCH] = "branch",
    [ISA_RET] = "return",
    [ISA_SYSCALL] = "system-call",
    [ISA_STOP] = "stop",
};

static const char *name_of(uint8_t reg)
{
    static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                        "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                        "r12", "r13", "r14", "r15", "pc"};
    return reg < sizeof names / sizeof *names ? names[reg] : "-";
}

struct showing {
    struct buffer text;
    const struct flow_image *image;
    const struct error_sets *sets;
};

static const char *function_name(const struct flow_image *image, uint32_t function)
{
    static char name[64];
    const struct flow_function *what = &image->functions.items[function];
    snprintf(name, sizeof name, "%.*s", (int)what->name_size, what->name != NULL ? what->name : "");
    return name;
}

// Addresses count from the function's start, so that linkers may put it anywhere.
static struct error *show_insn(struct showing *showing, const struct flow_function *function,
                               const struct isa_insn *insn)
{
    const struct flow_image *image = showing->image;
    struct buffer *text = &showing->text;
    TRY(buffer_printf(text, "  %3llx %s",
                      (unsigned long long)(flow_address(image, insn) - function->start),
                      kinds[insn->kind]));
    if (insn->dst != ISA_NONE)
        TRY(buffer_printf(text, " dst=%s", name_of(insn->dst)));
    if (insn->src != ISA_NONE)
        TRY(buffer_printf(text, " src=%s", name_of(insn->src)));
    if (insn->width != 0)
        TRY(buffer_printf(text, " width=%u", insn->width));
    if (insn->from != 0 && insn->from != insn->width)
        TRY(buffer_printf(text, " from=%u", insn->from));
    if ((insn->flags & ISA_MEMORY) != 0)
        TRY(buffer_printf(text, " [%s%s+%s<<%u", insn->flags & ISA_THREAD ? "thread:" : "",
                          name_of(insn->base), name_of(insn->index), insn->flags & ISA_SCALE));
    if ((insn->flags & ISA_MEMORY) != 0 && insn->base != ISA_PC)
        TRY(buffer_printf(text, "%+lld", (long long)insn->displacement));
    if ((insn->flags & ISA_MEMORY) != 0)
        TRY(buffer_printf(text, "]"));
    bool target = insn->kind == ISA_JUMP || insn->kind == ISA_BRANCH || insn->kind == ISA_CALL;
    uint64_t value = (uint64_t)insn->value;
    if (target && value >= function->start && value < function->end)
        TRY(buffer_printf(text, " to=%llx", (unsigned long long)(value - function->start)));
    else if (!target && insn->value != 0)
        TRY(buffer_printf(text, " value=%lld", (long long)insn->value));
    if (insn->condition != ISA_IF_UNKNOWN)
        TRY(buffer_printf(text, " if=%u", insn->condition));
    return buffer_printf(text, "%s%s%s\n", insn->flags & ISA_SIGNED ? " signed" : "",
                         insn->flags & ISA_FLAGS ? " flags" : "",
                         insn->flags & ISA_RESULT ? " result" : "");
}

static struct error *show_block(struct showing *showing, uint32_t number,
                                const struct flow_function *function)
{
    static const char *const ends[] = {"goes on", "calls", "returns",
                                       "becomes", "stops", "is not understood"};
    const struct flow_image *image = showing->image;
    const struct flow_block *block = &image->blocks.items[number];
    TRY(buffer_printf(&showing->text, " block %u, stack %d, %s", number - function->first_block,
                      block->stack == FLOW_LOST ? 9999 : block->stack, ends[block->end]));
    if (flow_callee_is_import(block->callee))
        TRY(buffer_printf(&showing->text, " %s",
                          image->imports.items[flow_callee_import(block->callee)].name));
    else if (block->callee != FLOW_NONE)
        TRY(buffer_printf(&showing->text, " %s", function_name(image, block->callee)));
    for (uint32_t i = 0; i < block->out_count; i++) {
        static const char *const kinds_of_edges[] = {"falls", "taken", "jumps", "table"};
        const struct flow_edge *edge = &image->edges.items[block->edges_out + i];
        const struct flow_block *to = &image->blocks.items[edge->block];
        if (to->first >= function->first_insn &&
            to->first < function->first_insn + function->insn_count)
            TRY(buffer_printf(&showing->text, " %s:%u", kinds_of_edges[edge->kind],
                              edge->block - function->first_block));
        else
            TRY(buffer_printf(&showing->text, " %s:elsewhere", kinds_of_edges[edge->kind]));
    }
    TRY(buffer_printf(&showing->text, "\n"));
    for (uint32_t i = 0; i < block->count; i++)
        TRY(show_insn(showing, function, &image->insns.items[block->first + i]));
    return NULL;
}

static bool is_shown(const char *name)
{
    static const char *const others[] = {"_init",
                                         "_fini",
                                         "deregister_tm_clones",
                                         "register_tm_clones",
                                         "__do_global_dtors_aux",
                                         "frame_dummy",
                                         ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

static struct error *show_code(struct showing *showing)
{
    const struct flow_image *image = showing->image;
    for (uint32_t f = 0; f < image->functions.count; f++) {
        const struct flow_function *function = &image->functions.items[f];
        char name[64];
        snprintf(name, sizeof name, "%s", function_name(image, f));
        if (!is_shown(name))
            continue;
        TRY(buffer_printf(&showing->text, "%s%s%s\n", name, function->part ? ", a part of " : "",
                          function->part ? function_name(image, function->owner) : ""));
        for (uint32_t b = 0; b < function->block_count; b++)
            TRY(show_block(showing, function->first_block + b, function));
    }
    return NULL;
}

static struct error *show_value(struct showing *showing, const struct value *value)
{
    struct buffer *text = &showing->text;
    const char *minus = value->negative ? "-" : "";
    switch (value->kind) {
    case VALUE_CONSTANT:
        return buffer_printf(text, "%lld", (long long)value->number);
    case VALUE_ARGUMENT:
        return buffer_printf(text, "%sargument %lld", minus, (long long)value->number);
    case VALUE_CALL:
        return buffer_printf(text, "%serrors of call number argument %lld", minus,
                             (long long)value->number);
    case VALUE_ERRORS:
        TRY(buffer_printf(text, "%s{", minus));
        for (unsigned i = 0; i < ERROR_NUMBERS; i++)
            if (error_set_has(&showing->sets->items.items[value->set], i))
                TRY(buffer_printf(text, " %u", i));
        return buffer_printf(text, " }");
    default:
        return buffer_printf(text, "other");
    }
}

static struct error *show_ways(void *data, const struct profile_export *export)
{
    static const char *const effects[] = {"global", "thread", "argument", "own thread"};
    struct showing *showing = data;
    if (!is_shown(export->name) || export->summary == NULL)
        return NULL;
    TRY(buffer_printf(&showing->text, "%s comes back with%s\n", export->name,
                      export->summary->cut ? " (cut)" : ""));
    for (size_t i = 0; i < export->summary->outcomes.count; i++) {
        const struct return_outcome *way = &export->summary->outcomes.items[i];
        TRY(buffer_printf(&showing->text, "  "));
        TRY(show_value(showing, &way->result));
        if (way->sets_error) {
            TRY(buffer_printf(&showing->text, ", errno "));
            TRY(show_value(showing, &way->error));
        }
        for (unsigned e = 0; e < way->effect_count; e++) {
            const struct effect *effect = &way->effects[e];
            bool argument = effect->kind == EFFECT_ARGUMENT;
            TRY(buffer_printf(&showing->text, ", %s", effects[effect->kind]));
            if (argument)
                TRY(buffer_printf(&showing->text, " %u%+lld", effect->argument,
                                  (long long)effect->where));
            if (effect->source != 0)
                TRY(buffer_printf(&showing->text, " = argument %d", effect->source - 1));
            else
                TRY(buffer_printf(&showing->text, " = %lld", (long long)effect->value));
        }
        if (way->conditional)
            TRY(buffer_printf(&showing->text, ", if argument %u is %s[%lld, %lld]", way->argument,
                              way->when.outside ? "not in " : "in ", (long long)way->when.low,
                              (long long)way->when.high));
        TRY(buffer_printf(&showing->text, "\n"));
    }
    return NULL;
}

static const struct error_set *system_call(const void *data, int64_t number)
{
    static struct error_set errors;
    (void)data;
    error_set_add(&errors, 4);
    error_set_add(&errors, 9);
    return number == 3 ? &errors : NULL;
}

static struct error *show_library(const char *path, struct buffer *ret_text)
{
    const struct profile_options options = {.system_call = system_call};
    struct profile_set *set = NULL;
    struct elf_object *object = NULL;
    struct flow_image *image = NULL;
    size_t module;
    struct showing showing = {0};
    struct error *error = elf_object_open(path, &object);
    if (error == NULL)
        error = flow_image_open(object, &image);
    showing.image = image;
    if (error == NULL)
        error = show_code(&showing);
    if (error == NULL)
        error = profile_set_new(&options, &set);
    if (error == NULL)
        error = profile_set_add(set, path, &module);
    if (error == NULL)
        error = profile_set_analyse(set, module);
    if (error == NULL) {
        showing.sets = profile_sets(set);
        error = profile_each_export(set, module, show_ways, &showing);
    }
    profile_set_free(set);
    flow_image_close(image);
    elf_object_close(object);
    *ret_text = showing.text;
    return error;
}

static void check(const char *source, const char *directory)
{
    char golden[512], library[512], command[1200];
    snprintf(golden, sizeof golden, "%.*s.txt", (int)(strlen(source) - 2), source);
    snprintf(library, sizeof library, "%s/lib.so", directory);
    snprintf(command, sizeof command,
             "gcc -nostdlib -shared -Wa,--no-warn -Wl,-z,noexecstack -o %s %s", library, source);
    assert_int_equal(system(command), 0);
    struct buffer shown = {0};
    struct error *error = show_library(library, &shown);
    if (error != NULL)
        fail_msg("%s: %s", source, error_message(error));
    unlink(library);
    golden_compare(golden, &shown);
    buffer_deinit(&shown);
}

static void test_golden(void **state)
{
    golden_each("profile", 5, check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
