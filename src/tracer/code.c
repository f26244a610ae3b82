// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out which files a process runs code of. Whatever cannot be read is code of which nothing is
// known: the trial goes on.
#include "tracer/code.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "elf/go-section.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_CODE      "[vdso]"
#define MOST_KERNEL_CODE (1u << 20)

static void release_file(struct code_file *code)
{
    if (code->unwind_table != NULL)
        dwarf_cfi_end(code->unwind_table);
    if (code->elf != NULL)
        elf_end(code->elf);
    if (code->file >= 0)
        close(code->file);
    ARRAY_DEINIT(&code->ranges);
    free(code->image);
    free(code->path);
    free(code);
}

void code_files_release(struct code_files *files)
{
    for (size_t i = 0; i < files->items.count; i++)
        release_file(files->items.items[i]);
    ARRAY_DEINIT(&files->items);
}

void address_space_clear(struct address_space *space)
{
    ARRAY_DEINIT(&space->mappings);
    space->is_go = false;
}

static bool is_loader(const char *path)
{
    const char *name = file_base_name(path);
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0 ||
           strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc.musl", 9) == 0 ||
           strncmp(name, "libpthread", 10) == 0;
}

static void read_tables(struct code_file *code)
{
    if (code->elf == NULL || elf_kind(code->elf) != ELF_K_ELF)
        return;
    code->unwind_table = dwarf_getcfi_elf(code->elf);
    code->is_go = go_section_read(code->elf, &code->go);
}

static uint32_t register_module(struct wire_region *region, const char *path, uint64_t fingerprint)
{
    struct wire_module *table = (struct wire_module *)((char *)region + region->modules);
    size_t size = strlen(path);
    for (uint32_t i = 0; size < WIRE_MODULE_PATH && i < WIRE_MODULES; i++) {
        struct wire_module *entry = &table[i];
        uint32_t unused = WIRE_MODULE_FREE;
        if (__atomic_compare_exchange_n(&entry->state, &unused, WIRE_MODULE_CLAIMED, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            entry->fingerprint = fingerprint;
            memcpy(entry->path, path, size + 1);
            __atomic_store_n(&entry->state, WIRE_MODULE_REGISTERED, __ATOMIC_RELEASE);
            return i;
        }
    }
    return WIRE_FRAME_UNKNOWN;
}

// Program headers, as the runtime takes them: a build is known by them.
static uint64_t fingerprint_of(Elf *elf)
{
    size_t count, size;
    const char *bytes = elf != NULL ? elf_rawfile(elf, &size) : NULL;
    GElf_Ehdr header;
    if (bytes == NULL || gelf_getehdr(elf, &header) == NULL || elf_getphdrnum(elf, &count) < 0 ||
        header.e_phoff > size || count * header.e_phentsize > size - header.e_phoff)
        return 1;
    return wire_fingerprint(bytes + header.e_phoff, count * header.e_phentsize);
}

// The kernel's code, which is in no file.
static void *copy_kernel_code(const struct tracer_task *task, uint64_t start, uint64_t end)
{
    size_t size = end - start;
    void *image = size <= MOST_KERNEL_CODE ? malloc(size) : NULL;
    if (image != NULL && tracer_read(task, start, image, size) != size) {
        free(image);
        return NULL;
    }
    return image;
}

static struct code_file *open_code(struct code_files *files, const struct tracer_task *task,
                                   const char *path, uint64_t start, uint64_t end)
{
    struct code_file *code = calloc(1, sizeof *code);
    struct code_file **slot = code != NULL ? ARRAY_ADD(&files->items) : NULL;
    if (slot == NULL) {
        free(code);
        return NULL;
    }
    *slot = code;
    code->file = -1;
    code->path = strdup(path);
    bool kernel = strcmp(path, KERNEL_CODE) == 0;
    if (kernel) {
        code->image = copy_kernel_code(task, start, end);
        if (code->image != NULL)
            code->elf = elf_memory(code->image, end - start);
    } else {
        code->file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        code->elf = code->file >= 0 ? elf_begin(code->file, ELF_C_READ_MMAP, NULL) : NULL;
    }
    code->loads = kernel || is_loader(path);
    read_tables(code);
    code->index = kernel ? WIRE_FRAME_UNKNOWN
                         : register_module(files->region, path, fingerprint_of(code->elf));
    return code;
}

static struct code_file *find_code(struct code_files *files, const struct tracer_task *task,
                                   const char *path, uint64_t device, uint64_t inode,
                                   uint64_t start, uint64_t end)
{
    bool kernel = strcmp(path, KERNEL_CODE) == 0;
    if (path[0] != '/' && !kernel)
        return NULL;
    for (size_t i = 0; i < files->items.count; i++) {
        struct code_file *code = files->items.items[i];
        // 32-bit programs have other code of the kernel's, of another size.
        bool same =
            kernel ? code->inode == end - start : code->inode == inode && code->device == device;
        if (same && code->path != NULL && strcmp(code->path, path) == 0)
            return code;
    }
    struct code_file *code = open_code(files, task, path, start, end);
    if (code != NULL) {
        code->device = device;
        code->inode = kernel ? end - start : inode;
    }
    return code;
}

// The segment that a mapping is of tells how far the file was moved.
static uint64_t bias_of(const struct code_file *code, uint64_t start, uint64_t offset)
{
    size_t count;
    if (code->elf == NULL || elf_getphdrnum(code->elf, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(code->elf, (int)i, &segment) == NULL || segment.p_type != PT_LOAD)
            continue;
        uint64_t page = segment.p_offset & ~4095ull;
        if (offset >= page && offset < segment.p_offset + segment.p_filesz)
            return start - (segment.p_vaddr - segment.p_offset + offset);
    }
    return 0;
}

static bool is_program(const struct tracer_task *task, const char *path)
{
    char name[64], program[PATH_MAX];
    snprintf(name, sizeof name, "/proc/%d/exe", task->tid);
    ssize_t size = readlink(name, program, sizeof program - 1);
    program[size > 0 ? size : 0] = '\0';
    return strcmp(program, path) == 0;
}

static void add_mapping(struct address_space *space, const struct tracer_task *task,
                        const char *line)
{
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    int at = 0;
    char rights[5];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &start, &end,
               rights, &offset, &major, &minor, &inode, &at) < 7 ||
        at == 0 || rights[2] != 'x')
        return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", line + at);
    path[strcspn(path, "\n")] = '\0';
    struct code_file *code =
        find_code(space->files, task, path, (uint64_t)major << 32 | minor, inode, start, end);
    struct code_mapping *added = code != NULL ? ARRAY_ADD(&space->mappings) : NULL;
    if (added == NULL)
        return;
    *added = (struct code_mapping){start, end, bias_of(code, start, offset), code};
    space->is_go |= code->is_go && is_program(task, path);
}

