// SPDX-License-Identifier: GPL-3.0-or-later
// What each rule means, and what to do about it.
#include "report/campaign/ci/sarif-rules.h"

#define CRITICAL "9.1"
#define HIGH     "7.5"
#define MEDIUM   "5.0"
#define LOW      "2.0"

#define ADVICE_CHECK                                                                               \
    "Check the result of the call that failed before it is used, and report the failure or "       \
    "handle it."
#define ADVICE_FILES                                                                               \
    "Check the result of every call that writes, closes, renames or truncates the file, write "    \
    "new "                                                                                         \
    "content to another file first and rename that at the end, and exit with a status other than " \
    "0 "                                                                                           \
    "if anything failed."
#define LOST                                                                                       \
    "A file that was there before the program started is lost or damaged after one library call "  \
    "failed, "

const struct campaign_rule campaign_rules[] = {
    {VERDICT_CRASH,
     SEVERITY_HIGH,
     {"crash", "The program crashes when a library call fails.",
      "A process died of a signal, or a checker such as AddressSanitizer reported an error, after "
      "one library call failed as it can in practice: memory, disk space or descriptors ran out, "
      "or a device had an error.",
      ADVICE_CHECK, "error", HIGH}},
    {VERDICT_CRASH,
     SEVERITY_LOSS,
     {"crash-data-loss", "The program crashes when a library call fails, and destroys data.",
      LOST "and the program dies of a signal.", ADVICE_FILES, "error", CRITICAL}},
    {VERDICT_HANG,
     SEVERITY_HIGH,
     {"hang", "The program hangs when a library call fails.",
      "After one library call failed, the program was still running when its time was over, much "
      "longer than it takes without the failure.",
      "Do not repeat a call for ever that fails, and release locks, children and peers that wait "
      "for this process also when it gives up.",
      "error", HIGH}},
    {VERDICT_SILENT,
     SEVERITY_LOSS,
     {"silent-data-loss", "A failure destroys data, and nothing is reported.",
      LOST "and the program reports success without a message.", ADVICE_FILES, "error", CRITICAL}},
    {VERDICT_SILENT,
     SEVERITY_HIGH,
     {"silent-files", "A failure leaves wrong files, and nothing is reported.",
      "Files differ from what the program writes without the failure, and it reports success "
      "without a message.",
      ADVICE_FILES, "error", HIGH}},
    {VERDICT_SILENT,
     SEVERITY_MEDIUM,
     {"silent", "A failure changes the result, and nothing is reported.",
      "The output differs from what the program writes without the failure, and it reports success "
      "without a message.",
      ADVICE_CHECK, "warning", MEDIUM}},
    {VERDICT_WRONG_OUTPUT,
     SEVERITY_LOSS,
     {"wrong-output-data-loss", "A failure destroys data, though something is reported.",
      LOST "though the program writes a message or ends with another exit status.", ADVICE_FILES,
      "error", CRITICAL}},
    {VERDICT_WRONG_OUTPUT,
     SEVERITY_MEDIUM,
     {"wrong-output", "A failure changes the result, though success is claimed.",
      "The result differs from what the program gives without the failure. There may be a message, "
      "but the exit status claims success.",
      "Exit with a status other than 0 when a call that matters for the result has failed.",
      "warning", MEDIUM}},
    {VERDICT_UNSTABLE, // in stores of older versions
     SEVERITY_LOSS,
     {"unstable-data-loss", "A failure is reported, but destroys data.",
      LOST "though the program reports the failure.", ADVICE_FILES, "error", CRITICAL}},
    {VERDICT_UNSTABLE,
     SEVERITY_MEDIUM,
     {"unstable", "A failure is reported, but leaves something broken behind.",
      "The program reports the failure, but the check that runs after it fails: what it leaves "
      "behind does not work any more.",
      "Undo what was done before the failure, or leave it in a state that the next start can "
      "repair.",
      "warning", MEDIUM}},
    {VERDICT_DELIBERATE,
     SEVERITY_NONE,
     {"deliberate", "The program aborts on purpose when a library call fails.",
      "After one library call failed, the program wrote a message and then ended itself with a "
      "signal, as abort() and assert() do. Nothing was destroyed.",
      "Nothing, if that is what the program should do. A library should return the failure "
      "instead, "
      "and a server should go on with its other clients.",
      "note", LOW}},
    {VERDICTS,
     SEVERITY_NONE,
     {"other", "Something else was found.",
      "The store holds a finding of a kind that this version of Ordeal does not know.",
      "Report it with the version of Ordeal that made the store.", "note", LOW}},
};
const size_t campaign_rule_count = sizeof campaign_rules / sizeof *campaign_rules;

size_t campaign_rule_find(enum verdict verdict, enum severity severity)
{
    size_t found = campaign_rule_count - 1;
    for (size_t i = 0; i + 1 < campaign_rule_count; i++) {
        if (campaign_rules[i].verdict != verdict)
            continue;
        found = i;
        if (campaign_rules[i].severity == severity)
            break;
    }
    return found;
}
