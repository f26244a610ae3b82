// SPDX-License-Identifier: GPL-3.0-or-later
// The region: one shared mapping per trial. It holds the plan (written by the controller before the
// target starts), the state of its rules, the modules the target loaded with what the controller
// found out about them, and the journal. Every process of the trial maps it, and it outlives all of
// them. All offsets count bytes from the start of struct wire_region.
#ifndef ORDEAL_WIRE_REGION_H
#define ORDEAL_WIRE_REGION_H

#include "wire/plan.h"

#include <stdint.h>

// The file of the runtime, by which it is known among the libraries of a process.
#define WIRE_RUNTIME_NAME "ordeal-runtime.so"

#define WIRE_REGION_MAGIC 0x4752524fu // "ORRG"

#define WIRE_MODULES           1024 // entries in the module table
#define WIRE_MODULE_PATH       480
#define WIRE_INHERITED_SOCKETS 16
#define WIRE_REMOTES           32
#define WIRE_EXECS             128   // programs noted as started
#define WIRE_PENDING           256   // processes in which the runtime is yet to start
#define WIRE_ATTACHED          8192  // bits for processes in which it has started
#define WIRE_PROCESSES         512   // remembered process numbers
#define WIRE_STACK_SET         65536 // entries of the set of remembered stacks; 0 = free entry
#define WIRE_FRAMES            48    // frames of a stack in the journal
#define WIRE_LATE_CRASHES      16    // records kept for crashes when the journal is full
#define WIRE_FUNCTION_NAME     128
#define WIRE_CAPTURED_STRINGS  2
#define WIRE_CAPTURED_SIZE     96
#define WIRE_NOTE_TEXT         512
#define WIRE_CALLS             65536 // rows of the table of calls
#define WIRE_CALL_ROWS         32    // that a process takes at a time
#define WIRE_CALL_FUNCTIONS    1024
#define WIRE_CALL_NAMES        2048 // a power of two
#define WIRE_CALL_PROCESSES    4096
#define WIRE_SMALL_STACK       (64u << 10) // bytes; a lower limit is raised for the start
#define WIRE_COUNT_ROWS        256 // threads that count their calls at the same time, and row 0
#define WIRE_COUNT_SLOTS       512 // functions of a process that are counted so
#define WIRE_COUNT_PATTERNS    2   // that take such a function
#define WIRE_CACHE_MODULES     256 // a power of two, like the number of programs and of rows
#define WIRE_CACHE_PROGRAMS    32
#define WIRE_CACHE_PATH        248
#define WIRE_CACHE_IMPORTS     16384
#define WIRE_CACHE_ROWS        4096

// A workload that forks where a fault is to be injected: the child takes the fault; the workload
// waits until the child is gone and goes on without the fault. One child at a time.
enum wire_fork_state { // a futex word
    WIRE_FORK_NONE,    // the workload runs; as the controller's answer: go on without a fork
    WIRE_FORK_ASKED,   // the condition of `rule` holds; the workload waits
    WIRE_FORK_GRANTED, // the controller's answer
    WIRE_FORK_ENDED,   // the child is gone, or there was none; the workload waits
};

enum wire_fork_refusal { // why there was no child, or none that stands for a run of its own
    WIRE_FORK_OK,
    WIRE_FORK_THREADS,
    WIRE_FORK_PROCESSES,
    WIRE_FORK_STREAMS,     // stdout or stderr is not what it was at the start
    WIRE_FORK_DESCRIPTORS, // a descriptor is open that two processes would share
    WIRE_FORK_MEMORY,      // memory is shared with another process
    WIRE_FORK_TIMERS,
    WIRE_FORK_SIGNALS, // one is pending
    WIRE_FORK_FILTER,  // system calls cannot be filtered here
    WIRE_FORK_FAILED,  // the fork itself
    WIRE_FORK_REFUSALS
};

struct wire_fork {
    uint32_t state;
    uint32_t events; // futex: raised whenever the target changes `state`
    uint32_t rule;
    uint32_t refusal;
    int32_t status; // of the child, as of wait()
    uint32_t reserved;
    uint64_t cpu_ns;
    uint64_t peak_memory; // bytes
    uint64_t changed_ns;  // when the target changed `state`, CLOCK_MONOTONIC
    uint64_t resumed_ns;  // when it last went on; 0: it has not waited yet
};

