// SPDX-License-Identifier: GPL-3.0-or-later
// Walks over a translation unit and shows every function to the rules.
#include "mutate/source/look.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_DETAIL 60 // bytes

// ---- results ----

const char *look_print(struct look *look, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    const char *copy = arena_copy(&look->out->arena, text, length);
    look->failed |= copy == NULL;
    return copy != NULL ? copy : "";
}

const char *look_text(struct look *look, CXFile file, size_t *ret_size)
{
    if (look->text_file != file) {
        look->text = clang.getFileContents(look->unit, file, &look->text_size);
        look->text_file = file;
    }
    *ret_size = look->text != NULL ? look->text_size : 0;
    return look->text;
}

const char *look_describe(struct look *look, const struct tree_place *begin,
                          const struct tree_place *end)
{
    size_t size, used = 0;
    const char *text = look_text(look, begin->handle, &size);
    char line[LONGEST_DETAIL + 1];
    if (begin->handle != end->handle || end->offset > size)
        return "";
    bool space = false;
    for (size_t i = begin->offset; i < end->offset && used < LONGEST_DETAIL; i++) {
        bool blank = strchr(" \t\r\n", text[i]) != NULL ||
                     (text[i] == '\\' && strchr("\r\n", text[i + 1]) != NULL);
        if (!blank && space && used > 0 && used < LONGEST_DETAIL)
            line[used++] = ' ';
        if (!blank && used < LONGEST_DETAIL)
            line[used++] = text[i];
        space = blank;
    }
    if (used == LONGEST_DETAIL) {
        for (used -= 3; used > 0 && ((unsigned char)line[used] & 0xc0) == 0x80;)
            used--; // do not cut within a character
        memcpy(line + used, "...", 3);
        used += 3;
    }
    line[used] = '\0';
    return look_print(look, "%s", line);
}

static const char *name_of(struct look *look, CXFile file)
{
    CXString path = clang.getFileName(file);
    const char *chars = clang.getCString(path);
    const char *name = look_print(look, "%s", chars != NULL ? chars : "");
    clang.disposeString(path);
    return name;
}

struct source_fault *look_add(struct look *look, enum model_kind kind, enum source_how how,
                              const struct tree_place *begin, const struct tree_place *end)
{
    struct source_fault *fault = ARRAY_ADD(&look->out->items);
    if (fault == NULL) {
        look->failed = true;
        return NULL;
    }
    bool empty = begin->handle != end->handle || end->offset <= begin->offset ||
                 begin->file == NULL || end->file == NULL || strcmp(begin->file, end->file) != 0;
    *fault = (struct source_fault){
        .kind = kind,
        .how = how,
        .reason = empty ? SOURCE_MACRO : SOURCE_FOUND,
        .file = look_print(look, "%s", begin->file != NULL ? begin->file : ""),
        .function = look->name,
        .function_line = look->place.at.line,
        .at = begin->at,
        .begin = begin->at,
        .end = end->at,
        .name = "",
        .other = "",
        .replacement = "",
        .written_detail = "",
        .detail = empty ? "" : look_describe(look, begin, end),
    };
    fault->path = name_of(look, begin->handle);
    return fault;
}

const char *look_written(struct look *look, const struct source_fault *fault,
                         const struct tree_place *begin, const struct tree_place *end,
                         size_t *ret_size)
{
    bool text = fault->placed == SOURCE_IN_TEXT;
    CXFile file = text ? begin->handle : begin->written;
    size_t from = text ? begin->offset : begin->written_offset, size;
    size_t to = text ? end->offset : end->written_offset;
    if (fault->placed == SOURCE_NOWHERE || file == NULL || to < from ||
        file != (text ? end->handle : end->written))
        return NULL;
    const char *all = look_text(look, file, &size);
    *ret_size = to - from;
    return all != NULL && to <= size ? all + from : NULL;
}

void look_edit(struct look *look, struct source_fault *fault, const struct tree_place *begin,
               const struct tree_place *end, const char *text)
{
    bool in_text = fault->placed == SOURCE_IN_TEXT;
    CXFile file = in_text ? begin->handle : begin->written;
    const struct source_edit edit = {in_text ? begin->offset : begin->written_offset,
                                     in_text ? end->offset : end->written_offset, text};
    size_t size;
    if (fault->unwritable || look_written(look, fault, begin, end, &size) == NULL ||
        fault->edit_count == SOURCE_EDITS ||
        (fault->edit_count > 0 && fault->edits[fault->edit_count - 1].end > edit.begin)) {
        fault->unwritable = true;
        fault->edit_count = 0;
        return;
    }
    fault->edits[fault->edit_count++] = edit;
    if (!in_text && fault->edit_count == 1) {
        fault->path = name_of(look, file);
        look_note_written(look, fault, begin, end);
    }
}

void source_faults_deinit(struct source_faults *faults)
{
    ARRAY_DEINIT(&faults->items);
    ARRAY_DEINIT(&faults->constructs);
    ARRAY_DEINIT(&faults->anchor_counts);
    map_deinit(&faults->anchors);
    arena_deinit(&faults->arena);
}

// ---- functions ----

