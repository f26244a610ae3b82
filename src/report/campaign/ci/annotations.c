// SPDX-License-Identifier: GPL-3.0-or-later
// The findings of a campaign, one line each: for editors and whatever else reads compilers'
// warnings, and as GitHub's annotations of a change.
#include "base/cleanup.h"
#include "report/campaign/ci/sarif-rules.h"
#include "report/campaign/place.h"
#include "report/escape.h"
#include "report/text.h"

#include <string.h>

// What may not be possible is a note, whatever it would break.
static const char *level_of(const struct campaign_finding *finding)
{
    if (campaign_is_note(finding))
        return "note";
    return campaign_rules[campaign_rule_find(finding->verdict, finding->severity)].sarif.level;
}

static struct error *put_line(void *data, const struct campaign_finding *finding,
                              const struct campaign_place *place)
{
    struct buffer *text = data;
    TRY(text_put(text, place->name, SIZE_MAX, 0));
    if (place->line != 0)
        TRY(buffer_printf(text, ":%u", place->line));
    TRY(buffer_printf(text, ": %s: ", level_of(finding)));
    TRY(text_put(text, finding->title, SIZE_MAX, 0));
    return buffer_printf(text, " [%s F%lld]\n", verdict_facts[finding->verdict].name,
                         (long long)finding->id);
}

// GitHub knows error, warning and notice.
static struct error *put_annotation(void *data, const struct campaign_finding *finding,
                                    const struct campaign_place *place)
{
    struct buffer *text = data;
    const char *level = level_of(finding);
    TRY(buffer_printf(text, "::%s file=", strcmp(level, "note") == 0 ? "notice" : level));
    TRY(escape_property(text, place->name));
    if (place->line != 0)
        TRY(buffer_printf(text, ",line=%u", place->line));
    TRY(buffer_printf(text, ",title=Ordeal F%lld%%3A %s::", (long long)finding->id,
                      verdict_facts[finding->verdict].name));
    TRY(escape_message(text, finding->title));
    if (finding->explanation != NULL) {
        TRY(buffer_printf(text, "%%0A"));
        TRY(escape_message(text, finding->explanation));
    }
    TRY(buffer_printf(text, "%%0AReproduce: "));
    TRY(escape_message(text, finding->command));
    return buffer_append(text, "\n", 1);
}

static struct error *write_each(const struct report_subject *subject,
                                const struct report_options *options, struct report_sink *sink,
                                struct error *(*each)(void *data,
                                                      const struct campaign_finding *finding,
                                                      const struct campaign_place *place))
{
    struct campaign_facts facts;
    struct error *error = campaign_facts_load(&facts, subject, options);
    if (error == NULL)
        error = campaign_each_place(&facts, each, &sink->text);
    if (error == NULL)
        error = report_sink_flush(sink, 1);
    campaign_facts_deinit(&facts);
    return error;
}

static struct error *write_lines(const struct report_subject *subject,
                                 const struct report_options *options, struct report_sink *sink)
{
    return write_each(subject, options, sink, put_line);
}

static struct error *write_github(const struct report_subject *subject,
                                  const struct report_options *options, struct report_sink *sink)
{
    return write_each(subject, options, sink, put_annotation);
}

const struct report_format report_lines = {.name = "lines", .write = write_lines};
const struct report_format report_github = {.name = "github", .write = write_github};
