// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the text of a fault, from left to right, one word after the other.
#include "state/fault.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/suggestion.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct source *source;
    size_t at;
};

struct piece { // of the text
    const char *text;
    size_t at, size;
};

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->source->size &&
           isspace((unsigned char)reader->source->text[reader->at]))
        reader->at++;
}

// Up to a blank or one of `stops`; may be empty.
static struct piece read_piece(struct reader *reader, const char *stops)
{
    skip_blanks(reader);
    struct piece piece = {.text = reader->source->text + reader->at, .at = reader->at};
    while (reader->at < reader->source->size) {
        char c = reader->source->text[reader->at];
        if (isspace((unsigned char)c) || strchr(stops, c) != NULL)
            break;
        reader->at++;
    }
    piece.size = reader->at - piece.at;
    return piece;
}

static bool is(struct piece piece, const char *word)
{
    return piece.size == strlen(word) && memcmp(piece.text, word, piece.size) == 0;
}

static bool take(struct reader *reader, char wanted)
{
    skip_blanks(reader);
    if (reader->at == reader->source->size || reader->source->text[reader->at] != wanted)
        return false;
    reader->at++;
    return true;
}

static struct error *unexpected(const struct reader *reader, struct piece piece, const char *wanted)
{
    if (piece.size == 0)
        return source_error(reader->source, piece.at, "expected %s", wanted);
    return source_error(reader->source, piece.at, "expected %s, found '%.*s'", wanted,
                        (int)piece.size, piece.text);
}

// Decimal, or hexadecimal with 0x.
static struct error *read_number(const struct reader *reader, struct piece piece,
                                 const char *wanted, uint64_t *ret_number)
{
    char text[32], *end;
    if (piece.size == 0 || piece.size >= sizeof text || !isdigit((unsigned char)piece.text[0]))
        return unexpected(reader, piece, wanted);
    memcpy(text, piece.text, piece.size);
    text[piece.size] = '\0';
    errno = 0;
    bool hexadecimal = piece.size > 2 && text[0] == '0' && text[1] == 'x';
    *ret_number = strtoull(text, &end, hexadecimal ? 16 : 10);
    return *end == '\0' && errno == 0 ? NULL : unexpected(reader, piece, wanted);
}

static struct error *find_register(const struct reader *reader, struct piece piece,
                                   const struct state_register **ret_register)
{
    *ret_register = state_register_find(piece.text, piece.size);
    if (*ret_register != NULL)
        return NULL;
    if (piece.size == 0)
        return unexpected(reader, piece, "a register, such as rax, flags or xmm0");
    char storage[SUGGESTION_SIZE];
    struct suggestion meant = suggestion_start(piece.text, piece.size);
    const struct state_register *each = NULL;
    while ((each = state_register_next(each)) != NULL)
        suggestion_offer(&meant, each->name);
    return source_error(reader->source, piece.at, "there is no register '%.*s'%s", (int)piece.size,
                        piece.text, suggestion_text(&meant, storage));
}

// +N or -N, or nothing.
static struct error *read_offset(struct reader *reader, const char *stops, int64_t *ret_offset)
{
    bool minus = take(reader, '-');
    uint64_t number;
    if (!minus && !take(reader, '+'))
        return NULL;
    TRY(read_number(reader, read_piece(reader, stops), "a number of bytes", &number));
    *ret_offset = (int64_t)(minus ? 0 - number : number);
    return NULL;
}

static struct error *read_size(struct reader *reader, struct state_fault *fault)
{
    uint64_t size = 0;
    if (reader->at == reader->source->size || reader->source->text[reader->at] != ':')
        return NULL;
    reader->at++;
    struct piece piece = read_piece(reader, "");
    TRY(read_number(reader, piece, "a number of bytes", &size));
    if (size == 0 || size > WIRE_STATE_BYTES)
        return source_error(reader->source, piece.at, "expected 1 to %d bytes", WIRE_STATE_BYTES);
    fault->size = (uint32_t)size;
    return NULL;
}

static struct error *find_general(const struct reader *reader, struct piece name,
                                  const struct state_register **ret_register)
{
    TRY(find_register(reader, name, ret_register));
    return (*ret_register)->class == WIRE_STATE_GENERAL
               ? NULL
               : source_error(reader->source, name.at, "only general registers hold addresses");
}