static void look_at(struct look *look, struct tree_node *node)
{
    switch (node->kind) {
    case CXCursor_CompoundStmt:
        rules_statements(look, node);
        break;
    case CXCursor_IfStmt:
        rules_if(look, node);
        break;
    case CXCursor_WhileStmt:
        if (node->children == 2)
            rules_condition(look, node->first);
        break;
    case CXCursor_DoStmt:
        rules_condition(look, node->last);
        break;
    case CXCursor_ForStmt: // of its parts, only the condition can be a useful && or ||
        for (struct tree_node *part = node->first; part != node->last; part = part->next)
            rules_condition(look, part);
        break;
    case CXCursor_CallExpr:
        rules_call(look, node);
        break;
    default:
        break;
    }
}

static void note_inner(void *data, CXCursor function)
{
    struct look *look = data;
    CXCursor *slot = ARRAY_ADD(&look->inner);
    if (slot != NULL)
        *slot = function;
    else
        look->failed = true;
}

static void look_into(struct look *look, CXCursor function)
{
    if (look->failed)
        return;
    struct error *error = tree_read(&look->tree, function, note_inner, look);
    look->failed |= error != NULL;
    error_free(error);
    if (error != NULL || look->tree.body == NULL) {
        tree_deinit(&look->tree);
        return;
    }
    CXString name = clang.getCursorSpelling(function);
    const char *chars = clang.getCString(name);
    look->name = look_print(look, "%s", chars != NULL ? chars : "");
    clang.disposeString(name);
    look->place = tree_place_of(clang.getCursorLocation(function));
    variables_find(look);
    look_count_anchors(look);
    for (struct tree_node *node = look->tree.body; node != NULL; node = tree_following(node)) {
        look_at(look, node);
        if (look->constructs)
            constructs_note(look, node);
    }
    tree_deinit(&look->tree);
}

static enum CXChildVisitResult visit(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct look *look = data;
    enum CXCursorKind kind = clang.getCursorKind(cursor);
    if (look->failed)
        return CXChildVisit_Break;
    if (tree_is_function(kind)) {
        if (clang.isCursorDefinition(cursor) &&
            !clang.Location_isInSystemHeader(clang.getCursorLocation(cursor)))
            look_into(look, cursor);
        return CXChildVisit_Continue;
    }
    bool holds_functions = kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
                           kind == CXCursor_UnexposedDecl || kind == CXCursor_ClassDecl ||
                           kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl ||
                           kind == CXCursor_ClassTemplate ||
                           kind == CXCursor_ClassTemplatePartialSpecialization;
    if (!holds_functions || clang.Location_isInSystemHeader(clang.getCursorLocation(cursor)))
        return CXChildVisit_Continue;
    return CXChildVisit_Recurse;
}

// The first of the compiler's errors: "a.c:1:10: fatal error: 'a.h' file not found".
static struct error *check_errors(CXTranslationUnit unit)
{
    struct error *error = NULL;
    for (unsigned i = 0, count = clang.getNumDiagnostics(unit); i < count && error == NULL; i++) {
        CXDiagnostic diagnostic = clang.getDiagnostic(unit, i);
        if (clang.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
            CXString text =
                clang.formatDiagnostic(diagnostic, clang.defaultDiagnosticDisplayOptions());
            const char *chars = clang.getCString(text);
            error = error_new("it does not compile: %s", chars != NULL ? chars : "");
            clang.disposeString(text);
        }
        clang.disposeDiagnostic(diagnostic);
    }
    return error;
}

static struct error *look_at_unit(CXTranslationUnit unit, bool constructs,
                                  struct source_faults *out)
{
    struct look look = {.unit = unit, .out = out, .constructs = constructs};
    TRY(check_errors(unit));
    clang.visitChildren(clang.getTranslationUnitCursor(unit), visit, &look);
    for (size_t i = 0; i < look.inner.count; i++)
        look_into(&look, look.inner.items[i]);
    ARRAY_DEINIT(&look.inner);
    ARRAY_DEINIT(&look.variables);
    map_deinit(&look.by_declaration);
    return look.failed ? error_no_memory() : NULL;
}

struct error *source_need(void)
{
    return clang_need();
}

struct error *source_find(char *const *arguments, bool constructs, struct source_faults *ret_faults)
{
    TRY(clang_need());
    int count = 0;
    while (arguments[count] != NULL)
        count++;
    CXIndex index = clang.createIndex(0, 0);
    CXTranslationUnit unit = NULL;
    enum CXErrorCode code =
        index != NULL ? clang.parseTranslationUnit2FullArgv(
                            index, NULL, (const char *const *)arguments, count, NULL, 0, 0, &unit)
                      : CXError_Failure;
    struct source_faults faults = {0};
    struct error *error = code != CXError_Success || unit == NULL
                              ? error_new("libclang cannot parse it (error %d)", (int)code)
                              : look_at_unit(unit, constructs, &faults);
    if (unit != NULL)
        clang.disposeTranslationUnit(unit);
    if (index != NULL)
        clang.disposeIndex(index);
    if (error != NULL) {
        source_faults_deinit(&faults);
        return error;
    }
    *ret_faults = faults;
    return NULL;
}
