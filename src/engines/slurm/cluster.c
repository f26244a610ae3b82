// SPDX-License-Identifier: GPL-3.0-or-later
// Words for Slurm's commands, and what their output means.
#include "engines/slurm/cluster.h"

#include "base/cleanup.h"
#include "engines/slurm/command.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST 8

typedef ARRAY(const char *) word_list;

static void word_list_deinit(word_list *list)
{
    ARRAY_DEINIT(list);
}

static struct error *add(word_list *list, const char *word)
{
    const char **item = ARRAY_ADD(list);
    if (item == NULL)
        return error_no_memory();
    *item = word;
    return NULL;
}

static struct error *run(word_list *list, struct buffer *output)
{
    TRY(add(list, NULL));
    return command_run((char *const *)list->items, output);
}

static struct error *run_fixed(const char *const *words, size_t count, struct buffer *output)
{
    _cleanup_(word_list_deinit) word_list list = {0};
    for (size_t i = 0; i < count; i++)
        TRY(add(&list, words[i]));
    return run(&list, output);
}
#define RUN(output, ...)                                                                           \
    run_fixed((const char *const[]){__VA_ARGS__},                                                  \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), output)

// Cuts a line at '|'. Returns the number of columns; the last one has the rest.
static size_t split(char *line, char *columns[COLUMNS_MOST], size_t most)
{
    size_t count = 0;
    while (count < most) {
        columns[count++] = line;
        char *end = count < most ? strchr(line, '|') : NULL;
        if (end == NULL)
            break;
        *end = '\0';
        line = end + 1;
    }
    return count;
}

// Calls `row` for each line of a text.
static struct error *each_line(const char *text, struct error *(*row)(void *, char *), void *data)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        _cleanup_free_ char *line = strndup(text, size);
        if (line == NULL)
            return error_no_memory();
        TRY(row(data, line));
        text += size + (text[size] == '\n');
    }
    return NULL;
}

static uint64_t number(const char *text)
{
    return text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;
}

void cluster_nodes_deinit(cluster_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        free(nodes->items[i].name);
        free(nodes->items[i].kind);
    }
    ARRAY_DEINIT(nodes);
}

struct node_search {
    cluster_nodes *nodes;
    bool any_partition;
};

// NODE|PARTITION|PROCESSORS|KIND. A node is listed once for each partition, one after the other.
static struct error *read_node(void *data, char *line)
{
    const struct node_search *search = data;
    char *columns[COLUMNS_MOST];
    if (split(line, columns, 4) != 4 || columns[0][0] == '\0')
        return NULL;
    size_t size = strlen(columns[1]);
    bool usual = size > 0 && columns[1][size - 1] == '*'; // sbatch takes this partition
    cluster_nodes *nodes = search->nodes;
    if ((!search->any_partition && !usual) ||
        (nodes->count != 0 && strcmp(nodes->items[nodes->count - 1].name, columns[0]) == 0))
        return NULL;
    uint64_t processors = number(columns[2]);
    struct cluster_node *node = ARRAY_ADD(nodes);
    if (node == NULL)
        return error_no_memory();
    *node = (struct cluster_node){
        .name = strdup(columns[0]),
        .kind = strdup(columns[3]),
        .processors = processors < 65536 ? (unsigned)processors : 1,
    };
    return node->name == NULL || node->kind == NULL ? error_no_memory() : NULL;
}

struct error *cluster_read_nodes(const char *text, bool any_partition, cluster_nodes *nodes)
{
    return each_line(text, read_node,
                     &(struct node_search){.nodes = nodes, .any_partition = any_partition});
}

struct error *cluster_find_nodes(const struct cluster *cluster, cluster_nodes *nodes)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const char *format = "%N|%P|%c|%c processors, %m MB, %f, %G";
    if (cluster->partition != NULL)
        TRY(RUN(&text, "sinfo", "-h", "-N", "-t", "idle,mix,alloc,comp", "-o", format, "-p",
                cluster->partition));
    else
        TRY(RUN(&text, "sinfo", "-h", "-N", "-t", "idle,mix,alloc,comp", "-o", format));
    return text.size != 0 ? cluster_read_nodes(text.data, cluster->partition != NULL, nodes) : NULL;
}

struct error *cluster_ask_limits(struct cluster *cluster)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(RUN(&text, "scontrol", "show", "config"));
    const char *most = text.size != 0 ? strstr(text.data, "\nMaxArraySize") : NULL;
    const char *value = most != NULL ? strchr(most, '=') : NULL;
    uint64_t tasks = value != NULL ? number(value + 1 + strspn(value + 1, " ")) : UINT64_MAX;
    if (tasks < 2)
        return error_new("the cluster takes no job arrays (MaxArraySize in slurm.conf)");
    cluster->array_most = tasks <= CLUSTER_ARRAY_MOST ? (unsigned)tasks - 1 : CLUSTER_ARRAY_MOST;
    return NULL;
}

static struct error *join(const struct words *words, struct buffer *text)
{
    for (size_t i = 0; i < words->count; i++)
        TRY(buffer_printf(text, "%s%s", i > 0 ? "," : "", words->items[i]));
    return NULL;
}

