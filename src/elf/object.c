// SPDX-License-Identifier: GPL-3.0-or-later
// Opens an object and collects its facts. What the loader uses comes from the program headers, as
// for the loader, so a file without section headers is no special case. Sections only add what is
// nowhere else. All reads go through libelf's bounds-checked chunks.
#include "elf/object.h"

#include "base/cleanup.h"
#include "elf/go-section.h"
#include "elf/internal.h"
#include "elf/symbols.h"
#include "elf/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_GO_BUILD_ID 4
#define GO_BUILDINFO     "\xff Go buildinf:"

struct error *elf_object_broken(const struct elf_object *object, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct error *what = error_new_va(format, args);
    va_end(args);
    return error_prefix(what, "%s", object->path);
}

static const GElf_Phdr *find_segment(const struct elf_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return segment;
    }
    return NULL;
}

uint64_t elf_object_available(const struct elf_object *object, uint64_t address)
{
    const GElf_Phdr *segment = find_segment(object, address);
    return segment != NULL ? segment->p_filesz - (address - segment->p_vaddr) : 0;
}

Elf_Data *elf_object_data(const struct elf_object *object, uint64_t address, uint64_t size,
                          Elf_Type type)
{
    const GElf_Phdr *segment = find_segment(object, address);
    if (segment == NULL || size == 0 || size > segment->p_filesz - (address - segment->p_vaddr))
        return NULL;
    return elf_object_chunk(object, segment->p_offset + (address - segment->p_vaddr), size, type);
}

void elf_object_note_unread(const struct elf_object *object, uint64_t offset, uint64_t size,
                            int code)
{
    bool before = false;
    if (offset > object->file_size || size > object->file_size - offset ||
        !__atomic_compare_exchange_n(&object->unread->any, &before, true, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return;
    object->unread->offset = offset;
    object->unread->size = size;
    object->unread->code = code;
}

struct error *elf_object_check(const struct elf_object *object)
{
    const struct elf_unread *unread = object->unread;
    if (!unread->any)
        return NULL;
    return error_from_errno(unread->code != 0 ? unread->code : EIO,
                            "%s: cannot read the 0x%" PRIx64 " bytes at offset 0x%" PRIx64,
                            object->path, unread->size, unread->offset);
}

Elf_Data *elf_object_chunk(const struct elf_object *object, uint64_t offset, uint64_t size,
                           Elf_Type type)
{
    errno = 0;
    Elf_Data *data = elf_getdata_rawchunk(object->elf, (int64_t)offset, size, type);
    if (data == NULL)
        elf_object_note_unread(object, offset, size, errno);
    return data;
}

// Also of a debug file, which is as long as it is: only its own sections are looked at.
Elf_Data *elf_object_section(const struct elf_object *object, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    errno = 0;
    Elf_Data *data = elf_getdata(section, NULL);
    int code = errno;
    if (data == NULL && elf == object->elf && gelf_getshdr(section, &header) != NULL &&
        header.sh_type != SHT_NOBITS && header.sh_size != 0)
        elf_object_note_unread(object, header.sh_offset, header.sh_size, code);
    return data != NULL && data->d_buf != NULL ? data : NULL;
}

const char *elf_object_string(const struct elf_object *object, uint64_t offset)
{
    if (offset >= object->strings_size)
        return NULL;
    const char *string = object->strings + offset;
    return memchr(string, '\0', object->strings_size - offset) != NULL ? string : NULL;
}

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_X86_64, "x86-64"},   {EM_386, "i386"},
        {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},
        {EM_RISCV, "riscv"},     {EM_PPC64, "ppc64"},
        {EM_PPC, "ppc"},         {EM_S390, "s390"},
        {EM_MIPS, "mips"},       {EM_SPARCV9, "sparc64"},
        {EM_SPARC, "sparc"},     {EM_IA_64, "ia64"},
        {EM_68K, "m68k"},        {EM_LOONGARCH, "loongarch"},
        {EM_BPF, "bpf"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "an unknown machine";
}

static struct error *load_segments(struct elf_object *object)
{
    size_t count;
    if (elf_getphdrnum(object->elf, &count) != 0)
        return elf_object_broken(object, "cannot read the program headers: %s", elf_errmsg(-1));
    uint64_t size = gelf_fsize(object->elf, ELF_T_PHDR, 1, EV_CURRENT);
    uint64_t start = object->header.e_phoff;
    if (count != 0 && (start > object->file_size || count > (object->file_size - start) / size))
        return elf_object_broken(object,
                                 "truncated: the program headers at offset 0x%" PRIx64
                                 " do not fit in %" PRIu64 " bytes",
                                 start, object->file_size);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr *segment = ARRAY_ADD(&object->segments);
        if (segment == NULL)
            return error_no_memory();
        errno = 0;
        if (gelf_getphdr(object->elf, (int)i, segment) == NULL) {
            elf_object_note_unread(object, start, count * size, errno);
            return elf_object_broken(object, "cannot read program header %zu: %s", i,
                                     elf_errmsg(-1));
        }
        if (segment->p_type != PT_LOAD && segment->p_type != PT_DYNAMIC &&
            segment->p_type != PT_INTERP && segment->p_type != PT_NOTE)
            continue;
        if (segment->p_offset > object->file_size ||
            segment->p_filesz > object->file_size - segment->p_offset)
            return elf_object_broken(object,
                                     "truncated: segment %zu wants 0x%" PRIx64
                                     " bytes at offset 0x%" PRIx64 ", the file has %" PRIu64,
                                     i, segment->p_filesz, segment->p_offset, object->file_size);
    }
    object->segment_bytes = calloc(count + 1, sizeof *object->segment_bytes);
    return object->segment_bytes != NULL ? NULL : error_no_memory();
}

