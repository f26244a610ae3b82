// SPDX-License-Identifier: GPL-3.0-or-later
// See preparation-network.h.
#include "campaign/preparation-network.h"

#include "base/cleanup.h"

#include <string.h>

void network_try(struct preparation *preparation)
{
    const struct definition *definition = preparation->definition;
    preparation->trying_network =
        definition->network == NETWORK_AUTO && !definition_is_server(definition) &&
        sandbox_kind(shooting_sandbox(preparation->shooting)) == SANDBOX_OVERLAY;
    if (preparation->trying_network)
        shooting_set_apart(preparation->shooting, true);
}

static bool takes_ports(const struct preparation *preparation)
{
    const struct injector *injector = preparation->injector;
    return injector->takes_ports != NULL &&
           injector->takes_ports(shooting_injector(preparation->shooting));
}

#define PORTS    "where those that run at a time may take each other's ports (--jobs 1)"
#define SERVICES "and what they ask of its services is real (--private-network keeps them apart)"

static struct error *remark(struct preparation *preparation, const char *trouble,
                            const char *consequence)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text,
                      "in a network of its own the workload %s; so trials share this machine's, %s",
                      trouble, consequence));
    free(preparation->network_remark);
    preparation->network_remark = TAKE(text.data);
    return NULL;
}

// Whether anybody can be connected to on this machine: a socket in state 10, as of Linux' tables.
static bool is_listened(const char *path)
{
    char line[256];
    unsigned state;
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, " %*u: %*s %*s %x", &state) == 1 && state == 10)
            return true;
    return false;
}

// Nobody in the network is there to be asked, but outside somebody may be.
static bool misses_service(const struct preparation *preparation, struct sandbox_traffic traffic)
{
    return traffic.refused && !traffic.served && !takes_ports(preparation) &&
           (is_listened("/proc/net/tcp") || is_listened("/proc/net/tcp6"));
}

static struct error *begin_again(struct preparation *preparation, struct reference *reference)
{
    shooting_set_apart(preparation->shooting, false);
    reference_clear(reference);
    return shooting_restart(preparation->shooting);
}

struct error *network_decide(struct preparation *preparation, struct reference *reference,
                             bool *ret_again)
{
    struct sandbox_traffic traffic = shooting_traffic(preparation->shooting);
    *ret_again = false;
    if (!preparation->trying_network)
        return NULL;
    preparation->trying_network = false;
    bool used = traffic.inward || takes_ports(preparation);
    bool fit = reference_is_as_expected(reference);
    bool missing = misses_service(preparation, traffic);
    if (!fit && reference_is_late(reference) && !used && !traffic.outward)
        return NULL; // waiting again would take as long
    if (!fit)
        TRY(remark(preparation, "fails", PORTS));
    else if (traffic.outward && used)
        TRY(remark(preparation, "does not reach all that it asks for", PORTS));
    else if (missing)
        TRY(remark(preparation, "is refused by localhost, where nobody else is", SERVICES));
    *ret_again = !fit || traffic.outward || missing;
    if (*ret_again)
        return begin_again(preparation, reference);
    if (used)
        preparation->definition->network = NETWORK_PRIVATE;
    else
        shooting_set_apart(preparation->shooting, false);
    return NULL;
}

struct error *network_save(const struct preparation *preparation)
{
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    _cleanup_(definition_deinit) struct definition stored = {0};
    _cleanup_(buffer_deinit) struct buffer yaml = {0};
    if (preparation->definition->network != NETWORK_PRIVATE)
        return NULL;
    TRY(store_find_campaign(preparation->store, preparation->campaign->id, &row));
    TRY(definition_new(&stored));
    TRY(definition_parse(&stored, "a definition", row.definition, strlen(row.definition)));
    if (stored.network != NETWORK_AUTO)
        return NULL;
    stored.network = NETWORK_PRIVATE;
    TRY(definition_write(&stored, &yaml));
    return store_set_definition(preparation->store, preparation->campaign->id, yaml.data);
}