struct error *cluster_submit(const struct cluster *cluster, const struct cluster_array *array)
{
    _cleanup_(word_list_deinit) word_list list = {0};
    _cleanup_(buffer_deinit) struct buffer printed = {0}, excluded = {0};
    char tasks[32], base[32], comment[64];
    snprintf(tasks, sizeof tasks, "--array=0-%u", array->count - 1);
    snprintf(base, sizeof base, "%llu", (unsigned long long)array->base);
    snprintf(comment, sizeof comment, "--comment=%s", base);
    const char *const words[] = {"sbatch",     "--parsable",        "--export=ALL", "--no-requeue",
                                 "--ntasks=1", "--cpus-per-task=1", tasks,          comment,
                                 "-J",         cluster->name,       "-o",           array->output};
    TRY(add(&list, words[0]));
    // The user's first: of an option that is given twice, sbatch takes the last.
    for (size_t i = 0; i < cluster->options->count; i++)
        TRY(add(&list, cluster->options->items[i]));
    for (size_t i = 1; i < sizeof words / sizeof *words; i++)
        TRY(add(&list, words[i]));
    if (cluster->partition != NULL) {
        TRY(add(&list, "-p"));
        TRY(add(&list, cluster->partition));
    }
    if (array->excluded->count != 0) {
        TRY(join(array->excluded, &excluded));
        TRY(add(&list, "-x"));
        TRY(add(&list, excluded.data));
    }
    TRY(add(&list, array->script));
    TRY(add(&list, base));
    return run(&list, &printed);
}

static enum task_state state_of(const char *word)
{
    static const struct {
        const char *word;
        enum task_state state;
    } states[] = {
        {"RUNNING", TASK_RUNNING}, {"COMPLETING", TASK_RUNNING}, {"SUSPENDED", TASK_RUNNING},
        {"STOPPED", TASK_RUNNING}, {"SIGNALING", TASK_RUNNING},  {"STAGE_OUT", TASK_RUNNING},
        {"PREEMPTED", TASK_TAKEN}, {"CANCELLED", TASK_TAKEN},    {"REVOKED", TASK_TAKEN},
        {"DEADLINE", TASK_TAKEN},  {"NODE_FAIL", TASK_DIED},     {"BOOT_FAIL", TASK_DIED},
        {"FAILED", TASK_FAILED},   {"TIMEOUT", TASK_FAILED},     {"OUT_OF_MEMORY", TASK_FAILED},
        {"COMPLETED", TASK_ENDED},
    };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].word, word) == 0)
            return states[i].state;
    return TASK_WAITING;
}

// JOB|TASK|STATE|BASE. A task that waits has the number of its array; "N/A" is no task.
static struct error *read_task(void *data, char *line)
{
    cluster_tasks *tasks = data;
    char *columns[COLUMNS_MOST];
    if (split(line, columns, 4) != 4)
        return NULL;
    uint64_t job = number(columns[0]), index = number(columns[1]), base = number(columns[3]);
    if (job == UINT64_MAX || index == UINT64_MAX || base == UINT64_MAX)
        return NULL;
    struct cluster_task *task = ARRAY_ADD(tasks);
    if (task == NULL)
        return error_no_memory();
    *task = (struct cluster_task){
        .piece = base + index,
        .job = job,
        .index = index,
        .state = state_of(columns[2]),
    };
    return NULL;
}

void cluster_tasks_deinit(cluster_tasks *tasks)
{
    ARRAY_DEINIT(tasks);
}

struct error *cluster_read_tasks(const char *text, cluster_tasks *tasks)
{
    return each_line(text, read_task, tasks);
}

struct error *cluster_find_tasks(const struct cluster *cluster, cluster_tasks *tasks)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(RUN(&text, "squeue", "-h", "-r", "-t", "all", "--me", "-n", cluster->name, "-o",
            "%F|%K|%T|%k"));
    return text.size != 0 ? cluster_read_tasks(text.data, tasks) : NULL;
}

struct error *cluster_cancel(const struct cluster *cluster, bool waiting)
{
    _cleanup_(buffer_deinit) struct buffer printed = {0};
    if (waiting)
        return RUN(&printed, "scancel", "--me", "-t", "PENDING", "-n", cluster->name);
    return RUN(&printed, "scancel", "--me", "-n", cluster->name);
}

struct error *cluster_cancel_task(uint64_t job, uint64_t index)
{
    _cleanup_(buffer_deinit) struct buffer printed = {0};
    char task[64];
    snprintf(task, sizeof task, "%llu_%llu", (unsigned long long)job, (unsigned long long)index);
    return RUN(&printed, "scancel", task);
}

struct error *cluster_exclude(uint64_t job, const struct words *nodes)
{
    _cleanup_(buffer_deinit) struct buffer printed = {0}, list = {0};
    char which[32];
    snprintf(which, sizeof which, "JobId=%llu", (unsigned long long)job);
    TRY(buffer_printf(&list, "ExcNodeList="));
    TRY(join(nodes, &list));
    return RUN(&printed, "scontrol", "update", which, list.data);
}
