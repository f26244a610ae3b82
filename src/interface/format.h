// SPDX-License-Identifier: GPL-3.0-or-later
// The trace of what crosses a library's interface: what the Valgrind tool writes to a pipe, and
// what stands in a trace file. Plain numbers, because the tool has no C library.
//
// A stream is a row of blocks. A block is a header and events. An event is a byte of `enum
// interface_event` and its fields: numbers as LEB128. Code and data addresses of stores are signed
// distances from the ones before them in the same block, so that every block can be read alone.
#ifndef ORDEAL_INTERFACE_FORMAT_H
#define ORDEAL_INTERFACE_FORMAT_H

#include <stdint.h>

enum {
    INTERFACE_BLOCK_MAGIC = 0x3142494f,
    // What a pipe takes at once: blocks of several processes are never mixed.
    INTERFACE_BLOCK_SIZE = 4096,
    INTERFACE_STORE_LIMIT = 64,  // bytes of one store
    INTERFACE_FRAME_LIMIT = 32,  // frames of a call stack
    INTERFACE_TEXT_LIMIT = 1024, // bytes of a path or name
    INTERFACE_ARGUMENTS = 6,     // in registers
};

struct interface_block {
    uint32_t magic, process;
    uint32_t sequence; // 0 begins a program: a process that calls exec has several
    uint16_t size;     // with this header
    uint16_t kind;     // enum interface_block_kind
};
enum interface_block_kind {
    INTERFACE_BLOCK_EVENTS, // from the tool
    INTERFACE_BLOCK_NAMES,  // from the recorder: what the addresses of later blocks mean
};

enum interface_role {
    INTERFACE_ROLE_LIBRARY, // a target
    INTERFACE_ROLE_PROGRAM, // its user
    INTERFACE_ROLE_HELPER,  // other code; when the target called it, it acts for the target
    INTERFACE_ROLE_NONE,    // the dynamic linker, Valgrind's own code
};

// How a function hands over its result.
enum interface_result {
    INTERFACE_RESULT_UNKNOWN, // rax is compared
    INTERFACE_RESULT_NONE,
    INTERFACE_RESULT_NUMBER,
    INTERFACE_RESULT_POINTER,
    INTERFACE_RESULT_VECTOR, // in xmm0
};

enum interface_event {
    // start, size, offset in the file, protection (r 1, w 2, x 4), role, stack, size of the path,
    // path
    INTERFACE_MAP = 1,
    INTERFACE_UNMAP,    // start, size
    INTERFACE_STACK,    // number, count, addresses of code, innermost first
    INTERFACE_ALLOCATE, // address, size, stack, address of the block that it replaces or 0
    INTERFACE_FREE,     // address
    INTERFACE_THREAD,   // number: the next events are this thread's
    INTERFACE_ENTER,    // function, stack pointer, return address, arguments
    INTERFACE_RETURN,   // rax, low half of xmm0
    INTERFACE_ABANDON,  // the function was left by longjmp() or an exception
    INTERFACE_SUSPEND,  // stack pointer: the library called the program
    INTERFACE_RESUME,   // and the program came back
    INTERFACE_STORE,    // code (distance), address (distance), size, bytes
    INTERFACE_END,      // exit status of the program
    INTERFACE_POINTER,  // address, value: a pointer of the program that the library can see

    // In blocks of names
    INTERFACE_MODULE, // start, size, role, size of its name, name: with its zeroed data
    INTERFACE_OBJECT, // start, size, size of its name, name: a variable of the module before
    INTERFACE_PLACE,  // code, line or offset, sizes of function and file, function, file
    // code, enum interface_result, bytes of the result, registers with parameters, size of its
    // name, name
    INTERFACE_FUNCTION,
    INTERFACE_EVENT_COUNT,
};

#endif
