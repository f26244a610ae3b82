// SPDX-License-Identifier: GPL-3.0-or-later
// Each process has a table of modules and a set of code addresses that the trace has names for.
#include "interface/names.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "dwarf/results.h"
#include "dwarf/symbolizer.h"
#include "elf/object.h"
#include "elf/symbols.h"
#include "interface/event.h"

#include <string.h>

struct module {
    char *path;
    uint64_t start, end, bias;
    enum interface_role role;
    struct dwarf_module *file; // of libraries, or NULL
};
struct process {
    uint32_t number;
    ARRAY(struct module) modules;
    struct map known_code, known_functions;
};
struct names {
    ARRAY(struct process) processes;
    struct dwarf_symbolizer *symbolizer;
    struct buffer pending; // a block of names with its header
    uint32_t pending_process;
    struct arena texts; // of the events that are written now
    bool saw_library;
};

struct error *names_new(struct names **ret_names)
{
    struct names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return error_no_memory();
    struct error *error = dwarf_symbolizer_new(&names->symbolizer);
    if (error != NULL) {
        free(names);
        return error;
    }
    *ret_names = names;
    return NULL;
}

static void module_deinit(struct module *module)
{
    free(module->path);
    dwarf_module_close(module->file);
}

static void process_deinit(struct process *process)
{
    for (size_t i = 0; i < process->modules.count; i++)
        module_deinit(&process->modules.items[i]);
    ARRAY_DEINIT(&process->modules);
    map_deinit(&process->known_code);
    map_deinit(&process->known_functions);
}

void names_free(struct names *names)
{
    if (names == NULL)
        return;
    for (size_t i = 0; i < names->processes.count; i++)
        process_deinit(&names->processes.items[i]);
    ARRAY_DEINIT(&names->processes);
    dwarf_symbolizer_free(names->symbolizer);
    buffer_deinit(&names->pending);
    arena_deinit(&names->texts);
    free(names);
}

bool names_saw_library(const struct names *names)
{
    return names->saw_library;
}

static struct error *flush(struct names *names, struct trace_writer *writer)
{
    struct interface_block *block = (struct interface_block *)(void *)names->pending.data;
    if (names->pending.size <= sizeof *block)
        return NULL;
    block->size = (uint16_t)names->pending.size;
    struct error *error = trace_writer_add(writer, block);
    names->pending.size = 0;
    return error;
}

static struct error *put(struct names *names, const struct event *event,
                         struct trace_writer *writer)
{
    // All texts of an event are shorter than two limits.
    if (names->pending.size > INTERFACE_BLOCK_SIZE - 2 * INTERFACE_TEXT_LIMIT - 64)
        TRY(flush(names, writer));
    if (names->pending.size == 0) {
        const struct interface_block head = {.magic = INTERFACE_BLOCK_MAGIC,
                                             .process = names->pending_process,
                                             .sequence = 1,
                                             .kind = INTERFACE_BLOCK_NAMES};
        TRY(buffer_append(&names->pending, &head, sizeof head));
    }
    return event_append(event, &names->pending);
}

static uint64_t limited(const char *text)
{
    size_t size = strlen(text);
    return size < INTERFACE_TEXT_LIMIT ? size : INTERFACE_TEXT_LIMIT;
}

static struct module *find_module(struct process *process, uint64_t address)
{
    for (size_t i = 0; i < process->modules.count; i++) {
        struct module *module = &process->modules.items[i];
        if (address >= module->start && address < module->end)
            return module;
    }
    return NULL;
}

static struct error *name_code(struct names *names, struct process *process, uint64_t code,
                               struct trace_writer *writer)
{
    bool is_new;
    TRY(map_add(&process->known_code, code, &is_new));
    const struct module *module = is_new ? find_module(process, code) : NULL;
    if (module == NULL || module->role == INTERFACE_ROLE_NONE)
        return NULL;
    struct dwarf_position position =
        dwarf_symbolizer_find(names->symbolizer, module->path, code - module->bias);
    char without_line[INTERFACE_TEXT_LIMIT];
    const char *function = position.symbol == NULL ? "" : position.symbol;
    const char *file = position.file == NULL ? "" : file_base_name(position.file);
    if (position.file == NULL || position.line == 0) {
        position.line = 0;
        snprintf(without_line, sizeof without_line, "%s+%llx", file_base_name(module->path),
                 (unsigned long long)(code - module->bias));
        file = without_line;
    }
    return put(names,
               &(struct event){.kind = INTERFACE_PLACE,
                               .numbers = {code, position.line, limited(function), limited(file)},
                               .texts = {function, file}},
               writer);
}

