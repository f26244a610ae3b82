// Call stacks from .eh_frame: find the frame description of a return address, run its rules up to
// there, keep the resulting row. A row already seen costs one look-up in a small table.
#include "runtime/runtime.h"

#include <linux/fcntl.h>

enum { RBX, RBP, R12, R13, R14, R15, SAVED };

#define ROW_VALID  1 // the rest holds
#define ROW_END    2 // outermost frame
#define ROW_SIGNAL 4 // the kernel's signal frame

#define ROW_ON_STACK SAVED // cfa_base: the stack pointer

struct row {
    int32_t cfa_offset;
    int16_t saved[SAVED]; // offset from the CFA, where the bit of saved_mask is set
    uint8_t saved_mask;
    uint8_t cfa_base; // number of a saved register, or ROW_ON_STACK
    uint8_t flags;
};

#define ROWS 1024
#define BUSY 1
static struct cached_row {
    uint64_t pc; // 0 free, BUSY being written
    struct row row;
} rows[ROWS];

void unwind_forget(void)
{
    for (size_t i = 0; i < ROWS; i++)
        atomic_store(&rows[i].pc, 0);
}

// A cursor over the unwind tables, bounded by the module.
struct table {
    const unsigned char *at, *end;
    bool failed;
};

static uint64_t table_fixed(struct table *table, size_t size)
{
    uint64_t value = 0;
    if (table->failed || (size_t)(table->end - table->at) < size) {
        table->failed = true;
        return 0;
    }
    for (size_t i = size; i-- > 0;)
        value = value << 8 | table->at[i];
    table->at += size;
    return value;
}

static uint64_t table_uleb(struct table *table)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = table_fixed(table, 1);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    table->failed = true;
    return 0;
}

static int64_t table_sleb(struct table *table)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        uint64_t byte = table_fixed(table, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        if (table->failed || shift > 63)
            return (int64_t)value;
        if ((byte & 0x80) == 0) {
            if ((byte & 0x40) != 0)
                value |= ~0ull << shift;
            return (int64_t)value;
        }
    }
}

static void table_skip(struct table *table, uint64_t size)
{
    if (table->failed || (uint64_t)(table->end - table->at) < size)
        table->failed = true;
    else
        table->at += size;
}

// A pointer in one of the DW_EH_PE encodings; `base` serves the data-relative ones.
static uint64_t table_encoded(struct table *table, uint8_t encoding, uint64_t base)
{
    uint64_t start = (uint64_t)table->at, value;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = table_fixed(table, 8);
        break;
    case 0x02:
        value = table_fixed(table, 2);
        break;
    case 0x03:
        value = table_fixed(table, 4);
        break;
    case 0x0a:
        value = (uint64_t)(int16_t)table_fixed(table, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int32_t)table_fixed(table, 4);
        break;
    default:
        table->failed = true;
        return 0;
    }
    if ((encoding & 0x70) == 0x10)
        value += start;
    else if ((encoding & 0x70) == 0x30)
        value += base;
    return value;
}

// The description that may cover pc, by the header's sorted table.
static const unsigned char *find_description(const struct module *module, uint64_t pc)
{
    const unsigned char *header = module->eh_frame_header;
    if (header == NULL || header[0] != 1 || header[3] != 0x3b)
        return NULL;
    struct table table = {header + 4, (const unsigned char *)module->high, false};
    table_encoded(&table, header[1], (uint64_t)header);
    uint64_t count = table_encoded(&table, header[2], (uint64_t)header);
    if (table.failed || count == 0 || (uint64_t)(table.end - table.at) / 8 < count)
        return NULL;
    const int32_t *entries = (const int32_t *)table.at;
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if ((uint64_t)(header + entries[2 * middle]) <= pc)
            low = middle;
        else
            high = middle;
    }
    const unsigned char *description = header + entries[2 * low + 1];
    return description >= (const unsigned char *)module->low && description < table.end - 8
               ? description
               : NULL;
}

struct description {
    struct table initial, rules; // instructions of the common part and its own
    uint64_t start, size;
    uint64_t code_align;
    int64_t data_align;
    bool signal;
};

