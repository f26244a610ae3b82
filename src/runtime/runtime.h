// SPDX-License-Identifier: GPL-3.0-or-later
// The runtime inside the target. Rules of this room:
//  - it never prints, exits, allocates from the target's heap, or throws;
//  - of the target's libraries it calls only the weak imports below, and what a hook stands for;
//  - it uses general registers only, so that vector arguments need no saving;
//  - it holds no lock while foreign code runs, and nothing that a fork could leave locked;
//  - on trouble it disarms itself, says so in the journal and lets the target go on.
#ifndef ORDEAL_RUNTIME_RUNTIME_H
#define ORDEAL_RUNTIME_RUNTIME_H

#include "runtime/assembly.h"
#include "runtime/system.h"
#include "wire/habits.h"
#include "wire/region.h"

#include <elf.h>
#include <link.h>
#include <signal.h>

// One intercepted address. Assembly knows this layout: see assembly.h.
struct stub_slot {
    uint64_t count;       // calls so far
    uint64_t quiet_until; // a call whose earlier count is below this needs no look
    void *original;       // where the call goes on
    void *gate;           // assembly that looks at a call that needs it
    uint64_t low, length; // return addresses of interest; others pass
    struct function *function;
    void *real; // what the symbol was bound to; differs from original when a hook stands between
};

// Registers of an intercepted call, as runtime_gate_full saves them.
struct call_frame {
    uint64_t r15, r14, r13, r12, rbp, rbx;
    uint64_t arguments[6]; // rdi rsi rdx rcx r8 r9
    uint64_t rax, r10;
    uint64_t target; // in: earlier count of the slot; out: where to go on
    // number; out, for DECIDE_PERFORM, also words << FRAME_WORDS_SHIFT, rule << FRAME_RULE_SHIFT
    uint64_t slot;
    uint64_t return_address;
    uint64_t stack[];
};

// What runtime_decide tells the assembly.
enum decision {
    DECIDE_PASS,        // jump to frame->target with the registers of the frame
    DECIDE_INTEGER,     // return arguments[0] in rax, arguments[1] in rdx
    DECIDE_FLOATING,    // return arguments[0] in xmm0
    DECIDE_LONG_DOUBLE, // return arguments[0..1] in st(0)
    DECIDE_PERFORM,     // call frame->target, then ask runtime_performed what to return
};

// A rule that is looked at on every call, with all that a look needs: rules are large.
struct turn {
    uint32_t rule;
    uint32_t site;    // query the caller must match, or WIRE_NONE
    uint32_t clauses; // the first of those that must hold, which stand behind the turns
    bool counted;     // only some occurrences are of interest
    bool gated;       // likewise, or only some callers
};

// A part of a condition: a value that stands in a relation to another one. See clauses.c.
struct clause {
    uint8_t op;        // enum wire_op that gives the value, CLAUSE_CODE or CLAUSE_LIST
    uint8_t relations; // that hold between the two; of a stack, the values that it may have
    union {
        uint8_t cut;          // bits of an argument to do without
        bool looks_at_caller; // the caller alone may tell that a stack does not match
    };
    bool is_signed : 1; // an argument
    bool is_last : 1;   // of its condition
    uint32_t number;    // of the argument, stack, variable or plug-in; the first instruction
    union {
        int64_t value;             // the other one
        uint64_t count;            // of instructions; what they compute is compared with nothing
        const struct clause *list; // of a CLAUSE_LIST
    };
};
#define CLAUSE_CODE WIRE_OP_COUNT_OF_OPS       // the stack machine is needed
#define CLAUSE_LIST (WIRE_OP_COUNT_OF_OPS + 1) // see sites.h

// A function with rules: one per name and defining module, however many slots lead to it.
struct function {
    // What every call needs.
    struct stub_slot *primary;  // counts the calls
    const struct turn *general; // rules to look at on every call, ascending
    uint32_t general_count;
    bool every_call; // no occurrence may be skipped
    bool in_turn;    // likewise, and all there is to do is to look at `general`
    bool by_site;    // likewise, but at the rules for the caller's address, and at nothing else
    const char *name;