static struct error *check_sections(struct elf_object *object)
{
    size_t count;
    const GElf_Ehdr *header = &object->header;
    if (header->e_shoff == 0)
        return NULL;
    if (elf_getshdrnum(object->elf, &count) != 0)
        return elf_object_broken(object, "cannot read the section headers: %s", elf_errmsg(-1));
    if (count < header->e_shnum)
        count = header->e_shnum; // libelf drops a table that does not fit
    uint64_t size = gelf_fsize(object->elf, ELF_T_SHDR, 1, EV_CURRENT);
    if (header->e_shoff > object->file_size || count > (object->file_size - header->e_shoff) / size)
        return elf_object_broken(object,
                                 "truncated: the section headers at offset 0x%" PRIx64
                                 " do not fit in %" PRIu64 " bytes",
                                 header->e_shoff, object->file_size);
    // libelf reads them all with the first one.
    GElf_Shdr first;
    Elf_Scn *section = count != 0 ? elf_getscn(object->elf, 0) : NULL;
    errno = 0;
    if (section != NULL && gelf_getshdr(section, &first) == NULL)
        elf_object_note_unread(object, header->e_shoff, count * size, errno);
    return NULL;
}

static void note_dynamic(struct elf_dynamic *dynamic, const GElf_Dyn *entry)
{
    static const struct {
        int64_t tag;
        size_t field;
    } known[] = {
        {DT_STRTAB, offsetof(struct elf_dynamic, strings)},
        {DT_STRSZ, offsetof(struct elf_dynamic, strings_size)},
        {DT_SYMTAB, offsetof(struct elf_dynamic, symbols)},
        {DT_HASH, offsetof(struct elf_dynamic, hash)},
        {DT_GNU_HASH, offsetof(struct elf_dynamic, gnu_hash)},
        {DT_RELA, offsetof(struct elf_dynamic, rela)},
        {DT_RELASZ, offsetof(struct elf_dynamic, rela_size)},
        {DT_REL, offsetof(struct elf_dynamic, rel)},
        {DT_RELSZ, offsetof(struct elf_dynamic, rel_size)},
        {DT_JMPREL, offsetof(struct elf_dynamic, plt)},
        {DT_PLTRELSZ, offsetof(struct elf_dynamic, plt_size)},
        {DT_PLTREL, offsetof(struct elf_dynamic, plt_kind)},
        {DT_VERSYM, offsetof(struct elf_dynamic, versym)},
        {DT_VERNEED, offsetof(struct elf_dynamic, verneed)},
        {DT_VERNEEDNUM, offsetof(struct elf_dynamic, verneed_count)},
        {DT_VERDEF, offsetof(struct elf_dynamic, verdef)},
        {DT_VERDEFNUM, offsetof(struct elf_dynamic, verdef_count)},
        {DT_FLAGS_1, offsetof(struct elf_dynamic, flags_1)},
        {DT_SONAME, offsetof(struct elf_dynamic, soname)},
        {DT_RPATH, offsetof(struct elf_dynamic, rpath)},
        {DT_RUNPATH, offsetof(struct elf_dynamic, runpath)},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].tag == entry->d_tag)
            memcpy((char *)dynamic + known[i].field, &entry->d_un.d_val, sizeof(uint64_t));
}

