// SPDX-License-Identifier: GPL-3.0-or-later
// Ordinary ends, answers, structures and floating-point numbers are no failures of compiled
// functions; and which failures fill in out-parameters all the same.
#include "profile/batch.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile-help.h"

static const char source[] =
    "#include <errno.h>\n"
    "#include <pthread.h>\n"
    "#include <stdint.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <sys/socket.h>\n"
    "#include <sys/stat.h>\n"
    "#include <time.h>\n"
    "#include <unistd.h>\n"
    "struct item { struct item *next, *owner; int key; char text[8]; };\n"
    "struct queue { struct item *first, *last; int count, state; int *numbers; uint64_t now, due; "
    "};\n"
    "void set_error(const char *text);\n"
    "__attribute__((noinline)) static void drop(struct queue *queue, struct item *item)\n"
    "{\n"
    "    queue->first = item->next;\n"
    "    queue->count--;\n"
    "}\n"
    "struct item *take(struct queue *queue, int *left)\n" // NULL says that nothing is left
    "{\n"
    "    *left = 0;\n"
    "    if (queue == NULL || queue->state != 7 || queue->count == 0) return NULL;\n"
    "    struct item *item = queue->first;\n"
    "    drop(queue, item); *left = queue->count;\n"
    "    return item->owner;\n"
    "}\n"
    "int use_take(struct queue *queue) { int left; struct item *item = take(queue, &left); return "
    "item->key; }\n"
    "struct item *find(struct queue *queue, int key)\n" // NULL says that it was not found
    "{\n"
    "    for (struct item *item = queue->first; item != NULL; item = item->next)\n"
    "        if (item->key == key) { queue->last = item; return item->owner; }\n"
    "    return NULL;\n"
    "}\n"
    "int use_find(struct queue *queue) { return find(queue, 3)->key; }\n"
    "struct item *put_new(struct queue *queue)\n" // NULL is
    "{\n"
    "    struct item *item = malloc(sizeof *item);\n"
    "    if (item == NULL) return NULL;\n"
    "    queue->last = item; queue->count++;\n"
    "    return item;\n"
    "}\n"
    "int use_new(struct queue *queue) { return put_new(queue)->key; }\n"
    "int scan_next(struct queue *queue, int *number)\n" // the end
    "{\n"
    "    if (queue->count == queue->state) return -4095;\n"
    "    *number = queue->numbers[queue->count++]; return 0;\n"
    "}\n"
    "int scan(struct queue *queue, int *number)\n" // who knows
    "{\n"
    "    if (queue->count == queue->state) return -4095;\n"
    "    *number = queue->numbers[queue->count++]; return 0;\n"
    "}\n"
    "__attribute__((noinline)) static int receive(struct queue *queue)\n"
    "{\n"
    "    for (;;) {\n"
    "        if (queue->count < 5) return 0;\n"
    "        if (queue->numbers[0] < 4) { set_error(\"length\"); queue->state = 9; return -2; }\n"
    "        switch (queue->state) {\n"
    "        case 'A': queue->count--; continue;\n"
    "        case 'd': return queue->numbers[1];\n"
    "        case 'c': queue->state = 0; return -1;\n"
    "        default: return -1;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "int more(struct queue *queue);\n"
    "int get_copy(struct queue *queue, char **text, int async)\n" // -2 is, -1 is the end
    "{\n"
    "    *text = NULL;\n"
    "    if (queue == NULL) return -2;\n"
    "    for (;;) {\n"
    "        int length = receive(queue);\n"
    "        if (length < 0) return length;\n"
    "        if (length == 0) {\n"
    "            if (async) return 0;\n"
    "            if (more(queue) < 0) return -2;\n"
    "            continue;\n"
    "        }\n"
    "        length -= 4;\n"
    "        if (length > 0) {\n"
    "            *text = malloc(length + 1);\n"
    "            if (*text == NULL) { set_error(\"memory\"); return -2; }\n"
    "            memcpy(*text, queue->numbers, length); queue->count = length;\n"
    "            return length;\n"
    "        }\n"
    "        queue->count = 0;\n"
    "    }\n"
    "}\n"
    "uint64_t checksum(uint64_t sum, const unsigned char *data, size_t size)\n" // 0 to begin with
    "{\n"
    "    if (data == NULL) return 0;\n"
    "    for (size_t i = 0; i < size; i++) sum = sum * 31 + data[i];\n"
    "    return sum;\n"
    "}\n"
    "int guess(int file)\n" // 0 at most
    "{\n"
    "    struct stat status;\n"
    "    if (fstat(file, &status) != 0) return 0;\n"
    "    if (S_ISREG(status.st_mode)) return 17;\n"
    "    if (S_ISFIFO(status.st_mode)) return 7;\n"
    "    return S_ISSOCK(status.st_mode) ? 12 : 15;\n"
    "}\n"
    "int queue_type(struct queue *queue)\n" // kinds
    "{\n"
    "    if (queue->state == 3) return 0;\n"
    "    if (queue->first == NULL) return 9;\n"
    "    return queue->count > 4 ? 14 : 300;\n"
    "}\n"
    "struct pair { uint64_t kind; struct item *item; };\n"
    "__attribute__((noinline)) struct pair look(struct queue *queue)\n" // a structure
    "{\n"
    "    if (queue->first == NULL) return (struct pair){0, NULL};\n"
    "    set_error(\"x\");\n"
    "    return (struct pair){queue->first->key, queue->first};\n"
    "}\n"
    "char *look_text(struct queue *queue) { struct pair pair = look(queue); return "
    "pair.item->text; }\n"
    "struct pair look_again(struct queue *queue) { queue->count++; return look(queue); }\n"
    "long parallelism(void) { long count = sysconf(_SC_NPROCESSORS_ONLN); return count < 1 ? 1 : "
    "count; }\n"
    "int wait_all(pthread_barrier_t *barrier)\n" // 1 for one of them
    "{\n"
    "    int result = pthread_barrier_wait(barrier);\n"
    "    if (result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD) abort();\n"
    "    return result == PTHREAD_BARRIER_SERIAL_THREAD;\n"
    "}\n"
    "time_t now(void) { return time(NULL); }\n"
    "uint64_t due_in(struct queue *queue) { return queue->now >= queue->due ? 0 : queue->due - "
    "queue->now; }\n"
    "int run(struct queue *queue)\n" // whether there is more
    "{\n"
    "    while (queue->count > 3) { set_error(\"y\"); queue->count--; }\n"
    "    return queue->first != NULL;\n"
    "}\n"
    "#define CODES(n) int code_##n(struct queue *queue, int a) { if (a == n) return -22; if "
    "(queue->count > n) return -17; queue->state = a; return 0; }\n"
    "CODES(1) CODES(2) CODES(3) CODES(4) CODES(5) CODES(6) CODES(7) CODES(8) CODES(9)\n"
    "int open_queue(const char *name, struct queue **out, int flags)\n" // what it has, also if it
                                                                        // failed
    "{\n"
    "    if (flags == 0) return 21;\n"
    "    struct queue *queue = malloc(sizeof *queue);\n"
    "    int result = 0;\n"
    "    if (queue == NULL) result = 7;\n"
    "    else { queue->state = 1; queue->first = NULL; if (access(name, 0) != 0) result = 14; }\n"
    "    *out = queue;\n"
    "    return result;\n"
    "}\n"
    "int open_strict(const char *name, struct queue **out)\n" // nothing if it failed
    "{\n"
    "    struct queue *queue = malloc(sizeof *queue);\n"
    "    if (queue == NULL) return 7;\n"
    "    if (access(name, 0) != 0) { free(queue); return 14; }\n"
    "    queue->state = 1; *out = queue; return 0;\n"
    "}\n"
    // as gcc makes nextup(): bits are put together again, or the number stays as it is
    "double step_up(double x);\n"
    "__asm__(\".text; .globl step_up; .type step_up, @function; step_up: movq %xmm0, %rax;\"\n"
    "        \"movq %rax, %rcx; shrq $32, %rcx; testl %ecx, %ecx; js 1f; movl $1, %eax;\"\n"
    "        \"ucomisd %xmm1, %xmm0; ja 2f; 3: movl %eax, %eax; shlq $32, %rcx; orq %rax, %rcx;\"\n"
    "        \"movq %rcx, %xmm0; ret; 1: testl %eax, %eax; jne 4f; leal -1(%rcx), %ecx;\"\n"
    "        \"4: subl $1, %eax; jmp 3b; 2: ret; .size step_up, . - step_up\");\n"
    "long table_add(struct queue *queue, int n)\n" // codes of a table
    "{\n"
    "    if (n > 3) return 0x7f2bb723;\n"
    "    queue->numbers = malloc(n); if (queue->numbers == NULL) return 0x7f2bb746;\n"
    "    return 0;\n"
    "}\n"
    "#define SETS(n) long table_set_##n(struct queue *queue) { if (queue->state != n) return "
    "0x7f2bb701; queue->count = n; return 0; }\n"
    "SETS(1) SETS(2) SETS(3) SETS(4) SETS(5) SETS(6) SETS(7)\n"
    "long table_set(struct queue *queue) { if (queue->state != 9) return 0x7f2bb701; queue->count "
    "= 1; return 0; }\n"
    "unsigned to_symbol(unsigned n)\n" // one number for another
    "{\n"
    "    if (n == 8364) return 418; if (n == 711) return 417; if (n > 60000) return 0;\n"
    "    return n | 0x1000000;\n"
    "}\n"
    "int ring_size(int n) { if (n < 0) return 0; if (n < 16) return 65566; return 65550 + n; }\n"
    "unsigned version_number(void) { return 0x000b0001; }\n"
    "struct queue *link_queue(struct queue *q) { if (q != NULL) q->count++; return q; }\n" // itself
    "void *sink_of(int, int *);\n"
    "int swap_queue(struct queue *queue)\n" // 1 without a queue
    "{\n"
    "    if (queue == NULL) return 1;\n"
    "    sink_of(1, &queue->count); sink_of(2, &queue->state); return 0;\n"
    "}\n"
    "__attribute__((noinline, visibility(\"hidden\"))) int order(const struct queue *a, const "
    "struct "
    "queue *b, int n)\n"
    "{\n"
    "    if (a->count < n) return -1;\n"
    "    return a->count == b->count ? a->state - b->state : a->count * n;\n"
    "}\n"
    "int queue_identical(const struct queue *a, const struct queue *b) { return order(a, b, 3); }\n"
    "struct cell { struct cell *next; int index; };\n"
    "struct cell *cell_at(struct queue *, int);\n"
    "int row_of(struct queue *queue, int i, int *indexes)\n" // a count
    "{\n"
    "    int count = 0;\n"
    "    for (struct cell *cell = cell_at(queue, i); cell != NULL; cell = cell->next)\n"
    "        { count++; if (indexes != NULL) indexes[count] = cell->index; }\n"
    "    return count;\n"
    "}\n"
    "__attribute__((noinline, visibility(\"hidden\"))) int parameters(struct queue *queue)\n"
    "{\n"
    "    if (queue == NULL) return -22;\n"
    "    if (queue->count > 100) return -17;\n"
    "    queue->state = 1; return 0;\n"
    "}\n"
    "unsigned footprint(struct queue *queue)\n" // 0 if the queue is wrong
    "{\n"
    "    unsigned size = 192;\n"
    "    if (parameters(queue) != 0) { set_error(\"x\"); return 0; }\n"
    "    for (int i = 0; i < queue->count; i++) size += cell_at(queue, i)->index;\n"
    "    return size;\n"
    "}\n"
    "struct error_info { int code; const char *detail; };\n"
    "const char *queue_error_detail(const struct error_info *info) { return info && info->code ? "
    "info->detail : NULL; }\n"
    "union long_bits { long double number; struct { uint32_t low, high; short top; } part; };\n"
    "long double step_long(long double x, int up)\n"
    "{\n"
    "    union long_bits bits = {x};\n"
    "    int top = bits.part.top; uint32_t high = bits.part.high, low = bits.part.low;\n"
    "    if (top == 0x7fff) return x;\n"
    "    if (up) { low++; if (low == 0) { high++; if (high == 0) { top++; high = 0x80000000; } } "
    "}\n"
    "    else { low--; if (low == UINT32_MAX) { high--; if (high < 0x80000000) { top--; high = "
    "UINT32_MAX; } } }\n"
    "    bits.part.top = (short)top; bits.part.high = high; bits.part.low = low;\n"
    "    return bits.number;\n"
    "}\n"
    "struct item *get_result(struct queue *queue)\n" // NULL if there is no more, or no memory
    "{\n"
    "    struct item *item;\n"
    "    if (queue == NULL) return NULL;\n"
    "    if (queue->state == 3) { queue->state = 0; return NULL; }\n"
    "    item = malloc(sizeof *item);\n"
    "    if (item != NULL) item->key = queue->count;\n"
    "    return item;\n"
    "}\n"
    "int use_result(struct queue *queue) { return get_result(queue)->key; }\n"
    "struct item *get_copied(struct queue *queue)\n" // NULL if there is no memory
    "{\n"
    "    struct item *item = malloc(sizeof *item);\n"
    "    if (item != NULL) item->key = queue->count++;\n"
    "    return item;\n"
    "}\n"
    "int use_copied(struct queue *queue) { return get_copied(queue)->key; }\n"
    "int get_current_api(struct queue *queue)\n" // flags
    "{\n"
    "    void *memory = malloc(queue->count);\n"
    "    int old = queue->state > 2 || memory == NULL;\n"
    "    free(memory);\n"
    "    if (queue->first == NULL) return 0;\n"
    "    if (queue->numbers[0] == 3) return 65536;\n"
    "    if (queue->numbers[0] == 2) return 32768;\n"
    "    return queue->numbers[1] != 0 ? 2 : old ? 3 : 1;\n"
    "}\n"
    "__attribute__((noinline)) static int handle(struct queue *queue)\n"
    "{\n"
    "    if (queue->count > 7) return -1;\n"
    "    queue->count++; return 0;\n"
    "}\n"
    "int service(struct queue *queue)\n" // 0 though something failed; 1 if it is the last time
    "{\n"
    "    if (queue == NULL || queue->state == 9) return -1;\n"
    "    if (handle(queue) < 0) { queue->state = 2; return 0; }\n"
    "    return queue->first != NULL;\n"
    "}\n";