    struct function *next; // one that got its slot before
    struct function *next_in_bucket;
    const struct module *library;
    const uint32_t *rules; // all, ascending
    uint32_t rule_count;
    const uint32_t *counted; // rules for one exact occurrence, by occurrence then number
    uint32_t counted_count;
    uint32_t site_count;   // rules for exact call sites, found through the site table
    uint32_t pattern;      // one that matches, for the journal's view of the arguments
    uint32_t starts_after; // bit i: a call opens window i of plan.afters
    uint32_t asks_after;   // bit i: a call counts in window i
    uint32_t started;      // a first call was seen
    uint64_t pending;      // lowest occurrence that must be looked at and has not been
    uint64_t published;    // calls already added to the region's `reached`
    uint32_t recorded;     // 1 + its number in the region's table of calls; 0: not yet known
    uint32_t descriptor;   // as in its rules
    uint32_t spared;       // wire_hash() of its name, if one of them spares places
    const struct wire_habit *habit; // or NULL
};

// A loaded object. Pointers go into its own mapping.
struct module {
    struct module *next;  // among the unloaded
    struct module *later; // the next in the loader's list
    struct link_map *map;
    uintptr_t bias, low, high; // link-time address 0; mapped range
    bool alive;                // loaded now; a record of one that is not may be used again
    const char *path;          // "" for the program until asked
    const Elf64_Phdr *headers;
    uint32_t header_count;
    uintptr_t relro_low, relro_high; // pages the loader made read-only
    const unsigned char *eh_frame_header;
    const Elf64_Dyn *dynamic;
    const Elf64_Sym *symbols;
    const char *strings;
    const uint32_t *gnu_hash, *sysv_hash;
    const uint16_t *versions;
    const Elf64_Verneed *needed_versions;
    const Elf64_Verdef *defined_versions;
    const Elf64_Rela *relocations, *plt_relocations;
    size_t relocation_count, plt_relocation_count, strings_size;
    const char *soname;
    uint64_t fingerprint;
    uint64_t build;           // tells builds apart, see known.c; 0: not asked, 1: not known
    uint64_t named;           // wire_fingerprint() of its path in the region; 0: not asked
    uint32_t region_index;    // in the region's module table, or WIRE_FRAME_UNKNOWN
    bool startup;             // loaded before the program started
    bool exempt;              // the runtime, the loader, a plug-in, the vDSO: never rewritten
    bool spared;              // its calls are no rule's business
    bool system;              // part of the C library
    bool symbolic;            // its own definitions come first
    bool fresh;               // not yet seen by the loader's event
    bool deep, global;        // opened with RTLD_DEEPBIND, RTLD_GLOBAL
    struct module *root;      // the one that dlopen() was asked for, of a late module
    struct module_set *scope; // of a root: itself and what it needs, breadth first
    bool bound;               // its slots were rewritten
    bool resolved;            // its answer of the controller is in force, or will never come
    uint32_t seen;            // last scan that met it
    const char *unresolved;   // a lazily bound import that nothing defines yet
    const struct wire_coverage_module *covered; // blocks that have breakpoints, or NULL
    bool unrelocated;                           // the loader has mapped it but not relocated it yet
    // A late module's own initialiser, which ours stands in for: DT_INIT or DT_INIT_ARRAY.
    bool init_is_array;
    uint64_t init_value, init_size;
};

// Modules by address; replaced as a whole, so readers need no lock.
struct module_set {
    size_t count;
    struct module *modules[];
};

// A place the target is at, and how to get to the next one out.
struct walk {
    uint64_t pc, sp;
    uint64_t registers[6];          // rbx rbp r12 r13 r14 r15
    uint64_t stack_low, stack_high; // memory that may be read directly
    bool exact;                     // pc is where the frame is, not where a call returns to
};

