// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a cluster's shared directory and output of Slurm's commands, as bytes from anywhere. The
// first byte says which.
#include "engines/slurm/book.h"
#include "engines/slurm/cluster.h"
#include "engines/slurm/format.h"
#include "engines/slurm/node-facts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_facts(const struct buffer *bytes)
{
    struct node_facts facts = {0};
    struct buffer text = {0};
    char *why = NULL;
    struct error *error = node_facts_get(bytes, &facts);
    if (error == NULL)
        error = node_facts_compare(&facts, &facts, &why);
    if (error == NULL)
        error = node_facts_put_line(&text, "node", &facts, &facts);
    if (why != NULL)
        abort(); // they are the same
    error_free(error);
    buffer_deinit(&text);
    node_facts_deinit(&facts);
}

// Results for a piece with one job.
static void take_results(const struct buffer *bytes)
{
    struct book book = {0};
    struct done done = {0};
    struct piece *piece = NULL;
    const struct engine_job job = {.spec = "x", .number = 1, .tag = 7};
    struct error *error = book_offer(&book, &job, 1);
    if (error == NULL)
        error = book_cut(&book, 1, &piece);
    if (error == NULL)
        error = done_get(bytes, &done);
    if (error == NULL)
        error = book_take(&book, &done, "file");
    struct engine_result result;
    while (book_next(&book, &result)) {
        if (result.job.tag != 7)
            abort();
        engine_result_deinit(&result);
    }
    error_free(error);
    done_deinit(&done);
    book_deinit(&book);
}

static void read_commands(const struct buffer *bytes)
{
    cluster_nodes nodes = {0};
    cluster_tasks tasks = {0};
    error_free(cluster_read_nodes(bytes->data, false, &nodes));
    error_free(cluster_read_tasks(bytes->data, &tasks));
    cluster_nodes_deinit(&nodes);
    cluster_tasks_deinit(&tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer bytes = {0};
    struct setup setup = {0};
    struct work work = {0};
    if (size < 1 || buffer_append(&bytes, data + 1, size - 1) != NULL)
        return 0;
    switch (data[0] % 5) {
    case 0:
        error_free(setup_get(&bytes, &setup));
        setup_deinit(&setup);
        break;
    case 1:
        error_free(work_get(&bytes, &work));
        work_deinit(&work);
        break;
    case 2:
        take_results(&bytes);
        break;
    case 3:
        read_facts(&bytes);
        break;
    default:
        read_commands(&bytes);
    }
    buffer_deinit(&bytes);
    return 0;
}
