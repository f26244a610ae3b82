// SPDX-License-Identifier: GPL-3.0-or-later
// Searches functions after their callees, across modules. The functions of a cycle of calls are
// searched twice: at first without results from the cycle, then with them.
#include "profile/library-internal.h"

#include "base/cleanup.h"
#include "profile/names.h"
#include "profile/place.h"
#include "profile/search.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define LONGEST_CYCLE    64  // calls; longer cycles are not noticed
#define LARGEST_IN_CYCLE 512 // instructions of a function that is searched twice

// ---- callees ----

static struct module_export *find_export(struct module *module, const char *name,
                                         const char *version)
{
    size_t low = 0, high = module->exports.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(module->exports.items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < module->exports.count && strcmp(module->exports.items[low].name, name) == 0;
         low++) {
        struct module_export *export = &module->exports.items[low];
        if (version == NULL ? !export->hidden_version
                            : export->version == NULL || strcmp(export->version, version) == 0)
            return export;
    }
    return NULL;
}

static struct error *look_up(struct profile_set *set, size_t number, uint32_t import)
{
    struct module *module = &set->modules.items[number];
    const struct flow_import *wanted = &module->image->imports.items[import];
    TRY(module_find_scope(set, number));
    for (size_t i = 0; i < set->modules.items[number].scope.count; i++) {
        size_t other = set->modules.items[number].scope.items[i];
        if (set->modules.items[other].broken ||
            find_export(&set->modules.items[other], wanted->name, wanted->version) == NULL)
            continue;
        struct error *error = module_open(&set->modules.items[other]);
        if (error != NULL) {
            profile_set_note(set, error);
            continue;
        }
        struct module_export *found =
            find_export(&set->modules.items[other], wanted->name, wanted->version);
        set->modules.items[number].import_modules[import] = (uint32_t)other;
        set->modules.items[number].import_functions[import] = found->function;
        return NULL;
    }
    set->modules.items[number].import_modules[import] = (uint32_t)number; // looked up, not found
    return NULL;
}

struct error *module_node(struct profile_set *set, uint32_t number, uint32_t callee,
                          struct node *ret_node)
{
    struct module *module = &set->modules.items[number];
    *ret_node = (struct node){number, FLOW_NONE};
    if (callee == FLOW_NONE)
        return NULL;
    if (!flow_callee_is_import(callee)) {
        ret_node->function = module->image->functions.items[callee].owner;
        return NULL;
    }
    uint32_t import = flow_callee_import(callee);
    if (module->import_modules[import] == FLOW_NONE)
        TRY(look_up(set, number, import));
    module = &set->modules.items[number];
    *ret_node = (struct node){module->import_modules[import], module->import_functions[import]};
    return NULL;
}

// ---- what the search asks ----

struct asking {
    struct profile_set *set;
    uint32_t module;
};

static const struct summary *callee_summary(void *data, uint32_t callee)
{
    struct asking *asking = data;
    struct node node;
    // Every callee was looked up before the search began, so nothing can fail here.
    struct error *error = module_node(asking->set, asking->module, callee, &node);
    if (error != NULL || node.function == FLOW_NONE) {
        error_free(error);
        return NULL;
    }
    static const struct summary open = {.open = true};
    const struct module *module = &asking->set->modules.items[node.module];
    return module->states[node.function] == STATE_DONE ? &module->summaries[node.function] : &open;
}

// HINT_IGNORED if a callee is called often in the module and its result is never used.
static unsigned ignored(const struct profile_set *set, uint32_t number, uint32_t callee)
{
    const struct module *module = &set->modules.items[number];
    unsigned hints = flow_callee_is_import(callee)
                         ? module->import_hints[flow_callee_import(callee)]
                         : module->hints[module->image->functions.items[callee].owner];
    return (hints & (HINT_CALLED_OFTEN | HINT_USED)) == HINT_CALLED_OFTEN ? HINT_IGNORED : 0;
}

// HINT_ALLOCATES if a function returns new memory, and NULL only with ENOMEM. Its system calls may
// have other errors, but not with the arguments that it passes.
static unsigned allocates(const struct profile_set *set, const struct summary *summary)
{
    unsigned hint = 0;
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_ARGUMENT) // an argument is not new memory
            return 0;
        if (!outcome->sets_error || outcome->result.kind != VALUE_CONSTANT ||
            outcome->result.number != 0)
            continue;
        struct error_set errors = {0};
        if (outcome->error.kind == VALUE_CONSTANT)
            error_set_add(&errors, (unsigned)outcome->error.number);
        else if (outcome->error.kind == VALUE_ERRORS)
            errors = set->sets.items.items[outcome->error.set];
        else
            continue;
        if (!error_set_has(&errors, ENOMEM))
            return 0;
        error_set_remove(&errors, ENOMEM);
        hint |= error_set_is_empty(&errors) ? HINT_ALLOCATES : 0;
    }
    return hint;
}

