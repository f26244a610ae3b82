// SPDX-License-Identifier: GPL-3.0-or-later
// Hooks of the calls that start programs. A started program must have the runtime even if its
// environment was emptied.
#include "runtime/hooks.h"

#include "runtime/ancestry.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/started.h"
#include "runtime/streams.h"
#include "runtime/system.h"

#include <stdarg.h>

// clang-format off
#define EACH_HOOK(X)                                                                               \
    X(execve) X(execv) X(execvp) X(execvpe) X(execl) X(execlp) X(execle) X(fexecve) X(execveat)    \
    X(posix_spawn) X(posix_spawnp) X(clearenv) X(system) X(popen)
// clang-format on

#define DECLARE_REAL(name) static void *real_##name;
EACH_HOOK(DECLARE_REAL)
#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&real_##name, #name))

extern char **environ __attribute__((weak, visibility("default")));

static char preload_entry[4352];
static char runtime_path[4096]; // first part of the preload list

static void join(char *target, size_t room, const char *name, const char *value)
{
    size_t at = text_length(name);
    text_copy(target, room, name);
    text_copy(target + at, room - at, value);
}

// Done when a program is started: most targets never start one. Several threads may do this at
// once, since all write the same.
static void environment_prepare(void)
{
    static uint32_t ready;
    if (atomic_load(&ready) != 0)
        return;
    const char *preload = region_at(runtime.region->preload);
    size_t size = 0;
    while (preload[size] != ':' && preload[size] != '\0' && size + 1 < sizeof runtime_path)
        size++;
    memcpy(runtime_path, preload, size);
    join(preload_entry, sizeof preload_entry, "LD_PRELOAD=", preload);
    attach_prepare();
    atomic_store(&ready, 1);
}

static bool same_variable(const char *entry, const char *wanted)
{
    while (*wanted != '=')
        if (*entry++ != *wanted++)
            return false;
    return *entry == '=';
}

static bool contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++)
        if (text_starts(text, part))
            return true;
    return false;
}

// Memory for the time of one call; its size stands in front of it.
static void *borrow(size_t size)
{
    const int private_anonymous = 0x22;
    size_t whole = size + 16;
    long memory = SYSTEM_6(__NR_mmap, 0, whole, 3, private_anonymous, -1, 0);
    if (system_failed(memory))
        return NULL;
    *(size_t *)memory = whole;
    return (char *)memory + 16;
}

static void give_back(const void *memory)
{
    if (memory != NULL)
        SYSTEM_2(__NR_munmap, (char *)memory - 16, *(size_t *)((char *)memory - 16));
}

// Whether some bytes can be read. Asks the kernel once for each page: the array of an environment
// and its strings mostly lie on few.
static bool can_read(const void *address, size_t size, uintptr_t *page)
{
    const uintptr_t first = (uintptr_t)address / 4096,
                    last = ((uintptr_t)address + size - 1) / 4096;
    if (first == last && first == *page)
        return true;
    if (!system_can_read(address, size))
        return false;
    *page = last;
    return true;
}

// The environment with our two entries: unchanged if it has them already. A preload list of the
// target's own is kept behind ours.
static char *const *with_runtime(char *const *environment)
{
    uintptr_t array = UINTPTR_MAX, strings = UINTPTR_MAX; // pages that can be read
    environment_prepare();
    size_t count = 0;
    const char *preload = NULL, *region_entry = attach_entry();
    bool region = false;
    for (; environment != NULL; count++) {
        if (!can_read(&environment[count], sizeof *environment, &array) ||
            (environment[count] != NULL && !can_read(environment[count], 1, &strings)))
            return environment; // the kernel will report the bad pointer
        if (environment[count] == NULL)
            break;
        if (same_variable(environment[count], preload_entry))
            preload = environment[count];
        region |= text_equal(environment[count], region_entry);
    }
    bool loaded = preload != NULL && contains(preload, runtime_path);
    if ((loaded && region) || !runtime.armed)
        return environment;
    size_t own = text_length(preload_entry), list = preload != NULL ? text_length(preload) : 0;
    size_t size = (count + 3) * sizeof(char *) + own + list + 2;
    char **changed = borrow(size);
    if (changed == NULL)
        return environment;
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (environment[i] != preload && !same_variable(environment[i], region_entry))
            changed[used++] = environment[i];
    char *joined = (char *)&changed[count + 3];
    memcpy(joined, preload_entry, own + 1);
    if (preload != NULL && !loaded) {
        joined[own] = ':';
        memcpy(joined + own + 1, preload + sizeof "LD_PRELOAD=" - 1,
               list + 1 - (sizeof "LD_PRELOAD=" - 1));
    }
    changed[used++] = loaded ? (char *)preload : joined;
    changed[used++] = (char *)region_entry;
    return changed;
}

