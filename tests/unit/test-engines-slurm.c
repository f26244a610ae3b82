// SPDX-License-Identifier: GPL-3.0-or-later
// The books about jobs on a cluster: every job comes back once, whatever is lost and however often
// results come. Files are read back as they were written.
#include "engine/slot-message.h"
#include "engines/slurm/book.h"
#include "engines/slurm/format.h"
#include "engines/slurm/node-facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static void offer(struct book *book, uint64_t first, size_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        const struct engine_job job = {.spec = "spec", .seed = i * 3, .number = i, .tag = i + 100};
        ok(book_offer(book, &job, 1));
    }
}

static struct piece *cut(struct book *book, size_t size)
{
    struct piece *piece;
    ok(book_cut(book, size, &piece));
    if (piece != NULL)
        piece->submitted = true;
    return piece;
}

// A file with results of jobs from `first` to `last` of a piece.
static void answer(struct book *book, uint64_t piece, uint64_t first, uint64_t last)
{
    struct done done = {.piece = piece};
    for (uint64_t tag = first; tag <= last; tag++) {
        struct engine_result *result = ARRAY_ADD(&done.results);
        *result = (struct engine_result){.job.tag = tag, .judgement.verdict = VERDICT_PASS};
        result->judgement.reason = strdup("fine");
    }
    ok(book_take(book, &done, "file"));
    done_deinit(&done);
}

// Takes results until there are none, and marks which jobs came back. Returns how many.
static size_t collect(struct book *book, unsigned *times)
{
    struct engine_result result;
    size_t count = 0;
    for (; book_next(book, &result); count++) {
        times[result.job.tag - 100]++;
        engine_result_deinit(&result);
    }
    return count;
}

static void test_once(void **state)
{
    struct book book = {0};
    unsigned times[12] = {0};
    offer(&book, 1, 10);
    struct piece *first = cut(&book, 4), *second = cut(&book, 100);
    assert_int_equal(first->jobs.count, 4);
    assert_int_equal(second->jobs.count, 6);
    assert_null(cut(&book, 1));
    answer(&book, first->id, 0, 1);
    answer(&book, first->id, 0, 2); // a task that was requeued
    answer(&book, first->id, 7, 9); // no such jobs
    answer(&book, 99, 0, 0);        // no such piece
    assert_int_equal(collect(&book, times), 3);
    assert_null(book_remove_done(&book));
    ok(book_lose(&book, first, "died"));
    answer(&book, first->id, 3, 3); // it was only out of reach; the job is another piece's now
    assert_int_equal(collect(&book, times), 0);
    piece_free(book_remove_done(&book));
    answer(&book, second->id, 0, 5);
    struct piece *again = cut(&book, 100);
    assert_int_equal(again->jobs.count, 1);
    answer(&book, again->id, 0, 0);
    assert_int_equal(collect(&book, times), 7);
    for (size_t i = 1; i <= 10; i++)
        assert_int_equal(times[i], 1);
    assert_int_equal(book.open, 0);
    for (int i = 0; i < 2; i++) {
        struct piece *over = book_remove_done(&book);
        assert_non_null(over);
        piece_free(over);
    }
    assert_null(book_remove_done(&book));
    book_deinit(&book);
}

// A job over which task after task dies is alone in its piece, and given up in the end.
static void test_culprit(void **state)
{
    struct book book = {0};
    unsigned times[12] = {0};
    offer(&book, 1, 5);
    struct piece *piece = cut(&book, 5);
    answer(&book, piece->id, 0, 1);
    for (int i = 0; i < BOOK_LOSSES_MOST; i++) {
        assert_int_equal(piece->jobs.items[i == 0 ? 2 : 0].job.job.number, 3);
        ok(book_lose(&book, piece, "died"));
        piece = cut(&book, 5);
        if (i + 1 < BOOK_LOSSES_MOST)
            assert_int_equal(piece->jobs.count, 1);
    }
    assert_int_equal(piece->jobs.count, 2);
    assert_int_equal(collect(&book, times), 3);
    assert_int_equal(times[3], 1);
    answer(&book, piece->id, 0, 1);
    assert_int_equal(collect(&book, times), 2);
    book_deinit(&book);
}