// +REGISTER*SCALE, or nothing.
static struct error *read_index(struct reader *reader, struct state_fault *fault)
{
    struct reader ahead = *reader;
    if (!take(&ahead, '+'))
        return NULL;
    struct piece name = read_piece(&ahead, "*+-]");
    if (name.size != 0 && isdigit((unsigned char)name.text[0]))
        return NULL;
    TRY(find_general(reader, name, &fault->index));
    fault->scale = 1;
    *reader = ahead;
    if (!take(reader, '*'))
        return NULL;
    struct piece scale = read_piece(reader, "+-]");
    uint64_t number;
    TRY(read_number(reader, scale, "1, 2, 4 or 8", &number));
    if (number != 1 && number != 2 && number != 4 && number != 8)
        return unexpected(reader, scale, "1, 2, 4 or 8");
    fault->scale = (unsigned)number;
    return NULL;
}

// [rsp+16]:4, [rax+rcx*8-0x10]
static struct error *read_through_registers(struct reader *reader, struct state_fault *fault)
{
    TRY(find_general(reader, read_piece(reader, "+-]"), &fault->reg));
    fault->base = WIRE_STATE_REGISTER;
    TRY(read_index(reader, fault));
    TRY(read_offset(reader, "]", &fault->offset));
    if (!take(reader, ']'))
        return unexpected(reader, read_piece(reader, ""), "']'");
    return read_size(reader, fault);
}

// SYMBOL+4:8, [rsp+16]:4, 0x404010
static struct error *read_memory(struct reader *reader, struct state_fault *fault)
{
    if (take(reader, '['))
        return read_through_registers(reader, fault);
    struct piece place = read_piece(reader, "+-:");
    if (place.size == 0)
        return unexpected(reader, place, "where: SYMBOL, [REGISTER+OFFSET] or 0xADDRESS");
    if (isdigit((unsigned char)place.text[0])) {
        uint64_t address;
        TRY(read_number(reader, place, "an address", &address));
        fault->base = WIRE_STATE_ABSOLUTE;
        fault->offset = (int64_t)address;
        return read_size(reader, fault);
    }
    fault->base = WIRE_STATE_MODULE;
    fault->symbol = strndup(place.text, place.size);
    if (fault->symbol == NULL)
        return error_no_memory();
    TRY(read_offset(reader, ":", &fault->offset));
    return read_size(reader, fault);
}

static unsigned width_of(const struct state_fault *fault)
{
    if (!fault->memory)
        return 8u * fault->reg->size;
    return fault->size != 0 ? 8 * fault->size : STATE_BITS;
}

static struct error *read_bit(const struct reader *reader, const struct state_fault *fault,
                              struct piece piece, unsigned *ret_bit)
{
    bool flags = !fault->memory && fault->reg->class == WIRE_STATE_FLAGS;
    for (unsigned bit = 0; flags && bit < 64; bit++)
        if (state_flag_name(bit) != NULL && is(piece, state_flag_name(bit))) {
            *ret_bit = bit;
            return NULL;
        }
    uint64_t bit;
    TRY(read_number(reader, piece, flags ? "a bit, or cf, pf, af, zf, sf, df, of" : "a bit", &bit));
    if (bit >= width_of(fault))
        return source_error(reader->source, piece.at, "there are only the bits 0 to %u",
                            width_of(fault) - 1);
    if (flags && state_flag_name((unsigned)bit) == NULL)
        return source_error(reader->source, piece.at,
                            "programs cannot change this flag; they can change 0 (cf), 2 (pf), 4 "
                            "(af), 6 (zf), 7 (sf), 10 (df) and 11 (of)");
    *ret_bit = (unsigned)bit;
    return NULL;
}

// 3, or 3,5, or 8..11
static struct error *read_bits(struct reader *reader, struct state_fault *fault)
{
    do {
        struct piece piece = read_piece(reader, ",.");
        unsigned first, last;
        TRY(read_bit(reader, fault, piece, &first));
        last = first;
        if (take(reader, '.')) {
            if (!take(reader, '.'))
                return unexpected(reader, read_piece(reader, ""), "'..' and the last bit");
            struct piece end = read_piece(reader, ",");
            TRY(read_bit(reader, fault, end, &last));
            if (last < first)
                return source_error(reader->source, end.at, "the burst ends before it begins");
        }
        for (unsigned bit = first; bit <= last; bit++)
            fault->bits[bit / 8] |= (unsigned char)(1u << bit % 8);
    } while (take(reader, ','));
    return NULL;
}

