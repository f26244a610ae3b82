// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a kernel image: reads the table of system calls, runs the analysis, and translates internal
// error codes to those that programs see.
#include "profile/kernel/kernel.h"

#include "base/cleanup.h"
#include "elf/symbols.h"
#include "elf/tables.h"
#include "flow/image.h"
#include "profile/kernel/operations.h"
#include "profile/kernel/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CALLS 1024

struct entry { // a row of the table of system calls
    uint32_t function;
    bool there;
};

struct kernel {
    ARRAY(struct kernel_call) calls;
    char *version;
    struct kernel_figures figures;
};

struct opening {
    struct kernel *kernel;
    struct elf_object *object;
    struct elf_symbols symbols;
    struct flow_image *image;
    struct operation_targets operations;
    struct entry entries[MOST_CALLS];
};

static void opening_deinit(struct opening *opening)
{
    kernel_close(opening->kernel);
    flow_image_close(opening->image);
    elf_symbols_deinit(&opening->symbols);
    elf_object_close(opening->object);
    ARRAY_DEINIT(&opening->operations.functions);
    ARRAY_DEINIT(&opening->operations.first);
}

void kernel_close(struct kernel *kernel)
{
    if (kernel == NULL)
        return;
    for (size_t i = 0; i < kernel->calls.count; i++)
        free((char *)kernel->calls.items[i].name);
    ARRAY_DEINIT(&kernel->calls);
    free(kernel->version);
    free(kernel);
}

static bool is_named(const struct elf_symbol *symbol, const char *name)
{
    return strlen(name) == symbol->name_size && memcmp(symbol->name, name, symbol->name_size) == 0;
}

static const struct elf_symbol *find_data(const struct elf_symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->data.count; i++)
        if (is_named(&symbols->data.items[i], name))
            return &symbols->data.items[i];
    return NULL;
}

// ---- the table ----

static struct error *read_table(struct opening *opening)
{
    const struct elf_symbol *table = find_data(&opening->symbols, "sys_call_table");
    size_t size = 0;
    const unsigned char *bytes =
        table != NULL ? elf_object_bytes(opening->object, table->start, &size) : NULL;
    if (bytes == NULL)
        return error_new("%s: has no table of system calls (symbol sys_call_table): not a kernel's "
                         "vmlinux with its symbols; a distribution's debug package has one",
                         elf_object_path(opening->object));
    if (size > table->end - table->start)
        size = table->end - table->start;
    for (size_t i = 0; i < size / 8 && i < MOST_CALLS; i++) {
        uint64_t address;
        memcpy(&address, bytes + i * 8, sizeof address);
        uint32_t function = flow_function_at(opening->image, address);
        if (function == FLOW_NONE || opening->image->functions.items[function].start != address)
            continue;
        opening->entries[i] = (struct entry){.function = function, .there = true};
    }
    return NULL;
}

static char *call_name(const struct flow_function *function)
{
    static const char *const prefixes[] = {"__x64_sys_", "__ia32_sys_", "__do_sys_", "sys_"};
    const char *name = function->name != NULL ? function->name : "";
    size_t size = function->name_size;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t skip = strlen(prefixes[i]);
        if (size > skip && memcmp(name, prefixes[i], skip) == 0)
            return strndup(name + skip, size - skip);
    }
    return strndup(name, size);
}

static struct error *read_version(struct opening *opening)
{
    const struct elf_symbol *banner = find_data(&opening->symbols, "linux_banner");
    size_t size = 0;
    const unsigned char *bytes =
        banner != NULL ? elf_object_bytes(opening->object, banner->start, &size) : NULL;
    if (bytes != NULL && size > banner->end - banner->start)
        size = banner->end - banner->start;
    const char *end = bytes != NULL ? memchr(bytes, '\n', size) : NULL;
    opening->kernel->version =
        end != NULL ? strndup((const char *)bytes, (size_t)(end - (const char *)bytes))
                    : strdup("");
    return opening->kernel->version != NULL ? NULL : error_no_memory();
}

// ---- results ----