static bool read_common(const struct module *module, const unsigned char *common,
                        struct description *out, uint8_t *ret_encoding, bool *ret_augmented)
{
    struct table table = {common, (const unsigned char *)module->high, false};
    if (common < (const unsigned char *)module->low)
        return false;
    uint64_t length = table_fixed(&table, 4);
    if (length == 0xffffffff || (uint64_t)(table.end - table.at) < length)
        return false;
    table.end = table.at + length;
    table_fixed(&table, 4);
    uint64_t version = table_fixed(&table, 1);
    const char *augmentation = (const char *)table.at;
    while (table_fixed(&table, 1) != 0 && !table.failed)
        ;
    out->code_align = table_uleb(&table);
    out->data_align = table_sleb(&table);
    if (version == 1)
        table_fixed(&table, 1);
    else
        table_uleb(&table);
    *ret_encoding = 0;
    *ret_augmented = augmentation[0] == 'z';
    if (*ret_augmented) {
        uint64_t size = table_uleb(&table);
        struct table data = table;
        for (const char *c = augmentation + 1; *c != '\0' && !data.failed; c++) {
            if (*c == 'R')
                *ret_encoding = (uint8_t)table_fixed(&data, 1);
            else if (*c == 'L')
                table_fixed(&data, 1);
            else if (*c == 'P')
                table_encoded(&data, (uint8_t)table_fixed(&data, 1), 0);
            else if (*c == 'S')
                out->signal = true;
        }
        table_skip(&table, size);
    }
    out->initial = table;
    return !table.failed;
}

static bool read_description(const struct module *module, uint64_t pc, struct description *out)
{
    const unsigned char *entry = find_description(module, pc);
    uint8_t encoding;
    bool augmented;
    if (entry == NULL)
        return false;
    struct table table = {entry, (const unsigned char *)module->high, false};
    uint64_t length = table_fixed(&table, 4);
    if (length == 0xffffffff || length < 8 || (uint64_t)(table.end - table.at) < length)
        return false;
    table.end = table.at + length;
    const unsigned char *common = table.at;
    common -= table_fixed(&table, 4);
    *out = (struct description){.signal = false};
    if (!read_common(module, common, out, &encoding, &augmented))
        return false;
    out->start = table_encoded(&table, encoding, 0);
    out->size = table_encoded(&table, encoding & 0x0f, 0);
    if (augmented)
        table_skip(&table, table_uleb(&table));
    out->rules = table;
    return !table.failed && pc - out->start < out->size;
}

// Register rules while the instructions run.
struct state {
    int64_t cfa_offset;
    uint64_t cfa_register;
    int64_t saved[SAVED];
    bool return_undefined, unusual;
};

static int saved_index(uint64_t dwarf_register)
{
    switch (dwarf_register) {
    case 3:
        return RBX;
    case 6:
        return RBP;
    case 12:
    case 13:
    case 14:
    case 15:
        return (int)dwarf_register - 12 + R12;
    default:
        return -1;
    }
}

static void set_saved(struct state *state, uint64_t number, int64_t offset)
{
    int index = saved_index(number);
    if (index >= 0)
        state->saved[index] = offset;
    else if (number == 16 && offset != -8)
        state->unusual = true;
}