// Up to 64 bytes in hexadecimal, or a decimal number.
static struct error *read_value(struct reader *reader, struct state_fault *fault)
{
    struct piece piece = read_piece(reader, "");
    size_t digits = piece.size > 2 ? piece.size - 2 : 0;
    if (piece.size > 2 && piece.text[0] == '0' && piece.text[1] == 'x') {
        if (digits > width_of(fault) / 4)
            return source_error(reader->source, piece.at, "the value has more than %u bits",
                                width_of(fault));
        for (size_t i = 0; i < digits; i++) {
            char c = (char)tolower((unsigned char)piece.text[piece.size - 1 - i]);
            const char *found = c != '\0' ? strchr("0123456789abcdef", c) : NULL;
            if (found == NULL)
                return unexpected(reader, piece, "a hexadecimal number");
            unsigned digit = (unsigned)(found - "0123456789abcdef");
            fault->value[i / 2] |= (unsigned char)(digit << (i % 2 * 4));
        }
        return NULL;
    }
    uint64_t number;
    TRY(read_number(reader, piece, "a number", &number));
    if (width_of(fault) < 64 && number >> width_of(fault) != 0)
        return source_error(reader->source, piece.at, "the value has more than %u bits",
                            width_of(fault));
    for (size_t i = 0; i < 8; i++)
        fault->value[i] = (unsigned char)(number >> 8 * i);
    return NULL;
}

static struct error *read_change(struct reader *reader, struct state_fault *fault)
{
    static const char *const words[] = {"flip", "zero", "set", "value"};
    struct piece piece = read_piece(reader, "");
    fault->change_at = piece.at;
    for (unsigned i = 0; i < 4; i++) {
        if (!is(piece, words[i]))
            continue;
        fault->change = (uint8_t)i;
        if (i == STATE_VALUE)
            return read_value(reader, fault);
        skip_blanks(reader);
        struct reader ahead = *reader;
        struct piece next = read_piece(&ahead, "");
        fault->all = i != STATE_FLIP && (is(next, "at") || is(next, "after"));
        if (fault->all && !fault->memory && fault->reg->class == WIRE_STATE_FLAGS)
            return source_error(reader->source, next.at, "say which flags: zf, cf, ...");
        return fault->all ? NULL : read_bits(reader, fault);
    }
    char storage[SUGGESTION_SIZE];
    struct suggestion meant = suggestion_start(piece.text, piece.size);
    for (unsigned i = 0; i < 4; i++)
        suggestion_offer(&meant, words[i]);
    return source_error(reader->source, piece.at,
                        "expected flip BITS, zero, set or value NUMBER, found '%.*s'%s",
                        (int)piece.size, piece.text, suggestion_text(&meant, storage));
}

static struct error *keep_name(struct state_fault *fault, struct piece piece)
{
    fault->name = strndup(piece.text, piece.size);
    return fault->name != NULL ? NULL : error_no_memory();
}

#define PLACES "FILE:LINE, FUNCTION+OFFSET or 0xADDRESS"

// Takes LIBRARY: or LIBRARY+ off the beginning. A library's name has ".so" in it, or a slash if
// what follows is no line.
static struct error *take_library(struct piece *place, struct state_fault *fault)
{
    size_t size = 0;
    while (size < place->size && place->text[size] != ':' && place->text[size] != '+')
        size++;
    if (size == 0 || size == place->size ||
        (size + 1 < place->size && place->text[size + 1] == ':'))
        return NULL;
    bool named = memmem(place->text, size, ".so", 3) != NULL;
    bool line = place->text[size] == ':' && size + 1 < place->size &&
                isdigit((unsigned char)place->text[size + 1]);
    if (line || (!named && memchr(place->text, '/', size) == NULL))
        return NULL;
    fault->library = strndup(place->text, size);
    if (place->text[size] == ':')
        size++;
    *place = (struct piece){place->text + size, place->at + size, place->size - size};
    return fault->library != NULL ? NULL : error_no_memory();
}

