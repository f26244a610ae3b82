// SPDX-License-Identifier: GPL-3.0-or-later
// Works out what the imports of all modules can fail with, one module after the other. Then finds
// the sites of all modules in several threads, which only read.
#include "callsite/modules.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "elf/object.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_THREADS  64
#define LEAST_CERTAIN 70 // confidence

void callsite_modules_deinit(struct callsite_modules *modules)
{
    for (size_t i = 0; i < modules->items.count; i++) {
        struct callsite_module *module = &modules->items.items[i];
        for (size_t j = 0; j < module->imports.count; j++) {
            ARRAY_DEINIT(&module->imports.items[j].codes);
            ARRAY_DEINIT(&module->imports.items[j].errors);
            ARRAY_DEINIT(&module->imports.items[j].facts);
        }
        ARRAY_DEINIT(&module->imports);
        callsite_imports_deinit(&module->learnt);
        sites_deinit(&module->sites);
        error_free(module->error);
        free(module->path);
    }
    ARRAY_DEINIT(&modules->items);
    profile_set_free(modules->set);
}

// Chooses an errno that is common, if there are several.
static int choose_error(const struct callsite_modules *modules, const struct error_sets *sets,
                        const struct value *value)
{
    static const int usual[] = {EIO,    ENOSPC, ENOMEM, EACCES,       ENOENT,  EMFILE,
                                EAGAIN, EINVAL, EPERM,  ECONNREFUSED, ENOTDIR, EINTR};
    if (value->kind == VALUE_CONSTANT)
        return value->number > 0 && value->number < ERROR_NUMBERS &&
                       !error_set_has(&modules->excluded, (unsigned)value->number)
                   ? (int)value->number
                   : 0;
    if (value->kind != VALUE_ERRORS)
        return 0;
    const struct error_set *set = &sets->items.items[value->set];
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (error_set_has(set, (unsigned)usual[i]) &&
            !error_set_has(&modules->excluded, (unsigned)usual[i]))
            return usual[i];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(set, i) && !error_set_has(&modules->excluded, i))
            return (int)i;
    return 0;
}

static struct error *add_code(struct callsite_import *import, int64_t code, int number,
                              struct callsite_code facts)
{
    for (size_t i = 0; i < import->codes.count; i++)
        if (import->codes.items[i] == code) {
            if (import->errors.items[i] == 0)
                import->errors.items[i] = number;
            import->facts.items[i].forced &= facts.forced;
            import->facts.items[i].answer &= facts.answer;
            if (import->facts.items[i].out_argument != facts.out_argument)
                import->facts.items[i].out_argument = 0;
            return NULL;
        }
    int64_t *slot = ARRAY_ADD(&import->codes);
    int *error_slot = slot != NULL ? ARRAY_ADD(&import->errors) : NULL;
    struct callsite_code *facts_slot = error_slot != NULL ? ARRAY_ADD(&import->facts) : NULL;
    if (facts_slot == NULL)
        return error_no_memory();
    *slot = code;
    *error_slot = number;
    *facts_slot = facts;
    return NULL;
}

// Whether only a wrong pointer makes a function fail like this. A check would not help then.
static bool needs_wrong_pointer(const struct error_sets *sets, const struct failure *failure)
{
    if (!failure->sets_error || failure->error_open)
        return false;
    if (failure->error.kind == VALUE_CONSTANT)
        return failure->error.number == EFAULT;
    if (failure->error.kind != VALUE_ERRORS)
        return false;
    struct error_set others = sets->items.items[failure->error.set];
    bool wrong = error_set_has(&others, EFAULT);
    error_set_remove(&others, EFAULT);
    return wrong && error_set_is_empty(&others);
}

// Adds one failure code, or one for each error number. If none is known, EIO stands for all.
static struct error *add_failure(const struct callsite_modules *modules,
                                 const struct error_sets *sets, struct callsite_import *import,
                                 const struct failure *failure, struct callsite_code facts)
{
    int number = failure->sets_error ? choose_error(modules, sets, &failure->error) : 0;
    if (failure->result.kind == VALUE_CONSTANT)
        return add_code(import, failure->result.number, number, facts);
    if (failure->result.kind != VALUE_ERRORS)
        return NULL;
    const struct error_set *set = &sets->items.items[failure->result.set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(set, i) && !error_set_has(&modules->excluded, i))
            TRY(add_code(import, failure->result.negative ? -(int64_t)i : (int64_t)i, number,
                         facts));
    if (failure->result_open && error_set_is_empty(set) && !error_set_has(&modules->excluded, EIO))
        TRY(add_code(import, failure->result.negative ? -EIO : EIO, number, facts));
    return NULL;
}

