// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for words in the names of functions that say what they do.
#include "profile/names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

// Whether a word ends in front of `at`: in isURL and ISOpen, but not in hIST.
static bool ends_word(const char *at)
{
    bool capital = isupper((unsigned char)at[0]);
    return !islower((unsigned char)at[0]) &&
           (!capital || islower((unsigned char)at[-1]) || islower((unsigned char)at[1]));
}

// Whether a word begins at `at`: at the beginning of a name, behind an underscore, or with a
// capital letter. In PQisBusy, one begins behind a prefix of capital letters.
static bool begins_word(const char *name, const char *at)
{
    return at == name || at[-1] == '_' || isupper((unsigned char)*at) ||
           (at - name >= 2 && islower((unsigned char)at[0]) && isupper((unsigned char)at[-1]) &&
            isupper((unsigned char)at[-2]));
}

static bool has_any_word(const char *name, const char *const *words, size_t count)
{
    for (const char *at = name; *at != '\0'; at++) {
        if (!begins_word(name, at))
            continue;
        int first = tolower((unsigned char)*at);
        for (size_t i = 0; i < count; i++) {
            if (words[i][0] != first) // most are not compared
                continue;
            size_t size = strlen(words[i]);
            if (strncasecmp(at, words[i], size) == 0 && ends_word(at + size))
                return true;
        }
    }
    return false;
}

static bool has_word(const char *name, const char *word)
{
    return has_any_word(name, &word, 1);
}

bool name_is_predicate(const char *name)
{
    static const char *const words[] = {
        "is",       "has",     "can",     "was",     "are",       "equal",   "match",
        "contains", "needs",   "enabled", "range",   "valid",     "ok",      "supported",
        "exists",   "allowed", "errno",   "errcode", "identical", "support", "supports",
        "equals",   "matches", "same",    "differs", "intersects"};
    if (has_any_word(name, words, sizeof words / sizeof *words))
        return true;
    size_t size = strlen(name);
    if (size > 5 && strcasecmp(name + size - 5, "empty") == 0)
        return true;
    return strncmp(name, "is", 2) == 0 && strchr(name, '_') == NULL; // isalpha
}

bool name_asks_validity(const char *name)
{
    static const char *const words[] = {"valid", "invalid", "error", "err", "null", "ok", "failed"};
    return has_word(name, "is") && has_any_word(name, words, sizeof words / sizeof *words);
}

bool name_asks_error(const char *name)
{
    static const char *const errors[] = {"error", "err", "errors", "errno", "errcode", "errmsg"};
    static const char *const asks[] = {"get", "peek", "last", "detail", "details", "message"};
    static const char *const acts[] = {"set", "report", "raise", "print", "add", "new", "copy"};
    if (!has_any_word(name, errors, sizeof errors / sizeof *errors))
        return false;
    size_t size = strlen(name);
    bool named = size > 6 &&
                 (strcmp(name + size - 6, "_error") == 0 || strcmp(name + size - 5, "Error") == 0);
    return has_any_word(name, asks, sizeof asks / sizeof *asks) ||
           (named && !has_any_word(name, acts, sizeof acts / sizeof *acts)); // magic_error
}

bool name_is_comparison(const char *name)
{
    static const char *const parts[] = {"cmp", "ompare", "coll", "Cmp"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]) != NULL)
            return true;
    return false;
}

bool name_reports_error(const char *name)
{
    static const char *const errors[] = {"err", "error", "errorf", "perror", "raise"};
    // Functions that do something else with errors.
    static const char *const others[] = {"clear", "get",  "peek",   "reset",   "pop",    "mark",
                                         "free",  "last", "string", "message", "load",   "init",
                                         "code",  "is",   "str",    "text",    "handler"};
    if (strcasestr(name, "err") == NULL && strcasestr(name, "raise") == NULL) // fast for most names
        return false;
    size_t size = strlen(name);
    bool joined = size > 3 && strcmp(name + size - 3, "err") == 0 && strchr(name, '_') == NULL &&
                  strncmp(name, "str", 3) != 0; // agerr
    return (joined || has_any_word(name, errors, sizeof errors / sizeof *errors)) &&
           !has_any_word(name, others, sizeof others / sizeof *others);
}

