// SPDX-License-Identifier: GPL-3.0-or-later
// The first rule that applies decides. Rules about single models of processors, and about kernel
// code that expects a failing read, are left out.
#include "mce/severity.h"

#define SCRUBBING      0x00c0ull // memory scrubbing, any channel, F or not
#define SCRUBBING_MASK 0xeff0ull
#define WRITEBACK      0x017aull // of the last level cache
#define DATA_LOAD      0x0134ull
#define FETCH          0x0150ull
#define CODE           0xefffull // without F
#define UC_S           (MCE_UC | MCE_S)
#define UC_AR          (MCE_UC | MCE_AR)
#define UC_S_AR        (MCE_UC | MCE_S | MCE_AR)
#define ADDR           (MCE_ADDRV | MCE_MISCV) // the address can be used
#define KNOWN          (MCE_OVER | UC_S_AR | ADDR | CODE)
#define BOTH           (MCE_RIPV | MCE_EIPV)
#define EXCEPTION      (MCE_IN_USER | MCE_IN_KERNEL)
#define KERNEL         (MCE_IN_KERNEL | MCE_POLLED) // who polls is the kernel

const char *const mce_severity_names[MCE_SEVERITIES] = {
    [MCE_SEVERITY_NO] = "NO",     [MCE_SEVERITY_UCNA] = "UCNA",   [MCE_SEVERITY_KEEP] = "KEEP",
    [MCE_SEVERITY_SOME] = "SOME", [MCE_SEVERITY_AO] = "AO",       [MCE_SEVERITY_UC] = "UC",
    [MCE_SEVERITY_AR] = "AR",     [MCE_SEVERITY_PANIC] = "PANIC",
};

enum recovery { ANY, WITH, WITHOUT };

#define RULE(name) MCE_SEVERITY_##name
static const struct rule {
    enum mce_severity severity;
    const char *name;
    uint64_t mask, bits;               // of the status
    unsigned global_mask, global_bits; // of MCG_STATUS
    enum recovery recovery;            // supported by the processor
    unsigned places;                   // 0: any
} rules[] = {
    {RULE(NO), "Invalid", MCE_VAL, 0, 0, 0, ANY, 0},
    {RULE(NO), "Not enabled", MCE_EN, 0, 0, 0, ANY, EXCEPTION},
    {RULE(PANIC), "Processor context corrupt", MCE_PCC, MCE_PCC, 0, 0, ANY, 0},
    {RULE(PANIC), "MCIP not set in MCA handler", 0, 0, MCE_MCIP, 0, ANY, EXCEPTION},
    {RULE(PANIC), "Neither restart nor error IP", 0, 0, BOTH, 0, ANY, EXCEPTION},
    {RULE(PANIC), "In kernel and no restart IP", 0, 0, MCE_RIPV, 0, ANY, MCE_IN_KERNEL},
    {RULE(KEEP), "Corrected error", MCE_UC, 0, 0, 0, WITHOUT, 0},
    {RULE(AO), "Action optional: memory scrubbing error", UC_AR | SCRUBBING_MASK,
     MCE_UC | SCRUBBING, 0, 0, WITH, 0},
    {RULE(AO), "Action optional: last level cache writeback error", UC_AR | CODE,
     MCE_UC | WRITEBACK, 0, 0, WITH, 0},
    {RULE(UCNA), "Uncorrected no action required", UC_S_AR, MCE_UC, 0, 0, WITH, 0},
    {RULE(PANIC), "Illegal combination (UCNA with AR=1)", MCE_OVER | UC_S_AR, UC_AR, 0, 0, WITH, 0},
    {RULE(KEEP), "Non signaled machine check", MCE_S, 0, 0, 0, WITH, 0},
    {RULE(PANIC), "Action required with lost events", MCE_OVER | UC_S_AR, MCE_OVER | UC_S_AR, 0, 0,
     WITH, 0},
    {RULE(KEEP), "Action required but unaffected thread is continuable", MCE_OVER | UC_S_AR | ADDR,
     UC_S_AR | ADDR, BOTH, MCE_RIPV, WITH, 0},
    {RULE(AR), "Action required: data load error in a user process", KNOWN,
     UC_S_AR | ADDR | DATA_LOAD, 0, 0, WITH, MCE_IN_USER},
    {RULE(AR), "Action required: instruction fetch error in a user process", KNOWN,
     UC_S_AR | ADDR | FETCH, 0, 0, WITH, MCE_IN_USER},
    {RULE(PANIC), "Data load in unrecoverable area of kernel", KNOWN, UC_S_AR | ADDR | DATA_LOAD, 0,
     0, WITH, KERNEL},
    {RULE(PANIC), "Instruction fetch error in kernel", KNOWN, UC_S_AR | ADDR | FETCH, 0, 0, WITH,
     KERNEL},
    {RULE(PANIC), "Action required: unknown MCACOD", MCE_OVER | UC_S_AR, UC_S_AR, 0, 0, WITH, 0},
    {RULE(SOME), "Action optional: unknown MCACOD", MCE_OVER | UC_S_AR, UC_S, 0, 0, WITH, 0},
    {RULE(SOME), "Action optional with lost events", MCE_OVER | UC_S_AR, MCE_OVER | UC_S, 0, 0,
     WITH, 0},
    {RULE(PANIC), "Overflowed uncorrected", MCE_OVER | MCE_UC, MCE_OVER | MCE_UC, 0, 0, ANY, 0},
    {RULE(PANIC), "Uncorrected in kernel", MCE_UC, MCE_UC, 0, 0, ANY, KERNEL},
    {RULE(UC), "Uncorrected", MCE_UC, MCE_UC, 0, 0, ANY, 0},
    {RULE(SOME), "No match", 0, 0, 0, 0, ANY, 0},
};

static bool applies(const struct rule *rule, const struct mce_error *error, enum mce_place place,
                    bool recovery)
{
    return (error->status & rule->mask) == rule->bits &&
           (error->global & rule->global_mask) == rule->global_bits &&
           (rule->recovery == ANY || (rule->recovery == WITH) == recovery) &&
           (rule->places == 0 || (rule->places & place) != 0);
}

enum mce_severity mce_severity(const struct mce_error *error, enum mce_place place, bool recovery,
                               const char **ret_rule)
{
    const struct rule *rule = rules;
    while (!applies(rule, error, place, recovery)) // the last one always does
        rule++;
    *ret_rule = rule->name;
    return rule->severity;
}
