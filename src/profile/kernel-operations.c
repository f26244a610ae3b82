// SPDX-License-Identifier: GPL-3.0-or-later
// See kernel-operations.h. `call rax` is followed backwards: rax was loaded from a pointer's offset
// b, that pointer from another's offset a, and so on until an argument of the function, the result
// of a call or a well-known variable, whose type is known. Then forwards again through the types.
#include "profile/kernel-operations.h"

#include "base/cleanup.h"
#include "elf/tables.h"
#include "profile/btf.h"
#include "profile/place.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STEPS  2000 // instructions looked at for one call
#define MOST_LOADS  8    // from pointer to pointer
#define MOST_TABLES 24   // of one kind

// Functions that read what the kernel itself has opened, programs for example: regular files only.
static const char *const own_readers[] = {"__kernel_read", "__kernel_write", "__kernel_write_iter"};

// What stands for a kind of table: those of tmpfs, pipes, sockets, terminals, block devices and of
// what system calls themselves make files of. Disk file systems are modules, not part of an image.
static const struct {
    const char *structure;
    const char *tables[MOST_TABLES];
} kinds[] = {
    {"file_operations",
     {"shmem_file_operations", "ramfs_file_operations", "simple_dir_operations", "pipefifo_fops",
      "socket_file_ops", "tty_fops", "def_blk_fops", "def_chr_fops", "eventfd_fops",
      "eventpoll_fops", "signalfd_fops", "timerfd_fops", "inotify_fops"}},
    {"inode_operations",
     {"shmem_inode_operations", "shmem_dir_inode_operations", "shmem_special_inode_operations",
      "shmem_symlink_inode_operations", "shmem_short_symlink_operations", "sockfs_inode_ops",
      "ramfs_dir_inode_operations", "ramfs_file_inode_operations",
      "page_symlink_inode_operations"}},
    {"super_operations", {"shmem_ops", "ramfs_ops", "sockfs_ops", "pipefs_ops"}},
    {"address_space_operations", {"shmem_aops", "def_blk_aops", "ram_aops"}},
    {"vm_operations_struct", {"shmem_vm_ops", "generic_file_vm_ops", "special_mapping_vmops"}},
    {"proto_ops",
     // Not those of unix_dgram_ops: what sending to a path can fail with, write() cannot.
     {"inet_stream_ops", "inet_dgram_ops", "inet6_stream_ops", "inet6_dgram_ops",
      "unix_stream_ops"}},
    {"proto", {"tcp_prot", "udp_prot", "tcpv6_prot", "udpv6_prot", "unix_stream_proto"}},
    {"net_proto_family", {"inet_family_ops", "inet6_family_ops", "unix_family_ops"}},
    {"tty_operations", {"pty_unix98_ops", "con_ops"}},
    {"tty_ldisc_ops", {"n_tty_ops"}},
    {"pipe_buf_operations", {"anon_pipe_buf_ops", "page_cache_pipe_buf_ops"}},
    {"k_clock",
     {"clock_realtime", "clock_monotonic", "clock_boottime", "clock_process", "clock_thread",
      "clock_posix_cpu", "alarm_clock"}},
    {"sched_class", {"fair_sched_class", "rt_sched_class", "dl_sched_class"}},
    {"linux_binfmt", {"elf_format", "script_format"}},
    {"fs_context_operations",
     {"shmem_fs_context_ops", "ramfs_context_ops", "legacy_fs_context_ops"}},
    // For own_readers instead of the first.
    {"file_operations", {"shmem_file_operations", "ramfs_file_operations"}},
};
#define KINDS (sizeof kinds / sizeof *kinds)

// What file systems that are modules call from their operations to do the work, and to fail:
// writing back, quotas. It stands for them.
static const struct {
    const char *structure, *member, *function;
} helpers[] = {
    {"file_operations", "flush", "filemap_check_errors"},
    {"file_operations", "flush", "__dquot_alloc_space"},
    {"file_operations", "fsync", "generic_file_fsync"},
    {"file_operations", "fsync", "filemap_check_errors"},
    {"file_operations", "fsync", "__dquot_alloc_space"},
    {"file_operations", "write_iter", "__dquot_alloc_space"},
    {"file_operations", "fallocate", "__dquot_alloc_space"},
    {"inode_operations", "create", "dquot_alloc_inode"},
    {"inode_operations", "mknod", "dquot_alloc_inode"},
    {"inode_operations", "mkdir", "dquot_alloc_inode"},
    {"inode_operations", "symlink", "dquot_alloc_inode"},
    {"inode_operations", "link", "__dquot_alloc_space"},
    {"inode_operations", "rename", "__dquot_alloc_space"},
    {"inode_operations", "setattr", "__dquot_transfer"},
};
#define HELPERS (sizeof helpers / sizeof *helpers)

