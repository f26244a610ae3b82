// SPDX-License-Identifier: GPL-3.0-or-later
// Coordination: the lines, the language of rules, turns, and a real server with unkind peers.
#include "trial-help.h"

#include "trial/address.h"
#include "trial/coordinator-rule.h"
#include "trial/coordinator-state.h"
#include "trial/coordinator.h"
#include "trial/protocol.h"
#include "trial/remote.h"
#include "trial/supervise.h"

#include "base/clock.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

static void words_survive_the_line(void **state)
{
    char all[256];
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    all[255] = '\0';
    struct buffer line = {0};
    must(protocol_put_word(&line, all));
    must(buffer_append(&line, " ", 1));
    must(protocol_put_word(&line, ""));
    must(buffer_append(&line, " ", 1));
    must(protocol_put_word(&line, "end"));
    assert_null(strpbrk(line.data, "\n\r\t;,"));
    char *cursor = line.data;
    assert_string_equal(protocol_next_word(&cursor), all);
    assert_string_equal(protocol_next_word(&cursor), "");
    assert_string_equal(protocol_next_word(&cursor), "end");
    assert_null(protocol_next_word(&cursor));
    buffer_deinit(&line);
}

static void broken_words_are_noticed(void **state)
{
    const char *const broken[] = {"%4", "a%", "%zz", "%00", "%0"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char text[10];
        strcpy(text, broken[i]);
        char *cursor = text;
        assert_null(protocol_next_word(&cursor));
        assert_null(cursor);
    }
}

static bool decide(const char *condition)
{
    char rule[300];
    snprintf(rule, sizeof rule, "x when %s", condition);
    struct coordinator_rule *parsed;
    must(coordinator_rule_new(rule, &parsed));
    uint64_t random = 1;
    const struct coordinator_frame frames[] = {{"/usr/bin/git", "commit_locked_index"},
                                               {"/lib/libc.so.6", "__libc_start_main"}};
    struct coordinator_question question = {.node = "db1",
                                            .function = "write",
                                            .count = 12,
                                            .node_count = 4,
                                            .nodes = 3,
                                            .occurrence = 7,
                                            .arguments = {5, 0x1000, 4096},
                                            .frames = frames,
                                            .frame_count = 2,
                                            .random = &random};
    bool yes = coordinator_rule_ask(parsed, &question);
    coordinator_rule_free(parsed);
    return yes;
}

