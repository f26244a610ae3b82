// flags: -lpropagate
// Uses every function of propagate-library.c. The argument chooses one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    int number;
    char *name;
    struct item *next;
};
struct item *item_new(int);
void item_fill(struct item *);
void item_name(struct item *, char);
void squares(int *, int);
int hidden(int);
int *visible(void);
int result(int);
struct item *pool_item(int);
char *grow(char *, size_t);
void destroy(struct item *);
int each(int (*)(int *), int);
void greet(char *);
void crash(int *);
struct buffer *buffer_new(void);
void buffer_add(struct buffer *, int, int);

static int twice(int *number)
{
    hidden(*number);
    *number *= 2;
    return *number;
}

int main(void)
{
    struct item *own = calloc(1, sizeof *own);
    int numbers[4];
    char text[32];
    struct item *item = item_new(5);
    item_fill(own);
    item_name(own, 'a');
    squares(numbers, 4);
    hidden(1);
    hidden(2);
    *visible() += 1;
    int got = result(3);
    pool_item(1);
    pool_item(2);
    char *grown = grow(strdup("text"), 100);
    destroy(calloc(1, sizeof *own));
    int sum = each(twice, 3);
    greet(text);
    crash(numbers);
    struct buffer *buffer = buffer_new();
    buffer_add(buffer, 4, 0x2002);
    printf("%d %d %s %d %d %s %s\n", item->number, own->number, own->name, got, sum, grown, text);
    return 0;
}
