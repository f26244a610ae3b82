// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files of older versions, and converts them. Reader and writer use the same SQL expressions:
// the reader in temporary views that hide the file's own tables, the writer in updates.
#include "store/older.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "store/definition-lines.h"
#include "store/internal.h"
#include "store/older-secrets.h"
#include "store/schema.h"

#include <string.h>

// Versions that introduced columns: for what older ones said in sentences; for damaged trials and
// findings that were carried over; for proofs; for findings of system libraries and what packed
// files hold, with the table of consequences; for findings in other code than the user's.
#define VERSION_WITH_FACTS        6
#define VERSION_WITH_DAMAGE       7
#define VERSION_WITH_PROOFS       9
#define VERSION_WITH_CONSEQUENCES 10
#define VERSION_WITH_INVOCATIONS  12
#define VERSION_WITH_PARTS        11
#define VERSION_WITH_SCOPES       13
#define VERSION_WITH_UPSETS       14
#define VERSION_WITH_PROPAGATIONS 15
#define VERSION_WITH_CALLS        16

// The value of a key in a section, as it is written there. A key is indented by two spaces below
// its section. NULL: there is none.
static const char *find_value(const char *definition, const char *section, const char *key)
{
    bool inside = false;
    for (const char *line = definition; *line != '\0'; line += definition_line_size(line)) {
        if (definition_begins_key(line))
            inside = definition_is_key(line, section);
        if (!inside || strncmp(line, "  ", 2) != 0 || !definition_is_key(line + 2, key))
            continue;
        const char *value = line + 2 + strlen(key) + 1;
        value += strspn(value, " ");
        return *value != '\n' && *value != '\0' ? value : NULL;
    }
    return NULL;
}

// The SQL function definition_value(DEFINITION, SECTION, KEY).
static void definition_value(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const char *texts[3];
    for (int i = 0; i < count; i++)
        if ((texts[i] = (const char *)sqlite3_value_text(arguments[i])) == NULL)
            return; // the result is NULL
    const char *value = find_value(texts[0], texts[1], texts[2]);
    if (value != NULL)
        sqlite3_result_text(context, value, (int)strcspn(value, "\n"), SQLITE_TRANSIENT);
}

struct error *older_prepare(struct store *store)
{
    int code = sqlite3_create_function(store->database, "definition_value", 3,
                                       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       definition_value, NULL, NULL);
    return code == SQLITE_OK ? older_secrets_prepare(store) : store_sqlite_error(store, code);
}

#define VALUE(section, key) "definition_value(definition, '" section "', '" key "')"

// Takes the number from "as the reference (fault 7 in this life of the server)".
#define LIFE      " in this life of the server)"
#define UP_TO     "substr(reason, 1, length(reason) - length('" LIFE "'))"
#define BEFORE_IT "rtrim(" UP_TO ", '0123456789')"

// Takes the mode from "file 644".
#define KIND_ENUMS           "substr(kind, 1, instr(kind || ' ', ' ') - 1)"
#define DIGITS               "CAST(substr(kind, instr(kind, ' ') + 1) AS INTEGER)"
#define DIGIT(power, weight) DIGITS " / " power " % 10 * " weight

static const char no_value[] = "NULL";

