// SPDX-License-Identifier: GPL-3.0-or-later
// See search.h: a story from its end to where everything is known.
#include "profile/search.h"

#include "base/cleanup.h"
#include "profile/search-internal.h"

#include <string.h>

#define WATCH_STACK         (1u << 31)
#define MOST_STORIES(facts) (2000 + 8 * (uint64_t)(facts))
#define PRECISE(facts)      (500 + (uint64_t)(facts)) // of them, before conditions are ignored
#define SETTER              48                        // instructions

static void search_deinit(struct search *search)
{
    ARRAY_DEINIT(&search->work);
    map_deinit(&search->seen);
}

static bool is_over(const struct search *search, const struct story *story)
{
    if (story->result.state != TRACKED_VALUE)
        return false;
    if (story->result.value.kind == VALUE_OTHER || story->result.value.kind == VALUE_WORKED)
        return !search->setter;
    bool error_known = !search->errors || story->error.state == TRACKED_VALUE;
    bool possible = story->known_count == 0 || story->blocks > CONDITION_BLOCKS;
    bool settled = story_came_after(story) || story->blocks > CONDITION_BLOCKS || search->coarse ||
                   story->result.value.kind != VALUE_CONSTANT || story->result.value.number < 0;
    return error_known && possible && settled && story->stored.state == TRACKED_NOTHING &&
           !story_is_near(story);
}

// Registers the story asks about; all of them if it asks about the stack.
static uint32_t watched(const struct story *story)
{
    uint32_t mask = 0;
    const struct tracked *tracked[] = {&story->result, &story->error, &story->stored};
    for (unsigned i = 0; i < 3; i++)
        if (tracked[i]->state == TRACKED_PLACE)
            mask |=
                tracked[i]->place.kind == PLACE_STACK ? WATCH_STACK : 1u << tracked[i]->place.reg;
    for (unsigned i = 0; i < story->known_count; i++)
        mask |= story->known[i].place.kind == PLACE_STACK ? WATCH_STACK
                                                          : 1u << story->known[i].place.reg;
    return mask;
}

// Most instructions concern nothing that is asked about.
static bool concerns(const struct story *story, const struct isa_fact *fact, uint32_t at,
                     uint32_t mask)
{
    switch (fact->kind) {
    case ISA_CALL:
    case ISA_CALL_INDIRECT:
    case ISA_SYSCALL:
    case ISA_STORE:
    case ISA_STORE_CONSTANT:
        return true;
    case ISA_PUSH:
    case ISA_SET:
        if ((mask & WATCH_STACK) != 0)
            return true;
        break;
    default:
        break;
    }
    if ((fact->writes & mask) != 0)
        return true;
    for (unsigned i = 0; i < story->pending_count; i++)
        if (story->pending[i].fact == at)
            return true;
    return false;
}

// A place at the function's beginning: an argument, or nobody knows what.
static void set_argument(struct search *search, struct tracked *tracked)
{
    if (tracked->state != TRACKED_PLACE)
        return;
    int argument = place_argument(tracked->place);
    tracked_set(search, tracked,
                argument < 0 ? (struct value){.kind = VALUE_OTHER}
                             : (struct value){.kind = VALUE_ARGUMENT, .number = argument});
}

static bool comes_back(const struct flow_image *image, uint32_t number)
{
    const struct flow_block *block = &image->blocks.items[number];
    return block->end != FLOW_CALLS || flow_callee_returns(image, block->callee);
}

// From the end of a block before on; *ret_fresh: nobody was there in this state.
static struct error *enter_before(struct search *search, struct story *story, struct flow_edge edge,
                                  bool *ret_fresh)
{
    const struct flow_image *image = search->image;
    const struct flow_block *before = &image->blocks.items[edge.block];
    story->block = edge.block;
    story->at = before->first + before->count;
    story->pending_count = 0;
    // Calls in a row, such as those that say what went wrong, do not make the way longer.
    if (story->result.state == TRACKED_VALUE && story->blocks <= CONDITION_BLOCKS &&
        (before->end != FLOW_CALLS || story_is_near(story)))
        story->blocks++;
    const struct isa_fact *last = &image->facts.items[story->at - 1];
    // The conditions nearest to the end tell ways apart; those further back only multiply them.
    bool tells = !search->coarse &&
                 (story->result.state == TRACKED_PLACE || story->blocks <= CONDITION_BLOCKS);
    if (search->coarse)
        story_simplify(story);
    if (tells && last->kind == ISA_BRANCH && edge.way != FLOW_TABLE &&
        last->condition < ISA_IF_UNKNOWN)
        search_add_pending(search, story, story->at - 1,
                           edge.way == FLOW_TAKEN ? last->condition : last->condition ^ 1u);
    // Who can only have come from here was never here before; loops have a way out, where it is
    // asked. Behind calls the same state comes up several times.
    *ret_fresh = true;
    return before->out_count == 1 && before->end != FLOW_CALLS
               ? NULL
               : search_is_new(search, story, ret_fresh);
}

