// SPDX-License-Identifier: GPL-3.0-or-later
// E. W. Myers, An O(ND) Difference Algorithm and Its Variations, 1986, with the linear refinement:
// the middle of a shortest edit script is found from both ends, then each half likewise. Halves
// wait in an array, so that a trace cannot use up the stack.
#include "interface/sequence.h"

#include "base/array.h"
#include "base/cleanup.h"

struct box {
    size_t a, a_end, b, b_end;
};
struct search {
    struct sequence *a, *b;
    // By diagonal: the furthest place in `a` that is reached from the beginning and from the end.
    int64_t *forward, *backward;
    uint64_t effort;
    bool exact;
    ARRAY(struct box) boxes;
};

static void trim(struct search *search, struct box *box)
{
    const uint64_t *a = search->a->words, *b = search->b->words;
    while (box->a < box->a_end && box->b < box->b_end && a[box->a] == b[box->b]) {
        search->a->is_common[box->a++] = true;
        search->b->is_common[box->b++] = true;
    }
    while (box->a < box->a_end && box->b < box->b_end && a[box->a_end - 1] == b[box->b_end - 1]) {
        search->a->is_common[--box->a_end] = true;
        search->b->is_common[--box->b_end] = true;
    }
}

struct middle {
    size_t a, b;
};

// One more edit from the beginning. True if the two searches meet.
static bool step_forward(struct search *search, const struct box *box, int64_t d, int64_t base,
                         struct middle *ret_middle)
{
    const uint64_t *a = search->a->words + box->a, *b = search->b->words + box->b;
    int64_t n = (int64_t)(box->a_end - box->a), m = (int64_t)(box->b_end - box->b), delta = n - m;
    int64_t *far = search->forward + base;
    for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = k == -d || (k != d && far[k - 1] < far[k + 1]) ? far[k + 1] : far[k - 1] + 1;
        int64_t y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && a[x] == b[y]) {
            x++;
            y++;
        }
        far[k] = x;
        int64_t c = delta - k; // the diagonal as the other search counts
        if (delta % 2 != 0 && c >= 1 - d && c <= d - 1 && x >= 0 && y >= 0 && x <= n && y <= m &&
            x + search->backward[base + c] >= n) {
            *ret_middle = (struct middle){box->a + (size_t)x, box->b + (size_t)y};
            return true;
        }
    }
    return false;
}

static bool step_backward(struct search *search, const struct box *box, int64_t d, int64_t base,
                          struct middle *ret_middle)
{
    const uint64_t *a = search->a->words + box->a, *b = search->b->words + box->b;
    int64_t n = (int64_t)(box->a_end - box->a), m = (int64_t)(box->b_end - box->b), delta = n - m;
    int64_t *far = search->backward + base;
    for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = k == -d || (k != d && far[k - 1] < far[k + 1]) ? far[k + 1] : far[k - 1] + 1;
        int64_t y = x - k;
        while (x < n && y < m && x >= 0 && y >= 0 && a[n - x - 1] == b[m - y - 1]) {
            x++;
            y++;
        }
        far[k] = x;
        int64_t c = delta - k;
        if (delta % 2 == 0 && c >= -d && c <= d && x >= 0 && y >= 0 && x <= n && y <= m &&
            x + search->forward[base + c] >= n) {
            *ret_middle = (struct middle){box->a + (size_t)(n - x), box->b + (size_t)(m - y)};
            return true;
        }
    }
    return false;
}

static bool find_middle(struct search *search, const struct box *box, struct middle *ret_middle)
{
    int64_t most = (int64_t)(box->a_end - box->a + box->b_end - box->b), base = most + 1;
    search->forward[base + 1] = search->backward[base + 1] = 0;
    for (int64_t d = 0; d <= most; d++) {
        if (search->effort < 2 * (uint64_t)d + 2)
            return false;
        search->effort -= 2 * (uint64_t)d + 2;
        if (step_forward(search, box, d, base, ret_middle) ||
            step_backward(search, box, d, base, ret_middle))
            return true;
    }
    return false;
}

static struct error *push(struct search *search, size_t a, size_t a_end, size_t b, size_t b_end)
{
    struct box *box = ARRAY_ADD(&search->boxes);
    if (box == NULL)
        return error_no_memory();
    *box = (struct box){a, a_end, b, b_end};
    return NULL;
}

static struct error *run(struct search *search)
{
    TRY(push(search, 0, search->a->count, 0, search->b->count));
    while (search->boxes.count > 0) {
        struct box box = search->boxes.items[--search->boxes.count];
        struct middle middle;
        trim(search, &box);
        if (box.a == box.a_end || box.b == box.b_end)
            continue;
        if (!find_middle(search, &box, &middle)) {
            search->exact = false;
            continue;
        }
        bool is_corner = (middle.a == box.a && middle.b == box.b) ||
                         (middle.a == box.a_end && middle.b == box.b_end);
        if (is_corner) // nothing in common: both are trimmed
            continue;
        TRY(push(search, box.a, middle.a, box.b, middle.b));
        TRY(push(search, middle.a, box.a_end, middle.b, box.b_end));
    }
    return NULL;
}

struct error *sequence_compare(struct sequence *a, struct sequence *b, uint64_t effort,
                               bool *ret_exact)
{
    size_t room = 2 * (a->count + b->count) + 5;
    struct search search = {.a = a, .b = b, .effort = effort, .exact = true};
    search.forward = calloc(room, sizeof *search.forward);
    search.backward = calloc(room, sizeof *search.backward);
    struct error *error =
        search.forward == NULL || search.backward == NULL ? error_no_memory() : run(&search);
    free(search.forward);
    free(search.backward);
    ARRAY_DEINIT(&search.boxes);
    if (error == NULL)
        *ret_exact = search.exact;
    return error;
}
