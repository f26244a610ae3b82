// SPDX-License-Identifier: GPL-3.0-or-later
// Triggers of the user's own. Their shared objects are preloaded beside the runtime and exempt from
// interception. A guard lets their library calls through, however they reach the stubs.
#include "runtime/evaluate.h"

#include "runtime/assembly/stubs.h"
#include "runtime/call.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/symbol.h"
#include "runtime/system.h"

#include "ordeal.h"

uint32_t runtime_save_size;
uint64_t runtime_save_mask;
bool runtime_save_by_moves;

enum { PLUGIN_NEW, PLUGIN_READY, PLUGIN_BROKEN };

// The type of function that runtime_call_plugin calls: a trigger's eval, and call_init() below.
typedef int entry(void *state, const void *call);

struct plugin {
    uint32_t state;
    entry *eval;
    void *instance;
    const struct ordeal_trigger *trigger;
    uint64_t starter; // process that runs its init
};
static struct plugin *plugins;

static const struct wire_plugin *plan_plugin(uint32_t index)
{
    return (const struct wire_plugin *)plan_array(runtime.plan->plugins) + index;
}

bool plugin_owns(const char *path)
{
    for (uint32_t i = 0; i < runtime.plan->plugins.count; i++)
        if (text_equal(text_base(plan_string(plan_plugin(i)->file)), text_base(path)))
            return true;
    return false;
}

static void cpuid(uint32_t leaf, uint32_t part, uint32_t out[4])
{
    __asm__("cpuid"
            : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
            : "a"(leaf), "c"(part));
}

static void measure_registers(void)
{
    uint32_t facts[4], low, high;
    const uint64_t up_to_avx = 7;
    cpuid(1, 0, facts);
    if ((facts[2] >> 27 & 1) == 0)
        return; // no XSAVE
    cpuid(0xd, 1, facts);
    bool tells_use = (facts[0] >> 2 & 1) != 0; // XGETBV tells which registers are in use
    cpuid(0xd, 0, facts);
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    runtime_save_mask = ((uint64_t)high << 32 | low) & 0xe7; // x87, SSE, AVX, AVX-512
    runtime_save_by_moves = tells_use && runtime_save_mask == up_to_avx;
    __atomic_store_n(&runtime_save_size, facts[1] + 64, __ATOMIC_RELEASE);
}

static const struct ordeal_trigger *find_trigger(const char *name)
{
    char symbol[256] = "ordeal_trigger_";
    text_copy(symbol + 15, sizeof symbol - 15, name);
    const struct module_set *set = runtime.modules;
    for (size_t i = 0; i < set->count; i++) {
        if (!plugin_owns(set->modules[i]->path))
            continue;
        const void *found = symbol_in(set->modules[i], (struct symbol_query){.name = symbol});
        if (found != NULL)
            return found;
    }
    return NULL;
}

// The arguments of init, for call_init().
struct start {
    const struct ordeal_trigger *trigger;
    const struct ordeal_parameter *parameters;
    size_t count;
    void **instance;
};

static int call_init(void *state, const void *unused)
{
    const struct start *start = state;
    (void)unused;
    return start->trigger->init(start->parameters, start->count, start->instance);
}

static uint32_t plugin_start(struct plugin *plugin, uint32_t index, struct thread *thread)
{
    const struct wire_plugin *plan = plan_plugin(index);
    const struct wire_parameter *from =
        (const struct wire_parameter *)plan_array(runtime.plan->parameters) +
        plan->parameters.offset;
    struct ordeal_parameter parameters[64];
    size_t count = plan->parameters.count < 64 ? plan->parameters.count : 64;
    plugin->trigger = find_trigger(plan_string(plan->name));
    if (plugin->trigger == NULL) {
        journal_note(WIRE_NOTE_PLUGIN_MISSING, plan_string(plan->name));
        return PLUGIN_BROKEN;
    }
    if (plugin->trigger->version != ORDEAL_TRIGGER_VERSION || plugin->trigger->eval == NULL) {
        journal_note(WIRE_NOTE_PLUGIN_VERSION, plan_string(plan->name));
        return PLUGIN_BROKEN;
    }
    plugin->eval = (entry *)plugin->trigger->eval;
    if (runtime_save_size == 0)
        measure_registers();
    if (plugin->trigger->init == NULL)
        return PLUGIN_READY;
    for (size_t i = 0; i < count; i++)
        parameters[i] =
            (struct ordeal_parameter){plan_string(from[i].name), plan_string(from[i].value)};
    struct start start = {plugin->trigger, parameters, count, &plugin->instance};
    thread->guard++;
    int refused = runtime_call_plugin(call_init, &start, NULL);
    thread->guard--;
    if (refused != 0)
        journal_note(WIRE_NOTE_PLUGIN_INIT, plan_string(plan->name));
    return refused != 0 ? PLUGIN_BROKEN : PLUGIN_READY;
}

void plugin_prepare(void)
{
    uint32_t count = runtime.plan->plugins.count;
    plugins = count != 0 ? arena_new(count * sizeof *plugins) : NULL;
}

__attribute__((noinline)) static bool is_ready(struct plugin *plugin, uint32_t index,
                                               struct thread *thread)
{
    // After a fork, an init that was running goes on in the parent only: the child runs its own.
    uint64_t self = runtime.process->key, starter = atomic_load(&plugin->starter);
    if (plugin->state < PLUGIN_READY && starter != self &&
        atomic_swap_if(&plugin->starter, starter, self))
        atomic_store(&plugin->state, plugin_start(plugin, index, thread));
    while (atomic_load(&plugin->state) < PLUGIN_READY)
        SYSTEM_1(__NR_sched_yield, 0);
    return plugin->state == PLUGIN_READY;
}

__attribute__((hot)) bool plugin_evaluate(const struct call *call, uint32_t index)
{
    if (plugins == NULL)
        return false;
    struct plugin *plugin = &plugins[index];
    if (__builtin_expect(atomic_load(&plugin->state) != PLUGIN_READY, 0) &&
        !is_ready(plugin, index, call->thread))
        return false;
    struct ordeal_call view = {
        .function = call->function->name,
        .occurrence = call->occurrence,
        .arguments = call->frame->arguments,
        .stack = call->frame->stack,
        .return_address = (const void *)call->frame->return_address,
    };
    int *error = __errno_location != NULL ? __errno_location() : NULL;
    int kept = error != NULL ? *error : 0;
    call->thread->guard++;
    bool holds = runtime_call_plugin(plugin->eval, plugin->instance, &view) != 0;
    call->thread->guard--;
    if (error != NULL)
        *error = kept;
    return holds;
}