static const struct {
    int since;
    const struct table *table;
    const char *column;
    const char *expression; // SQL that replaces it in a file of an older version
} columns[] = {
    {3, &table_campaign, "stopped_by", no_value},
    {4, &table_candidate, "content", no_value},
    {4, &table_candidate, "carried", no_value},
    {4, &table_finding, "suppressed", no_value},
    {5, &table_trial, "way", no_value},
    {VERSION_WITH_FACTS, &table_campaign, "automatic",
     "instr(definition, char(10) || '    faults: [auto]' || char(10)) > 0"},
    {VERSION_WITH_FACTS, &table_campaign, "selection",
     "CASE " VALUE("selection", "kind") " WHEN 'sample' THEN 'sample' WHEN 'sweep' THEN 'sweep'"
                                        " ELSE 'all' END"},
    {VERSION_WITH_FACTS, &table_campaign, "per", VALUE("selection", "per")},
    {VERSION_WITH_FACTS, &table_campaign, "weighted", VALUE("selection", "weights") " IS NOT NULL"},
    {VERSION_WITH_FACTS, &table_campaign, "listed", VALUE("selection", "order") " IS 'listed'"},
    {VERSION_WITH_FACTS, &table_campaign, "changes_only",
     VALUE("selection", "since") " IS NOT NULL"},
    {VERSION_WITH_FACTS, &table_campaign, "long_lived", VALUE("server", "long_lived") " IS 'true'"},
    {VERSION_WITH_FACTS, &table_campaign, "filtered",
     "coalesce(" VALUE(
         "oracle",
         "filters") ", '[]') <> '[]' OR"
                    " coalesce(" VALUE(
                        "oracle",
                        "ignore") ", '[]') <> '[]' OR"
                                  " coalesce(" VALUE(
                                      "oracle",
                                      "compare") ", '[stdout, files]') <> '[stdout, files]'"},
    {VERSION_WITHOUT_SECRETS, &table_campaign, "definition", "kept_definition(definition)"},
    {VERSION_WITHOUT_SECRETS, &table_campaign, "environment_key", no_value},
    {VERSION_WITH_FACTS, &table_artifact, "mode",
     "CASE WHEN kind LIKE '% _%' THEN " DIGIT("1", "1") " + " DIGIT("10", "8") " + " DIGIT(
         "100", "64") " + " DIGIT("1000", "512") " END"},
    {VERSION_WITH_FACTS, &table_artifact, "kind",
     "CASE WHEN " KIND_ENUMS
     " IN ('stream', 'file', 'directory', 'link', 'deleted') THEN " KIND_ENUMS " ELSE 'other' END"},
    {VERSION_WITH_FACTS, &table_trial, "round",
     "CASE WHEN reason LIKE '%(fault %" LIFE "' AND " BEFORE_IT " LIKE '%(fault ' THEN"
     " CAST(substr(" UP_TO ", length(" BEFORE_IT ") + 1) AS INTEGER) END"},
    {VERSION_WITH_DAMAGE, &table_trial, "damage", no_value},
    {VERSION_WITH_FACTS, &table_finding, "severity",
     "CASE WHEN verdict IN ('crash', 'hang') THEN 'high'"
     " WHEN verdict NOT IN ('silent', 'wrong-output', 'unstable') THEN NULL"
     " WHEN substr(cause, length(verdict) + 2, 9) = 'data loss' THEN 'critical'"
     " WHEN verdict = 'silent' AND substr(cause, length(verdict) + 2, 5) = 'files' THEN 'high'"
     " ELSE 'medium' END"},
    {VERSION_WITH_DAMAGE, &table_trial, "carried", "0"},
    {VERSION_WITH_DAMAGE, &table_finding, "carried", no_value},
    {VERSION_WITH_DAMAGE, &table_finding, "carried_s", no_value},
    {VERSION_WITH_PROOFS, &table_candidate, "basis", no_value},
    {VERSION_WITH_PROOFS, &table_trial, "proving", "0"},
    {VERSION_WITH_CONSEQUENCES, &table_artifact, "format", no_value},
    {VERSION_WITH_CONSEQUENCES, &table_artifact, "decoded", "0"},
    {VERSION_WITH_CONSEQUENCES, &table_artifact, "inside", "0"},
    {VERSION_WITH_PROOFS, &table_finding, "proof", no_value},
    {VERSION_WITH_PROOFS, &table_finding, "proof_tries", "0"},
    {VERSION_WITH_PROOFS, &table_finding, "proof_trial", no_value},
    {VERSION_WITH_PROOFS, &table_finding, "proof_call", no_value},
    {VERSION_WITH_PROOFS, &table_finding, "proof_error", no_value},
    {VERSION_WITH_PROOFS, &table_finding, "proof_caller", no_value},
    {VERSION_WITH_PROOFS, &table_finding, "proof_result", no_value},
    {VERSION_WITH_PROOFS, &table_finding, "proof_lasting", "0"},
    {VERSION_WITH_CONSEQUENCES, &table_finding, "library", no_value},
    {VERSION_WITH_PARTS, &table_finding, "part_of", no_value},
    {VERSION_WITH_SCOPES, &table_finding, "scope", no_value},
    {VERSION_WITH_SCOPES, &table_campaign, "settings", no_value},
    {VERSION_WITH_CALLS, &table_invocation, "calls", no_value},
    {VERSION_WITH_CALLS, &table_invocation, "seconds", "0"},
};
#define COLUMNS (sizeof columns / sizeof *columns)

