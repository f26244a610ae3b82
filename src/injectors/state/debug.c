// SPDX-License-Identifier: GPL-3.0-or-later
// Makes gdb's command line for a fault: gdb itself stops at the execution of the stop address that
// is meant, shows what is there, changes it, and shows it again.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "elf/object.h"
#include "trial/debug.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct list {
    ARRAY(char *) words;
};

static void list_deinit(struct list *list)
{
    for (size_t i = 0; i < list->words.count; i++)
        free(list->words.items[i]);
    ARRAY_DEINIT(&list->words);
}

static struct error *add(struct list *list, const char *text)
{
    char **slot = ARRAY_ADD(&list->words);
    if (slot == NULL)
        return error_no_memory();
    *slot = strdup(text);
    return *slot != NULL ? NULL : error_no_memory();
}

static struct error *add_command(struct list *list, const char *text)
{
    TRY(add(list, "-ex"));
    return add(list, text);
}

static struct error *take(struct list *list, char ***ret_words)
{
    if (ARRAY_ADD(&list->words) == NULL)
        return error_no_memory();
    *ret_words = list->words.items;
    list->words.items = NULL;
    list->words.count = list->words.room = 0;
    return NULL;
}

// Expressions for eight or, of memory, for single bytes of what is faulty. False: gdb has none.
static bool put_part(const struct wire_state_fault *fault, const struct state_fault *text,
                     unsigned index, char *part, size_t size)
{
    static const char *const general[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"};
    char base[24] = "0", scaled[40] = "0";
    if (!fault->memory) {
        unsigned words = fault->size / 8;
        switch (fault->register_class) {
        case WIRE_STATE_VECTOR:
            snprintf(part, size, "$%s.v%u_int64[%u]", text->reg->name, words, index);
            return true;
        case WIRE_STATE_X87:
            return false;
        case WIRE_STATE_FLAGS:
            snprintf(part, size, "$eflags");
            return true;
        default:
            snprintf(part, size, "$%s", text->reg->name);
            return true;
        }
    }
    if (fault->base == WIRE_STATE_MODULE)
        snprintf(base, sizeof base, "$ordeal_bias");
    if (fault->base == WIRE_STATE_REGISTER && fault->base_register < 8)
        snprintf(base, sizeof base, "(long)$%s", general[fault->base_register]);
    else if (fault->base == WIRE_STATE_REGISTER)
        snprintf(base, sizeof base, "$r%u", fault->base_register);
    if (fault->scale != 0 && fault->index_register < 8)
        snprintf(scaled, sizeof scaled, "%u * (long)$%s", fault->scale,
                 general[fault->index_register]);
    else if (fault->scale != 0)
        snprintf(scaled, sizeof scaled, "%u * $r%u", fault->scale, fault->index_register);
    snprintf(part, size, "*(unsigned char *)(%s + %s + %" PRId64 ")", base, scaled,
             fault->offset + index);
    return true;
}

static uint64_t part_of(const unsigned char *bytes, unsigned at, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, bytes + at, size);
    return value;
}

static struct error *add_change(const struct upsets *self, struct list *list)
{
    const struct wire_state_fault *fault = &self->plan;
    unsigned unit = fault->memory ? 1 : 8;
    for (unsigned at = 0, index = 0; at < fault->size; at += unit, index++) {
        char part[160], command[512];
        unsigned size = fault->size - at < unit ? fault->size - at : unit;
        uint64_t keep = part_of(fault->keep, at, size), change = part_of(fault->change, at, size);
        uint64_t all = size == 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
        if (!put_part(fault, &self->fault, index, part, sizeof part))
            return error_new("gdb cannot change the bits of %s", self->fault.reg->name);
        if (keep == all && change == 0)
            continue;
        snprintf(command, sizeof command, "printf \"Before the fault: 0x%%lx\", (unsigned long)%s",
                 part);
        TRY(add_command(list, command));
        snprintf(command, sizeof command,
                 "set var %s = ((unsigned long)%s & 0x%" PRIx64 ") ^ 0x%" PRIx64, part, part, keep,
                 change);
        TRY(add_command(list, command));
        snprintf(command, sizeof command, "printf \", with it: 0x%%lx\\n\", (unsigned long)%s",
                 part);
        TRY(add_command(list, command));
    }
    return NULL;
}

