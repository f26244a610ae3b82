// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a console line by line. What trouble looks like is a table.
#include "guest/console.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

static const struct sign {
    const char *text;
    enum console_trouble trouble;
} signs[] = {
    {"Kernel panic - not syncing", CONSOLE_PANIC}, // Linux
    {"Panic on CPU", CONSOLE_PANIC},               // Xen
    {"PANIC: double fault", CONSOLE_PANIC},        // Linux
    {"BUG: ", CONSOLE_OOPS},
    {"Oops: ", CONSOLE_OOPS},
    {"general protection fault", CONSOLE_OOPS},
    {"kernel BUG at ", CONSOLE_OOPS},
    {"invalid opcode: ", CONSOLE_OOPS},
    {"divide error: ", CONSOLE_OOPS},
    {"stack segment: ", CONSOLE_OOPS},
    {"Unable to handle kernel", CONSOLE_OOPS},
    {"rcu: INFO: rcu_", CONSOLE_OOPS},
    {"watchdog: BUG: soft lockup", CONSOLE_OOPS},
    {"INFO: task ", CONSOLE_OOPS}, // "… blocked for more than 120 seconds"
};

static const struct action {
    const char *text, *rest; // both are in the line; `rest` may be NULL
    enum console_action action;
} actions[] = {
    {"due to hardware memory corruption", NULL, CONSOLE_KILL}, // "Killing …", "Sending SIGBUS …"
    {"Memory error not recovered", NULL, CONSOLE_KILL},
    {"recovery action for ", ": Recovered", CONSOLE_OFFLINE},
    {"recovery action for ", ": Delayed", CONSOLE_OFFLINE},
};
#define RULE "Machine check: "

// Without colours and other control bytes.
static size_t clean(const char *line, size_t size, char *ret_clean)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] == '\x1b' && i + 1 < size && line[i + 1] == '[') {
            for (i += 2; i < size && !isalpha((unsigned char)line[i]);)
                i++;
            continue;
        }
        if (isprint((unsigned char)line[i]) || line[i] == '\t')
            ret_clean[kept++] = line[i];
    }
    ret_clean[kept] = '\0';
    return kept;
}

// The text behind Linux' time stamp, "[    1.234567] ".
static const char *without_time(const char *line)
{
    if (*line != '[')
        return line;
    const char *end = line + 1 + strspn(line + 1, " 0123456789.");
    if (*end != ']')
        return line;
    end += 1 + strspn(end + 1, " ");
    // Who says it: a task or a processor.
    if (end[0] == '[' && (end[1] == 'T' || end[1] == 'C' || end[1] == ' '))
        end += strcspn(end, "]") + (strchr(end, ']') != NULL);
    return end + strspn(end, " ");
}

// "name+0x12/0x40" at the beginning of a text; its length, or 0.
static size_t frame_size(const char *text)
{
    size_t name = strcspn(text, " +");
    if (name == 0 || text[name] != '+' || strncmp(text + name + 1, "0x", 2) != 0)
        return 0;
    return strcspn(text, " ");
}

// Functions that only report; whoever called them is to blame.
static bool is_reporter(const char *frame)
{
    static const char *const names[] = {"dump_stack", "show_stack", "panic+", "__warn",
                                        "report_bug", "die+",       "__die"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(frame, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static struct error *take_frame(struct console *console, const char *text)
{
    if (console->complete)
        return NULL;
    if (strstr(text, "---[ end ") != NULL) {
        console->complete = console->frames != 0;
        return NULL;
    }
    text += strspn(text, " ");
    if (strncmp(text, "RIP: ", 5) == 0) {
        const char *colon = strchr(text + 5, ':');
        text = colon != NULL && colon[1] != ' ' ? colon + 1 : text + 5;
        console->complete = console->frames > 1; // said again at the end
        console->in_stack = true;
        if (console->complete)
            return NULL;
    } else if (strncmp(text, "Call Trace:", 11) == 0) {
        console->in_stack = true;
        return NULL;
    } else if (!console->in_stack) {
        return NULL;
    }
    size_t size = frame_size(text);
    if (size == 0 || console->frames == CONSOLE_STACK || is_reporter(text))
        return NULL;
    console->frames++;
    TRY(buffer_append(&console->stack, text, size));
    return buffer_append(&console->stack, "\n", 1);
}

// What is said about machine checks.
static void take_machine_check(struct console *console, const char *text)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (actions[i].action > console->action && strstr(text, actions[i].text) != NULL &&
            (actions[i].rest == NULL || strstr(text, actions[i].rest) != NULL))
            console->action = actions[i].action;
    const char *rule = strstr(text, RULE);
    if (rule != NULL && *console->rule == '\0')
        strcpy(console->rule, rule + strlen(RULE));
}

static struct error *take_line(struct console *console)
{
    char *line = console->lines[console->line_count++ % CONSOLE_LINES];
    clean(console->line, console->size, line);
    console->size = 0;
    const char *text = without_time(line);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(text, signs[i].text) == NULL)
            continue;
        if (console->trouble == CONSOLE_WELL)
            strcpy(console->what, text);
        if (signs[i].trouble > console->trouble)
            console->trouble = signs[i].trouble;
    }
    take_machine_check(console, text);
    return console->trouble != CONSOLE_WELL || strncmp(text, "RIP: ", 5) == 0
               ? take_frame(console, text)
               : NULL;
}

struct error *console_take(struct console *console, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n') {
            TRY(take_line(console));
            continue;
        }
        if (console->size < CONSOLE_LINE - 1 && bytes[i] != '\r')
            console->line[console->size++] = bytes[i];
        // A prompt has no newline.
        size_t wanted = console->ready != NULL ? strlen(console->ready) : 0;
        if (wanted != 0 && !console->is_ready && console->size >= wanted &&
            memcmp(console->line + console->size - wanted, console->ready, wanted) == 0)
            console->is_ready = true;
    }
    return NULL;
}

struct error *console_put_last(const struct console *console, size_t most, struct buffer *text)
{
    uint64_t kept = console->line_count < CONSOLE_LINES ? console->line_count : CONSOLE_LINES;
    uint64_t count = kept < most ? kept : most;
    for (uint64_t i = console->line_count - count; i < console->line_count; i++)
        TRY(buffer_printf(text, "%s\n", console->lines[i % CONSOLE_LINES]));
    if (console->size == 0 || count == most)
        return NULL;
    char rest[CONSOLE_LINE];
    clean(console->line, console->size, rest);
    return buffer_printf(text, "%s\n", rest);
}

void console_deinit(struct console *console)
{
    buffer_deinit(&console->stack);
}
