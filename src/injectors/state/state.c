// SPDX-License-Identifier: GPL-3.0-or-later
// The injectors `register` and `memory`: a bit of a register, or of memory, is wrong when an
// instruction reads it. A spec is the text of a fault (state/fault.h). Reference runs note which
// blocks of the program are executed, by a breakpoint in each.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "elf/object.h"
#include "injector/inputs.h"
#include "store/store.h"
#include "trial/program.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `memory` has all but the first four.
#define REGISTER_ONLY 4
static const struct injector_parameter register_parameters[] = {
    {"points", "N",
     "draw so many flips, uniformly over all instructions that are executed and all bits of "
     "general registers and flags, and try each class of equal ones once",
     false, false},
    {"each", "class|point", "what of the points is tried: each class once, or every point (class)",
     false, false},
    {"steps", "N",
     "the longest run that is traced for that, in instructions of the program (10000000)", false,
     false},
    {"moments", "N",
     "draw so many flips, uniformly over the processor time and all bits of general registers and "
     "flags, and try each",
     false, false},
    {"faults", "control|data",
     "what is faulty: what conditional branches depend on, or all that instructions read (control)",
     false, false},
    {"paths", "executed|all",
     "at which instructions: those that every reference run executed, or all (executed)", false,
     false},
    {"pair", "executing|random",
     "with which input of several a fault is tried: one that executes the instruction, or any, "
     "drawn "
     "anew for each trial (executing)",
     false, false},
    {"change", "flip|zero|set", "what becomes of it: one bit is flipped, all are 0, or 1 (flip)",
     false, false},
    {"blocks", "FILE",
     "write a line for each basic block to this file: its address, and how many of the reference "
     "runs executed it",
     false, false},
    {"program", "FILE", "the program to inject into, if the command starts another one", false,
     false},
    {0},
};

static void close_upsets(void *data)
{
    struct upsets *self = data;
    if (self == NULL)
        return;
    state_file_close(&self->file);
    state_fault_deinit(&self->fault);
    state_fault_deinit(&self->place.named);
    upsets_forget_branches(self);
    runtime_session_free(self->session);
    cover_file_close(&self->stops);
    analysed_release(self->analysed);
    scenario_free(self->no_rules);
    journal_reader_free(self->reader);
    words_deinit(&self->command);
    free(self->chosen);
    free(self->hits);
    free(self->runs);
    for (uint32_t i = 0; self->traces != NULL && i < self->inputs; i++)
        free(self->traces[i].items);
    free(self->traces);
    free(self->used_ns);
    free(self->tracer);
    free(self);
}

// A relative path starts at the workload's directory.
static struct error *find_program(const struct upsets *self, const char *name, char **ret_path)
{
    _cleanup_(elf_program_deinit) struct elf_program found = {0};
    _cleanup_free_ char *full = NULL;
    if (strchr(name, '/') != NULL && name[0] != '/' &&
        asprintf(&full, "%s/%s", self->setup.directory, name) < 0)
        return error_no_memory();
    TRY(elf_find_program(full != NULL ? full : name, &found));
    *ret_path = TAKE(found.path);
    return NULL;
}

#define STEPS       10000000u
#define STEPS_MOST  1000000000u // four bytes each
#define POINTS_MOST 10000000u

static struct error *take_number(const struct parameters *given, const char *name, uint64_t most,
                                 uint64_t *number)
{
    const char *text = parameters_value(given, name, NULL);
    char *end;
    if (text == NULL)
        return NULL;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value == 0 || value > most)
        return error_new("'%s' is a number from 1 to %llu, not '%s'", name,
                         (unsigned long long)most, text);
    *number = value;
    return NULL;
}