struct thread {
    uint64_t process_key; // whose thread this is; differs after a fork
    uint64_t lineage;     // names the thread by its ancestry, the same in every run
    uint64_t random;
    uint32_t number;
    uint32_t children; // threads it created
    uint32_t mutexes;
    uint32_t guard;                 // a plug-in is running: let everything through
    uint32_t since[WIRE_AFTER_MAX]; // 1 + calls since window i opened; 0 = never opened
    uint64_t start_sp;              // where the thread began; 0: not seen
    uint64_t stack_low, stack_high; // its own stack, once it was looked up
};

// Zeroed by the kernel in a forked child.
struct process {
    uint64_t key; // 0: a new process, not yet set up
    uint32_t lock;
    uint32_t number;
    uint32_t crash_pid, crash_tid; // who is writing the record of a crash, or has
    uint32_t crash_signal;
    uint32_t crash_done; // futex: 1: it is written
    uint32_t recorded;   // 1 + its number in the region's table of calls; 0: not yet known
    uint32_t row;        // next of its rows there; at a multiple of WIRE_CALL_ROWS: it has none
    uint32_t growing;    // a thread makes a larger table of them
} __attribute__((aligned(64)));

// A process that records has its first table of calls behind the struct, emptied with it.
#define RECORD_FIRST_ENTRIES 512
#define RECORD_FIRST_SIZE                                                                          \
    (ASM_TABLE_ENTRIES + (RECORD_FIRST_ENTRIES + RECORD_NEIGHBOURS) * ASM_ENTRY_SIZE)

struct runtime {
    // What calls need, in a line of memory.
    struct process *process;
    uint64_t stack_top; // of the main thread
    bool armed;
    bool starved; // some function got no slot or no rules, for want of room
    const struct wire_rule *rules;
    const struct wire_instruction *code;
    const struct wire_plan *plan;
    struct wire_region *region;
    struct wire_calls *calls; // NULL: calls are not recorded

    const char *strings;
    struct wire_rule_state *rule_states;
    struct wire_pattern_state *pattern_states;
    size_t process_room; // bytes behind it that are emptied with it
    uint64_t lineage;    // of the process
    uint32_t forks, threads;
    char **arguments, **environment; // of the process at start
    const struct module_set *modules;
    const struct module *self;
    struct module *program;              // the first of the loader's list
    long (*clock)(int, void *);          // the vDSO's clock_gettime
    struct wire_known_row *known_rows;   // NULL: frames are not shared between processes
    char invoked[64];                    // file name it was started under
    char program_path[WIRE_MODULE_PATH]; // read through program_path()
} __attribute__((aligned(64)));
extern struct runtime runtime;
extern struct stub_slot runtime_slots[RUNTIME_SLOTS];
extern const char runtime_zero_byte;
extern const char *runtime_single_threaded; // points to a byte that is not 0 while it is so

// stubs.S
extern const char runtime_stubs[], runtime_stub_end[], runtime_late_init[];
extern __thread uint32_t runtime_open_flags; // of this thread's last dlopen()
extern void *runtime_real_dlopen;
extern bool runtime_loader_hooked; // late modules are seen before their constructors run
void *runtime_dlopen_and_scan(const char *path, int flags);
void runtime_enter_dlopen(void);
void runtime_gate_full(void);
void runtime_gate_sites(void);
int runtime_call_plugin(int (*eval)(void *, const void *), void *state, const void *call);
extern uint64_t runtime_site_filter[SITE_FILTER_WORDS]; // by runtime_site_word()
extern uint32_t runtime_save_size;                      // of an XSAVE area, 0: use FXSAVE
extern uint64_t runtime_save_mask;
extern bool runtime_save_by_moves; // the registers are those of AVX, and which are in use is told