static void read_mappings(struct address_space *space, const struct tracer_task *task)
{
    char name[64];
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", task->tid);
    _cleanup_fclose_ FILE *file = fopen(name, "re");
    address_space_clear(space);
    while (file != NULL && getline(&line, &room, file) > 0)
        add_mapping(space, task, line);
}

static const struct code_mapping *look(const struct address_space *space, uint64_t address)
{
    for (size_t i = 0; i < space->mappings.count; i++)
        if (address >= space->mappings.items[i].start && address < space->mappings.items[i].end)
            return &space->mappings.items[i];
    return NULL;
}

const struct code_mapping *address_space_find(struct address_space *space,
                                              const struct tracer_task *task, uint64_t address)
{
    const struct code_mapping *found = look(space, address);
    if (found == NULL && address != 0) {
        read_mappings(space, task);
        found = look(space, address);
    }
    return found;
}

// Asks the controller where the plan's places are in a file, as the runtime does, and waits.
static const struct wire_resolution *ask(struct wire_region *region, uint32_t index)
{
    struct wire_module *entry = (struct wire_module *)((char *)region + region->modules) + index;
    uint32_t state = WIRE_MODULE_REGISTERED;
    if (__atomic_compare_exchange_n(&entry->state, &state, WIRE_MODULE_WANTED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        __atomic_add_fetch(&region->requests, 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, &region->requests, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    uint64_t end_ns = clock_ns() + region->answer_timeout_ms * NS_PER_MS;
    const struct timespec pause = {.tv_sec = region->answer_timeout_ms / 1000,
                                   .tv_nsec = region->answer_timeout_ms % 1000 * 1000000L};
    while (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == WIRE_MODULE_WANTED) {
        if (clock_ns() >= end_ns)
            return NULL;
        syscall(SYS_futex, &entry->state, FUTEX_WAIT, WIRE_MODULE_WANTED, &pause, NULL, 0);
    }
    return __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == WIRE_MODULE_RESOLVED
               ? (const struct wire_resolution *)((char *)region + entry->resolution)
               : NULL;
}

static void resolve(struct code_files *files, struct code_file *code)
{
    code->resolved = true;
    const struct wire_resolution *answer =
        code->index != WIRE_FRAME_UNKNOWN ? ask(files->region, code->index) : NULL;
    if (answer == NULL)
        return;
    // The target may have written over it.
    uint64_t at = (uint64_t)((uintptr_t)answer - (uintptr_t)files->region);
    if (at % 8 != 0 || files->region_size < sizeof *answer ||
        at > files->region_size - sizeof *answer)
        return;
    uint32_t count = answer->range_count;
    const struct wire_range *ranges = (const struct wire_range *)(answer + 1);
    if (count > (files->region_size - at - sizeof *answer) / sizeof *ranges)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct code_range *added = ARRAY_ADD(&code->ranges);
        if (added == NULL)
            return;
        *added = (struct code_range){ranges[i].query, ranges[i].lo, ranges[i].hi};
    }
}

bool code_matches(struct code_files *files, struct code_file *code, uint64_t offset, uint32_t query)
{
    if (code == NULL)
        return false;
    if (!code->resolved)
        resolve(files, code);
    for (size_t i = 0; i < code->ranges.count; i++) {
        const struct code_range *range = &code->ranges.items[i];
        if (range->query == query && offset >= range->low && offset < range->high)
            return true;
    }
    return false;
}
