// SPDX-License-Identifier: GPL-3.0-or-later
// All times that no user sets.
//   _WAIT_NS   how long something is waited for, before it is given up or the user is told
//   _PAUSE_NS  from one look at something to the next
#ifndef ORDEAL_BASE_TIMEOUTS_H
#define ORDEAL_BASE_TIMEOUTS_H

#include "base/clock.h"

// Processes that are killed
// A process may be in the kernel, dumping core. Whoever kills may have to wait long for its turn
// among a thousand busy processes, each of which the scheduler takes for a session of its own.
#define KILL_WAIT_NS           (30 * NS_PER_S)
#define KILL_TREE_PAUSE_NS     (100 * NS_PER_US) // in a process namespace: every trial pays this
#define KILL_PAUSE_NS          (200 * NS_PER_US) // without one: children of the dead come to us
#define KILL_THOROUGH_ROUNDS   64                // then a look at all of /proc
#define KILL_RUN_PAUSE_NS      (2 * NS_PER_MS)   // in `ordeal run`, which kills at most once
#define KILL_SERVER_PAUSE_NS   (1 * NS_PER_MS)   // what a server has started; it may still print
#define GROUP_REMOVAL_PAUSE_NS (1 * NS_PER_MS)   // a reaped process leaves its group a bit later

// A step in a sandbox
#define TRACER_PAUSE_NS (1 * NS_PER_MS) // while a traced task is delayed
// Until a fault comes that waits for processor time to be used.
#define TRACER_MOMENT_PAUSE_NS (30 * NS_PER_US)
#define TRACER_MOMENT_LAST_NS  (20 * NS_PER_MS) // no process executes the program yet
// A run that an injector watches step by step.
#define SURVEY_WAIT_NS         (1800 * NS_PER_S)
#define TRACER_HOLD_WAIT_NS    (100 * NS_PER_MS) // for a thread to stop that may wait in the kernel
#define TRACER_HOLD_PAUSE_NS   (20 * NS_PER_US)  // between looks at it
#define STEP_FIRST_PAUSE_NS    (100 * NS_PER_US) // if no descriptor tells of the end; doubles to:
#define STEP_LAST_PAUSE_NS     (10 * NS_PER_MS)  // or a little more
#define STEP_STOP_PAUSE_NS     (100 * NS_PER_MS) // a signal just before a wait does not end it
#define STEP_LINGERING_WAIT_NS (3 * NS_PER_S)    // then the user is told which daemons still run
#define STEP_HOPELESS_PAUSE_NS (1 * NS_PER_S)    // looks whether it waits for the terminal
#define STEP_OTHER_WAIT_NS     (60 * NS_PER_S)   // setup, pretest, posttest, oracle, teardown
#define STEP_BUILD_WAIT_NS     (300 * NS_PER_S)  // a compiler and a linker, on a busy machine
#define DECODER_WAIT_NS        (10 * NS_PER_S)   // gzip -dc and others, on what a trial has left
#define BRANCH_FIRST_PAUSE_NS  (500 * NS_PER_US) // most forked trials are over then; doubles to:
#define BRANCH_LAST_PAUSE_NS   (2 * NS_PER_MS)   // looks for output, which does not end the wait
#define PROCESS_LIMIT_PAUSE_NS (50 * NS_PER_MS)  // looks for processes that are started endlessly
#define PROCESS_BLIND_PAUSE_NS (1 * NS_PER_S)    // likewise, if /proc/loadavg gives no number
#define PROCESS_COUNT_WAIT_NS  (200 * NS_PER_MS) // else too busy to count: the time limit will do
#define LISTING_FRESH_NS       (10 * NS_PER_MS)  // the next run uses the files listed last

// The tests of a project, against mutants
#define SCORE_WAIT_NS       (5 * NS_PER_S) // beside the following multiple of what they usually take,
#define SCORE_SHORT_WAIT_NS (2 * NS_PER_S) // where nothing is built
#define SCORE_WAIT_FACTOR   3              // for each that runs at the same time: they build, too

