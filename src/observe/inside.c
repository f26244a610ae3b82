// SPDX-License-Identifier: GPL-3.0-or-later
// The tracer's side of code inside traced processes: who has a slot, what is replaced when, and
// what descriptors are open on.
#include "observe/inside.h"

#include "base/cleanup.h"

#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Stops of a process before our code is put into it, which costs as much as 20 stops, and of a call
// before it is replaced.
#define HOT_PROCESS 16u
#define HOT_CALL    2u
#define MOST_SITES  128u
#define MOST_TEXTS  4096u

const struct filter_code inside_code = {INSIDE_BASE, INSIDE_CODE_SIZE};

static bool make_file(int *ret_file)
{
    struct rlimit limit;
    // A file may not become larger than that, and trying is a signal.
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < INSIDE_SIZE)
        return false;
    int file = memfd_create("ordeal-trace", MFD_CLOEXEC);
    if (file < 0)
        return false;
    *ret_file = file;
    return ftruncate(file, INSIDE_SIZE) == 0;
}

void inside_open(struct inside *inside)
{
    size_t size = (size_t)(__stop_ordeal_inside - __start_ordeal_inside);
    inside->file = -1;
    if (size > INSIDE_CODE_SIZE || !make_file(&inside->file))
        return;
    void *memory = mmap(NULL, INSIDE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, inside->file, 0);
    if (memory == MAP_FAILED)
        return;
    inside->memory = memory;
    memcpy(inside->memory, __start_ordeal_inside, size);
    inside_forget(inside);
}

void inside_close(struct inside *inside)
{
    if (inside->memory != NULL)
        munmap(inside->memory, INSIDE_SIZE);
    if (inside->file >= 0)
        close(inside->file);
    for (size_t i = 0; i < inside->texts.count; i++)
        free(inside->texts.items[i]);
    ARRAY_DEINIT(&inside->texts);
    inside->memory = NULL;
    inside->file = -1;
}

static struct inside_slot *slot_at(const struct inside *inside, size_t index)
{
    return (struct inside_slot *)(inside->memory + INSIDE_SLOT_AT + index * INSIDE_SLOT_SIZE);
}

// UINT_MAX: the system does not tell.
static unsigned count_filters(pid_t tid)
{
    char path[64], line[256];
    unsigned count = UINT_MAX;
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Seccomp_filters: %u", &count) == 1)
            break;
    return count;
}

static void read_namespace(pid_t tid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/pid", tid);
    ssize_t length = readlink(path, text, size - 1);
    text[length > 0 ? length : 0] = '\0';
}

void inside_look(struct inside *inside, const struct tracer_task *task)
{
    inside->filters = count_filters(task->tid);
    read_namespace(getpid(), inside->namespace, sizeof inside->namespace);
    inside->barred = inside->filters == UINT_MAX || inside->namespace[0] == '\0';
}

static void release_space(struct inside_space *space)
{
    if (space == NULL || --space->users != 0)
        return;
    ARRAY_DEINIT(&space->sites);
    ARRAY_DEINIT(&space->code);
    free(space);
}

static struct inside_space *new_space(const struct inside_space *copied)
{
    struct inside_space *space = calloc(1, sizeof *space);
    if (space == NULL || copied == NULL) {
        if (space != NULL)
            space->users = 1;
        return space;
    }
    *space = *copied;
    space->users = 1;
    space->sites.items = NULL;
    space->sites.count = space->sites.room = 0;
    memset(&space->code, 0, sizeof space->code);
    struct inside_site *sites = ARRAY_ADD_MANY(&space->sites, copied->sites.count);
    if (sites != NULL) {
        if (copied->sites.count != 0)
            memcpy(sites, copied->sites.items, copied->sites.count * sizeof *sites);
        return space;
    }
    free(space);
    return NULL;
}

static void free_slot(struct inside_task *state)
{
    if (state->slot != NULL)
        __atomic_store_n(&state->slot->tid, 0, __ATOMIC_RELEASE);
    state->slot = NULL;
}

// Numbers of tasks are compared with those that the kernel gives our code, which must be the same.
static void check_namespace(struct inside *inside, const struct tracer_task *task)
{
    char namespace[sizeof inside->namespace];
    if (inside->barred || inside->namespace[0] == '\0')
        return;
    read_namespace(task->tid, namespace, sizeof namespace);
    if (strcmp(namespace, inside->namespace) == 0)
        return;
    inside->barred = true;
    for (size_t i = 0; i < INSIDE_SLOTS; i++)
        __atomic_store_n(&slot_at(inside, i)->tid, 0, __ATOMIC_RELEASE);
}

