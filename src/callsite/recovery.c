// SPDX-License-Identifier: GPL-3.0-or-later
// Finds recovery code. When in doubt, a block is left out: no block that a success can reach may be
// called recovery code.
#include "callsite/recovery.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

// Marks on blocks, and the list of blocks that are marked and still to be looked at.
struct block_search {
    const struct flow_image *image;
    unsigned char *marks; // by block
    ARRAY(uint32_t) list;
};
enum mark { MARK_SEEN = 1 << 0, MARK_BARRED = 1 << 1, MARK_NORMAL = 1 << 2, MARK_ANY = 1 << 3 };

static struct error *search_init(struct block_search *search, const struct flow_image *image)
{
    search->image = image;
    search->marks = calloc(image->blocks.count + 1, 1);
    return search->marks != NULL ? NULL : error_no_memory();
}

static void search_deinit(struct block_search *search)
{
    free(search->marks);
    ARRAY_DEINIT(&search->list);
}

static struct error *reach(struct block_search *search, uint32_t block, unsigned mark)
{
    if ((search->marks[block] & (mark | MARK_BARRED)) != 0)
        return NULL;
    uint32_t *added = ARRAY_ADD(&search->list);
    if (added == NULL)
        return error_no_memory();
    *added = block;
    search->marks[block] |= (unsigned char)mark;
    return NULL;
}

static void forget(struct block_search *search)
{
    for (size_t i = 0; i < search->list.count; i++)
        search->marks[search->list.items[i]] = 0;
    search->list.count = 0;
}

struct edges { // that a search does not follow; sorted
    const struct site_edge *items;
    size_t count;
};

static int compare_edges(const void *left, const void *right)
{
    const struct site_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->call > b->call) - (a->call < b->call);
}

