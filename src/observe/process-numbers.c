// SPDX-License-Identifier: GPL-3.0-or-later
// Virtual process numbers. Digits to base 8 spell the place of a task among its siblings, four bits
// each: the fourth bit says that one more digit follows. So r.1.2 is 0x12 and r.9 is 0x91. Seven
// digits fit. A longer name is hashed, into numbers with another bit; two names with the same hash
// (one pair in about 2^27 among such names) get numbers in the order of their start.
#include "observe/process-numbers.h"

#include "base/cleanup.h"
#include "sandbox/digest.h"

#include <stdlib.h>
#include <string.h>

#define HASHED_BIT    0x10000000u
#define ENCODED_BITS  28
#define OUTSIDE_COUNT 3u // of numbers for who started the command, its group and its session
#define STARTER       0x3fffffffu
#define GROUP         0x3ffffffeu
#define SESSION       0x3ffffffdu

void process_numbers_deinit(struct process_numbers *numbers)
{
    free(numbers->by_pid);
    map_deinit(&numbers->numbers);
    ARRAY_DEINIT(&numbers->list);
}

static bool encode_index(unsigned long index, uint64_t *code, unsigned *bits)
{
    unsigned digits = 1;
    while (digits < 7 && index >> (3 * digits) != 0)
        digits++;
    *bits += 4 * digits;
    if (index == 0 || index >> (3 * digits) != 0 || *bits > ENCODED_BITS)
        return false;
    while (digits-- > 0)
        *code = *code << 4 | (index >> (3 * digits) & 7) | (digits != 0 ? 8 : 0);
    return true;
}

static uint32_t hashed(const char *name)
{
    struct digest digest;
    digest_start(&digest);
    digest_add(&digest, name, strlen(name));
    uint32_t value = (uint32_t)(digest_value(&digest) % (HASHED_BIT - OUTSIDE_COUNT));
    return PROCESS_NUMBER_BIT | HASHED_BIT | value;
}

uint32_t process_number_of_name(const char *name)
{
    uint64_t code = 0;
    unsigned bits = 0;
    for (const char *at = strchr(name, '.'); at != NULL; at = strchr(at, '.')) {
        char *end;
        if (!encode_index(strtoul(at + 1, &end, 10), &code, &bits))
            return hashed(name);
        at = end;
    }
    return PROCESS_NUMBER_BIT | (uint32_t)code;
}

static struct error *make_room(struct process_numbers *numbers, pid_t pid)
{
    size_t wanted = (size_t)pid + 1;
    if (wanted <= numbers->room)
        return NULL;
    if (wanted < 2 * numbers->room)
        wanted = 2 * numbers->room;
    uint32_t *grown = realloc(numbers->by_pid, wanted * sizeof *grown);
    if (grown == NULL)
        return error_no_memory();
    memset(grown + numbers->room, 0, (wanted - numbers->room) * sizeof *grown);
    numbers->by_pid = grown;
    numbers->room = wanted;
    return NULL;
}

struct error *process_numbers_add(struct process_numbers *numbers, pid_t pid, const char *name)
{
    if (pid <= 0)
        return NULL;
    TRY(make_room(numbers, pid));
    uint32_t number = process_number_of_name(name);
    while (map_has(&numbers->numbers, number))
        number = number + 1 < SESSION ? number + 1 : PROCESS_NUMBER_BIT | HASHED_BIT;
    TRY(map_put(&numbers->numbers, number, (uint32_t)numbers->list.count));
    struct process_number *added = ARRAY_ADD(&numbers->list);
    if (added == NULL)
        return error_no_memory();
    *added = (struct process_number){number, pid, name, 0};
    numbers->by_pid[pid] = number;
    return NULL;
}

static bool is_known(const struct process_numbers *numbers, pid_t pid)
{
    return pid > 0 && (size_t)pid < numbers->room && numbers->by_pid[pid] != 0;
}

pid_t process_numbers_shown(const struct process_numbers *numbers, pid_t pid)
{
    return is_known(numbers, pid) ? (pid_t)numbers->by_pid[pid] : pid;
}

pid_t process_numbers_shown_group(const struct process_numbers *numbers, pid_t group)
{
    if (group < 0 && group != INT32_MIN)
        return -process_numbers_shown_group(numbers, -group);
    return group == numbers->group ? (pid_t)GROUP : process_numbers_shown(numbers, group);
}

pid_t process_numbers_shown_session(const struct process_numbers *numbers, pid_t session)
{
    return session == numbers->session ? (pid_t)SESSION : process_numbers_shown(numbers, session);
}

pid_t process_numbers_shown_parent(const struct process_numbers *numbers, pid_t parent)
{
    if (is_known(numbers, parent))
        return process_numbers_shown(numbers, parent);
    return parent == numbers->starter ? (pid_t)STARTER : parent != 0 ? 1 : 0;
}

static const struct process_number *find(const struct process_numbers *numbers, pid_t number)
{
    uint32_t index = map_find(&numbers->numbers, (uint32_t)number);
    return index != MAP_NONE ? &numbers->list.items[index] : NULL;
}

pid_t process_numbers_real(const struct process_numbers *numbers, pid_t number)
{
    if (number < -1 && number != INT32_MIN)
        return -process_numbers_real(numbers, -number);
    if (number < PROCESS_NUMBER_BIT)
        return number;
    switch ((uint32_t)number) {
    case STARTER:
        return numbers->starter;
    case GROUP:
        return numbers->group;
    case SESSION:
        return numbers->session;
    default:;
        const struct process_number *known = find(numbers, number);
        return known != NULL ? known->pid : number;
    }
}

const char *process_numbers_name(const struct process_numbers *numbers, pid_t number)
{
    const struct process_number *known = find(numbers, number);
    return known != NULL ? known->name : NULL;
}

void process_numbers_end(struct process_numbers *numbers, pid_t pid, uint64_t waited_ns)
{
    uint32_t index =
        is_known(numbers, pid) ? map_find(&numbers->numbers, numbers->by_pid[pid]) : MAP_NONE;
    if (index != MAP_NONE)
        numbers->list.items[index].waited_ns = waited_ns;
}

uint64_t process_numbers_waited_ns(const struct process_numbers *numbers, pid_t pid)
{
    const struct process_number *known = find(numbers, process_numbers_shown(numbers, pid));
    return known != NULL ? known->waited_ns : 0;
}
