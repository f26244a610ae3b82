// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the directories on the way in a list. Only the last few of them are open. The others are
// opened again through ".." of the directory below, when the walk returns to them.
#include "base/tree.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LEVELS_OPEN 8 // at most, beside the root and those that ".." does not lead to
#define CLOSED      (-2)

struct level {
    int sides[TREE_SIDES];
    struct {
        dev_t device;
        ino_t inode;
    } identity[TREE_SIDES]; // of those that are closed
    unsigned marks;
    bool elsewhere;
    size_t path_size;
    struct buffer names; // each ends with a NUL
    size_t next;         // the first that was not visited
};

struct tree {
    const struct tree_visitor *visitor;
    void *data;
    ARRAY(struct level) levels; // the root first
    struct buffer path;         // of the last level
    _Alignas(struct dirent64) char entries[32768];
};

static void close_side(int *side)
{
    if (*side >= 0)
        close(*side);
    *side = -1;
}

static struct level *last_level(struct tree *tree)
{
    return &tree->levels.items[tree->levels.count - 1];
}

static struct tree_directory directory_of(const struct tree *tree, const struct level *level)
{
    return (struct tree_directory){.sides = {level->sides[0], level->sides[1]},
                                   .path = tree->path.data,
                                   .marks = level->marks,
                                   .elsewhere = level->elsewhere};
}

// All names are read at once, since the visitor may remove entries.
static struct error *read_names(struct tree *tree, struct level *level)
{
    for (;;) {
        ssize_t size = getdents64(level->sides[0], tree->entries, sizeof tree->entries);
        if (size < 0 && errno == ENOENT)
            return NULL; // it was removed since it was opened
        if (size < 0)
            return error_from_errno(errno, "cannot list %s",
                                    tree->path.size == 0 ? "a directory" : tree->path.data);
        if (size == 0)
            return NULL;
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (const struct dirent64 *)(tree->entries + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                TRY(buffer_append(&level->names, entry->d_name, strlen(entry->d_name) + 1));
        }
    }
}

// Closes the directory that has become too many. It must be possible to come back to it.
static struct error *close_one(struct tree *tree)
{
    if (tree->levels.count <= LEVELS_OPEN + 1)
        return NULL;
    struct level *level = &tree->levels.items[tree->levels.count - LEVELS_OPEN - 1];
    if ((level + 1)->elsewhere)
        return NULL;
    for (int i = 0; i < TREE_SIDES; i++) {
        // The second side of the level below may be missing: then no ".." leads back.
        if (level->sides[i] < 0 || (level + 1)->sides[i] == -1)
            continue;
        struct stat status;
        if (fstat(level->sides[i], &status) < 0)
            return error_from_errno(errno, "cannot look at a directory");
        level->identity[i].device = status.st_dev;
        level->identity[i].inode = status.st_ino;
        close(level->sides[i]);
        level->sides[i] = CLOSED;
    }
    return NULL;
}

static struct error *reopen(struct level *level, const struct level *below, const char *name)
{
    for (int i = 0; i < TREE_SIDES; i++) {
        if (level->sides[i] != CLOSED)
            continue;
        struct stat status;
        _cleanup_close_ int above =
            openat(below->sides[i], "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (above < 0 || fstat(above, &status) < 0)
            return error_from_errno(errno, "cannot return from %s", name);
        if (status.st_dev != level->identity[i].device || status.st_ino != level->identity[i].inode)
            return error_new("%s was moved meanwhile", name);
        level->sides[i] = above;
        above = -1;
    }
    return NULL;
}

// Takes the sides of `below`.
static struct error *enter(struct tree *tree, const char *name, struct tree_directory *below)
{
    struct level *level = ARRAY_ADD(&tree->levels);
    if (level == NULL) {
        for (int i = 0; i < TREE_SIDES; i++)
            close_side(&below->sides[i]);
        return error_no_memory();
    }
    memcpy(level->sides, below->sides, sizeof level->sides);
    level->marks = below->marks;
    level->elsewhere = below->elsewhere;
    TRY(buffer_printf(&tree->path, "%s%s", tree->path.size == 0 ? "" : "/", name));
    level->path_size = tree->path.size;
    TRY(close_one(tree));
    return read_names(tree, last_level(tree));
}

static void forget_last(struct tree *tree)
{
    struct level *level = last_level(tree);
    buffer_deinit(&level->names);
    // The root's are the caller's.
    for (int i = 0; tree->levels.count > 1 && i < TREE_SIDES; i++)
        close_side(&level->sides[i]);
    tree->levels.count--;
}

static struct error *leave(struct tree *tree)
{
    struct level *level = last_level(tree), *above = level - 1;
    // The name before the last one that is still to be visited.
    const char *name = above->names.data + above->next;
    do
        name--;
    while (name > above->names.data && name[-1] != '\0');
    TRY(reopen(above, level, name));
    if (tree->visitor->leave != NULL) {
        struct tree_directory parent = directory_of(tree, above),
                              directory = directory_of(tree, level);
        parent.path = NULL;
        TRY(tree->visitor->leave(tree->data, &parent, name, &directory));
    }
    forget_last(tree);
    tree->path.size = above->path_size;
    tree->path.data[above->path_size] = '\0';
    return NULL;
}

static struct error *visit(struct tree *tree)
{
    struct level *level = last_level(tree);
    const char *name = level->names.data + level->next;
    level->next += strlen(name) + 1;
    struct tree_directory directory = directory_of(tree, level), below = {.sides = {-1, -1}};
    struct error *error = tree->visitor->entry(tree->data, &directory, name, &below);
    if (error != NULL || below.sides[0] < 0) {
        for (int i = 0; i < TREE_SIDES; i++)
            close_side(&below.sides[i]);
        return error;
    }
    return enter(tree, name, &below);
}

static struct error *walk(struct tree *tree)
{
    for (;;) {
        const struct level *level = last_level(tree);
        if (level->next < level->names.size)
            TRY(visit(tree));
        else if (tree->levels.count > 1)
            TRY(leave(tree));
        else
            return NULL;
    }
}

struct error *tree_walk(const struct tree_directory *root, const struct tree_visitor *visitor,
                        void *data)
{
    struct tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL)
        return error_no_memory();
    tree->visitor = visitor;
    tree->data = data;
    struct level *first = ARRAY_ADD(&tree->levels);
    struct error *error = first == NULL ? error_no_memory() : buffer_append(&tree->path, "", 0);
    if (error == NULL) {
        memcpy(first->sides, root->sides, sizeof first->sides);
        first->marks = root->marks;
        error = read_names(tree, first);
    }
    if (error == NULL)
        error = walk(tree);
    while (tree->levels.count != 0)
        forget_last(tree);
    ARRAY_DEINIT(&tree->levels);
    buffer_deinit(&tree->path);
    free(tree);
    return error;
}
