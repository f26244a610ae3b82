// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the words for when a server is ready and how it is stopped, and whether readiness is
// detected.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "definition/server-words.h"
#include "engine/server-probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static void refused(struct error *error, const char *part)
{
    assert_non_null(error);
    if (strstr(error_message(error), part) == NULL)
        fail_msg("'%s' does not have '%s'", error_message(error), part);
    error_free(error);
}

static void readiness(void **state)
{
    struct ready ready = {.port = 77};
    must(ready_parse("port 8080", &ready));
    assert_true(ready.kind == READY_PORT && ready.port == 8080 && !ready.udp);
    must(ready_parse("port 53/udp", &ready));
    assert_true(ready.kind == READY_PORT && ready.port == 53 && ready.udp);
    must(ready_parse("socket  /run/a b.sock", &ready));
    assert_int_equal(ready.kind, READY_SOCKET);
    assert_string_equal(ready.text, "/run/a b.sock");
    must(ready_parse("output ^ready( now)?$", &ready));
    assert_string_equal(ready.text, "^ready( now)?$");
    must(ready_parse("delay 1.5s", &ready));
    assert_true(ready.kind == READY_DELAY && ready.delay_ns == 1500000000u);
    must(ready_parse("delay 20ms", &ready));
    assert_int_equal(ready.delay_ns, 20000000u);
    ready.port = 77;
    refused(ready_parse("port 0", &ready), "is no port");
    refused(ready_parse("port 65536", &ready), "is no port");
    refused(ready_parse("port 80/sctp", &ready), "is no port");
    refused(ready_parse("port -1", &ready), "is no port");
    refused(ready_parse("output (", &ready), "is no regular expression");
    refused(ready_parse("delay -1s", &ready), "is no delay");
    refused(ready_parse("delay 2 hours", &ready), "is no delay");
    refused(ready_parse("socket", &ready), "what follows 'socket'?");
    refused(ready_parse("comand x", &ready), "did you mean 'command'?");
    refused(ready_parse("", &ready), "does not say when");
    assert_int_equal(ready.port, 77); // untouched on failure
}

static void stopping(void **state)
{
    static const struct {
        const char *text;
        int number;
    } signals[] = {{"SIGTERM", SIGTERM}, {"INT", SIGINT}, {"9", SIGKILL}, {"SIGHUP", SIGHUP}};
    struct stop stop;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        must(stop_parse(signals[i].text, &stop));
        assert_true(stop.kind == STOP_SIGNAL && stop.signal == signals[i].number);
    }
    must(stop_parse("none", &stop));
    assert_int_equal(stop.kind, STOP_NONE);
    must(stop_parse("redis-cli shutdown", &stop));
    assert_int_equal(stop.kind, STOP_COMMAND);
    assert_string_equal(stop.command, "redis-cli shutdown");
    refused(stop_parse("SIGTREM", &stop), "did you mean 'TERM'?");
    refused(stop_parse("99", &stop), "there is no signal '99'");
    refused(stop_parse("", &stop), "how is the server stopped?");
}

static bool is_taken(const char *text, struct probe *probe)
{
    struct ready ready;
    bool taken;
    must(ready_parse(text, &ready));
    probe_begin(probe, &ready, &taken);
    return taken;
}

// A port is ready when a process listens, not when it is bound. The check makes no connection.
static void ports(void **state)
{
    _cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    char text[32];
    struct probe probe;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(text, sizeof text, "port %u", ntohs(address.sin_port));
    assert_false(is_taken(text, &probe));
    assert_int_equal(listen(listener, 1), 0);
    assert_true(probe_holds(&probe));
    assert_true(is_taken(text, &probe));
    assert_true(accept(listener, NULL, NULL) < 0 && errno == EAGAIN);
}

static void sockets_and_files(void **state)
{
    char directory[] = "/tmp/ordeal-probe-XXXXXX";
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    _cleanup_close_ int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[160];
    struct probe probe;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/a.sock", directory);
    snprintf(text, sizeof text, "socket %s/a.sock", directory);
    assert_false(is_taken(text, &probe));
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_false(probe_holds(&probe)); // nobody listens
    assert_int_equal(listen(listener, 1), 0);
    assert_true(probe_holds(&probe));
    assert_false(is_taken("file a.pid", &probe));
    assert_false(probe_holds(&probe));
    close(open("a.pid", O_CREAT | O_WRONLY, 0600));
    assert_true(probe_holds(&probe));
    assert_false(is_taken("file a.pid", &probe));
    assert_false(probe_holds(&probe)); // that of an earlier server
    assert_int_equal(rename("a.pid", "b"), 0);
    close(open("a.pid", O_CREAT | O_WRONLY, 0600));
    assert_true(probe_holds(&probe));
    unlink("a.pid");
    unlink("b");
    unlink("a.sock");
    assert_int_equal(chdir("/"), 0);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readiness),
        cmocka_unit_test(stopping),
        cmocka_unit_test(ports),
        cmocka_unit_test(sockets_and_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
