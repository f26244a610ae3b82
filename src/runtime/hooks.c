// SPDX-License-Identifier: GPL-3.0-or-later
// Hooks: calls that the runtime must see for its own sake. Those here are symbol look-ups, new
// processes and threads, and mutexes. All have known prototypes,
// so the hooks are ordinary functions that call the real one.
#include "runtime/hooks.h"

#include "runtime/ancestry.h"
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
#include "runtime/streams.h"
#include "runtime/symbol.h"
#include "runtime/system.h"

// clang-format off
#define EACH_HOOK(X)                                                                               \
    X(dlopen) X(dlsym) X(dlvsym) X(dlmopen) X(fork) X(_Fork) X(clone) X(pthread_create)            \
    X(_exit) X(_Exit) X(quick_exit)

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

__attribute__((noinline)) static void note_namespace(const char *path)
{
    char name[WIRE_MODULE_PATH];
    if (system_peek_text(path, name, sizeof name))
        journal_note(WIRE_NOTE_NAMESPACE, name);
}

// What is loaded into a namespace of its own keeps its own functions. Must end in a jump: dlmopen()
// looks at who called it.
static void *hook_dlmopen(long list, const char *path, int flags)
{
    const long base = 0;
    if (list != base)
        note_namespace(path);
    return REAL(dlmopen)(list, path, flags);
}

// Processes and threads.

static int hook_fork(void)
{
    ancestry_fork_begin();
    atomic_add(&runtime.forks, 1);
    credits_note_fork(true);
    int pid = REAL(fork)();
    if (pid != 0)
        credits_note_fork(false);
    ancestry_fork_end();
    return pid;
}

static int hook__Fork(void)
{
    ancestry_fork_begin();
    atomic_add(&runtime.forks, 1);
    credits_note_fork(true);
    int pid = REAL(_Fork)();
    if (pid != 0)
        credits_note_fork(false);
    ancestry_fork_end();
    return pid;
}

// The new thread has the same thread-local memory as this one, and so the same row, which is not
// written with locked instructions.
static void share_row(void)
{
    process_lock();
    credits_stop();
    process_unlock();
    functions_lose_calls();
}

// Such a thread is one that the C library does not know of: from now on count with locked
// instructions.
void hook_note_clone(uint64_t flags)
{
    const uint64_t shares_memory = 0x100, parent_waits = 0x4000, own_tls = 0x80000;
    if ((flags & shares_memory) == 0)
        return;
    credits_threads_start();
    if ((flags & (parent_waits | own_tls)) == 0)
        share_row();
    runtime_single_threaded = &runtime_zero_byte;
    runtime.memory_is_shared = true;
}

// The last three arguments may be absent; forwarding what stands in their place does no harm.
static int hook_clone(int (*start)(void *), void *stack, int flags, void *argument,
                      void *parent_tid, void *tls, void *child_tid)
{
    hook_note_clone((uint64_t)(unsigned)flags);
    descriptors_note_clone(flags);
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

// Exits that run no destructors. A child of vfork() is here in its parent's memory, and the parent
// goes on.
static void process_ends(void)
{
    thread_self();
    if (!runtime.filtered && system_pid() != runtime.process->pid)
        return;
    functions_end();
    rows_process_ends();
}

#define EXIT_HOOK(name)                                                                            \
    static void hook_##name(int status)                                                            \
    {                                                                                              \
        process_ends();                                                                            \
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

// By name: 1 + the hook's number. Open addressing: every import is looked for, and most have none.
#define HOOK_NAMES 256
static uint8_t hook_names[HOOK_NAMES];

// All hooks, one table after the other, and whether this run needs them.
#define EACH_TABLE(X)                                                                              \
    X(hooks, sizeof hooks / sizeof hooks[0], true)                                                 \
    X(program_hooks, PROGRAM_HOOKS, true)                                                          \
    X(user_hooks, USER_HOOKS, true)                                                                \
    X(broadcast_hooks, BROADCAST_HOOKS, true)                                                      \
    X(filter_hooks, FILTER_HOOKS, true)                                                            \
    X(wait_hooks, WAIT_HOOKS, true)                                                                \
    X(mutex_hooks, sizeof mutex_hooks / sizeof mutex_hooks[0],                                     \
      (runtime.plan->uses & WIRE_USE_MUTEX) != 0)                                                  \
    X(crash_hooks, CRASH_HOOKS, (runtime.region->options & WIRE_CATCH_CRASHES) != 0)               \
    X(cover_hooks, COVER_HOOKS, cover_is_on() || runtime.plan->variable_count != 0)                \
    X(heap_hooks, HEAP_HOOKS, true)                                                                \
    X(descriptor_hooks, DESCRIPTOR_HOOKS, descriptors_are_known())                                 \
    X(stream_hooks, STREAM_HOOKS, streams_are_known())

#define COUNT(table, count, needed) +(count)
_Static_assert(0 EACH_TABLE(COUNT) <= HOOK_NAMES / 2, "numbers are bytes, and half are free");

static const struct hook *hook_at(uint32_t number)
{
#define FIND(table, count, needed)                                                                 \
    if (number < (count))                                                                          \
        return &(table)[number];                                                                   \
    number -= (uint32_t)(count);
    EACH_TABLE(FIND)
    return NULL;
}

static void add_name(const char *name, uint32_t number)
{
    uint32_t at = wire_hash(name);
    while (hook_names[at % HOOK_NAMES] != 0)
        at++;
    hook_names[at % HOOK_NAMES] = (uint8_t)(number + 1);
}

void hook_prepare(void)
{
    uint32_t first = 0;
#define ADD(table, count, needed)                                                                  \
    for (uint32_t i = 0; (needed) && i < (count); i++)                                             \
        add_name((table)[i].name, first + i);                                                      \
    first += (uint32_t)(count);
    EACH_TABLE(ADD)
}

const struct hook *hook_find(const char *name)
{
    for (uint32_t at = wire_hash(name); hook_names[at % HOOK_NAMES] != 0; at++) {
        const struct hook *hook = hook_at(hook_names[at % HOOK_NAMES] - 1u);
        if (text_equal(hook->name, name))
            return hook;
    }
    return NULL;
}