// What the C compiler puts into every library has no debugging information.
static bool is_of_compiler(const char *function)
{
    static const char *const names[] = {"_init", "_fini", "frame_dummy", "__do_global_dtors_aux"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], function) == 0)
            return true;
    return false;
}

static struct dwarf_result_type result_of(struct module *module, uint64_t address,
                                          const char *function)
{
    if (function != NULL && is_of_compiler(function))
        return (struct dwarf_result_type){.kind = DWARF_RESULT_NONE};
    return module->file == NULL || function == NULL
               ? (struct dwarf_result_type){.kind = DWARF_RESULT_UNKNOWN,
                                            .registers = DWARF_PARAMETER_REGISTERS}
               : dwarf_result_type_of(module->file, function);
}

static const char *symbol_of(struct names *names, struct module *module, uint64_t address)
{
    const struct elf_symbols *symbols;
    if (module->file == NULL)
        return NULL;
    struct error *error = dwarf_module_symbols(module->file, &symbols);
    if (error != NULL) { // then the function has no name
        error_free(error);
        return NULL;
    }
    const struct elf_symbol *symbol = elf_symbols_find(symbols, address);
    return symbol == NULL ? NULL : arena_copy(&names->texts, symbol->name, symbol->name_size);
}

static enum interface_result result_kind(const struct dwarf_result_type *type)
{
    switch (type->kind) {
    case DWARF_RESULT_NONE:
    case DWARF_RESULT_LONG_DOUBLE: // in registers that are not recorded
    case DWARF_RESULT_COMPLEX_LONG:
        return INTERFACE_RESULT_NONE;
    case DWARF_RESULT_GENERAL:
        return type->is_pointer ? INTERFACE_RESULT_POINTER : INTERFACE_RESULT_NUMBER;
    case DWARF_RESULT_MEMORY:
        return INTERFACE_RESULT_POINTER;
    case DWARF_RESULT_VECTOR:
        return INTERFACE_RESULT_VECTOR;
    case DWARF_RESULT_UNKNOWN:
    case DWARF_RESULT_MIXED:
        break;
    }
    return INTERFACE_RESULT_UNKNOWN;
}

static struct error *name_function(struct names *names, struct process *process, uint64_t code,
                                   struct trace_writer *writer)
{
    bool is_new;
    TRY(map_add(&process->known_functions, code, &is_new));
    struct module *module = is_new ? find_module(process, code) : NULL;
    if (module == NULL)
        return NULL;
    const char *name = symbol_of(names, module, code - module->bias);
    struct dwarf_result_type type = result_of(module, code - module->bias, name);
    if (name == NULL)
        name = "?";
    uint64_t bytes =
        type.kind == DWARF_RESULT_MEMORY || type.bytes == 0 || type.bytes > 8 ? 8 : type.bytes;
    return put(
        names,
        &(struct event){.kind = INTERFACE_FUNCTION,
                        .numbers = {code, result_kind(&type), bytes, type.registers, limited(name)},
                        .texts = {name}},
        writer);
}

static void close_object(struct elf_object **object)
{
    elf_object_close(*object);
}

static struct error *name_objects(struct names *names, struct module *module,
                                  struct trace_writer *writer)
{
    const struct elf_symbols *symbols;
    TRY(dwarf_module_symbols(module->file, &symbols));
    for (size_t i = 0; i < symbols->data.count; i++) {
        const struct elf_symbol *symbol = &symbols->data.items[i];
        uint64_t start = symbol->start + module->bias, size = symbol->end - symbol->start;
        if (symbol->end <= symbol->start || start < module->start || start >= module->end ||
            size > module->end - start)
            continue;
        uint64_t name_size =
            symbol->name_size < INTERFACE_TEXT_LIMIT ? symbol->name_size : INTERFACE_TEXT_LIMIT;
        TRY(put(names,
                &(struct event){.kind = INTERFACE_OBJECT,
                                .numbers = {start, size, name_size},
                                .texts = {symbol->name}},
                writer));
    }
    return NULL;
}

