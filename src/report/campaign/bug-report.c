// SPDX-License-Identifier: GPL-3.0-or-later
// A bug report that a maintainer can act on, in Markdown. Whatever comes from the target is escaped
// in sentences, and shown in indented blocks, which nothing in them can end.
#include "report/campaign/bug-report.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/shell.h"
#include "report/campaign/explanation.h"
#include "report/campaign/facts.h"
#include "report/campaign/preload.h"
#include "report/text.h"

#include <string.h>

#define LONGEST 4000

struct bug_page {
    struct buffer *text;
    const struct report_package *package; // or NULL
    struct campaign_facts facts;
    struct campaign_detail detail;
    struct consequences consequences;
    const struct campaign_finding *finding;
};

#define PUT(page, ...) TRY(buffer_printf((page)->text, __VA_ARGS__))

// Text of a target within a sentence: what Markdown could take for its own gets a backslash.
static struct error *put_escaped(struct bug_page *page, const char *words)
{
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    TRY(text_put_fit(&shown, words, LONGEST, NULL));
    for (const char *at = shown.data; at != NULL && *at != '\0'; at++) {
        if (strchr("\\`*_{}[]<>#|~&!", *at) != NULL)
            TRY(buffer_append(page->text, "\\", 1));
        TRY(buffer_append(page->text, at, 1));
    }
    return NULL;
}

// Lines as they are, each indented by four blanks.
static struct error *put_block(struct bug_page *page, const char *lines)
{
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    TRY(text_put_lines(&shown, lines));
    PUT(page, "\n");
    for (const char *at = shown.data != NULL ? shown.data : ""; *at != '\0';) {
        size_t size = strcspn(at, "\n");
        PUT(page, "%s%.*s\n", size != 0 ? "    " : "", (int)size, at);
        at += size + (at[size] == '\n');
    }
    PUT(page, "\n");
    return NULL;
}

static const char *program_path(const struct bug_page *page)
{
    // "SIZE MTIME BUILD-ID PATH"
    const char *program = page->facts.campaign.program;
    const char *slash = program != NULL ? strchr(program, '/') : NULL;
    return slash;
}

// Which variables matter is not known. Those that tell where the user is at home do not.
static struct error *put_variable(void *data, const struct store_variable *row)
{
    static const char *const common[] = {"PATH", "HOME", "PWD", "OLDPWD", "_", "SHLVL", "TERM"};
    struct bug_page *page = data;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(row->name, common[i]) == 0)
            return NULL;
    if (row->value == NULL)
        return NULL;
    PUT(page, "\n- variable: ");
    TRY(put_escaped(page, row->name));
    PUT(page, "=");
    return put_escaped(page, row->value);
}

// What else belongs to the workload, as the definition has it.
static struct error *put_circumstances(struct bug_page *page)
{
    static const struct {
        const char *name, *section, *key;
    } rows[] = {
        {"input", NULL, "input"},   {"before it", NULL, "setup"},   {"ready", "server", "ready"},
        {"load", "server", "load"}, {"after it", NULL, "posttest"},
    };
    const char *definition = page->facts.campaign.definition;
    for (size_t i = 0; definition != NULL && i < sizeof rows / sizeof *rows; i++) {
        size_t size;
        const char *value =
            campaign_definition_value(definition, rows[i].section, rows[i].key, &size);
        _cleanup_free_ char *copy = value != NULL ? strndup(value, size) : NULL;
        if (value != NULL && copy == NULL)
            return error_no_memory();
        if (copy == NULL)
            continue;
        PUT(page, "\n- %s: ", rows[i].name);
        TRY(put_escaped(page, copy));
    }
    return store_each_variable(page->facts.store, page->facts.campaign.id, put_variable, page);
}