static unsigned callee_hints(void *data, uint32_t callee)
{
    struct asking *asking = data;
    struct node node;
    const struct flow_image *image = asking->set->modules.items[asking->module].image;
    if (flow_callee_is_import(callee) &&
        name_is_never_used(image->imports.items[flow_callee_import(callee)].name))
        return HINT_NEVER_USED | HINT_WORKS | HINT_KEYED;
    struct error *error = module_node(asking->set, asking->module, callee, &node);
    error_free(error);
    if (error != NULL || node.function == FLOW_NONE)
        return HINT_MADE | HINT_WORKS | HINT_KEYED;
    const struct module *module = &asking->set->modules.items[node.module];
    const struct summary *summary = &module->summaries[node.function];
    unsigned hints = HINT_MADE | HINT_WORKS | HINT_KEYED;
    if (module->states[node.function] == STATE_DONE)
        hints = module->hints[node.function] | allocates(asking->set, summary) |
                (summary->through_pointer ? HINT_THROUGH : 0);
    return hints | ignored(asking->set, asking->module, callee);
}

static bool reports(void *data, uint32_t callee, enum name_misuse *ret_misuse)
{
    const struct asking *asking = data;
    const struct module *module = &asking->set->modules.items[asking->module];
    unsigned hints;
    char name[64] = "";
    if (flow_callee_is_import(callee)) {
        uint32_t import = flow_callee_import(callee);
        hints = module->import_hints[import];
        *ret_misuse = name_reports_misuse(module->image->imports.items[import].name);
    } else {
        const struct flow_function *function = &module->image->functions.items[callee];
        if (function->name != NULL && function->name_size < sizeof name)
            memcpy(name, function->name, function->name_size);
        hints = module->hints[function->owner];
        *ret_misuse = name_reports_misuse(name);
    }
    return (hints & HINT_REPORTS) != 0;
}

static bool is_primitive(void *data, uint32_t callee)
{
    const struct asking *asking = data;
    const struct module *module = &asking->set->modules.items[asking->module];
    bool (*is)(const char *) = asking->set->options.is_primitive;
    return is != NULL && flow_callee_is_import(callee) &&
           is(module->image->imports.items[flow_callee_import(callee)].name);
}

static const struct error_set *call_errors(void *data, int64_t number)
{
    const struct asking *asking = data;
    const struct profile_options *options = &asking->set->options;
    return options->system_call != NULL ? options->system_call(options->system_call_data, number)
                                        : NULL;
}

static bool is_error_slot(void *data, const struct flow_slot *slot)
{
    const struct asking *asking = data;
    if (slot->type != R_X86_64_TPOFF64)
        return false;
    if (slot->symbol != NULL)
        return strcmp(slot->symbol, "errno") == 0;
    int64_t offset = asking->set->modules.items[asking->module].error_offset;
    return offset >= 0 && slot->addend == offset;
}

// A function without a result leaves something in the return register. Callers cannot use that.
static void forget_results(struct summary *summary)
{
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        struct return_outcome *outcome = &summary->outcomes.items[i];
        outcome->result = (struct value){.kind = VALUE_OTHER};
        outcome->evidence = 0;
    }
    summary->through_pointer = false;
}

static bool never_fails(const struct module *module, uint32_t number)
{
    const struct flow_function *function = &module->image->functions.items[number];
    const char *soname = elf_object_facts(module->object)->soname;
    char name[64] = "";
    if (function->name == NULL || function->name_size >= sizeof name || soname == NULL)
        return false;
    memcpy(name, function->name, function->name_size);
    return name_never_fails(soname, name);
}

// Sets `fails` of the outcomes. The name counts, if the function has one: exported functions have,
// and others if the library is not stripped.
static void mark_failures(struct module *module, uint32_t number)
{
    const struct flow_function *function = &module->image->functions.items[number];
    char name[64] = "";
    if (function->name != NULL && function->name_size < sizeof name)
        memcpy(name, function->name, function->name_size);
    struct summary *summary = &module->summaries[number];
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        struct return_outcome *outcome = &summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT &&
            name_allows_result(name, outcome->result.number))
            *outcome = (struct return_outcome){.result = {.kind = VALUE_OTHER}};
    }
    failures_mark(summary, module->hints[number], name);
    for (size_t i = 0; i < summary->outcomes.count && name_answers(name); i++)
        summary->outcomes.items[i].fails = false;
}

