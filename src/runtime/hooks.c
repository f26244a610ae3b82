// SPDX-License-Identifier: GPL-3.0-or-later
// Hooks: calls that the runtime must see for its own sake. These are symbol look-ups, new processes
// and threads, programs started with another environment, and mutexes. All have known prototypes,
// so the hooks are ordinary functions that call the real one.
#include "runtime/hooks.h"

#include "runtime/credits.h"
#include "runtime/descriptors.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/slots.h"
#include "runtime/symbol.h"
#include "runtime/system.h"

#include <stdarg.h>

// clang-format off
#define EACH_HOOK(X)                                                                               \
    X(dlopen) X(dlsym) X(dlvsym) X(fork) X(_Fork) X(clone) X(pthread_create)                       \
    X(execve) X(execv) X(execvp) X(execvpe) X(execl) X(execlp) X(execle) X(fexecve) X(execveat)    \
    X(posix_spawn) X(posix_spawnp) X(clearenv) X(system) X(popen) X(_exit) X(_Exit) X(quick_exit)

#define EACH_MUTEX_HOOK(X)                                                                         \
    X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock)                      \
    X(pthread_mutex_clocklock) X(pthread_mutex_unlock) X(__pthread_mutex_lock)                     \
    X(__pthread_mutex_trylock) X(__pthread_mutex_unlock) X(mtx_lock) X(mtx_trylock)                \
    X(mtx_timedlock) X(mtx_unlock)
// clang-format on

#define DECLARE_REAL(name) static void *real_##name;
EACH_HOOK(DECLARE_REAL)
EACH_MUTEX_HOOK(DECLARE_REAL)
#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&real_##name, #name))

// Look-ups.

void *runtime_real_dlopen;
static void *real_dlerror;

#define NEXT ((void *)-1l) // RTLD_NEXT; RTLD_DEFAULT is NULL

// A module without an initialiser is bound when something is looked up in it: then it is relocated.
// Inside dl_iterate_phdr() nothing can be unloaded meanwhile.
static int bind_found(struct dl_phdr_info *info, size_t size, void *module)
{
    (void)info;
    (void)size;
    process_lock();
    ((struct module *)module)->unrelocated = false;
    module_bind_all();
    process_unlock();
    return 1;
}

static void *looked_up(const char *name, void *real, bool with_rules)
{
    if (real == NULL || !bind_is_code(real))
        return real;
    struct module *owner = module_at((uintptr_t)real);
    if (owner != NULL && owner->unrelocated && dl_iterate_phdr != NULL)
        dl_iterate_phdr(bind_found, owner);
    process_lock();
    void *replacement = slot_pointer(name, real, with_rules);
    process_unlock();
    return replacement != NULL ? replacement : real;
}

static void *hook_dlvsym(void *handle, const char *name, const char *version);

static void *real_look_up(void *handle, struct symbol_query query)
{
    void *(*plain)(void *, const char *) =
        (void *(*)(void *, const char *))hook_real(&real_dlsym, "dlsym");
    return query.version != NULL ? REAL(dlvsym)(handle, query.name, query.version)
                                 : plain(handle, query.name);
}

// RTLD_DEFAULT means the same from here as from the program. RTLD_NEXT and a plug-in's own scope
// depend on the caller, so those are looked up here.
static void *look_up(void *handle, struct symbol_query query, const void *caller)
{
    const struct module *from = module_at((uintptr_t)caller);
    if (from == NULL || (handle != NULL && handle != NEXT))
        return looked_up(query.name, real_look_up(handle, query), true);
    if (handle == NULL) {
        void *found = real_look_up(handle, query);
        if (found == NULL && from->root != NULL) // a link map is a handle
            found = real_look_up(from->root->map, query);
        return looked_up(query.name, found, true);
    }
    void *found = symbol_find_after(from, query);
    if (found == NULL) // let the library report that, without finding an earlier definition
        return REAL(dlvsym)(handle, query.name, "after the caller");
    char *(*clear_error)(void) = (char *(*)(void))hook_real(&real_dlerror, "dlerror");
    clear_error();
    // A library that defines a name and asks for the next one wraps it (sanitizers, allocators,
    // tracing libraries). Its caller's call was seen already; the inner call is not another one.
    bool wraps = symbol_in(from, (struct symbol_query){.name = query.name}) != NULL;
    return looked_up(query.name, found, !wraps);
}

static void *hook_dlsym(void *handle, const char *name)
{
    return look_up(handle, (struct symbol_query){.name = name}, __builtin_return_address(0));
}

static void *hook_dlvsym(void *handle, const char *name, const char *version)
{
    return look_up(handle, (struct symbol_query){.name = name, .version = version},
                   __builtin_return_address(0));
}

// Processes and threads.

static int hook_fork(void)
{
    thread_self();
    atomic_add(&runtime.forks, 1);
    int pid = REAL(fork)();
    if (pid == 0)
        thread_self();
    return pid;
}