static struct error *put_head(struct bug_page *page)
{
    const struct campaign_finding *finding = page->finding;
    const struct store_trial *trial = &page->detail.trial;
    const char *severity = severity_name(finding->severity);
    const char *confirmed = campaign_confirmed_name(finding->confirmed);
    PUT(page, "# ");
    TRY(put_escaped(page, finding->title));
    PUT(page, "\n\n- program: ");
    TRY(put_escaped(page, program_path(page) != NULL ? program_path(page)
                                                     : page->facts.campaign.command));
    if (page->package != NULL && page->package->name != NULL) {
        PUT(page, "\n- package: ");
        TRY(put_escaped(page, page->package->name));
        PUT(page, " ");
        TRY(put_escaped(page, page->package->version != NULL ? page->package->version : ""));
        PUT(page, " (has ");
        TRY(put_escaped(page, page->package->file));
        PUT(page, ")");
    }
    PUT(page, "\n- command: ");
    TRY(put_escaped(page, page->facts.campaign.command));
    TRY(put_circumstances(page));
    PUT(page, "\n- verdict: %s%s%s%s%s\n", verdict_facts[finding->verdict].name,
        severity != NULL ? ", severity " : "", severity != NULL ? severity : "",
        confirmed != NULL ? ", " : "", confirmed != NULL ? confirmed : "");
    PUT(page, "- what was seen: ");
    TRY(put_escaped(page, trial->reason));
    PUT(page, "\n- found by fault injection with Ordeal ");
    TRY(put_escaped(page, page->facts.campaign.version));
    PUT(page, "\n\n## Why it breaks\n\n");
    TRY(put_escaped(page, finding->explanation != NULL
                              ? finding->explanation
                              : "It is not known how the failure leads to this."));
    PUT(page, "\n");
    _cleanup_(buffer_deinit) struct buffer proof = {0};
    TRY(campaign_put_proof(finding, &proof));
    if (proof.size != 0) {
        PUT(page, "\nWhether that can happen: ");
        TRY(put_escaped(page, proof.data));
        PUT(page, ".\n");
    }
    return NULL;
}

