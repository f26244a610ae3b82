// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all system calls: which of them other processes can notice, and what their arguments
// are. A call is visible if it can change what system calls of unrelated processes return;
// processes are related if one tracer watches them. Calls that fail are never visible: they changed
// nothing.
#ifndef ORDEAL_OBSERVE_LINUX_CALLS_H
#define ORDEAL_OBSERVE_LINUX_CALLS_H

#include <stdbool.h>
#include <stddef.h>

enum call_visible {
    CALL_NEVER,
    CALL_ALWAYS,
    CALL_CREATES,        // if its flags have O_CREAT or O_TRUNC
    CALL_FILE,           // if the first argument is a descriptor of a file
    CALL_OUTSIDE,        // if it is a file, or a pipe or socket to an unrelated process
    CALL_OUTSIDE_SECOND, // the same of the second argument
    CALL_OUTSIDE_THIRD,
    CALL_INCOMING,   // if the first argument is a pipe or socket to an unrelated process
    CALL_SOCKETCALL, // i386: the call that it stands for is
    CALL_LOCKS,      // if it locks a part of a file
    CALL_DEVICE,     // if it is not one of the requests that only ask
    CALL_SHARED,     // if it maps a file shared and writable
    CALL_OTHERS,     // if its first argument is a process that is not related
    CALL_RING,       // would make calls that nobody sees: refused while a program is traced
};

// Why a call is visible, or not.
enum call_reason {
    REASON_NAMES,      // makes, removes or renames files
    REASON_ATTRIBUTES, // changes what stat() and its relatives say
    REASON_CONTENTS,   // changes what others read
    REASON_INPUT,      // takes away what others have sent
    REASON_MESSAGES,   // reaches the other end of a socket
    REASON_QUEUES,     // System V and POSIX objects that all processes share
    REASON_LOCKS,
    REASON_DEVICES,
    REASON_MEMORY,    // memory that others map
    REASON_PROCESSES, // signals to other processes
    REASON_MACHINE,   // the state of the whole system
    REASON_RINGS,     // io_uring
    REASON_DURABILITY,
    REASON_OWN_MEMORY,
    REASON_OWN_DESCRIPTORS,
    REASON_OWN_SIGNALS,
    REASON_OWN_STATE,
    REASON_RELATED, // makes and ends related processes
    REASON_QUESTION,
    REASON_TIME,
    REASON_WAITING,
    REASON_SCHEDULING,
    REASON_ABSENT, // Linux no longer has it
};

// Arguments, a letter each; those behind the last one are not shown.
enum call_argument {
    CALL_ARG_HIDDEN = '.', // a pointer, or of no interest
    CALL_ARG_DESCRIPTOR = 'f',
    CALL_ARG_DIRECTORY = 'd', // a descriptor that the path behind it starts from
    CALL_ARG_PATH = 'p',
    CALL_ARG_TEXT = 's',
    CALL_ARG_INT = 'i',    // 32 bits
    CALL_ARG_NUMBER = 'n', // 64 bits
    CALL_ARG_UNSIGNED = 'u',
    CALL_ARG_SIZE = 'z', // not shown: the result says how much of it was done
    CALL_ARG_FLAGS = 'x',
    CALL_ARG_MODE = 'o',
    CALL_ARG_OPEN_FLAGS = 'e',
    CALL_ARG_OPEN_HOW = 'H',  // struct open_how
    CALL_ARG_BYTES = 'b',     // bytes that are given, as many as the next argument says
    CALL_ARG_WRITTEN = 'w',   // bytes that are written, as many as the result says
    CALL_ARG_WRITTEN_V = 'v', // the same in a vector of buffers
    CALL_ARG_MESSAGE = 'm',   // struct msghdr to send
    CALL_ARG_MESSAGES = 'M',  // several of them
    CALL_ARG_READ = 'r',      // bytes that were read, as many as the result says
    CALL_ARG_READ_V = 'V',    // the same in a vector of buffers
    CALL_ARG_RECEIVED = 'g',  // struct msghdr received
    CALL_ARG_ADDRESS = 'a',   // of a socket; its size is the next argument
    CALL_ARG_TIMESPECS = 't', // two of them, or NULL
    CALL_ARG_TIMEVALS = 'T',  // likewise
    CALL_ARG_UTIMBUF = 'U',   // likewise
    CALL_ARG_PROCESS = 'k',
};

#define CALL_NONE -1

struct linux_call {
    const char *name;
    int number, number_i386; // or CALL_NONE
    enum call_visible visible;
    enum call_reason reason;
    const char *arguments; // enum call_argument
};

size_t linux_call_count(void);
const struct linux_call *linux_call_at(size_t index);
size_t linux_call_index(const struct linux_call *call);
// NULL: there is none.
const struct linux_call *linux_call_find(const char *name);
const struct linux_call *linux_call_by_number(int number, bool i386);

// The call that socketcall(NUMBER, ...) stands for, or NULL.
const struct linux_call *linux_call_of_socketcall(unsigned number);

// Whether an ioctl() only asks, or changes only the caller's descriptor.
bool ioctl_only_asks(unsigned request);

#endif
