// SPDX-License-Identifier: GPL-3.0-or-later
// What is reconstructed of one function: steps, local variables, and the tree of its constructs.
//
// Code that was not optimised keeps every variable in memory: between two statements no register
// holds a value that is still needed. A step is the shortest run of instructions between two such
// points: an assignment, a call with its arguments, one test of a condition.
#ifndef ORDEAL_MUTATE_BINARY_INTERNAL_H
#define ORDEAL_MUTATE_BINARY_INTERNAL_H

#include "base/array.h"
#include "flow/image.h"
#include "isa/use.h"
#include "mutate/binary/binary.h"

#define NO_STEP UINT32_MAX

#define CALLEE_SAVED  0xf008u // rbx, r12 to r15
#define NOT_TEMPORARY (ISA_USE_GENERAL(ISA_STACK) | ISA_USE_GENERAL(ISA_FRAME))
// By a call: its results, in rax, rdx, xmm0 and xmm1, and the flags.
#define CHANGED_FOR_SURE                                                                           \
    (ISA_USE_GENERAL(0) | ISA_USE_GENERAL(1) | ISA_USE_VECTOR(0) | ISA_USE_VECTOR(1) |             \
     ISA_USE_FLAGS)
#define RESULT (ISA_USE_GENERAL(ISA_RETURN) | ISA_USE_VECTOR(0))

// ---- code.c: a module's instructions, with what they read and change ----

struct code {
    const struct flow_image *image;
    struct isa_use *uses;   // by instruction
    uint64_t *results_read; // by function: registers in which callers read what it returns
    bool *called;           // by function: some call leads to it
    bool marks_jumps;       // the compiler leaves a nop where break, continue and return lead to
};
_must_check_ struct error *code_open(const struct flow_image *image, struct code *ret_code);
void code_close(struct code *code);

static inline bool insn_is_call(const struct isa_insn *insn)
{
    return insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT;
}
static inline bool insn_is_store(const struct isa_insn *insn)
{
    return insn->kind == ISA_STORE || insn->kind == ISA_STORE_CONSTANT ||
           (insn->kind == ISA_SET && (insn->flags & ISA_MEMORY) != 0);
}

// ---- one function ----

enum step_kind {
    STEP_NOTHING, // changes nothing: a nop
    STEP_ASSIGN,  // ends with a store
    STEP_CALL,    // ends with a call whose result nobody reads
    STEP_BRANCH,  // ends with a conditional jump
    STEP_JUMP,    // is a jump, and nothing else
    STEP_RETURN,  // leaves the function with a value, or by a `return`
    STEP_SWITCH,  // ends with a jump through a table
    STEP_TAIL,    // the end of the function: restores registers and returns
    STEP_OTHER,
};

struct step {
    uint32_t first, end;  // instructions
    uint32_t effect;      // the last store or call; UINT32_MAX if there is none
    uint32_t target;      // of a branch or jump: the step it leads to; or NO_STEP
    uint8_t kind;         // enum step_kind
    bool reached;         // something jumps here
    bool heading;         // part of a `for`: its first assignment, or its last
    bool label;           // a case of a switch begins here, or a `goto` leads here
    uint32_t block, node; // in the tree; UINT32_MAX if in none
};

struct local {      // a variable in the stack frame
    int64_t offset; // from the frame pointer
    uint8_t width;
    bool parameter, aggregate, pointer, temporary;
    bool structure;  // of a pointer: to something with members
    uint8_t pointed; // of a pointer: bytes that are read or written there
    uint32_t reach; // of a pointer: the end of what is read or written there, as far as it is known
    uint8_t number; // of a parameter: which, from 1; 0: not known
    uint32_t alike; // variables with the same number have the same type, as far as copies tell
    uint32_t first_store;     // instruction; UINT32_MAX if there is none
    uint32_t seen, last_seen; // instructions that first and last touch it
};

enum node_kind { NODE_STATEMENT, NODE_IF, NODE_LOOP, NODE_SWITCH };
struct node {
    uint8_t kind; // enum node_kind
    uint32_t block;
    uint32_t first, end;               // steps
    uint32_t condition, condition_end; // steps of the condition; equal if it has none
    uint32_t yes, no;                  // where the condition leads to: steps
    uint32_t then, otherwise;          // blocks; UINT32_MAX if there is none
    bool jump;                         // of an `if`: what it guards is only a jump, to `yes`
    uint32_t next;                     // of the same block; UINT32_MAX if it is the last
};

struct block {
    uint32_t parent;      // node, or UINT32_MAX
    uint32_t nodes;       // how many statements it has itself
    uint32_t first, last; // of them; UINT32_MAX if there are none
    bool in_loop;
};

enum label { LABEL_FORWARD = 1, LABEL_BACK = 2 }; // from before it, from behind it

struct body {
    const struct code *code;
    uint32_t function;
    uint32_t first, end;     // instructions, behind the prologue
    uint32_t start;          // first instruction of the function
    uint64_t returned;       // registers that hold what it returns; 0 if it returns nothing
    uint64_t variables;      // registers that hold variables
    int64_t result;          // where clang keeps what the function returns; or 0
    ARRAY(uint64_t) live;    // by instruction from `start`: what is needed after it
    ARRAY(uint64_t) live_in; // by block of the function
    ARRAY(bool) tail;        // by instruction from `start`
    ARRAY(uint8_t) labelled; // by instruction from `start`: something jumps there (enum label)
    ARRAY(bool) apart;       // by instruction from `start`: the stack is not as between statements
    ARRAY(uint32_t) step_of; // by instruction from `start`
    ARRAY(uint32_t) back;    // by step: the last step that jumps back to it, or NO_STEP
    ARRAY(uint32_t) entry;   // by step: the jump that enters a loop at this condition, or NO_STEP
    ARRAY(struct step) steps;
    ARRAY(struct local) locals;
    ARRAY(struct node) nodes;
    ARRAY(struct block) blocks;
    bool failed;    // memory was short
    bool odd;       // it is not understood
    bool optimised; // its variables are not in memory
};
void body_deinit(struct body *body);

