// SPDX-License-Identifier: GPL-3.0-or-later
// The table of lines that say that something went wrong. The first rule that fits decides. Only new
// lines are looked at, so that the rules may be generous: who was told must not be called
// uninformed.
#include "oracle/told.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS "warn|warning|err|error|crit|critical|alert|emerg|emergency|fatal|severe|panic"
#define EDGE   "(^|[^[:alnum:]_])"
#define END    "([^[:alnum:]_]|$)"

const struct told_rule told_rules[] = {
    // HTTP
    {TOLD_HTTP, true, false, 1, "HTTP/[0-9.]+\"? ([45][0-9][0-9])" END, "< HTTP/1.1 503 Busy",
     "HTTP/1.1 200 OK"},
    {TOLD_HTTP, true, false, 2,
     EDGE "([45][0-9][0-9]) (bad request|unauthorized|forbidden|not found|method not allowed|"
          "request time-?out|internal server error|not implemented|bad gateway|"
          "service (temporarily )?unavailable|gateway time-?out|insufficient storage)",
     "<h1>500 Internal Server Error</h1>", "1500 not found"},
    {TOLD_HTTP, true, false, 2, "(http_code|status|response)[:= ]+\"?([45][0-9][0-9])" END,
     "status: 502", "status: 5020"},
    {TOLD_HTTP, true, true, 1, "^([45][0-9][0-9])$", "500", "5000"},
    // Logs
    {TOLD_LOG, true, false, 0, "\\[([[:alnum:]_.-]+[: ])?(" LEVELS ")\\]",
     "2026/01/02 03:04:05 [crit] 7#7: open() failed", "[information] started"},
    {TOLD_LOG, false, false, 0,
     "(^|[[:space:]])(WARNING|ERROR|FATAL|PANIC|CRITICAL|SEVERE)(:|[[:space:]]|$)",
     "2026-01-02 UTC [7] FATAL:  could not open file", "LOG:  ERRORS are counted"},
    {TOLD_LOG, true, false, 0, EDGE "level=\"?(" LEVELS ")" END, "ts=1 level=error msg=x",
     "level=info msg=x"},
    {TOLD_LOG, true, false, 0, "\"(level|severity)\"[[:space:]]*:[[:space:]]*\"(" LEVELS ")\"",
     "{\"level\": \"error\"}", "{\"level\": \"info\"}"},
    {TOLD_LOG, false, false, 0, "^[WEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}",
     "E0102 03:04:05.6 7 a.cc:8] x", "I0102 03:04:05.6 7 a.cc:8] x"},
    {TOLD_LOG, false, false, 0, "^<[0-4]>", "<3>disk full", "<6>started"},
    {TOLD_LOG, false, false, 0, "^[0-9]+:[A-Z] [0-9]+ [A-Z][a-z][a-z] .* # ",
     "7:M 02 Jan 2026 03:04:05.678 # Can't save", "7:M 02 Jan 2026 03:04:05.678 * Saved"},
    {TOLD_LOG, false, false, 0, "(^|[[:space:]])=!=([[:space:]]|$)", "12:00 =!= | x", "a=!=b"},
    // Numbers of errors. The first two are about none, and end the search.
    {TOLD_NOTHING, true, false, 0,
     EDGE "(0|no) (errors?|failed|failures?|timeouts?|refused|lost|warnings?)" END,
     "9 done, 0 errors", "10 errors"},
    {TOLD_NOTHING, true, false, 0,
     EDGE "(errors?|failed|failures?|timeouts?|refused|lost|failed "
          "requests)[:=[:space:]]+0(%|[^0-9.]|$)",
     "Failed requests:        0", "errors: 05"},
    {TOLD_COUNT, true, false, 0,
     EDGE "(errors?|failed|failures?|timeouts?|failed requests|non-2xx( or 3xx)? responses)"
          "[:=[:space:]]+[1-9][0-9]*",
     "Failed requests:        12", "errors: none"},
    {TOLD_COUNT, true, false, 0,
     EDGE "[1-9][0-9]* (errors?|failures?|failed|timeouts?|refused|lost)" END, "3 of 9: 2 failed",
     "3 files"},
    // Sentences
    {TOLD_ERROR, true, false, 0,
     EDGE "(error|fatal|failed|failure|fails|cannot|can't|could not|couldn't|unable to|panic|"
          "exception|out of memory|no memory|corrupt|corrupted)" END,
     "Error: near line 3: disk I/O error", "terror in errors.txt"},
    // States of what could not be had, as lists have them
    {TOLD_STATE, true, false, 0,
     EDGE "(missing|unreadable|inaccessible|unavailable|incomplete|truncated|no[ _]such|"
          "not[ _](found|readable|accessible|available|a[ _](regular[ _])?(file|directory))|"
          "(permission|access)[ _]denied)" END,
     "NOT_A_FILE  added", "admissing, not afile"},
};
const size_t told_rule_count = sizeof told_rules / sizeof *told_rules;

static bool may_be(const struct told_rule *rule, enum told_where where)
{
    if (rule->load_only && where != TOLD_IN_LOAD)
        return false;
    return where != TOLD_IN_FILE || rule->kind == TOLD_LOG || rule->kind == TOLD_HTTP;
}

// Compiles the rules once. A rule that cannot be compiled, for want of memory, fits nothing.
static const regex_t *expression(size_t index)
{
    static regex_t expressions[sizeof told_rules / sizeof *told_rules];
    static enum { FRESH, READY, BROKEN } states[sizeof told_rules / sizeof *told_rules];
    const struct told_rule *rule = &told_rules[index];
    if (states[index] == FRESH)
        states[index] = regcomp(&expressions[index], rule->pattern,
                                REG_EXTENDED | (rule->any_case ? REG_ICASE : 0)) == 0
                            ? READY
                            : BROKEN;
    return states[index] == READY ? &expressions[index] : NULL;
}

#define LINE_MOST 2000 // bytes that are looked at

struct told told_by(const char *line, size_t size, enum told_where where)
{
    char text[LINE_MOST + 1];
    regmatch_t groups[4];
    size = size < LINE_MOST ? size : LINE_MOST;
    memcpy(text, line, size);
    while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == ' '))
        size--;
    text[size] = '\0';
    for (size_t i = 0; i < told_rule_count; i++) {
        const struct told_rule *rule = &told_rules[i];
        const regex_t *compiled = may_be(rule, where) ? expression(i) : NULL;
        if (compiled == NULL || regexec(compiled, text, 4, groups, 0) != 0)
            continue;
        unsigned status = 0;
        if (rule->group != 0)
            status = (unsigned)strtoul(text + groups[rule->group].rm_so, NULL, 10);
        return (struct told){.kind = rule->kind, .status = status};
    }
    return (struct told){0};
}
