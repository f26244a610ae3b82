// SPDX-License-Identifier: GPL-3.0-or-later
// A treap: it needs no rotation code for removals, and a trace cannot choose its shape.
#include "interface/intervals.h"

#include "base/cleanup.h"

void intervals_deinit(struct intervals *intervals)
{
    ARRAY_DEINIT(&intervals->nodes);
    *intervals = (struct intervals){0};
}

static struct interval *node(const struct intervals *intervals, uint32_t number)
{
    return &intervals->nodes.items[number];
}

static struct error *take_node(struct intervals *intervals, uint32_t *ret_number)
{
    if (intervals->nodes.count == 0 && ARRAY_ADD(&intervals->nodes) == NULL)
        return error_no_memory();
    if (intervals->unused == 0) {
        if (ARRAY_ADD(&intervals->nodes) == NULL)
            return error_no_memory();
        *ret_number = (uint32_t)(intervals->nodes.count - 1);
    } else {
        *ret_number = intervals->unused;
        intervals->unused = node(intervals, *ret_number)->left;
    }
    return NULL;
}

// All intervals that start below `at` go to the left tree.
static void split(struct intervals *intervals, uint32_t tree, uint64_t at, uint32_t *ret_left,
                  uint32_t *ret_right)
{
    uint32_t *left = ret_left, *right = ret_right;
    while (tree != 0) {
        struct interval *top = node(intervals, tree);
        if (top->start < at) {
            *left = tree;
            left = &top->right;
            tree = top->right;
        } else {
            *right = tree;
            right = &top->left;
            tree = top->left;
        }
    }
    *left = *right = 0;
}

static uint32_t join(struct intervals *intervals, uint32_t left, uint32_t right)
{
    uint32_t root = 0, *place = &root;
    while (left != 0 && right != 0) {
        if (node(intervals, left)->weight > node(intervals, right)->weight) {
            *place = left;
            place = &node(intervals, left)->right;
            left = *place;
        } else {
            *place = right;
            place = &node(intervals, right)->left;
            right = *place;
        }
    }
    *place = left != 0 ? left : right;
    return root;
}

static uint32_t next_random(struct intervals *intervals)
{
    uint32_t random = intervals->random != 0 ? intervals->random : 2463534242u;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return intervals->random = random;
}

static struct error *insert(struct intervals *intervals, uint64_t start, uint64_t end,
                            uint32_t area)
{
    uint32_t number = 0, left, right;
    TRY(take_node(intervals, &number));
    split(intervals, intervals->root, start, &left, &right);
    *node(intervals, number) = (struct interval){
        .start = start, .end = end, .area = area, .weight = next_random(intervals)};
    intervals->root = join(intervals, join(intervals, left, number), right);
    return NULL;
}

static void remove_tree(struct intervals *intervals, uint32_t tree)
{
    while (tree != 0) {
        struct interval *top = node(intervals, tree);
        // The left subtree goes first: it is hung below the rightmost path, which frees all in
        // constant memory.
        if (top->left != 0) {
            uint32_t rest = tree, first = top->left;
            top->left = 0;
            uint32_t end = first;
            while (node(intervals, end)->right != 0)
                end = node(intervals, end)->right;
            node(intervals, end)->right = rest;
            tree = first;
            continue;
        }
        uint32_t next = top->right;
        *top = (struct interval){.left = intervals->unused};
        intervals->unused = tree;
        tree = next;
    }
}

struct error *intervals_cut(struct intervals *intervals, uint64_t start, uint64_t end)
{
    uint32_t left, middle, right;
    if (start >= end || intervals->root == 0)
        return NULL;
    intervals->last = 0;
    split(intervals, intervals->root, start, &left, &middle);
    split(intervals, middle, end, &middle, &right);
    // What begins before `start` may reach into it, and so may the last one of the middle beyond
    // `end`.
    struct interval before = {0}, after = {0};
    uint32_t last = left;
    while (last != 0 && node(intervals, last)->right != 0)
        last = node(intervals, last)->right;
    if (last != 0 && node(intervals, last)->end > start) {
        before = *node(intervals, last);
        node(intervals, last)->end = start;
    }
    for (last = middle; last != 0 && node(intervals, last)->right != 0;)
        last = node(intervals, last)->right;
    if (last != 0)
        after = *node(intervals, last);
    remove_tree(intervals, middle);
    intervals->root = join(intervals, left, right);
    if (before.end > end)
        TRY(insert(intervals, end, before.end, before.area));
    if (after.end > end)
        TRY(insert(intervals, end, after.end, after.area));
    return NULL;
}

struct error *intervals_put(struct intervals *intervals, uint64_t start, uint64_t end,
                            uint32_t area)
{
    if (start >= end)
        return NULL;
    TRY(intervals_cut(intervals, start, end));
    return insert(intervals, start, end, area);
}

const struct interval *intervals_find(struct intervals *intervals, uint64_t address)
{
    if (intervals->last != 0) {
        const struct interval *last = node(intervals, intervals->last);
        if (address >= last->start && address < last->end)
            return last;
    }
    uint32_t at = intervals->root;
    while (at != 0) {
        const struct interval *interval = node(intervals, at);
        if (address < interval->start) {
            at = interval->left;
        } else if (address >= interval->end) {
            at = interval->right;
        } else {
            intervals->last = at;
            return interval;
        }
    }
    return NULL;
}

const struct interval *intervals_above(const struct intervals *intervals, uint64_t address)
{
    const struct interval *found = NULL;
    uint32_t at = intervals->root;
    while (at != 0) {
        const struct interval *interval = node(intervals, at);
        if (address < interval->end) {
            found = interval;
            at = interval->left;
        } else {
            at = interval->right;
        }
    }
    return found;
}