// The environment variable that names the region's file: its absolute path. In front of it may
// stand "NUMBER:", the number of a descriptor of that file, which is inherited.
#define WIRE_ENVIRONMENT "ORDEAL_REGION"

struct wire_region {
    uint32_t magic, version;
    uint64_t size;
    uint64_t plan;      // offset of struct wire_plan
    uint64_t rules;     // offset of struct wire_rule_state[plan.rules.count]
    uint64_t patterns;  // offset of struct wire_pattern_state[plan.patterns.count]
    uint64_t programs;  // offset of struct wire_programs
    uint64_t modules;   // offset of struct wire_module[WIRE_MODULES]
    uint64_t remotes;   // offset of struct wire_remote[WIRE_REMOTES]
    uint64_t stack_set; // offset of uint64_t[WIRE_STACK_SET]; 0 when no rule uses new_stack
    uint64_t journal;   // offset of struct wire_record[journal_capacity + WIRE_LATE_CRASHES]
    uint64_t arena;     // offset where the controller puts resolutions, up to `size`
    uint64_t start_ns;  // CLOCK_MONOTONIC when the trial began
    uint64_t namespace; // inode number of the controller's PID namespace; 0: not known
    // The controller and its process group, in that namespace. Everything below the controller
    // belongs to the trial.
    uint32_t controller, controller_group;
    uint64_t preload;  // offset of a string: the value LD_PRELOAD must have in every process
    uint64_t file;     // offset of a string: path of this region's file
    uint64_t calls;    // offset of struct wire_calls; 0 when calls are not recorded
    uint64_t counts;   // offset of struct wire_counts, behind the arena; 0 when there are no rules
    uint64_t coverage; // offset of a string: path of the coverage file; 0 when there is none
    uint64_t marks; // offset of uint32_t[mark_count]: for each module of the coverage file whether
                    // a process has loaded it, then for each block whether, or how often, it was
                    // reached in this trial, then those of faults: enum wire_stop_mark
    uint64_t program; // offset of two strings: a path, and the file that is executed under it; or 0
    uint64_t program_fingerprint; // wire_fingerprint() of that file's program headers
    uint32_t mark_count;
    uint32_t stop_count; // faults in the coverage file; a fork's `rule` may be one, after the rules
    uint32_t unused;
    uint32_t journal_capacity;
    uint32_t answer_timeout_ms; // how long a target waits for the controller
    // Written by targets, atomically.
    uint32_t requests;  // futex: raised when a module or a remote question waits
    uint32_t processes; // processes seen so far, each counted once
    uint32_t forks;     // of them, those that came from a fork
    uint32_t options;   // enum wire_option bits; written by the controller
    uint32_t
        overwritten; // by the controller: something was written over the fields before `requests`
    uint64_t journal_head;   // records asked for; those above the capacity are lost, but counted
    uint64_t stack_set_lost; // stacks that found no room in the set
    uint64_t process_numbers[WIRE_PROCESSES]; // pid << 32 | number, at pid % WIRE_PROCESSES
    uint32_t filters; // enum wire_filter bits: what processes have installed
    uint32_t reserved;
    struct wire_fork fork;
    // Written by the controller, for later readers of the file.
    uint64_t command; // offset of command_words strings, one after the other
    uint32_t command_words;
    uint32_t outcome;                // enum wire_outcome
    int32_t outcome_status;          // exit status, or the signal's number
    uint32_t inherited_socket_count; // above WIRE_INHERITED_SOCKETS: not all are listed
    uint64_t outcome_ns;             // how long the command ran
    uint64_t watched_ns;             // from start_ns until the region was read; 0: not known
    // Inode numbers of the sockets that the command got from outside of the trial, besides its
    // standard streams. Written before it starts.
    uint64_t inherited_sockets[WIRE_INHERITED_SOCKETS];
};