static void use_declaration(const struct profile_set *set, struct module *module, uint32_t number)
{
    const struct flow_function *function = &module->image->functions.items[number];
    if (set->options.declarations == NULL || function->name == NULL)
        return;
    enum declared_result declared =
        declarations_find(set->options.declarations, function->name, function->name_size);
    module->summaries[number].declared = (uint8_t)declared;
    module->summaries[number].documented = (uint16_t)declarations_documented(
        set->options.declarations, function->name, function->name_size);
    module->summaries[number].enumeration =
        declarations_enumeration(set->options.declarations, function->name, function->name_size);
    module->hints[number] = hints_with_declaration(module->hints[number], declared);
}

static struct error *search(struct profile_set *set, struct node node)
{
    struct module *module = &set->modules.items[node.module];
    struct asking asking = {set, node.module};
    const struct search_context context = {.sets = &set->sets,
                                           .callee = callee_summary,
                                           .system_call = call_errors,
                                           .is_error_slot = is_error_slot,
                                           .reports = reports,
                                           .primitive = is_primitive,
                                           .data = &asking,
                                           .private_stores = module->private_stores};
    struct summary found = {0}; // the old one is in use where a function calls itself
    struct error *error = search_function(module->image, node.function, &context, &found);
    summary_deinit(&module->summaries[node.function]);
    module->summaries[node.function] = found;
    TRY(error);
    module->hints[node.function] |=
        hints_from_body(module->image, node.function, callee_hints, &asking) |
        hints_from_arguments(module->image, node.function, callee_hints, &asking);
    if (!module->image->functions.items[node.function].returns)
        module->hints[node.function] |= HINT_STOPS;
    use_declaration(set, module, node.function);
    module->states[node.function] = STATE_DONE;
    if (hints_say_void(module->hints[node.function]) || never_fails(module, node.function))
        forget_results(&module->summaries[node.function]);
    mark_failures(module, node.function);
    return NULL;
}

// ---- the order ----

struct visit {
    struct node node;
    uint32_t range, block; // where the next call is looked for
    uint32_t target;       // of the block, which is called through a table
    uint8_t handed_over;   // mask of the last call's arguments that are callbacks to search
    uint32_t cycle;        // index of the lowest visit that is called from here or above
    size_t first_again;    // index in `again` of the first function that was added since
};

struct visits {
    ARRAY(struct visit) items;
    ARRAY(struct node) again; // searched once, but part of a cycle that is still open
};

static void visits_deinit(struct visits *visits)
{
    ARRAY_DEINIT(&visits->items);
    ARRAY_DEINIT(&visits->again);
}

// A call of a function that is being visited: all visits from there on are part of a cycle. A
// linear search is enough, because cycles that matter are short.
static void close_cycle(struct visits *visits, struct node node)
{
    size_t count = visits->items.count;
    for (size_t i = count; i-- > 0 && count - i <= LONGEST_CYCLE;) {
        const struct visit *visit = &visits->items.items[i];
        if (visit->node.module != node.module || visit->node.function != node.function)
            continue;
        if (visits->items.items[count - 1].cycle > i)
            visits->items.items[count - 1].cycle = (uint32_t)i;
        return;
    }
}

// Ends the last visit. When all functions of a cycle were searched once, each is searched again
// with the results of the others, unless it is too large.
static struct error *leave(struct profile_set *set, struct visits *visits)
{
    struct visit done = visits->items.items[--visits->items.count];
    uint32_t number = (uint32_t)visits->items.count;
    const struct flow_image *image = set->modules.items[done.node.module].image;
    TRY(search(set, done.node));
    if (done.cycle > number)
        return NULL;
    if (image->functions.items[done.node.function].insn_count <= LARGEST_IN_CYCLE) {
        struct node *again = ARRAY_ADD(&visits->again);
        if (again == NULL)
            return error_no_memory();
        *again = done.node;
    }
    if (done.cycle < number) {
        struct visit *below = &visits->items.items[number - 1];
        below->cycle = done.cycle < below->cycle ? done.cycle : below->cycle;
        return NULL;
    }
    for (size_t i = done.first_again; i < visits->again.count; i++)
        TRY(search(set, visits->again.items[i]));
    visits->again.count = done.first_again;
    return NULL;
}

