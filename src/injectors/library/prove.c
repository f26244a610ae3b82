// SPDX-License-Identifier: GPL-3.0-or-later
// Proves that a guessed failure of a library function can happen. The first shot lets the function
// do its work in that very call, and records which functions of the system it calls meanwhile. Then
// each of these is made to fail, alone and together with all that fail for the same reason later. A
// failure for want of memory has one reason only: if all that asks for memory inside was tried,
// other ways to fail do not matter.
#include "base/cleanup.h"
#include "injector/realism.h"
#include "injector/spec.h"
#include "injectors/library/internal.h"
#include "injectors/library/proven.h"
#include "store/spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MOST 8 // that are made to fail
#define ERRORS_MOST 2 // of each

// The last ones before the end look at all calls of the place. Another one may ask for memory,
// where this one had some left from before. And what one of them returns without any fault may be
// no failure; that proves nothing about this call.
enum stage {
    STAGE_KNOWN,
    STAGE_RECORD,
    STAGE_ALONE,
    STAGE_LASTING,
    STAGE_OTHERS,
    STAGE_ORDINARY,
    STAGE_DONE
};

// A call inside, and an error that it may fail with.
struct cause {
    char *function, *module, *symbol;
    uint64_t offset, first, order;
    struct realism_error error;
    char action[REALISM_ACTION];
    unsigned round; // 0: the first error of the place, 1: the second
};

struct prover {
    struct proven_key key;
    char *observing; // the rule that lets the function do its work
    bool ordinary;   // without any fault, it returns the guess in another call from there
    char *guess;     // what it is said to return, as in rules
    bool gives;      // and leaves something in its outputs
    enum store_basis basis;
    enum stage stage;
    ARRAY(struct cause) causes;
    size_t at;
    bool of_memory;      // it is said to fail for want of memory
    bool asked;          // and its calls for memory at other times were tried
    bool incomplete;     // not all that could cause it was tried
    bool other_ways;     // it may fail in ways that are not tried, but not for want of memory
    struct buffer later; // rules for what is called after the cause, and fails for the same reason
    struct proven known; // what was found out before
    bool recalled;       // and is the cause
    unsigned tries;
    bool caused, lasting;
    char error[24], returned[24];
};

static void prover_end(void *self)
{
    struct prover *prover = self;
    if (prover == NULL)
        return;
    for (size_t i = 0; i < prover->causes.count; i++) {
        free(prover->causes.items[i].function);
        free(prover->causes.items[i].module);
        free(prover->causes.items[i].symbol);
    }
    ARRAY_DEINIT(&prover->causes);
    buffer_deinit(&prover->later);
    proven_deinit(&prover->known);
    proven_key_deinit(&prover->key);
    free(prover->observing);
    free(prover->guess);
    free(prover);
}

static void prover_endp(struct prover **prover)
{
    prover_end(*prover);
}

#define AND_ONCE " and once"

static bool is_once(const char *condition)
{
    size_t size = strlen(condition), end = strlen(AND_ONCE);
    return size > end && strcmp(condition + size - end, AND_ONCE) == 0;
}

// Whether a list of errors, or an action, has this one.
static bool has_word(const char *list, const char *word)
{
    const char *at = strstr(list, word);
    return at != NULL && (at[strlen(word)] == '\0' || strchr(" ,", at[strlen(word)]) != NULL);
}

static struct error *make_observing(struct prover *prover, const struct scenario_rule_view *rule)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const struct scenario_rule_view observe = {
        .library = rule->library, .function = rule->function, .action = "observe", .condition = ""};
    TRY(spec_put_head(&text, &observe, rule->function));
    TRY(buffer_printf(&text, "%s%s", rule->condition[0] != '\0' ? rule->condition : "count >= 1",
                      is_once(rule->condition) ? "" : AND_ONCE));
    prover->observing = TAKE(text.data);
    prover->guess = strndup(rule->action, strcspn(rule->action, "/, "));
    prover->gives = strstr(rule->action, "out(") != NULL;
    prover->of_memory = has_word(rule->action, "ENOMEM");
    return prover->guess != NULL ? NULL : error_no_memory();
}