// A word for each line of 64 bytes of code, in which each byte has its bit. Lines that lie half a
// megabyte apart share it; neighbours have neighbours.
static inline uint64_t *runtime_site_word(uint64_t address)
{
    return &runtime_site_filter[address / SITE_LINE_SIZE % SITE_FILTER_WORDS];
}

// The only calls into the target's libraries. Weak: absent ones are NULL.
extern int *__errno_location(void) __attribute__((weak, visibility("default")));
extern void *__curbrk __attribute__((weak, visibility("default"))); // the program's break
extern char __libc_single_threaded __attribute__((weak, visibility("default")));
extern struct r_debug _r_debug __attribute__((weak, visibility("default")));
extern int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *context)
    __attribute__((weak, visibility("default")));

static inline const char *plan_string(uint32_t offset)
{
    return runtime.strings + offset;
}
static inline const void *plan_array(struct wire_span span)
{
    return (const char *)runtime.plan + span.offset;
}
static inline void *region_at(uint64_t offset)
{
    return (char *)runtime.region + offset;
}

// identity.c
extern __thread struct thread runtime_thread; // through thread_self()
struct thread *thread_renew(void);            // in a new process or thread
static inline struct thread *thread_self(void)
{
    struct thread *self = &runtime_thread;
    // A key of 0 is that of a new process, which no thread has.
    if (__builtin_expect(self->process_key != runtime.process->key || self->process_key == 0, 0))
        return thread_renew();
    return self;
}
void process_lock(void);
void process_unlock(void);
void process_start(void); // the constructor's part
void *thread_begin(void *block);
void *thread_announce(void *(*start)(void *), void *argument); // NULL: no block free
uint64_t random_mix(uint64_t value);
uint64_t clock_now(void); // CLOCK_MONOTONIC, ns

// module.c
struct module *module_at(uintptr_t address);
struct module *module_of(const struct link_map *map);
void module_scan(bool startup);               // brings the set up to date with the loader's list
void module_bind_all(void);                   // binds and resolves what is not yet
uint32_t module_index(struct module *module); // in the region; WIRE_FRAME_UNKNOWN if it is full
void module_put_path(const struct module *module, char *path, size_t room); // as it is there
const char *program_path(void);                                             // the program's file
// A path relative to the directory the process is in now; a name without a slash stays as it is.
void path_absolute(const char *path, char *target, size_t room);
bool module_is_named(const struct module *module, const char *pattern);

// late.c
void late_hook_loader(void);
void runtime_late_initialise(uint32_t number, int argc, char **argv, char **envp);
void runtime_loader_event(void);

// symbol.c
struct symbol_found {
    const struct module *module;
    uint32_t index;
};
struct symbol_query {
    const char *name;
    const char *version;        // or NULL
    uint32_t hash;              // of the name, as tables of symbols have it; 0: not known yet
    struct symbol_found *found; // where it was found; NULL: nobody asks
};
// The address the loader would bind a reference from `from` to, or NULL.
void *symbol_find(const struct module *from, struct symbol_query query);
void *symbol_find_after(const struct module *from, struct symbol_query query); // RTLD_NEXT
void *symbol_find_at_start(struct symbol_query query); // in what the program was started with
void *symbol_in(const struct module *module, struct symbol_query query);
// A symbol of a module that was there at the start, as a number for processes that start with the
// same modules; 0: it is none.
uint32_t symbol_number(const struct symbol_found *found);
void *symbol_numbered(uint32_t number, const char *name); // NULL: not that function
// A non-PIE program gives a function it takes the address of a PLT entry of its own as the address
// for everybody. That entry goes through the program's slot, which is rewritten.
void *symbol_programs_plt(const char *name);
const char *symbol_version(const struct module *module, uint32_t symbol);

