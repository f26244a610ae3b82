// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites as scenarios: one rule per call, which makes it fail with a result that is not
// checked. A call that a scenario cannot express is left out and counted. Names from a binary are
// never trusted.
#include "base/cleanup.h"
#include "base/file.h"
#include "report/callsites/callsites.h"
#include "report/text.h"
#include "scenario/tables.h"

#include <string.h>

#define MOST_FRAMES 8

// The calls that are on the stack when the function is called: the call itself or, inside wrappers,
// one per wrapper, innermost first.
struct call_chain {
    uint64_t calls[MOST_FRAMES];
    size_t count;
};

static bool find_frames(const struct sites *sites, const struct site *site, struct call_chain *ret)
{
    struct call_chain frames = {0};
    const struct site *chain[MOST_FRAMES];
    size_t depth = 0;
    for (;;) {
        if (depth == MOST_FRAMES)
            return false;
        chain[depth++] = site;
        if (site->wrapper == FLOW_NONE || site->inner >= sites->items.count)
            break;
        site = &sites->items.items[site->inner];
    }
    // A tail jump leaves nothing on the stack. The call of the function that jumps does.
    for (size_t i = depth; i-- > 0;)
        if (chain[i]->after != 0)
            frames.calls[frames.count++] = chain[i]->address;
    *ret = frames;
    return chain[0]->after != 0;
}

// Whether the name has only characters that no scenario language treats specially.
static bool is_plain(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_.$@+-";
    return *name != '\0' && strlen(name) < 1024 && name[strspn(name, allowed)] == '\0';
}

static bool is_identifier(const char *name)
{
    return strpbrk(name, ".$@+-") == NULL;
}

struct scenario_rule {
    const char *function, *module;
    const char *error; // name of an errno, or NULL
    struct call_chain frames;
};

// Returns false if a scenario cannot express the call.
static bool make_rule(const struct callsites_report *report, const struct callsites_entry *entry,
                      struct scenario_rule *ret_rule)
{
    const struct callsites_module *module = &report->modules.items[entry->module];
    struct scenario_rule rule = {.function = entry->callee->name,
                                 .module = file_base_name(module->path)};
    if (entry->error != 0)
        rule.error = constant_name(CONSTANT_ERRNO, entry->error);
    if (!is_plain(rule.function) || !is_plain(rule.module) || strchr(rule.function, '+') != NULL ||
        prototype_impossible_result(rule.function, (uint64_t)entry->result) != NULL ||
        !find_frames(&module->sites, entry->site, &rule.frames))
        return false;
    *ret_rule = rule;
    return true;
}

static struct error *put_yaml_rule(struct buffer *text, const struct callsites_report *report,
                                   const struct callsites_entry *entry,
                                   const struct scenario_rule *rule)
{
    TRY(buffer_printf(text, "  # "));
    TRY(callsites_put_place(text, report, entry));
    TRY(buffer_printf(text, ": "));
    TRY(callsites_put_use(text, entry));
    const char *quote = is_identifier(rule->function) ? "" : "\"";
    TRY(buffer_printf(text, "\n  - '%s%s%s=", quote, rule->function, quote));
    TRY(callsites_put_code(text, entry->callee, entry->result));
    TRY(buffer_printf(text, "%s%s when caller(", rule->error != NULL ? "/" : "",
                      rule->error != NULL ? rule->error : ""));
    for (size_t i = 0; i < rule->frames.count; i++)
        TRY(buffer_printf(text, "%s\"%s+0x%llx\"", i != 0 ? ", " : "", rule->module,
                          (unsigned long long)rule->frames.calls[i]));
    return buffer_printf(text, ")'\n");
}

static struct error *put_xml_rule(struct buffer *text, const struct callsites_entry *entry,
                                  const struct scenario_rule *rule, size_t number)
{
    TRY(buffer_printf(text, "  <trigger id=\"site%zu\" class=\"CallStackTrigger\">\n    <args>\n",
                      number));
    for (size_t i = 0; i < rule->frames.count; i++)
        TRY(buffer_printf(text, "      <frame><module>%s</module><offset>0x%llx</offset></frame>\n",
                          rule->module, (unsigned long long)rule->frames.calls[i]));
    TRY(buffer_printf(text, "    </args>\n  </trigger>\n  <function name=\"%s\" retval=\"%lld\"",
                      rule->function, (long long)entry->result));
    if (rule->error != NULL)
        TRY(buffer_printf(text, " errno=\"%s\"", rule->error));
    return buffer_printf(text, ">\n    <reftrigger ref=\"site%zu\" />\n  </function>\n", number);
}

static struct error *put_rules(const struct callsites_report *report, enum site_class class,
                               bool xml, struct buffer *text, size_t *ret_rules)
{
    size_t rules = 0, left_out = 0;
    for (size_t i = 0; i < report->entries.count; i++) {
        const struct callsites_entry *entry = &report->entries.items[i];
        struct scenario_rule rule;
        if (entry->site->class != class)
            continue;
        if (!make_rule(report, entry, &rule)) {
            left_out++;
            continue;
        }
        rules++;
        TRY(xml ? put_xml_rule(text, entry, &rule, rules)
                : put_yaml_rule(text, report, entry, &rule));
    }
    if (left_out != 0)
        TRY(buffer_printf(text,
                          xml ? "  <!-- calls that a scenario cannot describe: %zu -->\n"
                              : "# calls that a scenario cannot describe: %zu\n",
                          left_out));
    *ret_rules = rules;
    return NULL;
}

struct error *callsites_yaml(const struct callsites_report *report, enum site_class class,
                             struct buffer *text, size_t *ret_rules)
{
    TRY(buffer_printf(text,
                      "# Calls of class '%s', found by ordeal callsites, most dangerous first.\n"
                      "# ordeal run --sandbox auto --scenario FILE -- PROGRAM\nrules:\n",
                      site_class_name(class)));
    return put_rules(report, class, false, text, ret_rules);
}

struct error *callsites_xml(const struct callsites_report *report, enum site_class class,
                            struct buffer *text, size_t *ret_rules)
{
    TRY(buffer_printf(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<scenario>\n"));
    TRY(put_rules(report, class, true, text, ret_rules));
    return buffer_printf(text, "</scenario>\n");
}
