// SPDX-License-Identifier: GPL-3.0-or-later
// Every SQL statement that campaigns and reports use. Values come in as parameters only.
#include "base/array.h"
#include "base/cleanup.h"
#include "store/internal.h"

struct query_template {
    const char *start;         // SQL, or the part of it before the columns of …
    const struct table *table; // … this table
    const char *rest;
};

#define INSERT(what)                                                                               \
    {                                                                                              \
        NULL, &table_##what, ""                                                                    \
    }
#define SELECT(what, clause)                                                                       \
    {                                                                                              \
        "SELECT ", &table_##what, " FROM " #what " " clause                                        \
    }
#define COUNT_WHERE(expression, join, condition)                                                   \
    {                                                                                              \
        "SELECT trial.verdict, count(*), " expression " AS part FROM trial " join                  \
        " WHERE trial.campaign = ?1 AND " condition " GROUP BY part, trial.verdict ORDER BY part", \
            NULL, NULL                                                                             \
    }
#define COUNT(expression, join) COUNT_WHERE(expression, join, "trial.confirmation = 0")
#define COUNT_PROOF(proof)                                                                         \
    COUNT_WHERE("candidate.type",                                                                  \
                "JOIN candidate ON candidate.id = trial.candidate"                                 \
                " JOIN finding ON finding.id = trial.finding"                                      \
                " AND finding.suppressed IS NULL AND finding.proof = '" proof "'",                 \
                "(trial.confirmation = 0 OR trial.carried = 1)")
#define COUNT_CANDIDATES(column)                                                                   \
    COUNT("candidate." column, "JOIN candidate ON candidate.id = trial.candidate")

// The number of a finding among those of the same kind after failures of the same function. The
// first of each function come first, so that one function does not fill the page.
#define LIKE_BEFORE                                                                                \
    " row_number() OVER (PARTITION BY finding.verdict, finding.severity, finding.proof,"           \
    "   substr(finding.site, 1, instr(finding.site, ' '))"                                         \
    "   ORDER BY finding.trials DESC, finding.id),"

// The trial with this number, and those of its finding that have the very same reason.
#define ALIKE                                                                                      \
    " WHERE campaign = ?1 AND confirmation = 0 AND (number = ?2 OR (finding, reason) IN"           \
    " (SELECT finding, reason FROM trial WHERE campaign = ?1 AND number = ?2 AND"                  \
    "  confirmation = 0))"

