// SPDX-License-Identifier: GPL-3.0-or-later
// Looking up symbols as the loader does.
#ifndef ORDEAL_RUNTIME_SYMBOL_H
#define ORDEAL_RUNTIME_SYMBOL_H

#include "runtime/module.h"

struct symbol_found {
    const struct module *module;
    uint32_t index;
};
struct symbol_query {
    const char *name;
    const char *version;        // or NULL
    uint32_t hash;              // of the name, as GNU hash tables have it; 0: not known yet
    struct symbol_found *found; // where it was found; NULL: not wanted
};

// The address the loader would bind a reference from `from` to, or NULL.
void *symbol_find(const struct module *from, struct symbol_query query);
void *symbol_find_after(const struct module *from, struct symbol_query query); // RTLD_NEXT
void *symbol_find_at_start(struct symbol_query query); // in what the program was started with
void *symbol_in(const struct module *module, struct symbol_query query);

// A symbol of a module that was there at the start, as a number for processes that start with the
// same modules; 0: it has none.
uint32_t symbol_number(const struct symbol_found *found);
void *symbol_numbered(uint32_t number, const char *name); // NULL: not that function

// A non-PIE program that takes the address of a function uses a PLT entry of its own as that
// address, for everybody. The entry goes through the program's GOT slot, which is rewritten.
void *symbol_programs_plt(const char *name);
const char *symbol_version(const struct module *module, uint32_t symbol);

#endif