// Variables that pointers to tables are taken from.
static const struct {
    const char *name, *structure; // what its elements point to
} variables[] = {
    {"net_families", "net_proto_family"}, {"posix_clocks", "k_clock"}, {"formats", "linux_binfmt"}};
#define VARIABLES (sizeof variables / sizeof *variables)

// Functions whose result is a pointer with something in its lowest bits, and called a number.
static const char *const file_functions[] = {"__fdget", "__fdget_pos", "__fdget_raw"};

static const uint8_t argument_registers[] = {5, 4, 1, 2, 8, 9};

struct table {
    uint64_t start, end; // end == start: the image does not have it
};

struct known_operation {
    uint32_t kind;
    uint64_t offset;
};

struct finding {
    struct flow_image *image;
    struct btf *btf;
    struct operation_targets *targets;
    uint32_t structures[KINDS];
    struct table tables[KINDS][MOST_TABLES];
    struct table variables[VARIABLES];
    uint32_t variable_structures[VARIABLES];
    uint32_t helper_functions[HELPERS]; // or FLOW_NONE
    uint64_t helper_offsets[HELPERS];
    uint32_t file, socket; // structures; a socket is what is private to its file
    uint64_t file_private; // where
    ARRAY(struct known_operation) operations;
    unsigned steps;
    unsigned char *seen;     // by block: met while following one pointer
    ARRAY(uint32_t) visited; // the blocks that are
};

static void finding_deinit(struct finding *finding)
{
    btf_close(finding->btf);
    free(finding->seen);
    ARRAY_DEINIT(&finding->operations);
    ARRAY_DEINIT(&finding->visited);
}

// ---- what a pointer points to ----

struct pointed {
    uint32_t structure; // 0: not known
    int64_t offset;     // into it
};

static struct pointed point(struct finding *finding, uint32_t block, uint32_t at,
                            struct place place, unsigned loads);

static struct pointed at_entry(const struct finding *finding, uint32_t function, struct place place)
{
    const struct flow_function *entered = &finding->image->functions.items[function];
    if (place.kind == PLACE_REGISTER && entered->name != NULL)
        for (unsigned i = 0; i < sizeof argument_registers; i++)
            if (argument_registers[i] == place.reg)
                return (struct pointed){
                    btf_parameter(finding->btf, entered->name, entered->name_size, i), 0};
    return (struct pointed){0};
}

static bool is_called(const struct flow_function *function, const char *name)
{
    return function->name != NULL && strlen(name) == function->name_size &&
           memcmp(function->name, name, function->name_size) == 0;
}

static struct pointed from_call(const struct finding *finding, const struct flow_block *block,
                                struct place place)
{
    if (place.reg != ISA_RETURN || block->callee >= finding->image->functions.count)
        return (struct pointed){0};
    const struct flow_function *called = &finding->image->functions.items[block->callee];
    if (called->name == NULL)
        return (struct pointed){0};
    for (size_t i = 0; i < sizeof file_functions / sizeof *file_functions; i++)
        if (is_called(called, file_functions[i]))
            return (struct pointed){finding->file, 0};
    return (struct pointed){btf_result(finding->btf, called->name, called->name_size), 0};
}

static struct pointed from_variable(const struct finding *finding, uint64_t address)
{
    for (unsigned i = 0; i < VARIABLES; i++)
        if (address >= finding->variables[i].start && address < finding->variables[i].end)
            return (struct pointed){finding->variable_structures[i], 0};
    return (struct pointed){0};
}

// A pointer that an instruction loads from behind another one.
static struct pointed from_memory(struct finding *finding, uint32_t block, uint32_t at,
                                  unsigned loads)
{
    const struct isa_fact *fact = &finding->image->facts.items[at];
    if (fact->base == ISA_PC || fact->base == ISA_NONE)
        return from_variable(finding, (uint64_t)fact->displacement);
    if (fact->index != ISA_NONE || fact->base >= ISA_REGISTERS || loads == MOST_LOADS)
        return (struct pointed){0};
    struct pointed base = point(finding, block, at, place_register(fact->base), loads + 1);
    int64_t offset = base.offset + fact->displacement;
    if (base.structure == 0 || offset < 0)
        return (struct pointed){0};
    if (base.structure == finding->file && (uint64_t)offset == finding->file_private)
        return (struct pointed){finding->socket, 0};
    return (struct pointed){btf_pointer_at(finding->btf, base.structure, (uint64_t)offset), 0};
}