static const struct query_template queries[QUERIES] = {
    [ADD_CAMPAIGN] = INSERT(campaign),
    [ADD_REFERENCE] = INSERT(reference),
    [ADD_ARTIFACT] = INSERT(artifact),
    [ADD_CANDIDATE] = INSERT(candidate),
    [ADD_TRIAL] = INSERT(trial),
    [ADD_INJECTION] = INSERT(injection),
    [ADD_FINDING] = {NULL, &table_finding,
                     " ON CONFLICT (campaign, cause) DO UPDATE SET trials = trials + 1"},
    [ADD_STACK] = {"INSERT INTO stack (hash, text) VALUES (?1, ?2)", NULL, NULL},
    [FIND_STACK] = {"SELECT id FROM stack WHERE hash = ?1 AND text = ?2", NULL, NULL},
    // A second query, not RETURNING: SQLite would make a temporary table for that.
    [FIND_FINDING] = {"SELECT id, trials, trial FROM finding WHERE campaign = ?1 AND cause = ?2",
                      NULL, NULL},
    [UPDATE_CAMPAIGN] = {"UPDATE campaign SET state = ?2, elapsed_s = ?3, candidates = ?4,"
                         " planned = ?5, stopped_by = ?6 WHERE id = ?1",
                         NULL, NULL},
    [SET_DEFINITION] = {"UPDATE campaign SET definition = ?2 WHERE id = ?1", NULL, NULL},
    [REMOVE_CAMPAIGN] = {"DELETE FROM campaign WHERE id = ?1", NULL, NULL},
    [UPDATE_FINDING] =
        {"UPDATE finding SET verdict = ?3, title = ?5, site = ?6, file = ?7, line = ?8,"
         " stack = ?9, trial = ?10, command = ?12, confirmed = ?13,"
         " suppressed = coalesce(?14, suppressed), severity = ?15,"
         " carried = ?16, carried_s = ?17, proof = ?18, proof_tries = ?19,"
         " proof_trial = ?20, proof_call = ?21, proof_error = ?22,"
         " proof_caller = ?23, proof_result = ?24, proof_lasting = ?25,"
         " library = ?26, part_of = ?27, scope = ?28 WHERE id = ?1",
         NULL, NULL},
    [PROVE_FINDING] = {"UPDATE finding SET command = coalesce(nullif(?12, ''), command), proof = "
                       "?18, proof_tries = ?19,"
                       " proof_trial = ?20, proof_call = ?21, proof_error = ?22,"
                       " proof_caller = ?23, proof_result = ?24, proof_lasting = ?25,"
                       " library = coalesce(?26, library), part_of = coalesce(?27, part_of),"
                       " scope = coalesce(?28, scope) WHERE id = ?1",
                       NULL, NULL},
    [JOIN_FINDING] =
        {"UPDATE finding SET library = ?26, part_of = ?27, scope = coalesce(?28, scope)"
         " WHERE id = ?1",
         NULL, NULL},
    [CONFIRM_FINDING] = {"UPDATE finding SET confirmed = ?2 WHERE id = ?1", NULL, NULL},
    [SET_TRIAL_FINDING] = {"UPDATE trial SET finding = nullif(?2, 0) WHERE id = ?1", NULL, NULL},
    [COUNT_ALIKE_TRIALS] = {"SELECT verdict, count(*), NULL FROM trial" ALIKE " GROUP BY verdict",
                            NULL, NULL},
    [INVALIDATE_ALIKE_TRIALS] = {"UPDATE trial SET verdict = 'invalid', reason = ?3" ALIKE, NULL,
                                 NULL},
    [NEWEST_CAMPAIGN] = SELECT(campaign, "ORDER BY id DESC LIMIT 1"),
    [FIND_CAMPAIGN] = SELECT(campaign, "WHERE id = ?1"),
    [FIND_TRIAL] = SELECT(trial, "WHERE id = ?1"),
    [FIND_CANDIDATE] = SELECT(candidate, "WHERE id = ?1"),
    [EACH_CAMPAIGN] = SELECT(campaign, "ORDER BY id"),
    [EACH_REFERENCE] = SELECT(reference, "WHERE campaign = ?1 ORDER BY number"),
    [EACH_ARTIFACT] = SELECT(artifact, "WHERE reference = ?1 ORDER BY id"),
    [EACH_CANDIDATE] =
        SELECT(candidate, "WHERE campaign = ?1 AND number > ?2 ORDER BY number LIMIT ?3"),
    [EACH_TRIAL] = SELECT(trial, "WHERE campaign = ?1 AND confirmation = 0 ORDER BY number"),
    [EACH_TRIAL_AND_CONFIRMATION] = SELECT(trial, "WHERE campaign = ?1 ORDER BY number, id"),
    [EACH_INJECTION] = SELECT(injection, "WHERE trial = ?1 ORDER BY id"),
    [EACH_PROGRAM_AND_STACK] = {"SELECT DISTINCT injection.program, stack.text FROM trial"
                                " JOIN injection ON injection.trial = trial.id"
                                " JOIN stack ON stack.id = injection.stack"
                                " WHERE trial.campaign = ?1 AND injection.program IS NOT NULL",
                                NULL, NULL},
    [EACH_FINDING] =
        SELECT(finding, "LEFT JOIN verdict ON verdict.word = finding.verdict"
                        " WHERE finding.campaign = ?1"
                        " ORDER BY finding.proof IS 'impossible', finding.proof IS 'unproven',"
                        // Whoever loses data does not ask whose library it was.
                        " finding.severity IS NOT 'critical', finding.library IS NOT NULL,"
                        " CASE finding.severity WHEN 'critical' THEN 1 WHEN 'high' THEN 2"
                        "   WHEN 'medium' THEN 3 ELSE 4 END,"
                        " verdict.severity, finding.proof IS 'caused'," LIKE_BEFORE
                        " finding.trials DESC, finding.id"),
    [SUPPRESS_FINDING] = {"UPDATE finding SET suppressed = ?2 WHERE id = ?1", NULL, NULL},
    [ADD_RECOVERY] = INSERT(recovery),
    [ADD_LINES] = INSERT(line_coverage),
    [DELETE_RECOVERY] = {"DELETE FROM recovery WHERE campaign = ?1", NULL, NULL},
    [DELETE_LINES] = {"DELETE FROM line_coverage WHERE campaign = ?1", NULL, NULL},
    [EACH_RECOVERY] = SELECT(recovery, "WHERE campaign = ?1 ORDER BY module, address"),
    [EACH_LINES] = SELECT(line_coverage, "WHERE campaign = ?1 ORDER BY file"),
    [ADD_REMARK] = INSERT(remark),
    [ADD_CONSEQUENCE] = INSERT(consequence),
    [ADD_INVOCATION] = INSERT(invocation),
    [COUNT_INVOCATIONS] =
        {"SELECT count(*), total(differing > 0), total(differing > 0 AND same_status),"
         " total(differing > 0 AND same_time), total(differing > 0 AND same_status AND same_time)"
         " FROM trial JOIN invocation ON invocation.trial = trial.id"
         " WHERE trial.campaign = ?1 AND trial.confirmation = 0",
         NULL, NULL},
    [EACH_INVOCATION] = SELECT(invocation, "WHERE trial = ?1 ORDER BY number"),
    [ADD_PROPAGATION] = INSERT(propagation),
    [EACH_PROPAGATION] = SELECT(propagation, "WHERE trial = ?1"),
    [EACH_INTERFACE_TRIAL] =
        {"SELECT trial.verdict, candidate.type, trial.seconds, propagation.outcome,"
         " propagation.result, propagation.corrupted, propagation.profile FROM trial"
         " JOIN candidate ON candidate.id = trial.candidate"
         " LEFT JOIN propagation ON propagation.trial = trial.id"
         " WHERE trial.campaign = ?1 AND trial.confirmation = 0 ORDER BY trial.number",
         NULL, NULL},
    [ADD_UPSETS] = INSERT(upsets),
    [EACH_UPSETS] = SELECT(upsets, "WHERE campaign = ?1"),
    [ADD_LATENCY] = INSERT(latency),
    [EACH_LATENCY] = SELECT(latency, "WHERE trial IN (SELECT id FROM trial WHERE campaign = ?1 AND"
                                     " confirmation = 0) ORDER BY seconds"),
    [COUNT_WEIGHTS] = {"SELECT trial.verdict, total(candidate.weight), count(*) FROM trial"
                       " JOIN candidate ON candidate.id = trial.candidate"
                       " WHERE trial.campaign = ?1 AND trial.confirmation = 0 GROUP BY 1",
                       NULL, NULL},
    [DELETE_CONSEQUENCES] = {"DELETE FROM consequence WHERE finding = ?1", NULL, NULL},
    [EACH_CONSEQUENCE] = SELECT(consequence, "WHERE finding = ?1 ORDER BY id"),
    [ADD_VARIABLE] = INSERT(variable),
    [EACH_VARIABLE] = SELECT(variable, "WHERE campaign = ?1 ORDER BY id"),
    [EACH_REMARK] = SELECT(remark, "WHERE campaign = ?1 ORDER BY id"),
    [COUNT_ALL] = COUNT("NULL", ""),
    [COUNT_TYPE] = COUNT_CANDIDATES("type"),
    [COUNT_FUNCTION] = COUNT_CANDIDATES("function"),
    [COUNT_MODULE] = COUNT_CANDIDATES("module"),
    [COUNT_FILE] = COUNT_CANDIDATES("file"),
    [COUNT_COMPONENT] = COUNT_CANDIDATES("component"),
    [COUNT_INSTRUCTION] = COUNT_CANDIDATES("series"),
    [COUNT_PROGRAM] = COUNT("(SELECT program FROM injection WHERE injection.trial = trial.id"
                            " ORDER BY injection.id LIMIT 1)",
                            ""),
    [COUNT_WAY] = COUNT("trial.way", ""),
    [COUNT_DAMAGE] = COUNT("trial.damage", ""),
    [COUNT_CAUSED] = COUNT_PROOF("caused"),
    [COUNT_UNPROVEN] = COUNT_PROOF("unproven"),
    [COUNT_IMPOSSIBLE] = COUNT_PROOF("impossible"),
    [COUNT_ASIDE] = COUNT_WHERE("candidate.type",
                                "JOIN candidate ON candidate.id = trial.candidate"
                                " JOIN finding ON finding.id = trial.finding"
                                " AND finding.suppressed IS NULL"
                                " AND finding.proof IS NOT 'impossible'"
                                " AND (finding.scope IS 'tool' OR (finding.library IS NOT NULL"
                                "  AND finding.severity IS NOT 'critical'))",
                                "(trial.confirmation = 0 OR trial.carried = 1)"),
    [COUNT_SUPPRESSED] = COUNT_WHERE("candidate.type",
                                     "JOIN candidate ON candidate.id = trial.candidate"
                                     " JOIN finding ON finding.id = trial.finding"
                                     " AND finding.suppressed IS NOT NULL",
                                     "(trial.confirmation = 0 OR trial.carried = 1)"),
};