void inside_start(struct inside *inside, const struct tracer_task *task,
                  const struct tracer_task *maker, const struct inside_task *maker_state,
                  struct inside_task *ret_state)
{
    *ret_state = (struct inside_task){0};
    if (inside->memory == NULL)
        return;
    struct inside_space *known = maker != NULL ? maker_state->space : NULL;
    if (known != NULL && maker->pid == task->pid) {
        known->users++;
        ret_state->space = known;
    } else {
        ret_state->space = new_space(known);
        check_namespace(inside, task);
    }
}

void inside_executes(struct inside_task *state)
{
    free_slot(state);
    if (state->space == NULL)
        return;
    release_space(state->space);
    state->space = new_space(NULL);
}

void inside_end(struct inside_task *state)
{
    free_slot(state);
    release_space(state->space);
    state->space = NULL;
}

static bool is_of_interest(int number)
{
    static const int numbers[] = {SYS_read,        SYS_write,     SYS_pread64,    SYS_pwrite64,
                                  SYS_readv,       SYS_writev,    SYS_open,       SYS_openat,
                                  SYS_stat,        SYS_lstat,     SYS_access,     SYS_readlink,
                                  SYS_newfstatat,  SYS_faccessat, SYS_faccessat2, SYS_statx,
                                  SYS_readlinkat,  SYS_getpid,    SYS_gettid,     SYS_clock_gettime,
                                  SYS_gettimeofday};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

static struct inside_site *find_site(struct inside_space *space, uint64_t place)
{
    for (size_t i = 0; i < space->sites.count; i++)
        if (space->sites.items[i].place == place)
            return &space->sites.items[i];
    struct inside_site *site = space->sites.count < MOST_SITES ? ARRAY_ADD(&space->sites) : NULL;
    if (site != NULL)
        *site = (struct inside_site){.place = place};
    return site;
}

// A child of vfork() is in the memory of another process, which may have threads that run, and
// which cannot be stopped together. If the system does not tell, they share it.
static bool shares_memory(pid_t one, pid_t other)
{
    return one != other && syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) <= 0;
}

// Only a process that another one has made may be in its memory. Who made whom is not known of
// those whose maker has ended.
static bool is_within(void *data, struct tracer_task *other)
{
    const struct tracer_task *task = data;
    bool related = task->maker == NULL || other->maker == NULL || task->maker->pid == other->pid ||
                   other->maker->pid == task->pid;
    return related && shares_memory(task->pid, other->pid);
}

static bool has_own_memory(struct tracer_task *task)
{
    return !tracer_each(task->tracer, is_within, task);
}

static void give_slot(const struct inside *inside, const struct tracer_task *task,
                      struct inside_task *state, const struct inside_identity *identity)
{
    struct inside_slot *slot = slot_at(inside, (size_t)task->tid % INSIDE_SLOTS);
    if (slot->tid != 0)
        return;
    memset(slot, 0, sizeof *slot);
    slot->shown_pid = (uint32_t)identity->pid;
    slot->shown_tid = (uint32_t)identity->tid;
    slot->now_ns = identity->now_ns;
    __atomic_store_n(&slot->tid, (uint32_t)task->tid, __ATOMIC_RELEASE);
    state->slot = slot;
}

static void map(const struct inside *inside, struct tracer_task *task, struct inside_space *space,
                uint64_t place, struct tracer_order *order)
{
    struct tracer_injection injection;
    size_t near;
    if (!tracer_inject_begin(task, &injection))
        return;
    tracer_hold(task); // nobody sees the descriptor that is opened for a moment
    if (!space->mapped)
        space->mapped = inside_map(inside, task, &injection);
    tracer_release(task);
    space->settled = !space->mapped;
    if (space->mapped && !inside_near(space, place, &near) &&
        !inside_map_near(task, &injection, space, place))
        space->settled = true;
    tracer_inject_end(task, &injection, injection.saved.rip - 2, order);
}

static void replace(struct tracer_task *task, struct inside_space *space, struct inside_site *site,
                    int number, struct tracer_order *order)
{
    struct tracer_injection injection; // of no call: only to go on elsewhere
    if (!tracer_inject_begin(task, &injection))
        return;
    uint64_t place = inside_replace(task, space, site, number);
    if (place != 0)
        tracer_inject_end(task, &injection, place, order);
    site->settled = true;
}