// frame.c: the first instruction behind the prologue, or UINT32_MAX if there is no frame pointer;
// adds parameters to the variables. Then the function's ends, and where clang keeps its result.
uint32_t frame_begin(struct body *body, uint32_t at, uint32_t end);
void frame_find_tails(struct body *body);
void frame_find_result(struct body *body);
// body.c: reads a function; false if its variables are not in memory.
bool body_read(struct body *body, const struct code *code, uint32_t function);
// What an instruction changes.
uint64_t body_writes(const struct body *body, uint32_t insn);
// Reads only what is needed where, of a function of any kind.
bool body_read_optimised(struct body *body, const struct code *code, uint32_t function);
// The instruction of the function that a jump leads to; UINT32_MAX if there is none.
uint32_t body_target(const struct body *body, const struct isa_insn *insn);
// Whether a jump leads to the end of the function.
bool body_leads_to_tail(const struct body *body, const struct isa_insn *insn);
// steps.c: divides it into steps.
void steps_find(struct body *body);
// locals.c: its variables.
void locals_find(struct body *body);
// Notes that two variables have the same type.
void locals_unite(struct body *body, const struct local *a, const struct local *b);
// The variable that is exactly this operand; NULL if there is none.
struct local *local_of(const struct body *body, const struct isa_insn *insn);
// The variable at an offset; NULL if there is none.
struct local *local_at(const struct body *body, int64_t offset);
// Whether an instruction and the next one give constants to parts of one variable.
bool locals_fill_on(const struct body *body, uint32_t insn);
// tree.c: its constructs.
void tree_build(struct body *body);
// cases.c: cases that are told apart by comparisons. Returns the step behind them, or `from`.
uint32_t tree_find_cases(const struct body *body, uint32_t from, uint32_t end);
// Marks the steps that a switch leads to. Returns the last one.
uint32_t tree_mark_cases(struct body *body, uint32_t from, uint32_t end);
// Marks the steps that a `goto` leads to.
void tree_mark_labels(struct body *body);
// Whether two steps do the same: between them are only jumps and nops.
bool tree_is_same_place(const struct body *body, uint32_t a, uint32_t b);

// ---- faults ----

// types.c: the types of variables, by all functions of a module.
struct types;
struct types *types_new(const struct flow_image *image); // NULL when memory is short
void types_free(struct types *types);
// Adds a function's variables. Returns what the functions below want as `first`.
size_t types_begin(struct types *types, struct body *body);
// An argument of a call, from 0, and the instruction that made it. `size`: what stands behind it,
// if that is a constant, and may be the size of what it points to; or 0.
void types_note_argument(struct types *types, struct body *body, size_t first, uint32_t call,
                         unsigned number, uint32_t value, uint32_t size);
// An instruction that may be a call, or may load what the function returns.
void types_note_result(struct types *types, struct body *body, size_t first, uint32_t insn);
// A fault needs another variable in place of the one that is loaded before a call.
void types_wish(struct types *types, struct body *body, size_t first, size_t fault, uint32_t call,
                uint32_t load);
// A fault is about the variable at an offset.
void types_note_variable(struct types *types, struct body *body, size_t fault, int64_t offset);
// Completes the faults, and removes those that cannot be. False when memory is short.
bool types_end(struct types *types, struct binary_faults *faults);

struct finding {
    struct body body;
    struct types *types;
    struct binary_faults *out;
    const unsigned char *bytes; // of the function
    size_t size;
};
// A fault of the function at an instruction; NULL when memory is short.
struct binary_fault *finding_add(struct finding *finding, enum model_kind kind, uint32_t insn);
// conditions.c: MIA, MIFS, MIEB, MLAC, MLOC
void find_conditions(struct finding *finding);
// statements.c: MFC, MVIV, MVAV, MVAE, WVAV, MLPA
void find_statements(struct finding *finding);
// arguments.c: WPFV, WAEP
void find_arguments(struct finding *finding);
// optimised.c: MFC, MIA, MIFS, MLAC, MLOC of an optimised function; false if it is not understood
bool find_optimised(struct finding *finding);
// patch.c: makes the fault jump from one instruction to another, or change bytes of an instruction.
// Or replaces whole instructions from one on. If there is no room, the fault has no patch.
void patch_jump(struct finding *finding, struct binary_fault *fault, uint32_t from, uint32_t to);
void patch_bytes(struct finding *finding, struct binary_fault *fault, uint32_t insn, size_t at,
                 const void *bytes, size_t size);
void patch_code(struct finding *finding, struct binary_fault *fault, uint32_t insn,
                const unsigned char *bytes, size_t size);
// The bytes of an instruction.
const unsigned char *finding_bytes(const struct finding *finding, uint32_t insn);

static inline const struct isa_insn *insn_at(const struct body *body, uint32_t insn)
{
    return &body->code->image->insns.items[insn];
}
static inline const struct isa_use *use_at(const struct body *body, uint32_t insn)
{
    return &body->code->uses[insn];
}
static inline struct step *step_at(const struct body *body, uint32_t step)
{
    return &body->steps.items[step];
}
// Whether a step tells cases of a switch apart by a value that is kept for all of them.
bool step_tells_cases(const struct body *body, const struct step *step);
// Follows jumps and nops to the first step that does something.
uint32_t step_final(const struct body *body, uint32_t step);
// Whether a step is only where break, continue or return lead to.
bool step_is_landing(const struct body *body, uint32_t step);

#endif