// Two faults are not proven: which of them is in doubt is not known.
static struct error *prover_begin(const struct proof_subject *subject, void **ret_prover)
{
    _cleanup_(prover_endp) struct prover *prover = calloc(1, sizeof *prover);
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    size_t size;
    if (prover == NULL)
        return error_no_memory();
    prover->basis = subject->basis;
    prover->stage = STAGE_RECORD;
    *ret_prover = NULL;
    if (spec_part(subject->spec, 1, &size) != NULL) {
        prover->stage = STAGE_DONE;
        prover->incomplete = true;
        *ret_prover = TAKE(prover);
        return NULL;
    }
    TRY(scenario_new(&scenario));
    TRY(scenario_add_spec(scenario, subject->spec));
    const struct scenario_rule_view rule = scenario_rule(scenario, 0);
    TRY(make_observing(prover, &rule));
    TRY(proven_key_make(subject->library, rule.function, prover->guess, &prover->key));
    TRY(proven_recall(&prover->key, &prover->known));
    if (prover->known.call != NULL)
        prover->stage = STAGE_KNOWN;
    *ret_prover = TAKE(prover);
    return NULL;
}

// ---- what to shoot ----

// "FUNCTION=ACTION when inside and match == N": the need comes last, since `match` counts what
// everything before it holds for.
static struct error *put_inside(struct buffer *text, const char *function, const char *action,
                                bool onwards, uint64_t number, const struct realism_error *error)
{
    const struct scenario_rule_view rule = {
        .function = function, .action = action, .condition = ""};
    char condition[REALISM_CONDITION_SIZE];
    TRY(buffer_printf(text, SPEC_THEN));
    TRY(spec_put_head(text, &rule, function));
    TRY(buffer_printf(text, "inside and match %s %llu",
                      onwards ? ">=" : "==", (unsigned long long)number));
    if (realism_put_condition(realism_find(function), error, choice_descriptor(function),
                              condition))
        TRY(buffer_printf(text, " and %s", condition));
    return NULL;
}

static struct error *put_known(struct buffer *text, const struct proven *known)
{
    const struct scenario_rule_view rule = {
        .function = known->call, .action = known->action, .condition = ""};
    TRY(buffer_printf(text, SPEC_THEN));
    TRY(spec_put_head(text, &rule, known->call));
    TRY(buffer_printf(text, "inside and "));
    TRY(spec_put_site(text, known->module, known->offset));
    return buffer_printf(text, known->lasting ? "" : " and once");
}

static bool is_impossible(const struct prover *prover)
{
    bool all = prover->basis == STORE_BASIS_CALLS && !prover->other_ways;
    return !prover->incomplete && (all || (prover->of_memory && prover->asked));
}

// All that asks for memory inside any call of the place.
static struct error *put_others(struct buffer *text)
{
    static const char *const functions[] = {"malloc", "calloc", "realloc"};
    const struct realism_error none = {0};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        TRY(put_inside(text, functions[i], "NULL/ENOMEM", true, 1, &none));
    return NULL;
}

static struct error *prover_next(void *self, char **ret_spec)
{
    struct prover *prover = self;
    *ret_spec = NULL;
    if (prover->stage == STAGE_ALONE && prover->at == prover->causes.count)
        prover->stage = prover->of_memory && !prover->incomplete && !is_impossible(prover)
                            ? STAGE_OTHERS
                            : STAGE_ORDINARY;
    if (prover->stage == STAGE_ORDINARY && is_impossible(prover))
        prover->stage = STAGE_DONE;
    if (prover->stage == STAGE_DONE)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    size_t size = strlen(prover->observing);
    if (prover->stage == STAGE_ORDINARY || prover->stage == STAGE_OTHERS)
        size -= strlen(AND_ONCE);
    TRY(buffer_append(&text, prover->observing, size));
    if (prover->stage == STAGE_OTHERS)
        TRY(put_others(&text));
    if (prover->stage == STAGE_KNOWN)
        TRY(put_known(&text, &prover->known));
    if (prover->stage == STAGE_ALONE || prover->stage == STAGE_LASTING) {
        const struct cause *cause = &prover->causes.items[prover->at];
        TRY(put_inside(&text, cause->function, cause->action, prover->stage == STAGE_LASTING,
                       cause->first, &cause->error));
    }
    if (prover->stage == STAGE_LASTING)
        TRY(buffer_append(&text, prover->later.data, prover->later.size));
    *ret_spec = TAKE(text.data);
    return NULL;
}

