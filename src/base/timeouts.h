// SPDX-License-Identifier: GPL-3.0-or-later
// How long anybody is waited for, and how long nobody looks: all times that no user sets.
//   _WAIT_NS   after which it is given up, or told
//   _PAUSE_NS  from one look to the next
#ifndef ORDEAL_BASE_TIMEOUTS_H
#define ORDEAL_BASE_TIMEOUTS_H

#include "base/clock.h"

// clang-format off

// Processes that are killed
#define KILL_WAIT_NS             (10 * NS_PER_S)   // a process may be busy in the kernel, with a core dump say
#define KILL_TREE_PAUSE_NS       (100 * NS_PER_US) // in a sandbox with its own processes: every trial pays this
#define KILL_PAUSE_NS            (200 * NS_PER_US) // likewise, where all of /proc is looked at
#define KILL_RUN_PAUSE_NS        (2 * NS_PER_MS)   // when `ordeal run` ends: nobody waits for the next one
#define KILL_SERVER_PAUSE_NS     (1 * NS_PER_MS)   // with a server that may still print
#define GROUP_REMOVAL_PAUSE_NS   (1 * NS_PER_MS)   // a waited-for process leaves its control group a little later

// A step in a sandbox
#define STEP_FIRST_PAUSE_NS      (100 * NS_PER_US) // short commands are done by then; doubles up to:
#define STEP_LAST_PAUSE_NS       (10 * NS_PER_MS)  // where no descriptor tells of the end
#define STEP_STOP_PAUSE_NS       (100 * NS_PER_MS) // a signal that comes just before the wait does not end it
#define STEP_LINGERING_WAIT_NS   (3 * NS_PER_S)    // daemons that go on: the user is told what is waited for
#define STEP_HOPELESS_PAUSE_NS   (1 * NS_PER_S)    // between looks whether it waits for the terminal, where nobody is
#define STEP_OTHER_WAIT_NS       (60 * NS_PER_S)   // of setup, pretest, posttest, oracle and teardown
#define BRANCH_FIRST_PAUSE_NS    (500 * NS_PER_US) // after news: most copies have ended by then; doubles up to:
#define BRANCH_LAST_PAUSE_NS     (2 * NS_PER_MS)   // between looks at what a copy writes
#define CROWD_PAUSE_NS           (50 * NS_PER_MS)  // a command that forks without end has a few thousand by then
#define CROWD_BLIND_PAUSE_NS     (1 * NS_PER_S)    // where the kernel does not count, and all of /proc is looked at
#define LISTING_FRESH_NS         (10 * NS_PER_MS)  // a life that follows at once finds what the last one left

// A trial
#define MOMENT_NS                (10 * NS_PER_MS)  // longer than small programs take at all
#define RESOLVER_PAUSE_NS        (250 * NS_PER_MS) // should a wake-up ever fail
#define RESOLVER_ERROR_PAUSE_NS  (1 * NS_PER_MS)   // if waiting itself fails, the loop must not spin
#define TARGET_ANSWER_WAIT_NS    (30 * NS_PER_S)   // a target waits for names and lines: debug files are large
#define COORDINATOR_GREETING_NS  (10 * NS_PER_S)   // to say hello, and to read why one is turned away
#define COORDINATOR_CONNECT_NS   (2 * NS_PER_S)    // a target stands still meanwhile
#define COORDINATOR_ANSWER_NS    (5 * NS_PER_S)    // likewise
#define COORDINATOR_RETRY_NS     (1 * NS_PER_S)    // not before, or every call would wait for the connection

// Stacks of living processes
#define STACK_WAIT_NS            (15 * NS_PER_S)   // debug files are large, and machines busy
#define STACK_STOP_PAUSE_NS      (1 * NS_PER_MS)   // until a thread has stopped
#define STACK_SAMPLE_PAUSE_NS    (3 * NS_PER_MS)   // between samples of a busy thread
#define STACK_GLANCE_PAUSE_NS    (4 * NS_PER_MS)   // between looks whether it is busy: who wakes up now and then is not

// Job slots
#define SLOT_WAIT_NS             (600 * NS_PER_S)  // setup and the like have times of which only the user knows
#define SLOT_MARGIN_WAIT_NS      (60 * NS_PER_S)   // beside ten times the longest reference run, where that is known
#define SLOT_FAREWELL_WAIT_NS    (3 * NS_PER_S)    // to remove what its sandbox has made
#define SLOT_STUCK_PAUSE_NS      (60 * NS_PER_S)   // at most, until somebody asks whether one is stuck
#define SLOT_NEXT_JOB_WAIT_NS    (300 * NS_PER_MS) // with a server that lives on; else it is stopped

// Servers
#define SERVER_READY_PAUSE_NS    (1 * NS_PER_MS)   // between looks at one that is to become ready; doubles up to:
#define SERVER_READY_LAST_NS     (20 * NS_PER_MS)
#define SERVER_QUIET_NS          (3 * NS_PER_MS)   // asleep that long, it has come to the end of its start
#define SERVER_SETTLE_WAIT_NS    (300 * NS_PER_MS) // for that, once it listens
#define SERVER_DAEMON_WAIT_NS    (1 * NS_PER_S)    // to go into the background once it is ready
#define SERVER_LEFTOVER_WAIT_NS  (300 * NS_PER_MS) // for what it started, once it has ended itself
#define SERVER_LEAVE_WAIT_NS     (10 * NS_PER_S)   // for one whose end has begun
#define SERVER_LOOK_WAIT_NS      (20 * NS_PER_S)   // for the slot to look at its stack: more than STACK_WAIT_NS
#define SERVER_LOOK_PAUSE_NS     (5 * NS_PER_MS)   // meanwhile it may print
#define SERVER_WISH_WAIT_NS      (60 * NS_PER_S)   // for the next round: the slot may be judging, or gone
#define SERVER_WISH_PAUSE_NS     (1 * NS_PER_MS)   // rounds are short
#define SERVER_NAP_NS            (1 * NS_PER_S)    // where news come as signals and output
#define SERVER_TICK_NS           (20 * NS_PER_MS)  // between the slot's looks at whether it is asked to look
#define SERVER_ROUND_TICK_NS     (2 * NS_PER_MS)   // likewise, whether a round is over
#define SERVER_MARGIN_WAIT_NS    (30 * NS_PER_S)   // beside all its phases, for a driver that does not work itself

// A campaign
#define REFERENCE_WAIT_NS        (60 * NS_PER_S)   // a workload that does not end by itself is no workload
#define PREVIEW_WAIT_NS          (300 * NS_PER_S)  // likewise with --dry-run, where nothing else is waited for
#define REFERENCE_PAUSE_NS       (20 * NS_PER_MS)  // between looks at the clock and for an interrupt
#define RESULT_WAIT_NS           (100 * NS_PER_MS) // for the next one: interrupts and budgets are looked at then
#define COMMIT_WAIT_NS           (100 * NS_PER_MS) // a result is in the store by then
#define ELAPSED_PAUSE_NS         (1 * NS_PER_S)    // between two notes of the time that has passed
#define PROGRESS_PAUSE_NS        (100 * NS_PER_MS) // between two reports of progress, and two drawings of it
#define PROGRESS_LINE_PAUSE_NS   (3 * NS_PER_S)    // between two lines of it in a log
#define TERMINAL_SIZE_PAUSE_NS   (200 * NS_PER_MS) // until a new size of the terminal is noticed
#define STORE_BUSY_WAIT_NS       (10 * NS_PER_S)   // for somebody at the sqlite3 shell to finish

// clang-format on

#endif
