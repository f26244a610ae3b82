// A library whose errors reach its user in the ways of figures 4.2 to 4.5 of the thesis, or do not.
// FAULT chooses the error; without it the library is right. Lines are the same in all builds.
#include <stdlib.h>
#include <string.h>

#ifndef FAULT
#define FAULT 0
#endif
#define IF(number, wrong, right) (FAULT == (number) ? (wrong) : (right))

struct item {
    int number;
    char *name;
    struct item *next;
};

// Figure 4.2: an area of the library, returned.
struct item *item_new(int number)
{
    struct item *item = malloc(sizeof *item);
    item->number = IF(1, number + 1, number);
    item->name = NULL;
    item->next = NULL;
    return item;
}

// Figure 4.3: an area of the user's heap.
void item_fill(struct item *item)
{
    item->number = IF(2, 9, 7);
}

// Figure 4.4: an area of the library that the user's area points to.
void item_name(struct item *item, char first)
{
    char *name = malloc(4);
    name[0] = IF(3, first + 1, first);
    name[1] = 'b';
    name[2] = '\0';
    item->name = name;
}

// Figure 4.5: a local variable of the user.
void squares(int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        numbers[i] = IF(4, i == 1 || i == 2, 0) ? 100 : i * i;
}

// What nobody outside can reach: a local variable, memory of the call, memory of the library, a
// variable of the library.
static int counter, used;
static struct item *cache;
int hidden(int number)
{
    volatile int local = IF(5, 3, number);
    volatile int *temporary = malloc(sizeof *temporary);
    *temporary = IF(5, 4, number);
    if (cache == NULL)
        cache = malloc(sizeof *cache);
    cache->number = IF(5, 5, number);
    used += IF(5, 2, 1);
    free((void *)temporary);
    return (local & 0) + number;
}

// The same variable, once the user has a pointer to it.
int *visible(void)
{
    counter = IF(6, 12, 10);
    return &counter;
}

int result(int number)
{
    return IF(7, -1, number);
}

// A pool: many objects in one block.
static char *pool;
static size_t pool_used;
struct item *pool_item(int number)
{
    if (pool == NULL)
        pool = malloc(4096);
    struct item *item = (struct item *)(pool + pool_used);
    pool_used += sizeof *item;
    item->number = IF(8, 0, number);
    return item;
}

// Grows the user's block, which is the library's afterwards.
char *grow(char *text, size_t size)
{
    text = realloc(text, size + 1);
    text[size] = IF(9, 'x', '\0');
    return text;
}

void destroy(struct item *item)
{
    if (IF(10, 0, 1))
        free(item);
}

// The library calls back: what the program does meanwhile is not the library's doing.
int each(int (*function)(int *), int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        int number = i;
        sum += function(&number) + number;
    }
    return IF(11, sum + 1, sum);
}

// Text that a function of the C library writes.
void greet(char *text)
{
    strcpy(text, IF(12, "hellO, world: good", "hello, world: good"));
}

// Dies in the middle.
void crash(int *numbers)
{
    numbers[0] = 1;
    if (IF(13, 1, 0))
        abort();
    numbers[1] = 2;
}

// Figure 4.9.
struct buffer {
    char space[8];
    int kind, length;
    char more[16];
    long used;
    char *bytes;
};
struct buffer *buffer_new(void)
{
#line 158 "buf.c"
    struct buffer *buffer = malloc(sizeof *buffer);
    memset(buffer, 0, sizeof *buffer);
#line 171 "buf.c"
    buffer->bytes = malloc(8);
    return buffer;
}
#line 609 "buf.c"
void buffer_add(struct buffer *buffer, int kind, int length)
{
    volatile struct buffer *b = buffer;

    b->used = 4;
    b->length = IF(14, 0x4004, length), b->kind = kind;
    if (IF(14, 0, 1))
        ((volatile char *)b->bytes)[4] = 0;
}