// Where the program is, is only known when it has been started.
static struct error *add_stop(const struct upsets *self, struct list *list)
{
    const struct wire_state_fault *fault = &self->plan;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    GElf_Ehdr header;
    if (gelf_getehdr(elf_object_handle(self->program.image->object), &header) == NULL)
        return error_new("%s has no ELF header", self->program.path);
    TRY(buffer_printf(
        &text,
        "python exec(\""
        "import re\\n"
        "entry = re.search('AT_ENTRY.* (0x[0-9a-f]+)', gdb.execute('info auxv', to_string=True))\\n"
        "bias = int(entry.group(1), 16) - %" PRIu64 "\\n"
        "gdb.execute('set $ordeal_bias = %%d' %% bias)\\n"
        "stop = gdb.Breakpoint('*%%d' %% (bias + %" PRIu64 "))\\n"
        "stop.ignore_count = %" PRIu64 "\\n"
        "\")",
        (uint64_t)header.e_entry, fault->stop, fault->count - 1));
    TRY(add_command(list, "pipe starti | cat >/dev/null"));
    TRY(add_command(list, text.data));
    return add_command(list, "continue");
}

static struct error *add_arguments(const struct upsets *self, const struct shot *shot,
                                   const char *input, bool batch, struct list *list)
{
    static const char *const always[] = {
        "set debuginfod enabled off", "set confirm off", "set print thread-events off",
        "set print inferior-events off",
        "pipe handle SIGCHLD SIGPIPE SIGALRM nostop noprint pass | cat >/dev/null"};
    _cleanup_(buffer_deinit) struct buffer wrapper = {0};
    if (strpbrk(input, "'\n") != NULL)
        return error_new("gdb cannot be given the input %s: there is a quote in its name", input);
    TRY(buffer_printf(&wrapper, "set exec-wrapper env -u LINES -u COLUMNS <'%s'", input));
    TRY(add(list, "gdb"));
    TRY(add(list, "-quiet"));
    if (batch) {
        TRY(add(list, "-batch"));
        TRY(add(list, "-nx"));
    }
    TRY(add_command(list, wrapper.data));
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        TRY(add_command(list, always[i]));
    TRY(add_stop(self, list));
    TRY(add_change(self, list));
    TRY(add_command(list, "backtrace"));
    TRY(add_command(list, "x/i $pc"));
    if (batch)
        TRY(add_command(list, "continue"));
    TRY(add(list, "--args"));
    for (char *const *word = shot->command; *word != NULL; word++)
        TRY(add(list, *word));
    return NULL;
}

struct error *upsets_debug(void *data, const struct shot *shot, const char *input, bool batch,
                           char ***ret_arguments, char ***ret_environment)
{
    const struct upsets *self = data;
    _cleanup_(list_deinit) struct list arguments = {0}, environment = {0};
    _cleanup_(debug_list_free) char **words = NULL;
    _cleanup_(elf_program_deinit) struct elf_program gdb = {0};
    if (!upsets_runs_program(self, shot->command[0]))
        return error_new("gdb can stop in the command's own program only, and this fault is in %s",
                         self->program.path);
    if (self->plan.moment_ns != 0)
        return error_new("gdb cannot stop at a moment of processor time");
    if (self->plan.permanent || self->plan.thread != 0)
        return error_new("gdb can inject transient faults of no particular thread only");
    struct error *missing = elf_find_program("gdb", &gdb);
    if (missing != NULL) {
        error_free(missing);
        return error_new("gdb is not installed, or not in PATH");
    }
    TRY(add_arguments(self, shot, input, batch, &arguments));
    for (char *const *entry = shot->environment; *entry != NULL; entry++)
        if (strncmp(*entry, "SHELL=", strlen("SHELL=")) != 0)
            TRY(add(&environment, *entry));
    TRY(add(&environment, "SHELL=/bin/sh"));
    TRY(take(&arguments, &words));
    TRY(take(&environment, ret_environment));
    *ret_arguments = TAKE(words);
    return NULL;
}
