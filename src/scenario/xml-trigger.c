// SPDX-License-Identifier: GPL-3.0-or-later
// Translates the trigger classes of the LFI article to the native language. A class that is not
// known here is a plug-in.
#include "scenario/xml.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct translation {
    const struct source *file;
    const struct xml_node *trigger;
    const struct xml_node *args; // or NULL
    const char *label;
    struct buffer *out;
};

static struct error *complain(const struct translation *translation, const struct xml_node *node,
                              const char *message)
{
    return source_error(translation->file, node != NULL ? node->at : translation->trigger->at, "%s",
                        message);
}

// A text in quotes, whatever it holds.
static struct error *put_quoted(struct buffer *out, const char *text)
{
    TRY(buffer_append(out, "\"", 1));
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ')
            TRY(buffer_printf(out, "\\x%02x", (unsigned char)*text));
        else if (*text == '"' || *text == '\\')
            TRY(buffer_printf(out, "\\%c", *text));
        else
            TRY(buffer_append(out, text, 1));
    }
    return buffer_append(out, "\"", 1);
}

static bool same_name(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return *a == *b;
}

// The element among the children with one of the names (ended by NULL), or NULL.
static const struct xml_node *child(const struct xml_node *parent, const char *const *names)
{
    for (const struct xml_node *node = parent != NULL ? parent->first : NULL; node != NULL;
         node = node->next)
        for (size_t i = 0; names[i] != NULL; i++)
            if (same_name(node->name, names[i]))
                return node;
    return NULL;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

// The argument with one of the names, or the text of <args> itself; NULL if there is none.
static const struct xml_node *argument(const struct translation *translation,
                                       const char *const *names)
{
    const struct xml_node *found = child(translation->args, names);
    if (found == NULL && translation->args != NULL && translation->args->text[0] != '\0')
        found = translation->args;
    return found;
}

// Everything in an element has a known name, and only one of that name; of frames there are many.
static struct error *check_names(const struct translation *translation,
                                 const struct xml_node *parent, const char *where,
                                 const char *const *known)
{
    for (const struct xml_node *node = parent->first; node != NULL; node = node->next) {
        struct suggestion suggestion = suggestion_start(node->name, strlen(node->name));
        size_t i = 0;
        for (; known[i] != NULL && !same_name(node->name, known[i]); i++)
            suggestion_offer(&suggestion, known[i]);
        char storage[SUGGESTION_SIZE];
        if (known[i] == NULL)
            return source_error(translation->file, node->at, "unknown argument <%.40s> of %s%s",
                                node->name, where, suggestion_text(&suggestion, storage));
        if (!same_name(node->name, "frame") &&
            child(parent, (const char *const[]){node->name, NULL}) != node)
            return source_error(translation->file, node->at, "a second <%.40s>", node->name);
    }
    return NULL;
}

static bool is_number(const char *text)
{
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return text[2] != '\0' && text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0';
    if (*text == '-')
        text++;
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static struct error *check_number(const struct translation *translation,
                                  const struct xml_node *node)
{
    if (is_number(node->text))
        return NULL;
    return source_error(translation->file, node->at, "<%s> must be a number, not '%.40s'",
                        node->name, node->text);
}

static const char *const frame_parts[] = {"frame", "module", "object",   "binary", "offset",
                                          "file",  "line",   "function", "symbol", NULL};

static struct error *put_frame(const struct translation *translation, const struct xml_node *frame)
{
    TRY(check_names(translation, frame, "a frame", frame_parts + 1)); // no frames in frames
    const struct xml_node *module = child(frame, NAMES("module", "object", "binary"));
    const struct xml_node *offset = child(frame, NAMES("offset"));
    const struct xml_node *file = child(frame, NAMES("file"));
    const struct xml_node *line = child(frame, NAMES("line"));
    const struct xml_node *function = child(frame, NAMES("function", "symbol"));
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (offset != NULL) {
        if (module == NULL)
            return complain(translation, offset, "an <offset> needs a <module>");
        TRY(check_number(translation, offset));
        TRY(buffer_printf(&text, "%s+%s", module->text, offset->text));
    } else if (file != NULL || line != NULL) {
        if (file == NULL || line == NULL)
            return complain(translation, frame, "<file> and <line> go together");
        TRY(check_number(translation, line));
        TRY(buffer_printf(&text, "%s%s%s:%s", module != NULL ? module->text : "",
                          module != NULL ? ":" : "", file->text, line->text));
    } else if (function != NULL) {
        TRY(buffer_printf(&text, "%s%s%s", module != NULL ? module->text : "",
                          module != NULL ? ":" : "", function->text));
    } else if (module != NULL) {
        TRY(buffer_printf(&text, "%s:", module->text));
    } else {
        return complain(translation, frame,
                        "a frame needs <module> and <offset>, <file> and <line>, or <function>");
    }
    return put_quoted(translation->out, text.data);
}

static struct error *call_stack(const struct translation *translation)
{
    if (translation->args == NULL)
        return complain(translation, NULL, "CallStackTrigger needs <args> with a <frame>");
    const char *separator = "";
    TRY(buffer_printf(translation->out, "stack("));
    if (child(translation->args, NAMES("frame")) == NULL)
        TRY(put_frame(translation, translation->args));
    else
        for (const struct xml_node *node = translation->args->first; node != NULL;
             node = node->next) {
            if (!same_name(node->name, "frame"))
                return complain(translation, node, "expected a <frame> here");
            TRY(buffer_printf(translation->out, "%s", separator));
            TRY(put_frame(translation, node));
            separator = ", ";
        }
    return buffer_printf(translation->out, ")");
}

static struct error *call_count(const struct translation *translation)
{
    const struct xml_node *first = child(translation->args, NAMES("first", "from"));
    const struct xml_node *last = child(translation->args, NAMES("last", "to"));
    const struct xml_node *step = child(translation->args, NAMES("step", "every"));
    if (first == NULL && last == NULL && step == NULL) {
        const struct xml_node *count =
            argument(translation, NAMES("n", "count", "callcount", "calls", "number"));
        if (count == NULL)
            return complain(translation, NULL, "CallCountTrigger needs <args><n>...</n></args>");
        TRY(check_number(translation, count));
        return buffer_printf(translation->out, "count == %s", count->text);
    }
    const struct xml_node *parts[] = {first, last, step};
    for (size_t i = 0; i < 3; i++)
        if (parts[i] != NULL)
            TRY(check_number(translation, parts[i]));
    TRY(buffer_printf(translation->out, "count in %s..%s", first != NULL ? first->text : "1",
                      last != NULL ? last->text : ""));
    return step != NULL ? buffer_printf(translation->out, "+%s", step->text) : NULL;
}

static struct error *singleton(const struct translation *translation)
{
    return buffer_printf(translation->out, "once");
}

static struct error *random_(const struct translation *translation)
{
    const struct xml_node *percent = child(translation->args, NAMES("percent", "percentage"));
    const struct xml_node *chance = argument(translation, NAMES("probability", "p", "chance"));
    const struct xml_node *node = percent != NULL ? percent : chance;
    if (node == NULL)
        return complain(translation, NULL,
                        "RandomTrigger needs <args><probability>...</probability></args>");
    if (node->text[0] == '\0' || node->text[strspn(node->text, "0123456789.eE-+%")] != '\0')
        return complain(translation, node, "a probability is a number such as 0.1 or 10%");
    return buffer_printf(translation->out, "random(%s%s)", node->text,
                         percent != NULL && strchr(node->text, '%') == NULL ? "%" : "");
}

static struct error *coverage(const struct translation *translation)
{
    return buffer_printf(translation->out, "new_stack");
}

static const char *operator_text(const char *name)
{
    static const char *const names[][2] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="},
                                           {"gt", ">"},  {"ge", ">="}, {"=", "=="}};
    static const char *const known[] = {"==", "!=", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_name(names[i][0], name))
            return names[i][1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], name) == 0)
            return known[i];
    return NULL;
}