// Where a place's pointer was before an instruction that is neither a call nor a load from behind
// another pointer. False if that cannot be told. *moved: how far it was moved since.
static bool pointer_before(const struct flow_image *image, const struct flow_block *block,
                           uint32_t at, struct place *place, int64_t *moved)
{
    const struct isa_fact *fact = &image->facts.items[at];
    if (place->kind == PLACE_REGISTER) {
        if ((fact->writes >> place->reg & 1) == 0)
            return true;
        if (fact->dst != place->reg || fact->width != 8)
            return false;
        if (fact->kind == ISA_AND && fact->src == ISA_NONE && fact->value >= -8 && fact->value < 0)
            return true; // without the lowest bits
        if (fact->kind == ISA_ADD && fact->src == ISA_NONE) {
            *moved += fact->value;
            return true;
        }
        if (fact->kind == ISA_ADDRESS && fact->base < ISA_REGISTERS && fact->base != ISA_STACK &&
            fact->index == ISA_NONE) {
            *moved += fact->displacement;
            *place = place_register(fact->base);
            return true;
        }
        if (fact->kind != ISA_COPY && fact->kind != ISA_LOAD && fact->kind != ISA_POP)
            return false;
    }
    struct step step = place_step(image, block, at, *place);
    if (step.kind == STEP_MOVED)
        *place = step.place;
    return step.kind == STEP_MOVED || step.kind == STEP_SAME;
}

enum passing { PASSED, ENDED };

// One instruction back. ENDED: *ret is the answer.
static enum passing pass(struct finding *finding, uint32_t number, uint32_t at, struct place *place,
                         int64_t *moved, unsigned loads, struct pointed *ret)
{
    const struct flow_image *image = finding->image;
    const struct flow_block *block = &image->blocks.items[number];
    const struct isa_fact *fact = &image->facts.items[at];
    bool in_register = place->kind == PLACE_REGISTER;
    *ret = (struct pointed){0};
    if (fact->kind == ISA_CALL || fact->kind == ISA_CALL_INDIRECT) {
        if (!in_register || (PLACE_CLOBBERED >> place->reg & 1) == 0)
            return PASSED;
        *ret = from_call(finding, block, *place);
        return ENDED;
    }
    struct place slot;
    if (in_register && fact->kind == ISA_LOAD && fact->from == 8 && fact->dst == place->reg &&
        !place_of_memory(image, block, at, &slot)) {
        *ret = from_memory(finding, number, at, loads);
        return ENDED;
    }
    return pointer_before(image, block, at, place, moved) ? PASSED : ENDED;
}

static bool visit(struct finding *finding, uint32_t block)
{
    if (finding->seen[block])
        return false;
    uint32_t *visited = ARRAY_ADD(&finding->visited);
    if (visited == NULL)
        return false; // what is not followed is not found
    *visited = block;
    finding->seen[block] = 1;
    return true;
}

static uint32_t end_of(const struct flow_image *image, uint32_t block)
{
    return image->blocks.items[block].first + image->blocks.items[block].count;
}

// Where a place points to before instruction `at` of a block. Pointers of one variable have one
// type, so the first way back that knows it will do. As deep as blocks on the way, which `steps`
// bounds.
static struct pointed point(struct finding *finding, uint32_t number, uint32_t at,
                            struct place place, unsigned loads)
{
    const struct flow_image *image = finding->image;
    const struct flow_block *block = &image->blocks.items[number];
    struct pointed found = {0};
    int64_t moved = 0;
    while (at > block->first) {
        if (finding->steps++ >= MOST_STEPS)
            return found;
        if (pass(finding, number, --at, &place, &moved, loads, &found) == ENDED) {
            found.offset += moved;
            return found;
        }
    }
    if (number == image->functions.items[block->function].first_block)
        found = at_entry(finding, block->function, place);
    for (uint32_t i = 0; i < block->in_count && found.structure == 0; i++) {
        uint32_t before = image->edges.items[block->edges_in + i].block;
        if (visit(finding, before))
            found = point(finding, before, end_of(image, before), place, loads);
    }
    found.offset += moved;
    return found;
}

static void forget_visits(struct finding *finding)
{
    for (size_t i = 0; i < finding->visited.count; i++)
        finding->seen[finding->visited.items[i]] = 0;
    finding->visited.count = 0;
    finding->steps = 0;
}

// ---- operations ----

struct load {
    uint32_t block, at;
};