static struct error *load_strings(struct elf_object *object)
{
    struct elf_dynamic *dynamic = &object->dynamic;
    if (dynamic->strings == 0)
        return NULL;
    Elf_Data *data = elf_object_data(object, dynamic->strings, dynamic->strings_size, ELF_T_BYTE);
    if (data == NULL)
        return elf_object_broken(object,
                                 "the dynamic string table (0x%" PRIx64
                                 " bytes at address 0x%" PRIx64 ") is not in the file",
                                 dynamic->strings_size, dynamic->strings);
    object->strings = data->d_buf;
    object->strings_size = data->d_size;
    return NULL;
}

static struct error *dynamic_string(const struct elf_object *object, const char *what,
                                    uint64_t offset, const char **ret_string)
{
    const char *string = elf_object_string(object, offset);
    if (string == NULL)
        return elf_object_broken(object,
                                 "%s lies outside the dynamic string table (offset 0x%" PRIx64
                                 " of 0x%" PRIx64 ")",
                                 what, offset, object->strings_size);
    *ret_string = string;
    return NULL;
}

static struct error *load_dynamic_strings(struct elf_object *object, Elf_Data *data, int count)
{
    TRY(load_strings(object));
    for (int i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, i, &entry) == NULL || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED)
            continue;
        const char *name = NULL;
        TRY(dynamic_string(object, "DT_NEEDED", entry.d_un.d_val, &name));
        const char **needed = ARRAY_ADD(&object->needed);
        if (needed == NULL)
            return error_no_memory();
        *needed = name;
    }
    struct elf_dynamic *dynamic = &object->dynamic;
    if (dynamic->soname != 0)
        TRY(dynamic_string(object, "DT_SONAME", dynamic->soname, &object->facts.soname));
    if (dynamic->rpath != 0)
        TRY(dynamic_string(object, "DT_RPATH", dynamic->rpath, &object->rpath));
    if (dynamic->runpath != 0)
        TRY(dynamic_string(object, "DT_RUNPATH", dynamic->runpath, &object->runpath));
    return NULL;
}

static struct error *load_dynamic(struct elf_object *object, const GElf_Phdr *segment)
{
    object->facts.dynamic = true;
    if (segment->p_filesz == 0) // a separate debug file keeps only the header
        return NULL;
    Elf_Data *data = elf_object_chunk(object, segment->p_offset, segment->p_filesz, ELF_T_DYN);
    if (data == NULL)
        return elf_object_broken(object, "cannot read the dynamic section: %s", elf_errmsg(-1));
    uint64_t room = data->d_size / gelf_fsize(object->elf, ELF_T_DYN, 1, EV_CURRENT);
    int count = room < INT32_MAX ? (int)room : INT32_MAX;
    for (int i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, i, &entry) == NULL || entry.d_tag == DT_NULL)
            break;
        note_dynamic(&object->dynamic, &entry);
    }
    return load_dynamic_strings(object, data, count);
}

static struct error *load_interpreter(struct elf_object *object, const GElf_Phdr *segment)
{
    Elf_Data *data = NULL;
    if (segment->p_filesz != 0)
        data = elf_object_chunk(object, segment->p_offset, segment->p_filesz, ELF_T_BYTE);
    if (data == NULL || memchr(data->d_buf, '\0', data->d_size) == NULL)
        return elf_object_broken(object,
                                 "the interpreter's name at offset 0x%" PRIx64 " does not end",
                                 segment->p_offset);
    object->facts.interpreter = data->d_buf;
    return NULL;
}

