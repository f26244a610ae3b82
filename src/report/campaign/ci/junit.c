// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign as JUnit XML for continuous integration. In one suite every fault type is a test: it
// fails if one of its trials failed, and is skipped if none was activated. A second suite holds the
// findings. Verdicts and findings that were carried over count as those of trials. Besides what all
// known schemas of the format share, tests have `file` and `line`, which code hosts read.
#include "base/cleanup.h"
#include "report/campaign/facts.h"
#include "report/campaign/place.h"
#include "report/campaign/trials.h"
#include "report/escape.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct suite {
    const struct campaign_facts *facts;
    struct buffer *text;
    char date[32];
    struct project project;
};

static double plain_seconds(double seconds)
{
    return seconds >= 0 && seconds < 1e12 ? seconds : 0;
}

#define PUT(suite, ...) TRY(buffer_printf((suite)->text, __VA_ARGS__))

static struct error *put_attribute(struct suite *suite, const char *name, const char *value)
{
    PUT(suite, " %s=\"", name);
    TRY(escape_attribute(suite->text, value));
    return buffer_append(suite->text, "\"", 1);
}

static const char *name_of(const struct suite *suite)
{
    const char *name = suite->facts->campaign.name;
    return name != NULL && *name != '\0' ? name : "campaign";
}

static struct error *start_suite(struct suite *suite, unsigned id, const char *what, size_t tests,
                                 size_t failures, size_t skipped, double seconds)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    TRY(buffer_printf(&name, "%s: %s", name_of(suite), what));
    PUT(suite, " <testsuite id=\"%u\"", id);
    TRY(put_attribute(suite, "name", name.data));
    TRY(put_attribute(suite, "package", "ordeal"));
    TRY(put_attribute(suite, "timestamp", suite->date));
    TRY(put_attribute(suite, "hostname", "localhost"));
    PUT(suite,
        " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n"
        "  <properties>\n",
        tests, failures, skipped, plain_seconds(seconds));
    PUT(suite, "   <property name=\"seed\" value=\"%llu\"/>\n",
        (unsigned long long)suite->facts->campaign.seed);
    PUT(suite, "   <property name=\"command\"");
    const char *command = suite->facts->campaign.command;
    TRY(put_attribute(suite, "value", command != NULL ? command : ""));
    PUT(suite, "/>\n   <property name=\"trials counted\" value=\"%llu\"/>\n  </properties>\n",
        (unsigned long long)suite->facts->n);
    return NULL;
}

static struct error *end_suite(struct suite *suite)
{
    PUT(suite, "  <system-out/>\n  <system-err/>\n </testsuite>\n");
    return NULL;
}

static struct error *start_case(struct suite *suite, const char *class, const char *name,
                                double seconds)
{
    PUT(suite, "  <testcase");
    TRY(put_attribute(suite, "classname", class));
    TRY(put_attribute(suite, "name", name));
    PUT(suite, " time=\"%.3f\"", plain_seconds(seconds));
    return NULL;
}

static enum verdict worst(const struct campaign_counts *counts)
{
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].failure && counts->verdicts[i] != 0)
            return (enum verdict)i;
    return VERDICT_INVALID;
}

static struct error *put_type(struct suite *suite, const struct campaign_group *group,
                              double seconds)
{
    TRY(start_case(suite, "ordeal.fault", group->name, seconds));
    if (group->failures.n == 0) {
        PUT(suite, "><skipped/></testcase>\n");
        return NULL;
    }
    if (group->failures.hits == 0) {
        PUT(suite, "/>\n");
        return NULL;
    }
    PUT(suite, ">\n   <failure type=\"%s\" message=\"%llu of %llu trials failed\">",
        verdict_facts[worst(&group->counts)].name, (unsigned long long)group->failures.hits,
        (unsigned long long)group->failures.n);
    for (int i = 0; i < VERDICTS; i++)
        if (group->counts.verdicts[i] != 0)
            PUT(suite, "%s: %llu\n", verdict_facts[i].name,
                (unsigned long long)group->counts.verdicts[i]);
    PUT(suite, "</failure>\n  </testcase>\n");
    return NULL;
}

static bool is_untested(const struct campaign_remark *remark)
{
    return remark->kind == REMARK_UNTESTED && remark->about != NULL;
}

// A fault that was asked for and has no candidates.
static struct error *put_untested(struct suite *suite, const struct campaign_remark *remark)
{
    TRY(start_case(suite, "ordeal.fault", remark->about, 0));
    PUT(suite, "><skipped");
    if (*remark->text != '\0')
        TRY(put_attribute(suite, "message", remark->text));
    PUT(suite, "/></testcase>\n");
    return NULL;
}

