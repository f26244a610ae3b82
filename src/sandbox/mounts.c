// SPDX-License-Identifier: GPL-3.0-or-later
// Parses /proc/self/mountinfo and leaves out mounts that others hide.
#include "sandbox/mounts.h"

#include "base/cleanup.h"
#include "sandbox/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define FIELDS 64

static void entry_deinit(struct mount_entry *entry)
{
    free(entry->path);
    free(entry->root);
    free(entry->type);
    free(entry->options);
}

void mounts_deinit(struct mounts *mounts)
{
    for (size_t i = 0; i < mounts->entries.count; i++)
        entry_deinit(&mounts->entries.items[i]);
    ARRAY_DEINIT(&mounts->entries);
}

// Undoes \ooo, with which the kernel writes blanks, tabs, newlines and backslashes.
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
            at[3] >= '0' && at[3] <= '7') {
            *to++ = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
            at += 4;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

bool mounts_option(const char *options, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = options; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0'))
            return true;
    }
    return false;
}

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
static struct error *parse_line(char *line, const char *prefix, struct mounts *mounts)
{
    char *field[FIELDS] = {0}, *save = NULL;
    size_t count = 0, dash = 0;
    for (char *word = strtok_r(line, " ", &save); word != NULL && count < FIELDS;
         word = strtok_r(NULL, " ", &save)) {
        if (dash == 0 && count >= 6 && strcmp(word, "-") == 0)
            dash = count;
        field[count++] = word;
    }
    if (dash == 0 || dash + 3 >= count)
        return NULL; // a format of a future kernel
    unescape(field[4]);
    size_t size = strlen(prefix);
    if (!path_below(field[4], prefix))
        return NULL;
    const char *path = field[4] + size;
    path = strcmp(path, "/") == 0 ? "" : path;
    struct mount_entry *entry = (struct mount_entry *)mounts_at(mounts, path);
    if (entry != NULL) // it is hidden by this one
        entry_deinit(entry);
    else if ((entry = ARRAY_ADD(&mounts->entries)) == NULL)
        return error_no_memory();
    unescape(field[3]);
    *entry = (struct mount_entry){.path = strdup(path),
                                  .root = strdup(field[3]),
                                  .type = strdup(field[dash + 1]),
                                  .options = strdup(field[dash + 3])};
    if (entry->path == NULL || entry->root == NULL || entry->type == NULL || entry->options == NULL)
        return error_no_memory();
    entry->readonly = mounts_option(field[5], "ro") || mounts_option(field[dash + 3], "ro");
    entry->flags = (mounts_option(field[5], "nosuid") ? MS_NOSUID : 0) |
                   (mounts_option(field[5], "noexec") ? MS_NOEXEC : 0);
    return NULL;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct mount_entry *)a)->path, ((const struct mount_entry *)b)->path);
}

struct error *mounts_parse(const char *text, const char *prefix, struct mounts *ret_mounts)
{
    _cleanup_free_ char *copy = strdup(text);
    if (copy == NULL)
        return error_no_memory();
    char *save = NULL;
    for (char *line = strtok_r(copy, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
        TRY(parse_line(line, prefix, ret_mounts));
    if (ret_mounts->entries.count != 0)
        qsort(ret_mounts->entries.items, ret_mounts->entries.count,
              sizeof *ret_mounts->entries.items, by_path);
    return NULL;
}

// Whether the path is still a mount point: a later mount above it hides it.
static bool reachable(const char *prefix, const char *path)
{
    _cleanup_(buffer_deinit) struct buffer full = {0};
    struct statx status;
    struct error *error = buffer_printf(&full, "%s%s", prefix, path);
    if (error != NULL) {
        error_free(error);
        return true;
    }
    return statx(AT_FDCWD, full.data[0] == '\0' ? "/" : full.data,
                 AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &status) == 0 &&
           (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

struct error *mounts_read(const char *file, const char *prefix, struct mounts *ret_mounts)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(file, 64u << 20, &text));
    TRY(mounts_parse(text.data, prefix, ret_mounts));
    size_t kept = 0;
    for (size_t i = 0; i < ret_mounts->entries.count; i++) {
        struct mount_entry *entry = &ret_mounts->entries.items[i];
        if (entry->path[0] == '\0' || reachable(prefix, entry->path)) {
            ret_mounts->entries.items[kept++] = *entry;
            continue;
        }
        entry_deinit(entry);
    }
    ret_mounts->entries.count = kept;
    return NULL;
}

const struct mount_entry *mounts_at(const struct mounts *mounts, const char *path)
{
    for (size_t i = 0; i < mounts->entries.count; i++)
        if (strcmp(mounts->entries.items[i].path, path) == 0)
            return &mounts->entries.items[i];
    return NULL;
}

bool mounts_below(const struct mounts *mounts, const char *path)
{
    for (size_t i = 0; i < mounts->entries.count; i++)
        if (path_below(mounts->entries.items[i].path, path) &&
            strcmp(mounts->entries.items[i].path, path) != 0)
            return true;
    return false;
}

bool mount_is_virtual(const struct mount_entry *entry)
{
    static const char *const types[] = {
        "proc",      "sysfs",   "devtmpfs",   "devpts",    "cgroup",      "cgroup2",    "mqueue",
        "debugfs",   "tracefs", "securityfs", "bpf",       "pstore",      "configfs",   "efivarfs",
        "hugetlbfs", "autofs",  "fusectl",    "selinuxfs", "binfmt_misc", "rpc_pipefs", "nsfs"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(entry->type, types[i]) == 0)
            return true;
    return false;
}