// Programs that processes start. Not in the header, which the controller copies several times.
struct wire_programs {
    uint64_t attached[WIRE_ATTACHED / 64];
    uint64_t pending[WIRE_PENDING];    // WIRE_PENDING_ENTRY(); 0: free
    uint32_t exec_records[WIRE_EXECS]; // 1 + the record of the program in `execs`; 0: none yet
    uint64_t execs[WIRE_EXECS]; // hashes of the programs in WIRE_RECORD_EXEC records; 0 = free
    // Of the processes in `pending`, the limits of the stack (soft, hard) if they were raised for
    // the start; or 0 and 1 + the personality, if that was changed.
    uint64_t pending_limits[WIRE_PENDING][2];
    uint64_t command_limits[2]; // likewise, of the command; 0, 0: nothing was changed
    // Of the processes in `process_numbers`. What is about one process stands together: every page
    // that it writes to costs it a fault.
    struct wire_process {
        // 1 + the number of the system call that the runtime is making in a process that filters
        // its own system calls; 0: none.
        uint64_t own_call;
        uint64_t ancestry; // who made it: WIRE_ANCESTRY_CHILD()
        uint32_t children; // that it has made
        uint32_t spawning; // its calls of posix_spawn() that are under way
        uint32_t end;      // WIRE_ENDED | the status that its parent got; 0: not known
        uint32_t parent;   // number of the process that was its parent at its start; 0: not known
        char program[16];  // file name it was started under, or that of its script; may fill it
        char parent_program[16]; // likewise of its parent, when this process started
        uint32_t helps;          // it is a shell that was given a command, as by system()
        uint32_t parent_helps;   // likewise its parent
    } processes[WIRE_PROCESSES];
    uint64_t output;   // inode number of the command's standard output; 0: not known
    struct wire_born { // a process whose maker has numbered it, until the runtime starts in it
        uint32_t state, pid; // 0: free; 0: not yet filled in
        uint64_t ancestry;
    } born[WIRE_PENDING];
};

#define WIRE_ENDED 0x80000000u

// Who made a process, a byte for each generation: the command is 1, its second child 0x102. 0: not
// known, also for the 256th child, and for the ninth generation.
#define WIRE_ANCESTRY_COMMAND 1u
#define WIRE_ANCESTRY_CHILD(parent, number)                                                        \
    ((parent) != 0 && (parent) >> 56 == 0 && (number) < 256 ? (parent) << 8 | (number) : 0)

// A program was started and the runtime has not started in it: its pid, why that may be, and its
// record in the journal.
#define WIRE_PENDING_ENTRY(pid, obstacle, record)                                                  \
    ((uint64_t)(pid) << 32 | (uint64_t)(obstacle) << 28 | ((record)&0xfffffffu))
#define WIRE_PENDING_PID(entry)      ((uint32_t)((entry) >> 32))
#define WIRE_PENDING_OBSTACLE(entry) ((uint32_t)((entry) >> 28 & 0xf))
#define WIRE_PENDING_RECORD(entry)   ((uint32_t)((entry)&0xfffffffu))

enum wire_obstacle { // why the runtime cannot start in a program, as its starter saw it
    WIRE_OBSTACLE_NONE,
    WIRE_OBSTACLE_PRIVILEGES, // the starter has two users or groups: the loader ignores LD_PRELOAD
    WIRE_OBSTACLE_RUNTIME,    // the runtime's file cannot be read
    WIRE_OBSTACLE_REGION,     // nor, here, that of the region
    WIRE_OBSTACLE_STACK,      // the stack is limited to less than the loader may need
    WIRE_OBSTACLES
};

enum wire_filter { // of system calls, as the C library was asked for them
    WIRE_FILTER_PROGRAM = 1 << 0,
    WIRE_FILTER_STRICT = 1 << 1,
};

enum wire_option {
    WIRE_CATCH_CRASHES = 1 << 0, // fatal signals leave a WIRE_RECORD_CRASH
    WIRE_RECORD_CALLS = 1 << 1,  // count calls by process and site
    WIRE_RECORD_STACKS = 1 << 2, // and by stack
    WIRE_FORKS = 1 << 3,         // where a rule fires, fork: see struct wire_fork
    // Of calls, count only those inside an observed call. A row's `first` is then the number of the
    // function's call among them, and `stack` the number of the row.
    WIRE_RECORD_INSIDE = 1 << 4,
};

enum wire_outcome {
    WIRE_OUTCOME_NONE, // still running, or the controller died
    WIRE_OUTCOME_EXIT,
    WIRE_OUTCOME_SIGNAL,
    WIRE_OUTCOME_TIMEOUT,
};

struct wire_rule_state {
    uint64_t reached; // calls that got as far as this rule's function, besides those in wire_counts
    uint64_t fired;
    uint32_t once;       // 1: a rule with `once` has fired
    uint32_t unfinished; // checks whose walk of the stack ended before the stack did, in vain
    uint32_t uncounted;  // not 0: there may have been more calls. Processes that have not yet added
                         // theirs; and bit 31, if threads had no row
    uint32_t reserved;
};

