// SPDX-License-Identifier: GPL-3.0-or-later
// How a process finds the region, and how programs that it starts do. The region's directory is
// closed to all users but one, so a process that changes its user keeps a descriptor of the file,
// which programs that it starts inherit. Other processes have no descriptor of ours.
#include "runtime/hooks.h"

#include "runtime/journal.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <asm/stat.h>
#include <linux/fcntl.h>

static uint64_t device, inode; // of the region's file
static int32_t handed = -1;    // a descriptor of it that is handed down, if it is still open
static uint32_t user;          // of the process at its start
static char plain_entry[4352], handed_entry[4352];

static bool is_region(int32_t file)
{
    struct stat facts;
    return file >= 0 && !system_failed(SYSTEM_2(__NR_fstat, file, &facts)) &&
           facts.st_dev == device && facts.st_ino == inode;
}

static long open_region(void)
{
    return SYSTEM_3(__NR_open, region_at(runtime.region->file), O_RDWR | O_CLOEXEC, 0);
}

static bool can_open_region(void)
{
    long file = open_region();
    if (system_failed(file))
        return false;
    SYSTEM_1(__NR_close, file);
    return true;
}

// "NUMBER:" in front of a path.
static const char *take_number(const char *value, int32_t *ret_number)
{
    const char *at = value;
    int32_t number = 0;
    while (*at >= '0' && *at <= '9' && number < 1000000)
        number = number * 10 + (*at++ - '0');
    if (at == value || *at != ':')
        return value;
    *ret_number = number;
    return at + 1;
}

void *attach_map(const char *value, const char **ret_path, uint64_t *ret_size)
{
    struct stat facts;
    int32_t number = -1;
    const char *path = take_number(value, &number);
    long opened = SYSTEM_3(__NR_open, path, O_RDWR | O_CLOEXEC, 0);
    long file = system_failed(opened) ? number : opened;
    void *map = NULL;
    if (file >= 0 && !system_failed(SYSTEM_2(__NR_fstat, file, &facts))) {
        device = facts.st_dev;
        inode = facts.st_ino;
        map = system_map(file, true, (uint64_t)facts.st_size);
        *ret_size = (uint64_t)facts.st_size;
    }
    if (!system_failed(opened))
        SYSTEM_1(__NR_close, opened);
    handed = is_region(number) ? number : -1;
    user = (uint32_t)SYSTEM_1(__NR_geteuid, 0);
    *ret_path = path;
    return map;
}

static void put(char *target, size_t room, size_t *at, const char *text)
{
    text_copy(target + *at, room - *at, text);
    *at += text_length(target + *at);
}

static void prepare_handed(int32_t file)
{
    size_t at = 0;
    put(handed_entry, sizeof handed_entry, &at, WIRE_ENVIRONMENT "=");
    at = (size_t)(text_put_number(handed_entry + at, (unsigned)file) - handed_entry);
    put(handed_entry, sizeof handed_entry, &at, ":");
    put(handed_entry, sizeof handed_entry, &at, region_at(runtime.region->file));
}

void attach_prepare(void)
{
    size_t at = 0;
    put(plain_entry, sizeof plain_entry, &at, WIRE_ENVIRONMENT "=");
    put(plain_entry, sizeof plain_entry, &at, region_at(runtime.region->file));
    if (handed >= 0)
        prepare_handed(handed);
}

const char *attach_entry(void)
{
    return is_region(handed) ? handed_entry : plain_entry;
}

bool attach_check(const char *program)
{
    if ((handed < 0 && (uint32_t)SYSTEM_1(__NR_geteuid, 0) == user) || is_region(handed) ||
        can_open_region())
        return false;
    journal_note(WIRE_NOTE_NOT_ATTACHED, program[0] != '\0' ? program : "a program");
    return true;
}

uint32_t attach_obstacle(void)
{
    const int can_read = 4;
    if (SYSTEM_1(__NR_geteuid, 0) != SYSTEM_1(__NR_getuid, 0) ||
        SYSTEM_1(__NR_getegid, 0) != SYSTEM_1(__NR_getgid, 0))
        return WIRE_OBSTACLE_PRIVILEGES;
    if (system_failed(SYSTEM_2(__NR_access, runtime_file(), can_read)))
        return WIRE_OBSTACLE_RUNTIME;
    return is_region(handed) || can_open_region() ? WIRE_OBSTACLE_NONE : WIRE_OBSTACLE_REGION;
}

// Changes of the user.

// A high number, out of the way of the numbers that the target chooses itself.
static int32_t move_up(long file)
{
    static const int lowest[] = {1000, 200, 50, 10, 3};
    for (size_t i = 0; i < sizeof lowest / sizeof *lowest; i++) {
        long number = SYSTEM_3(__NR_fcntl, file, F_DUPFD, lowest[i]);
        if (!system_failed(number))
            return (int32_t)number;
    }
    return -1;
}

static long before_change(void)
{
    return is_region(handed) ? -1 : open_region();
}

// The descriptor is kept only if the region cannot be opened by its name any more.
static int after_change(int result, long file)
{
    if (system_failed(file))
        return result;
    int32_t kept = can_open_region() ? -1 : move_up(file);
    if (kept >= 0) {
        prepare_handed(kept);
        handed = kept;
    }
    SYSTEM_1(__NR_close, file);
    return result;
}

#define USER_HOOK(name, parameters, arguments)                                                     \
    static void *real_##name;                                                                      \
    static int hook_##name parameters                                                              \
    {                                                                                              \
        long file = before_change();                                                               \
        int(*real) parameters = (int(*) parameters)hook_real(&real_##name, #name);                 \
        return after_change(real arguments, file);                                                 \
    }
USER_HOOK(setuid, (uint32_t a), (a))
USER_HOOK(seteuid, (uint32_t a), (a))
USER_HOOK(setreuid, (uint32_t a, uint32_t b), (a, b))
USER_HOOK(setresuid, (uint32_t a, uint32_t b, uint32_t c), (a, b, c))

#define HOOK_ROW(name)                                                                             \
    {                                                                                              \
#name, (void *)hook_##name, &real_##name                                                   \
    }
const struct hook user_hooks[USER_HOOKS] = {HOOK_ROW(setuid), HOOK_ROW(seteuid), HOOK_ROW(setreuid),
                                            HOOK_ROW(setresuid)};
