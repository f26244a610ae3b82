// Reads once, then writes over the region of the trial, as a wild pointer might. "strings": only
// where the plan says its strings are, and reads again. "all": everything that is never to change.
// "rows": of what processes leave for each other about frames, which registers those save; then it
// is another process of the same program, which reads in the same frames. "fired", "reached",
// "head", "record", "marks": one of the numbers that the runtime counts, in memory and after a
// failed read only. "zero": likewise, all of them and the header.
#include "victim.h"

#include "wire/region.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static void scribble(int file, uint64_t from, uint64_t to)
{
    static char noise[65536];
    memset(noise, 0xfe, sizeof noise);
    if (to - from > sizeof noise || pwrite(file, noise, to - from, (off_t)from) < 0)
        _exit(99);
}

static void spoil_rows(void)
{
    int file = open(getenv(WIRE_ENVIRONMENT), O_RDWR);
    struct wire_region header;
    struct wire_cache_row row;
    if (pread(file, &header, sizeof header, 0) != sizeof header || header.calls == 0)
        _exit(99);
    uint64_t at = header.calls + offsetof(struct wire_calls, cache.rows);
    for (int i = 0; i < WIRE_CACHE_ROWS; i++, at += sizeof row) {
        if (pread(file, &row, sizeof row, (off_t)at) != sizeof row)
            _exit(99);
        row.row[2] |= 0xc0; // two more than there are
        if (row.key > 1 && pwrite(file, &row, sizeof row, (off_t)at) != sizeof row)
            _exit(99);
    }
}

// Such a stack is walked frame by frame.
static void handler(int number)
{
    char byte;
    (void)number;
    if (read(-1, &byte, 1) != -1)
        _exit(99);
}

static void read_amid_signals(int argc, char **argv)
{
    signal(SIGUSR1, handler);
    for (int i = 0; i < 4; i++)
        raise(SIGUSR1);
    if (argc > 2)
        _exit(0);
    char *const again[] = {argv[0], argv[1], "again", NULL};
    spoil_rows();
    execv(argv[0], again);
    _exit(99);
}

static char *find_region(void)
{
    static char line[4096];
    const char *name = getenv(WIRE_ENVIRONMENT);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && name != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, name) != NULL)
            return (char *)strtoul(line, NULL, 16);
    _exit(99);
}

// The first mapping of the region begins with its header. It says where the others are.
static void spoil_number(const char *which)
{
    char *base = find_region();
    struct wire_region *region = (struct wire_region *)base;
    struct wire_rule_state *rules = (struct wire_rule_state *)(base + region->rules);
    struct wire_record *records = (struct wire_record *)(base + region->journal);
    if (strcmp(which, "fired") == 0)
        rules[0].fired = 17969682043120722147ull;
    else if (strcmp(which, "reached") == 0)
        rules[0].reached = 1ull << 62;
    else if (strcmp(which, "head") == 0)
        region->journal_head = UINT64_MAX / 2;
    else if (strcmp(which, "record") == 0)
        records[0].rule = 4711;
    else if (strcmp(which, "zero") == 0) {
        memset(rules, 0, sizeof *rules);
        memset(records, 0, sizeof *records);
        memset(region, 0, sizeof *region);
    } else if (strcmp(which, "marks") == 0 && region->mark_count != 0)
        memset(base + region->marks, 0xff, region->mark_count * sizeof(uint32_t));
}

// Writes over the count of the first rule in a region of others.
static int spoil_file(const char *path)
{
    struct wire_region header;
    uint64_t count = UINT64_MAX;
    int file = open(path, O_RDWR);
    if (pread(file, &header, sizeof header, 0) != sizeof header)
        return 99;
    uint64_t at = header.rules + offsetof(struct wire_rule_state, fired);
    return pwrite(file, &count, sizeof count, (off_t)at) == sizeof count ? 0 : 99;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "file") == 0)
        return spoil_file(argv[2]);
    static const char *const numbers[] = {"fired", "reached", "head", "record", "marks", "zero"};
    if (argc > 1 && strcmp(argv[1], "rows") == 0)
        read_amid_signals(argc, argv);
    for (size_t i = 0; argc > 1 && i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(argv[1], numbers[i]) == 0) {
            char byte;
            int zero = open("/dev/zero", O_RDONLY);
            ssize_t got = zero < 0 ? 0 : read(zero, &byte, 1);
            say("read %zd\n", got);
            if (got < 0 || access("/dev/zero", R_OK) != 0)
                spoil_number(argv[1]);
            syscall(SYS_exit_group, 0);
        }
    int zero = open("/dev/zero", O_RDONLY), file = open(getenv(WIRE_ENVIRONMENT), O_RDWR);
    struct wire_region header;
    char byte;
    ssize_t got = read(zero, &byte, 1);
    say("read %zd\n", got);
    if (pread(file, &header, sizeof header, 0) != sizeof header)
        return 99;
    if (argc > 1 && strcmp(argv[1], "strings") == 0) {
        uint64_t at = header.plan + offsetof(struct wire_plan, strings);
        uint32_t far_away = 0x70000000;
        if (pwrite(file, &far_away, sizeof far_away, (off_t)at) < 0)
            return 99;
        got = read(zero, &byte, 1);
        say("read %zd\n", got);
    } else {
        scribble(file, 0, offsetof(struct wire_region, requests));
        scribble(file, offsetof(struct wire_region, command), header.rules);
    }
    // Without the runtime's help, which may be confused by now.
    syscall(SYS_exit_group, 7);
}