struct wire_pattern_state {
    uint32_t bound; // distinct functions that this pattern intercepts, over all processes
    uint32_t reserved;
};

enum wire_module_state { // a futex word
    WIRE_MODULE_FREE,
    WIRE_MODULE_CLAIMED,    // a target is filling it in
    WIRE_MODULE_REGISTERED, // path and fingerprint are valid
    WIRE_MODULE_WANTED,     // a target waits for the controller to resolve it
    WIRE_MODULE_RESOLVED,   // `resolution` is valid
    WIRE_MODULE_FAILED,     // the controller could not read the file
};

struct wire_module {
    uint32_t state;
    uint32_t waiters;     // 1: a process waits for the end of WIRE_MODULE_CLAIMED
    uint64_t fingerprint; // wire_fingerprint() of its program headers
    uint64_t resolution;  // offset of struct wire_resolution
    uint64_t reserved2;
    char path[WIRE_MODULE_PATH]; // absolute if it could be told
};

// Where the plan's queries and variables are in one module, in link-time addresses. Followed by
// ranges[], locations[], steps[].
struct wire_resolution {
    uint32_t range_count, location_count, step_count, reserved;
};

struct wire_range { // a return address r matches when lo <= r && r < hi
    uint32_t query;
    uint32_t reserved;
    uint64_t lo, hi;
};

enum wire_base {
    WIRE_BASE_STATIC,           // link-time address `offset`
    WIRE_BASE_CFA,              // frame's CFA + offset
    WIRE_BASE_REGISTER_ADDRESS, // value of register + offset is an address
    WIRE_BASE_REGISTER_VALUE,   // the register holds the value itself
};

// Where a variable is while a frame's pc is in [lo, hi). WIRE_BASE_STATIC entries have
// lo = 0, hi = UINT64_MAX and serve when no frame has a local of that name.
struct wire_location {
    uint32_t variable;
    uint16_t base;   // enum wire_base
    uint16_t reg;    // DWARF number: 3 rbx, 6 rbp, 7 rsp, 12..15
    uint64_t lo, hi; // matched against return address - 1
    int64_t offset;
    uint32_t first_step, step_count; // applied to the base address in order
    uint32_t width; // of the final load, 1, 2, 4 or 8; 0: the address itself is the value
    uint32_t is_signed;
    uint32_t bit_offset, bit_width; // bit_width 0: not a bit field
};

struct wire_step { // address = load8(address) if `load`, then address += offset
    uint32_t load;
    uint32_t reserved;
    int64_t offset;
};

enum wire_remote_state { // a futex word
    WIRE_REMOTE_FREE,
    WIRE_REMOTE_CLAIMED,
    WIRE_REMOTE_ASKED,
    WIRE_REMOTE_ANSWERED,
};

enum wire_remote_answer {
    WIRE_REMOTE_NO,
    WIRE_REMOTE_YES,
    WIRE_REMOTE_UNREACHABLE,
};

#define WIRE_REMOTE_FRAMES 16

struct wire_remote {
    uint32_t state;
    uint32_t answer;
    uint32_t pid, tid;
    uint32_t name; // string of the plan
    uint32_t rule;
    uint64_t occurrence;
    uint64_t arguments[WIRE_ARGUMENTS];
    uint64_t frame_count;
    uint64_t frames[WIRE_REMOTE_FRAMES];
    char function[WIRE_FUNCTION_NAME];
};

// A frame: module table index in the upper 16 bits, link-time offset in the lower 48. An unknown
// module has WIRE_FRAME_UNKNOWN and the absolute address.
#define WIRE_FRAME_UNKNOWN 0xffffu
#define WIRE_FRAME(module, offset)                                                                 \
    ((uint64_t)(module) << 48 | ((uint64_t)(offset)&0xffffffffffffull))
#define WIRE_FRAME_MODULE(frame) ((uint32_t)((frame) >> 48))
#define WIRE_FRAME_OFFSET(frame) ((frame)&0xffffffffffffull)

enum wire_record_state {
    WIRE_RECORD_EMPTY,
    WIRE_RECORD_OPEN, // reserved; if it stays so, its writer died while writing it
    WIRE_RECORD_COMPLETE,
};

