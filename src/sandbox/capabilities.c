// SPDX-License-Identifier: GPL-3.0-or-later
// Root in a sandbox has power over the files and processes there, and nothing else. It cannot
// mount, load modules, make devices, set clocks or open files by handle. It cannot look into init
// either, whose /proc/1/exe is the outside's binary. On the machine's own network it cannot listen
// to the traffic of others or forge packets.
#include "sandbox/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (1ull << (capability))

static const uint64_t harmless = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) |
                                 BIT(CAP_FSETID) | BIT(CAP_KILL) | BIT(CAP_SETGID) |
                                 BIT(CAP_SETUID) | BIT(CAP_SETPCAP) | BIT(CAP_NET_BIND_SERVICE) |
                                 BIT(CAP_SYS_CHROOT) | BIT(CAP_SETFCAP) | BIT(CAP_AUDIT_WRITE);

static uint64_t kept(bool private_network)
{
    return harmless | (private_network ? BIT(CAP_NET_RAW) : 0);
}

struct error *capabilities_bound(bool private_network)
{
    for (unsigned long capability = 0; capability < 64; capability++) {
        if (prctl(PR_CAPBSET_READ, capability) != 1 ||
            (kept(private_network) & BIT(capability)) != 0)
            continue;
        if (prctl(PR_CAPBSET_DROP, capability) < 0)
            return error_from_errno(errno, "cannot give up capability %lu", capability);
    }
    return NULL;
}

struct error *capabilities_drop(bool private_network)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) < 0)
        return error_from_errno(errno, "cannot look at capabilities");
    for (int i = 0; i < 2; i++) {
        uint32_t mask = (uint32_t)(kept(private_network) >> (32 * i));
        data[i].effective &= mask;
        data[i].permitted &= mask;
        data[i].inheritable &= mask;
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, data) < 0)
        return error_from_errno(errno, "cannot give up capabilities");
    return NULL;
}