static struct error *fill(struct upsets *self)
{
    const struct parameters *given = self->setup.parameters;
    const char *change = parameters_value(given, "change", "flip");
    _cleanup_free_ char *path = NULL;
    self->data = strcmp(parameters_value(given, "faults", "control"), "data") == 0;
    self->all_paths = strcmp(parameters_value(given, "paths", "executed"), "all") == 0;
    self->change = strcmp(change, "zero") == 0  ? STATE_ZERO
                   : strcmp(change, "set") == 0 ? STATE_SET
                                                : STATE_FLIP;
    TRY(find_program(self, parameters_value(given, "program", self->setup.command->items[0]),
                     &path));
    TRY(analysed_get(path, &self->analysed));
    self->program = *self->analysed;
    TRY(upsets_choose_functions(self));
    self->random_inputs = strcmp(parameters_value(given, "pair", "executing"), "random") == 0;
    self->inputs = inputs_count(self->setup.inputs);
    if (self->inputs == 0)
        self->inputs = 1;
    self->hits = calloc((self->program.image->blocks.count + 1) * self->inputs, sizeof *self->hits);
    self->runs = calloc(self->inputs, sizeof *self->runs);
    self->traces = calloc(self->inputs, sizeof *self->traces);
    self->used_ns = calloc(self->inputs, sizeof *self->used_ns);
    if (self->hits == NULL || self->runs == NULL || self->traces == NULL || self->used_ns == NULL)
        return error_no_memory();
    self->each_point = strcmp(parameters_value(given, "each", "class"), "point") == 0;
    self->steps = STEPS;
    TRY(take_number(given, "points", POINTS_MOST, &self->drawn.points));
    TRY(take_number(given, "steps", STEPS_MOST, &self->steps));
    TRY(take_number(given, "moments", POINTS_MOST, &self->moments));
    if ((self->drawn.points != 0 || self->moments != 0) && self->change != STATE_FLIP)
        return error_new("'points' and 'moments' are flips of bits");
    if (self->drawn.points != 0 && self->moments != 0)
        return error_new("give 'points' or 'moments'");
    TRY(program_tracer(&self->tracer));
    TRY(scenario_new(&self->no_rules));
    return journal_reader_new(&self->reader);
}

static struct error *open_upsets(const struct injector_setup *setup, bool memory, void **ret_self)
{
    struct upsets *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    self->memory = memory;
    return injector_opened(fill(self), self, close_upsets, ret_self);
}

static struct error *open_register(const struct injector_setup *setup, void **ret_self)
{
    return open_upsets(setup, false, ret_self);
}

static struct error *open_memory(const struct injector_setup *setup, void **ret_self)
{
    return open_upsets(setup, true, ret_self);
}

// ---- Before a run ----

static struct error *parse_spec(struct upsets *self, const char *spec)
{
    const struct source source = source_whole("fault", spec, strlen(spec));
    TRY(state_fault_parse(&source, &self->fault));
    if (self->fault.library != NULL)
        return source_error(&source, self->fault.place_at,
                            "campaigns inject into the program only; 'ordeal run' also into "
                            "libraries");
    TRY(state_program_resolve(&self->program, &self->fault, &source, &self->plan));
    // The runtime counts by signals, so only the first execution is for it.
    self->inside =
        upsets_works_inside(self) && self->plan.count == 1 && upsets_fits_inside(self, &self->plan);
    const struct upset_branch alone = {.plan = self->plan};
    return self->inside ? upsets_make_stops(self, &alone, 1)
                        : state_file_write(&self->file, &self->program, &self->plan, NULL, 0);
}