static int compare_ends(const void *left, const void *right)
{
    const struct site_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static bool is_among(const struct edges *edges, uint32_t from, uint32_t kind)
{
    const struct site_edge key = {.from = from, .kind = kind};
    return edges != NULL && edges->count != 0 &&
           bsearch(&key, edges->items, edges->count, sizeof key, compare_ends) != NULL;
}

// Marks everything that the listed blocks lead to, from index `from` of the list on.
static struct error *spread(struct block_search *search, size_t from, unsigned mark,
                            const struct edges *without)
{
    for (size_t i = from; i < search->list.count; i++) {
        uint32_t number = search->list.items[i];
        const struct flow_block *block = &search->image->blocks.items[number];
        for (uint32_t j = 0; j < block->out_count; j++) {
            struct flow_edge edge = search->image->edges.items[block->edges_out + j];
            if (!is_among(without, number, edge.kind))
                TRY(reach(search, edge.block, mark));
        }
    }
    return NULL;
}

// Whether a function says "no more" or "no such thing" in the same way as "failed". What follows a
// loop that reads a file to its end is no recovery code.
static bool is_ambiguous(const char *name)
{
    static const char *const names[] = {
        "__getdelim",     "__isoc23_fscanf", "__isoc99_fscanf", "fgetc",         "fgets",
        "fgets_unlocked", "fgetwc",          "fscanf",          "getc",          "getc_unlocked",
        "getchar",        "getdelim",        "getenv",          "getline",       "getopt",
        "getopt_long",    "readdir",         "readdir64",       "secure_getenv", "strchr",
        "strpbrk",        "strrchr",         "strstr",          "strtok",        "strtok_r",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

uint64_t recovery_failures(const struct site_callee *callee,
                           const struct possible_results *possible, uint64_t failures)
{
    if (is_ambiguous(callee->name))
        return 0;
    bool writes = strstr(callee->name, "write") != NULL || strstr(callee->name, "send") != NULL;
    for (unsigned lane = 0; lane < possible->lanes; lane++)
        if (writes && possible->full >= 0 && possible->numbers[lane] == 0)
            failures |= 1ull << lane;
    return failures;
}

static struct error *add_edge(struct sites *sites, uint32_t call, uint32_t from, uint32_t kind)
{
    struct site_edge *edge = ARRAY_ADD(&sites->failing);
    if (edge == NULL)
        return error_no_memory();
    *edge = (struct site_edge){.call = call, .from = from, .kind = kind};
    return NULL;
}

struct error *recovery_note(const struct flow_image *image, const struct follower *follower,
                            uint32_t call, uint64_t failures, struct sites *sites)
{
    size_t count, left_count;
    const struct branch_lanes *branches = follower_branches(follower, &count);
    const uint32_t *left = follower_left(follower, &left_count);
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= (branches[i].taken != 0 && (branches[i].taken & ~failures) == 0) ||
               (branches[i].falls != 0 && (branches[i].falls & ~failures) == 0);
    if (!any)
        return NULL;
    // Successes that are no longer followed may reach a branch with anything in the registers.
    _cleanup_(search_deinit) struct block_search search = {0};
    TRY(search_init(&search, image));
    search.marks[call] = MARK_BARRED;
    for (size_t i = 0; i < left_count; i++)
        TRY(reach(&search, left[i], MARK_SEEN));
    TRY(spread(&search, 0, MARK_SEEN, NULL));
    for (size_t i = 0; i < count; i++) {
        const struct branch_lanes *branch = &branches[i];
        if ((search.marks[branch->block] & MARK_SEEN) != 0)
            continue;
        if (branch->taken != 0 && (branch->taken & ~failures) == 0)
            TRY(add_edge(sites, call, branch->block, FLOW_TAKEN));
        if (branch->falls != 0 && (branch->falls & ~failures) == 0)
            TRY(add_edge(sites, call, branch->block, FLOW_FALLS));
    }
    return NULL;
}

// ---- blocks ----

void recovery_deinit(struct recovery *recovery)
{
    ARRAY_DEINIT(&recovery->blocks);
}

static uint32_t owner_of(const struct flow_image *image, const struct site_edge *edge)
{
    return image->blocks.items[edge->from].function;
}

// Whether every path to the branch leads through one of the calls whose failures take it.
// edges[0..count) differ in the call only.
static struct error *is_dominated(struct block_search *search, const struct site_edge *edges,
                                  size_t count, bool *ret_dominated)
{
    uint32_t entry = search->image->functions.items[owner_of(search->image, edges)].first_block;
    for (size_t i = 0; i < count; i++)
        search->marks[edges[i].call] |= MARK_BARRED;
    struct error *error = reach(search, entry, MARK_SEEN);
    if (error == NULL)
        error = spread(search, 0, MARK_SEEN, NULL);
    // The branch may be the last instruction of a block that begins behind a call, and is then
    // reached through it.
    *ret_dominated = (search->marks[edges[0].from] & MARK_SEEN) == 0;
    for (size_t i = 0; i < count; i++)
        search->marks[edges[i].call] = 0;
    forget(search);
    return error;
}

// Keeps one edge of each branch that its calls dominate. *ret_kept: how many.
static struct error *keep_dominated(struct block_search *search, struct site_edge *edges,
                                    size_t count, size_t *ret_kept)
{
    size_t kept = 0;
    for (size_t start = 0, end; start < count; start = end) {
        bool dominated;
        for (end = start + 1; end < count && compare_ends(&edges[start], &edges[end]) == 0;)
            end++;
        TRY(is_dominated(search, edges + start, end - start, &dominated));
        if (dominated)
            edges[kept++] = edges[start];
    }
    *ret_kept = kept;
    return NULL;
}

static bool is_understood(const struct flow_image *image, uint32_t owner)
{
    for (uint32_t f = owner; f != FLOW_NONE; f = image->functions.items[f].next_part) {
        const struct flow_function *function = &image->functions.items[f];
        for (uint32_t i = 0; i < function->block_count; i++) {
            const struct flow_block *block = &image->blocks.items[function->first_block + i];
            if (block->end == FLOW_UNKNOWN)
                return false;
        }
    }
    return true;
}

static struct error *add_block(const struct flow_image *image, uint32_t number,
                               struct recovery *recovery)
{
    const struct flow_block *block = &image->blocks.items[number];
    struct recovery_block *added = ARRAY_ADD(&recovery->blocks);
    if (added == NULL)
        return error_no_memory();
    *added =
        (struct recovery_block){.address = flow_address(image, &image->insns.items[block->first]),
                                .block = number,
                                .function = block->function};
    return NULL;
}

// Finds the recovery code of one function. edges[0..count) are all edges of the function.
static struct error *look_at(struct block_search *search, struct site_edge *edges, size_t count,
                             struct recovery *recovery)
{
    const struct flow_image *image = search->image;
    uint32_t owner = owner_of(image, edges), entry = image->functions.items[owner].first_block;
    if (image->functions.items[owner].block_count == 0 || !is_understood(image, owner))
        return NULL;
    TRY(keep_dominated(search, edges, count, &count));
    if (count == 0)
        return NULL;
    const struct edges without = {edges, count};
    TRY(reach(search, entry, MARK_NORMAL));
    TRY(spread(search, 0, MARK_NORMAL, &without));
    size_t from = search->list.count;
    TRY(reach(search, entry, MARK_ANY));
    TRY(spread(search, from, MARK_ANY, NULL));
    for (size_t i = from; i < search->list.count; i++)
        if ((search->marks[search->list.items[i]] & MARK_NORMAL) == 0)
            TRY(add_block(image, search->list.items[i], recovery));
    forget(search);
    return NULL;
}

static int compare_blocks(const void *left, const void *right)
{
    const struct recovery_block *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

struct owned {
    uint32_t owner;
    struct site_edge edge;
};

static int compare_owned(const void *left, const void *right)
{
    const struct owned *a = left, *b = right;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return compare_edges(&a->edge, &b->edge);
}

struct error *recovery_find(const struct flow_image *image, const struct sites *sites,
                            struct recovery *ret_recovery)
{
    _cleanup_(search_deinit) struct block_search search = {0};
    _cleanup_(recovery_deinit) struct recovery recovery = {0};
    size_t count = sites->failing.count;
    _cleanup_free_ struct owned *owned = calloc(count + 1, sizeof *owned);
    _cleanup_free_ struct site_edge *edges = calloc(count + 1, sizeof *edges);
    if (owned == NULL || edges == NULL)
        return error_no_memory();
    TRY(search_init(&search, image));
    for (size_t i = 0; i < count; i++)
        owned[i] =
            (struct owned){owner_of(image, &sites->failing.items[i]), sites->failing.items[i]};
    qsort(owned, count, sizeof *owned, compare_owned);
    for (size_t i = 0; i < count; i++)
        edges[i] = owned[i].edge;
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && owned[end].owner == owned[start].owner;)
            end++;
        TRY(look_at(&search, edges + start, end - start, &recovery));
    }
    if (recovery.blocks.count != 0)
        qsort(recovery.blocks.items, recovery.blocks.count, sizeof *recovery.blocks.items,
              compare_blocks);
    *ret_recovery = recovery;
    recovery = (struct recovery){0};
    return NULL;
}
