// SPDX-License-Identifier: GPL-3.0-or-later
// Which nodes there are, what they have, and which of them are set aside. One node of each kind is
// checked before the first trial; each other one checks itself before its first piece.
#include "engines/slurm/slurm-internal.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/quote.h"
#include "base/timeouts.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_MOST 8  // that are checked first
#define LINES_MOST 50 // of the table
#define WHY_MOST   300

static bool is_excluded(const struct slurm *slurm, const char *node)
{
    for (size_t i = 0; i < slurm->excluded.count; i++)
        if (strcmp(slurm->excluded.items[i], node) == 0)
            return true;
    return false;
}

struct error *nodes_count(struct slurm *slurm)
{
    _cleanup_(cluster_nodes_deinit) cluster_nodes nodes = {0};
    unsigned workers = 0;
    slurm->nodes_ns = clock_ns() + CLUSTER_NODES_PAUSE_NS;
    TRY(cluster_find_nodes(&slurm->cluster, &nodes));
    for (size_t i = 0; i < nodes.count; i++)
        if (!is_excluded(slurm, nodes.items[i].name))
            workers += nodes.items[i].processors;
    if (nodes.count != 0 && workers == 0)
        slurm_give_up(slurm, "all nodes are set aside");
    // Nodes that are down now may come back: there is always room for a task.
    if (workers == 0)
        workers = 1;
    slurm->workers = slurm->options.workers != 0 && slurm->options.workers < workers
                         ? slurm->options.workers
                         : workers;
    return NULL;
}

// Nodes of other kinds than that of node `which`.
static struct error *other_kinds(const cluster_nodes *nodes, size_t which, struct words *others)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (strcmp(nodes->items[i].kind, nodes->items[which].kind) != 0)
            TRY(words_add(others, nodes->items[i].name, strlen(nodes->items[i].name)));
    return NULL;
}

static bool is_first_of_kind(const cluster_nodes *nodes, size_t which)
{
    for (size_t i = 0; i < which; i++)
        if (strcmp(nodes->items[i].kind, nodes->items[which].kind) == 0)
            return false;
    return true;
}

struct error *nodes_begin_check(struct slurm *slurm)
{
    _cleanup_(cluster_nodes_deinit) cluster_nodes nodes = {0};
    TRY(cluster_find_nodes(&slurm->cluster, &nodes));
    for (size_t i = 0; i < nodes.count && slurm->kinds < KINDS_MOST; i++) {
        _cleanup_(words_deinit) struct words others = {0};
        if (!is_first_of_kind(&nodes, i))
            continue;
        TRY(other_kinds(&nodes, i, &others));
        const struct cluster_array array = {
            .script = slurm->script, .output = slurm->output, .count = 1, .excluded = &others};
        TRY(cluster_submit(&slurm->cluster, &array));
        slurm->kinds++;
    }
    if (slurm->kinds == 0)
        return error_new("no node of the %s is up",
                         slurm->cluster.partition != NULL ? "partition" : "default partition");
    slurm->check_ns = clock_ns();
    return NULL;
}

struct error *nodes_set_aside(struct slurm *slurm, const char *node, const char *why)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (is_excluded(slurm, node))
        return NULL;
    TRY(words_add(&slurm->excluded, node, strlen(node)));
    TRY(buffer_printf(&text, "node "));
    TRY(escape_put(&text, node, strlen(node), 64, '\0'));
    TRY(buffer_printf(&text, " is set aside: "));
    TRY(escape_put(&text, why, strlen(why), WHY_MOST, '\0'));
    TRY(slurm->options.warn(slurm->options.data, text.data));
    // Arrays that wait were submitted without this exclusion. One may have ended meanwhile.
    uint64_t last = 0;
    for (size_t i = 0; i < slurm->book.pieces.count; i++) {
        const struct piece *piece = slurm->book.pieces.items[i];
        if (!piece->listed || piece->running || piece->job == last)
            continue;
        last = piece->job;
        error_free(cluster_exclude(last, &slurm->excluded));
    }
    slurm->nodes_ns = 0;
    return NULL;
}

// Adds a line for a node, and sets it aside if it cannot serve.
static struct error *look_at_node(struct slurm *slurm, const char *node, struct buffer *table)
{
    char name[300];
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(node_facts_deinit) struct node_facts facts = {0};
    _cleanup_free_ char *why = NULL;
    if (strlen(node) > 200)
        return NULL;
    snprintf(name, sizeof name, "nodes/%s", node);
    TRY(spool_read(&slurm->spool, name, &text));
    TRY(node_facts_get(&text, &facts));
    TRY(node_facts_compare(&slurm->facts, &facts, &why));
    TRY(node_facts_put_line(table, node, &slurm->facts, &facts));
    return why != NULL ? nodes_set_aside(slurm, node, why) : NULL;
}

// What the last job that failed has printed.
static struct error *put_last_words(const struct slurm *slurm, struct buffer *text)
{
    _cleanup_(words_deinit) struct words names = {0};
    TRY(spool_list(&slurm->spool, "output", &names));
    for (size_t i = 0; i < names.count; i++) {
        char name[300];
        _cleanup_(buffer_deinit) struct buffer printed = {0};
        if (strlen(names.items[i]) > 200)
            continue;
        snprintf(name, sizeof name, "output/%s", names.items[i]);
        error_free(spool_read(&slurm->spool, name, &printed));
        if (printed.size != 0)
            return quote_put_last_line(text, ": ", printed.data, printed.size);
    }
    return NULL;
}

static struct error *tell_lines(const struct slurm *slurm, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        _cleanup_free_ char *line = strndup(text, size);
        if (line == NULL)
            return error_no_memory();
        slurm->options.note(slurm->options.data, line);
        text += size + (text[size] == '\n');
    }
    return NULL;
}

static struct error *end_check(struct slurm *slurm, const struct words *names)
{
    _cleanup_(buffer_deinit) struct buffer table = {0}, why = {0};
    slurm->check_ns = 0;
    TRY(node_facts_put_headline(&table));
    for (size_t i = 0; i < names->count && i < LINES_MOST; i++)
        TRY(look_at_node(slurm, names->items[i], &table));
    if (names->count != 0)
        return tell_lines(slurm, table.data);
    TRY(buffer_printf(&why, "the check of a node left no result"));
    TRY(put_last_words(slurm, &why));
    slurm_give_up(slurm, why.data);
    return NULL;
}

struct error *nodes_follow_check(struct slurm *slurm, bool listed)
{
    _cleanup_(words_deinit) struct words names = {0};
    TRY(spool_list(&slurm->spool, "nodes", &names));
    bool late = !listed && clock_ns() > slurm->check_ns + CLUSTER_MISSING_WAIT_NS;
    if (names.count < slurm->kinds && !late)
        return NULL;
    return end_check(slurm, &names);
}
