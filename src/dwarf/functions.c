// SPDX-License-Identifier: GPL-3.0-or-later
// Finds functions by name in one pass over the symbols. Each symbol is looked up among the queries
// by hash, so thousands of queries cost no more than one. For a mangled symbol every identifier in
// it is looked up, and it is demangled only if one matches.
#include "dwarf/functions.h"

#include "base/cleanup.h"
#include "dwarf/demangle.h"
#include "dwarf/inlined.h"
#include "elf/go-table.h"
#include "elf/names.h"

#include <ctype.h>
#include <dwarf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define UNPROVEN 16 // for more queries than this, searching the string sections does not pay

struct finder {
    struct dwarf_module *module;
    const struct dwarf_function_query *queries;
    size_t count;
    dwarf_function_found *found;
    void *context;
    struct elf_names whole, last; // exact queries, by name and by last component
    ARRAY(uint32_t) globs;
    bool *seen; // by query: has a symbol
};

static void finder_deinit(struct finder *finder)
{
    elf_names_deinit(&finder->whole);
    elf_names_deinit(&finder->last);
    ARRAY_DEINIT(&finder->globs);
    free(finder->seen);
}

size_t dwarf_name_stem(const char *name, size_t size)
{
    static const char *const words[] = {"cold",     "part",       "isra", "constprop",
                                        "lto_priv", "localalias", "llvm", "clone",
                                        "warm",     "unlikely",   "hot",  "startup"};
    for (;;) {
        const char *dot = size != 0 ? memrchr(name, '.', size) : NULL;
        if (dot == NULL || dot == name)
            return size;
        const char *part = dot + 1;
        size_t part_size = size - (size_t)(part - name);
        bool known = part_size != 0 && strspn(part, "0123456789") >= part_size;
        for (size_t i = 0; i < sizeof words / sizeof words[0] && !known; i++)
            known = strlen(words[i]) == part_size && memcmp(words[i], part, part_size) == 0;
        if (!known)
            return size;
        size = (size_t)(dot - name);
    }
}

// Makes "a::c" of "a<b>::c<d<e>>". Leaves "operator<" and the like alone.
static char *without_templates(const char *name)
{
    char *plain = strdup(name);
    if (plain == NULL)
        return NULL;
    size_t size = 0;
    int depth = 0;
    for (const char *at = name; *at != '\0'; at++) {
        bool is_operator = size >= 8 && memcmp(plain + size - 8, "operator", 8) == 0;
        if (*at == '<' && !is_operator)
            depth++;
        else if (*at == '>' && depth > 0)
            depth--;
        else if (depth == 0)
            plain[size++] = *at;
    }
    plain[size] = '\0';
    return plain;
}

static bool ends_with_components(const char *name, const char *wanted)
{
    size_t name_size = strlen(name), wanted_size = strlen(wanted);
    if (wanted_size > name_size || strcmp(name + name_size - wanted_size, wanted) != 0)
        return false;
    size_t rest = name_size - wanted_size;
    return rest == 0 || name[rest - 1] == ' ' ||
           (rest >= 2 && name[rest - 1] == ':' && name[rest - 2] == ':');
}

bool dwarf_name_matches(const char *wanted, const char *demangled)
{
    if (ends_with_components(demangled, wanted))
        return true;
    if (strchr(demangled, '<') == NULL)
        return false;
    _cleanup_free_ char *plain = without_templates(demangled);
    return plain != NULL && ends_with_components(plain, wanted);
}

static bool is_glob(const char *name)
{
    return strpbrk(name, "*?[") != NULL;
}

const char *dwarf_name_last(const char *name, size_t *ret_size)
{
    size_t size = strcspn(name, "(<");
    const char *start = name;
    for (size_t i = 0; i + 1 < size; i++)
        if (name[i] == ':' && name[i + 1] == ':')
            start = name + i + 2;
    *ret_size = (size_t)(name + size - start);
    return start;
}

const char *dwarf_linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) == NULL &&
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) == NULL)
        return NULL;
    return dwarf_formstring(&attribute);
}