// One instruction other than an advance. False when it is one we do not know.
static bool run_instruction(struct table *table, uint8_t op, struct state *state,
                            const struct state *initial, const struct description *d)
{
    uint64_t number;
    switch (op) {
    case 0x00: // nop
        return true;
    case 0x05: // offset_extended
        number = table_uleb(table);
        set_saved(state, number, (int64_t)table_uleb(table) * d->data_align);
        return true;
    case 0x06: // restore_extended
        number = table_uleb(table);
        if (saved_index(number) >= 0)
            state->saved[saved_index(number)] = initial->saved[saved_index(number)];
        return true;
    case 0x07: // undefined
        number = table_uleb(table);
        if (number == 16)
            state->return_undefined = true;
        return true;
    case 0x08: // same_value
        set_saved(state, table_uleb(table), 0);
        return true;
    case 0x0c: // def_cfa
        state->cfa_register = table_uleb(table);
        state->cfa_offset = (int64_t)table_uleb(table);
        return true;
    case 0x0d: // def_cfa_register
        state->cfa_register = table_uleb(table);
        return true;
    case 0x0e: // def_cfa_offset
        state->cfa_offset = (int64_t)table_uleb(table);
        return true;
    case 0x11: // offset_extended_sf
        number = table_uleb(table);
        set_saved(state, number, table_sleb(table) * d->data_align);
        return true;
    case 0x12: // def_cfa_sf
        state->cfa_register = table_uleb(table);
        state->cfa_offset = table_sleb(table) * d->data_align;
        return true;
    case 0x13: // def_cfa_offset_sf
        state->cfa_offset = table_sleb(table) * d->data_align;
        return true;
    case 0x2e: // GNU_args_size
        table_uleb(table);
        return true;
    case 0x0f: // def_cfa_expression
        table_skip(table, table_uleb(table));
        state->unusual = true;
        return true;
    case 0x10: // expression
    case 0x16: // val_expression
        table_uleb(table);
        table_skip(table, table_uleb(table));
        return true;
    default:
        return false;
    }
}

static bool run(struct table table, const struct description *d, uint64_t pc, struct state *state,
                const struct state *initial)
{
    struct state remembered[4];
    size_t depth = 0;
    uint64_t at = d->start;
    while (table.at < table.end && !table.failed) {
        uint8_t op = (uint8_t)table_fixed(&table, 1);
        uint8_t low = op & 0x3f;
        switch (op >> 6) {
        case 1:
            at += low * d->code_align;
            break;
        case 2:
            set_saved(state, low, (int64_t)table_uleb(&table) * d->data_align);
            continue;
        case 3:
            if (saved_index(low) >= 0)
                state->saved[saved_index(low)] = initial->saved[saved_index(low)];
            continue;
        default:
            if (op >= 0x02 && op <= 0x04) {
                at += table_fixed(&table, 1u << (op - 2)) * d->code_align;
                break;
            }
            if (op == 0x0a && depth < 4) {
                remembered[depth++] = *state;
            } else if (op == 0x0b && depth > 0) {
                *state = remembered[--depth];
            } else if (!run_instruction(&table, op, state, initial, d)) {
                return false;
            }
            continue;
        }
        if (at > pc)
            return true;
    }
    return !table.failed;
}

static struct row compute_row(uint64_t pc)
{
    struct row row = {.flags = 0};
    struct description d;
    struct state state = {.cfa_register = 7}, initial;
    const struct module *module = module_at(pc);
    if (module == NULL || !read_description(module, pc, &d))
        return row;
    if (d.signal) {
        row.flags = ROW_VALID | ROW_SIGNAL;
        return row;
    }
    if (!run(d.initial, &d, UINT64_MAX, &state, &state))
        return row;
    initial = state;
    if (!run(d.rules, &d, pc, &state, &initial))
        return row;
    if (state.return_undefined) {
        row.flags = ROW_VALID | ROW_END;
        return row;
    }
    int base = state.cfa_register == 7 ? ROW_ON_STACK : saved_index(state.cfa_register);
    bool usable = !state.unusual && base >= 0 && state.cfa_offset == (int32_t)state.cfa_offset;
    for (int i = 0; i < SAVED; i++) {
        usable &= state.saved[i] == (int16_t)state.saved[i];
        row.saved[i] = (int16_t)state.saved[i];
        row.saved_mask |= (uint8_t)((state.saved[i] != 0) << i);
    }
    row.cfa_offset = (int32_t)state.cfa_offset;
    row.cfa_base = (uint8_t)base;
    row.flags = usable ? ROW_VALID : 0;
    return row;
}

static struct cached_row *cache_entry(uint64_t pc)
{
    return &rows[(pc ^ pc >> 10) % ROWS];
}

