// SPDX-License-Identifier: GPL-3.0-or-later
// Finds a scenario's locations and variables in one module. It sorts the queries by kind, asks elf/
// and dwarf/, and lays out the answers for the runtime. It does not open a module that no query can
// concern.
#include "scenario/resolve.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "dwarf/functions.h"
#include "dwarf/lines.h"
#include "dwarf/module.h"
#include "dwarf/variables.h"
#include "isa/call.h"
#include "isa/copy.h"
#include "wire/region.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_INSTRUCTION 15

// The queries that may concern one module, and what was found.
struct work {
    ARRAY(struct dwarf_function_query) functions;
    ARRAY(struct dwarf_line_query) lines;
    ARRAY(struct dwarf_variable_query) variables;
    ARRAY(struct dwarf_selector) selectors; // of all variables, in order
    ARRAY(uint32_t) sites, modules;         // query numbers
    ARRAY(struct wire_range) ranges;
    ARRAY(struct wire_location) locations;
    ARRAY(struct wire_step) steps;
    const struct elf_object *object;
};

static void work_deinit(struct work *work)
{
    ARRAY_DEINIT(&work->functions);
    ARRAY_DEINIT(&work->lines);
    ARRAY_DEINIT(&work->variables);
    ARRAY_DEINIT(&work->selectors);
    ARRAY_DEINIT(&work->sites);
    ARRAY_DEINIT(&work->modules);
    ARRAY_DEINIT(&work->ranges);
    ARRAY_DEINIT(&work->locations);
    ARRAY_DEINIT(&work->steps);
}

static void close_module(struct dwarf_module **module)
{
    dwarf_module_close(*module);
}

// A module's file by the names people use for it.
struct module_name {
    const char *path, *file;
    char *stem; // "libc" of "libc.so.6"
};

static void module_name_deinit(struct module_name *name)
{
    free(name->stem);
}

static struct error *module_name_init(struct module_name *name, const char *path)
{
    name->path = path;
    name->file = file_base_name(path);
    name->stem = strndup(name->file, file_library_stem(name->file));
    return name->stem != NULL ? NULL : error_no_memory();
}