// The identifier that must occur in the mangled form of a query.
static const char *last_identifier(const char *name, size_t *ret_size)
{
    const char *last = dwarf_name_last(name, ret_size);
    bool is_destructor = *ret_size != 0 && *last == '~';
    *ret_size -= is_destructor;
    return last + is_destructor;
}

static struct error *sort_queries(struct finder *finder)
{
    finder->seen = calloc(finder->count + 1, sizeof *finder->seen);
    if (finder->seen == NULL)
        return error_no_memory();
    for (size_t i = 0; i < finder->count; i++) {
        const char *name = finder->queries[i].name;
        if (is_glob(name)) {
            uint32_t *glob = ARRAY_ADD(&finder->globs);
            if (glob == NULL)
                return error_no_memory();
            *glob = (uint32_t)i;
            continue;
        }
        size_t size;
        const char *last = last_identifier(name, &size);
        TRY(elf_names_add(&finder->whole, name, strlen(name), (uint32_t)i));
        TRY(elf_names_add(&finder->last, last, size, (uint32_t)i));
    }
    return NULL;
}

static struct error *report(struct finder *finder, uint32_t query, const struct elf_symbol *symbol)
{
    finder->seen[query] = true;
    return finder->found(finder->context, finder->queries[query].number, symbol->start,
                         symbol->end);
}

static struct error *match_whole(struct finder *finder, const struct elf_symbol *symbol,
                                 size_t size)
{
    const struct elf_name *entry = NULL;
    while ((entry = elf_names_next(&finder->whole, entry, symbol->name, size)) != NULL)
        TRY(report(finder, entry->number, symbol));
    return NULL;
}

// A mangled symbol and its demangled forms, made when first needed.
struct mangled {
    const struct elf_symbol *symbol;
    char *stem;
    char *plain, *full; // without and with parameters
    bool failed;
};

static void mangled_deinit(struct mangled *mangled)
{
    free(mangled->stem);
    free(mangled->plain);
    free(mangled->full);
}

static bool demangle(struct mangled *mangled)
{
    if (mangled->plain == NULL && !mangled->failed) {
        mangled->plain = dwarf_demangle(mangled->stem, false);
        mangled->full = dwarf_demangle(mangled->stem, true);
        mangled->failed = mangled->plain == NULL || mangled->full == NULL;
    }
    return !mangled->failed;
}

static struct error *match_identifier(struct finder *finder, struct mangled *mangled,
                                      const char *text, size_t size)
{
    const struct elf_name *entry = NULL;
    while ((entry = elf_names_next(&finder->last, entry, text, size)) != NULL) {
        const char *wanted = finder->queries[entry->number].name;
        if (!demangle(mangled))
            return NULL;
        const char *form = strchr(wanted, '(') != NULL ? mangled->full : mangled->plain;
        if (dwarf_name_matches(wanted, form))
            TRY(report(finder, entry->number, mangled->symbol));
    }
    return NULL;
}

// Identifiers are in a mangled name as LENGTH TEXT. Everything that looks like one is tried.
static struct error *match_identifiers(struct finder *finder, struct mangled *mangled)
{
    const char *at = mangled->stem, *end = at + strlen(at);
    while (at < end) {
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        size_t length = 0;
        while (isdigit((unsigned char)*at) && length < (size_t)(end - at))
            length = length * 10 + (size_t)(*at++ - '0');
        const char *text = *at == '_' && mangled->stem[1] == 'R' ? at + 1 : at;
        if (length != 0 && length <= (size_t)(end - text))
            TRY(match_identifier(finder, mangled, text, length));
        while (isdigit((unsigned char)*at))
            at++;
    }
    return NULL;
}

static struct error *match_globs(struct finder *finder, struct mangled *mangled)
{
    bool is_mangled = strncmp(mangled->stem, "_Z", 2) == 0 || strncmp(mangled->stem, "_R", 2) == 0;
    for (size_t i = 0; i < finder->globs.count; i++) {
        uint32_t query = finder->globs.items[i];
        const char *glob = finder->queries[query].name;
        if (fnmatch(glob, mangled->stem, 0) == 0 ||
            (is_mangled && demangle(mangled) &&
             (fnmatch(glob, mangled->plain, 0) == 0 || fnmatch(glob, mangled->full, 0) == 0)))
            TRY(report(finder, query, mangled->symbol));
    }
    return NULL;
}