static struct error *put_check(struct bug_page *page)
{
    const struct store_consequence *place = consequences_unchecked(&page->consequences);
    if (place == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    bool call = place->kind == CONSEQUENCE_FAILS || place->kind == CONSEQUENCE_RETURNED;
    TRY(consequence_put_place(place, &text));
    PUT(page, "\n## Where the check belongs\n\n");
    PUT(page, call ? "Behind the call at " : "In the test at ");
    TRY(put_escaped(page, text.data != NULL ? text.data : "an unknown place"));
    if (place->file != NULL && place->symbol != NULL) {
        PUT(page, ", in ");
        TRY(put_escaped(page, place->symbol));
    }
    PUT(page, ".\n");
    return NULL;
}

static struct error *put_stacks(struct bug_page *page)
{
    if (page->finding->stack == NULL)
        return NULL;
    PUT(page, "\n## Stack of the %s\n", page->finding->verdict == VERDICT_HANG ? "hang" : "crash");
    return put_block(page, page->finding->stack);
}

// The command of the workload behind a prefix, in its directory.
static struct error *put_run(struct bug_page *page, const char *before, const char *after)
{
    _cleanup_(buffer_deinit) struct buffer command = {0};
    TRY(buffer_printf(&command, "cd "));
    TRY(shell_put_word(&command, page->facts.campaign.directory));
    TRY(buffer_printf(&command, " && %s%s%s", before, page->facts.campaign.command, after));
    if (campaign_can_be_copied(command.data))
        return put_block(page, command.data);
    PUT(page, "\n(It cannot be shown: a name has control characters or broken ones.)\n");
    return NULL;
}

// Appends " <FILE": the file that the workload reads. A name that YAML had to escape is left to the
// reader.
static struct error *put_input(const struct bug_page *page, struct buffer *text)
{
    size_t size = 0;
    const char *definition = page->facts.campaign.definition;
    const char *input =
        definition != NULL ? campaign_definition_value(definition, NULL, "input", &size) : NULL;
    if (input == NULL)
        return buffer_printf(text, " </dev/null");
    if (*input == '"' && size >= 2) {
        input++;
        size -= 2;
    }
    _cleanup_free_ char *path = strndup(input, size);
    if (path == NULL)
        return error_no_memory();
    if (strchr(path, '\\') != NULL)
        return NULL;
    TRY(buffer_printf(text, " <"));
    return shell_put_word(text, path);
}

struct injections {
    struct bug_page *page;
    unsigned count;
};

static struct error *put_preload(void *data, const struct store_injection *row)
{
    struct injections *injections = data;
    struct bug_page *page = injections->page;
    const struct store_consequence *first =
        page->consequences.items.count != 0 ? &page->consequences.items.items[0] : NULL;
    char error[32];
    struct preload preload;
    if (++injections->count != 1 || first == NULL || first->kind != CONSEQUENCE_FAILS ||
        !preload_find(row, page->detail.trial.spec, first->number, error, &preload))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer source = {0};
    PUT(page, "\n## Reproduce without Ordeal\n\nfail.c makes %s of %s() fail%s:\n",
        preload.site != 0 ? "the first call" : "one call", preload.function,
        preload.site != 0 ? " from that place of this build" : "");
    TRY(preload_put(&preload, &source));
    TRY(put_block(page, source.data));
    PUT(page, "Compile it with gcc, and preload it:\n");
    TRY(put_block(page, "so=$(mktemp /tmp/fail-XXXXXX.so) && gcc -shared -fPIC -o $so fail.c"));
    _cleanup_(buffer_deinit) struct buffer input = {0};
    TRY(put_input(page, &input));
    return put_run(page, "LD_PRELOAD=$so ", input.data != NULL ? input.data : "");
}

static bool writes_to_stdout(const struct bug_page *page, const char *function)
{
    static const char *const functions[] = {"printf",  "puts",         "putchar",
                                            "vprintf", "__printf_chk", "__vprintf_chk"};
    const bool stream = page->consequences.items.items[0].kind == CONSEQUENCE_UNWRITTEN;
    for (size_t i = 1; i < page->consequences.items.count; i++) {
        const struct store_consequence *item = &page->consequences.items.items[i];
        if (stream && item->kind == CONSEQUENCE_DIFFERS) // without a name: it is the output
            return item->name == NULL || strcmp(item->name, "<stdout>") == 0;
        if (item->kind == CONSEQUENCE_LOST && item->name != NULL)
            return strcmp(item->name, "<stdout>") == 0;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i], function) == 0)
            return true;
    return false;
}

// What a shell can do about the same kind of failure. It may strike another call than the one that
// was tried, so nothing more is promised.
static struct error *put_by_shell(struct bug_page *page)
{
    const struct store_consequence *first =
        page->consequences.items.count != 0 ? &page->consequences.items.items[0] : NULL;
    const char *slash = first != NULL && first->name != NULL ? strchr(first->name, '/') : NULL;
    const char *error = slash != NULL ? slash + 1 : "", *function = "";
    if (first == NULL || (first->kind != CONSEQUENCE_FAILS && first->kind != CONSEQUENCE_UNWRITTEN))
        return NULL;
    function = first->function != NULL ? first->function : "";
    if (strcmp(error, "ENOSPC") == 0 && writes_to_stdout(page, function)) {
        PUT(page, "\nThe same failure on a device that is always full:\n");
        return put_run(page, "", " >/dev/full");
    }
    if (strcmp(error, "ENOSPC") == 0) {
        PUT(page, "\nA full file system gives the same error, though perhaps to another call: run "
                  "the command in a tmpfs that is too small for what it writes:\n");
        return put_block(page, "mount -t tmpfs -o size=16k none /mnt");
    }
    if (strcmp(error, "EFBIG") == 0) {
        PUT(page,
            "\nA limit of file sizes gives the same error, though perhaps to another call:\n");
        return put_run(page, "(trap '' XFSZ; ulimit -f 0; ", ")");
    }
    if (strcmp(error, "ENOMEM") == 0) {
        PUT(page, "\nA limit of memory gives the same error, though perhaps to another call; try "
                  "several numbers:\n");
        return put_run(page, "(ulimit -v 10000; ", ")");
    }
    return NULL;
}

