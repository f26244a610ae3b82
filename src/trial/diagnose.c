// SPDX-License-Identifier: GPL-3.0-or-later
// Explains why rules could not apply, and warns of programs that could not be intercepted. It reads
// the program's files again, which costs time, so it does that only when there is something to
// explain.
#include "trial/diagnose.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggestion.h"
#include "elf/object.h"
#include "trial/escaped.h"
#include "trial/function-alternatives.h"
#include "trial/linkage.h"
#include "trial/runtime-blame.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINED_CLOSELY  50 // rules
#define NAMED_ALTERNATIVES 4

struct error *diagnosis_warn(struct diagnosis *diagnosis, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text;
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return error_no_memory();
    char **warning = ARRAY_ADD(&diagnosis->warnings);
    if (warning == NULL) {
        free(text);
        return error_no_memory();
    }
    *warning = text;
    return NULL;
}

// The imported name that is spelled most like a function that nobody imports.
static const char *similar_import(const struct linkage *linkage, const char *wrong)
{
    struct suggestion meant = suggestion_start(wrong, strlen(wrong));
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count; j++)
            suggestion_offer(&meant, module->imports.items[j].name);
    }
    return meant.best;
}

static const struct linkage_import *find_import(const struct linkage *linkage, const char *name)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count; j++)
            if (strcmp(module->imports.items[j].name, name) == 0)
                return &module->imports.items[j];
    }
    return NULL;
}

// Imported functions that can do the same: "open64, openat". Each name once, since imports may
// repeat.
struct alternative_list {
    const char *names[NAMED_ALTERNATIVES];
    size_t count;
};

static void alternative_list_offer(struct alternative_list *list, const char *function,
                                   const char *import)
{
    if (list->count == NAMED_ALTERNATIVES || !function_alternatives(function, import))
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], import) == 0)
            return;
    list->names[list->count++] = import;
}

static struct error *alternative_list_put(const struct alternative_list *list, const char *last,
                                          struct buffer *text)
{
    for (size_t i = 0; i < list->count; i++)
        TRY(buffer_printf(text, "%s%s",
                          i == 0                 ? ""
                          : i + 1 == list->count ? last
                                                 : ", ",
                          list->names[i]));
    return NULL;
}

// The alternatives to a function that the program imports; if it imports none, those of the first
// library that does. NULL if there are none. The caller frees the text.
static char *imported_alternatives(const struct linkage *linkage, const char *function)
{
    struct alternative_list list = {0};
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count; j++)
            alternative_list_offer(&list, function, module->imports.items[j].name);
        // Later libraries import much that the program has nothing to do with.
        if (list.count != 0)
            break;
    }
    struct buffer text = {0};
    error_free(alternative_list_put(&list, " or ", &text));
    return text.data;
}

static char *explain_name(const struct linkage *linkage, const char *library, const char *name)
{
    char *text;
    int size;
    const struct linkage_import *import = find_import(linkage, name);
    size_t definer = linkage_definer(linkage, name, NULL);
    const char *near = similar_import(linkage, name);
    _cleanup_free_ char *others = imported_alternatives(linkage, name);
    if (import != NULL && *library != '\0' && import->definer != LINKAGE_UNDEFINED)
        size = asprintf(&text, "%s comes from %s, which '%s' does not name", name,
                        file_base_name(linkage->modules.items[import->definer].path), library);
    else if (import == NULL && others != NULL)
        size =
            asprintf(&text, "no module of any process imports %s; did you mean %s?", name, others);
    else if (import == NULL && definer != LINKAGE_UNDEFINED)
        size = asprintf(&text,
                        "%s defines %s, but no module of any process imports it; calls within a "
                        "library cannot be intercepted",
                        file_base_name(linkage->modules.items[definer].path), name);
    else if (near != NULL && strcmp(near, name) != 0)
        size = asprintf(&text, "no module of any process imports %s; did you mean %s?", name, near);
    else
        size = asprintf(&text, "no module of any process imports %s", name);
    return size < 0 ? NULL : text;
}