static void load_notes(struct elf_object *object, const GElf_Phdr *segment)
{
    Elf_Type type = segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    Elf_Data *data = NULL;
    if (segment->p_filesz != 0)
        data = elf_object_chunk(object, segment->p_offset, segment->p_filesz, type);
    if (data == NULL)
        return;
    GElf_Nhdr note;
    size_t at = 0, name, description;
    while ((at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
        const char *text = (const char *)data->d_buf + name;
        const unsigned char *bytes = (const unsigned char *)data->d_buf + description;
        if (note.n_namesz != 4)
            continue;
        if (note.n_type == NOTE_GO_BUILD_ID && memcmp(text, "Go\0", 4) == 0)
            object->facts.go_program = true;
        if (note.n_type == NT_GNU_BUILD_ID && memcmp(text, "GNU", 4) == 0 && note.n_descsz != 0 &&
            note.n_descsz * 2 < sizeof object->build_id) {
            for (size_t i = 0; i < note.n_descsz; i++)
                sprintf(object->build_id + 2 * i, "%02x", bytes[i]);
            object->facts.build_id = object->build_id;
        }
    }
}

// The Go linker puts its build information at the beginning of the data segment, aligned to 16.
static void look_for_go(struct elf_object *object, const GElf_Phdr *segment)
{
    uint64_t size = segment->p_filesz < 1 << 16 ? segment->p_filesz : 1 << 16;
    Elf_Data *data = NULL;
    if (size != 0)
        data = elf_object_chunk(object, segment->p_offset, size, ELF_T_BYTE);
    if (data != NULL &&
        memmem(data->d_buf, data->d_size, GO_BUILDINFO, sizeof GO_BUILDINFO - 1) != NULL)
        object->facts.go_program = true;
}

static struct error *load_segment_facts(struct elf_object *object)
{
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        if (segment->p_type == PT_DYNAMIC && !object->facts.dynamic)
            TRY(load_dynamic(object, segment));
        else if (segment->p_type == PT_INTERP && object->facts.interpreter == NULL)
            TRY(load_interpreter(object, segment));
        else if (segment->p_type == PT_NOTE)
            load_notes(object, segment);
        else if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            look_for_go(object, segment);
    }
    return NULL;
}

bool elf_object_go_table(const struct elf_object *object, struct go_table *ret_table)
{
    return go_section_read(object->elf, ret_table);
}

static void load_section_facts(struct elf_object *object)
{
    size_t names;
    if (elf_getshdrstrndx(object->elf, &names) != 0)
        return;
    Elf_Scn *section = elf_getscn(object->elf, names);
    if (section != NULL) // so that elf_strptr() has them
        elf_object_section(object, object->elf, section);
    section = NULL;
    while ((section = elf_nextscn(object->elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL)
            continue;
        const char *name = elf_strptr(object->elf, names, header.sh_name);
        if (name == NULL)
            continue;
        if (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0)
            object->facts.has_debug_info = true;
        if (strcmp(name, ".go.buildinfo") == 0 || strcmp(name, ".note.go.buildid") == 0)
            object->facts.go_program = true;
    }
}

// The loader has no interpreter either. But when it is run as a command, it loads and preloads.
static bool is_loader(const struct elf_facts *facts)
{
    return facts->soname != NULL &&
           (strncmp(facts->soname, "ld-linux", 8) == 0 || strncmp(facts->soname, "ld.so", 5) == 0 ||
            strncmp(facts->soname, "ld-musl", 7) == 0);
}

static void conclude_kind(struct elf_object *object)
{
    struct elf_facts *facts = &object->facts;
    bool pie = object->header.e_type == ET_DYN && (object->dynamic.flags_1 & DF_1_PIE) != 0;
    bool program = object->header.e_type == ET_EXEC || pie;
    facts->executable = program || (object->header.e_type == ET_DYN &&
                                    object->header.e_entry != 0 && facts->interpreter != NULL);
    facts->static_program =
        facts->interpreter == NULL && !is_loader(facts) &&
        (program || (object->header.e_type == ET_DYN && object->header.e_entry != 0 &&
                     facts->soname == NULL && object->needed.count == 0));
}

static struct error *load_header(struct elf_object *object)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return error_new("libelf is too old");
    errno = 0;
    object->elf = elf_begin(object->file, ELF_C_READ, NULL);
    if (object->elf == NULL)
        return error_from_errno(errno != 0 ? errno : EIO, "%s: cannot be read", object->path);
    size_t size;
    const char *ident = elf_getident(object->elf, &size);
    if (elf_kind(object->elf) != ELF_K_ELF) {
        if (ident != NULL && size >= SELFMAG && memcmp(ident, ELFMAG, SELFMAG) == 0)
            return elf_object_broken(object, "truncated or broken ELF header");
        return elf_object_broken(object, "not an ELF file");
    }
    if (gelf_getehdr(object->elf, &object->header) == NULL)
        return elf_object_broken(object, "truncated or broken ELF header: %s", elf_errmsg(-1));
    object->facts.class_bits = gelf_getclass(object->elf) == ELFCLASS64 ? 64 : 32;
    object->facts.machine = object->header.e_machine;
    object->facts.machine_name = machine_name(object->header.e_machine);
    return NULL;
}