// A controller that comes back: what it offers is found in old pieces, with or without results.
static void test_adopted(void **state)
{
    struct book old = {0}, book = {0};
    unsigned times[12] = {0};
    offer(&old, 1, 4);
    struct piece *piece = cut(&old, 4);
    struct work work = {.piece = piece->id}, read = {0};
    struct buffer bytes = {0};
    for (size_t i = 0; i < piece->jobs.count; i++)
        *ARRAY_ADD(&work.jobs) = (struct work_job){.job = piece->jobs.items[i].job.job};
    ok(work_put(&bytes, &work));
    ok(work_get(&bytes, &read));
    assert_int_equal(read.jobs.count, 4);
    ok(book_adopt(&book, &read));
    work_deinit(&read);
    answer(&book, piece->id, 0, 1); // it came while nobody was there
    offer(&book, 2, 4);             // number 1 is in the store
    assert_int_equal(collect(&book, times), 1);
    assert_int_equal(times[2], 1);
    assert_int_equal(book_waiting(&book), 1); // number 5
    answer(&book, piece->id, 2, 2);
    ok(book_lose(&book, book_find(&book, piece->id), "died"));
    assert_int_equal(collect(&book, times), 1);
    struct piece *next = cut(&book, 9);
    assert_true(next->id > piece->id);
    assert_int_equal(next->jobs.items[0].job.job.number, 4);
    ARRAY_DEINIT(&work.jobs);
    // Damage is told, not used.
    for (size_t size = 0; size < bytes.size; size++) {
        struct buffer part = {.data = bytes.data, .size = size};
        struct error *error = work_get(&part, &read);
        assert_non_null(error);
        error_free(error);
    }
    buffer_deinit(&bytes);
    book_deinit(&old);
    book_deinit(&book);
}

// Lots stay whole, confirmations are never withdrawn.
static void test_withdrawn(void **state)
{
    struct book book = {0};
    const struct engine_job lot[] = {{.spec = "a", .number = 1, .tag = 100},
                                     {.spec = "b", .number = 2, .tag = 101},
                                     {.spec = "c", .number = 3, .tag = 102}};
    const struct engine_job confirmation = {.spec = "d", .tag = 103};
    struct engine_result result;
    ok(book_offer(&book, lot, 3));
    assert_int_equal(cut(&book, 1)->jobs.count, 3);
    ok(book_offer(&book, lot, 1));
    ok(book_offer(&book, &confirmation, 1));
    ok(book_withdraw(&book));
    assert_true(book_next(&book, &result));
    assert_int_equal(result.way, WAY_NOT_RUN);
    assert_int_equal(result.job.tag, 100);
    assert_false(book_next(&book, &result));
    assert_int_equal(book_waiting(&book), 1);
    ok(book_lose(&book, book.pieces.items[0], NULL));
    for (int i = 0; i < 3; i++) {
        assert_true(book_next(&book, &result));
        assert_int_equal(result.way, WAY_NOT_RUN);
    }
    assert_int_equal(book.open, 1);
    book_deinit(&book);
}

static void test_facts(void **state)
{
    struct node_facts ours = {0}, theirs = {0};
    struct buffer text = {0};
    char *why;
    ok(node_facts_add(&ours, FACT_KERNEL, "", "6.1"));
    ok(node_facts_add(&ours, FACT_LIBRARY, "/lib/x.so", "12"));
    ok(node_facts_add(&ours, FACT_REFERENCES, "", "same"));
    ok(node_facts_put(&text, &ours));
    ok(node_facts_get(&text, &theirs));
    ok(node_facts_compare(&ours, &theirs, &why));
    assert_null(why);
    theirs.items.items[0].value[0] = '7';
    ok(node_facts_compare(&ours, &theirs, &why));
    assert_null(why); // kernels may differ
    theirs.items.items[1].value[0] = '7';
    ok(node_facts_compare(&ours, &theirs, &why));
    assert_string_equal(why, "library /lib/x.so differs");
    free(why);
    theirs.items.items[1].name[1] = 'L';
    ok(node_facts_compare(&ours, &theirs, &why));
    assert_string_equal(why, "library /lib/x.so is missing");
    free(why);
    node_facts_deinit(&ours);
    node_facts_deinit(&theirs);
    buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),    cmocka_unit_test(test_culprit),
        cmocka_unit_test(test_adopted), cmocka_unit_test(test_withdrawn),
        cmocka_unit_test(test_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