// A trial
#define RESERVE_WAIT_NS               (10 * NS_PER_MS)  // small programs have ended by then
#define RESOLVER_PAUSE_NS             (250 * NS_PER_MS) // in case a wake-up is ever lost
#define RESOLVER_ERROR_PAUSE_NS       (1 * NS_PER_MS)   // if waiting fails: the loop must not spin
#define TARGET_ANSWER_WAIT_NS         (30 * NS_PER_S)   // in a target: debug files are large
#define COORDINATOR_GREETING_NS       (10 * NS_PER_S)   // to say hello, or to read a refusal
#define COORDINATOR_GREETING_PAUSE_NS (1 * NS_PER_S)    // looks whether that time is over
#define COORDINATOR_ADMIT_PAUSE_NS    (50 * NS_PER_MS)  // out of descriptors: must not spin
#define COORDINATOR_CONNECT_NS        (2 * NS_PER_S)    // the target stands still meanwhile
#define COORDINATOR_ANSWER_NS         (5 * NS_PER_S)    // likewise
#define COORDINATOR_RETRY_NS          (1 * NS_PER_S)    // after a failure; else every call waits

// Stacks of living processes
#define STACK_WAIT_NS         (15 * NS_PER_S) // debug files are large, and machines busy
#define STACK_STOP_PAUSE_NS   (1 * NS_PER_MS) // looks whether a thread has stopped
#define STACK_SAMPLE_PAUSE_NS (3 * NS_PER_MS) // between samples of a busy thread
#define STACK_GLANCE_PAUSE_NS (4 * NS_PER_MS) // a busy thread runs at every look

// Job slots
#define SLOT_WAIT_NS          (600 * NS_PER_S)  // no reference run says how long a shot takes
#define SLOT_MARGIN_WAIT_NS   (60 * NS_PER_S)   // beside 10 times the longest reference run
#define SLOT_FAREWELL_WAIT_NS (3 * NS_PER_S)    // to remove its sandbox; for its orphans to die
#define SLOT_STUCK_PAUSE_NS   (60 * NS_PER_S)   // at most, between looks whether one is stuck
#define SLOT_NEXT_JOB_WAIT_NS (300 * NS_PER_MS) // then its long-lived server is stopped

// Servers
#define SERVER_READY_PAUSE_NS   (1 * NS_PER_MS)  // looks whether it is ready; doubles up to:
#define LOAD_ALONE_WAIT_NS      (3 * NS_PER_S)   // a load without its server fails within this time
#define SERVER_READY_LAST_NS    (20 * NS_PER_MS) // each look may start a process
#define SERVER_QUIET_NS         (3 * NS_PER_MS)  // asleep that long: its start is complete
#define SERVER_SETTLE_WAIT_NS   (300 * NS_PER_MS) // for that, once it listens
#define SERVER_DAEMON_WAIT_NS   (1 * NS_PER_S)    // to go into the background once it is ready
#define SERVER_LEFTOVER_WAIT_NS (300 * NS_PER_MS) // for what it started, once it has ended
#define SERVER_LEAVE_WAIT_NS    (10 * NS_PER_S)   // for a server that is already exiting
#define SERVER_LOOK_WAIT_NS     (20 * NS_PER_S)   // for its stack: more than STACK_WAIT_NS
#define SERVER_LOOK_PAUSE_NS    (5 * NS_PER_MS)   // reading the stack does not end the wait
#define SERVER_WISH_WAIT_NS     (60 * NS_PER_S)   // for the next round: the slot may be judging
#define SERVER_WISH_PAUSE_NS    (1 * NS_PER_MS)   // likewise; rounds are short
#define SERVER_NAP_NS           (1 * NS_PER_S)    // where signals and output end the wait
#define SERVER_TICK_NS          (20 * NS_PER_MS)  // looks whether the driver asks for a stack
#define SERVER_ROUND_TICK_NS    (2 * NS_PER_MS)   // looks whether a round is over
#define SERVER_MARGIN_WAIT_NS   (30 * NS_PER_S)   // beside all that a driver allows: it hangs