static struct error *add_module(struct names *names, struct process *process,
                                const struct event *event, struct trace_writer *writer)
{
    _cleanup_(close_object) struct elf_object *object = NULL;
    struct module *known = find_module(process, event->numbers[0]);
    uint64_t lo, hi, role = event->numbers[4];
    if (known != NULL || event->numbers[2] != 0 || role > INTERFACE_ROLE_NONE)
        return NULL; // a part of a module
    const char *path = arena_copy(&names->texts, event->texts[0], event->numbers[6]);
    if (path == NULL)
        return error_no_memory();
    struct error *error = elf_object_open_bare(path, &object);
    if (error != NULL) { // a file with data
        error_free(error);
        return NULL;
    }
    if (!elf_object_extent(object, &lo, &hi))
        return NULL;
    struct module *module = ARRAY_ADD(&process->modules);
    if (module == NULL || (module->path = strdup(path)) == NULL)
        return error_no_memory();
    module->bias = event->numbers[0] - (lo & ~UINT64_C(4095));
    module->start = lo + module->bias;
    module->end = ((hi + 4095) & ~UINT64_C(4095)) + module->bias;
    module->role = (enum interface_role)role;
    const char *name = file_base_name(path);
    TRY(put(names,
            &(struct event){
                .kind = INTERFACE_MODULE,
                .numbers = {module->start, module->end - module->start, role, limited(name)},
                .texts = {name}},
            writer));
    if (role != INTERFACE_ROLE_LIBRARY)
        return NULL;
    names->saw_library = true;
    TRY(dwarf_module_open(path, &module->file));
    return name_objects(names, module, writer);
}

static void remove_modules(struct process *process, uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < process->modules.count;) {
        struct module *module = &process->modules.items[i];
        if (module->start < start || module->start - start >= size) {
            i++;
            continue;
        }
        module_deinit(module);
        *module = process->modules.items[--process->modules.count];
        map_clear(&process->known_code);
        map_clear(&process->known_functions);
    }
}

static struct process *find_process(struct names *names, const struct interface_block *block)
{
    for (size_t i = 0; i < names->processes.count; i++) {
        struct process *process = &names->processes.items[i];
        if (process->number != block->process)
            continue;
        if (block->sequence == 0) { // another program
            process_deinit(process);
            *process = (struct process){.number = block->process};
        }
        return process;
    }
    struct process *process = ARRAY_ADD(&names->processes);
    if (process != NULL)
        process->number = block->process;
    return process;
}

static struct error *name_event(struct names *names, struct process *process,
                                const struct event *event, struct trace_writer *writer)
{
    switch (event->kind) {
    case INTERFACE_STACK:
        for (uint64_t i = 0; i < event->numbers[1]; i++)
            TRY(name_code(names, process, event->frames[i], writer));
        return NULL;
    case INTERFACE_STORE:
        return name_code(names, process, event->numbers[0], writer);
    case INTERFACE_ENTER:
        TRY(name_code(names, process, event->numbers[2], writer));
        return name_function(names, process, event->numbers[0], writer);
    case INTERFACE_UNMAP:
        remove_modules(process, event->numbers[0], event->numbers[1]);
        return NULL;
    default:
        return NULL;
    }
}

struct error *names_write(struct names *names, const struct interface_block *block,
                          struct trace_writer *writer)
{
    struct process *process = find_process(names, block);
    if (process == NULL)
        return error_no_memory();
    names->pending_process = block->process;
    struct event_reader reader = event_reader_new(block);
    struct event event, map = {0};
    while (event_next(&reader, &event)) {
        TRY(name_event(names, process, &event, writer));
        if (event.kind == INTERFACE_MAP && event.numbers[6] > 0)
            map = event; // the last one of its block
    }
    if (reader.cursor.failed)
        return error_new("the tool wrote an event that does not exist");
    TRY(flush(names, writer));
    TRY(trace_writer_add(writer, block));
    if (map.kind == INTERFACE_MAP)
        TRY(add_module(names, process, &map, writer));
    arena_deinit(&names->texts);
    return flush(names, writer);
}
