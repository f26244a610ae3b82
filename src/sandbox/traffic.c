// SPDX-License-Identifier: GPL-3.0-or-later
// What a run did with its private network. The kernel counts that for every network namespace.
#include "sandbox/overlay.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

static FILE *open_counters(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/net/%s", (long)pid, name);
    return fopen(path, "re");
}

// "Ip: NAME NAME ..." and below it "Ip: NUMBER NUMBER ...".
static uint64_t counter_in_columns(char *names, char *numbers, const char *wanted)
{
    char *names_left = NULL, *numbers_left = NULL;
    const char *name = strtok_r(names, " \n", &names_left);
    const char *number = strtok_r(numbers, " \n", &numbers_left);
    while (name != NULL && number != NULL && strcmp(name, wanted) != 0) {
        name = strtok_r(NULL, " \n", &names_left);
        number = strtok_r(NULL, " \n", &numbers_left);
    }
    return name != NULL && number != NULL ? strtoull(number, NULL, 10) : 0;
}

// `kind` is "Ip", "Tcp" or "Udp".
static uint64_t counter_of_4(pid_t pid, const char *kind, const char *wanted)
{
    _cleanup_fclose_ FILE *file = open_counters(pid, "snmp");
    char names[1024], numbers[1024];
    size_t size = strlen(kind);
    while (file != NULL && fgets(names, sizeof names, file) != NULL &&
           fgets(numbers, sizeof numbers, file) != NULL)
        if (strncmp(names, kind, size) == 0 && names[size] == ':')
            return counter_in_columns(names, numbers, wanted);
    return 0;
}

static uint64_t counter_of_6(pid_t pid, const char *wanted)
{
    _cleanup_fclose_ FILE *file = open_counters(pid, "snmp6");
    char line[256], name[64];
    uint64_t number;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%63s %" SCNu64, name, &number) == 2 && strcmp(name, wanted) == 0)
            return number;
    return 0;
}

struct sandbox_traffic sandbox_traffic(const struct sandbox *sandbox)
{
    struct sandbox_traffic traffic = {0};
    pid_t init = sandbox->overlay != NULL ? sandbox->overlay->init : 0;
    if (!sandbox->network || init <= 0)
        return traffic;
    traffic.inward =
        counter_of_4(init, "Ip", "InReceives") + counter_of_6(init, "Ip6InReceives") != 0;
    traffic.outward =
        counter_of_4(init, "Ip", "OutNoRoutes") + counter_of_6(init, "Ip6OutNoRoutes") != 0;
    // The counters of TCP are for both versions of IP.
    traffic.refused = counter_of_4(init, "Tcp", "AttemptFails") != 0;
    traffic.served = counter_of_4(init, "Tcp", "PassiveOpens") +
                         counter_of_4(init, "Udp", "InDatagrams") +
                         counter_of_6(init, "Udp6InDatagrams") !=
                     0;
    return traffic;
}