static char *explain(const struct wire_view *view, const struct wire_pattern *pattern,
                     const struct linkage *linkage)
{
    const char *name = wire_view_string(view, pattern->name);
    const char *library = wire_view_string(view, pattern->library);
    char *text;
    if (view->region->processes == 0)
        return strdup("the runtime was not loaded into any process of the command");
    if (pattern->flags & WIRE_GLOB || linkage->modules.count == 0)
        return asprintf(&text, "no module of any process imports a function '%s%s%s'", library,
                        *library != '\0' ? ":" : "", name) < 0
                   ? NULL
                   : text;
    return explain_name(linkage, library, name);
}

// A class of functions says nothing about each of them: if one can be intercepted, all is well; if
// none can, one sentence is enough.
static struct error *explain_classes(const struct wire_view *view, bool *bound,
                                     struct diagnosis *diagnosis)
{
    for (uint32_t start = 0, end; start < view->rule_count; start = end) {
        uint32_t class_text = view->rules[start].class_text;
        bool used = bound[start];
        for (end = start + 1;
             class_text != 0 && end < view->rule_count && view->rules[end].class_text == class_text;
             end++)
            used |= bound[end];
        if (class_text != 0 && !used && view->region->processes != 0) {
            diagnosis->whys[start] =
                strdup("no module of any process imports a function of this class");
            if (diagnosis->whys[start] == NULL)
                return error_no_memory();
        }
        for (uint32_t i = start; class_text != 0 && view->region->processes != 0 && i < end; i++)
            bound[i] = true;
    }
    return NULL;
}

static struct error *explain_rules(const struct wire_view *view, struct diagnosis *diagnosis)
{
    diagnosis->whys = calloc((size_t)view->rule_count + 1, sizeof *diagnosis->whys);
    _cleanup_free_ bool *bound = calloc((size_t)view->rule_count + 1, sizeof *bound);
    if (diagnosis->whys == NULL || bound == NULL)
        return error_no_memory();
    diagnosis->why_count = view->rule_count;
    uint32_t unbound = view->rule_count;
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        const uint32_t *refs = wire_view_rule_refs(view, &view->patterns[i]);
        for (uint32_t j = 0; j < view->patterns[i].rule_refs.count; j++)
            if (view->pattern_states[i].bound != 0 && !bound[refs[j]]) {
                bound[refs[j]] = true;
                unbound--;
            }
    }
    if (unbound == 0)
        return NULL;
    TRY(explain_classes(view, bound, diagnosis));
    // Where files cannot be read any more, the sentence is only less precise.
    _cleanup_(linkage_deinit) struct linkage linkage = {0};
    if (view->region->command_words != 0)
        error_free(linkage_find(view->command, &linkage));
    static const struct linkage nothing;
    uint32_t explained = 0;
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        const uint32_t *refs = wire_view_rule_refs(view, &view->patterns[i]);
        _cleanup_free_ char *why = NULL;
        for (uint32_t j = 0; j < view->patterns[i].rule_refs.count; j++) {
            if (bound[refs[j]] || diagnosis->whys[refs[j]] != NULL)
                continue;
            if (why == NULL)
                why = explain(view, &view->patterns[i],
                              explained++ < EXPLAINED_CLOSELY ? &linkage : &nothing);
            diagnosis->whys[refs[j]] = why != NULL ? strdup(why) : NULL;
            if (diagnosis->whys[refs[j]] == NULL)
                return error_no_memory();
        }
    }
    return NULL;
}

// Whether a rule names this pattern's function, could apply, and was not reached.
static bool is_missed(const struct wire_view *view, const struct wire_pattern *pattern)
{
    const uint32_t *refs = wire_view_rule_refs(view, pattern);
    bool missed = pattern->rule_refs.count != 0 && (pattern->flags & WIRE_GLOB) == 0 &&
                  view->pattern_states[pattern - view->patterns].bound != 0;
    for (uint32_t i = 0; missed && i < pattern->rule_refs.count; i++)
        missed = view->rule_states[refs[i]].reached == 0 && view->rules[refs[i]].class_text == 0;
    return missed;
}