// save.c:22
static struct error *read_line(const struct reader *reader, struct piece whole, const char *colon,
                               struct state_fault *fault)
{
    struct piece file = {whole.text, whole.at, (size_t)(colon - whole.text)};
    struct piece line = {colon + 1, whole.at + file.size + 1, whole.size - file.size - 1};
    uint64_t number;
    fault->place = STATE_AT_LINE;
    if (line.size == 0 || !isdigit((unsigned char)line.text[0]))
        return unexpected(reader, line,
                          "the number of a line; a library before ':' has .so or / in its name");
    TRY(read_number(reader, line, "the number of a line", &number));
    if (number == 0 || number > UINT32_MAX)
        return unexpected(reader, line, "the number of a line");
    fault->line = (unsigned)number;
    return keep_name(fault, file);
}

// 12ms
static struct error *read_moment(struct reader *reader, struct state_fault *fault)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};
    static const char wanted[] = "a time, such as 12ms or 300us";
    struct piece piece = read_piece(reader, ""), number = piece, unit;
    uint64_t value;
    fault->place = STATE_AT_MOMENT;
    fault->place_at = piece.at;
    for (number.size = 0; number.size < piece.size; number.size++)
        if (!isdigit((unsigned char)piece.text[number.size]))
            break;
    unit = (struct piece){piece.text + number.size, piece.at, piece.size - number.size};
    if (number.size == 0)
        return unexpected(reader, piece, wanted);
    TRY(read_number(reader, number, wanted, &value));
    struct reader ahead = *reader;
    struct piece next = read_piece(&ahead, "");
    if (unit.size == 0 && (is(next, "instructions") || is(next, "instruction")))
        return source_error(
            reader->source, next.at,
            "instructions are not counted; give a time, such as 12ms or 300us, or a "
            "place: 'at' " PLACES);
    if (unit.size == 0)
        return unexpected(reader, piece, wanted);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is(unit, units[i].name) && !__builtin_mul_overflow(value, units[i].ns, &value)) {
            fault->moment_ns = value;
            return value != 0 ? NULL
                              : source_error(reader->source, piece.at,
                                             "at its start a program has nothing to change yet");
        }
    return unexpected(reader, piece, wanted);
}

// save.c:22, main+0x10, 0x1139; libc.so.6:write, libc.so.6+0x1234
static struct error *read_place(struct reader *reader, struct state_fault *fault)
{
    struct piece word = read_piece(reader, "");
    if (is(word, "after"))
        return read_moment(reader, fault);
    if (!is(word, "at"))
        return unexpected(reader, word, "'at' and where: " PLACES "; or 'after' and a time");
    struct piece whole = read_piece(reader, "");
    fault->place_at = whole.at;
    TRY(take_library(&whole, fault));
    if (whole.size == 0)
        return unexpected(reader, whole, PLACES);
    const char *colon = memrchr(whole.text, ':', whole.size);
    bool plus_address = fault->library != NULL && whole.text[0] == '+';
    if (plus_address)
        whole = (struct piece){whole.text + 1, whole.at + 1, whole.size - 1};
    if (plus_address || (isdigit((unsigned char)whole.text[0]) && colon == NULL)) {
        fault->place = STATE_AT_ADDRESS;
        return read_number(reader, whole, "an address", &fault->address);
    }
    if (colon != NULL && colon[1] != ':' && (colon == whole.text || colon[-1] != ':'))
        return read_line(reader, whole, colon, fault);
    const char *plus = memrchr(whole.text, '+', whole.size);
    struct piece function = whole;
    fault->place = STATE_AT_FUNCTION;
    if (plus != NULL && plus > whole.text && isdigit((unsigned char)plus[1])) {
        function.size = (size_t)(plus - whole.text);
        struct piece offset = {plus + 1, whole.at + function.size + 1,
                               whole.size - function.size - 1};
        TRY(read_number(reader, offset, "an offset", &fault->address));
    }
    return keep_name(fault, function);
}

// == N
static struct error *read_count(struct reader *reader, struct state_fault *fault)
{
    if (!take(reader, '=') || !take(reader, '='))
        return unexpected(reader, read_piece(reader, ""), "'=='");
    struct piece piece = read_piece(reader, "");
    TRY(read_number(reader, piece, "a number", &fault->count));
    return fault->count != 0
               ? NULL
               : source_error(reader->source, piece.at, "executions are counted from 1");
}