bool name_finds(const char *name)
{
    static const char *const words[] = {"find",    "lookup",    "search",      "by_name", "byname",
                                        "by_key",  "by_id",     "by_label",    "by_code", "byid",
                                        "by_type", "from_name", "from_string", "bylabel"};
    return has_any_word(name, words, sizeof words / sizeof *words);
}

enum name_misuse name_reports_misuse(const char *name)
{
    return strstr(name, "return_if_fail") != NULL ? NAME_MISUSE
           : strcmp(name, "g_log") == 0 || strcmp(name, "g_log_structured_standard") == 0
               ? NAME_MISUSE_LEVEL
               : NAME_MISUSE_NONE;
}

// Behind the name of a library that is made of words: FreeImage_LoadFromMemory.
static const char *behind_library(const char *name)
{
    const char *end = strchr(name, '_');
    bool small = false;
    if (end == NULL || !isupper((unsigned char)*name))
        return name;
    for (const char *at = name; at < end; at++) {
        if (small && isupper((unsigned char)*at))
            return end + 1;
        small |= islower((unsigned char)*at) != 0;
    }
    return name;
}

bool name_releases(const char *name)
{
    static const char *const words[] = {"unref", "free", "destroy", "delete", "release"};
    return has_any_word(behind_library(name), words, sizeof words / sizeof *words);
}

bool name_is_measure(const char *name)
{
    static const char *const words[] = {"size", "length", "len",   "count",  "tell",  "offset",
                                        "pos",  "bytes",  "width", "height", "depth", "bits"};
    size_t end = strlen(name);
    while (end > 0 && isdigit((unsigned char)name[end - 1])) // tell64
        end--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if (end < size || strncasecmp(name + end - size, words[i], size) != 0)
            continue;
        const char *word = name + end - size;
        if (word == name || word[-1] == '_' || isupper((unsigned char)*word))
            return true;
    }
    return has_word(name, "num");
}

bool name_makes_object(const char *name)
{
    static const char *const words[] = {"create", "new", "alloc", "open"};
    return !has_word(name, "get") && has_any_word(name, words, sizeof words / sizeof *words);
}

bool name_copies(const char *name)
{
    static const char *const words[] = {"copy",   "dup",   "clone",  "ref",    "strdup",
                                        "memdup", "alloc", "malloc", "calloc", "realloc"};
    if (has_word(name, "get"))
        return false;
    return has_any_word(name, words, sizeof words / sizeof *words);
}

bool name_answers(const char *name)
{
    return strcmp(name, "getenv") == 0 || strcmp(name, "secure_getenv") == 0;
}

bool name_transforms(const char *name)
{
    return has_word(name, "compress");
}

bool name_checks(const char *name)
{
    return has_word(name, "check");
}

bool name_gets(const char *name)
{
    return has_word(name, "get");
}

bool name_sets(const char *name)
{
    return has_word(name, "set");
}

bool name_is_timeout(const char *name)
{
    return has_word(name, "timeout") && !has_word(name, "set");
}

bool name_tells_kind(const char *name)
{
    static const char *const words[] = {"type", "kind", "class", "state", "mode", "version"};
    static const char *const acts[] = {"set", "check", "add", "register"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t word = strlen(words[i]);
        if (size > word && strcasecmp(name + size - word, words[i]) == 0 &&
            (name[size - word - 1] == '_' || isupper((unsigned char)name[size - word])))
            return !has_any_word(name, acts, sizeof acts / sizeof *acts);
    }
    return false;
}

bool name_does(const char *name)
{
    static const char *const words[] = {
        "accept",  "activate", "add",     "alloc",  "append",   "apply",   "attach",  "bind",
        "build",   "cancel",   "change",  "clear",  "close",    "compile", "commit",  "configure",
        "connect", "convert",  "copy",    "create", "decode",   "delete",  "detach",  "disable",
        "dump",    "enable",   "encode",  "end",    "exec",     "execute", "export",  "fetch",
        "fill",    "finish",   "flush",   "format", "generate", "import",  "init",    "initialize",
        "insert",  "install",  "load",    "lock",   "make",     "map",     "mkdir",   "mount",
        "move",    "new",      "open",    "output", "parse",    "prepare", "print",   "printf",
        "process", "push",     "put",     "raise",  "read",     "realloc", "receive", "register",
        "reload",  "remove",   "rename",  "render", "replace",  "request", "reserve", "reset",
        "resize",  "resolve",  "restore", "run",    "save",     "seek",    "select",  "send",
        "set",     "setup",    "sign",    "start",  "stop",     "store",   "submit",  "switch",
        "sync",    "truncate", "unlink",  "unlock", "unmap",    "unset",   "update",  "wait",
        "write"};
    return has_any_word(name, words, sizeof words / sizeof *words);
}