// ---- what came of it ----

// A call by the C library belongs to the function of it that was called.
static bool is_own(const struct inner_call *call)
{
    return call->module[0] != '\0' && !realism_is_system(call->module);
}

static bool can_fail(const struct inner_call *call)
{
    return is_own(call) && realism_happens(call->function);
}

static int by_order(const void *left, const void *right)
{
    const struct cause *a = left, *b = right;
    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static struct error *add_cause(struct prover *prover, const struct inner_call *call,
                               const struct realism *row, const struct realism_error *error,
                               unsigned round)
{
    struct cause *cause = ARRAY_ADD(&prover->causes);
    if (cause == NULL)
        return error_no_memory();
    *cause = (struct cause){.offset = call->offset,
                            .first = call->first,
                            .order = call->order,
                            .error = *error,
                            .round = round};
    realism_action(row, error, cause->action);
    cause->function = strdup(call->function);
    cause->module = strdup(call->module);
    cause->symbol = call->symbol != NULL ? strdup(call->symbol) : NULL;
    return cause->function != NULL && cause->module != NULL ? NULL : error_no_memory();
}

// A transfer of a part is no failure, a signal comes from outside of the call, and rare errors mean
// misuse: they are not tried. Who knows what they would cause, so nothing is impossible then. What
// lasts is tried anyway.
static struct error *add_causes(struct prover *prover, const struct inner_call *call)
{
    const struct realism *row = realism_find(call->function);
    const char *list = row->errors;
    struct realism_error error;
    unsigned round = 0;
    while (realism_next(&list, &error)) {
        bool tried = !error.is_short && error.need != REALISM_HANDLER && round < ERRORS_MOST;
        prover->other_ways |= !tried && !error.lasting;
        if (tried && !error.lasting)
            TRY(add_cause(prover, call, row, &error, round++));
    }
    return NULL;
}

// Whether the function may fail in a way that is not tried: with a rare error, or by what it reads.
static bool has_other_ways(const struct inner_call *call)
{
    const struct realism *row = realism_find(call->function);
    return row != NULL && (row->rare[0] != '\0' || !realism_forces(call->function));
}

static bool may_lack_memory(const struct inner_call *call)
{
    const struct realism *row = realism_find(call->function);
    return row != NULL && has_word(row->rare, "ENOMEM");
}

static struct error *take_calls(struct prover *prover, const struct observed_call *observed)
{
    prover->incomplete |= observed->lost || !observed->returned;
    unsigned places = 0;
    for (size_t i = 0; i < observed->calls.count; i++) {
        const struct inner_call *call = &observed->calls.items[i];
        prover->other_ways |= is_own(call) && has_other_ways(call);
        prover->incomplete |= is_own(call) && may_lack_memory(call);
        if (can_fail(call) && places++ < PLACES_MOST)
            TRY(add_causes(prover, call));
    }
    prover->incomplete |= places > PLACES_MOST;
    if (prover->causes.count != 0)
        qsort(prover->causes.items, prover->causes.count, sizeof *prover->causes.items, by_order);
    return NULL;
}

static bool same_error(const struct realism_error *a, const struct realism_error *b)
{
    return a->size == b->size && memcmp(a->name, b->name, a->size) == 0;
}

// Adds a rule for a call that may fail for the same reason as the cause.
static struct error *add_later(struct prover *prover, const struct cause *cause,
                               const struct inner_call *call)
{
    const struct realism *row = realism_find(call->function);
    const char *list = row->errors;
    struct realism_error error;
    while (realism_next(&list, &error)) {
        if (error.is_short || error.lasting || !same_error(&error, &cause->error))
            continue;
        char action[REALISM_ACTION];
        realism_action(row, &error, action);
        return put_inside(&prover->later, call->function, action, true, call->first, &error);
    }
    return NULL;
}

// Whether anything is called after the cause that could fail, too. If not, there is nothing more to
// learn from it.
static struct error *find_later(struct prover *prover, const struct observed_call *observed,
                                bool *ret_any)
{
    const struct cause *cause = &prover->causes.items[prover->at];
    uint64_t calls = 0, order = UINT64_MAX;
    prover->later.size = 0;
    for (size_t i = 0; i < observed->calls.count; i++) {
        const struct inner_call *call = &observed->calls.items[i];
        if (strcmp(call->function, cause->function) != 0)
            continue;
        calls += call->count;
        if (call->first == cause->first)
            order = call->order;
    }
    for (size_t i = 0; i < observed->calls.count; i++) {
        const struct inner_call *call = &observed->calls.items[i];
        if (call->order > order && can_fail(call) && strcmp(call->function, cause->function) != 0)
            TRY(add_later(prover, cause, call));
    }
    *ret_any = calls > cause->first || prover->later.size != 0;
    return NULL;
}

// An int has garbage above it. So has a guess that is one.
static bool is_guessed(const struct prover *prover, int64_t result)
{
    char *end;
    if (strcmp(prover->guess, "NULL") == 0)
        return result == 0;
    int64_t guess = strtoll(prover->guess, &end, 0);
    if (*end != '\0' || end == prover->guess)
        return false;
    bool narrow = guess >= INT_MIN && guess <= INT_MAX;
    return result == guess || (narrow && (int32_t)result == (int32_t)guess);
}

static void note_result(struct prover *prover, const struct observed_call *observed)
{
    if (!observed->returned)
        return;
    if (is_guessed(prover, observed->result))
        snprintf(prover->returned, sizeof prover->returned, "%s", prover->guess);
    else
        snprintf(prover->returned, sizeof prover->returned, "%lld",
                 observed->result >> 32 == 0 ? (long long)(int32_t)observed->result
                                             : (long long)observed->result);
}

// The cause is found: keeps what is known about the library from now on.
static struct error *found(struct prover *prover, const struct observed_call *observed)
{
    const struct cause *cause = &prover->causes.items[prover->at];
    prover->caused = true;
    prover->lasting = prover->stage == STAGE_LASTING;
    prover->stage = STAGE_DONE;
    note_result(prover, observed);
    snprintf(prover->error, sizeof prover->error, "%.*s", (int)cause->error.size,
             cause->error.name);
    if (!observed->returned || !is_guessed(prover, observed->result) || observed->changed != 0)
        return NULL;
    const struct proven proven = {.call = cause->function,
                                  .action = cause->action,
                                  .error = prover->error,
                                  .module = cause->module,
                                  .symbol = cause->symbol != NULL ? cause->symbol : "",
                                  .offset = cause->offset,
                                  .lasting = prover->lasting};
    error_free(proven_keep(&prover->key, &proven));
    return NULL;
}

// Whether the call ended as the guess says.
static bool is_same_failure(const struct prover *prover, const struct observed_call *observed)
{
    return observed->returned && is_guessed(prover, observed->result) &&
           (prover->gives || observed->changed == 0);
}

// The first call inside that failed is the cause, and some call of the place returned the guess.
static struct error *find_other(struct prover *prover, const struct observation *observation)
{
    for (size_t i = 0; i < observation->injections.count; i++) {
        const struct injection *injection = &observation->injections.items[i];
        if (injection->observed || injection->function == NULL)
            continue;
        const struct inner_call call = {.function = injection->function,
                                        .module = injection->module != NULL ? injection->module
                                                                            : (char[]){""},
                                        .symbol = injection->symbol,
                                        .offset = injection->offset};
        const struct realism_error error = {.name = "ENOMEM", .size = strlen("ENOMEM")};
        prover->at = prover->causes.count;
        prover->stage = STAGE_LASTING;
        TRY(add_cause(prover, &call, realism_find("malloc"), &error, 0));
        TRY(found(prover, &observation->observed));
        snprintf(prover->returned, sizeof prover->returned, "%s", prover->guess);
        return NULL;
    }
    return NULL;
}

// A call of the place that asks for memory and gets none. If the program ends itself then, or goes
// on, the guess was wrong. If the call fails as guessed, and something else comes of it, who knows
// what comes of it here.
static struct error *take_others(struct prover *prover, const struct observation *observation,
                                 bool shows)
{
    const struct observed_call *observed = &observation->observed;
    bool failed = false;
    for (size_t i = 0; i < observed->results.count; i++)
        failed |= is_guessed(prover, observed->results.items[i]);
    prover->asked = true;
    prover->stage = STAGE_ORDINARY;
    prover->incomplete |= shows || failed;
    return shows && failed ? find_other(prover, observation) : NULL;
}

static void take_known(struct prover *prover, const struct observation *observation, bool shows)
{
    prover->stage = shows ? STAGE_DONE : STAGE_RECORD;
    prover->caused = prover->recalled = shows;
    if (shows)
        note_result(prover, &observation->observed);
}

static struct error *prover_take(void *self, const struct observation *observation, bool shows)
{
    struct prover *prover = self;
    const struct observed_call *observed = &observation->observed;
    bool happened = observation->activations != 0 && observation->damage == WIRE_DAMAGE_NONE;
    prover->tries++;
    if (prover->stage == STAGE_KNOWN) {
        take_known(prover, observation, happened && shows);
        return NULL;
    }
    if (prover->stage == STAGE_OTHERS)
        return take_others(prover, observation, happened && shows);
    if (prover->stage == STAGE_ORDINARY) {
        for (size_t i = 0; happened && i < observed->results.count; i++)
            prover->ordinary |= is_guessed(prover, observed->results.items[i]);
        prover->stage = STAGE_DONE;
        return NULL;
    }
    if (prover->stage == STAGE_RECORD) {
        // What is seen without a fault has nothing to do with it.
        prover->stage = happened && observed->began && !shows ? STAGE_ALONE : STAGE_DONE;
        prover->incomplete |= prover->stage == STAGE_DONE;
        return prover->stage == STAGE_ALONE ? take_calls(prover, observed) : NULL;
    }
    if (happened && shows)
        return found(prover, observed);
    // An error that needs another kind of descriptor or other arguments is not hit, and cannot
    // happen. If the call fails as guessed, it is possible, though the program does something else:
    // it may have been told more about it.
    const struct cause *tried = &prover->causes.items[prover->at];
    char condition[REALISM_CONDITION_SIZE];
    prover->incomplete |=
        happened ? is_same_failure(prover, observed)
                 : !realism_put_condition(realism_find(tried->function), &tried->error,
                                          choice_descriptor(tried->function), condition);
    bool later = false;
    if (prover->stage == STAGE_ALONE && happened)
        TRY(find_later(prover, observed, &later));
    if (later) {
        prover->stage = STAGE_LASTING;
        return NULL;
    }
    prover->stage = STAGE_ALONE;
    prover->at++;
    return NULL;
}

static const char *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static struct proof_result prover_result(const void *self)
{
    const struct prover *prover = self;
    struct proof_result result = {.tries = prover->tries};
    if (!prover->caused) {
        result.proof = is_impossible(prover) ? STORE_PROOF_IMPOSSIBLE : STORE_PROOF_UNPROVEN;
        result.returned = prover->ordinary ? prover->guess : NULL;
        return result;
    }
    const struct cause *cause = prover->recalled ? NULL : &prover->causes.items[prover->at];
    result.proof = STORE_PROOF_CAUSED;
    result.call = cause != NULL ? cause->function : prover->known.call;
    result.error = text_or_null(cause != NULL ? prover->error : prover->known.error);
    result.caller = text_or_null(cause != NULL ? cause->symbol : prover->known.symbol);
    result.returned = text_or_null(prover->returned);
    result.lasting = cause != NULL ? prover->lasting : prover->known.lasting;
    return result;
}

const struct injector_proof library_proof = {
    .begin = prover_begin,
    .end = prover_end,
    .next = prover_next,
    .take = prover_take,
    .result = prover_result,
};
