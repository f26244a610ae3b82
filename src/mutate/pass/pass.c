// SPDX-License-Identifier: GPL-3.0-or-later
// The compiler pass from the top: finds candidates, makes twins, puts markers and faulty clones
// into them, and writes the map into the module.
#include "mutate/pass/pass.h"

#include "base/cleanup.h"
#include "mutate/pass/shim.h"
#include "mutate/pass/source.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

void pass_must(struct error *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "ordeal cc: %s\n", error_message(error));
    exit(EXIT_FAILURE);
}

uint64_t pass_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

uint64_t pass_hash_text(uint64_t hash, const char *text)
{
    return pass_hash(hash, text, strlen(text) + 1);
}

uint64_t pass_random(uint64_t state)
{
    state += 0x9e3779b97f4a7c15u;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
    return state ^ (state >> 31);
}

void pass_mark(struct pass *pass, LLVMValueRef function, const char *attribute)
{
    LLVMAttributeRef mark =
        LLVMCreateStringAttribute(pass->context, attribute, (unsigned)strlen(attribute), "", 0);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, mark);
}

static int by_address(const void *a, const void *b)
{
    const struct pass_lookup *x = a, *y = b;
    return (uintptr_t)x->function < (uintptr_t)y->function ? -1 : x->function != y->function;
}

struct pass_function *pass_function_of(struct pass *pass, LLVMValueRef function)
{
    if (pass->sorted_count != pass->functions.count) {
        free(pass->sorted);
        pass->sorted = calloc(pass->functions.count, sizeof *pass->sorted);
        if (pass->sorted == NULL)
            pass_must(error_no_memory());
        for (size_t i = 0; i < pass->functions.count; i++)
            pass->sorted[i] = (struct pass_lookup){pass->functions.items[i].function, i};
        qsort(pass->sorted, pass->functions.count, sizeof *pass->sorted, by_address);
        pass->sorted_count = pass->functions.count;
    }
    const struct pass_lookup wanted = {.function = function};
    const struct pass_lookup *found =
        bsearch(&wanted, pass->sorted, pass->sorted_count, sizeof *pass->sorted, by_address);
    return found != NULL ? &pass->functions.items[found->index] : NULL;
}

void pass_each_reached(struct pass *pass, LLVMValueRef constant, unsigned depth,
                       void (*found)(void *data, struct pass_function *function), void *data)
{
    if (depth > 6 || LLVMIsAConstant(constant) == NULL)
        return;
    if (LLVMIsAFunction(constant) != NULL) {
        struct pass_function *function = pass_function_of(pass, constant);
        if (function != NULL)
            found(data, function);
    } else if (LLVMIsAGlobalVariable(constant) != NULL) {
        LLVMValueRef content = LLVMGetInitializer(constant);
        if (content != NULL && LLVMIsGlobalConstant(constant))
            pass_each_reached(pass, content, depth + 1, found, data);
    } else if (LLVMIsAConstantExpr(constant) != NULL || LLVMIsAConstantArray(constant) != NULL ||
               LLVMIsAConstantStruct(constant) != NULL) {
        for (int i = 0; i < LLVMGetNumOperands(constant); i++)
            pass_each_reached(pass, LLVMGetOperand(constant, (unsigned)i), depth + 1, found, data);
    }
}

static void pass_free(struct pass *pass)
{
    if (pass == NULL)
        return;
    for (size_t i = 0; i < pass->functions.count; i++) {
        ARRAY_DEINIT(&pass->functions.items[i].candidates);
        ARRAY_DEINIT(&pass->functions.items[i].listed);
        ARRAY_DEINIT(&pass->functions.items[i].left_out);
        ARRAY_DEINIT(&pass->functions.items[i].edges);
    }
    ARRAY_DEINIT(&pass->functions);
    pass_options_deinit(&pass->options);
    buffer_deinit(&pass->strings);
    map_deinit(&pass->interned);
    source_rows_free(pass->rows);
    for (size_t i = 0; i < pass->markers.count; i++)
        shim_handle_free(pass->markers.items[i].call);
    ARRAY_DEINIT(&pass->markers);
    ARRAY_DEINIT(&pass->noted);
    free(pass->sorted);
    free(pass);
}

static void free_pass(struct pass **pass)
{
    pass_free(*pass);
}

// Whether the target is x86-64 and ELF: markers are instructions of that processor, rows are
// sections of that format.
static bool is_supported(LLVMModuleRef module)
{
    const char *target = LLVMGetTarget(module);
    return strncmp(target, "x86_64-", 7) == 0 && strstr(target, "windows") == NULL &&
           strstr(target, "apple") == NULL && strstr(target, "x32") == NULL;
}

// Whether the user wants this file as it is.
static bool is_skipped(const struct pass *pass)
{
    size_t size;
    return source_is_skipped(LLVMGetSourceFileName(pass->module, &size), pass->options.skip);
}