// environ, or the environment that the process had at first.
static char *const *own_environment(void)
{
    return &environ != NULL && environ != NULL ? environ : runtime.environment;
}

static bool can_execute(const char *path)
{
    const int execute = 1;
    return !system_failed(SYSTEM_2(__NR_access, path, execute));
}

bool program_search(const char *name, char *path, size_t room)
{
    const char *list = "/bin:/usr/bin";
    if (text_base(name) != name) {
        path_absolute(name, path, room);
        return can_execute(name);
    }
    if (name[0] == '\0')
        return false;
    for (char *const *entry = own_environment(); entry != NULL && *entry != NULL; entry++)
        if (same_variable(*entry, "PATH="))
            list = *entry + sizeof "PATH=" - 1;
    for (;; list++) {
        size_t size = 0;
        for (; *list != '\0' && *list != ':'; list++)
            if (size + 2 < room)
                path[size++] = *list;
        path[size++] = '/';
        text_copy(path + size, room - size, name);
        if (can_execute(path))
            return true;
        if (*list == '\0')
            return false;
    }
}

const char *runtime_file(void)
{
    environment_prepare();
    return runtime_path;
}

// A child of vfork() is here in its parent's memory. It may try several files.
static void note_vforked(void)
{
    static uint32_t last;
    thread_self();
    if (!runtime.memory_is_shared || runtime.filtered)
        return;
    uint32_t pid = system_pid();
    if (pid != runtime.process->pid && pid != last)
        ancestry_of_vforked(last = pid);
}

static char *const *exec_environment(const char *path, char *const *environment)
{
    note_vforked();
    started_by_exec(started_begin(path));
    functions_publish();
    return with_runtime(environment);
}

// The call returned: it failed.
static int came_back(int result, char *const *changed, char *const *environment)
{
    started_failed();
    if (changed != environment)
        give_back(changed);
    return result;
}

static int hook_execve(const char *path, char *const *arguments, char *const *environment)
{
    char *const *changed = exec_environment(path, environment);
    return came_back(REAL(execve)(path, arguments, changed), changed, environment);
}

// The file that a descriptor is open on, or "".
static void descriptor_path(int file, char *path, size_t room)
{
    char link[32] = "/proc/self/fd/";
    text_put_number(link + text_length(link), (unsigned)file);
    long size = file >= 0 ? SYSTEM_3(__NR_readlink, link, path, room - 1) : -1;
    path[system_failed(size) ? 0 : size] = '\0';
}

static int hook_fexecve(int file, char *const *arguments, char *const *environment)
{
    char path[256];
    descriptor_path(file, path, sizeof path);
    char *const *changed = exec_environment(path, environment);
    return came_back(REAL(fexecve)(file, arguments, changed), changed, environment);
}

static int hook_execveat(int directory, const char *path, char *const *arguments,
                         char *const *environment, int flags)
{
    char start[256], first = '\0';
    const bool known = system_peek(path, &first, 1); // else the kernel reports the bad pointer
    descriptor_path(known && first == '\0' ? directory : -1, start, sizeof start);
    char *const *changed = exec_environment(known && first == '/' ? path : start, environment);
    return came_back(REAL(execveat)(directory, path, arguments, changed, flags), changed,
                     environment);
}

static int hook_execvpe(const char *file, char *const *arguments, char *const *environment)
{
    char *const *changed = exec_environment(file, environment);
    return came_back(REAL(execvpe)(file, arguments, changed), changed, environment);
}

static int hook_execv(const char *path, char *const *arguments)
{
    return hook_execve(path, arguments, environ);
}

static int hook_execvp(const char *file, char *const *arguments)
{
    return hook_execvpe(file, arguments, environ);
}