static struct row row_at(uint64_t pc)
{
    struct cached_row *cached = cache_entry(pc);
    uint64_t seen = atomic_load(&cached->pc);
    if (seen == pc) {
        struct row row = cached->row;
        __asm__ volatile("" ::: "memory");
        if (atomic_load(&cached->pc) == pc)
            return row;
    }
    struct row row = compute_row(pc);
    if (seen != BUSY && atomic_swap_if(&cached->pc, seen, BUSY)) {
        cached->row = row;
        atomic_store(&cached->pc, pc);
    }
    return row;
}

// Which part of memory is the stack that sp is on. The main thread's is known; others are looked up
// in the kernel's list once and remembered per thread.

static bool parse_range(const char **line, const char *end, uint64_t *ret_low, uint64_t *ret_high)
{
    uint64_t values[2] = {0, 0};
    int which = 0;
    for (; *line < end && **line != ' '; (*line)++) {
        char c = **line;
        if (c == '-')
            which = 1;
        else
            values[which] = values[which] * 16 + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *ret_low = values[0];
    *ret_high = values[1];
    return *line < end;
}

static bool find_mapping(uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    char buffer[1024];
    size_t have = 0;
    bool found = false;
    long file = SYSTEM_3(__NR_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (system_failed(file))
        return false;
    for (;;) {
        long size = SYSTEM_3(__NR_read, file, buffer + have, sizeof buffer - have);
        if (system_failed(size) || (size == 0 && have == 0))
            break;
        have += (size_t)size;
        const char *line = buffer, *end = buffer + have, *stop;
        for (; !found; line = stop + 1) {
            for (stop = line; stop < end && *stop != '\n'; stop++)
                ;
            if (stop == end)
                break;
            const char *at = line;
            if (parse_range(&at, stop, ret_low, ret_high))
                found = *ret_low <= address && address < *ret_high;
        }
        if (found || size == 0 || line == buffer)
            break;
        have = (size_t)(end - line);
        for (size_t i = 0; i < have; i++)
            buffer[i] = line[i];
    }
    SYSTEM_1(__NR_close, file);
    return found;
}

static void find_stack(struct walk *walk)
{
    struct thread *self = thread_self();
    const uint64_t reach = 128u << 20; // the kernel keeps at least this much below the main stack
    if (walk->sp < runtime.stack_top && walk->sp > runtime.stack_top - reach) {
        walk->stack_low = walk->sp;
        walk->stack_high = runtime.stack_top;
        return;
    }
    for (size_t i = 0; i < 4; i++)
        if (self->stacks[i][0] <= walk->sp && walk->sp < self->stacks[i][1]) {
            walk->stack_low = self->stacks[i][0];
            walk->stack_high = self->stacks[i][1];
            return;
        }
    if (!find_mapping(walk->sp, &walk->stack_low, &walk->stack_high)) {
        walk->stack_low = walk->stack_high = 0;
        return;
    }
    uint64_t *entry = self->stacks[self->stack_next++ % 4];
    entry[0] = walk->stack_low;
    entry[1] = walk->stack_high;
}

void walk_start(struct walk *walk, const struct call_frame *frame)
{
    walk->pc = frame->return_address;
    walk->sp = (uint64_t)frame->stack;
    walk->registers[RBX] = frame->rbx;
    walk->registers[RBP] = frame->rbp;
    walk->registers[R12] = frame->r12;
    walk->registers[R13] = frame->r13;
    walk->registers[R14] = frame->r14;
    walk->registers[R15] = frame->r15;
    walk->exact = false;
    find_stack(walk);
}

bool walk_load(const struct walk *walk, uint64_t address, uint64_t *ret_value)
{
    if (address >= walk->stack_low && address + 8 <= walk->stack_high && address % 8 == 0) {
        *ret_value = *(const uint64_t *)address;
        return true;
    }
    return system_peek((const void *)address, ret_value, 8);
}

static struct row walk_row(const struct walk *walk)
{
    // A return address may lie just past a call that never returns.
    return row_at(walk->exact ? walk->pc : walk->pc - 1);
}

static bool row_cfa(const struct row *row, const struct walk *walk, uint64_t *ret_cfa)
{
    if (row->flags != ROW_VALID)
        return false;
    uint64_t base = row->cfa_base == ROW_ON_STACK ? walk->sp : walk->registers[row->cfa_base];
    *ret_cfa = base + (uint64_t)(int64_t)row->cfa_offset;
    return true;
}

bool walk_cfa(struct walk *walk, uint64_t *ret_cfa)
{
    struct row row = walk_row(walk);
    return row_cfa(&row, walk, ret_cfa);
}

// The interrupted registers stand in the ucontext at sp.
static bool walk_signal_frame(struct walk *walk)
{
    static const unsigned char at[SAVED] = {11, 10, 4, 5, 6, 7};
    const uint64_t registers = walk->sp + 40;
    for (int i = 0; i < SAVED; i++)
        if (!walk_load(walk, registers + 8u * at[i], &walk->registers[i]))
            return false;
    uint64_t sp;
    if (!walk_load(walk, registers + 8 * 15, &sp) ||
        !walk_load(walk, registers + 8 * 16, &walk->pc))
        return false;
    walk->sp = sp;
    walk->exact = true;
    if (sp < walk->stack_low || sp >= walk->stack_high)
        find_stack(walk);
    return walk->pc != 0;
}

static bool walk_slowly(struct walk *walk)
{
    struct row row = walk_row(walk);
    uint64_t cfa, pc;
    if (row.flags == (ROW_VALID | ROW_SIGNAL))
        return walk_signal_frame(walk);
    if (!row_cfa(&row, walk, &cfa) || cfa <= walk->sp || !walk_load(walk, cfa - 8, &pc) || pc == 0)
        return false;
    for (int i = 0; i < SAVED; i++)
        if ((row.saved_mask >> i & 1) != 0 &&
            !walk_load(walk, cfa + (uint64_t)(int64_t)row.saved[i], &walk->registers[i]))
            return false;
    walk->pc = pc;
    walk->sp = cfa;
    walk->exact = false;
    return true;
}

// The common step, in a handful of loads: a known row, everything on the known stack.
bool walk_next(struct walk *walk)
{
    uint64_t at = walk->pc - !walk->exact;
    const struct cached_row *cached = cache_entry(at);
    const struct row *row = &cached->row;
    uint64_t cfa;
    if (atomic_load(&cached->pc) != at || !row_cfa(row, walk, &cfa))
        return walk_slowly(walk);
    // Saved registers lie between the frame's stack pointer and its CFA.
    if (cfa <= walk->sp || cfa > walk->stack_high || walk->sp < walk->stack_low || cfa % 8 != 0)
        return walk_slowly(walk);
    uint64_t pc = *(const uint64_t *)(cfa - 8);
    uint64_t registers[SAVED];
    unsigned mask = row->saved_mask;
    for (unsigned left = mask; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t address = cfa + (uint64_t)(int64_t)row->saved[i];
        if (address < walk->stack_low || address + 8 > walk->stack_high)
            return walk_slowly(walk);
        registers[i] = *(const uint64_t *)address;
    }
    __asm__ volatile("" ::: "memory");
    if (atomic_load(&cached->pc) != at)
        return walk_slowly(walk); // replaced while we read it
    for (unsigned left = mask; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        walk->registers[i] = registers[i];
    }
    walk->pc = pc;
    walk->sp = cfa;
    walk->exact = false;
    return pc != 0;
}

// The same for the same path through the same builds, wherever they are loaded.
uint64_t stack_hash(const struct call_frame *frame)
{
    struct walk walk;
    uint64_t hash = 0;
    walk_start(&walk, frame);
    for (int depth = 0; depth < WIRE_FRAMES; depth++) {
        const struct module *module = module_at(walk.pc);
        uint64_t part = module != NULL ? module->fingerprint ^ (walk.pc - module->bias) : 1;
        hash = random_mix(hash ^ part);
        if (!walk_next(&walk))
            break;
    }
    return hash != 0 ? hash : 1;
}