static const struct table *const tables[] = {&table_campaign, &table_artifact, &table_candidate,
                                             &table_trial, &table_finding};
#define TABLES (sizeof tables / sizeof *tables)

// Remarks used to be one text with a line each: faults without candidates ("not tested: FAULT:
// WHY") and outputs that vary ("stdout: line 3 varies", "'/path' varies"). The latter are
// recognized by the names of the outputs in the file.
#define NOT_TESTED "'not tested: '"
#define NAME       "CASE WHEN path LIKE '<%' THEN substr(path, 2, length(path) - 2) ELSE path END"
#define UNQUOTED   "CASE WHEN substr(text, 1, 1) IN ('''', '\"') THEN substr(text, 2) ELSE text END"
static const char old_remarks[] =
    "WITH RECURSIVE line (campaign, number, text, rest) AS ("
    "  SELECT id, 0, '', warnings || char(10) FROM main.campaign WHERE warnings IS NOT NULL"
    "  UNION ALL"
    "  SELECT campaign, number + 1, substr(rest, 1, instr(rest, char(10)) - 1),"
    "    substr(rest, instr(rest, char(10)) + 1) FROM line"
    "  WHERE instr(rest, char(10)) > 0"
    "),"
    "sentence (campaign, number, text, untested, varies, more) AS ("
    "  SELECT campaign, number, text,"
    "    CASE WHEN substr(text, 1, 12) = " NOT_TESTED " THEN substr(text, 13) END,"
    "    (SELECT path FROM main.artifact JOIN main.reference ON reference.id = artifact.reference"
    "      WHERE reference.campaign = line.campaign AND length(" NAME ") > 0"
    "      AND substr(" UNQUOTED ", 1, length(" NAME ")) = " NAME "      AND substr(" UNQUOTED
    ", length(" NAME ") + 1, 1) IN (' ', ':', '''', '\"')"
    "      ORDER BY length(path) DESC LIMIT 1),"
    "    instr(text, 'more outputs vary between')"
    "  FROM line WHERE text <> ''"
    ")"
    "SELECT number AS id, campaign,"
    "  CASE WHEN untested IS NOT NULL THEN 'untested'"
    "    WHEN more OR varies IS NOT NULL THEN 'varies' ELSE 'note' END AS kind,"
    "  CASE WHEN untested IS NOT NULL"
    "      THEN substr(untested, 1, instr(untested || ': ', ': ') - 1)"
    "    WHEN more THEN NULL ELSE varies END AS about,"
    "  CASE WHEN untested IS NOT NULL THEN substr(untested, instr(untested || ': ', ': ') + 2)"
    "    ELSE text END AS text FROM sentence";

static const char *old_expression(const struct table *table, const char *column, int64_t version)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (columns[i].table == table && columns[i].since > version &&
            strcmp(columns[i].column, column) == 0)
            return columns[i].expression;
    return NULL;
}

static bool is_older(const struct table *table, int64_t version)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (columns[i].table == table && columns[i].since > version)
            return true;
    return false;
}

static struct error *add_table_view(struct store *store, const struct table *table, int64_t version)
{
    _cleanup_(buffer_deinit) struct buffer sql = {0};
    if (!is_older(table, version))
        return NULL;
    TRY(buffer_printf(&sql, "CREATE TEMP VIEW %s AS SELECT ", table->name));
    if (table->columns[0].kind != KIND_ID)
        TRY(buffer_printf(&sql, "id, "));
    for (int i = 0; i < table->count; i++) {
        const char *name = table->columns[i].name,
                   *expression = old_expression(table, name, version);
        TRY(buffer_printf(&sql, "%s%s AS %s", i != 0 ? ", " : "",
                          expression != NULL ? expression : name, name));
    }
    TRY(buffer_printf(&sql, " FROM main.%s", table->name));
    return store_execute(store, sql.data);
}