// function.c
enum wanted {
    WANTED_NOT,
    WANTED_OUTSIDE, // where a call leaves its module
    WANTED,
};
enum wanted function_wanted(const char *name); // by a pattern of the plan
// The one of that name that a module defines, with its rules; NULL: no pattern takes it, no memory.
struct function *function_of(const char *name, const struct module *library);
// The same build at the same path, perhaps loaded again somewhere else.
bool function_same_library(const struct module *a, const struct module *b);
void function_bound(struct function *function, struct stub_slot *slot); // a first or further slot
void function_publish(struct function *function); // its calls so far, into the region
void functions_publish(void);
void functions_after_fork(void); // what the parent has published is not the child's to publish

// slots.c
void slots_prepare(void); // before anything is bound
// What to put in place of a function found under a name, or NULL if no rule or hook wants it.
void *slot_pointer(const char *name, void *real, bool with_rules);
struct hook;
enum slot_rules {
    SLOT_NO_RULES,
    SLOT_RULES,
    SLOT_RULES_AT_CALL, // looked for then; the name stays, and there are some
};
void *slot_replacement(const char *name, void *real, enum slot_rules rules,
                       const struct hook *hook);
// A call comes through a slot whose function was not made. NULL: there is none after all.
struct function *slot_make_function(struct stub_slot *slot);
void slots_refresh_gates(void);
void slot_refresh_gate(struct stub_slot *slot);

// bind.c
void bind_module(struct module *module);
void bind_report_unresolved(void);
// Untyped references (to a library the module was not linked with) may lead to data.
bool bind_is_code(const void *address);

// known.c: what processes that came before have found out about a module
void known_prepare(void);
// The file that is executed under a path that was asked for.
bool known_program(struct module *program, const char *asked, char *path, size_t room);
void known_program_put(struct module *program, const char *asked, const char *path);
// Whether what the module's imports lead to follows from what it is known by, and not only which
// there are.
bool known_leads(const struct module *module);
// An import, and the number of the symbol that it leads to, or 0.
struct import {
    uint32_t what, symbol;
};
// NULL: not known. Also tells when to look for their rules.
const struct import *known_imports(struct module *module, uint32_t *ret_count,
                                   enum slot_rules *ret_rules);
void known_imports_put(struct module *module, const struct import *imports, uint32_t count);

// hooks.c
struct hook {
    const char *name;
    void *replacement;
    void **real;
};
void hook_prepare(void);
const struct hook *hook_find(const char *name);
void *hook_real(void **real, const char *name); // what a hook stands for

// crash.c
#define CRASH_HOOKS 7
extern const struct hook crash_hooks[CRASH_HOOKS];
struct crash {
    int signal;
    uint32_t flags; // enum wire_crash
    uint64_t address;
    int sender;
    const void *context; // the kernel's ucontext
};
void crash_prepare(void);

// cover.c: which blocks of code are executed
#define COVER_HOOKS 2
extern const struct hook cover_hooks[COVER_HOOKS];
void cover_start(void);
bool cover_is_on(void);
void cover_module(struct module *module);
// Whether a signal is a breakpoint of ours, or one that the target takes care of itself.
bool cover_trap(int number, siginfo_t *info, void *context);
// What the target wants done with the signal of breakpoints; `action` may be NULL.
void cover_keep_action(const struct sigaction *action, struct sigaction *ret_old);
void *system_map_file(const char *path, uint64_t *ret_size); // start.c

// query.c: what the controller answered
void query_take(const struct module *module, const struct wire_resolution *answer);
bool query_matches(uint32_t query, uint64_t return_address);
bool query_single_range(uint32_t query, uint64_t *ret_low, uint64_t *ret_length);
// The first of the addresses from number `from` on, `stride` words apart, that matches; count:
// none.
uint32_t query_find(uint32_t query, const uint64_t *pcs, uint32_t stride, uint32_t from,
                    uint32_t count);

// variable.c
struct call;
bool variables_prepare(void);
bool variable_add(const struct module *module, const struct wire_location *location,
                  const struct wire_step *steps);
bool variable_read(uint32_t variable, const struct call *call, int64_t *ret_value);