bool name_acts(const char *name)
{
    static const char *const words[] = {
        "assign",    "authenticate", "begin",      "bell",       "call",      "capture",
        "cleanup",   "compress",     "consume",    "decompress", "decrypt",   "deliver",
        "dequeue",   "deserialize",  "disconnect", "discover",   "dispatch",  "draw",
        "drop",      "emit",         "encrypt",    "enqueue",    "enter",     "erase",
        "establish", "evaluate",     "expand",     "extract",    "feed",      "forward",
        "free",      "grab",         "handle",     "handshake",  "hide",      "increment",
        "invoke",    "join",         "kill",       "launch",     "leave",     "link",
        "listen",    "login",        "logout",     "merge",      "modify",    "negotiate",
        "notify",    "pack",         "pause",      "perform",    "play",      "poll",
        "pop",       "post",         "prepend",    "probe",      "publish",   "query",
        "queue",     "record",       "recover",    "recv",       "refresh",   "retrieve",
        "resume",    "rewind",       "rotate",     "scan",       "schedule",  "serialize",
        "setopt",    "show",         "shutdown",   "skip",       "spawn",     "split",
        "step",      "subscribe",    "suspend",    "swap",       "terminate", "toggle",
        "transfer",  "transform",    "translate",  "transmit",   "trigger",   "undo",
        "unpack",    "upload",       "download",   "visit",      "warp"};
    return has_any_word(name, words, sizeof words / sizeof *words);
}

bool name_iterates(const char *name)
{
    static const char *const acts[] = {"add", "insert", "append", "set"};
    static const char *const words[] = {"next", "prev", "previous", "iterate"};
    return has_any_word(name, words, sizeof words / sizeof *words) &&
           !has_any_word(name, acts, sizeof acts / sizeof *acts);
}

bool name_takes_out(const char *name)
{
    return has_word(name, "pop") || has_word(name, "dequeue");
}

bool name_allows_result(const char *name, int64_t number)
{
    static const struct {
        const char *name;
        int64_t number;
    } rows[] = {{"pthread_barrier_wait", -1}, {"pthread_barrier_wait", 0}, {"time", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number && strcmp(name, rows[i].name) == 0)
            return true;
    return false;
}

bool name_never_fails(const char *library, const char *name)
{
    static const char *const standard[] = {"basename",    "dcgettext", "dcngettext", "dgettext",
                                           "dirname",     "dlerror",   "dngettext",  "gai_strerror",
                                           "gettext",     "hstrerror", "localeconv", "ngettext",
                                           "nl_langinfo", "strerror",  "strerror_l", "strsignal"};
    static const char *const slices[] = {"g_slice_alloc", "g_slice_alloc0", "g_slice_copy"};
    static const char *const objects[] = {"g_object_new", "g_object_new_valist",
                                          "g_object_new_with_properties", "g_object_newv"};
    static const struct {
        const char *library;
        const char *const *names;
        size_t count;
    } rows[] = {{"libc.so.6", standard, sizeof standard / sizeof *standard},
                {"libglib-2.0.so.0", slices, sizeof slices / sizeof *slices},
                {"libgobject-2.0.so.0", objects, sizeof objects / sizeof *objects}};
    while (*name == '_') // other names of the same functions
        name++;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < rows[i].count && strcmp(library, rows[i].library) == 0; k++)
            if (strcmp(name, rows[i].names[k]) == 0)
                return true;
    return false;
}

bool name_is_never_used(const char *name)
{
    static const char *const names[] = {"__fprintf_chk",
                                        "__printf_chk",
                                        "fprintf",
                                        "perror",
                                        "printf",
                                        "pthread_cond_broadcast",
                                        "pthread_cond_signal",
                                        "pthread_mutex_unlock",
                                        "pthread_rwlock_unlock",
                                        "pthread_spin_unlock",
                                        "putchar",
                                        "puts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}
