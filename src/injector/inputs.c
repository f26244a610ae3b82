// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the inputs of a campaign, and makes the command of each.
#include "injector/inputs.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLACE "{}" // of the file's name in a command

struct error *command_list_add(struct command_list *list, struct words **ret_command)
{
    if (list->items.count == INPUTS_MOST)
        return error_new("there may be at most %u inputs", INPUTS_MOST);
    *ret_command = ARRAY_ADD(&list->items);
    return *ret_command != NULL ? NULL : error_no_memory();
}

void command_list_clear(struct command_list *list)
{
    for (size_t i = 0; i < list->items.count; i++)
        words_deinit(&list->items.items[i]);
    list->items.count = 0;
}

void command_list_deinit(struct command_list *list)
{
    command_list_clear(list);
    ARRAY_DEINIT(&list->items);
}

uint32_t inputs_count(const struct inputs *inputs)
{
    return (uint32_t)(inputs->commands.items.count != 0 ? inputs->commands.items.count
                                                        : inputs->files.count);
}

// A word with the file's name in place of each "{}".
static struct error *put_file(const char *word, const char *file, struct words *words,
                              bool *ret_used)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    for (const char *place; (place = strstr(word, PLACE)) != NULL; word = place + strlen(PLACE)) {
        TRY(buffer_append(&text, word, (size_t)(place - word)));
        TRY(buffer_append(&text, file, strlen(file)));
        *ret_used = true;
    }
    TRY(buffer_append(&text, word, strlen(word)));
    return words_add(words, text.data != NULL ? text.data : "", text.size);
}

struct error *inputs_get(const struct inputs *inputs, const struct words *command, uint32_t index,
                         struct words *ret_command, const char **ret_input)
{
    bool used = false;
    const struct words *words = command;
    const char *file = NULL;
    if (index < inputs->commands.items.count)
        words = &inputs->commands.items.items[index];
    else if (inputs->commands.items.count == 0 && index < inputs->files.count)
        file = inputs->files.items[index];
    words_clear(ret_command);
    for (size_t i = 0; i < words->count; i++)
        if (file != NULL)
            TRY(put_file(words->items[i], file, ret_command, &used));
        else
            TRY(words_add(ret_command, words->items[i], strlen(words->items[i])));
    if (file != NULL && !used)
        *ret_input = file;
    return NULL;
}

static void freep_list(struct dirent ***list)
{
    free(*list);
}

struct error *inputs_list_files(const char *directory, struct words *files)
{
    _cleanup_(freep_list) struct dirent **list = NULL;
    struct error *error = NULL;
    struct stat facts;
    int count = scandir(directory, &list, NULL, alphasort);
    if (count < 0)
        return error_from_errno(errno, "cannot read the directory of inputs %s", directory);
    for (int i = 0; i < count; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        if (error == NULL)
            error = buffer_printf(&path, "%s/%s", directory, list[i]->d_name);
        free(list[i]);
        if (error == NULL && stat(path.data, &facts) == 0 && S_ISREG(facts.st_mode))
            error = files->count < INPUTS_MOST
                        ? words_add(files, path.data, path.size)
                        : error_new("there may be at most %u inputs", INPUTS_MOST);
    }
    if (error == NULL && files->count == 0)
        return error_new("there is no file in the directory of inputs %s", directory);
    return error;
}