// (N) of thread(N) or input(N)
static struct error *read_ordinal(struct reader *reader, const char *what, unsigned *ret_number)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "'(' and the number of %s %s", *what == 'i' ? "an" : "a", what);
    if (!take(reader, '('))
        return unexpected(reader, read_piece(reader, ""), wanted);
    struct piece piece = read_piece(reader, ")");
    uint64_t number;
    TRY(read_number(reader, piece, wanted + strlen("'(' and "), &number));
    if (number == 0 || number > UINT32_MAX)
        return source_error(reader->source, piece.at, "%ss are counted from 1", what);
    *ret_number = (unsigned)number;
    return take(reader, ')') ? NULL : unexpected(reader, read_piece(reader, ""), "')'");
}

// One condition; each kind may be there once.
static struct error *read_condition(struct reader *reader, struct piece piece, bool *counted,
                                    struct state_fault *fault)
{
    bool count = is(piece, "count"), thread = is(piece, "thread"), input = is(piece, "input");
    if ((count && *counted) || (thread && fault->thread != 0) || (input && fault->input != 0))
        return source_error(reader->source, piece.at, "there are two conditions of this kind");
    if ((count || thread) && fault->place == STATE_AT_MOMENT)
        return source_error(reader->source, piece.at, "%s",
                            count ? "a fault at a moment comes once"
                                  : "a moment is of the whole process");
    *counted |= count;
    if (input)
        fault->input_at = piece.at;
    if (count)
        return read_count(reader, fault);
    if (thread || input)
        return read_ordinal(reader, thread ? "thread" : "input",
                            thread ? &fault->thread : &fault->input);
    return unexpected(reader, piece, "'count == N', 'thread(N)' or 'input(N)'");
}

// [permanent] [when count == N and thread(N) and input(N)]
static struct error *read_rest(struct reader *reader, struct state_fault *fault)
{
    struct piece piece = read_piece(reader, "");
    bool counted = false;
    fault->permanent = is(piece, "permanent");
    if (fault->permanent && fault->place == STATE_AT_MOMENT)
        return source_error(reader->source, piece.at, "a fault at a moment comes once");
    if (fault->permanent)
        piece = read_piece(reader, "");
    fault->count = 1;
    if (piece.size == 0)
        return NULL;
    if (!is(piece, "when"))
        return unexpected(reader, piece, "'permanent', 'when count == N' or the end");
    do {
        piece = read_piece(reader, "=(");
        TRY(read_condition(reader, piece, &counted, fault));
        piece = read_piece(reader, "");
    } while (is(piece, "and"));
    return piece.size == 0 ? NULL : unexpected(reader, piece, "the end");
}

static struct error *read_all(struct reader *reader, struct state_fault *fault)
{
    struct piece kind = read_piece(reader, "");
    fault->memory = is(kind, "memory");
    if (!fault->memory && !is(kind, "register"))
        return unexpected(reader, kind, "'register' or 'memory'");
    skip_blanks(reader);
    fault->target_at = reader->at;
    if (fault->memory)
        TRY(read_memory(reader, fault));
    else
        TRY(find_register(reader, read_piece(reader, ""), &fault->reg));
    TRY(read_change(reader, fault));
    TRY(read_place(reader, fault));
    return read_rest(reader, fault);
}

bool state_fault_is(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t size = strcspn(text, " \t\n");
    bool named = (size == 8 && strncmp(text, "register", 8) == 0) ||
                 (size == 6 && strncmp(text, "memory", 6) == 0);
    text += size;
    text += strspn(text, " \t\n");
    return named && *text != '='; // `register = 5` is about a function of that name
}

void state_fault_deinit(struct state_fault *fault)
{
    free(fault->symbol);
    free(fault->library);
    free(fault->name);
    *fault = (struct state_fault){0};
}

struct error *state_fault_parse(const struct source *source, struct state_fault *ret_fault)
{
    _cleanup_(state_fault_deinit) struct state_fault fault = {0};
    struct reader reader = {.source = source};
    TRY(read_all(&reader, &fault));
    *ret_fault = fault;
    fault = (struct state_fault){0};
    return NULL;
}