// A failure that the user suppressed, or that is not shown, fails no test.
static struct error *subtract_suppressed(void *data, const struct store_count *row)
{
    struct campaign_grouping *types = data;
    for (size_t i = 0; i < types->groups.count; i++) {
        struct campaign_group *group = &types->groups.items[i];
        if (row->group == NULL || strcmp(group->name, row->group) != 0)
            continue;
        for (int j = 0; j < VERDICTS; j++) {
            uint64_t hidden = verdict_facts[j].failure ? row->verdicts[j] : 0;
            if (hidden > group->counts.verdicts[j])
                hidden = group->counts.verdicts[j];
            group->failures.hits -= hidden < group->failures.hits ? hidden : group->failures.hits;
            group->counts.verdicts[j] -= hidden;
        }
    }
    return NULL;
}

// The running time of all trials of each type.
struct type_seconds {
    struct campaign_candidates candidates;
    const struct campaign_grouping *types;
    double *seconds; // as in types->groups
};

static void type_seconds_deinit(struct type_seconds *sums)
{
    campaign_candidates_deinit(&sums->candidates);
    free(sums->seconds);
}

static struct error *add_seconds(void *data, const struct store_trial *row)
{
    struct type_seconds *sums = data;
    const struct campaign_candidate *candidate =
        campaign_candidate_find(&sums->candidates, row->candidate);
    for (size_t i = 0; candidate != NULL && i < sums->types->groups.count; i++) {
        const struct campaign_group *group = &sums->types->groups.items[i];
        if (candidate->type != NULL && !group->unnamed && strcmp(group->name, candidate->type) == 0)
            sums->seconds[i] += plain_seconds(row->seconds);
    }
    return NULL;
}

static struct error *type_seconds_load(const struct campaign_facts *facts,
                                       const struct campaign_grouping *types,
                                       struct type_seconds *sums)
{
    sums->types = types;
    sums->seconds = calloc(types->groups.count + 1, sizeof *sums->seconds);
    if (sums->seconds == NULL)
        return error_no_memory();
    TRY(campaign_candidates_load(facts->store, facts->campaign.id, &sums->candidates));
    return store_each_trial(facts->store, facts->campaign.id, false, add_seconds, sums);
}

static struct error *add_carried(void *data, const struct store_candidate *row)
{
    struct campaign_grouping *types = data;
    enum verdict verdict =
        row->carried != NULL ? verdict_named(row->carried, strlen(row->carried)) : VERDICTS;
    if (verdict >= VERDICTS || !verdict_facts[verdict].counts || row->type == NULL)
        return NULL;
    size_t at = 0;
    while (at < types->groups.count && (types->groups.items[at].unnamed ||
                                        strcmp(types->groups.items[at].name, row->type) != 0))
        at++;
    if (at == types->groups.count) {
        struct campaign_group *added = ARRAY_ADD(&types->groups);
        if (added == NULL || (added->name = strdup(row->type)) == NULL)
            return error_no_memory();
    }
    struct campaign_group *group = &types->groups.items[at];
    group->counts.verdicts[verdict]++;
    group->failures.n++;
    group->failures.hits += verdict_facts[verdict].failure;
    return NULL;
}

static struct error *load_types(const struct campaign_facts *facts, struct campaign_grouping *types)
{
    TRY(campaign_grouping_load(facts, "type", types));
    TRY(store_each_candidate(facts->store, facts->campaign.id, 0, 0, add_carried, types));
    for (int i = 0; i < STORE_PROOFS; i++)
        if (facts->hidden[i] != 0)
            TRY(store_each_count(facts->store, facts->campaign.id,
                                 enum_name(&proof_names, (unsigned)i), subtract_suppressed, types));
    // What is not in the user's own code fails no type.
    if (facts->scope != REPORT_SCOPE_ALL)
        TRY(store_each_count(facts->store, facts->campaign.id, "aside", subtract_suppressed,
                             types));
    if (facts->suppressed == 0)
        return NULL;
    return store_each_count(facts->store, facts->campaign.id, "suppressed", subtract_suppressed,
                            types);
}

static struct error *put_types(struct suite *suite)
{
    const struct campaign_facts *facts = suite->facts;
    size_t untested = 0;
    for (size_t i = 0; i < facts->remarks.count; i++)
        untested += is_untested(&facts->remarks.items[i]);
    _cleanup_(campaign_grouping_deinit) struct campaign_grouping types = {0};
    _cleanup_(type_seconds_deinit) struct type_seconds sums = {0};
    TRY(load_types(facts, &types));
    TRY(type_seconds_load(facts, &types, &sums));
    size_t failures = 0, skipped = 0;
    double seconds = 0;
    for (size_t i = 0; i < types.groups.count; i++) {
        failures += types.groups.items[i].failures.hits != 0;
        skipped += types.groups.items[i].failures.n == 0;
        seconds += sums.seconds[i];
    }
    TRY(start_suite(suite, 0, "faults", types.groups.count + untested, failures, skipped + untested,
                    seconds));
    for (size_t i = 0; i < types.groups.count; i++)
        TRY(put_type(suite, &types.groups.items[i], sums.seconds[i]));
    for (size_t i = 0; i < facts->remarks.count; i++)
        if (is_untested(&facts->remarks.items[i]))
            TRY(put_untested(suite, &facts->remarks.items[i]));
    return end_suite(suite);
}