enum wire_record_kind {
    WIRE_RECORD_INJECTION,
    WIRE_RECORD_NOTE,
    WIRE_RECORD_EXEC,  // a process is about to exec the program in `text`; once per program
    WIRE_RECORD_CRASH, // a process is dying of a signal; at most one per process and program
    // An observed call came back: function and occurrence are those of its WIRE_RECORD_INJECTION,
    // value[0] is its result, error what errno was then, arguments what the first word behind each
    // argument was. Bit i of `actions`: that word was changed.
    WIRE_RECORD_RESULT,
};

enum wire_crash {              // bits in `actions` of a crash
    WIRE_CRASH_SENT = 1 << 0,  // by a process, maybe itself; not by a fault
    WIRE_CRASH_FAULT = 1 << 1, // value[0] is the address the fault is about
    WIRE_CRASH_STOP = 1 << 2,  // at an instruction that only stops a program: int3 or ud2
};

enum wire_note {
    WIRE_NOTE_NONE,
    WIRE_NOTE_UNRESOLVED_SYMBOL,  // text: a lazily bound import that could not be resolved
    WIRE_NOTE_NO_SLOTS,           // text: function; the pool of stubs is used up
    WIRE_NOTE_NO_ANSWER,          // text: module; the controller did not answer in time
    WIRE_NOTE_RESOLUTION_FAILED,  // text: module; the controller could not read it
    WIRE_NOTE_REMOTE_UNREACHABLE, // text: name; the call went through
    WIRE_NOTE_PLUGIN_MISSING,     // text: plug-in name
    WIRE_NOTE_PLUGIN_VERSION,     // text: plug-in name
    WIRE_NOTE_PLUGIN_INIT,        // text: plug-in name; its init refused
    WIRE_NOTE_MODULES_FULL,       // text: module; the module table is full
    WIRE_NOTE_DISARMED,           // text: why the runtime took itself out of this process
    WIRE_NOTE_OUT_FAULT,          // text: function; an output parameter's pointer was not writable
    WIRE_NOTE_MEMORY,             // text: what could not be allocated
    WIRE_NOTE_NOT_COVERED,        // text: module; not the file whose blocks are asked about
    WIRE_NOTE_NOT_ATTACHED,       // text: program; started by another user without the region
    WIRE_NOTE_SIGNAL_LIMITED,     // text: a call; its signal reached processes of the trial alone
    WIRE_NOTE_SIGNAL_REFUSED,     // text: a call; its signal was not sent to anybody
    WIRE_NOTE_NAMESPACE,          // text: library; loaded where calls are not intercepted
    WIRE_NOTE_KEPT,               // text: a call; it left the runtime's own memory alone
    WIRE_NOTES
};

enum wire_cut {          // whether the frames of a record are all of the stack
    WIRE_CUT_NOT,        // they are
    WIRE_CUT_FULL,       // there are more than the record has room for
    WIRE_CUT_UNFINISHED, // nothing tells how to go on from the last one
    WIRE_CUT_CALL,       // of a system call only the place is known
};

struct wire_record {
    uint32_t state; // enum wire_record_state, written last
    uint16_t kind;
    uint16_t frame_count;
    uint32_t pid, tid;
    uint32_t process_number, thread_number;
    uint64_t time_ns; // since the trial began
    char process_name[16];
    uint32_t rule;       // injections
    uint32_t note;       // enum wire_note
    uint32_t actions;    // what was done, enum wire_action bits; of a crash enum wire_crash bits
    int32_t error;       // of a crash the signal's number
    uint64_t value[2];   // of a crash the fault's address, and the sender's pid
    uint64_t stream;     // as in struct wire_call; injections
    uint64_t occurrence; // of a crash in a fault's handler: which frame the fault was in, else 0
    uint64_t arguments[WIRE_ARGUMENTS];
    union {
        struct {
            char function[WIRE_FUNCTION_NAME];
            char strings[WIRE_CAPTURED_STRINGS][WIRE_CAPTURED_SIZE]; // of the first C-string
                                                                     // arguments, in order
            uint32_t library;             // module table index of the function's library
            uint32_t frames_cut;          // enum wire_cut
            uint64_t frames[WIRE_FRAMES]; // [0] is the call site: return addresses; of a crash
                                          // [0] is the instruction itself
        };
        char text[WIRE_NOTE_TEXT];
    };
};