// Nothing is left out silently.
static void tell_left_out(const struct pass *pass)
{
    size_t all = 0, left_out = 0, size;
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        if (subject->skipped)
            continue; // not for lack of room
        all += subject->listed.count;
        for (size_t j = 0; j < subject->listed.count; j++)
            left_out += !subject->listed.items[j].chosen && !subject->listed.items[j].idle;
    }
    if (left_out != 0)
        fprintf(stderr,
                "%s: %zu of %zu faults left out to keep the build small; 'ordeal faults "
                "--left-out' lists them\n",
                LLVMGetSourceFileName(pass->module, &size), left_out, all);
}

static void tell_lost(const struct pass *pass)
{
    size_t size;
    if (pass->rows != NULL && pass->rows->by_function.count != 0 && !pass->rows->used &&
        pass->rows->lost)
        fprintf(stderr,
                "%s: no faults of %d types: debug information has names of files that are not "
                "found here (-ffile-prefix-map)\n",
                LLVMGetSourceFileName(pass->module, &size), MODEL_KINDS);
}

// A module with many small functions would be mostly their faults if each had the least budget:
// together they have that of so many functions.
static void share_least_budget(struct pass *pass)
{
    size_t small = 0;
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        size_t own = pass_function_size(subject->function) * pass->options.budget / 100;
        small += subject->candidates.count != 0 && own < pass->options.least_budget;
    }
    if (small > SMALL_FUNCTIONS)
        pass->options.least_budget =
            (unsigned)(pass->options.least_budget * SMALL_FUNCTIONS / small);
}

static void instrument(struct pass *pass)
{
    if (pass->options.table != NULL)
        pass->rows = source_rows_read(pass, pass->options.table);
    pass_find(pass);
    tell_lost(pass);
    if (pass->functions.count == 0)
        return;
    if (pass->options.decide == MAP_WORLDS)
        pass_make_twins(pass);
    share_least_budget(pass);
    struct pass_counters *counters = pass->options.counters ? pass_counters_new(pass) : NULL;
    for (size_t i = 0; i < pass->functions.count; i++)
        pass_instrument(pass, &pass->functions.items[i]);
    pass_counters_write(pass, counters);
    pass_counters_free(counters);
    if (pass->options.decide == MAP_WORLDS)
        pass_make_entries(pass);
    pass_list_candidates(pass);
}

static void write_map(struct pass *pass)
{
    pass_write_map(pass);
    tell_left_out(pass);
}

// Passes whose modules are being optimised.
static struct pass *waiting;

// Debug information that is asked for takes more room than faults ever do. What a link-time
// optimiser makes of the module is not known here.
static bool can_fit(const struct pass_options *options)
{
    return options->fits && options->decide == MAP_WORLDS && options->strip_debug && !options->lto;
}

bool pass_run(LLVMModuleRef module, const char *options, bool finished)
{
    if (LLVMGetNamedMetadata(module, "ordeal", 6) != NULL)
        return false; // the pass has already run on this module
    LLVMGetOrInsertNamedMetadata(module, "ordeal", 6);
    _cleanup_(free_pass) struct pass *pass = calloc(1, sizeof *pass);
    if (pass == NULL) {
        pass_must(error_no_memory());
        return false;
    }
    pass->module = module;
    pass->context = LLVMGetModuleContext(module);
    pass_options_parse(options, &pass->options);
    pass->options.fits = finished && can_fit(&pass->options);
    shim_keep_ir(pass->options.keep_ir);
    pass_must(buffer_append(&pass->strings, "", 1));
    if (is_supported(module) && !is_skipped(pass))
        instrument(pass);
    if (pass->options.strip_debug && shim_only_lines(module))
        LLVMStripModuleDebugInfo(module);
    if (pass->options.strip_names)
        shim_strip_names(module);
    if (pass->functions.count != 0 && !pass->options.fits)
        write_map(pass);
    else if (pass->functions.count != 0) {
        pass->next = waiting;
        waiting = TAKE(pass);
    }
    return true;
}

// What is not in the module any more has no entry either.
static void forget_entries(struct pass *pass)
{
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        const char *name = pass->strings.data + subject->name;
        subject->entry = subject->entry && LLVMGetNamedFunction(pass->module, name) != NULL;
    }
}

void pass_end(LLVMModuleRef module)
{
    struct pass **at = &waiting;
    while (*at != NULL && (*at)->module != module)
        at = &(*at)->next;
    if (*at == NULL)
        return;
    _cleanup_(free_pass) struct pass *pass = *at;
    *at = pass->next;
    pass->options.fits = false; // no marker is noted any more
    forget_entries(pass);
    pass_fit(pass);
    write_map(pass);
}