// Guests
#define GUEST_LINK_PAUSE_NS    (2 * NS_PER_MS)   // between tries to reach QEMU's sockets
#define GUEST_START_WAIT_NS    (60 * NS_PER_S)   // for QEMU itself; the machine may be busy
#define GUEST_ANSWER_WAIT_NS   (30 * NS_PER_S)   // for QEMU's answer to a command
#define GUEST_PROBE_WAIT_NS    (10 * NS_PER_S)   // for a guest of a few instructions
#define GUEST_RETRY_PAUSE_NS   (100 * NS_PER_MS) // between pretests, while a guest boots
#define GUEST_END_WAIT_NS      (300 * NS_PER_MS) // for QEMU's end, after a test has failed
#define GUEST_SNAPSHOT_WAIT_NS (60 * NS_PER_S)   // for the state of devices to be written
#define GUEST_DEATH_WAIT_NS    (1 * NS_PER_S)    // after a panic: the rest of its report

// A synthetic load
#define STRESS_TRY_NS           (60 * NS_PER_MS)  // of each function: how fast the machine is
#define STRESS_COPY_WAIT_NS     (2 * NS_PER_S)    // for a copy, after most others have answered
#define STRESS_FUNCTION_WAIT_NS (60 * NS_PER_S)   // beside 100 times what a function should take
#define STRESS_REPAIR_WAIT_NS   (10 * NS_PER_S)   // for a copy to become two
#define STRESS_PAGES_NS         (3 * NS_PER_MS)   // pages that a process refers to in this time
#define STRESS_SAMPLE_PAUSE_NS  (250 * NS_PER_MS) // between samples of the load
#define STRESS_TICK_NS          (5 * NS_PER_MS)   // looks whether a fault of I/O can be injected
#define STRESS_CALL_WAIT_NS     (300 * NS_PER_MS) // for the next call about a file

// A cluster
#define CLUSTER_COMMAND_WAIT_NS     (60 * NS_PER_S) // Slurm's commands wait long for its controller
#define CLUSTER_PIECE_NS            (120 * NS_PER_S) // of work for one task: its start is a small part
#define CLUSTER_PIECE_LEAST_NS      (10 * NS_PER_S)  // likewise, towards the end of a campaign
#define CLUSTER_PATIENCE_NS         (600 * NS_PER_S) // with a full disk, or without an answer
#define CLUSTER_RETRY_PAUSE_NS      (2 * NS_PER_S)   // then, from one try to the next
#define CLUSTER_FILE_FIRST_NS       (1 * NS_PER_S) // to a task's first file of results; doubles to:
#define CLUSTER_FILE_LAST_NS        (16 * NS_PER_S) // or more: what a dead node has not written is lost
#define CLUSTER_WITHDRAWAL_PAUSE_NS (1 * NS_PER_S)    // looks of a task whether it is to end early
#define CLUSTER_LOOK_PAUSE_NS       (500 * NS_PER_MS) // at the queue, at least
#define CLUSTER_READ_PAUSE_NS       (200 * NS_PER_MS) // at the shared directory, at least
#define CLUSTER_LOOK_SHARE          20               // likewise, as a multiple of what a look takes
#define CLUSTER_NODES_PAUSE_NS      (30 * NS_PER_S)  // looks how many nodes there are
#define CLUSTER_MISSING_WAIT_NS     (3 * NS_PER_S)   // a task has left the queue: files may be late
#define CLUSTER_STUCK_WAIT_NS       (300 * NS_PER_S) // beside what slots may take: a task hangs

// A campaign
#define REFERENCE_WAIT_NS      (60 * NS_PER_S)   // at least: a workload must end by itself
#define PREVIEW_WAIT_NS        (300 * NS_PER_S)  // likewise, for reference runs of --dry-run
#define REFERENCE_PAUSE_NS     (20 * NS_PER_MS)  // between runs: looks for an interrupt
#define RESULT_WAIT_NS         (100 * NS_PER_MS) // then looks at budgets and interrupts
#define COMMIT_WAIT_NS         (100 * NS_PER_MS) // a result is in the store by then
#define ELAPSED_PAUSE_NS       (1 * NS_PER_S)    // between two updates of the elapsed time
#define PROGRESS_PAUSE_NS      (100 * NS_PER_MS) // between two reports of progress
#define PROGRESS_LINE_PAUSE_NS (3 * NS_PER_S)    // likewise, for lines in a log
#define TERMINAL_SIZE_PAUSE_NS (200 * NS_PER_MS) // looks for a new size of the terminal
#define STORE_BUSY_WAIT_NS     (10 * NS_PER_S)   // for another user, such as a sqlite3 shell

#endif
