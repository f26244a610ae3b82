// SPDX-License-Identifier: GPL-3.0-or-later
// A stream fails where its buffer is written: in fclose() or exit(), or in whichever putc() happens
// to fill the buffer. glibc does all of that in one function, _IO_file_write(), which its streams
// call through tables of functions. The library checks that a stream points to one of its own
// tables, but not what is in them. So the function can be intercepted there, like an import, and
// the library itself does the rest: it drops the buffer or keeps it, sets the error indicator, and
// returns what it always does.
#include "runtime/streams.h"

#include "runtime/assembly/stubs.h"
#include "runtime/descriptors.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/slots.h"
#include "runtime/symbol.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

// glibc's FILE begins with a word of flags; pointers follow, then the descriptor.
#define MAGIC         0xfbad0000u
#define WRITE_BASE    4 // in words
#define WRITE_POINTER 5
#define DESCRIPTOR    14

bool streams_are_known(void)
{
    return (runtime.plan->uses & WIRE_USE_STREAMS) != 0;
}

static bool is_stream(uint64_t stream, uint32_t *ret_flags)
{
    return stream != 0 && system_peek((const void *)stream, ret_flags, sizeof *ret_flags) &&
           (*ret_flags & 0xffff0000u) == MAGIC;
}

bool stream_of(const struct call_frame *frame, const struct wire_traits *traits,
               uint64_t *ret_stream, uint32_t *ret_flags)
{
    unsigned argument = wire_traits_stream(traits);
    if (argument >= WIRE_TRAITS_STDIN) {
        const char *name = argument == WIRE_TRAITS_STDIN ? "stdin" : "stdout";
        const void *variable = symbol_find_at_start((struct symbol_query){.name = name});
        if (variable == NULL || !system_peek(variable, ret_stream, sizeof *ret_stream))
            return false;
    } else if (argument != 0 && argument <= WIRE_ARGUMENTS) {
        *ret_stream = frame->arguments[argument - 1];
    } else {
        return false;
    }
    return is_stream(*ret_stream, ret_flags);
}

int64_t stream_descriptor(uint64_t stream)
{
    uint32_t flags;
    int32_t descriptor;
    return is_stream(stream, &flags) && system_peek((const uint64_t *)stream + DESCRIPTOR,
                                                    &descriptor, sizeof descriptor)
               ? descriptor
               : -1;
}

void stream_mark(uint64_t stream, uint32_t flags, uint32_t indicator)
{
    flags |= indicator;
    system_poke((void *)stream, &flags, 1);
}

void stream_lose_buffer(uint64_t stream)
{
    uint64_t *words = (uint64_t *)stream, first;
    uint32_t flags;
    if (is_stream(stream, &flags) && system_peek(&words[WRITE_BASE], &first, sizeof first))
        system_poke(&words[WRITE_POINTER], &first, sizeof first);
}

// Where streams were opened, by the address of the FILE. A FILE that is closed stays here until its
// memory is another one. What finds no room is not known.
#define OPENINGS 1024
#define TRIED    16
static struct opening {
    uint64_t stream;
    struct stream_opening at;
} openings[OPENINGS];

static struct opening *opening_of(uint64_t stream, bool add)
{
    uint64_t at = random_mix(stream);
    for (uint32_t i = 0; i < TRIED; i++) {
        struct opening *opening = &openings[(at + i) % OPENINGS];
        uint64_t found = atomic_load(&opening->stream);
        if (found == 0 && add && atomic_swap_if(&opening->stream, 0, stream))
            return opening;
        found = atomic_load(&opening->stream);
        if (found == stream)
            return opening;
        if (found == 0)
            return NULL;
    }
    return NULL;
}

struct stream_opening stream_opening(uint64_t stream)
{
    const struct opening *opening = opening_of(stream, false);
    if (opening != NULL)
        return opening->at;
    int64_t descriptor = stream_descriptor(stream);
    return (struct stream_opening){
        .place = descriptor == 1 || descriptor == 2 ? (uint64_t)descriptor : 0};
}

static void *opened(void *stream, struct frame_start caller)
{
    struct opening *opening = stream != NULL ? opening_of((uint64_t)stream, true) : NULL;
    if (opening == NULL)
        return stream;
    opening->at.stack = runtime.calls != NULL ? frames_hash_from(caller) : 0;
    atomic_store(&opening->at.place, caller.pc);
    return stream;
}

// clang-format off
#define EACH_HOOK(X) X(fopen) X(fopen64) X(fdopen) X(tmpfile) X(tmpfile64) X(popen)
// clang-format on
#define AT(name) AT_##name,
enum { EACH_HOOK(AT) HOOKS };
_Static_assert(HOOKS == STREAM_HOOKS, "STREAM_HOOKS");

static void *reals[STREAM_HOOKS];
#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&reals[AT_##name], #name))

// At the frame pointer are the caller's, and what the hook returns to. They are read before the
// frame may be given up for a last call.
#define OPENING_HOOK(name, parameters, arguments)                                                  \
    static void *hook_##name parameters                                                            \
    {                                                                                              \
        const uint64_t *frame = __builtin_frame_address(0);                                        \
        const struct frame_start caller = {frame[1], (uint64_t)(frame + 2), frame[0]};             \
        return opened(REAL(name) arguments, caller);                                               \
    }
OPENING_HOOK(fopen, (const char *a, const char *b), (a, b))
OPENING_HOOK(fopen64, (const char *a, const char *b), (a, b))
OPENING_HOOK(fdopen, (int a, const char *b), (a, b))
OPENING_HOOK(tmpfile, (void), ())
OPENING_HOOK(tmpfile64, (void), ())
OPENING_HOOK(popen, (const char *a, const char *b), (a, b))

// Filled in at run time, as in descriptors.c.
struct hook stream_hooks[STREAM_HOOKS];

__attribute__((noinline)) static void put(uint32_t at, const char *name, void *replacement)
{
    stream_hooks[at] = (struct hook){name, replacement, &reals[at]};
}

void streams_prepare(void)
{
    if (!streams_are_known())
        return;
    if (runtime.process->number == 1 && runtime.region->output == 0)
        runtime.region->output = descriptor_inode(1);
#define PUT(name) put(AT_##name, #name, (void *)hook_##name);
    EACH_HOOK(PUT)
}

static bool is_bound;

bool stream_write_is_bound(void)
{
    return is_bound;
}

// Only if a rule names the function: "*write" means the functions that programs call.
void stream_write_bind(struct module *module)
{
    static const char name[] = "_IO_file_write";
    if (!streams_are_known() || !module->system || module->relro_low == 0 ||
        !function_is_named(name))
        return;
    void *real = symbol_in(module, (struct symbol_query){.name = name});
    void *replacement = real != NULL ? slot_replacement(name, real, SLOT_RULES, NULL) : NULL;
    if (replacement == NULL)
        return;
    is_bound = true;
    for (void **place = (void **)module->relro_low; place < (void **)module->relro_high; place++)
        if (*place == real)
            bind_write(module, place, replacement);
}