// What programs see instead of internal codes.
static const struct {
    unsigned code, seen;
} translations[] = {
    {512, EINTR},  // ERESTARTSYS, unless the handler's SA_RESTART repeats the call
    {514, EINTR},  // ERESTARTNOHAND
    {516, EINTR},  // ERESTART_RESTARTBLOCK
    {515, ENOTTY}, // ENOIOCTLCMD
};

// ECHILD is an error only for calls that wait for children. In path lookup it means "retry with
// locks" and does not reach programs.
static bool waits_for_children(const char *name)
{
    return strncmp(name, "wait", 4) == 0;
}

static struct error_set seen_by_programs(const char *name, const struct kernel_outcomes *outcomes)
{
    struct error_set errors = outcomes->errors;
    if (!waits_for_children(name))
        errors.bits[ECHILD / 64] &= ~(1ull << ECHILD % 64);
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++)
        if ((outcomes->codes >> (translations[i].code - KERNEL_CODES_FROM) & 1) != 0)
            error_set_add(&errors, translations[i].seen);
    return errors;
}

static struct error *walk_calls(const struct opening *opening,
                                const struct operation_targets *operations, struct walk **ret_walk)
{
    TRY(walk_new(opening->image, operations, ret_walk));
    for (size_t i = 0; i < MOST_CALLS; i++)
        if (opening->entries[i].there)
            TRY(walk_add(*ret_walk, opening->entries[i].function));
    return walk_run(*ret_walk);
}

static void walk_freep(struct walk **walk)
{
    walk_free(*walk);
}

static struct error *look_at_calls(struct opening *opening)
{
    const struct operation_targets none = {.socket_error = UINT64_MAX};
    struct kernel *kernel = opening->kernel;
    _cleanup_(walk_freep) struct walk *direct = NULL;
    _cleanup_(walk_freep) struct walk *all = NULL;
    TRY(walk_calls(opening, &none, &direct));
    TRY(walk_calls(opening, &opening->operations, &all));
    for (size_t i = 0; i < MOST_CALLS; i++) {
        if (!opening->entries[i].there)
            continue;
        uint32_t function = opening->entries[i].function;
        struct kernel_call *call = ARRAY_ADD(&kernel->calls);
        if (call == NULL)
            return error_no_memory();
        call->number = (int64_t)i;
        call->name = call_name(&opening->image->functions.items[function]);
        if (call->name == NULL)
            return error_no_memory();
        call->errors = seen_by_programs(call->name, walk_outcomes(all, function));
        call->direct = seen_by_programs(call->name, walk_outcomes(direct, function));
    }
    walk_count(all, &kernel->figures);
    kernel->figures.operations = opening->image->imports.count;
    return NULL;
}

struct error *kernel_open(const char *path, struct kernel **ret_kernel)
{
    _cleanup_(opening_deinit) struct opening opening = {0};
    opening.kernel = calloc(1, sizeof *opening.kernel);
    if (opening.kernel == NULL)
        return error_no_memory();
    TRY(elf_object_open(path, &opening.object));
    TRY(elf_symbols_load(opening.object, NULL, &opening.symbols));
    TRY(flow_image_open(opening.object, &opening.image));
    TRY(read_table(&opening));
    TRY(read_version(&opening));
    TRY(operations_find(opening.image, &opening.symbols, &opening.operations));
    TRY(look_at_calls(&opening));
    *ret_kernel = TAKE(opening.kernel);
    return NULL;
}

// ---- answers ----

const struct error_set *kernel_errors(const void *data, int64_t number)
{
    const struct kernel *kernel = data;
    size_t low = 0, high = kernel->calls.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kernel->calls.items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == kernel->calls.count || kernel->calls.items[low].number != number)
        return NULL;
    return &kernel->calls.items[low].errors;
}

size_t kernel_call_count(const struct kernel *kernel)
{
    return kernel->calls.count;
}

const struct kernel_call *kernel_call(const struct kernel *kernel, size_t index)
{
    return &kernel->calls.items[index];
}

const char *kernel_version(const struct kernel *kernel)
{
    return kernel->version;
}

struct kernel_figures kernel_figures(const struct kernel *kernel)
{
    return kernel->figures;
}
