// SPDX-License-Identifier: GPL-3.0-or-later
// The constructor and destructor of the runtime. It is linked -z initfirst: when the constructor
// runs, everything the program was started with is loaded and relocated, and none of its code has
// run.
#include "runtime/assembly/assembly.h"
#include "runtime/assembly/stubs.h"
#include "runtime/descriptors.h"
#include "runtime/evaluate.h"
#include "runtime/fork.h"
#include "runtime/function.h"
#include "runtime/hooks.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/record.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/slots.h"
#include "runtime/streams.h"
#include "runtime/symbol.h"
#include "runtime/system.h"
#include "wire/check.h"

#include <linux/fcntl.h>
#include <linux/mman.h>

struct runtime runtime;
struct stub_slot runtime_slots[RUNTIME_SLOTS];
void *runtime_slot_real[RUNTIME_SLOTS];
const char runtime_zero_byte = 0;
const char *runtime_single_threaded = &runtime_zero_byte;

static const char *environment_value(char **environment, const char *name)
{
    size_t length = text_length(name);
    for (; *environment != NULL; environment++)
        if (text_starts(*environment, name) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

// Makes the plan read-only, if it has whole pages of its own.
static bool plan_seal(const struct wire_plan *plan)
{
    return (uintptr_t)plan % 4096 == 0 &&
           !system_failed(SYSTEM_3(__NR_mprotect, plan, (plan->size + 4095) & ~4095ul, PROT_READ));
}

// Whether the plan is safe to interpret. In a recorded workload the first process checks it, and
// later ones rely on that if the plan is at the same place. The plan is made read-only first, so
// that it stays as it was checked.
static bool plan_is_sound(struct wire_region *region, const struct wire_plan *plan, uint64_t size)
{
    struct wire_calls *calls = NULL;
    uint32_t place = (uint32_t)region->plan | 1;
    uint64_t room = size - region->plan;
    if (room < sizeof *plan || plan->size > room)
        return false;
    bool sealed = plan_seal(plan);
    if (sealed && (region->options & WIRE_RECORD_CALLS) != 0 && region->calls != 0 &&
        region->calls % 8 == 0 && region->calls < size && size - region->calls >= sizeof *calls)
        calls = (void *)((char *)region + region->calls);
    if (calls != NULL && atomic_load(&calls->sound_plan) == place)
        return true;
    if (wire_plan_check(plan, room) != 0)
        return false;
    if (calls != NULL)
        atomic_store(&calls->sound_plan, place);
    return true;
}

static bool region_is_sound(struct wire_region *region, uint64_t size)
{
    if (region->magic != WIRE_REGION_MAGIC || region->version != WIRE_VERSION ||
        region->size != size || region->plan % 8 != 0 || region->plan >= size)
        return false;
    const struct wire_plan *plan = (const void *)((const char *)region + region->plan);
    if (!plan_is_sound(region, plan, size))
        return false;
    const struct {
        uint64_t offset, size;
    } parts[] = {
        {region->rules, plan->rules.count * sizeof(struct wire_rule_state)},
        {region->patterns, plan->patterns.count * sizeof(struct wire_pattern_state)},
        {region->programs, sizeof(struct wire_programs)},
        {region->marks, region->mark_count * sizeof(uint32_t)},
        {region->modules, WIRE_MODULES * sizeof(struct wire_module)},
        {region->remotes, WIRE_REMOTES * sizeof(struct wire_remote)},
        {region->stack_set, region->stack_set != 0 ? WIRE_STACK_SET * sizeof(uint64_t) : 0},
        {region->calls, region->calls != 0 ? sizeof(struct wire_calls) : 0},
        {region->counts, region->counts != 0 ? sizeof(struct wire_counts) : 0},
        {region->journal,
         (region->journal_capacity + (uint64_t)WIRE_LATE_CRASHES) * sizeof(struct wire_record)},
        {region->preload, 1},
        {region->file, 1},
        {region->coverage, 1},
        {region->program, 1},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].offset > size || parts[i].size > size - parts[i].offset)
            return false;
    return true;
}

// A process has the name it was started under ("sh" where the file is dash) and that of its file.
static void find_program(int argc, char **argv)
{
    runtime.arguments = argv;
    const char *name = argc > 0 ? text_base(argv[0]) : "";
    if (name[0] == '-') // a login shell
        name++;
    if (name[0] == '\0')
        name = text_base(program_path());
    text_copy(runtime.invoked, sizeof runtime.invoked, name);
}

// A shell has the name of its script, for those who ask who started a process.
static void find_script(int argc, char **argv)
{
    static const char *const shells[] = {"sh", "dash", "bash", "ksh", "mksh", "zsh"};
    const char *name = runtime.invoked;
    bool shell = false;
    for (unsigned i = 0; i < sizeof shells / sizeof *shells; i++)
        shell |= text_equal(name, shells[i]);
    for (int i = 1; shell && i < argc && !runtime.helps; i++) {
        const char *word = argv[i];
        if (word[0] != '-') {
            name = text_base(word);
            break;
        }
        for (word++; *word != '\0' && *word != '-'; word++) // "-c", "-ec", not "--norc"
            runtime.helps |= *word == 'c';
    }
    text_copy(runtime.script, sizeof runtime.script, name);
}

static void find_clock(void)
{
    for (size_t i = 0; i < runtime.modules->count; i++)
        if (text_starts(text_base(runtime.modules->modules[i]->path), "linux-vdso"))
            runtime.clock = (long (*)(int, void *))symbol_in(
                runtime.modules->modules[i], (struct symbol_query){.name = "__vdso_clock_gettime"});
}

__attribute__((constructor)) static void runtime_start(int argc, char **argv, char **environment)
{
    uint64_t size;
    if (&_r_debug == NULL) // not glibc: its constructors get no arguments
        return;
    const char *value = environment_value(environment, WIRE_ENVIRONMENT), *path;
    if (value == NULL)
        return;
    struct wire_region *region = attach_map(value, &path, &size);
    if (region == NULL)
        return;
    if (size < sizeof *region || !region_is_sound(region, size) ||
        !text_equal((const char *)region + region->file, path)) {
        SYSTEM_2(__NR_munmap, region, size);
        return;
    }
    runtime.region = region;
    runtime.region_size = size;
    runtime.plan = (const void *)((const char *)region + region->plan);
    runtime.strings = plan_array(runtime.plan->strings);
    runtime.rules = plan_array(runtime.plan->rules);
    runtime.code = plan_array(runtime.plan->code);
    runtime.rule_states = region_at(region->rules);
    runtime.pattern_states = region_at(region->patterns);
    runtime.programs = region_at(region->programs);
    runtime.environment = environment;
    runtime.stack_top = (uint64_t)environment;
    fork_mode = false; // writes to its page first: reading it before would cost two faults
    find_program(argc, argv);
    find_script(argc, argv);
    process_start();
    thread_self();
    bool crashes = (region->options & WIRE_CATCH_CRASHES) != 0;
    if (runtime.plan->patterns.count == 0 && !crashes)
        return;
    if (&__libc_single_threaded != NULL)
        runtime_single_threaded = &__libc_single_threaded;
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next)
        runtime.valgrind |= text_starts(text_base(map->l_name), "vgpreload_");
    system_peek_by_copy |= runtime.valgrind;
    fork_prepare();
    plugin_prepare();
    evaluate_prepare();
    descriptors_prepare();
    streams_prepare();
    record_prepare();
    rows_prepare();
    cover_start();
    module_scan(true);
    find_clock();
    hook_prepare();
    late_hook_loader();
    slots_prepare();
    module_bind_all();
    runtime.armed = true;
    if (crashes)
        crash_prepare();
}

__attribute__((destructor)) static void runtime_stop(void)
{
    if (!runtime.armed)
        return;
    functions_end();
    stream_write_ask_always(); // exit() writes streams later, when there are no rows
    rows_process_ends();
    bind_report_unresolved();
}