static struct error *put_operand(const struct translation *translation, const struct xml_node *node)
{
    return buffer_printf(translation->out, is_number(node->text) ? "%s" : "var(%s)", node->text);
}

static const char *const program_state_arguments[] = {
    "expression", "condition", "expr",     "left",  "var1", "variable", "var",       "name",
    "operator",   "op",        "relation", "right", "var2", "value",    "variable2", NULL};

static struct error *program_state(const struct translation *translation)
{
    const struct xml_node *whole =
        child(translation->args, NAMES("expression", "condition", "expr"));
    if (whole != NULL)
        return buffer_printf(translation->out, "(%s)", whole->text);
    const struct xml_node *left =
        child(translation->args, NAMES("left", "var1", "variable", "var", "name"));
    const struct xml_node *op = child(translation->args, NAMES("operator", "op", "relation"));
    const struct xml_node *right =
        child(translation->args, NAMES("right", "var2", "value", "variable2"));
    if (left == NULL || right == NULL)
        return complain(translation, NULL,
                        "a trigger on program variables needs <args> with <left>, <operator> and "
                        "<right>, or an <expression>");
    const char *spelled = op != NULL ? operator_text(op->text) : "==";
    if (spelled == NULL)
        return complain(translation, op,
                        "an <operator> is one of == != &lt; &lt;= > >=, or eq ne "
                        "lt le gt ge");
    TRY(put_operand(translation, left));
    TRY(buffer_printf(translation->out, " %s ", spelled));
    return put_operand(translation, right);
}

static struct error *distributed(const struct translation *translation)
{
    const struct xml_node *name = argument(translation, NAMES("name", "question"));
    TRY(buffer_printf(translation->out, "remote("));
    TRY(put_quoted(translation->out,
                   name != NULL ? name->text : xml_attribute(translation->trigger, "id")));
    return buffer_printf(translation->out, ")");
}