static void expressions_mean_what_they_say(void **state)
{
    static const char *const yes[] = {
        "count == 12",
        "count in 10..12",
        "count in 2..+5",
        "count in 2..20+10",
        "node_count > 3 and nodes == 3",
        "node(\"db*\") and not node(\"web*\")",
        "function(\"wr?te\")",
        "arg(1) == 5 and arg(3) & 0xfff == 0",
        "arg(3) >> 2 == 1024 and -1 < 0 and ~0 == -1",
        "occurrence == 7",
        "stack(\"commit_*\") and stack(\"git\") and stack(\"/lib/*\") and not stack(\"main\")",
        "once",
        "random(1)",
        "2 + 3 * 4 == 14 and (2 + 3) * 4 == 20",
        "not not 1",
        "! turn",
        "1 or 1 / (nodes - 3) == 0",
        "arg(1) == EIO and arg(2) == 0x1000 and count != O_RDONLY", // constants as in scenarios
        "!turn == 1 and !count == 0",                               // ! binds like in C
        "function(\"write\") and not function(\"wr\\?te\")",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!decide(yes[i]))
            fail_msg("no: %s", yes[i]);
    static const char *const no[] = {"count == 11",
                                     "count in 13..",
                                     "count in 2..+7",
                                     "turn",
                                     "random(0)",
                                     "1 / (nodes - 3) == 0",
                                     "1 % (nodes - 3) == 0 or 0",
                                     "node(\"\")",
                                     "0"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (decide(no[i]))
            fail_msg("yes: %s", no[i]);
}

static void mistakes_are_pointed_at(void **state)
{
    static const struct {
        const char *rule, *says;
    } wrong[] = {
        {"", "expected the name"},
        {"x whne 1", "expected 'when'"},
        {"x when", "expected a condition"},
        {"x when cuont == 1", "did you mean 'count'?"},
        {"x when count ==", "expected a condition"},
        {"x when (count", "expected ')'"},
        {"x when count 3", "the end of the rule"},
        {"x when random(2)", "between 0 and 1"},
        {"x when arg(7)", "is at most 6"},
        {"x when node(db)", "in quotes"},
        {"x when count in 3", "expected '..'"},
        {"x when \"text\"", "a text cannot stand here"},
        {"x when count + \"text\" == 1", "a text cannot stand here"},
        {"x when count == \"text\"", "can be compared with a text"},
        {"x when path(1) ~ \"text\"", "unknown word 'path'; ordeal-coordinate(1) shows"},
        {"x when @late", "no trigger named 'late'"},
        {"x when random(0.5) in 0..1", "evaluated more than once"},
        {"x when 1 / 0", "division by zero"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct coordinator_rule *parsed;
        must_say(coordinator_rule_new(wrong[i].rule, &parsed), wrong[i].says);
    }
    char deep[6000] = "x when ";
    for (int i = 0; i < 1000; i++)
        strcat(deep, "(");
    struct coordinator_rule *parsed;
    must_say(coordinator_rule_new(deep, &parsed), "nested too deeply");
    strcpy(deep, "x when 1");
    for (int i = 0; i < 2500; i++)
        strcat(deep, "+1");
    must_say(coordinator_rule_new(deep, &parsed), "too long");
}

static bool ask(struct coordinator_state *nodes, const char *name, const char *node)
{
    struct coordinator_question question = {.node = node, .function = "read"};
    const char *rule;
    must(coordinator_state_ask(nodes, name, &question, &rule));
    return rule != NULL;
}

static void turns_go_around(void **state)
{
    const char *const rules[] = {"disk when turn and node_count > 1", "net when once"};
    struct coordinator_state *nodes;
    must(coordinator_state_new(rules, 2, 0, &nodes));
    must(coordinator_state_join(nodes, "a"));
    must(coordinator_state_join(nodes, "b"));
    must(coordinator_state_join(nodes, "c"));
    // Everybody's first question is too early; then it is a's turn, b's, c's, and a's again.
    assert_false(ask(nodes, "disk", "a") || ask(nodes, "disk", "b") || ask(nodes, "disk", "c"));
    assert_false(ask(nodes, "disk", "b"));
    assert_true(ask(nodes, "disk", "a"));
    assert_false(ask(nodes, "disk", "a"));
    assert_true(ask(nodes, "disk", "b"));
    coordinator_state_leave(nodes, "c"); // its turn passes
    assert_true(ask(nodes, "disk", "a"));
    assert_true(ask(nodes, "disk", "b"));
    assert_true(ask(nodes, "net", "b"));
    assert_false(ask(nodes, "net", "a"));
    assert_false(ask(nodes, "unknown", "a"));
    assert_int_equal(coordinator_state_totals(nodes).questions, 12);
    assert_int_equal(coordinator_state_totals(nodes).yes, 5);
    struct coordinator_question question = {.node = "stranger", .function = ""};
    const char *rule;
    must_say(coordinator_state_ask(nodes, "disk", &question, &rule), "has not joined");
    coordinator_state_free(nodes);
}

static void addresses_are_understood(void **state)
{
    struct address_list list;
    char text[ADDRESS_TEXT];
    must(address_parse("127.0.0.1:80", &list));
    address_format(&list.choices[0], text);
    assert_string_equal(text, "127.0.0.1:80");
    must(address_parse("[::1]:8080", &list));
    address_format(&list.choices[0], text);
    assert_string_equal(text, "[::1]:8080");
    must(address_parse("./socket", &list));
    address_format(&list.choices[0], text);
    assert_string_equal(text, "./socket");
    must_say(address_parse("localhost", &list), "neither HOST:PORT");
    must_say(address_parse("localhost:", &list), "neither HOST:PORT");
    must_say(address_parse("127.0.0.1:no-such-port", &list), "cannot understand");
    char long_path[200];
    memset(long_path, '/', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    must_say(address_parse(long_path, &list), "longer than");
}

static void the_second_address_is_tried(void **state)
{
    struct address_list nobody, somebody, both = {.count = 2};
    // The port of a socket that is bound and does not listen.
    int deaf = socket(AF_INET, SOCK_STREAM, 0), listener, handle;
    must(address_parse("127.0.0.1:0", &nobody));
    socklen_t size = sizeof nobody.choices[0].storage;
    struct sockaddr *name = (struct sockaddr *)&nobody.choices[0].storage;
    assert_int_equal(bind(deaf, name, nobody.choices[0].size), 0);
    assert_int_equal(getsockname(deaf, name, &size), 0);
    must(address_parse("127.0.0.1:0", &somebody));
    must(address_listen(&somebody, &listener, &both.choices[1]));
    both.choices[0] = nobody.choices[0];
    must(address_connect(&both, NS_PER_S, &handle));
    close(handle);
    must_say(address_connect(&nobody, NS_PER_S, &handle), "cannot reach the coordinator");
    // Likewise for listening: the first is taken.
    struct address_list taken = {.choices = {both.choices[1], somebody.choices[0]}, .count = 2};
    struct address bound;
    must(address_listen(&taken, &handle, &bound));
    close(handle);
    close(listener);
    close(deaf);
}

struct server {
    struct coordinator *coordinator;
    pthread_t thread;
    int stop[2];
    char address[ADDRESS_TEXT];
    unsigned refused, left; // written by the thread, read after it ended
};

static void count_events(void *data, const struct coordinator_event *event)
{
    struct server *server = data;
    server->refused += event->kind == COORDINATOR_REFUSED;
    server->left += event->kind == COORDINATOR_LEFT;
}

static void *serve(void *data)
{
    struct server *server = data;
    return coordinator_serve(server->coordinator, server->stop[0]);
}

static void server_start(struct server *server, const char *address)
{
    static const char *const rules[] = {"disk when node_count == 2"};
    memset(server, 0, sizeof *server);
    struct coordinator_options options = {
        .address = address, .rules = rules, .rule_count = 1, .event = count_events, .data = server};
    must(coordinator_open(&options, &server->coordinator));
    coordinator_address(server->coordinator, server->address);
    assert_int_equal(pipe(server->stop), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server_stop(struct server *server)
{
    assert_int_equal(write(server->stop[1], "x", 1), 1);
    void *error;
    pthread_join(server->thread, &error);
    must(error);
    coordinator_close(server->coordinator);
    close(server->stop[0]);
    close(server->stop[1]);
}

static int dial(const struct server *server)
{
    struct address_list addresses;
    must(address_parse(server->address, &addresses));
    int handle;
    must(address_connect(&addresses, NS_PER_S, &handle));
    return handle;
}

// Everything the server says until it hangs up, or for 300 ms.
static const char *listen_to(int handle)
{
    static char text[500];
    size_t size = 0;
    struct pollfd wait_for = {.fd = handle, .events = POLLIN};
    while (size < sizeof text - 1 && poll(&wait_for, 1, 300) > 0) {
        ssize_t part = recv(handle, text + size, sizeof text - 1 - size, 0);
        if (part <= 0)
            break;
        size += (size_t)part;
    }
    text[size] = '\0';
    return text;
}

static const char *talk(const struct server *server, const char *text)
{
    int handle = dial(server);
    assert_true(send(handle, text, strlen(text), MSG_NOSIGNAL) > 0);
    const char *answer = listen_to(handle);
    close(handle);
    return answer;
}

#define QUESTION "disk write 10 11 1 1,2,3,4,5,6 /bin/x;10;main,;ff;%\n"

static void the_protocol_is_kept(void **state)
{
    struct server server;
    server_start(&server, "127.0.0.1:0");
    assert_string_equal(
        talk(&server, "HELLO 1 a\nASK 1 " QUESTION "ASK 2 " QUESTION "ASK 3 " QUESTION),
        "WELCOME 1\nANSWER 1 no\nANSWER 2 yes\nANSWER 3 no\n");
    assert_string_equal(talk(&server, "HELLO 1 b\r\nASK 9 disk write 1 1 1 0 \r\n"),
                        "WELCOME 1\nANSWER 9 no\n");
    assert_string_equal(talk(&server, "HELLO 9 b\n"), "ERROR this coordinator speaks protocol 1\n");
    assert_string_equal(talk(&server, "HELLO 1x b\n"),
                        "ERROR this coordinator speaks protocol 1\n");
    char hello[400] = "HELLO 1 ";
    memset(hello + strlen(hello), 'n', 300);
    hello[sizeof hello - 1] = '\0';
    strcat(hello, "\n");
    assert_non_null(strstr(talk(&server, hello), "at most 255 bytes"));
    assert_string_equal(talk(&server, "ASK 1 " QUESTION), "ERROR expected HELLO first\n");
    assert_non_null(strstr(talk(&server, "HELLO 1 c\nHELLO 1 c\n"), "ERROR expected HELLO"));
    assert_non_null(strstr(talk(&server, "HELLO 1 c\nASK\n"), "ERROR this question"));
    assert_non_null(strstr(talk(&server, "HELLO 1 c\nASK x " QUESTION), "ERROR this question"));
    assert_non_null(strstr(talk(&server, "HELLO 1 c\nASK 1 d f 1 1 1 0 a,b\n"), "ERROR this"));
    assert_non_null(strstr(talk(&server, "GET / HTTP/1.1\n"), "ERROR expected HELLO or ASK\n"));
    server_stop(&server);
    assert_int_equal(server.refused, 9);
}

static void unkind_peers_do_no_harm(void **state)
{
    struct server server;
    server_start(&server, "127.0.0.1:0");
    int silent = dial(&server), endless = dial(&server), deaf = dial(&server);
    char noise[4096];
    memset(noise, 'x', sizeof noise);
    for (int i = 0; i < 100; i++)
        if (send(endless, noise, sizeof noise, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
    // Asks without ever reading the answers.
    assert_true(send(deaf, "HELLO 1 deaf\n", 13, 0) == 13);
    for (int i = 0; i < 20000; i++)
        if (send(deaf, "ASK 1 " QUESTION, strlen("ASK 1 " QUESTION), MSG_NOSIGNAL | MSG_DONTWAIT) <
            0)
            break;
    for (int i = 0; i < 600; i++)
        close(dial(&server)); // vanish at once
    assert_string_equal(talk(&server, "HELLO 1 good\nASK 1 " QUESTION), "WELCOME 1\nANSWER 1 no\n");
    assert_non_null(strstr(listen_to(endless), "ERROR a line is too long"));
    close(silent);
    close(endless);
    close(deaf);
    server_stop(&server);
}

static enum wire_remote_answer ask_remote(struct remote *remote)
{
    struct wire_remote question = {.pid = 1, .tid = 2, .name = 0, .frame_count = 2};
    question.frames[0] = WIRE_FRAME(3, 0x1234);
    question.frames[1] = WIRE_FRAME(WIRE_FRAME_UNKNOWN, 0x5678);
    memset(question.function, 'f', sizeof question.function); // no end: it must cope
    return remote_ask(remote, &question);
}

static void a_controller_asks_and_survives_the_end(void **state)
{
    static const char *const specs[] = {"read=-1 when remote(disk)", NULL};
    struct region region;
    must(make_region(specs, NULL, 4, &region));
    struct server server;
    server_start(&server, "./socket");
    struct remote *remote;
    must(remote_new("./socket", "node 1", &region, &remote));
    assert_int_equal(ask_remote(remote), WIRE_REMOTE_NO);
    server_stop(&server);
    assert_int_equal(access("socket", F_OK), -1);
    uint64_t start_ns = clock_ns();
    for (int i = 0; i < 50; i++)
        assert_int_equal(ask_remote(remote), WIRE_REMOTE_UNREACHABLE);
    assert_true(clock_ns() - start_ns < 2 * NS_PER_S);
    remote_free(remote);
    must(remote_new(NULL, NULL, &region, &remote));
    assert_int_equal(ask_remote(remote), WIRE_REMOTE_UNREACHABLE);
    remote_free(remote);
    region_close(&region);
}

static void a_dead_socket_is_replaced_and_a_living_one_is_not(void **state)
{
    struct server server;
    server_start(&server, "./socket");
    struct coordinator_options options = {.address = "./socket"};
    struct coordinator *second;
    must_say(coordinator_open(&options, &second), "Address already in use");
    server_stop(&server);
    assert_int_equal(
        system("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")' "
               "2>/dev/null || true"),
        0);
    must(coordinator_open(&options, &second));
    coordinator_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_survive_the_line),
        cmocka_unit_test(broken_words_are_noticed),
        cmocka_unit_test(expressions_mean_what_they_say),
        cmocka_unit_test(mistakes_are_pointed_at),
        cmocka_unit_test(turns_go_around),
        cmocka_unit_test(addresses_are_understood),
        cmocka_unit_test(the_second_address_is_tried),
        cmocka_unit_test(the_protocol_is_kept),
        cmocka_unit_test(unkind_peers_do_no_harm),
        cmocka_unit_test_setup_teardown(a_controller_asks_and_survives_the_end, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(a_dead_socket_is_replaced_and_a_living_one_is_not,
                                        enter_scratch, leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
