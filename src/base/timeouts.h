// SPDX-License-Identifier: GPL-3.0-or-later
// How long anybody is waited for, and how long nobody looks: all times that no user sets.
//   _WAIT_NS   after which it is given up, or told
//   _PAUSE_NS  from one look to the next
#ifndef ORDEAL_BASE_TIMEOUTS_H
#define ORDEAL_BASE_TIMEOUTS_H

#include "base/clock.h"

// Processes that are killed
#define KILL_WAIT_NS           (10 * NS_PER_S)   // one may be busy in the kernel, with a core dump
#define KILL_TREE_PAUSE_NS     (100 * NS_PER_US) // in its own process tree: each trial pays it
#define KILL_PAUSE_NS          (200 * NS_PER_US) // likewise, by a look at all of /proc
#define KILL_RUN_PAUSE_NS      (2 * NS_PER_MS)   // what `ordeal run` has left, once
#define KILL_SERVER_PAUSE_NS   (1 * NS_PER_MS)   // with a server that may still print
#define GROUP_REMOVAL_PAUSE_NS (1 * NS_PER_MS)   // who was waited for leaves its group later

// A step in a sandbox
#define STEP_FIRST_PAUSE_NS    (100 * NS_PER_US) // short commands have ended; doubles up to:
#define STEP_LAST_PAUSE_NS     (10 * NS_PER_MS)  // where no descriptor tells of the end
#define STEP_STOP_PAUSE_NS     (100 * NS_PER_MS) // a signal just before the wait does not end it
#define STEP_LINGERING_WAIT_NS (3 * NS_PER_S)    // then the user is told which daemons go on
#define STEP_HOPELESS_PAUSE_NS (1 * NS_PER_S)    // looks whether it waits for the terminal
#define STEP_OTHER_WAIT_NS     (60 * NS_PER_S)   // setup, pretest, posttest, oracle, teardown
#define BRANCH_FIRST_PAUSE_NS  (500 * NS_PER_US) // most copies have ended; doubles up to:
#define BRANCH_LAST_PAUSE_NS   (2 * NS_PER_MS)   // between looks at what a copy writes
#define PROCESS_LIMIT_PAUSE_NS (50 * NS_PER_MS)  // looks for processes started without end
#define PROCESS_BLIND_PAUSE_NS (1 * NS_PER_S)    // likewise, if the kernel does not count them
#define LISTING_FRESH_NS       (10 * NS_PER_MS)  // who follows at once finds what was left

// A trial
#define MOMENT_NS               (10 * NS_PER_MS)  // longer than small programs take at all
#define RESOLVER_PAUSE_NS       (250 * NS_PER_MS) // should a wake-up ever fail
#define RESOLVER_ERROR_PAUSE_NS (1 * NS_PER_MS)   // if waiting itself fails: the loop must not spin
#define TARGET_ANSWER_WAIT_NS   (30 * NS_PER_S)   // in a target: debug files are large
#define COORDINATOR_GREETING_NS (10 * NS_PER_S)   // to say hello, and to read why one has to go
#define COORDINATOR_CONNECT_NS  (2 * NS_PER_S)    // a target stands still meanwhile
#define COORDINATOR_ANSWER_NS   (5 * NS_PER_S)    // likewise
#define COORDINATOR_RETRY_NS    (1 * NS_PER_S)    // not before, or every call would wait

// Stacks of living processes
#define STACK_WAIT_NS         (15 * NS_PER_S) // debug files are large, and machines busy
#define STACK_STOP_PAUSE_NS   (1 * NS_PER_MS) // until a thread has stopped
#define STACK_SAMPLE_PAUSE_NS (3 * NS_PER_MS) // between samples of a busy thread
#define STACK_GLANCE_PAUSE_NS (4 * NS_PER_MS) // who wakes up now and then is not busy

// Job slots
#define SLOT_WAIT_NS          (600 * NS_PER_S)  // only the user knows how long a setup takes
#define SLOT_MARGIN_WAIT_NS   (60 * NS_PER_S)   // beside 10 times the longest reference run
#define SLOT_FAREWELL_WAIT_NS (3 * NS_PER_S)    // to remove what its sandbox has made
#define SLOT_STUCK_PAUSE_NS   (60 * NS_PER_S)   // at most, between looks whether one is stuck
#define SLOT_NEXT_JOB_WAIT_NS (300 * NS_PER_MS) // then its long-lived server is stopped

// Servers
#define SERVER_READY_PAUSE_NS   (1 * NS_PER_MS)   // looks whether it is ready; doubles up to:
#define SERVER_READY_LAST_NS    (20 * NS_PER_MS)  // a question may cost a process
#define SERVER_QUIET_NS         (3 * NS_PER_MS)   // asleep: it has come to the end of its start
#define SERVER_SETTLE_WAIT_NS   (300 * NS_PER_MS) // for that, once it listens
#define SERVER_DAEMON_WAIT_NS   (1 * NS_PER_S)    // to go into the background once it is ready
#define SERVER_LEFTOVER_WAIT_NS (300 * NS_PER_MS) // what it started, once it has ended itself
#define SERVER_LEAVE_WAIT_NS    (10 * NS_PER_S)   // for one whose end has begun
#define SERVER_LOOK_WAIT_NS     (20 * NS_PER_S)   // for its stack: more than STACK_WAIT_NS
#define SERVER_LOOK_PAUSE_NS    (5 * NS_PER_MS)   // meanwhile it may print
#define SERVER_WISH_WAIT_NS     (60 * NS_PER_S)   // for the next round: the slot may be judging
#define SERVER_WISH_PAUSE_NS    (1 * NS_PER_MS)   // rounds are short
#define SERVER_NAP_NS           (1 * NS_PER_S)    // where news come as signals and output
#define SERVER_TICK_NS          (20 * NS_PER_MS)  // looks whether the driver wants a look
#define SERVER_ROUND_TICK_NS    (2 * NS_PER_MS)   // looks whether a round is over
#define SERVER_MARGIN_WAIT_NS   (30 * NS_PER_S)   // for a driver that does not work itself

// A campaign
#define REFERENCE_WAIT_NS      (60 * NS_PER_S)   // what does not end by itself is no workload
#define PREVIEW_WAIT_NS        (300 * NS_PER_S)  // likewise, of the one run of --dry-run
#define REFERENCE_PAUSE_NS     (20 * NS_PER_MS)  // until an interrupt is noticed
#define RESULT_WAIT_NS         (100 * NS_PER_MS) // then budgets and interrupts are looked at
#define COMMIT_WAIT_NS         (100 * NS_PER_MS) // a result is in the store by then
#define ELAPSED_PAUSE_NS       (1 * NS_PER_S)    // between two notes of the time that has passed
#define PROGRESS_PAUSE_NS      (100 * NS_PER_MS) // between two reports of progress
#define PROGRESS_LINE_PAUSE_NS (3 * NS_PER_S)    // likewise, of lines in a log
#define TERMINAL_SIZE_PAUSE_NS (200 * NS_PER_MS) // until a new size of the terminal is noticed
#define STORE_BUSY_WAIT_NS     (10 * NS_PER_S)   // for somebody at the sqlite3 shell to finish

#endif