static struct error *read_pipe(const struct translation *translation)
{
    const struct xml_node *low = child(translation->args, NAMES("low", "min"));
    const struct xml_node *high = child(translation->args, NAMES("high", "max"));
    if (low != NULL)
        TRY(check_number(translation, low));
    if (high != NULL)
        TRY(check_number(translation, high));
    return buffer_printf(translation->out, "fd(1).pipe and arg(3) in %s..%s",
                         low != NULL ? low->text : "0", high != NULL ? high->text : "");
}

static struct error *with_mutex(const struct translation *translation)
{
    return buffer_printf(translation->out, "holding_mutex");
}

// Every leaf becomes a parameter; a nested one gets its parents' names in front.
static struct error *put_parameters(const struct translation *translation,
                                    const struct xml_node *parent, const char *prefix)
{
    for (const struct xml_node *node = parent->first; node != NULL; node = node->next) {
        _cleanup_(buffer_deinit) struct buffer name = {0};
        TRY(buffer_printf(&name, "%s%s%s", prefix, *prefix != '\0' ? "." : "", node->name));
        if (node->first != NULL) {
            TRY(put_parameters(translation, node, name.data));
            continue;
        }
        TRY(buffer_printf(translation->out, ", "));
        TRY(put_quoted(translation->out, name.data));
        TRY(buffer_printf(translation->out, ": "));
        TRY(put_quoted(translation->out, node->text));
    }
    return NULL;
}

static struct error *plugin(const struct translation *translation)
{
    TRY(buffer_printf(translation->out, "plugin(%s", xml_attribute(translation->trigger, "class")));
    if (translation->args != NULL && translation->args->text[0] != '\0') {
        TRY(buffer_printf(translation->out, ", args: "));
        TRY(put_quoted(translation->out, translation->args->text));
    } else if (translation->args != NULL) {
        TRY(put_parameters(translation, translation->args, ""));
    }
    TRY(buffer_printf(translation->out, ", instance: "));
    TRY(put_quoted(translation->out, translation->label));
    return buffer_printf(translation->out, ")");
}

static const struct class_ {
    const char *name; // without "Trigger"
    struct error *(*translate)(const struct translation *translation);
    const char *const *arguments; // names of elements in <args>
    bool takes_text;              // <args> may hold the one argument itself
} classes[] = {
    {"CallStack", call_stack, frame_parts, false},
    {"CallCount", call_count,
     NAMES("first", "from", "last", "to", "step", "every", "n", "count", "callcount", "calls",
           "number"),
     true},
    {"Singleton", singleton, NAMES(NULL), false},
    {"Random", random_, NAMES("percent", "percentage", "probability", "p", "chance"), true},
    {"Coverage", coverage, NAMES(NULL), false},
    {"CoverageImprovement", coverage, NAMES(NULL), false},
    {"ProgramState", program_state, program_state_arguments, false},
    {"ProgramSemantic", program_state, program_state_arguments, false},
    {"Distributed", distributed, NAMES("name", "question"), true},
    {"ReadPipe", read_pipe, NAMES("low", "min", "high", "max"), false},
    {"WithMutex", with_mutex, NAMES(NULL), false},
};
#define CLASSES (sizeof classes / sizeof *classes)

const char *xml_class_suggestion(const char *class_, char storage[SUGGESTION_SIZE])
{
    struct suggestion suggestion = suggestion_start(class_, strlen(class_));
    char full[CLASSES][40];
    for (size_t i = 0; i < CLASSES; i++) {
        suggestion_offer(&suggestion, classes[i].name);
        snprintf(full[i], sizeof full[i], "%sTrigger", classes[i].name);
        suggestion_offer(&suggestion, full[i]);
    }
    return suggestion_text(&suggestion, storage);
}

static bool class_is(const char *class_, const char *name)
{
    size_t size = strlen(name);
    return strncasecmp(class_, name, size) == 0 &&
           (class_[size] == '\0' || same_name(class_ + size, "Trigger"));
}

static struct error *check_arguments(const struct translation *translation,
                                     const struct class_ *class_)
{
    const struct xml_node *args = translation->args;
    if (args == NULL)
        return NULL;
    if (args->text[0] != '\0' && !class_->takes_text)
        return source_error(translation->file, args->at, "<args> of %s cannot be a text ('%.40s')",
                            class_->name, args->text);
    return check_names(translation, args, class_->name, class_->arguments);
}

struct error *xml_trigger_expression(const struct source *file, const struct xml_node *trigger,
                                     const char *label, struct buffer *expression)
{
    struct translation translation = {
        .file = file, .trigger = trigger, .label = label, .out = expression};
    for (const struct xml_node *node = trigger->first; node != NULL; node = node->next) {
        if (strcmp(node->name, "args") != 0)
            return source_error(file, node->at, "<trigger> holds <args> only, not <%.40s>",
                                node->name);
        if (translation.args != NULL)
            return source_error(file, node->at, "a second <args>");
        translation.args = node;
    }
    const char *class_ = xml_attribute(trigger, "class");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (class_is(class_, classes[i].name)) {
            TRY(check_arguments(&translation, &classes[i]));
            return classes[i].translate(&translation);
        }
    return plugin(&translation);
}