static struct error *put_reproduce(struct bug_page *page)
{
    _cleanup_(buffer_deinit) struct buffer replay = {0};
    const char *command = page->finding->command;
    struct injections injections = {.page = page};
    PUT(page, "\n## Reproduce\n");
    if (command == NULL || !campaign_can_be_copied(command)) {
        TRY(campaign_put_replay(&page->facts, page->finding->trial, &replay));
        command = replay.data;
    }
    TRY(put_block(page, command));
    if (page->finding->caution != NULL)
        PUT(page, "Caution: %s.\n", page->finding->caution);
    TRY(store_each_injection(page->facts.store, page->finding->trial, put_preload, &injections));
    return put_by_shell(page);
}

static struct error *put_symbols(struct bug_page *page)
{
    const struct store_consequence *first =
        page->consequences.items.count != 0 ? &page->consequences.items.items[0] : NULL;
    if (first == NULL || first->file != NULL || first->module == NULL)
        return NULL;
    PUT(page, "\n## Lines of the source\n\n");
    PUT(page, "No debugging information was found for ");
    TRY(put_escaped(page, file_base_name(first->module)));
    PUT(page, ", so places are given as function+offset or module+offset. ");
    if (page->package == NULL || page->package->name == NULL) {
        PUT(page, "Build it with -g.\n");
        return NULL;
    }
    PUT(page, "Install ");
    TRY(put_escaped(page, page->package->name));
    PUT(page, "-dbgsym from Debian's archive of debug packages, or set "
              "DEBUGINFOD\\_URLS=https://debuginfod.debian.net for gdb.\n");
    return NULL;
}

static struct error *put_page(struct bug_page *page, struct store *store, int64_t trial,
                              const struct report_options *options)
{
    TRY(campaign_detail_load(store, trial, &page->detail));
    const struct report_subject subject = {.store = store, .campaign = page->detail.trial.campaign};
    struct report_options all = *options;
    all.proof = REPORT_PROOF_ALL;
    all.scope = REPORT_SCOPE_ALL;
    TRY(campaign_facts_load(&page->facts, &subject, &all));
    page->finding = campaign_finding_find(&page->facts, page->detail.trial.finding);
    if (page->finding == NULL)
        return error_new("trial %lld shows no finding, so there is nothing to report; findings are "
                         "named F1, F2, ...",
                         (long long)trial);
    TRY(consequences_load(store, page->finding->id, &page->consequences));
    TRY(put_head(page));
    TRY(put_check(page));
    TRY(put_stacks(page));
    TRY(put_reproduce(page));
    return put_symbols(page);
}

struct error *report_bug(struct store *store, int64_t trial, const struct report_options *options,
                         const struct report_package *package, struct buffer *ret_text)
{
    struct buffer text = {0};
    struct bug_page page = {.text = &text, .package = package};
    struct error *error = put_page(&page, store, trial, options);
    consequences_deinit(&page.consequences);
    campaign_facts_deinit(&page.facts);
    campaign_detail_deinit(&page.detail);
    if (error != NULL)
        buffer_deinit(&text);
    else
        *ret_text = text;
    return error;
}

struct error *report_bug_module(struct store *store, int64_t trial, char **ret_path)
{
    _cleanup_(campaign_detail_deinit) struct campaign_detail detail = {0};
    _cleanup_(consequences_deinit) struct consequences consequences = {0};
    *ret_path = NULL;
    TRY(campaign_detail_load(store, trial, &detail));
    if (detail.trial.finding != 0)
        TRY(consequences_load(store, detail.trial.finding, &consequences));
    const char *path = consequences.items.count != 0 ? consequences.items.items[0].module : NULL;
    if (path == NULL || *path != '/')
        return NULL;
    *ret_path = strdup(path);
    return *ret_path != NULL ? NULL : error_no_memory();
}