static struct error *load_seconds(const struct campaign_facts *facts,
                                  const struct campaign_finding *finding, double *ret_seconds)
{
    _cleanup_(campaign_detail_deinit) struct campaign_detail detail = {0};
    TRY(campaign_detail_load(facts->store, finding->trial, &detail));
    *ret_seconds = plain_seconds(detail.trial.seconds);
    return NULL;
}

static struct error *put_finding(struct suite *suite, const struct campaign_finding *finding,
                                 double seconds)
{
    _cleanup_(buffer_deinit) struct buffer class = {0};
    _cleanup_(campaign_place_deinit) struct campaign_place place = {0};
    TRY(campaign_place_find(suite->facts, &suite->project, finding, &place));
    TRY(buffer_printf(&class, "ordeal.finding.%s", verdict_facts[finding->verdict].name));
    TRY(start_case(suite, class.data, finding->title, seconds));
    if (place.name != NULL)
        TRY(put_attribute(suite, "file", place.name));
    if (place.name != NULL && place.line != 0)
        PUT(suite, " line=\"%u\"", place.line);
    if (finding->aside) // what does not count fails no build
        PUT(suite, ">\n   <skipped");
    else
        PUT(suite, ">\n   <failure type=\"%s\"", verdict_facts[finding->verdict].name);
    TRY(put_attribute(suite, "message", finding->title));
    PUT(suite, ">%llu %s\nfault injected at: ", (unsigned long long)finding->trials,
        finding->trials == 1 ? "trial" : "trials");
    TRY(escape_markup(suite->text, finding->site));
    if (finding->carried != NULL) {
        _cleanup_(buffer_deinit) struct buffer carried = {0};
        TRY(campaign_put_carried(finding, &carried));
        PUT(suite, "\nnot tried again: ");
        TRY(escape_markup(suite->text, carried.data));
    }
    _cleanup_(buffer_deinit) struct buffer proof = {0};
    TRY(campaign_put_proof(finding, &proof));
    if (proof.size != 0) {
        PUT(suite, "\n");
        TRY(escape_markup(suite->text, proof.data));
    }
    if (finding->explanation != NULL) {
        PUT(suite, "\nwhy: ");
        TRY(escape_markup(suite->text, finding->explanation));
    }
    PUT(suite, "\nreproduce: ");
    TRY(escape_markup(suite->text, finding->command));
    PUT(suite, "\n");
    if (finding->caution != NULL)
        PUT(suite, "caution: %s\n", finding->caution);
    if (finding->stack != NULL)
        TRY(escape_markup(suite->text, finding->stack));
    PUT(suite, "</%s>\n  </testcase>\n", finding->aside ? "skipped" : "failure");
    return NULL;
}

static struct error *put_findings(struct suite *suite)
{
    const struct campaign_facts *facts = suite->facts;
    size_t count = facts->findings.count;
    _cleanup_free_ double *seconds = calloc(count + 1, sizeof *seconds);
    if (seconds == NULL)
        return error_no_memory();
    double sum = 0;
    size_t aside = 0;
    for (size_t i = 0; i < count; i++) {
        aside += facts->findings.items[i].aside;
        TRY(load_seconds(facts, &facts->findings.items[i], &seconds[i]));
        sum += seconds[i];
    }
    TRY(start_suite(suite, 1, "findings", count, count - aside, aside, sum));
    for (size_t i = 0; i < count; i++)
        TRY(put_finding(suite, &facts->findings.items[i], seconds[i]));
    return end_suite(suite);
}

static void suite_deinit(struct suite *suite)
{
    project_deinit(&suite->project);
}

static struct error *put_page(struct campaign_facts *facts, struct report_sink *sink)
{
    _cleanup_(suite_deinit) struct suite suite = {
        .facts = facts, .text = &sink->text, .date = "1970-01-01T00:00:00"};
    TRY(project_find(facts->campaign.directory, &suite.project));
    time_t created = (time_t)facts->campaign.created_s;
    struct tm parts;
    // The schema has four digits for the year.
    if (created >= 0 && gmtime_r(&created, &parts) != NULL && parts.tm_year < 8100)
        strftime(suite.date, sizeof suite.date, "%Y-%m-%dT%H:%M:%S", &parts);
    PUT(&suite, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    TRY(put_types(&suite));
    TRY(put_findings(&suite));
    PUT(&suite, "</testsuites>\n");
    return report_sink_flush(sink, 1);
}

static struct error *write_junit(const struct report_subject *subject,
                                 const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = campaign_facts_load(&facts, subject, options);
    if (error == NULL)
        error = put_page(&facts, sink);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_junit = {.name = "junit", .write = write_junit};