bool inside_offer(struct inside *inside, struct tracer_task *task, struct inside_task *state,
                  const struct tracer_call *call, const struct inside_identity *identity,
                  struct tracer_order *order)
{
    struct inside_space *space = state->space;
    size_t near;
    if (inside->memory == NULL || inside->barred || space == NULL || call->i386 ||
        !is_of_interest(call->number) || ++space->stops < HOT_PROCESS)
        return false;
    if (space->mapped && state->slot == NULL)
        give_slot(inside, task, state, identity);
    struct inside_site *site = space->settled ? NULL : find_site(space, call->place);
    if (site == NULL || site->settled || ++site->stops < HOT_CALL || !has_own_memory(task))
        return false;
    if (!space->mapped && count_filters(task->tid) != inside->filters)
        space->settled = true;
    else if (!space->mapped || !inside_near(space, call->place, &near))
        map(inside, task, space, call->place, order);
    else
        replace(task, space, site, call->number, order);
    return order->again;
}

void inside_keep(const struct tracer_task *task, struct inside_task *state)
{
    struct inside_space *space = state->space;
    struct user_regs_struct registers;
    if (space == NULL || space->settled || !tracer_get_registers(task, &registers) ||
        !inside_is_behind_call(task, registers.rip))
        return;
    struct inside_site *site = find_site(space, registers.rip);
    if (site != NULL)
        site->settled = true;
    else
        space->settled = true;
}

void inside_forget(struct inside *inside)
{
    if (inside->memory == NULL)
        return;
    struct inside_shared *shared = (struct inside_shared *)(inside->memory + INSIDE_CODE_SIZE);
    __atomic_add_fetch(&shared->generation, 1, __ATOMIC_ACQ_REL);
}

void inside_bar(struct tracer_task *task, struct inside_task *state)
{
    if (state->space == NULL)
        return;
    if (state->space->mapped) {
        tracer_hold(task);
        inside_restore(task, state->space);
        tracer_release(task);
    }
    state->space->settled = true;
    free_slot(state);
}

bool inside_withdraw(struct tracer_task *task, struct inside_task *state,
                     struct tracer_order *order)
{
    struct inside_space *space = state->space;
    struct tracer_injection injection;
    if (space == NULL)
        return false;
    space->settled = true;
    if (!space->mapped || !has_own_memory(task) || !tracer_inject_begin(task, &injection))
        return false;
    tracer_hold(task);
    inside_restore(task, space);
    bool unused = inside_is_unused(task, space);
    if (unused)
        inside_unmap(task, &injection);
    tracer_release(task);
    free_slot(state);
    if (!unused)
        return false;
    space->mapped = false;
    tracer_inject_end(task, &injection, injection.saved.rip - 2, order);
    return true;
}

// INSIDE_STOPS: there is no room for more.
static uint32_t number_of_text(struct inside *inside, const char *text)
{
    for (size_t i = inside->texts.count; i > 0; i--)
        if (strcmp(inside->texts.items[i - 1], text) == 0)
            return (uint32_t)i;
    char *copy = inside->texts.count < MOST_TEXTS ? strdup(text) : NULL;
    char **slot = copy != NULL ? ARRAY_ADD(&inside->texts) : NULL;
    if (slot == NULL) {
        free(copy);
        return INSIDE_STOPS;
    }
    *slot = copy;
    return (uint32_t)inside->texts.count;
}

// Sockets are left out, because what is at their other end may change, and descriptors without a
// file of their own. Our code knows a file, not by which of several names it was opened.
void inside_describe(struct inside *inside, const struct tracer_task *task,
                     struct inside_task *state, int number, const struct descriptor *descriptor)
{
    char path[64];
    struct stat status;
    if (state->slot == NULL || number < 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", task->tid, number);
    if (descriptor->kind == DESCRIPTOR_NONE || stat(path, &status) < 0 ||
        (status.st_mode & S_IFMT) == 0 || S_ISSOCK(status.st_mode))
        return;
    bool own = descriptor->kind == DESCRIPTOR_OWN;
    uint32_t text = INSIDE_STOPS;
    if (own)
        text = INSIDE_INVISIBLE;
    else if (status.st_nlink < 2)
        text = number_of_text(inside, descriptor->text);
    const struct inside_shared *shared = (void *)(inside->memory + INSIDE_CODE_SIZE);
    state->slot->files[(unsigned)number % INSIDE_FILES] = (struct inside_file){
        .device = status.st_dev,
        .inode = status.st_ino,
        .links = (uint32_t)status.st_nlink,
        .generation = shared->generation,
        .number = (uint32_t)number + 1,
        .text = text,
        .reads = descriptor->kind == DESCRIPTOR_FILE || (own && !path_is_random(descriptor->text))};
}