static struct error *add_insert(struct buffer *sql, const struct table *table)
{
    TRY(buffer_printf(sql, "INSERT INTO %s (", table->name));
    for (int i = 0; i < table->count; i++)
        TRY(buffer_printf(sql, "%s%s", i > 0 ? ", " : "", table->columns[i].name));
    TRY(buffer_printf(sql, ") VALUES ("));
    for (int i = 0; i < table->count; i++)
        TRY(buffer_printf(sql, "%s?%d", i > 0 ? ", " : "", i + 1));
    return buffer_printf(sql, ")");
}

static struct error *add_columns(struct buffer *sql, const struct table *table)
{
    for (int i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        const char *comma = i > 0 ? ", " : "";
        if (column->kind == KIND_STACK)
            TRY(buffer_printf(sql, "%s(SELECT text FROM stack WHERE stack.id = %s.%s)", comma,
                              table->name, column->name));
        else
            TRY(buffer_printf(sql, "%s%s.%s", comma, table->name, column->name));
    }
    return NULL;
}

struct error *query_text(enum query query, char **ret_sql)
{
    const struct query_template *description = &queries[query];
    _cleanup_(buffer_deinit) struct buffer sql = {0};
    if (description->start == NULL)
        TRY(add_insert(&sql, description->table));
    else
        TRY(buffer_printf(&sql, "%s", description->start));
    if (description->start != NULL && description->table != NULL)
        TRY(add_columns(&sql, description->table));
    TRY(buffer_printf(&sql, "%s", description->rest != NULL ? description->rest : ""));
    *ret_sql = TAKE(sql.data);
    return NULL;
}