static int hook__Fork(void)
{
    thread_self();
    atomic_add(&runtime.forks, 1);
    int pid = REAL(_Fork)();
    if (pid == 0)
        thread_self();
    return pid;
}

// clone() makes a thread that the C library does not know of: from now on count with locked
// instructions. The last three arguments may be absent; forwarding what stands in their place does
// no harm.
static int hook_clone(int (*start)(void *), void *stack, int flags, void *argument,
                      void *parent_tid, void *tls, void *child_tid)
{
    const int shares_memory = 0x100;
    if ((flags & shares_memory) != 0)
        credits_threads_start();
    descriptors_note_clone(flags);
    if ((flags & shares_memory) != 0)
        runtime_single_threaded = &runtime_zero_byte;
    atomic_add(&runtime.forks, 1);
    return REAL(clone)(start, stack, flags, argument, parent_tid, tls, child_tid);
}

static int hook_pthread_create(void *thread, const void *attributes, void *(*start)(void *),
                               void *argument)
{
    credits_threads_start();
    uint32_t *busy = thread_announce(start, argument); // first member of the block
    if (busy == NULL)
        return REAL(pthread_create)(thread, attributes, start, argument);
    int result = REAL(pthread_create)(thread, attributes, thread_begin, busy);
    if (result != 0)
        atomic_store(busy, 0);
    return result;
}

// Programs. A started program must have the runtime even if its environment was emptied.

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