static struct error *match_symbol(struct finder *finder, const struct elf_symbol *symbol)
{
    size_t stem = dwarf_name_stem(symbol->name, symbol->name_size);
    TRY(match_whole(finder, symbol, symbol->name_size));
    if (stem != symbol->name_size)
        TRY(match_whole(finder, symbol, stem));
    bool is_mangled = symbol->name[0] == '_' && (symbol->name[1] == 'Z' || symbol->name[1] == 'R');
    bool globs = finder->globs.count != 0 && symbol->kind == ELF_SYMBOL_FUNCTION;
    if (!globs && !(is_mangled && finder->last.entries.count != 0))
        return NULL;
    _cleanup_(mangled_deinit) struct mangled mangled = {.symbol = symbol};
    mangled.stem = strndup(symbol->name, stem);
    if (mangled.stem == NULL)
        return error_no_memory();
    if (is_mangled)
        TRY(match_identifiers(finder, &mangled));
    return globs ? match_globs(finder, &mangled) : NULL;
}

// A function without a symbol may exist as inlined code. Separate debug files are not searched for
// it: they would have to be decompressed, for every module of the system.
static struct error *find_inlined(struct finder *finder)
{
    struct dwarf_module *module = finder->module;
    if (!elf_object_facts(dwarf_module_object(module))->has_debug_info)
        return NULL;
    size_t missing = 0, kept = 0;
    for (size_t i = 0; i < finder->count; i++)
        missing += !finder->seen[i] && !is_glob(finder->queries[i].name);
    if (missing == 0)
        return NULL;
    _cleanup_free_ struct dwarf_function_query *queries = calloc(missing, sizeof *queries);
    if (queries == NULL)
        return error_no_memory();
    for (size_t i = 0; i < finder->count; i++) {
        const struct dwarf_function_query *query = &finder->queries[i];
        if (finder->seen[i] || is_glob(query->name))
            continue;
        size_t size;
        const char *last = last_identifier(query->name, &size);
        if (missing > UNPROVEN || last[size] != '\0' ||
            dwarf_module_mentions(module, DWARF_TEXT_NAME, last))
            queries[kept++] = *query;
    }
    return kept != 0 ? dwarf_inlined_find(module, queries, kept, finder->found, finder->context)
                     : NULL;
}

// A stripped Go program still has the names of its functions.
static struct error *find_go(const struct dwarf_module *module,
                             const struct dwarf_function_query *queries, size_t count,
                             dwarf_function_found *found, void *context)
{
    struct go_table table;
    struct go_function function;
    if (!elf_object_go_table(dwarf_module_object(module), &table))
        return NULL;
    for (uint64_t i = 0; i < table.count && go_table_at(&table, i, &function); i++)
        for (size_t j = 0; j < count; j++)
            if (strcmp(queries[j].name, function.name) == 0 ||
                fnmatch(queries[j].name, function.name, 0) == 0)
                TRY(found(context, queries[j].number, function.entry, function.end));
    return NULL;
}

struct error *dwarf_functions_find(struct dwarf_module *module,
                                   const struct dwarf_function_query *queries, size_t count,
                                   dwarf_function_found *found, void *context)
{
    const struct elf_symbols *symbols = NULL;
    _cleanup_(finder_deinit) struct finder finder = {
        .module = module, .queries = queries, .count = count, .found = found, .context = context};
    if (count == 0)
        return NULL;
    TRY(dwarf_module_symbols(module, &symbols));
    TRY(sort_queries(&finder));
    for (size_t i = 0; i < symbols->code.count; i++)
        TRY(match_symbol(&finder, &symbols->code.items[i]));
    TRY(find_go(module, queries, count, found, context));
    return find_inlined(&finder);
}
