// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the list of nodes, counts their questions and asks the rules in order. Nodes and names are
// never forgotten, so both lists are limited.
#include "trial/coordinator-state.h"

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

// A NAME of remote(NAME), and who asked for it how often.
struct topic {
    char *name;
    uint64_t count;
    ARRAY(struct topic_node) nodes;
};

struct turn_rule {
    struct coordinator_rule *rule;
    size_t turn; // node whose turn it is, or was when it left
};

struct coordinator_state {
    ARRAY(struct node) nodes;
    ARRAY(struct topic) topics;
    ARRAY(struct turn_rule) rules;
    uint64_t connected; // nodes with a connection
    uint64_t random;
    uint64_t questions, yes;
};

struct error *coordinator_state_new(const char *const *rules, size_t rule_count, uint64_t seed,
                                    struct coordinator_state **ret_state)
{
    struct coordinator_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return error_no_memory();
    state->random = seed;
    struct error *error = NULL;
    static const char *const everything[] = {"*"};
    if (rule_count == 0) {
        rules = everything;
        rule_count = 1;
    }
    for (size_t i = 0; error == NULL && i < rule_count; i++) {
        struct turn_rule *rule = ARRAY_ADD(&state->rules);
        error = rule != NULL ? coordinator_rule_new(rules[i], &rule->rule) : error_no_memory();
    }
    if (error != NULL)
        coordinator_state_free(state);
    else
        *ret_state = state;
    return error;
}

void coordinator_state_free(struct coordinator_state *state)
{
    if (state == NULL)
        return;
    for (size_t i = 0; i < state->nodes.count; i++)
        free(state->nodes.items[i].name);
    for (size_t i = 0; i < state->topics.count; i++) {
        free(state->topics.items[i].name);
        ARRAY_DEINIT(&state->topics.items[i].nodes);
    }
    for (size_t i = 0; i < state->rules.count; i++)
        coordinator_rule_free(state->rules.items[i].rule);
    ARRAY_DEINIT(&state->nodes);
    ARRAY_DEINIT(&state->topics);
    ARRAY_DEINIT(&state->rules);
    free(state);
}

static size_t find_node(const struct coordinator_state *state, const char *name)
{
    size_t i = 0;
    while (i < state->nodes.count && strcmp(state->nodes.items[i].name, name) != 0)
        i++;
    return i;
}

struct error *coordinator_state_join(struct coordinator_state *state, const char *name)
{
    size_t index = find_node(state, name);
    if (index == state->nodes.count) {
        if (index == NODES)
            return error_new("there are too many nodes");
        char *copy = strdup(name);
        struct node *added = copy != NULL ? ARRAY_ADD(&state->nodes) : NULL;
        if (added == NULL) {
            free(copy);
            return error_no_memory();
        }
        added->name = copy;
    }
    struct node *node = &state->nodes.items[index];
    state->connected += node->connections++ == 0;
    return NULL;
}

void coordinator_state_leave(struct coordinator_state *state, const char *name)
{
    size_t index = find_node(state, name);
    if (index == state->nodes.count || state->nodes.items[index].connections == 0)
        return;
    state->connected -= --state->nodes.items[index].connections == 0;
}

static struct error *find_topic(struct coordinator_state *state, const char *name,
                                struct topic **ret_topic)
{
    for (size_t i = 0; i < state->topics.count; i++)
        if (strcmp(state->topics.items[i].name, name) == 0) {
            *ret_topic = &state->topics.items[i];
            return NULL;
        }
    if (state->topics.count == TOPICS)
        return error_new("there are too many names");
    char *copy = strdup(name);
    struct topic *topic = copy != NULL ? ARRAY_ADD(&state->topics) : NULL;
    if (topic == NULL) {
        free(copy);
        return error_no_memory();
    }
    topic->name = copy;
    *ret_topic = topic;
    return NULL;
}

static struct error *count_question(struct coordinator_state *state, const char *name, size_t node,
                                    struct coordinator_question *question)
{
    struct topic *topic = NULL;
    TRY(find_topic(state, name, &topic));
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

// The node whose turn it is: the first connected one from `turn` on. There is one, since the asking
// node is connected.
static size_t whose_turn(const struct coordinator_state *state, const struct turn_rule *rule)
{
    for (size_t i = 0; i < state->nodes.count; i++) {
        size_t node = (rule->turn + i) % state->nodes.count;
        if (state->nodes.items[node].connections != 0)
            return node;
    }
    return 0;
}

struct error *coordinator_state_ask(struct coordinator_state *state, const char *name,
                                    struct coordinator_question *question, const char **ret_rule)
{
    size_t node = find_node(state, question->node);
    if (node == state->nodes.count)
        return error_new("this node has not joined");
    TRY(count_question(state, name, node, question));
    question->nodes = state->connected;
    question->random = &state->random;
    state->questions++;
    *ret_rule = NULL;
    for (size_t i = 0; i < state->rules.count; i++) {
        struct turn_rule *rule = &state->rules.items[i];
        if (fnmatch(coordinator_rule_name(rule->rule), name, 0) != 0)
            continue;
        question->turn = whose_turn(state, rule) == node;
        if (!coordinator_rule_ask(rule->rule, question))
            continue;
        if (coordinator_rule_uses_turn(rule->rule))
            rule->turn = (node + 1) % state->nodes.count;
        state->yes++;
        *ret_rule = coordinator_rule_text(rule->rule);
        return NULL;
    }
    return NULL;
}

struct coordinator_totals coordinator_state_totals(const struct coordinator_state *state)
{
    return (struct coordinator_totals){
        .nodes = state->nodes.count, .questions = state->questions, .yes = state->yes};
}