static struct error *enter(struct profile_set *set, struct visits *visits, struct node node)
{
    struct module *module = &set->modules.items[node.module];
    if (node.function != FLOW_NONE && module->states[node.function] == STATE_OPEN)
        close_cycle(visits, node);
    if (node.function == FLOW_NONE || module->states[node.function] != STATE_NEW)
        return NULL;
    module->states[node.function] = STATE_OPEN;
    struct visit *visit = ARRAY_ADD(&visits->items);
    if (visit == NULL)
        return error_no_memory();
    *visit = (struct visit){.node = node,
                            .range = node.function,
                            .cycle = UINT32_MAX,
                            .first_again = visits->again.count};
    return NULL;
}

// A mask of the arguments that are callbacks whose results the function returns.
static uint8_t calls_arguments(const struct summary *summary)
{
    unsigned arguments = 0;
    for (size_t i = 0; i < summary->outcomes.count; i++)
        if (summary->outcomes.items[i].result.kind == VALUE_CALLBACK)
            arguments |= 1u << summary->outcomes.items[i].result.number;
    return (uint8_t)arguments;
}

// The next callback that the last call passes.
static bool next_handed_over(const struct flow_image *image, const struct flow_function *range,
                             struct visit *visit, uint32_t *ret_callee)
{
    while (visit->handed_over != 0) {
        unsigned argument = (unsigned)__builtin_ctz(visit->handed_over);
        const struct flow_block *block =
            &image->blocks.items[range->first_block + visit->block - 1];
        struct place place;
        visit->handed_over &= (uint8_t)(visit->handed_over - 1);
        if (!place_of_argument(argument, &place))
            continue;
        *ret_callee = flow_handed_over(image, block, place.reg);
        if (*ret_callee != FLOW_NONE)
            return true;
    }
    return false;
}

static bool calls(const struct flow_block *block)
{
    return block->end == FLOW_CALLS || block->end == FLOW_UNKNOWN;
}

// The next callee of the visited function; false if there is none left. *ret_handed_over: it is a
// callback, or called through a table, and what it is passed itself is not followed.
static bool next_call(const struct profile_set *set, struct visit *visit, uint32_t *ret_callee,
                      bool *ret_handed_over)
{
    const struct flow_image *image = set->modules.items[visit->node.module].image;
    while (visit->range != FLOW_NONE) {
        const struct flow_function *range = &image->functions.items[visit->range];
        *ret_handed_over = next_handed_over(image, range, visit, ret_callee);
        if (*ret_handed_over)
            return true;
        while (visit->block < range->block_count) {
            const struct flow_target *targets;
            uint32_t block = range->first_block + visit->block;
            *ret_callee = image->blocks.items[block].callee;
            *ret_handed_over = *ret_callee == FLOW_NONE && calls(&image->blocks.items[block]) &&
                               visit->target < flow_targets(image, block, &targets);
            if (*ret_handed_over) {
                *ret_callee = targets[visit->target++].callee;
                return true;
            }
            visit->block++;
            visit->target = 0;
            if (*ret_callee != FLOW_NONE)
                return true;
        }
        visit->range = range->next_part;
        visit->block = 0;
    }
    return false;
}

// Visits a callee of the last visit. A callee that was not searched before is met a second time
// afterwards, because only then it is known which callbacks it calls.
static struct error *visit_callee(struct profile_set *set, struct visits *visits, uint32_t callee,
                                  bool handed_over)
{
    struct visit *visit = &visits->items.items[visits->items.count - 1];
    struct node called;
    TRY(module_node(set, visit->node.module, callee, &called));
    const struct module *module = &set->modules.items[called.module];
    if (called.function == FLOW_NONE || handed_over)
        return enter(set, visits, called);
    if (module->states[called.function] == STATE_NEW)
        visit->block--;
    else if (module->states[called.function] == STATE_DONE)
        visit->handed_over = calls_arguments(&module->summaries[called.function]);
    return enter(set, visits, called);
}

struct error *module_analyse(struct profile_set *set, struct node node)
{
    _cleanup_(visits_deinit) struct visits visits = {0};
    TRY(enter(set, &visits, node));
    while (visits.items.count != 0) {
        struct visit *visit = &visits.items.items[visits.items.count - 1];
        uint32_t callee;
        bool handed_over;
        if (next_call(set, visit, &callee, &handed_over)) {
            TRY(visit_callee(set, &visits, callee, handed_over));
            continue;
        }
        TRY(leave(set, &visits));
    }
    return NULL;
}