// Functions of the C library that return nothing, or whose results never mean failure, whatever
// their code looks like. Sorted.
static const char *const never_failing[] = {
    "__memcpy_chk",  "__memmove_chk",  "__mempcpy_chk",  "__memset_chk",
    "__stpcpy_chk",  "__stpncpy_chk",  "__strcat_chk",   "__strcpy_chk",
    "__strncat_chk", "__strncpy_chk",  "__wcpcpy_chk",   "__wcpncpy_chk",
    "__wcscat_chk",  "__wcscpy_chk",   "__wcsncat_chk",  "__wcsncpy_chk",
    "__wmemcpy_chk", "__wmemmove_chk", "__wmempcpy_chk", "__wmemset_chk",
    "abort",         "bcmp",           "bindtextdomain", "dcgettext",
    "dcngettext",    "dgettext",       "dlerror",        "dngettext",
    "exit",          "feof",           "ferror",         "flockfile",
    "free",          "freeaddrinfo",   "freelocale",     "funlockfile",
    "gai_strerror",  "getegid",        "geteuid",        "getgid",
    "getpid",        "getppid",        "gettext",        "getuid",
    "memcmp",        "memcpy",         "memmove",        "mempcpy",
    "memset",        "ngettext",       "perror",         "pthread_getspecific",
    "pthread_self",  "rand",           "random",         "regfree",
    "rewind",        "setbuf",         "srand",          "srandom",
    "stpcpy",        "stpncpy",        "strcasecmp",     "strcat",
    "strcmp",        "strcoll",        "strcpy",         "strerror",
    "strncasecmp",   "strncat",        "strncmp",        "strncpy",
    "strsignal",     "strverscmp",     "strxfrm",        "sync",
    "syslog",        "textdomain",     "umask",          "wcpcpy",
    "wcpncpy",       "wcscasecmp",     "wcscat",         "wcscmp",
    "wcscoll",       "wcscpy",         "wcsncasecmp",    "wcsncat",
    "wcsncmp",       "wcsncpy",        "wcsxfrm",        "wmemcmp",
    "wmemcpy",       "wmemmove",       "wmempcpy",       "wmemset",
};

const char *const *callsite_never_failing(size_t *ret_count)
{
    *ret_count = sizeof never_failing / sizeof *never_failing;
    return never_failing;
}