// A cache: what one process of the workload has found out about the code of a module, for those
// that start later. See runtime/cache.c. Keys are of builds; 0: free, 1: being written.
struct wire_cache {
    struct wire_cache_module {
        uint64_t key;
        uint32_t first, count; // of its imports
    } modules[WIRE_CACHE_MODULES];
    struct wire_cache_program {
        uint64_t key;
        char path[WIRE_CACHE_PATH]; // the file that is executed under the path that was asked for
    } programs[WIRE_CACHE_PROGRAMS];
    uint32_t taken, reserved; // imports that processes asked room for; above the size: not kept
    uint64_t imports[WIRE_CACHE_IMPORTS]; // a struct import of runtime/cache.h
    struct wire_cache_row {
        uint64_t key;
        uint64_t row[3]; // a struct row of runtime/unwind.h
    } rows[WIRE_CACHE_ROWS];
};

// Calls of intercepted functions, counted by every thread in a row of its own. A reader adds them
// to `reached` of the rules of the patterns that took the function.
struct wire_counts {
    uint32_t used; // no row above this was ever taken
    uint32_t reserved;
    uint64_t reserved2[WIRE_COUNT_ROWS - 1];
    // Process and thread, as pid << 32 | tid, and more that runtime/count/rows.c knows. 0: the row
    // is free. WIRE_COUNT_ENDED: its process is gone.
    uint64_t owners[WIRE_COUNT_ROWS];
    uint64_t counts[WIRE_COUNT_ROWS][WIRE_COUNT_SLOTS]; // on pages of their own; row 0 is no one's
    struct wire_count_function {
        uint32_t patterns[WIRE_COUNT_PATTERNS]; // 1 + number; 0: none
    } functions[WIRE_COUNT_ROWS][WIRE_COUNT_SLOTS];
};
#define WIRE_COUNT_ENDED (1ull << 62)

#define WIRE_KIND_LOOKED 0x8000u
// Of rules that only watch, and have a condition: it held at a call, it did not.
#define WIRE_KIND_HELD     0x4000u
#define WIRE_KIND_NOT_HELD 0x2000u
#define WIRE_KIND_SEVERAL  0x1000u // the descriptors had different numbers

// The calls of the plan's functions, by process, function, site and maybe stack. What all processes
// look at stands together: the kernel maps the neighbours of a page that is read.
struct wire_calls {
    uint64_t lost;                        // calls that found no room
    uint32_t processes, functions, taken; // rows in use, of each kind; above the size: lost
    // 1 + where the plan is, once a process has checked it and could make its pages read-only.
    // Targets cannot write to those pages; to this word they can.
    uint32_t sound_plan;
    uint32_t names[WIRE_CALL_NAMES]; // 1 + row of a function, open addressing by wire_hash(name)
    struct wire_cache cache;
    struct wire_call_function {
        uint32_t state;   // enum wire_record_state
        uint32_t library; // module table index, or WIRE_FRAME_UNKNOWN
        char name[WIRE_FUNCTION_NAME];
    } function[WIRE_CALL_FUNCTIONS];
    struct wire_call_process {
        uint32_t state;  // enum wire_record_state
        uint32_t number; // as in process(n)
        uint32_t pid;
        uint32_t reserved;
        uint64_t ancestry;          // as in ancestry("1.2"); 0: not known
        char program[64];           // file name, as in process("name")
    } process[WIRE_CALL_PROCESSES]; // one per process and program that it runs
    struct wire_call {
        uint32_t state;      // enum wire_record_state
        uint32_t process;    // index above
        uint32_t function;   // likewise
        uint16_t kinds;      // 1 << enum wire_fd_test: of the descriptors that were looked at,
                             // and WIRE_KIND_LOOKED if one was
        uint16_t descriptor; // the last of them
        uint64_t site;       // a frame: where the call returns to
        uint64_t stack;      // hash; 0: not told apart
        uint64_t count;
        uint64_t first, last; // occurrence numbers; the last is kept for writes of streams only
        uint64_t stream;      // a frame: where the FILE of the calls was opened (in an unknown
                              // module 1 or 2: a standard stream); 0: none, or not known
    } rows[WIRE_CALLS];       // a process has some next to each other; a key may stand in several
};

// Tells two builds of a module apart without opening the file: a hash over its program headers.
// Takes eight bytes at a time, since it is computed for every module of every process.
static inline uint64_t wire_fingerprint(const void *bytes, uint64_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t hash = 14695981039346656037ull ^ size;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        __builtin_memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    for (; size != 0; size--, at++)
        hash = (hash ^ *at) * 1099511628211ull;
    return hash;
}

#endif
