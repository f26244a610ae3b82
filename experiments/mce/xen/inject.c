// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: inject [-s MCG_STATUS] -S MCi_STATUS [-p MCi_ADDR] [-M MCi_MISC] [-B BANK] [-c CPU] [-d DOMAIN]
// Runs in Xen's domain 0. Makes Xen find these values in the registers of a processor, and interrupts all processors
// with a machine check. -d: the address is one of that domain's memory. The options are those of Table 5.2; for -g, see
// README.md. Prints what Xen answers, if it still can.
#define _GNU_SOURCE
#define __XEN_TOOLS__ 1
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xen/xen.h>
#include <xen/arch-x86/xen-mca.h>
#include <xen/sys/privcmd.h>

#define MCG_STATUS   0x17a
#define MC0_STATUS   0x401
#define MOST_VALUES  4
#define MOST_CPUS    64

static struct {
    struct xen_mc call; // the kernel must not move what Xen reads
    uint64_t processors;
} *shared;

static int hypercall(const char *what)
{
    static int file = -1;
    if (file < 0 && (file = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC)) < 0)
        return perror("/dev/xen/privcmd"), -1;
    shared->call.interface_version = XEN_MCA_INTERFACE_VERSION;
    struct privcmd_hypercall call = {.op = __HYPERVISOR_mca, .arg = {(uintptr_t)&shared->call}};
    if (ioctl(file, IOCTL_PRIVCMD_HYPERCALL, &call) == 0)
        return 0;
    fprintf(stderr, "inject: Xen refuses %s: %s\n", what, strerror(errno));
    return -1;
}

static void add(uint32_t msr, uint64_t value)
{
    struct xen_mc_msrinject *values = &shared->call.u.mc_msrinject;
    values->mcinj_msr[values->mcinj_count].reg = msr;
    values->mcinj_msr[values->mcinj_count++].value = value;
}

static int set_registers(const uint64_t *given, int has_domain)
{
    struct xen_mc_msrinject *values = &shared->call.u.mc_msrinject;
    uint32_t bank = MC0_STATUS + 4 * (uint32_t)given['B'];
    shared->call.cmd = XEN_MC_msrinject;
    values->mcinj_cpunr = (uint32_t)given['c'];
    values->mcinj_flags = MC_MSRINJ_F_INTERPOSE | (has_domain ? MC_MSRINJ_F_GPADDR : 0);
    values->mcinj_domid = (domid_t)given['d'];
    add(MCG_STATUS, given['s']);
    add(bank, given['S']);
    add(bank + 1, given['p']);
    add(bank + 2, given['M']);
    return hypercall("the registers");
}

// Xen waits in its handler for all processors, so all are interrupted.
static int interrupt(void)
{
    memset(&shared->call, 0, sizeof shared->call);
    shared->call.cmd = XEN_MC_inject_v2;
    shared->call.u.mc_inject_v2.flags = XEN_MC_INJECT_TYPE_MCE | XEN_MC_INJECT_CPU_BROADCAST;
    shared->processors = ~0ull;
    set_xen_guest_handle(shared->call.u.mc_inject_v2.cpumap.bitmap, (uint8_t *)&shared->processors);
    shared->call.u.mc_inject_v2.cpumap.nr_bits = MOST_CPUS;
    return hypercall("the interrupt");
}

int main(int count, char **words)
{
    uint64_t given[128] = {['s'] = 5, ['B'] = 1};
    int option, has_status = 0, has_domain = 0;
    while ((option = getopt(count, words, "s:S:p:M:B:c:d:")) != -1) {
        if (option == '?')
            return 2;
        given[option] = strtoull(optarg, NULL, 0);
        has_status |= option == 'S';
        has_domain |= option == 'd';
    }
    if (!has_status)
        return fprintf(stderr, "inject: -S MCi_STATUS is missing\n"), 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
    if (shared == MAP_FAILED)
        return perror("mmap"), 1;
    memset(shared, 0, sizeof *shared);
    if (set_registers(given, has_domain) != 0 || interrupt() != 0)
        return 1;
    puts("injected");
    return 0;
}
