// SPDX-License-Identifier: GPL-3.0-or-later
// A library whose functions all seem to return NULL when memory is short, or a file says so. Most
// of them cannot when the program proof calls them.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char spare[64];

// It returns NULL if its only allocation fails.
char *plain_new(size_t size)
{
    char *made = malloc(size);
    if (made == NULL)
        return NULL;
    memset(made, 0, size);
    return made;
}

// It allocates large things only.
char *small_new(size_t size)
{
    if (size > sizeof spare) {
        char *made = malloc(size);
        if (made == NULL)
            return NULL;
        memset(made, 0, size);
        return made;
    }
    memset(spare, 0, size);
    return spare;
}

// It gives up if a small allocation fails.
char *stern_new(size_t size)
{
    char *made = malloc(size);
    if (made == NULL) {
        if (size < 1000)
            abort();
        return NULL;
    }
    memset(made, 0, size);
    return made;
}

// It does without memory if that suffices.
char *humble_new(size_t size)
{
    char *made = malloc(size);
    if (made == NULL) {
        if (size > sizeof spare)
            return NULL;
        made = spare;
    }
    memset(made, 0, size);
    return made;
}

// It tries another way before it gives up.
char *stubborn_new(size_t size)
{
    char *made = malloc(size * 2);
    if (made == NULL) {
        made = calloc(1, size);
        if (made == NULL)
            return NULL;
    }
    memset(made, 0, size);
    return made;
}

// Two system functions may fail; the second one is to blame.
char *second_new(size_t size)
{
    char *first = malloc(size), *second = calloc(1, size);
    if (first == NULL) {
        free(second);
        return spare;
    }
    if (second == NULL) {
        free(first);
        return NULL;
    }
    free(first);
    return second;
}

// They take small things from a block, and ask for memory when it is used up. Nobody gets large
// ones. The first one gives up if its user says so, the second one never does.
static struct block {
    char bytes[64];
    size_t used;
} * blocks[2];
void (*pool_gives_up)(void);

static char *take(int which, size_t size)
{
    struct block *block = blocks[which];
    if (block == NULL || block->used + size > sizeof block->bytes) {
        block = malloc(sizeof *block);
        if (block == NULL)
            return NULL;
        block->used = 0;
        blocks[which] = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

char *pool_new(size_t size)
{
    char *made = size < 64 ? take(0, size) : NULL;
    if (made == NULL && pool_gives_up != NULL)
        pool_gives_up();
    return made;
}

char *lake_new(size_t size)
{
    return size < 64 ? take(1, size) : NULL;
}

// What it returns is up to a file.
char *reader_new(const char *path)
{
    char byte = 0;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0)
        return spare;
    ssize_t got = read(descriptor, &byte, 1);
    close(descriptor);
    if (got == 1 && byte == '!')
        return NULL;
    return spare;
}

// It leaves something in *made whether it fails or not, as the caller knows.
int handle_open(size_t size, char **made)
{
    char *place = malloc(size);
    if (place == NULL) {
        *made = spare;
        return 7;
    }
    memset(place, 0, size);
    *made = place;
    return 0;
}

// The end is NULL, as everybody expects.
const char *words_take(const char *const *all, int *at)
{
    if (all[*at] == NULL)
        return NULL;
    return all[(*at)++];
}

struct picture {
    const char *name;
    unsigned valid;
    int colour;
};

// It only looks, and has nothing that could fail.
const char *name_get(const struct picture *picture)
{
    return picture != NULL ? picture->name : NULL;
}

// It says what there is: 32, and that is no failure.
unsigned colour_get(const struct picture *picture, int *colour)
{
    if (picture == NULL || colour == NULL || (picture->valid & 32) == 0)
        return 0;
    *colour = picture->colour;
    return 32;
}