// unwind.c
void walk_start(struct walk *walk, const struct call_frame *frame);
bool walk_next(struct walk *walk);
bool walk_cfa(struct walk *walk, uint64_t *ret_cfa);
// Where a signal interrupted; every word is probed before it is read.
bool walk_interrupted(struct walk *walk, const void *context);
bool find_mapping(uint64_t address, uint64_t *ret_low, uint64_t *ret_high);
void unwind_forget(void);
void unwind_renew(void); // what was found out about frames may be different now
// Return addresses from the call outwards, at most `room`, at least the call's own.
uint32_t walk_collect(const struct call_frame *frame, uint64_t *pcs, uint32_t room);
uint32_t stack_collect(const struct call *call, uint64_t pcs[WIRE_FRAMES]); // likewise
uint64_t frames_hash(const uint64_t *pcs, uint32_t count);
uint64_t stack_hash(const struct call *call);

// evaluate.c
// What one rule has found out about a call and the next one need not.
struct findings {
    struct path *path; // taken, see path.h
    bool looked;       // for a path
    bool whole;        // all its words were compared
};
struct call {
    struct call_frame *frame;
    struct function *function;
    struct thread *thread;
    uint64_t occurrence;
    struct findings *findings;
};
void evaluate_prepare(void);
// Bits of an argument to cut off at the top, by enum wire_argument_type; types with sign are odd.
static inline uint8_t argument_excess(uint32_t type)
{
    static const uint8_t excess[] = {0, 32, 32, 48, 48, 56, 56, 0};
    return excess[type % sizeof excess];
}
// `code` is that of the rule, as its index and count in the plan's code.
bool evaluate(const struct call *call, uint32_t rule, struct wire_span code);
bool stack_set_add(uint64_t hash);
// What it is open on: an enum wire_fd_test; WIRE_NONE: something else, or it is none.
uint32_t descriptor_kind(int64_t descriptor);

// clauses.c
// What must hold for the rule's condition to hold: at least one, at most as many as it has
// instructions.
uint32_t clauses_of(const struct wire_rule *rule, struct clause *ret_clauses);
// The first of the rules whose gates are open and whose condition holds; `end` if there is none.
// Behind `end` are the clauses.
const struct turn *clauses_choose(const struct call *call, const struct turn *turn,
                                  const struct turn *end);
// Likewise of the rules for one address, from that one on; NULL if there is none.
struct site;
const struct site *clauses_choose_site(const struct call *call, const struct site *site);

// journal.c
// Counts it as well. `actions`: those that are really done.
void journal_injection(const struct call *call, uint32_t rule, uint32_t actions,
                       uint64_t short_value);
void journal_note(enum wire_note note, const char *text);
void journal_exec(const char *path);
void journal_crash(const struct crash *crash);
uint64_t journal_frame(uint64_t pc); // as module and offset
uint32_t journal_frames(const struct call_frame *frame, uint64_t *frames, uint32_t room,
                        uint32_t *ret_cut);

// record.c
void record_prepare(void);
void record_call(const struct call *call);
void record_forget(void); // addresses mean something else from now on
// Whether recording is all there is to do about calls of a function that began already.
bool record_is_all(const struct function *function);
void runtime_gate_record(void); // record.S

// plugin.c
bool plugin_evaluate(const struct call *call, uint32_t plugin);
bool plugin_owns(const char *path);
void plugin_prepare(void);

// remote.c
bool remote_ask(const struct call *call, uint32_t rule, uint32_t name);

// stop.c
void ordeal_injection(const char *function, uint64_t occurrence, uint32_t rule);

// act.c: what a rule that fires does to the call
enum decision act(const struct call *call, uint32_t rule);
enum decision runtime_performed(struct call_frame *frame);

// decide.c
bool decide_counts(const struct wire_rule *rule, uint64_t n); // whether it is about occurrence n
bool decide_has_rule(const struct function *function, uint32_t rule);
enum decision runtime_decide(struct call_frame *frame);

#endif
