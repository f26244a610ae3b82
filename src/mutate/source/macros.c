// SPDX-License-Identifier: GPL-3.0-or-later
// What comes out of a macro is changed where it is written: in the macro's definition, or in the
// argument of its use. libclang tells where a thing's first token is written; of its end it knows
// only the end of the macro's use. So the end is found in the text.
#include "mutate/source/look.h"

#include "base/hash.h"

#include <string.h>

struct scan {
    const char *text;
    size_t size, at;
    bool directive; // a line's end ends it
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

// Steps over a comment, a string or a single character.
static void step(struct scan *scan)
{
    const char *text = scan->text;
    char c = text[scan->at], next = scan->at + 1 < scan->size ? text[scan->at + 1] : '\0';
    if (c == '/' && next == '*') {
        const char *end = memmem(text + scan->at + 2, scan->size - scan->at - 2, "*/", 2);
        scan->at = end != NULL ? (size_t)(end - text) + 2 : scan->size;
    } else if (c == '/' && next == '/') {
        while (scan->at < scan->size && text[scan->at] != '\n')
            scan->at++;
    } else if (c == '"' || c == '\'') {
        for (scan->at++; scan->at < scan->size && text[scan->at] != c && text[scan->at] != '\n';
             scan->at++)
            scan->at += text[scan->at] == '\\';
        scan->at++;
    } else if (c == '\\' && scan->directive) {
        while (scan->at < scan->size && text[scan->at] != '\n')
            scan->at++;
        scan->at++;
    } else {
        scan->at++;
    }
    if (scan->at > scan->size)
        scan->at = scan->size;
}

// The end of what begins at `scan->at`: before one of `stops`, before a bracket that was not
// opened, before an operator of `joined` ("&&", "||", or NULL), or at the end of a directive.
// Blanks before it do not count.
static size_t scan_to(struct scan scan, const char *stops, bool joined)
{
    size_t end = scan.at;
    for (int depth = 0; scan.at < scan.size;) {
        char c = scan.text[scan.at], next = scan.at + 1 < scan.size ? scan.text[scan.at + 1] : 0;
        bool comment = c == '/' && (next == '*' || next == '/');
        bool closes = strchr(")]}", c) != NULL && c != '\0';
        if ((scan.directive && c == '\n') || (depth == 0 && closes) ||
            (depth == 0 && c != '\0' && strchr(stops, c) != NULL) ||
            (depth == 0 && joined && (c == '&' || c == '|') && next == c))
            break;
        depth += c == '(' || c == '[' || c == '{';
        depth -= closes;
        bool blank = is_blank(c) || (c == '\\' && scan.directive);
        step(&scan);
        if (!comment && !blank)
            end = scan.at;
    }
    return end;
}

// Behind the use of a macro: its name and, if they follow, arguments in parentheses.
static size_t use_end(const char *text, size_t size, size_t at)
{
    struct scan scan = {text, size, at, false};
    while (scan.at < size && is_word(text[scan.at]))
        scan.at++;
    size_t name = scan.at;
    while (scan.at < size && is_blank(text[scan.at]))
        scan.at++;
    if (scan.at >= size || text[scan.at] != '(')
        return name;
    scan.at++;
    scan.at = scan_to(scan, "", false);
    while (scan.at < size && text[scan.at] != ')')
        step(&scan);
    return scan.at < size ? scan.at + 1 : size;
}

// ---- places ----

// Whether something is written in an argument of the macro's use, and not in a definition.
static bool is_argument(struct look *look, const struct tree_place *begin)
{
    size_t size;
    const char *text = look_text(look, begin->handle, &size);
    return begin->written == begin->handle && text != NULL &&
           begin->written_offset >= begin->offset &&
           begin->written_offset < use_end(text, size, begin->offset);
}

static struct tree_node *ending_part(struct tree_node *node)
{
    while ((node->kind == CXCursor_IfStmt || node->kind == CXCursor_SwitchStmt ||
            node->kind == CXCursor_LabelStmt || node->kind == CXCursor_CaseStmt ||
            node->kind == CXCursor_DefaultStmt) &&
           node->last != NULL)
        node = node->last;
    return node;
}

struct tree_place look_end(struct look *look, struct tree_node *node, bool clause)
{
    struct tree_place end = *tree_end(node);
    node = ending_part(node);
    const struct tree_place *begin = tree_begin(node);
    if (!begin->macro || begin->written == NULL)
        return end;
    bool argument = is_argument(look, begin);
    size_t size;
    const char *text = look_text(look, begin->written, &size);
    if (text == NULL || begin->written_offset >= size)
        return end;
    struct scan scan = {text, size, begin->written_offset, !argument};
    if (node->kind == CXCursor_CompoundStmt && text[scan.at] == '{') {
        scan.at++;
        scan.at = scan_to(scan, "", false);
        while (scan.at < size && text[scan.at] != '}' && text[scan.at] != '\n')
            step(&scan);
        end.written_offset = (unsigned)scan.at + (scan.at < size && text[scan.at] == '}');
    } else {
        end.written_offset = (unsigned)scan_to(scan, clause ? ";,?:" : ";,", clause);
    }
    end.written = begin->written;
    end.macro = true;
    return end;
}

struct tree_place look_behind(struct tree_place place, unsigned bytes)
{
    place.offset += bytes;
    place.written_offset += bytes;
    return place;
}

// Whether an operator is written at a place.
static bool is_written(struct look *look, const struct tree_place *place, const char *sign)
{
    size_t size, length = strlen(sign);
    const char *text = look_text(look, place->written, &size);
    return text != NULL && place->written_offset + length <= size &&
           memcmp(text + place->written_offset, sign, length) == 0;
}

bool look_find_operator(struct look *look, struct tree_node *left, struct tree_node *right,
                        const char *sign, struct tree_place *ret_place)
{
    size_t size;
    struct tree_place place = *tree_begin(right);
    const char *text = look_text(look, place.written, &size);
    unsigned length = (unsigned)strlen(sign);
    if (text == NULL || place.written_offset > size)
        return false;
    while (place.written_offset > 0 &&
           (is_blank(text[place.written_offset - 1]) || text[place.written_offset - 1] == '\\'))
        place.written_offset--;
    place.written_offset -= place.written_offset >= length ? length : 0;
    *ret_place = place;
    if (is_written(look, &place, sign))
        return true;
    // The right operand is an argument: the operator follows the left one, if that is one token.
    if (left == NULL || tree_plain(left)->first != NULL)
        return false;
    *ret_place = place = *tree_begin(left);
    text = look_text(look, place.written, &size);
    while (text != NULL && ret_place->written_offset < size &&
           is_word(text[ret_place->written_offset]))
        ret_place->written_offset++;
    while (text != NULL && ret_place->written_offset < size &&
           is_blank(text[ret_place->written_offset]))
        ret_place->written_offset++;
    return is_written(look, ret_place, sign);
}

// ---- faults ----

// Variables that are declared together begin at the same token: their names tell them apart.
static uint64_t key_of(struct tree_node *node)
{
    struct tree_place place = node->kind == CXCursor_VarDecl
                                  ? tree_place_of(clang.getCursorLocation(node->cursor))
                                  : *tree_begin(node);
    uint64_t hash = hash_mix((uintptr_t)place.written, place.written_offset);
    return hash_mix(hash, node->kind);
}

// Nodes of one kind may begin at the same token: the outermost stands for all of them.
static bool is_outermost(struct tree_node *node)
{
    const struct tree_place *begin = tree_begin(node);
    for (struct tree_node *outer = node->parent; outer != NULL; outer = outer->parent) {
        const struct tree_place *place = tree_begin(outer);
        if (place->written != begin->written || place->written_offset != begin->written_offset)
            return true;
        if (outer->kind == node->kind)
            return false;
    }
    return true;
}

static void count_anchor(struct look *look, uint64_t key)
{
    uint32_t index = map_find(&look->out->anchors, key);
    if (index != MAP_NONE) {
        look->out->anchor_counts.items[index]++;
        return;
    }
    unsigned *count = ARRAY_ADD(&look->out->anchor_counts);
    struct error *error = count != NULL ? map_put(&look->out->anchors, key,
                                                  (uint32_t)look->out->anchor_counts.count - 1)
                                        : error_no_memory();
    look->failed |= error != NULL;
    error_free(error);
    if (count != NULL)
        *count = 1;
}

void look_count_anchors(struct look *look)
{
    for (struct tree_node *node = look->tree.body; node != NULL; node = tree_following(node)) {
        bool kind = node->kind == CXCursor_IfStmt || node->kind == CXCursor_CallExpr ||
                    node->kind == CXCursor_BinaryOperator || node->kind == CXCursor_DeclRefExpr ||
                    node->kind == CXCursor_CompoundAssignOperator ||
                    node->kind == CXCursor_UnaryOperator || node->kind == CXCursor_VarDecl;
        if (!kind || !tree_begin(node)->macro || !is_outermost(node))
            continue;
        count_anchor(look, key_of(node));
    }
}

void look_anchor(struct look *look, struct source_fault *fault, struct tree_node *anchor,
                 struct tree_node *last)
{
    const struct tree_place *begin = tree_begin(anchor);
    size_t size;
    const char *text = look_text(look, begin->handle, &size);
    if (!begin->macro || text == NULL || begin->offset >= size ||
        tree_end(last)->offset > use_end(text, size, begin->offset))
        return;
    fault->anchor = key_of(anchor);
    fault->placed = SOURCE_NOWHERE;
    if (begin->written == NULL)
        return;
    CXSourceLocation place =
        clang.getLocationForOffset(look->unit, begin->written, begin->written_offset);
    if (clang.Location_isInSystemHeader(place))
        return;
    fault->placed = SOURCE_IN_MACRO;
    // What begins with an argument and goes on in the definition: where it begins there, is not
    // known.
    bool argument = is_argument(look, begin);
    for (struct tree_node *node = anchor; argument && node != NULL && tree_is_inside(node, last);
         node = tree_following(node))
        fault->unwritable |= !is_argument(look, tree_begin(node));
    struct tree_place end = look_end(look, anchor, false);
    text = look_text(look, begin->written, &size);
    // A macro that is a function's name: the call is where it is used.
    if (anchor->kind == CXCursor_CallExpr && end.written_offset <= size &&
        memchr(text + begin->written_offset, '(', end.written_offset - begin->written_offset) ==
            NULL)
        fault->placed = SOURCE_IN_TEXT;
}

void look_note_written(struct look *look, struct source_fault *fault,
                       const struct tree_place *begin, const struct tree_place *end)
{
    if (is_argument(look, begin))
        fault->placed = SOURCE_IN_ARGUMENT;
    // Not `written_at`: the place may have been moved.
    CXSourceLocation place =
        clang.getLocationForOffset(look->unit, begin->written, begin->written_offset);
    clang.getSpellingLocation(place, NULL, &fault->written.line, &fault->written.column, NULL);
    struct tree_place from = *begin, to = *end;
    from.handle = to.handle = begin->written;
    from.offset = begin->written_offset;
    to.offset = end->written_offset;
    if (fault->kind != MODEL_WPFV && fault->kind != MODEL_WAEP)
        fault->written_detail = look_describe(look, &from, &to);
}