static int by_address(const void *a, const void *b)
{
    const struct wire_state_block *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static uint64_t start_of(const struct upsets *self, uint32_t block)
{
    const struct flow_image *image = self->program.image;
    return flow_address(image, &image->insns.items[image->blocks.items[block].first]);
}

static struct error *note_blocks(struct upsets *self)
{
    const struct flow_image *image = self->program.image;
    size_t count = 0;
    _cleanup_free_ struct wire_state_block *blocks =
        calloc(image->blocks.count + 1, sizeof *blocks);
    if (blocks == NULL)
        return error_no_memory();
    for (uint32_t i = 0; i < image->blocks.count; i++)
        if (image->blocks.items[i].count != 0 && upsets_uses_block(self, i))
            blocks[count++].address = start_of(self, i);
    qsort(blocks, count, sizeof *blocks, by_address);
    return state_file_write(&self->file, &self->program, NULL, blocks, count);
}

// Control may come into the program's code at the start of any function but those that only the
// program itself calls.
static struct error *note_steps(struct upsets *self)
{
    const struct flow_image *image = self->program.image;
    _cleanup_free_ struct wire_state_block *entries =
        calloc(image->functions.count + 1, sizeof *entries);
    size_t count = 0;
    if (entries == NULL)
        return error_no_memory();
    for (uint32_t i = 0; i < image->functions.count; i++)
        if (image->functions.items[i].block_count != 0 &&
            upsets_uses_block(self, image->functions.items[i].first_block))
            entries[count++].address = image->functions.items[i].start;
    qsort(entries, count, sizeof *entries, by_address);
    return state_file_write_trace(&self->file, &self->program, entries, count, self->steps);
}

struct error *upsets_prepare_runtime(struct upsets *self, struct shot *shot, bool needed)
{
    _cleanup_error_ struct error *error =
        self->session == NULL ? runtime_session_new(&self->session) : NULL;
    const struct runtime_session_options options = {
        .scenario = self->no_rules,
        .seed = shot->seed,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
        .coverage = self->inside || self->is_reference ? &self->stops : NULL,
        .forks = needed,
    };
    if (error == NULL)
        error = runtime_session_prepare(self->session, &options);
    self->has_runtime = error == NULL;
    if (!self->has_runtime)
        return needed ? TAKE(error) : NULL;
    shot->use_environment = runtime_session_environment(self->session);
    return NULL;
}

// A run with a fault whose moment never comes.
static struct error *note_time(struct upsets *self)
{
    const struct wire_state_fault never = {.moment_ns = UINT64_MAX};
    return state_file_write(&self->file, &self->program, &never, NULL, 0);
}

static struct error *put_tracer(struct upsets *self, const struct shot *shot)
{
    words_clear(&self->command);
    TRY(words_add(&self->command, self->tracer, strlen(self->tracer)));
    TRY(words_add(&self->command, self->file.path, strlen(self->file.path)));
    for (char *const *word = shot->command; *word != NULL; word++)
        TRY(words_add(&self->command, *word, strlen(*word)));
    return NULL;
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct upsets *self = data;
    self->is_reference = shot->spec == NULL;
    self->input = shot->input < self->inputs ? shot->input : 0;
    self->inside = self->forking = false;
    state_fault_deinit(&self->fault);
    bool measured = self->surveying && self->moments != 0;
    TRY(!self->is_reference ? parse_spec(self, shot->spec)
        : measured          ? note_time(self)
        : self->surveying   ? note_steps(self)
                            : note_blocks(self));
    if (self->is_reference)
        TRY(upsets_make_stops(self, NULL, 0));
    TRY(upsets_prepare_runtime(self, shot, false));
    size_t shown = 0;
    if (!self->inside) {
        TRY(put_tracer(self, shot));
        self->visible[shown++] = self->file.path;
        shot->use_command = self->command.items;
    }
    if (self->has_runtime) {
        self->visible[shown++] = runtime_session_file(self->session);
        self->visible[shown++] = runtime_session_coverage(self->session);
    }
    self->visible[shown] = NULL;
    shot->visible = self->visible;
    shot->fixed_addresses = true; // what a wrong address leads to depends on them
    return NULL;
}

static struct error *moved(void *data, const char *from, const char *to)
{
    struct upsets *self = data;
    if (self->has_runtime && (self->inside || self->is_reference))
        cover_file_map_path(&self->stops, from, to);
    return self->has_runtime ? runtime_session_map_path(self->session, from, to) : NULL;
}

static struct error *begin(void *data, const char *root)
{
    struct upsets *self = data;
    self->start_ns = clock_ns();
    return self->has_runtime ? runtime_session_begin(self->session, root) : NULL;
}

// ---- After a run ----

static struct error *no_program(const struct upsets *self)
{
    return error_new("the workload does not run %s; name the program that it runs: "
                     "--set injector.%s.program=FILE",
                     self->program.path, self->memory ? "memory" : "register");
}

static struct error *take_blocks(struct upsets *self)
{
    const struct wire_state *file = self->file.map;
    const struct flow_image *image = self->program.image;
    if (file->result.programs == 0)
        return no_program(self);
    self->runs[self->input]++;
    for (uint32_t i = 0; i < image->blocks.count; i++) {
        if (image->blocks.items[i].count == 0 || !upsets_uses_block(self, i))
            continue;
        struct wire_state_block key = {.address = start_of(self, i)};
        const struct wire_state_block *found =
            bsearch(&key, file->blocks, file->block_count, sizeof key, by_address);
        self->hits[self->input * (size_t)image->blocks.count + i] +=
            found != NULL && found->reached != 0;
    }
    return NULL;
}

static struct error *take_steps(struct upsets *self)
{
    const struct wire_state_result *result = &self->file.map->result;
    struct upset_trace *trace = &self->traces[self->input];
    if (result->trace == WIRE_STATE_TRACE_FULL)
        return error_new("input %u executes more than %" PRIu64
                         " instructions of the program; give "
                         "smaller inputs, or more 'steps'",
                         self->input + 1, self->steps);
    if (result->trace == WIRE_STATE_TRACE_TASKS)
        return error_new("several threads or processes execute the program: 'points' need one");
    uint64_t count = result->traced < self->steps ? result->traced : self->steps;
    free(trace->items);
    trace->count = 0;
    trace->items = malloc((count + 1) * sizeof *trace->items);
    if (trace->items == NULL)
        return error_no_memory();
    trace->count = count;
    memcpy(trace->items, state_file_trace(&self->file), count * sizeof *trace->items);
    state_file_close(&self->file); // it is large
    return NULL;
}

static struct error *take_time(struct upsets *self)
{
    const struct wire_state_result *result = &self->file.map->result;
    self->used_ns[self->input] = result->used_ns;
    return result->programs != 0 ? NULL : no_program(self);
}

static bool survey(void *data)
{
    struct upsets *self = data;
    self->surveying = self->drawn.points != 0 || self->moments != 0;
    return self->surveying;
}

static struct error *save(void *data, struct store *store, int64_t campaign)
{
    const struct upsets *self = data;
    const struct upset_draw *drawn = &self->drawn;
    struct store_upsets row = {.campaign = campaign,
                               .points = drawn->points,
                               .instructions = drawn->instructions,
                               .bits = drawn->bits,
                               .unread = drawn->unread,
                               .classes = drawn->classes,
                               .all_classes = drawn->all_classes,
                               .read = drawn->read};
    struct store_upsets before;
    TRY(store_find_upsets(store, campaign, &before));
    return drawn->instructions != 0 && before.points == 0 ? store_add_upsets(store, &row) : NULL;
}

static void join(void *data, const void *leader)
{
    struct upsets *self = data;
    const struct upsets *first = leader;
    self->seen = first->seen;
    self->missed = first->missed;
}

static const struct injector_debugger debugger = {.words = upsets_debug};
static const struct injector_learning learning = {.save = save, .join = join};

// "rax flip in FUNCTION": faults of different bits and instructions are alike.
static struct error *name_fault(const struct state_fault *fault, const char *function,
                                char **ret_name)
{
    static const char *const words[] = {"flip", "zero", "set", "value"};
    int size = asprintf(ret_name, "%s %s in %s", fault->memory ? "memory" : fault->reg->name,
                        words[fault->change], function);
    return size >= 0 ? NULL : error_no_memory();
}

static struct error *add_injection(const struct upsets *self, const struct state_fault *fault,
                                   const struct wire_state_fault *plan,
                                   const struct wire_state_result *result,
                                   struct observation *observation)
{
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    uint64_t stop = plan->moment_ns != 0 ? result->place : plan->stop;
    const char *module = self->program.path;
    if (plan->moment_ns != 0 && result->place_in_program == 0)
        module = result->module; // "": none
    struct journal_reader_place place = {0};
    if (module[0] != '\0')
        place = journal_reader_find(self->reader, module, stop);
    observation->activations = result->injected;
    injection->occurrence = plan->count;
    injection->process = injection->thread = 1;
    injection->seconds = clock_seconds(result->injected_ns - self->start_ns);
    injection->offset = stop;
    injection->line = place.line;
    injection->module = strdup(module[0] != '\0' ? module : self->program.path);
    injection->program = strdup(file_base_name(self->program.path));
    injection->symbol = place.symbol != NULL ? strdup(place.symbol) : NULL;
    injection->file = place.file != NULL ? strdup(place.file) : NULL;
    TRY(name_fault(fault, place.symbol != NULL ? place.symbol : "code without a name",
                   &injection->fault));
    return injection->module != NULL && injection->program != NULL &&
                   (place.symbol == NULL || injection->symbol != NULL) &&
                   (place.file == NULL || injection->file != NULL)
               ? NULL
               : error_no_memory();
}

// What the tracer has seen of a crash, if the runtime has not.
static struct error *add_crash(const struct upsets *self, const struct wire_state_result *result,
                               struct observation *observation)
{
    const char *name = sigabbrev_np((int)result->crash_signal);
    _cleanup_(buffer_deinit) struct buffer text = {0}, stack = {0}, key = {0};
    if (result->crash_signal == 0 || observation->crash != NULL || name == NULL)
        return NULL;
    bool has_address = result->crash_signal == SIGSEGV || result->crash_signal == SIGBUS;
    TRY(buffer_printf(&text, "SIG%s", name));
    if (has_address)
        TRY(buffer_printf(&text, " at 0x%llx", (unsigned long long)result->crash_address));
    TRY(buffer_printf(&text, " in %s", result->program));
    observation->crash_signal = (int)result->crash_signal;
    observation->crash = TAKE(text.data);
    if (!result->crash_in_program)
        return NULL;
    TRY(journal_reader_put_frame(self->reader, self->program.path, result->crash_place, false,
                                 false, &stack));
    TRY(journal_reader_put_frame(self->reader, self->program.path, result->crash_place, false, true,
                                 &key));
    observation->crash_stack = TAKE(stack.data);
    observation->crash_key = TAKE(key.data);
    return NULL;
}

struct error *upsets_observe(const struct upsets *self, const struct state_fault *fault,
                             const struct wire_state_fault *plan,
                             const struct wire_state_result *result,
                             struct observation *observation)
{
    // Of a class that a library's call ends, nothing says whether the library reads the register.
    // Of a fault at a moment nothing does.
    bool drawn = (self->drawn.points != 0 || plan->moment_ns != 0) &&
                 result->activation == WIRE_STATE_UNKNOWN;
    if (result->injected != 0 && (result->activation == WIRE_STATE_ACTIVATED || drawn))
        TRY(add_injection(self, fault, plan, result, observation));
    if (result->crashed_ns > result->activated_ns && result->activated_ns != 0)
        observation->crash_delay = clock_seconds(result->crashed_ns - result->activated_ns);
    return NULL;
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct upsets *self = data;
    struct wire_view view;
    struct wire_state_result result;
    TRY(self->has_runtime ? journal_reader_end_session(self->reader, self->session, root,
                                                       self->no_rules, &view, observation)
                          : journal_reader_begin(self->reader, root));
    if (self->is_reference && observation->damage == WIRE_DAMAGE_NONE)
        upsets_note_runtime(self, self->has_runtime ? &view : NULL);
    if (self->is_reference)
        return !self->surveying     ? take_blocks(self)
               : self->moments != 0 ? take_time(self)
                                    : take_steps(self);
    if (self->forking)
        return NULL;
    if (self->inside) {
        if (observation->damage != WIRE_DAMAGE_NONE)
            return NULL;
        if (upsets_read_stop(self, &view, 0, &result))
            return upsets_observe(self, &self->fault, &self->plan, &result, observation);
        observation->damage = WIRE_DAMAGE_MARK;
        return NULL;
    }
    result = state_file_result(&self->file, &self->program);
    TRY(upsets_observe(self, &self->fault, &self->plan, &result, observation));
    return add_crash(self, &result, observation);
}

bool upsets_runs_program(const struct upsets *self, const char *name)
{
    _cleanup_free_ char *path = NULL;
    _cleanup_error_ struct error *error = find_program(self, name, &path);
    return error == NULL && strcmp(path, self->program.path) == 0;
}

const struct injector injector_register = {
    .name = "register",
    .summary = "flips bits of registers that an executed instruction reads",
    .parameters = register_parameters,
    .open = open_register,
    .close = close_upsets,
    .input = upsets_input_of,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .survey = survey,
    .candidates = upsets_candidates,
    .remarks = upsets_remarks,
    .describe = upsets_describe,
    .reproduce = upsets_reproduce,
    .reproduces_inside = true,
    .forks = &upsets_forks,
    .debugger = &debugger,
    .learning = &learning,
};

const struct injector injector_memory = {
    .name = "memory",
    .summary = "flips bits of memory that an executed instruction reads",
    .parameters = register_parameters + REGISTER_ONLY,
    .open = open_memory,
    .close = close_upsets,
    .input = upsets_input_of,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .survey = survey,
    .candidates = upsets_candidates,
    .remarks = upsets_remarks,
    .describe = upsets_describe,
    .reproduce = upsets_reproduce,
    .reproduces_inside = true,
    .forks = &upsets_forks,
    .debugger = &debugger,
    .learning = &learning,
};
