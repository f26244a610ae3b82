// SPDX-License-Identifier: GPL-3.0-or-later
// Tries the first reference run in a private network, and looks at its traffic to decide whether
// all runs get one.
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
    const struct injector_learning *learning = preparation->injector->learning;
    return learning != NULL && learning->takes_ports != NULL &&
           learning->takes_ports(shooting_injector(preparation->shooting));
}

#define SHARED                                                                                     \
    "so trials share this machine's, where those that run at a time may take each other's ports "  \
    "(--jobs 1)"
// The warning says "real", because nobody undoes what trials do to a service.
#define APART                                                                                      \
    "if it needs a service of this machine, let trials share the machine's network, where what "   \
    "they ask for is real (--set sandbox.network=host)"

static struct error *remark(struct preparation *preparation, const char *trouble,
                            const char *consequence)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "in a network of its own the workload %s; %s", trouble, consequence));
    free(preparation->network_remark);
    preparation->network_remark = TAKE(text.data);
    return NULL;
}

#define ANY_4    "00000000"
#define MAPPED   "0000000000000000FFFF0000" // followed by an address of version 4
#define ANY_6    "00000000000000000000000000000000"
#define SELF_6   "00000000000000000000000001000000"
#define LENGTH_4 (sizeof ANY_4 - 1)

// Whether a socket with this address (in the notation of /proc/net/tcp) can be reached through
// localhost.
static bool is_local(const char *address)
{
    if (strlen(address) == LENGTH_4)
        return strcmp(address, ANY_4) == 0 || strcmp(address + LENGTH_4 - 2, "7F") == 0;
    if (strncmp(address, MAPPED, strlen(MAPPED)) == 0)
        return is_local(address + strlen(MAPPED));
    return strcmp(address, ANY_6) == 0 || strcmp(address, SELF_6) == 0;
}

bool network_is_listened(FILE *table)
{
    char line[256], address[33];
    unsigned state;
    while (fgets(line, sizeof line, table) != NULL)
        if (sscanf(line, " %*u: %32[0-9A-F]:%*x %*s %x", address, &state) == 2 && state == 10 &&
            is_local(address))
            return true;
    return false;
}

static bool is_listened(const char *path)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    return file != NULL && network_is_listened(file);
}

// The workload asked for a service that the private network does not have, but this machine may
// have.
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
    bool used = traffic.inward || traffic.refused || takes_ports(preparation);
    bool fit = inputs_count(&preparation->definition->inputs) != 0
                   ? reference_is_fit(reference)
                   : reference_is_as_expected(reference);
    if (!fit && reference_is_late(reference) && !used && !traffic.outward)
        return NULL; // waiting again would take as long
    if (!fit)
        TRY(remark(preparation, "fails", SHARED));
    else if (traffic.outward && used)
        TRY(remark(preparation, "does not reach all that it asks for", SHARED));
    else if (!traffic.outward && misses_service(preparation, traffic))
        TRY(remark(preparation, "is refused by localhost, where nobody else is", APART));
    *ret_again = !fit || traffic.outward;
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
    TRY(definition_write_stored(&stored, &yaml));
    return store_set_definition(preparation->store, preparation->campaign->id, yaml.data);
}