// Whether a relative pattern with a slash matches the end of a path.
static bool is_path_end(const char *path, const char *pattern)
{
    while (strncmp(pattern, "./", 2) == 0)
        pattern += 2;
    for (const char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/'))
        if (fnmatch(pattern, at + 1, 0) == 0)
            return true;
    return false;
}

static bool is_module(const struct module_name *name, const char *pattern)
{
    if (pattern == NULL)
        return true;
    if (strchr(pattern, '/') != NULL)
        return fnmatch(pattern, name->path, 0) == 0 ||
               (*pattern != '/' && is_path_end(name->path, pattern));
    return strcmp(pattern, name->file) == 0 || strcmp(pattern, name->stem) == 0 ||
           fnmatch(pattern, name->file, 0) == 0 || fnmatch(pattern, name->stem, 0) == 0 ||
           fnmatch(pattern, name->path, 0) == 0;
}

static struct error *add_number(struct work *work, bool site, uint32_t number)
{
    uint32_t *item = site ? ARRAY_ADD(&work->sites) : ARRAY_ADD(&work->modules);
    if (item == NULL)
        return error_no_memory();
    *item = number;
    return NULL;
}

static struct error *add_query(struct work *work, const struct scenario_query *query,
                               uint32_t number)
{
    if (query->kind == SCENARIO_QUERY_FUNCTION) {
        struct dwarf_function_query *function = ARRAY_ADD(&work->functions);
        if (function == NULL)
            return error_no_memory();
        *function = (struct dwarf_function_query){query->function, number};
        return NULL;
    }
    if (query->kind == SCENARIO_QUERY_LINE) {
        struct dwarf_line_query *line = ARRAY_ADD(&work->lines);
        if (line == NULL)
            return error_no_memory();
        *line = (struct dwarf_line_query){query->file, query->line, number};
        return NULL;
    }
    return add_number(work, query->kind == SCENARIO_QUERY_SITE, number);
}

static struct error *add_selector(struct work *work, const struct scenario_step *step)
{
    static const enum dwarf_selector_kind kinds[] = {
        [SCENARIO_STEP_MEMBER] = DWARF_SELECT_MEMBER,
        [SCENARIO_STEP_ARROW] = DWARF_SELECT_ARROW,
        [SCENARIO_STEP_INDEX] = DWARF_SELECT_INDEX,
        [SCENARIO_STEP_DEREFERENCE] = DWARF_SELECT_DEREFERENCE,
    };
    struct dwarf_selector *selector = ARRAY_ADD(&work->selectors);
    if (selector == NULL)
        return error_no_memory();
    *selector = (struct dwarf_selector){kinds[step->kind], step->name, step->index};
    return NULL;
}

static struct error *add_variable(struct work *work, const struct scenario_variable *variable,
                                  uint32_t number)
{
    struct dwarf_variable_query *query = ARRAY_ADD(&work->variables);
    if (query == NULL)
        return error_no_memory();
    *query = (struct dwarf_variable_query){.function = variable->function,
                                           .name = variable->name,
                                           .selector_count = variable->step_count,
                                           .number = number};
    for (size_t i = 0; i < variable->step_count; i++)
        TRY(add_selector(work, &variable->steps[i]));
    return NULL;
}

// Sets the pointers to selectors. Call it when their array does not grow any more.
static void link_selectors(struct work *work)
{
    size_t at = 0;
    for (size_t i = 0; work->selectors.count != 0 && i < work->variables.count; i++) {
        work->variables.items[i].selectors = work->selectors.items + at;
        at += work->variables.items[i].selector_count;
    }
}

static struct error *gather(const struct scenario *scenario, const char *path, struct work *work)
{
    _cleanup_(module_name_deinit) struct module_name name = {0};
    TRY(module_name_init(&name, path));
    for (size_t i = 0; i < scenario_query_count(scenario); i++) {
        const struct scenario_query *query = scenario_query(scenario, i);
        if (is_module(&name, query->module))
            TRY(add_query(work, query, (uint32_t)i));
    }
    for (size_t i = 0; i < scenario_variable_count(scenario); i++) {
        const struct scenario_variable *variable = scenario_variable(scenario, i);
        if (is_module(&name, variable->module))
            TRY(add_variable(work, variable, (uint32_t)i));
    }
    link_selectors(work);
    return NULL;
}

static struct error *add_range(struct work *work, unsigned query, uint64_t lo, uint64_t hi)
{
    if (lo >= hi)
        return NULL;
    struct wire_range *range = ARRAY_ADD(&work->ranges);
    if (range == NULL)
        return error_no_memory();
    *range = (struct wire_range){.query = query, .lo = lo, .hi = hi};
    return NULL;
}

// Turns code [lo, hi) into the range of its return addresses. A call returns to the instruction
// behind it: at least one byte further, and at most right behind the end.
static struct error *add_code(void *context, unsigned query, uint64_t lo, uint64_t hi)
{
    return lo < hi && hi != UINT64_MAX ? add_range(context, query, lo + 1, hi + 1) : NULL;
}

// A site's offset may come from a disassembly, where it is the call's, or from a report, where it
// is the return address. If it can be either, it counts as both.
static struct error *resolve_site(struct work *work, unsigned query, uint64_t offset)
{
    const unsigned char *code;
    if (elf_object_facts(work->object)->class_bits == 32) // whose instructions nobody decodes here
        return add_range(work, query, offset, offset + 1);
    size_t before = offset < LONGEST_INSTRUCTION ? offset : LONGEST_INSTRUCTION, size = 0;
    // The code may begin less than an instruction before the site.
    while ((code = elf_object_code(work->object, offset - before, 2 * LONGEST_INSTRUCTION,
                                   &size)) == NULL)
        if (before-- == 0)
            return NULL;
    size_t length = size > before ? isa_call_length(code + before, size - before) : 0;
    if (length != 0)
        TRY(add_range(work, query, offset + length, offset + length + 1));
    if (length == 0 || isa_call_ends_at(code + before, before))
        TRY(add_range(work, query, offset, offset + 1));
    return NULL;
}

static struct error *resolve_sites(const struct scenario *scenario, struct work *work)
{
    uint64_t lo, hi;
    if (!elf_object_extent(work->object, &lo, &hi))
        return NULL;
    for (size_t i = 0; i < work->modules.count; i++)
        TRY(add_range(work, work->modules.items[i], lo, hi + 1));
    for (size_t i = 0; i < work->sites.count; i++) {
        uint32_t number = work->sites.items[i];
        TRY(resolve_site(work, number, scenario_query(scenario, number)->offset));
    }
    return NULL;
}

static uint16_t wire_base(const struct dwarf_place *place)
{
    if (place->base == DWARF_BASE_STATIC)
        return WIRE_BASE_STATIC;
    if (place->base == DWARF_BASE_CFA)
        return WIRE_BASE_CFA;
    return place->is_value ? WIRE_BASE_REGISTER_VALUE : WIRE_BASE_REGISTER_ADDRESS;
}

static struct error *add_location(void *context, const struct dwarf_variable *variable)
{
    struct work *work = context;
    const struct dwarf_place *place = &variable->place;
    if (variable->lo >= variable->hi)
        return NULL;
    struct wire_location *location = ARRAY_ADD(&work->locations);
    if (location == NULL)
        return error_no_memory();
    *location = (struct wire_location){
        .variable = variable->number,
        .base = wire_base(place),
        .reg = (uint16_t)place->reg,
        .lo = variable->lo,
        .hi = variable->hi,
        .offset = place->offset,
        .first_step = (uint32_t)work->steps.count,
        .step_count = (uint32_t)place->step_count,
        .width = variable->scalar.width,
        .is_signed = variable->scalar.is_signed,
        .bit_offset = place->bit_offset,
        .bit_width = place->bit_width,
    };
    for (size_t i = 0; i < place->step_count; i++) {
        struct wire_step *step = ARRAY_ADD(&work->steps);
        if (step == NULL)
            return error_no_memory();
        *step = (struct wire_step){.load = place->steps[i].load, .offset = place->steps[i].offset};
    }
    return NULL;
}

static bool holds_copy(void *context, uint64_t lo, uint64_t hi, unsigned from, unsigned to)
{
    const struct work *work = context;
    size_t size = 0;
    const unsigned char *code = elf_object_code(work->object, lo, hi - lo, &size);
    return code != NULL && size == hi - lo && isa_holds_copy(code, size, from, to);
}

static int compare_ranges(const void *left, const void *right)
{
    const struct wire_range *a = left, *b = right;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

// Joins ranges that overlap or touch. Aliases, split-off parts of functions and neighbouring rows
// of line tables give such ranges.
static void join_ranges(struct work *work)
{
    struct wire_range *ranges = work->ranges.items;
    size_t kept = 0;
    if (work->ranges.count != 0)
        qsort(ranges, work->ranges.count, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < work->ranges.count; i++) {
        struct wire_range *last = kept != 0 ? &ranges[kept - 1] : NULL;
        if (last != NULL && last->query == ranges[i].query && ranges[i].lo <= last->hi) {
            if (ranges[i].hi > last->hi)
                last->hi = ranges[i].hi;
        } else
            ranges[kept++] = ranges[i];
    }
    work->ranges.count = kept;
}

static struct error *lay_out(struct work *work, struct buffer *ret_bytes)
{
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    join_ranges(work);
    struct wire_resolution header = {
        .range_count = (uint32_t)work->ranges.count,
        .location_count = (uint32_t)work->locations.count,
        .step_count = (uint32_t)work->steps.count,
    };
    TRY(buffer_append(&bytes, &header, sizeof header));
    TRY(buffer_append(&bytes, work->ranges.items, work->ranges.count * sizeof *work->ranges.items));
    TRY(buffer_append(&bytes, work->locations.items,
                      work->locations.count * sizeof *work->locations.items));
    TRY(buffer_append(&bytes, work->steps.items, work->steps.count * sizeof *work->steps.items));
    *ret_bytes = bytes;
    bytes = (struct buffer){0};
    return NULL;
}

static struct error *open_module(const char *path, struct dwarf_module **ret_module)
{
    struct dwarf_module *module = NULL;
    TRY(dwarf_module_open(path, &module));
    const struct elf_facts *facts = elf_object_facts(dwarf_module_object(module));
    // Of 32-bit programs only system calls are intercepted, which ask for places alone.
    if (facts->class_bits == 64 ? facts->machine != EM_X86_64 : facts->machine != EM_386) {
        struct error *error = error_new("%s: built for %d-bit %s, not for x86", path,
                                        facts->class_bits, facts->machine_name);
        dwarf_module_close(module);
        return error;
    }
    *ret_module = module;
    return NULL;
}

// Drops variables without a module from modules that they cannot be in. A bare name means a
// variable of the program, or of a library that has its own debug information. The system's
// libraries have thousands of variables, which must be named with their module.
static void drop_foreign_variables(const struct scenario *scenario, struct work *work)
{
    const struct elf_facts *facts = elf_object_facts(work->object);
    if ((facts->executable && facts->soname == NULL) || facts->has_debug_info)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < work->variables.count; i++)
        if (scenario_variable(scenario, work->variables.items[i].number)->module != NULL)
            work->variables.items[kept++] = work->variables.items[i];
    work->variables.count = kept;
}

struct error *resolve_module(const struct scenario *scenario, const char *path, const char *file,
                             struct buffer *ret_bytes)
{
    _cleanup_(work_deinit) struct work work = {0};
    TRY(gather(scenario, path, &work));
    if (work.functions.count + work.lines.count + work.variables.count + work.sites.count +
            work.modules.count !=
        0) {
        _cleanup_(close_module) struct dwarf_module *module = NULL;
        struct dwarf_variable_listener listener = {
            .found = add_location, .copied = holds_copy, .context = &work};
        TRY(open_module(file, &module));
        work.object = dwarf_module_object(module);
        drop_foreign_variables(scenario, &work);
        TRY(resolve_sites(scenario, &work));
        TRY(dwarf_functions_find(module, work.functions.items, work.functions.count, add_code,
                                 &work));
        TRY(dwarf_lines_find(module, work.lines.items, work.lines.count, add_code, &work));
        if (elf_object_facts(work.object)->class_bits == 64)
            TRY(dwarf_variables_find(module, work.variables.items, work.variables.count,
                                     &listener));
    }
    return lay_out(&work, ret_bytes);
}

// The result of a search for one variable.
struct variable_search {
    const char *why;
    bool found;
};

static struct error *note_found(void *context, const struct dwarf_variable *variable)
{
    ((struct variable_search *)context)->found = true;
    return NULL;
}

static void note_missed(void *context, unsigned number, const char *why)
{
    ((struct variable_search *)context)->why = why;
}

struct error *resolve_explain_variable(const struct scenario *scenario, size_t index,
                                       const char *path, const char **ret_why)
{
    _cleanup_(work_deinit) struct work work = {0};
    _cleanup_(close_module) struct dwarf_module *module = NULL;
    struct variable_search search = {.why = "there is no variable of that name"};
    struct dwarf_variable_listener listener = {
        .found = note_found, .missed = note_missed, .context = &search};
    TRY(open_module(path, &module));
    TRY(add_variable(&work, scenario_variable(scenario, index), 0));
    link_selectors(&work);
    TRY(dwarf_variables_find(module, work.variables.items, 1, &listener));
    *ret_why = search.found ? NULL : search.why;
    return NULL;
}