static int compare_names(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

// Functions that return nothing by the C++ ABI: destructors, operator delete, exception handling.
static bool is_silent_cxx(const char *name)
{
    size_t size = strlen(name);
    return strncmp(name, "__cxa_", 6) == 0 || strncmp(name, "_Zdl", 4) == 0 ||
           strncmp(name, "_Zda", 4) == 0 ||
           (strncmp(name, "_Z", 2) == 0 && size > 4 && name[size - 4] == 'D' &&
            name[size - 3] >= '0' && name[size - 3] <= '2' && strcmp(name + size - 2, "Ev") == 0);
}

// Functions that describe an error, like gnutls_strerror() and sqlite3_errmsg(). What they return
// is for a message, and NULL at worst says that there is none.
static bool describes_error(const char *name)
{
    static const char *const ends[] = {"strerror",  "error_message", "error_string",
                                       "error_str", "err_string",    "errmsg"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (size >= end && strcasecmp(name + size - end, ends[i]) == 0)
            return true;
    }
    return false;
}

// Functions of GLib that end the program when there is no memory. NULL is what they make of NULL,
// of no bytes or of wrong arguments. Sorted.
static const char *const ending_without_memory[] = {
    "g_array_append_vals",
    "g_array_insert_vals",
    "g_array_new",
    "g_array_prepend_vals",
    "g_array_set_size",
    "g_array_sized_new",
    "g_build_filename",
    "g_build_filenamev",
    "g_build_path",
    "g_byte_array_append",
    "g_byte_array_new",
    "g_bytes_new",
    "g_hash_table_new",
    "g_hash_table_new_full",
    "g_malloc",
    "g_malloc0",
    "g_malloc0_n",
    "g_malloc_n",
    "g_memdup",
    "g_memdup2",
    "g_object_new",
    "g_object_ref",
    "g_ptr_array_new",
    "g_ptr_array_new_with_free_func",
    "g_queue_new",
    "g_realloc",
    "g_realloc_n",
    "g_slice_alloc",
    "g_slice_alloc0",
    "g_strconcat",
    "g_strdup",
    "g_strdup_printf",
    "g_strdup_vprintf",
    "g_strdupv",
    "g_string_append",
    "g_string_append_c",
    "g_string_append_len",
    "g_string_insert_c",
    "g_string_insert_len",
    "g_string_new",
    "g_string_new_len",
    "g_string_sized_new",
    "g_strjoin",
    "g_strjoinv",
    "g_strndup",
    "g_strsplit",
    "g_variant_new",
    "g_variant_ref_sink",
};

const char *const *callsite_ending_without_memory(size_t *ret_count)
{
    *ret_count = sizeof ending_without_memory / sizeof *ending_without_memory;
    return ending_without_memory;
}

// Functions that end the program when there is no memory, by a common convention: gcry_xmalloc().
static bool is_guard(const char *name)
{
    static const char *const ends[] = {"xmalloc",  "xcalloc", "xzalloc",   "xrealloc",  "xstrdup",
                                       "xstrndup", "xmemdup", "xasprintf", "xvasprintf"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (size >= end && strcmp(name + size - end, ends[i]) == 0 &&
            (size == end || name[size - end - 1] == '_'))
            return true;
    }
    return false;
}

// Functions of GLib that return a list: NULL is the empty one. Those that look for something fail.
static bool returns_list(const char *name)
{
    return (strncmp(name, "g_list_", 7) == 0 || strncmp(name, "g_slist_", 8) == 0) &&
           strstr(name, "_find") == NULL && strstr(name, "_nth") == NULL;
}

static bool never_fails(const char *name)
{
    return is_silent_cxx(name) || describes_error(name) || is_guard(name) || returns_list(name) ||
           bsearch(name, never_failing, sizeof never_failing / sizeof *never_failing,
                   sizeof *never_failing, compare_names) != NULL ||
           bsearch(name, ending_without_memory,
                   sizeof ending_without_memory / sizeof *ending_without_memory,
                   sizeof *ending_without_memory, compare_names) != NULL;
}

static enum site_success success_of(const char *name, const struct profile_function *function)
{
    enum site_success known;
    if (site_success_known(name, &known))
        return known;
    if (function->pointer)
        return SITE_SUCCESS_POINTER;
    if (function->address != 0)
        return SITE_SUCCESS_ZERO;
    return SITE_SUCCESS_ANY;
}

// One positive constant beside zero, which no failed call and no report leads to, says that
// something is there: PNG_INFO_bKGD. Error codes come in numbers, or from somewhere.
static bool is_flag(const struct profile *profile, const struct profile_function *function,
                    const struct failure *failure)
{
    if (failure->result.kind != VALUE_CONSTANT || failure->result.number <= 1 || !failure->alone ||
        failure->sets_error)
        return false;
    for (size_t i = 0; i < function->count; i++) {
        const struct failure *other = &profile->failures.items[function->first + i];
        if (other->result.kind != VALUE_CONSTANT ||
            (other->result.number != failure->result.number && other->result.number != 0))
            return false;
    }
    return true;
}

// A pointer or number that is stored at the place an argument points to itself, not within an
// object.
static void note_output(const struct failure *failure, struct callsite_code *facts)
{
    for (unsigned i = 0; i < failure->effect_count; i++) {
        const struct effect *effect = &failure->effects[i];
        if (effect->kind != EFFECT_ARGUMENT || effect->where != 0 || effect->source != 0 ||
            effect->argument >= 6 || (effect->width != 4 && effect->width != 8))
            continue;
        facts->out_argument = (uint8_t)(effect->argument + 1);
        facts->out_width = effect->width;
        facts->out_value = effect->value;
    }
}

// Whether the code of a function leaves no doubt that this is a failure: errno or the sign says so,
// or a function failed before. Other results may be answers, or leftovers of a function without a
// result. NULL may be what the function makes of NULL: whether it gets any is not known.
static bool is_certain(const struct profile_function *function, const struct failure *failure)
{
    if (function->pure) // a negative number may be an answer, too: lua_type()
        return false;
    switch (failure->reason) {
    case FAILURE_SETS_ERRNO:
    case FAILURE_ERROR_NUMBERS:
    case FAILURE_NEGATIVE:
        return failure->confidence >= LEAST_CERTAIN;
    case FAILURE_CODE:
        return failure->confidence >= LEAST_CERTAIN && !failure->alone;
    default:
        return false;
    }
}

static struct error *learn_import(const struct callsite_modules *modules,
                                  const struct profile *profile, size_t number,
                                  struct callsite_import *ret_import)
{
    const struct profile_function *function = &profile->functions.items[number];
    const char *name = profile_text(profile, function->name);
    if (never_fails(name))
        return NULL;
    ret_import->guessed = true;
    for (size_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        struct callsite_code facts = {.forced = failure->forced && !function->cut,
                                      .answer = function->pure || failure->gives ||
                                                is_flag(profile, function, failure)};
        note_output(failure, &facts);
        if (failure->confidence < FAILURE_LIKELY || needs_wrong_pointer(&profile->sets, failure))
            continue;
        TRY(add_failure(modules, &profile->sets, ret_import, failure, facts));
        if (is_certain(function, failure))
            ret_import->guessed = false;
    }
    ret_import->success = success_of(name, function);
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

// A path is taken as it is. A name is a command, a library of the loader, or a file in the current
// directory. The last is safe because nothing is run.
static struct error *find_file(const char *name, char **ret_path)
{
    bool library = strstr(name, ".so") != NULL;
    if (strchr(name, '/') != NULL || (library && is_file(name))) {
        *ret_path = strdup(name);
        return *ret_path != NULL ? NULL : error_no_memory();
    }
    if (*name == '\0')
        return error_new("the name of a program is empty");
    if (library)
        return elf_find_library(name, ret_path);
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    struct error *error = elf_find_program(name, &program);
    if (error != NULL && is_file(name)) {
        error_free(error);
        *ret_path = strdup(name);
        return *ret_path != NULL ? NULL : error_no_memory();
    }
    TRY(error);
    *ret_path = program.path;
    program.path = NULL;
    return NULL;
}

static struct error *check_image(const char *path, const struct flow_image *image)
{
    const struct elf_facts *facts = elf_object_facts(image->object);
    if (image->imports.count != 0)
        return NULL;
    if (facts->static_program && facts->soname == NULL)
        return error_new("%s is statically linked: it calls no functions of libraries", path);
    return error_new("%s imports no functions: there are no calls of libraries", path);
}

struct error *callsite_modules_add(struct callsite_modules *modules, const char *name)
{
    _cleanup_free_ char *path = NULL;
    size_t number = 0;
    const struct flow_image *image = NULL;
    TRY(find_file(name, &path));
    TRY(profile_set_add(modules->set, path, &number));
    TRY(profile_module_image(modules->set, number, &image));
    TRY(check_image(path, image));
    struct callsite_module *module = ARRAY_ADD(&modules->items);
    if (module == NULL)
        return error_no_memory();
    module->image = image;
    module->path = TAKE(path);
    TRY(callsite_imports_learn(modules->set, number, image, modules->cache, &module->learnt));
    for (size_t i = 0; i < image->imports.count; i++) {
        struct callsite_import *import = ARRAY_ADD(&module->imports);
        if (import == NULL)
            return error_no_memory();
        TRY(learn_import(modules, &module->learnt.profile, i, import));
    }
    return NULL;
}

void callsite_modules_keep(const struct callsite_modules *modules)
{
    for (size_t i = 0; i < modules->items.count; i++)
        callsite_imports_keep(&modules->items.items[i].learnt, modules->cache);
}

static bool import_failures(void *data, uint32_t import, struct site_failures *ret_failures)
{
    const struct callsite_module *module = data;
    const struct callsite_import *known = &module->imports.items[import];
    *ret_failures = (struct site_failures){.codes = known->codes.items,
                                           .count = known->codes.count,
                                           .success = known->success,
                                           .guessed = known->guessed};
    return known->codes.count != 0;
}

struct work {
    struct callsite_modules *modules;
    atomic_size_t next;
};

static void *find_sites(void *data)
{
    struct work *work = data;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->modules->items.count;) {
        struct callsite_module *module = &work->modules->items.items[i];
        const struct sites_context context = {
            .failures = import_failures, .data = module, .failing = work->modules->failing};
        module->error = sites_find(module->image, &context, &module->sites);
    }
    return NULL;
}

struct error *callsite_modules_find(struct callsite_modules *modules, unsigned threads)
{
    struct work work = {.modules = modules};
    pthread_t others[MOST_THREADS];
    size_t started = 0;
    struct error *error = NULL;
    while (error == NULL && started + 1 < threads && started + 1 < modules->items.count &&
           started < MOST_THREADS) {
        error = thread_start(&others[started], find_sites, &work);
        started += error == NULL;
    }
    // If no thread can be started, this one does all the work.
    error_free(error);
    find_sites(&work);
    for (size_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    for (size_t i = 0; i < modules->items.count; i++) {
        struct callsite_module *module = &modules->items.items[i];
        if (module->error != NULL) {
            error = module->error;
            module->error = NULL;
            return error_prefix(error, "%s", module->path);
        }
    }
    return profile_set_check(modules->set);
}

int callsite_modules_error(void *data, size_t module, uint32_t import, int64_t result)
{
    const struct callsite_modules *modules = data;
    const struct callsite_import *known = &modules->items.items[module].imports.items[import];
    for (size_t i = 0; i < known->codes.count; i++)
        if (known->codes.items[i] == result)
            return known->errors.items[i];
    return 0;
}
