// SPDX-License-Identifier: GPL-3.0-or-later
// See census.h.
#include "trial/census.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NODES  100000
#define TOPICS 10000

struct node {
    char *name;
    unsigned connections;
};

struct topic_node {
    size_t node;
    uint64_t count;
};

// A name of remote(NAME).
struct topic {
    char *name;
    uint64_t count;
    ARRAY(struct topic_node) nodes;
};

struct rule {
    struct decision *decision;
    size_t turn; // node whose turn it is, or was when it left
};

struct census {
    ARRAY(struct node) nodes;
    ARRAY(struct topic) topics;
    ARRAY(struct rule) rules;
    uint64_t connected; // nodes with a connection
    uint64_t random;
    uint64_t questions, yes;
};

struct error *census_new(const char *const *rules, size_t rule_count, uint64_t seed,
                         struct census **ret_census)
{
    struct census *census = calloc(1, sizeof *census);
    if (census == NULL)
        return error_no_memory();
    census->random = seed;
    struct error *error = NULL;
    static const char *const everything[] = {"*"};
    if (rule_count == 0) {
        rules = everything;
        rule_count = 1;
    }
    for (size_t i = 0; error == NULL && i < rule_count; i++) {
        struct rule *rule = ARRAY_ADD(&census->rules);
        error = rule != NULL ? decision_new(rules[i], &rule->decision) : error_no_memory();
    }
    if (error != NULL)
        census_free(census);
    else
        *ret_census = census;
    return error;
}

void census_free(struct census *census)
{
    if (census == NULL)
        return;
    for (size_t i = 0; i < census->nodes.count; i++)
        free(census->nodes.items[i].name);
    for (size_t i = 0; i < census->topics.count; i++) {
        free(census->topics.items[i].name);
        ARRAY_DEINIT(&census->topics.items[i].nodes);
    }
    for (size_t i = 0; i < census->rules.count; i++)
        decision_free(census->rules.items[i].decision);
    ARRAY_DEINIT(&census->nodes);
    ARRAY_DEINIT(&census->topics);
    ARRAY_DEINIT(&census->rules);
    free(census);
}

static size_t find_node(const struct census *census, const char *name)
{
    size_t i = 0;
    while (i < census->nodes.count && strcmp(census->nodes.items[i].name, name) != 0)
        i++;
    return i;
}

struct error *census_join(struct census *census, const char *name)
{
    size_t index = find_node(census, name);
    if (index == census->nodes.count) {
        if (index == NODES)
            return error_new("there are too many nodes");
        char *copy = strdup(name);
        struct node *added = copy != NULL ? ARRAY_ADD(&census->nodes) : NULL;
        if (added == NULL) {
            free(copy);
            return error_no_memory();
        }
        added->name = copy;
    }
    struct node *node = &census->nodes.items[index];
    census->connected += node->connections++ == 0;
    return NULL;
}

void census_leave(struct census *census, const char *name)
{
    size_t index = find_node(census, name);
    if (index == census->nodes.count || census->nodes.items[index].connections == 0)
        return;
    census->connected -= --census->nodes.items[index].connections == 0;
}

static struct error *find_topic(struct census *census, const char *name, struct topic **ret_topic)
{
    for (size_t i = 0; i < census->topics.count; i++)
        if (strcmp(census->topics.items[i].name, name) == 0) {
            *ret_topic = &census->topics.items[i];
            return NULL;
        }
    if (census->topics.count == TOPICS)
        return error_new("there are too many names");
    char *copy = strdup(name);
    struct topic *topic = copy != NULL ? ARRAY_ADD(&census->topics) : NULL;
    if (topic == NULL) {
        free(copy);
        return error_no_memory();
    }
    topic->name = copy;
    *ret_topic = topic;
    return NULL;
}

static struct error *count_question(struct census *census, const char *name, size_t node,
                                    struct decision_question *question)
{
    struct topic *topic = NULL;
    TRY(find_topic(census, name, &topic));
    struct topic_node *mine = NULL;
    for (size_t i = 0; mine == NULL && i < topic->nodes.count; i++)
        if (topic->nodes.items[i].node == node)
            mine = &topic->nodes.items[i];
    if (mine == NULL) {
        mine = ARRAY_ADD(&topic->nodes);
        if (mine == NULL)
            return error_no_memory();
        mine->node = node;
    }
    question->count = ++topic->count;
    question->node_count = ++mine->count;
    return NULL;
}

// The node whose turn it is: the first from `turn` on that is connected. The asking one is.
static size_t whose_turn(const struct census *census, const struct rule *rule)
{
    for (size_t i = 0; i < census->nodes.count; i++) {
        size_t node = (rule->turn + i) % census->nodes.count;
        if (census->nodes.items[node].connections != 0)
            return node;
    }
    return 0;
}

struct error *census_ask(struct census *census, const char *name,
                         struct decision_question *question, const char **ret_rule)
{
    size_t node = find_node(census, question->node);
    if (node == census->nodes.count)
        return error_new("this node has not joined");
    TRY(count_question(census, name, node, question));
    question->nodes = census->connected;
    question->random = &census->random;
    census->questions++;
    *ret_rule = NULL;
    for (size_t i = 0; i < census->rules.count; i++) {
        struct rule *rule = &census->rules.items[i];
        if (fnmatch(decision_name(rule->decision), name, 0) != 0)
            continue;
        question->turn = whose_turn(census, rule) == node;
        if (!decision_ask(rule->decision, question))
            continue;
        if (decision_takes_turns(rule->decision))
            rule->turn = (node + 1) % census->nodes.count;
        census->yes++;
        *ret_rule = decision_text(rule->decision);
        return NULL;
    }
    return NULL;
}

struct coordinator_totals census_totals(const struct census *census)
{
    return (struct coordinator_totals){
        .nodes = census->nodes.count, .questions = census->questions, .yes = census->yes};
}
