// SPDX-License-Identifier: GPL-3.0-or-later
// Modules that are loaded after the start. The loader announces them through the function it keeps
// for debuggers, before it relocates them. An entry of ours in place of their first initialiser
// then binds them after relocation and before any of their own code runs.
#include "runtime/hooks.h"

#include "runtime/assembly/assembly.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/mman.h>

__thread uint32_t runtime_open_flags;
bool runtime_loader_hooked;

static struct module *late_modules[RUNTIME_LATE_INITS];

static bool dynamic_is_writable(const struct module *module)
{
    for (uint32_t i = 0; i < module->header_count; i++) {
        const Elf64_Phdr *header = &module->headers[i];
        uintptr_t start = module->bias + header->p_vaddr;
        if (header->p_type == PT_LOAD && start <= (uintptr_t)module->dynamic &&
            (uintptr_t)module->dynamic < start + header->p_memsz)
            return (header->p_flags & PF_W) != 0;
    }
    return false;
}

// Puts one of our entries in place of the module's first initialiser. When it is called, the loader
// has relocated the module and none of its code has run.
static void late_prepare(struct module *module)
{
    static uint64_t entries[RUNTIME_LATE_INITS];
    Elf64_Dyn *init = NULL, *array = NULL, *array_size = NULL;
    for (Elf64_Dyn *entry = (Elf64_Dyn *)module->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_INIT)
            init = entry;
        else if (entry->d_tag == DT_INIT_ARRAY)
            array = entry;
        else if (entry->d_tag == DT_INIT_ARRAYSZ)
            array_size = entry;
    }
    module->unrelocated = true;
    uint32_t number = 0;
    while (number < RUNTIME_LATE_INITS && late_modules[number] != NULL)
        number++;
    if (number == RUNTIME_LATE_INITS || !dynamic_is_writable(module))
        return;
    uint64_t entry = (uint64_t)(runtime_late_init + number * RUNTIME_LATE_INIT_SIZE);
    if (init != NULL) {
        module->init_value = init->d_un.d_val;
        init->d_un.d_val = entry - module->bias;
    } else if (array != NULL && array_size != NULL) {
        entries[number] = entry;
        module->init_value = array->d_un.d_val;
        module->init_size = array_size->d_un.d_val;
        module->init_is_array = true;
        array->d_un.d_val = (uint64_t)&entries[number] - module->bias;
        array_size->d_un.d_val = sizeof entries[number];
    } else {
        return;
    }
    late_modules[number] = module;
}

// Binds all modules: the loader relocates everything it loaded before it initialises the first or
// loads more.
static void late_release(void)
{
    for (size_t i = 0; i < runtime.modules->count; i++)
        runtime.modules->modules[i]->unrelocated = false;
    module_bind_all();
}

void runtime_late_initialise(uint32_t number, int argc, char **argv, char **envp)
{
    typedef void initialiser(int, char **, char **);
    struct module *module = late_modules[number];
    process_lock();
    late_release();
    late_modules[number] = NULL;
    process_unlock();
    if (!module->init_is_array) {
        ((initialiser *)(module->bias + module->init_value))(argc, argv, envp);
        return;
    }
    initialiser **array = (initialiser **)(module->bias + module->init_value);
    for (uint64_t i = 0; i < module->init_size / sizeof *array; i++)
        array[i](argc, argv, envp);
}

// The modules that one dlopen() has loaded. The one that was asked for comes first in the loader's
// list.
static void take_in_fresh(void)
{
    const uint32_t deep = 8, global = 0x100;
    struct module *root = NULL;
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
        struct module *module = module_of(map);
        if (module == NULL || !module->fresh)
            continue;
        if (root == NULL)
            root = module;
        module->fresh = false;
        module->root = root;
        module->deep = (runtime_open_flags & deep) != 0;
        module->global = (runtime_open_flags & global) != 0;
        if (!module->exempt && runtime_loader_hooked)
            late_prepare(module);
    }
    if (root != NULL)
        runtime_open_flags = 0;
}

// Called by the loader, under its own lock, whenever its list has changed or will.
void runtime_loader_event(void)
{
    if (!runtime.armed || _r_debug.r_state == RT_DELETE)
        return;
    process_lock();
    if (_r_debug.r_state == RT_ADD) {
        late_release(); // binds those without an initialiser
    } else {
        module_scan(false);
        for (size_t i = 0; i < RUNTIME_LATE_INITS; i++)
            if (late_modules[i] != NULL && !late_modules[i]->alive)
                late_modules[i] = NULL; // its loading failed
        take_in_fresh();
    }
    process_unlock();
}

// The loader calls _dl_debug_state, an empty function, for debuggers: `ret`, perhaps after endbr64,
// followed by padding. A jump in its place tells us of every change.
void late_hook_loader(void)
{
    unsigned char *code = (unsigned char *)_r_debug.r_brk;
    static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (code == NULL)
        return;
    const unsigned char *at = memcmp(code, endbr, 4) == 0 ? code + 4 : code;
    if (*at++ != 0xc3)
        return;
    for (; at < code + 5; at++) // filler between functions
        if (*at != 0x90 && *at != 0x66 && *at != 0x0f && *at != 0x1f && *at != 0x2e && *at != 0xcc)
            return;
    int64_t distance = (int64_t)((uintptr_t)runtime_loader_event - (uintptr_t)(code + 5));
    if (distance != (int32_t)distance)
        return;
    uintptr_t page = (uintptr_t)code & ~4095ul;
    size_t size = ((uintptr_t)code + 5 - page + 4095) & ~4095ul;
    if (system_failed(SYSTEM_3(__NR_mprotect, page, size, PROT_READ | PROT_WRITE)))
        return;
    int32_t relative = (int32_t)distance;
    code[0] = 0xe9;
    memcpy(code + 1, &relative, 4);
    SYSTEM_3(__NR_mprotect, page, size, PROT_READ | PROT_EXEC);
    runtime_loader_hooked = true;
}

// For a loader that cannot be hooked, since a debugger has its breakpoint there: modules are bound
// when dlopen() returns, after their constructors. The loader takes the runtime for the caller.
void *runtime_dlopen_and_scan(const char *path, int flags)
{
    void *handle = ((void *(*)(const char *, int))runtime_real_dlopen)(path, flags);
    process_lock();
    module_scan(false);
    take_in_fresh();
    late_release();
    process_unlock();
    return handle;
}
