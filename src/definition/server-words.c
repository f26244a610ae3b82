// SPDX-License-Identifier: GPL-3.0-or-later
// Parses when a server is ready and how it is stopped.
#include "definition/server-words.h"

#include "base/clock.h"
#include "base/suggestion.h"

#include <ctype.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct error *parse_port(const char *text, struct ready *ready)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    ready->udp = strcmp(end, "/udp") == 0;
    bool plain = *end == '\0' || strcmp(end, "/tcp") == 0;
    if (!isdigit((unsigned char)text[0]) || port == 0 || port > 65535 || (!plain && !ready->udp))
        return error_new("'%s' is no port: expected a number from 1 to 65535, maybe with /udp",
                         text);
    ready->port = (unsigned)port;
    return NULL;
}

static struct error *parse_output(const char *text, struct ready *ready)
{
    regex_t compiled;
    int code = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        char why[128];
        regerror(code, &compiled, why, sizeof why);
        return error_new("'%s' is no regular expression: %s", text, why);
    }
    regfree(&compiled);
    return NULL;
}

static struct error *parse_delay(const char *text, struct ready *ready)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", NS_PER_S}, {"s", NS_PER_S}, {"ms", NS_PER_MS}, {"m", 60 * NS_PER_S}};
    char *end;
    double value = isdigit((unsigned char)text[0]) ? strtod(text, &end) : -1;
    for (size_t i = 0; value >= 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0 || value * units[i].ns > 3600 * NS_PER_S)
            continue;
        ready->delay_ns = (uint64_t)(value * units[i].ns);
        return NULL;
    }
    return error_new("'%s' is no delay: expected 500ms, 2s or the like, at most an hour", text);
}

static struct error *parse_text(const char *text, struct ready *ready)
{
    return NULL;
}

struct error *ready_parse(const char *text, struct ready *ret_ready)
{
    static const struct {
        const char *word;
        enum ready_kind kind;
        struct error *(*parse)(const char *text, struct ready *ready);
    } kinds[] = {
        {"port", READY_PORT, parse_port},       {"socket", READY_SOCKET, parse_text},
        {"file", READY_FILE, parse_text},       {"output", READY_OUTPUT, parse_output},
        {"command", READY_COMMAND, parse_text}, {"delay", READY_DELAY, parse_delay},
    };
    size_t size = strcspn(text, " \t");
    const char *rest = text + size + strspn(text + size, " \t");
    struct suggestion meant = suggestion_start(text, size);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        suggestion_offer(&meant, kinds[i].word);
        if (strlen(kinds[i].word) != size || memcmp(kinds[i].word, text, size) != 0)
            continue;
        struct ready ready = {.kind = kinds[i].kind, .text = rest};
        if (*rest == '\0')
            return error_new("what follows '%s'?", kinds[i].word);
        struct error *error = kinds[i].parse(rest, &ready);
        if (error == NULL)
            *ret_ready = ready;
        return error;
    }
    char storage[SUGGESTION_SIZE];
    return error_new("'%s' does not say when the server is ready%s: expected 'port N', 'socket "
                     "PATH', 'file PATH', 'output REGEX', 'command CMD' or 'delay TIME'",
                     text, suggestion_text(&meant, storage));
}

// The signal with this name or number; 0 if there is none.
static int signal_named(const char *name)
{
    if (isdigit((unsigned char)name[0])) {
        char *end;
        long number = strtol(name, &end, 10);
        return *end == '\0' && number > 0 && number < 65 ? (int)number : 0;
    }
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int i = 1; i < 32; i++)
        if (sigabbrev_np(i) != NULL && strcmp(sigabbrev_np(i), name) == 0)
            return i;
    return 0;
}

struct error *stop_parse(const char *text, struct stop *ret_stop)
{
    int number = signal_named(text);
    if (number != 0) {
        *ret_stop = (struct stop){.kind = STOP_SIGNAL, .signal = number};
    } else if (strcmp(text, "none") == 0) {
        *ret_stop = (struct stop){.kind = STOP_NONE};
    } else if (text[0] == '\0') {
        return error_new("how is the server stopped? expected a signal, a command or 'none'");
    } else if (strncmp(text, "SIG", 3) == 0 || isdigit((unsigned char)text[0])) {
        struct suggestion meant = suggestion_start(text + (text[0] == 'S' ? 3 : 0),
                                                   strlen(text) - (text[0] == 'S' ? 3 : 0));
        for (int i = 1; i < 32; i++)
            if (sigabbrev_np(i) != NULL)
                suggestion_offer(&meant, sigabbrev_np(i));
        char storage[SUGGESTION_SIZE];
        return error_new("there is no signal '%s'%s", text, suggestion_text(&meant, storage));
    } else {
        *ret_stop = (struct stop){.kind = STOP_COMMAND, .command = text};
    }
    return NULL;
}
