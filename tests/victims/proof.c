// SPDX-License-Identifier: GPL-3.0-or-later
// Calls a function of libproof.so and uses what it returns without a look.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *plain_new(size_t size);
char *small_new(size_t size);
char *stern_new(size_t size);
char *humble_new(size_t size);
char *stubborn_new(size_t size);
char *second_new(size_t size);
char *pool_new(size_t size);
char *lake_new(size_t size);
extern void (*pool_gives_up)(void);
char *reader_new(const char *path);
int handle_open(size_t size, char **made);
const char *words_take(const char *const *all, int *at);
struct picture {
    const char *name;
    unsigned valid;
    int colour;
};
const char *name_get(const struct picture *picture);
unsigned colour_get(const struct picture *picture, int *colour);

static char *use_handle(void)
{
    char *made = NULL;
    handle_open(16, &made);
    return made;
}

static void give_up(void)
{
    fputs("proof: no memory\n", stderr);
    abort();
}

// The first call from each of these loops finds room.
static int use_many(int pool)
{
    char *(*const first)(size_t) = pool ? pool_new : lake_new;
    pool_gives_up = give_up;
    first(16);
    for (int i = 0; i < 8; i++) {
        char *made = pool ? pool_new(16) : lake_new(16);
        made[0] = 'x';
    }
    return 0;
}

static int use_words(void)
{
    static const char *const all[] = {"one", "two", NULL};
    int at = 0;
    for (const char *word; (word = words_take(all, &at)) != NULL;)
        puts(word);
    return 0;
}

static int look(const char *which)
{
    static const struct picture picture = {"name", 32, 7};
    int colour = 0;
    if (strcmp(which, "name") == 0)
        return name_get(&picture)[0] != 'n';
    puts(colour_get(&picture, &colour) != 0 && colour == 7 ? "seven" : "none");
    return 0;
}

// Two ways to fail, and nobody hears of either.
static int claim(void)
{
    char *made = stubborn_new(16);
    char *plain = plain_new(16);
    puts(made != NULL && plain != NULL ? "made" : "none");
    return 0;
}

int main(int count, char **words)
{
    const char *which = count > 1 ? words[1] : "";
    if (strcmp(which, "words") == 0)
        return use_words();
    if (strcmp(which, "pool") == 0 || strcmp(which, "lake") == 0)
        return use_many(which[0] == 'p');
    if (strcmp(which, "claim") == 0)
        return claim();
    if (strcmp(which, "name") == 0 || strcmp(which, "colour") == 0)
        return look(which);
    char *made = strcmp(which, "plain") == 0      ? plain_new(16)
                 : strcmp(which, "small") == 0    ? small_new(16)
                 : strcmp(which, "stern") == 0    ? stern_new(16)
                 : strcmp(which, "humble") == 0   ? humble_new(16)
                 : strcmp(which, "stubborn") == 0 ? stubborn_new(16)
                 : strcmp(which, "second") == 0   ? second_new(16)
                 : strcmp(which, "reader") == 0   ? reader_new(words[0])
                                                  : use_handle();
    made[0] = 'x';
    return made[0] != 'x';
}
