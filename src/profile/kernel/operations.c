// SPDX-License-Identifier: GPL-3.0-or-later
// Resolves indirect calls through tables of operations: reads the tables of usual file systems,
// pipes, terminals and sockets, and takes their functions as the callees.
#include "profile/kernel/operations.h"

#include "base/cleanup.h"
#include "elf/tables.h"
#include "profile/kernel/btf.h"
#include "profile/kernel/members.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TABLES 24 // of one kind

// Functions that read files which the kernel itself has opened, like programs: only regular files.
static const char *const own_readers[] = {"__kernel_read", "__kernel_write", "__kernel_write_iter"};

// The tables that stand for all tables of their kind: of tmpfs, pipes, sockets, terminals, block
// devices, and of files that system calls create. Disk file systems are modules and not in an
// image.
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
     // Without unix_dgram_ops: errors of sending to a path do not happen to write().
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
    // For own_readers, instead of the first entry.
    {"file_operations", {"shmem_file_operations", "ramfs_file_operations"}},
};
#define KINDS (sizeof kinds / sizeof *kinds)

// Functions of the image that do the work for file systems in modules, and fail: write-back,
// quotas. They stand for the operations of those.
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

struct known_operation {
    uint32_t kind;
    uint64_t offset;
};

struct finding {
    struct flow_image *image;
    struct btf *btf;
    struct members members;
    struct operation_targets *targets;
    uint32_t structures[KINDS];
    struct members_range tables[KINDS][MOST_TABLES];
    uint32_t helper_functions[HELPERS]; // or FLOW_NONE
    uint64_t helper_offsets[HELPERS];
    ARRAY(struct known_operation) operations;
};

static void finding_deinit(struct finding *finding)
{
    members_deinit(&finding->members);
    btf_close(finding->btf);
    ARRAY_DEINIT(&finding->operations);
}

// ---- operations ----

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
        const struct members_range *table = &finding->tables[operation->kind][i];
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
        if (members_is_named(function, own_readers[i]))
            return true;
    return false;
}

static struct error *follow_call(struct finding *finding, uint32_t number)
{
    struct flow_image *image = finding->image;
    struct flow_block *block = &image->blocks.items[number];
    uint8_t kind = image->insns.items[block->first + block->count - 1].kind;
    uint32_t structure;
    struct known_operation wanted = {0};
    if ((kind != ISA_CALL_INDIRECT && kind != ISA_JUMP_INDIRECT) || block->callee != FLOW_NONE ||
        (block->end != FLOW_CALLS && block->end != FLOW_UNKNOWN) ||
        !members_called(&finding->members, number, &structure, &wanted.offset))
        return NULL;
    wanted.kind = kind_of(finding, structure);
    if (wanted.kind == FLOW_NONE)
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

static uint32_t function_named(const struct flow_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->functions.count; i++)
        if (members_is_named(&image->functions.items[i], name))
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
            finding->tables[k][i] = members_range(symbols, kinds[k].tables[i]);
    }
}

struct error *operations_find(struct flow_image *image, const struct elf_symbols *symbols,
                              struct operation_targets *targets)
{
    _cleanup_(finding_deinit) struct finding finding = {.image = image, .targets = targets};
    targets->socket_error = UINT64_MAX;
    TRY(btf_open(image->object, &finding.btf));
    // From here on, imports have the numbers of operations, so there must be none before.
    if (finding.btf == NULL || image->imports.count != 0)
        return NULL;
    TRY(members_init(&finding.members, image, symbols, finding.btf));
    find_tables(&finding, symbols);
    find_helpers(&finding);
    targets->socket_error = btf_offset(finding.btf, btf_structure(finding.btf, "sock"), "sk_err");
    targets->socket_errors = walk_socket_errors(image, targets->socket_error);
    TRY(add_boundary(targets));
    for (uint32_t i = 0; i < image->blocks.count; i++)
        TRY(follow_call(&finding, i));
    return NULL;
}