// Collects the arguments of an execl* call; for execle the environment follows them.
static char **collect(const char *first, va_list rest, char ***ret_environment)
{
    va_list counting;
    va_copy(counting, rest);
    size_t count = first != NULL;
    while (first != NULL && va_arg(counting, char *) != NULL)
        count++;
    va_end(counting);
    char **arguments = borrow((count + 1) * sizeof(char *));
    if (arguments == NULL)
        return NULL;
    arguments[0] = (char *)first;
    for (size_t i = 1; first != NULL && i <= count; i++)
        arguments[i] = va_arg(rest, char *);
    if (ret_environment != NULL)
        *ret_environment = va_arg(rest, char **);
    return arguments;
}

static int out_of_memory(void)
{
    if (__errno_location != NULL)
        *__errno_location() = 12;
    return -1;
}

static int exec_list(const char *path, char **arguments, char *const *environment)
{
    int result = arguments != NULL ? hook_execve(path, arguments, environment) : out_of_memory();
    give_back(arguments);
    return result;
}

static int hook_execl(const char *path, const char *first, ...)
{
    va_list rest;
    va_start(rest, first);
    char **arguments = collect(first, rest, NULL);
    va_end(rest);
    return exec_list(path, arguments, environ);
}

static int hook_execlp(const char *file, const char *first, ...)
{
    va_list rest;
    va_start(rest, first);
    char **arguments = collect(first, rest, NULL);
    va_end(rest);
    int result = arguments != NULL ? hook_execvpe(file, arguments, environ) : out_of_memory();
    give_back(arguments);
    return result;
}

static int hook_execle(const char *path, const char *first, ...)
{
    va_list rest;
    char **environment = NULL;
    va_start(rest, first);
    char **arguments = collect(first, rest, &environment);
    va_end(rest);
    return exec_list(path, arguments, environment);
}

typedef int spawn_function(int *, const char *, const void *, const void *, char *const *,
                           char *const *);

struct spawn {
    const char *path;
    const void *actions, *attributes;
    char *const *arguments, *const *environment;
};

static int spawn(spawn_function *real, int *pid, const struct spawn *spawn)
{
    int child = 0;
    struct started started = started_begin(spawn->path);
    functions_publish();
    char *const *changed = with_runtime(spawn->environment);
    uint64_t ancestry = ancestry_spawn_begin();
    int result =
        real(&child, spawn->path, spawn->actions, spawn->attributes, spawn->arguments, changed);
    ancestry_spawn_end(ancestry, result == 0 ? (uint32_t)child : 0);
    if (result == 0) {
        started_by_spawn(started, (uint32_t)child);
        if (pid != NULL)
            *pid = child;
    }
    if (changed != spawn->environment)
        give_back(changed);
    return result;
}

static int hook_posix_spawn(int *pid, const char *path, const void *actions, const void *attributes,
                            char *const *arguments, char *const *environment)
{
    return spawn(REAL(posix_spawn), pid,
                 &(struct spawn){path, actions, attributes, arguments, environment});
}

static int hook_posix_spawnp(int *pid, const char *file, const void *actions,
                             const void *attributes, char *const *arguments,
                             char *const *environment)
{
    return spawn(REAL(posix_spawnp), pid,
                 &(struct spawn){file, actions, attributes, arguments, environment});
}

// system() and popen() use environ, which the target may have emptied or replaced.
static void repair_environ(void)
{
    started_begin("/bin/sh");
    if (&environ != NULL)
        environ = (char **)with_runtime(environ);
}

static int hook_clearenv(void)
{
    int result = REAL(clearenv)();
    if (result == 0)
        repair_environ();
    return result;
}

static int hook_system(const char *command)
{
    repair_environ();
    return REAL(system)(command);
}

static void *hook_popen(const char *command, const char *mode)
{
    const struct frame_start caller = CALLER_OF_HOOK;
    repair_environ();
    void *stream = REAL(popen)(command, mode);
    return streams_are_known() ? stream_opened(stream, mode, caller) : stream;
}

long program_by_syscall(syscall_function *real, long path, long arguments, long environment)
{
    char *const *changed = exec_environment((const char *)path, (char *const *)environment);
    long result = real(__NR_execve, path, arguments, (long)changed, 0, 0, 0);
    return came_back((int)result, changed, (char *const *)environment);
}

#define HOOK_ROW(name) {#name, (void *)hook_##name, &real_##name},
const struct hook program_hooks[PROGRAM_HOOKS] = {EACH_HOOK(HOOK_ROW)};