static struct error *open_file(struct elf_object *object)
{
    // Without O_NONBLOCK, opening a FIFO would block.
    object->file = open(object->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (object->file < 0 || fstat(object->file, &status) != 0)
        return error_from_errno(errno, "cannot read %s", object->path);
    if (S_ISDIR(status.st_mode))
        return elf_object_broken(object, "is a directory");
    if (!S_ISREG(status.st_mode))
        return elf_object_broken(object, "not a regular file");
    object->file_size = (uint64_t)status.st_size;
    return NULL;
}

static struct error *load_parts(struct elf_object *object, bool bare)
{
    TRY(open_file(object));
    TRY(load_header(object));
    TRY(load_segments(object));
    TRY(check_sections(object));
    TRY(load_segment_facts(object));
    load_section_facts(object);
    conclude_kind(object);
    if (!bare)
        TRY(elf_object_load_versions(object));
    return elf_object_load_symbols(object, bare);
}

// What was not read is not broken.
static struct error *load_object(struct elf_object *object, bool bare)
{
    struct error *error = load_parts(object, bare), *unread = elf_object_check(object);
    if (unread == NULL)
        return error;
    error_free(error);
    return unread;
}

static struct error *open_object(const char *path, bool bare, struct elf_object **ret_object)
{
    struct elf_object *object = calloc(1, sizeof *object);
    if (object == NULL)
        return error_no_memory();
    object->file = -1;
    object->path = strdup(path);
    object->unread = calloc(1, sizeof *object->unread);
    bool complete = object->path != NULL && object->unread != NULL;
    struct error *error = complete ? load_object(object, bare) : error_no_memory();
    if (error != NULL) {
        elf_object_close(object);
        return error;
    }
    *ret_object = object;
    return NULL;
}

struct error *elf_object_open(const char *path, struct elf_object **ret_object)
{
    return open_object(path, false, ret_object);
}

struct error *elf_object_open_bare(const char *path, struct elf_object **ret_object)
{
    return open_object(path, true, ret_object);
}

void elf_object_close(struct elf_object *object)
{
    if (object == NULL)
        return;
    elf_object_forget_bytes(object);
    free(object->unread);
    free(object->segment_bytes);
    elf_end(object->elf);
    if (object->file >= 0)
        close(object->file);
    ARRAY_DEINIT(&object->segments);
    ARRAY_DEINIT(&object->needed);
    ARRAY_DEINIT(&object->versions);
    ARRAY_DEINIT(&object->imports);
    ARRAY_DEINIT(&object->exports);
    map_deinit(&object->exports_by_name);
    free(object->path);
    free(object);
}

const struct elf_facts *elf_object_facts(const struct elf_object *object)
{
    return &object->facts;
}

#define DIGEST_PIECE 65536
#define DIGEST_MOST  (256ull << 20) // bytes; the rest of a larger file does not count

// Four sums at once, so that the speed of memory is the limit.
static void add_piece(uint64_t sums[4], const unsigned char *piece, size_t size)
{
    uint64_t words[4];
    for (size_t i = 0; i < size; i += sizeof words) {
        size_t left = size - i;
        if (left < sizeof words)
            memset(words, 0, sizeof words);
        memcpy(words, piece + i, left < sizeof words ? left : sizeof words);
        for (unsigned k = 0; k < 4; k++) {
            sums[k] = (sums[k] ^ words[k]) * 0x9e3779b97f4a7c15ull;
            sums[k] ^= sums[k] >> 32;
        }
    }
}

uint64_t elf_object_digest(const struct elf_object *object)
{
    uint64_t size = object->file_size, sums[4] = {size, size, size, size};
    unsigned char piece[DIGEST_PIECE];
    for (uint64_t at = 0; at < DIGEST_MOST;) {
        ssize_t got = pread(object->file, piece, sizeof piece, (off_t)at);
        if (got <= 0)
            break;
        add_piece(sums, piece, (size_t)got);
        at += (uint64_t)got;
    }
    for (unsigned k = 1; k < 4; k++)
        sums[0] = (sums[0] ^ sums[k]) * 0x9e3779b97f4a7c15ull;
    return sums[0] ^ sums[0] >> 29;
}