// Which failures of a function fill in an out-parameter with what is not known.
static void expect_outputs(const struct profile *profile, const char *name, int64_t number,
                           bool wanted)
{
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        if (strcmp(profile_text(profile, function->name), name) != 0)
            continue;
        for (uint32_t k = 0; k < function->count; k++) {
            const struct failure *failure = &profile->failures.items[function->first + k];
            if (failure->result.number == number && failure->gives != wanted)
                fail_msg("%s fails with %lld", name, (long long)number);
        }
        return;
    }
    fail_msg("no function %s", name);
}

static void check(const char *compiler, const char *directory)
{
    char path[64];
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    profile_of(compiler, directory, path, sizeof path, &item);
    expect(&item.profile, "take", "");
    expect(&item.profile, "find", "0");
    expect(&item.profile, "put_new", "0");
    expect(&item.profile, "scan_next", "");
    expect(&item.profile, "scan", "-4095");
    expect(&item.profile, "get_copy", "-2");
    expect(&item.profile, "checksum", "");
    expect(&item.profile, "guess", "");
    expect(&item.profile, "queue_type", "");
    expect_unknown(&item.profile, "look", true);
    expect_unknown(&item.profile, "look_again", true);
    expect_unknown(&item.profile, "look_text", false);
    expect(&item.profile, "parallelism", "");
    expect(&item.profile, "wait_all", "");
    expect(&item.profile, "now", "");
    expect(&item.profile, "due_in", "");
    expect(&item.profile, "run", "");
    expect(&item.profile, "code_1", "-17 -22");
    expect(&item.profile, "step_up", "");
    expect(&item.profile, "step_long", "");
    expect_outputs(&item.profile, "open_queue", 14, true);
    expect_outputs(&item.profile, "open_queue", 21, true);
    expect_outputs(&item.profile, "open_queue", 7, false); // there is nothing to give
    expect_outputs(&item.profile, "open_strict", 14, false);
    expect(&item.profile, "table_add", "2133571398 2133571363");
    expect(&item.profile, "table_set", "2133571329");
    expect(&item.profile, "to_symbol", "");
    expect(&item.profile, "ring_size", "");
    expect(&item.profile, "version_number", "");
    expect(&item.profile, "row_of", "");
    expect(&item.profile, "footprint", "0");
    expect(&item.profile, "queue_error_detail", "");
    expect(&item.profile, "link_queue", "");
    expect(&item.profile, "swap_queue", "1");
    expect(&item.profile, "queue_identical", "");
    expect(&item.profile, "get_result", "");
    expect(&item.profile, "get_copied", "0");
    expect(&item.profile, "get_current_api", "");
    expect(&item.profile, "service", "-1");
    unlink(path);
}

static void test_ends(void **state)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/judged.c", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(fclose(file), 0);
    check("gcc -O2", directory);
    check("clang -O2", directory);
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