// *ret_goes_on: the story itself goes on along the last way, as if it had been put aside and taken
// up again. Stories are large, and most blocks are come to on one way only.
static struct error *go_before(struct search *search, struct story *story, bool *ret_goes_on)
{
    *ret_goes_on = false;
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[story->block];
    if (story->block == image->functions.items[search->function].first_block) {
        struct story over;
        story_copy(&over, story);
        over.at_entry = true;
        set_argument(search, &over.result);
        set_argument(search, &over.error);
        set_argument(search, &over.stored);
        story_settle_stored(&over);
        TRY(search_tell(search, &over));
    } else if (block->in_count == 0) {
        if (story->result.state == TRACKED_VALUE)
            TRY(search_tell(search, story));
    }
    const struct flow_edge *edges = &image->edges.items[block->edges_in];
    uint32_t count = block->in_count;
    while (count != 0 && !comes_back(image, edges[count - 1].block))
        count--;
    for (uint32_t i = 0; i + 1 < count; i++) {
        bool fresh;
        if (!comes_back(image, edges[i].block))
            continue;
        struct story next;
        story_copy(&next, story);
        TRY(enter_before(search, &next, edges[i], &fresh));
        if (fresh)
            TRY(search_push(search, &next));
    }
    return count != 0 ? enter_before(search, story, edges[count - 1], ret_goes_on) : NULL;
}

// Through one block; *ret_goes_on as go_before().
static struct error *follow(struct search *search, struct story *story, bool *ret_goes_on)
{
    *ret_goes_on = false;
    const struct flow_block *block = &search->image->blocks.items[story->block];
    uint32_t mask = watched(story);
    while (story->at > block->first) {
        bool ended;
        story->at--;
        if (!concerns(story, &search->image->facts.items[story->at], story->at, mask))
            continue;
        TRY(search_step(search, story, story->at, &ended));
        if (ended)
            return NULL;
        mask = watched(story);
        if (is_over(search, story))
            return search_tell(search, story);
    }
    if (is_over(search, story))
        return search_tell(search, story);
    return go_before(search, story, ret_goes_on);
}

static struct error *start_at_end(struct search *search, uint32_t number)
{
    const struct flow_block *block = &search->image->blocks.items[number];
    struct story story = {.block = number,
                          .at = block->first + block->count,
                          .result = {.state = TRACKED_PLACE, .place = place_register(ISA_RETURN)},
                          .result_block = FLOW_NONE};
    if (block->end == FLOW_RETURNS)
        return search_push(search, &story);
    if (block->end == FLOW_UNKNOWN)
        return search_tell(search, &story);
    // A tail call: the callee's results are this function's.
    const struct summary *callee = search->world->callee(search->world->data, block->callee);
    if (callee != NULL && callee->open)
        return NULL;
    if (callee == NULL || callee->ways.count == 0)
        return search_tell(search, &story);
    for (size_t i = 0; i < callee->ways.count; i++)
        TRY(search_go_through(search, &story, &callee->ways.items[i], story.at - 1));
    return NULL;
}

// Whether a range of the function or anything it calls directly may set errno.
static bool range_may_set_error(const struct search *search, const struct flow_function *range)
{
    const struct flow_image *image = search->image;
    for (uint32_t i = 0; i < range->block_count; i++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + i];
        for (uint32_t f = block->first; f < block->first + block->count; f++) {
            const struct isa_fact *fact = &image->facts.items[f];
            if (search_is_store(fact) && (fact->flags & ISA_THREAD) != 0)
                return true;
        }
        if (block->callee == FLOW_NONE)
            continue;
        if (flow_callee_is_import(block->callee) &&
            strcmp(image->imports.items[flow_callee_import(block->callee)].name,
                   "__errno_location") == 0)
            return true;
        const struct summary *callee = search->world->callee(search->world->data, block->callee);
        for (size_t w = 0; callee != NULL && w < callee->ways.count; w++)
            if (callee->ways.items[w].sets_error)
                return true;
    }
    return false;
}

static struct error *start_range(struct search *search, const struct flow_function *range)
{
    for (uint32_t b = 0; b < range->block_count; b++) {
        uint8_t end = search->image->blocks.items[range->first_block + b].end;
        if (end == FLOW_RETURNS || end == FLOW_TAIL || end == FLOW_UNKNOWN)
            TRY(start_at_end(search, range->first_block + b));
    }
    return NULL;
}

struct error *search_function(const struct flow_image *image, uint32_t function,
                              const struct search_world *world, struct summary *summary)
{
    _cleanup_(search_deinit) struct search search = {
        .image = image, .world = world, .function = function, .summary = summary};
    const struct flow_function *functions = image->functions.items;
    uint64_t precise = 0;
    for (uint32_t f = function; f != FLOW_NONE; f = functions[f].next_part) {
        search.budget += MOST_STORIES(functions[f].fact_count);
        precise += PRECISE(functions[f].fact_count);
        search.errors =
            !world->results_only && (search.errors || range_may_set_error(&search, &functions[f]));
    }
    search.setter = functions[function].fact_count <= SETTER &&
                    functions[function].next_part == FLOW_NONE && !world->results_only;
    for (uint32_t f = function; f != FLOW_NONE; f = functions[f].next_part)
        TRY(start_range(&search, &functions[f]));
    struct story story;
    bool goes_on = false;
    while (goes_on || search.work.count != 0) {
        search.coarse = precise == 0;
        precise -= precise != 0;
        if (search.budget-- == 0) {
            summary->cut = true;
            break;
        }
        if (!goes_on)
            story_copy(&story, &search.work.items[--search.work.count]);
        TRY(follow(&search, &story, &goes_on));
    }
    return NULL;
}