// The environment with our two entries: unchanged if it has them already. A preload list of the
// target's own is kept behind ours.
static char *const *with_runtime(char *const *environment)
{
    environment_prepare();
    size_t count = 0;
    const char *preload = NULL, *region_entry = attach_entry();
    bool region = false;
    for (; environment != NULL; count++) {
        char *entry;
        char first;
        if (!system_peek(&environment[count], &entry, sizeof entry) ||
            (entry != NULL && !system_peek(entry, &first, 1)))
            return environment; // the kernel will report the bad pointer
        if (entry == NULL)
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

static char *const *exec_environment(const char *path, char *const *environment)
{
    if (path != NULL)
        journal_exec(path);
    attach_check(path);
    functions_publish();
    return with_runtime(environment);
}

// The call returned: it failed, or it was a spawn.
static int came_back(int result, char *const *changed, char *const *environment)
{
    if (changed != environment)
        give_back(changed);
    return result;
}

static int hook_execve(const char *path, char *const *arguments, char *const *environment)
{
    char *const *changed = exec_environment(path, environment);
    return came_back(REAL(execve)(path, arguments, changed), changed, environment);
}

static int hook_fexecve(int file, char *const *arguments, char *const *environment)
{
    char *const *changed = exec_environment(NULL, environment);
    return came_back(REAL(fexecve)(file, arguments, changed), changed, environment);
}

static int hook_execveat(int directory, const char *path, char *const *arguments,
                         char *const *environment, int flags)
{
    char *const *changed = exec_environment(NULL, environment);
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

static int hook_posix_spawn(int *pid, const char *path, const void *actions, const void *attributes,
                            char *const *arguments, char *const *environment)
{
    char *const *changed = exec_environment(path, environment);
    int result = REAL(posix_spawn)(pid, path, actions, attributes, arguments, changed);
    return came_back(result, changed, environment);
}

static int hook_posix_spawnp(int *pid, const char *file, const void *actions,
                             const void *attributes, char *const *arguments,
                             char *const *environment)
{
    char *const *changed = exec_environment(file, environment);
    int result = REAL(posix_spawnp)(pid, file, actions, attributes, arguments, changed);
    return came_back(result, changed, environment);
}

// system() and popen() use environ, which the target may have emptied or replaced.
static void repair_environ(void)
{
    attach_check("/bin/sh");
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
    repair_environ();
    return REAL(popen)(command, mode);
}

// Exits that run no destructors.

#define EXIT_HOOK(name)                                                                            \
    static void hook_##name(int status)                                                            \
    {                                                                                              \
        thread_self();                                                                             \
        functions_end();                                                                           \
        rows_process_ends();                                                                       \
        REAL(name)(status);                                                                        \
    }
EXIT_HOOK(_exit)
EXIT_HOOK(_Exit)
EXIT_HOOK(quick_exit)

// Mutexes: how many the thread holds.

static int locked(int result)
{
    const int owner_died = 130; // a robust mutex, taken over
    if (result == 0 || result == owner_died)
        thread_self()->mutexes++;
    return result;
}

static int unlocked(int result)
{
    struct thread *self = thread_self();
    if (result == 0 && self->mutexes > 0)
        self->mutexes--;
    return result;
}

#define MUTEX_HOOK_1(name, after)                                                                  \
    static int hook_##name(void *mutex)                                                            \
    {                                                                                              \
        return after(REAL(name)(mutex));                                                           \
    }
MUTEX_HOOK_1(pthread_mutex_lock, locked)
MUTEX_HOOK_1(__pthread_mutex_lock, locked)
MUTEX_HOOK_1(__pthread_mutex_trylock, locked)
MUTEX_HOOK_1(__pthread_mutex_unlock, unlocked)
MUTEX_HOOK_1(pthread_mutex_trylock, locked)
MUTEX_HOOK_1(pthread_mutex_unlock, unlocked)
MUTEX_HOOK_1(mtx_lock, locked)
MUTEX_HOOK_1(mtx_trylock, locked)
MUTEX_HOOK_1(mtx_unlock, unlocked)

static int hook_pthread_mutex_timedlock(void *mutex, const void *deadline)
{
    return locked(REAL(pthread_mutex_timedlock)(mutex, deadline));
}
static int hook_pthread_mutex_clocklock(void *mutex, int clock, const void *deadline)
{
    return locked(REAL(pthread_mutex_clocklock)(mutex, clock, deadline));
}
static int hook_mtx_timedlock(void *mutex, const void *deadline)
{
    return locked(REAL(mtx_timedlock)(mutex, deadline));
}

#define hook_dlopen    runtime_enter_dlopen
#define HOOK_ROW(name) {#name, (void *)hook_##name, &real_##name},
static const struct hook hooks[] = {EACH_HOOK(HOOK_ROW)};
static const struct hook mutex_hooks[] = {EACH_MUTEX_HOOK(HOOK_ROW)};

// The real function is the C library's: a wrapper of the same name is not. Looked up when first
// needed: most programs need few.
void *hook_real(void **real, const char *name)
{
    if (atomic_load(real) != NULL)
        return *real;
    struct symbol_query query = {.name = name};
    const struct module *library = module_at((uintptr_t)__errno_location);
    void *found = library != NULL ? symbol_in(library, query) : NULL;
    if (found == NULL) // before glibc 2.34 some of them lived in libraries of their own
        found = symbol_find(runtime.self, query);
    if (real == &real_dlopen)
        runtime_real_dlopen = found;
    atomic_store(real, found);
    return found;
}

static const struct hook *find_in(const struct hook *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(table[i].name, name))
            return &table[i];
    return NULL;
}

// Most imports have no hook: a filter of 256 bits finds that out quickly.
static uint64_t name_filter[4];

static void filter_add(const struct hook *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t hash = wire_hash(table[i].name);
        name_filter[hash / 64 % 4] |= 1ull << hash % 64;
    }
}

void hook_prepare(void)
{
    filter_add(hooks, sizeof hooks / sizeof hooks[0]);
    filter_add(user_hooks, USER_HOOKS);
    filter_add(broadcast_hooks, BROADCAST_HOOKS);
    if ((runtime.plan->uses & WIRE_USE_MUTEX) != 0)
        filter_add(mutex_hooks, sizeof mutex_hooks / sizeof mutex_hooks[0]);
    if ((runtime.region->options & WIRE_CATCH_CRASHES) != 0)
        filter_add(crash_hooks, CRASH_HOOKS);
    if (cover_is_on() || runtime.plan->variable_count != 0)
        filter_add(cover_hooks, COVER_HOOKS);
    if (runtime.plan->variable_count != 0)
        filter_add(heap_hooks, HEAP_HOOKS);
    if (descriptors_are_known()) {
        filter_add(descriptor_hooks, DESCRIPTOR_HOOKS);
        filter_add(&heap_hooks[HEAP_SYSCALL_HOOK], 1);
    }
}

const struct hook *hook_find(const char *name)
{
    uint32_t hash = wire_hash(name);
    if ((name_filter[hash / 64 % 4] >> hash % 64 & 1) == 0)
        return NULL;
    const struct hook *hook = find_in(hooks, sizeof hooks / sizeof hooks[0], name);
    if (hook == NULL)
        hook = find_in(user_hooks, USER_HOOKS, name);
    if (hook == NULL)
        hook = find_in(broadcast_hooks, BROADCAST_HOOKS, name);
    if (hook == NULL && (runtime.plan->uses & WIRE_USE_MUTEX) != 0)
        hook = find_in(mutex_hooks, sizeof mutex_hooks / sizeof mutex_hooks[0], name);
    if (hook == NULL && (runtime.region->options & WIRE_CATCH_CRASHES) != 0)
        hook = find_in(crash_hooks, CRASH_HOOKS, name);
    if (hook == NULL && (cover_is_on() || runtime.plan->variable_count != 0))
        hook = find_in(cover_hooks, COVER_HOOKS, name);
    if (hook == NULL && runtime.plan->variable_count != 0)
        hook = find_in(heap_hooks, HEAP_HOOKS, name);
    if (hook == NULL && descriptors_are_known()) {
        hook = find_in(descriptor_hooks, DESCRIPTOR_HOOKS, name);
        if (hook == NULL)
            hook = find_in(&heap_hooks[HEAP_SYSCALL_HOOK], 1, name);
    }
    return hook;
}
