// SPDX-License-Identifier: GPL-3.0-or-later
// What the compiler pass writes into object files and the tool reads from linked ones: plain data,
// little-endian, versioned. There are three ELF sections:
//
//   ordeal_map   what there is: one blob per module, without relocations, not loaded
//   ordeal_mark  where it is: one record per marker that survived, not loaded
//   ordeal_twin  entries that lead to twins: struct twin_row, loaded but never touched
//
// A blob is a struct map_header, then, packed by zlib, map_function[], uint64_t keys[], uint32_t
// edges[], map_left_out[], uint32_t types[] (strings), places (enum map_place), strings; then zeros
// up to a multiple of eight.
#ifndef ORDEAL_MUTATE_LAYOUT_H
#define ORDEAL_MUTATE_LAYOUT_H

#include <stdint.h>

#define MAP_SECTION  "ordeal_map"
#define MARK_SECTION "ordeal_mark"
#define TWIN_SECTION "ordeal_twin"
#define MAP_MAGIC    0x4d44524fu // "ORDM"
#define MAP_VERSION  6u
// Where a map could be packed more than so many times, zeros follow the packed bytes, so that a
// file cannot claim that it unpacks to far more than its own size. Those of programs are packed 3
// to 10 times; that of one large function without faults, whose rows are all alike, much more.
#define MAP_MOST_PACKED 50

enum map_decide { // how a candidate is chosen
    MAP_WORLDS,   // entries lead to twins with markers
    MAP_MARKERS,  // markers in the code itself
    MAP_VARIABLE, // a comparison with a variable in every block
};

enum map_flag {
    MAP_ENTRY = 1 << 0,    // has an entry that can be patched
    MAP_IN_PLACE = 1 << 1, // could not be cloned: its markers are in the code itself
    MAP_SKIPPED = 1 << 2,  // could not be instrumented at all; `reason` says why
    MAP_CHOSEN = 1 << 3,   // of a candidate: there is a clone for it
    MAP_INLINE = 1 << 4,   // of a function: declared inline
    MAP_MACRO = 1 << 5,    // of a candidate: it comes out of a macro
    MAP_IDLE = 1 << 6,     // of a candidate: its mistake makes no difference, so there is no clone
    MAP_LOOP = 8,          // of a candidate: loop depth in the bits from here on
};

struct map_header {
    uint32_t magic, version;
    uint32_t size; // of the whole blob
    uint32_t decide;
    uint32_t functions, edges, candidates, types; // how many
    uint32_t places, strings;                     // bytes of them
    uint32_t source;                              // string: the file that was compiled
    uint32_t left_out, keys;                      // how many
    uint32_t packed;                              // bytes that are packed; 0: nothing is
};

struct map_function {
    uint64_t id; // of name, body and, if it is local, module
    uint32_t name, reason;
    uint32_t edges, candidates; // how many; they follow those of the function before
    uint32_t flags;
    uint32_t blocks;
};
// An edge is the number of a function of the module, or, from `functions` on, of a key: that of a
// function elsewhere.
static inline uint64_t map_name_key(const char *name)
{
    uint64_t key = 0xcbf29ce484222325u;
    do
        key = (key ^ (unsigned char)*name) * 0x100000001b3u;
    while (*name++ != '\0');
    return key;
}

// Candidates are many, so they are packed by their places, in the order of the function. A place is
// a byte of enum map_place with the number of its candidates, then numbers in ULEB128. Those that
// depend on a flag keep the value of the place before if it is not set; each function begins with
// zeros.
enum map_place {
    PLACE_COUNT = 15,      // bits with the number of candidates
    PLACE_FILE = 1 << 4,   // string: its file
    PLACE_BLOCK = 1 << 5,  // how many blocks after the place before
    PLACE_LOOP = 1 << 6,   // loop depth
    PLACE_MACRO = 1 << 7,  // comes out of a macro
                           // always: line as a difference, by place_fold(); column; string: what
                           // the instruction works on; per candidate its type's index and its flags
    PLACE_CHOSEN = 1 << 0, // of a candidate: MAP_CHOSEN
    PLACE_IDLE = 1 << 1,   // of a candidate: MAP_IDLE
    PLACE_TYPE = 2,        // of a candidate: the index of its type in the bits from here on
};
// Differences as numbers without a sign: small ones stay small.
static inline uint64_t place_fold(int64_t difference)
{
    return ((uint64_t)difference << 1) ^ (uint64_t)(difference >> 63);
}
static inline int64_t place_unfold(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

// A fault that the source has, and the code has not.
struct map_left_out {
    uint32_t function;           // which of the module's
    uint32_t type, file, detail; // strings; detail: what is affected, as it is written
    uint32_t line, column;
    uint32_t reason; // enum source_reason (mutate/source-table.h)
    uint32_t reserved;
};

// A record in ordeal_mark begins with a number that has its kind in the lowest bits and in the
// others how many targets it has. Numbers are ULEB128.
enum mark_kind {
    MARK_NEXT = 0, // distance from the last MARK_BASE, uint64_t function id: the same for one of
                   // the functions that share a section; no targets
    MARK_BASE = 1, // uint64_t address, function id: what the near markers that follow refer to;
                   // id 0: of a section with several functions
    MARK_NEAR = 2, // marker; per target clone, candidate
    MARK_FAR = 3,  // uint64_t marker, function id; per target uint64_t clone, candidate
};
#define MARK_KINDS 4
// Near markers and clones are distances from the base. Candidates, all of one block, are in
// ascending order: each is the difference to the one before.

struct twin_row {
    int32_t entry, twin; // relative to the field itself
    uint64_t function;   // id
};

// A marker is a nop of five bytes. An entry is a jump to the twin before the function, which
// nothing executes until a short jump leads there, over the first two bytes of the function: of an
// instruction of two bytes or more, behind what guards against indirect jumps. These two bytes are
// kept in `first` meanwhile. Where that is not possible, an entry is a nop of eight bytes at the
// beginning of the function: these four, and the distance from the function to its twin.
struct entry_prefix {  // ends where the function begins
    uint64_t function; // id
    unsigned char unused, first[2], jump;
    int32_t distance;
};
#define ENTRY_NOP     0x0f, 0x1f, 0x84, 0x00
#define SHORT_JUMP    0xeb
#define JUMP          0xe9
#define MARK_NOP_SIZE 5
static const unsigned char mark_nop[MARK_NOP_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

// The value of the variable that chooses a candidate: 31 bits. All other values choose none.
static inline uint32_t map_key(uint64_t function, uint64_t candidate)
{
    uint64_t state = candidate;
    for (int i = 0; i < 2; i++) {
        state += 0x9e3779b97f4a7c15u;
        state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
        state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
        state ^= state >> 31;
        if (i == 0)
            state += function;
    }
    return (uint32_t)state & 0x7fffffff;
}

#endif