static struct error *add_view(struct store *store, const char *name, const char *select)
{
    _cleanup_(buffer_deinit) struct buffer sql = {0};
    TRY(buffer_printf(&sql, "CREATE TEMP VIEW %s AS %s", name, select));
    return store_execute(store, sql.data);
}

static struct error *add_variable_view(struct store *store)
{
    TRY(older_secrets_learn(store));
    store->masks = true;
    return add_view(store, "variable", older_variables);
}

struct error *older_add_views(struct store *store, int64_t version)
{
    for (size_t i = 0; i < TABLES; i++)
        TRY(add_table_view(store, tables[i], version));
    if (version < 4)
        TRY(store_execute(store,
                          "CREATE TEMP TABLE recovery (id, campaign, module, address, code,"
                          " function, file, line, reached);"
                          "CREATE TEMP TABLE line_coverage (id, campaign, file, lines, before,"
                          " after)"));
    if (version < VERSION_WITH_CONSEQUENCES)
        TRY(store_execute(store, "CREATE TEMP TABLE consequence (id, finding, kind, probable,"
                                 " function, name, argument, number, module, offset, symbol,"
                                 " start, file, line)"));
    if (version < VERSION_WITH_INVOCATIONS)
        TRY(store_execute(store, "CREATE TEMP TABLE invocation (id, trial, number, differing,"
                                 " same_status, same_time, call, about, trace, calls,"
                                 " seconds)"));
    else
        TRY(add_table_view(store, &table_invocation, version));
    if (version < VERSION_WITH_UPSETS)
        TRY(store_execute(store,
                          "CREATE TEMP TABLE upsets (id, campaign, points, instructions, bits,"
                          " unread, classes, all_classes, read);"
                          "CREATE TEMP TABLE latency (id, trial, seconds)"));
    if (version < VERSION_WITH_PROPAGATIONS)
        TRY(store_execute(store, "CREATE TEMP TABLE propagation (id, trial, outcome, call,"
                                 " function, corrupted, wrong, omitted, spurious, result,"
                                 " profile)"));
    if (version < VERSION_WITHOUT_SECRETS)
        TRY(add_variable_view(store));
    return version < VERSION_WITH_FACTS ? add_view(store, "remark", old_remarks) : NULL;
}

static struct error *convert_remarks(struct store *store)
{
    _cleanup_(buffer_deinit) struct buffer sql = {0};
    TRY(buffer_printf(&sql,
                      "INSERT INTO remark (campaign, kind, about, text) SELECT campaign, kind,"
                      " about, text FROM (%s) ORDER BY campaign, id;"
                      "ALTER TABLE campaign DROP COLUMN warnings",
                      old_remarks));
    return store_execute(store, sql.data);
}

// Writes only rows that change: there may be very many.
static struct error *convert_table(struct store *store, const struct table *table, int64_t version)
{
    _cleanup_(buffer_deinit) struct buffer changes = {0}, changed = {0}, sql = {0};
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *name = columns[i].column, *expression = columns[i].expression;
        if (columns[i].table != table || columns[i].since <= version || expression == no_value)
            continue;
        TRY(buffer_printf(&changes, "%s%s = (%s)", changes.size != 0 ? ", " : "", name,
                          expression));
        TRY(buffer_printf(&changed, "%s%s IS NOT (%s)", changed.size != 0 ? " OR " : "", name,
                          expression));
    }
    if (changes.size == 0)
        return NULL;
    TRY(buffer_printf(&sql, "UPDATE %s SET %s WHERE %s", table->name, changes.data, changed.data));
    return store_execute(store, sql.data);
}

struct error *older_convert(struct store *store, int64_t version)
{
    for (size_t i = 0; i < TABLES; i++)
        TRY(convert_table(store, tables[i], version));
    if (version < VERSION_WITH_FACTS)
        TRY(convert_remarks(store));
    return version < VERSION_WITHOUT_SECRETS ? older_secrets_remove(store) : NULL;
}