// The load that a called register comes from: the nearest one on some way back.
static bool loaded_from(struct finding *finding, uint32_t number, uint32_t at, struct place place,
                        struct load *ret_load)
{
    const struct flow_image *image = finding->image;
    const struct flow_block *block = &image->blocks.items[number];
    while (at > block->first) {
        const struct isa_fact *fact = &image->facts.items[--at];
        struct place slot;
        int64_t moved = 0;
        if (finding->steps++ >= MOST_STEPS)
            return false;
        bool in_register = place.kind == PLACE_REGISTER;
        if (fact->kind == ISA_CALL || fact->kind == ISA_CALL_INDIRECT) {
            if (in_register && (PLACE_CLOBBERED >> place.reg & 1) != 0)
                return false;
            continue;
        }
        bool loads =
            fact->kind == ISA_LOAD || (fact->kind == ISA_SELECT && (fact->flags & ISA_MEMORY) != 0);
        if (in_register && loads && fact->dst == place.reg &&
            !place_of_memory(image, block, at, &slot)) {
            *ret_load = (struct load){number, at};
            return fact->width == 8;
        }
        if (in_register && fact->kind == ISA_SELECT && fact->dst == place.reg)
            place = place_register(fact->src);
        else if (!pointer_before(image, block, at, &place, &moved) || moved != 0)
            return false;
    }
    if (number == image->functions.items[block->function].first_block)
        return false;
    for (uint32_t i = 0; i < block->in_count; i++) {
        uint32_t before = image->edges.items[block->edges_in + i].block;
        if (visit(finding, before) &&
            loaded_from(finding, before, end_of(image, before), place, ret_load))
            return true;
    }
    return false;
}

// The call itself if it goes through memory.
static bool called_load(struct finding *finding, uint32_t number, struct load *ret_load)
{
    uint32_t at = end_of(finding->image, number) - 1;
    const struct isa_fact *call = &finding->image->facts.items[at];
    *ret_load = (struct load){number, at};
    bool found = (call->flags & ISA_MEMORY) != 0 ||
                 (call->src < ISA_REGISTERS &&
                  loaded_from(finding, number, at, place_register(call->src), ret_load));
    forget_visits(finding);
    return found;
}

static uint32_t kind_of(const struct finding *finding, uint32_t structure)
{
    for (uint32_t i = 0; i < KINDS && structure != 0; i++)
        if (finding->structures[i] == structure)
            return i;
    return FLOW_NONE;
}

static struct error *add_target(struct finding *finding, uint32_t function)
{
    uint32_t *added = ARRAY_ADD(&finding->targets->functions);
    if (added == NULL)
        return error_no_memory();
    *added = function;
    return NULL;
}

static struct error *add_helpers(struct finding *finding, const struct known_operation *operation)
{
    for (unsigned i = 0; i < HELPERS; i++)
        if (finding->helper_functions[i] != FLOW_NONE &&
            finding->helper_offsets[i] == operation->offset &&
            strcmp(helpers[i].structure, kinds[operation->kind].structure) == 0)
            TRY(add_target(finding, finding->helper_functions[i]));
    return NULL;
}

static struct error *add_targets(struct finding *finding, const struct known_operation *operation)
{
    const struct flow_image *image = finding->image;
    for (unsigned i = 0; i < MOST_TABLES; i++) {
        const struct table *table = &finding->tables[operation->kind][i];
        size_t size = 0;
        uint64_t address;
        if (table->end - table->start < 8 || operation->offset > table->end - table->start - 8)
            continue;
        const unsigned char *bytes =
            elf_object_bytes(image->object, table->start + operation->offset, &size);
        if (bytes == NULL || size < sizeof address)
            continue;
        memcpy(&address, bytes, sizeof address);
        uint32_t function = flow_function_at(image, address);
        if (function == FLOW_NONE || image->functions.items[function].start != address)
            continue;
        TRY(add_target(finding, function));
    }
    return add_helpers(finding, operation);
}

static struct error *add_boundary(struct operation_targets *targets)
{
    uint32_t *first = ARRAY_ADD(&targets->first);
    if (first == NULL)
        return error_no_memory();
    *first = (uint32_t)targets->functions.count;
    return NULL;
}

static struct error *find_operation(struct finding *finding, struct known_operation wanted,
                                    uint32_t *ret_operation)
{
    for (size_t i = 0; i < finding->operations.count; i++)
        if (finding->operations.items[i].kind == wanted.kind &&
            finding->operations.items[i].offset == wanted.offset) {
            *ret_operation = (uint32_t)i;
            return NULL;
        }
    struct known_operation *added = ARRAY_ADD(&finding->operations);
    struct flow_import *import = ARRAY_ADD(&finding->image->imports);
    if (added == NULL || import == NULL)
        return error_no_memory();
    *added = wanted;
    *import = (struct flow_import){.name = kinds[wanted.kind].structure, .returns = true};
    TRY(add_targets(finding, &wanted));
    *ret_operation = (uint32_t)finding->operations.count - 1;
    return add_boundary(finding->targets);
}