// Warns of a function that is imported and was never called, while the program imports alternatives
// to it. Most likely it called one of those.
static struct error *warn_missed(const struct wire_view *view, const struct elf_object *object,
                                 const char *function, struct diagnosis *diagnosis)
{
    struct alternative_list list = {0};
    for (size_t i = 0; i < elf_object_import_count(object); i++)
        alternative_list_offer(&list, function, elf_object_import(object, i)->name);
    if (list.count == 0)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer names = {0};
    TRY(alternative_list_put(&list, " and ", &names));
    return diagnosis_warn(diagnosis,
                          "%s was never called; %s also imports %s, which this rule does not cover",
                          function, file_base_name(view->command), names.data);
}

static void close_object(struct elf_object **object)
{
    elf_object_close(*object);
}

struct error *diagnosis_alternatives(const char *command, const char *function,
                                     struct buffer *names)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_(close_object) struct elf_object *object = NULL;
    struct error *error = elf_find_program(command, &program);
    if (error == NULL && !program.script)
        error = elf_object_open(program.path, &object);
    error_free(error); // only a hint is lost
    struct alternative_list list = {0};
    for (size_t i = 0; object != NULL && i < elf_object_import_count(object); i++)
        alternative_list_offer(&list, function, elf_object_import(object, i)->name);
    return alternative_list_put(&list, " and ", names);
}

static struct error *explain_missed(const struct wire_view *view, struct diagnosis *diagnosis)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_(close_object) struct elf_object *object = NULL;
    uint32_t looked_at = 0;
    for (uint32_t i = 0; i < view->pattern_count && looked_at < EXPLAINED_CLOSELY; i++) {
        if (!is_missed(view, &view->patterns[i]))
            continue;
        if (looked_at++ == 0 && view->region->command_words != 0) {
            struct error *error = elf_find_program(view->command, &program);
            if (error == NULL && !program.script)
                error = elf_object_open(program.path, &object);
            error_free(error); // only a hint is lost
        }
        if (object == NULL)
            return NULL;
        TRY(warn_missed(view, object, wire_view_string(view, view->patterns[i].name), diagnosis));
    }
    return NULL;
}

static struct error *warn_programs(const struct wire_view *view, struct diagnosis *diagnosis)
{
    _cleanup_(escaped_programs_deinit) struct escaped_programs programs = {0};
    TRY(escaped_programs_find(view, true, &programs));
    for (size_t i = 0; i < programs.items.count; i++) {
        _cleanup_free_ char *text = NULL;
        TRY(escaped_program_text(&programs.items.items[i], &text));
        TRY(diagnosis_warn(diagnosis, "%s", text));
    }
    return NULL;
}

static struct error *warn_runtime(const struct wire_view *view, struct diagnosis *diagnosis)
{
    _cleanup_free_ char *text = NULL;
    TRY(runtime_blame(view, &text));
    return text != NULL ? diagnosis_warn(diagnosis, "%s", text) : NULL;
}

struct error *diagnosis_make(const struct wire_view *view, struct diagnosis *ret_diagnosis)
{
    struct diagnosis diagnosis = {0};
    if (view->damage != WIRE_DAMAGE_NONE) { // nothing is known that could be explained
        *ret_diagnosis = diagnosis;
        return NULL;
    }
    struct error *error = explain_rules(view, &diagnosis);
    if (error == NULL)
        error = explain_missed(view, &diagnosis);
    if (error == NULL)
        error = warn_programs(view, &diagnosis);
    if (error == NULL)
        error = warn_runtime(view, &diagnosis);
    if (error != NULL)
        diagnosis_deinit(&diagnosis);
    else
        *ret_diagnosis = diagnosis;
    return error;
}

void diagnosis_deinit(struct diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->why_count; i++)
        free(diagnosis->whys[i]);
    free(diagnosis->whys);
    for (size_t i = 0; i < diagnosis->warnings.count; i++)
        free(diagnosis->warnings.items[i]);
    ARRAY_DEINIT(&diagnosis->warnings);
    *diagnosis = (struct diagnosis){0};
}
