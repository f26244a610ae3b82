// SPDX-License-Identifier: GPL-3.0-or-later
// All of it from /proc. One of several is drawn while they are read: the n-th takes the place of
// the one that was drawn before with a probability of 1/n.
#include "stress/target.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE       4096ull
#define PAGES_READ 512
#define USED       (3ull << 62) // in memory, or swapped
// A larger mapping is room that was reserved, such as the shadow memory of a sanitizer. To look at
// all its pages would take minutes.
#define MAPPING_MOST (1ull << 34)

pid_t target_draw_thread(pid_t process, struct stats_random *random)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *directory = opendir(path);
    pid_t drawn = 0;
    uint64_t seen = 0;
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread > 0 && stats_random_below(random, ++seen) == 0)
            drawn = thread;
    }
    if (directory != NULL)
        closedir(directory);
    return drawn;
}

struct draw {
    int pages; // the process's pagemap
    struct stats_random *random;
    uint64_t seen, address;
};

static void look_at_pages(struct draw *draw, uint64_t from, uint64_t to)
{
    uint64_t entries[PAGES_READ];
    while (from < to) {
        uint64_t wanted = (to - from) / PAGE;
        size_t size = (wanted < PAGES_READ ? wanted : PAGES_READ) * sizeof *entries;
        ssize_t got = pread(draw->pages, entries, size, (off_t)(from / PAGE * sizeof *entries));
        if (got < (ssize_t)sizeof *entries)
            return;
        for (size_t i = 0; i < (size_t)got / sizeof *entries; i++, from += PAGE)
            if ((entries[i] & USED) != 0 && stats_random_below(draw->random, ++draw->seen) == 0)
                draw->address = from;
    }
}

bool target_draw_byte(pid_t process, struct stats_random *random, uint64_t *ret_address)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)process);
    _cleanup_close_ int pages = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *maps = pages >= 0 ? fopen(path, "re") : NULL;
    struct draw draw = {.pages = pages, .random = random};
    bool begins = true; // a line may be longer than ours
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uint64_t from, to;
        char may[5] = "";
        if (begins && sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, may) == 3 &&
            may[1] == 'w' && may[3] == 'p' && to - from <= MAPPING_MOST)
            look_at_pages(&draw, from, to);
        begins = strchr(line, '\n') != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    *ret_address = draw.address + stats_random_below(random, PAGE);
    return draw.seen != 0;
}

void target_name(pid_t process, char *ret_name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, ret_name, 15) : 0;
    ret_name[size > 0 ? size : 0] = '\0';
    ret_name[strcspn(ret_name, "\n")] = '\0';
}
