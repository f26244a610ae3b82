// SPDX-License-Identifier: GPL-3.0-or-later
// Finds programs that were started without the runtime: those in which it has not started when all
// is over. Their starter has noted what it knew; else their files may tell the reason.
#include "trial/escaped.h"

#include "base/cleanup.h"
#include "trial/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ESCAPED     20
#define CHECKED_PROGRAMS 1000

static const char *const obstacles[WIRE_OBSTACLES] = {
    [WIRE_OBSTACLE_NONE] =
        "the runtime did not start in it; it may have ended at once, have another C library, or "
        "have been started with other rights",
    [WIRE_OBSTACLE_PRIVILEGES] =
        "the process that started it has another effective user or group than its real one, and "
        "the loader then ignores LD_PRELOAD",
    [WIRE_OBSTACLE_RUNTIME] =
        "the runtime's file cannot be read there (a chroot, a mount namespace, or another user's "
        "directory)",
    [WIRE_OBSTACLE_REGION] =
        "the region's file cannot be opened there (a chroot, a mount namespace, or something "
        "mounted over /dev/shm)",
    [WIRE_OBSTACLE_STACK] =
        "its stack is limited to less than 64 KiB (ulimit -s); the loader needs 4 KiB more than "
        "usual when it handles LD_PRELOAD, and may have crashed of that",
};

static bool is_known(const struct escaped_programs *programs, const char *path)
{
    for (size_t i = 0; i < programs->items.count; i++)
        if (strcmp(programs->items.items[i].path, path) == 0)
            return true;
    return false;
}

static struct error *add(struct escaped_programs *programs, const struct wire_record *record,
                         const char *path, const char *why)
{
    if (programs->items.count >= MOST_ESCAPED || is_known(programs, path))
        return NULL;
    char *copy = strdup(why);
    struct escaped_program *program = copy != NULL ? ARRAY_ADD(&programs->items) : NULL;
    if (program == NULL) {
        free(copy);
        return error_no_memory();
    }
    program->record = record;
    program->why = copy;
    snprintf(program->path, sizeof program->path, "%s", path);
    return NULL;
}

static void copy_path(const struct wire_record *record, char path[WIRE_NOTE_TEXT])
{
    memcpy(path, record->text, WIRE_NOTE_TEXT);
    path[WIRE_NOTE_TEXT - 1] = '\0';
}

static struct error *find_by_files(const struct wire_view *view, struct escaped_programs *programs)
{
    char path[WIRE_NOTE_TEXT];
    uint32_t checked = 0;
    for (uint32_t i = 0; i < view->record_count && checked < CHECKED_PROGRAMS; i++) {
        const struct wire_record *record = &view->journal[i];
        if (record->state != WIRE_RECORD_COMPLETE || record->kind != WIRE_RECORD_EXEC)
            continue;
        checked++;
        copy_path(record, path);
        _cleanup_free_ char *why = program_obstacle(path);
        if (why != NULL)
            TRY(add(programs, record, path, why));
    }
    return NULL;
}

static struct error *find_pending(const struct wire_view *view, struct escaped_programs *programs)
{
    char path[WIRE_NOTE_TEXT];
    for (uint32_t i = 0; i < WIRE_PENDING; i++) {
        uint64_t entry = view->programs->pending[i];
        uint32_t number = WIRE_PENDING_RECORD(entry), obstacle = WIRE_PENDING_OBSTACLE(entry);
        if (entry == 0 || number >= view->record_count || obstacle >= WIRE_OBSTACLES)
            continue;
        const struct wire_record *record = &view->journal[number];
        if (record->state != WIRE_RECORD_COMPLETE || record->kind != WIRE_RECORD_EXEC)
            continue;
        copy_path(record, path);
        _cleanup_free_ char *why = obstacle == WIRE_OBSTACLE_NONE ? program_obstacle(path) : NULL;
        TRY(add(programs, record, path, why != NULL ? why : obstacles[obstacle]));
    }
    return NULL;
}

struct error *escaped_programs_find(const struct wire_view *view, bool read_files,
                                    struct escaped_programs *ret_programs)
{
    struct escaped_programs programs = {0};
    struct error *error = NULL;
    if (view->damage == WIRE_DAMAGE_NONE)
        error = find_pending(view, &programs);
    if (error == NULL && read_files && view->damage == WIRE_DAMAGE_NONE)
        error = find_by_files(view, &programs);
    if (error != NULL)
        escaped_programs_deinit(&programs);
    else
        *ret_programs = programs;
    return error;
}

void escaped_programs_deinit(struct escaped_programs *programs)
{
    for (size_t i = 0; i < programs->items.count; i++)
        free(programs->items.items[i].why);
    ARRAY_DEINIT(&programs->items);
}

struct error *escaped_program_text(const struct escaped_program *program, char **ret_text)
{
    const struct wire_record *record = program->record;
    if (asprintf(ret_text, "%s, started by %.*s (pid %u), was not intercepted: %s", program->path,
                 (int)sizeof record->process_name, record->process_name, record->pid,
                 program->why) < 0)
        return error_no_memory();
    return NULL;
}
