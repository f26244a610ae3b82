// SPDX-License-Identifier: GPL-3.0-or-later
// QEMU's monitor command `mce`: what its processors can take, and what it answers.
#include "guest/machine-check.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

struct error *guest_check_error(const struct guest_system *system, const struct mce_error *error)
{
    return error->processor < system->processors
               ? NULL
               : error_new("%s has no processor %u: it has %llu, counted from 0", system->name,
                           error->processor, (unsigned long long)system->processors);
}

// QEMU gives up a processor that gets an uncorrected error while it still has one; and one that
// interrupts all is one for each.
static struct error *check_together(const struct mce_errors *errors)
{
    bool has_one[256] = {false}; // by processor
    bool twice = false, all = false;
    size_t count = 0;
    for (size_t i = 0; i < errors->list.count; i++) {
        const struct mce_error *error = &errors->list.items[i];
        if ((error->status & MCE_UC) == 0)
            continue;
        count++;
        all |= !error->alone;
        twice |= has_one[error->processor];
        has_one[error->processor] = true;
    }
    if (twice || (all && count > 1))
        return error_new("a processor of QEMU takes one uncorrected error at a time: with "
                         "NOBROADCAST, several processors can have one each");
    return NULL;
}

// All processors that there are have numbers below 256.
struct error *guest_check_errors(const struct guest_system *system, const struct mce_errors *errors,
                                 bool together)
{
    for (size_t i = 0; i < errors->list.count; i++)
        TRY(guest_check_error(system, &errors->list.items[i]));
    return together ? check_together(errors) : NULL;
}

// What QEMU says of this processor is why it has no error, unless the processor gave up because of
// it: that is an effect.
static struct error *take_answer(const struct guest_qmp *qmp, unsigned processor, bool *gave_up)
{
    const char *said = qmp->answer_text;
    char about[24];
    snprintf(about, sizeof about, "CPU %u:", processor);
    *gave_up |= strstr(said, "raising triple fault") != NULL;
    if (*gave_up || *said == '\0' || (strncmp(said, "CPU ", 4) == 0 && strstr(said, about) == NULL))
        return NULL;
    return error_new("QEMU refuses the machine-check error: %.*s", (int)strcspn(said, "\r\n"),
                     said);
}

// A corrected error interrupts nobody.
struct error *guest_inject_error(struct guest_qmp *qmp, const struct mce_error *error,
                                 uint64_t deadline_ns, bool *gave_up)
{
    char command[160];
    snprintf(command, sizeof command, "mce %s%u %u %#llx %#llx %#llx %#llx",
             error->alone || (error->status & MCE_UC) == 0 ? "" : "-b ", error->processor,
             error->bank, (unsigned long long)error->status, (unsigned long long)error->global,
             (unsigned long long)error->address, (unsigned long long)error->misc);
    TRY(guest_qmp_monitor(qmp, command, deadline_ns));
    return take_answer(qmp, error->processor, gave_up);
}