static bool reads_own(const struct flow_function *function)
{
    for (size_t i = 0; function->name != NULL && i < sizeof own_readers / sizeof *own_readers; i++)
        if (is_called(function, own_readers[i]))
            return true;
    return false;
}

static struct error *follow_call(struct finding *finding, uint32_t number)
{
    struct flow_image *image = finding->image;
    struct flow_block *block = &image->blocks.items[number];
    uint8_t kind = image->facts.items[end_of(image, number) - 1].kind;
    struct load where;
    if ((kind != ISA_CALL_INDIRECT && kind != ISA_JUMP_INDIRECT) || block->callee != FLOW_NONE ||
        (block->end != FLOW_CALLS && block->end != FLOW_UNKNOWN) ||
        !called_load(finding, number, &where))
        return NULL;
    const struct isa_fact *load = &image->facts.items[where.at];
    if (load->index != ISA_NONE || load->base >= ISA_REGISTERS)
        return NULL;
    struct pointed table = point(finding, where.block, where.at, place_register(load->base), 1);
    forget_visits(finding);
    int64_t offset = table.offset + load->displacement;
    struct known_operation wanted = {kind_of(finding, table.structure), (uint64_t)offset};
    if (wanted.kind == FLOW_NONE || offset < 0)
        return NULL;
    if (wanted.kind == 0 && reads_own(&image->functions.items[block->function]))
        wanted.kind = KINDS - 1;
    uint32_t operation = 0;
    TRY(find_operation(finding, wanted, &operation));
    block->callee = operation | 0x80000000u;
    if (block->end == FLOW_UNKNOWN)
        block->end = FLOW_TAIL;
    return NULL;
}

// ---- tables ----

static struct table named(const struct elf_symbols *symbols, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < symbols->data.count; i++) {
        const struct elf_symbol *symbol = &symbols->data.items[i];
        if (symbol->name_size == size && memcmp(symbol->name, name, size) == 0)
            return (struct table){symbol->start, symbol->end};
    }
    return (struct table){0};
}

static uint32_t function_named(const struct flow_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->functions.count; i++)
        if (is_called(&image->functions.items[i], name))
            return i;
    return FLOW_NONE;
}

static void find_helpers(struct finding *finding)
{
    for (unsigned i = 0; i < HELPERS; i++) {
        uint32_t structure = btf_structure(finding->btf, helpers[i].structure);
        finding->helper_functions[i] = function_named(finding->image, helpers[i].function);
        finding->helper_offsets[i] = btf_offset(finding->btf, structure, helpers[i].member);
    }
}

static void find_tables(struct finding *finding, const struct elf_symbols *symbols)
{
    for (unsigned k = 0; k < KINDS; k++) {
        finding->structures[k] = btf_structure(finding->btf, kinds[k].structure);
        for (unsigned i = 0; i < MOST_TABLES && kinds[k].tables[i] != NULL; i++)
            finding->tables[k][i] = named(symbols, kinds[k].tables[i]);
    }
    finding->file = btf_structure(finding->btf, "file");
    finding->socket = btf_structure(finding->btf, "socket");
    finding->file_private = btf_offset(finding->btf, finding->file, "private_data");
    for (unsigned i = 0; i < VARIABLES; i++) {
        finding->variables[i] = named(symbols, variables[i].name);
        finding->variable_structures[i] = btf_structure(finding->btf, variables[i].structure);
    }
}

struct error *operations_find(struct flow_image *image, const struct elf_symbols *symbols,
                              struct operation_targets *targets)
{
    _cleanup_(finding_deinit) struct finding finding = {.image = image, .targets = targets};
    targets->socket_error = UINT64_MAX;
    TRY(btf_open(image->object, &finding.btf));
    // Imports are numbered like operations from here on, so there must be none yet.
    if (finding.btf == NULL || image->imports.count != 0)
        return NULL;
    finding.seen = calloc(image->blocks.count + 1, 1);
    if (finding.seen == NULL)
        return error_no_memory();
    find_tables(&finding, symbols);
    find_helpers(&finding);
    targets->socket_error = btf_offset(finding.btf, btf_structure(finding.btf, "sock"), "sk_err");
    targets->socket_errors = walk_socket_errors(image, targets->socket_error);
    TRY(add_boundary(targets));
    for (uint32_t i = 0; i < image->blocks.count; i++)
        TRY(follow_call(&finding, i));
    return NULL;
}
