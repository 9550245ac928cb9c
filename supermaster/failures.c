/* SPDX-License-Identifier: MIT */
/* Iterations at which the kernel fails, or that take workers down. The services try again; here the failures are noted
 * for people, given-up iterations leave the ledger, and masters are told what others have found out. */
#include "supermaster/core.h"

#include "common/metrics/report.h"
#include "common/service/poison.h"
#include "common/util/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void supermaster_failures_fini(struct supermaster *supermaster)
{
    for (unsigned i = 0; i < supermaster->failures.count; i++)
        free(supermaster->failures.list[i].text);
    free(supermaster->failures.list);
    given_up_fini(&supermaster->given_up);
}

static void failures_fail_without_memory(struct supermaster *supermaster)
{
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what failed");
}

/* Merges a failure with the last one of the list. A kernel that fails everywhere would else fill it with one entry for
 * each chunk and worker. */
static bool failures_merge(struct failures *failures, const struct report_failure *failure)
{
    struct report_failure *last = failures->count > FAILURES_TOLD ? &failures->list[failures->count - 1] : NULL;
    if (last == NULL || last->rank != failure->rank || last->given_up != failure->given_up ||
        last->range.first + last->range.count != failure->range.first || strcmp(last->text, failure->text) != 0)
        return false;
    last->range.count += failure->range.count;
    return true;
}

static int failures_append(struct failures *failures, const struct report_failure *failure)
{
    struct report_failure *list = grow(failures->list, failures->count, &failures->capacity, sizeof *list);
    if (list == NULL)
        return -1;
    failures->list = list;
    failures->list[failures->count] = *failure;
    failures->list[failures->count].text = strdup(failure->text);
    return failures->list[failures->count].text == NULL ? -1 : (failures->count++, 0);
}

static void failures_note(struct supermaster *supermaster, const struct report_failure *failure)
{
    struct failures *failures = &supermaster->failures;
    failures->seen++;
    if (failures_merge(failures, failure) || failures->count == FAILURES_KEPT)
        return;
    if (failures_append(failures, failure) < 0)
        failures_fail_without_memory(supermaster);
}

/* Moves what is neither done nor given up to the failed iterations of the ledger, and lists it with its reason. -1 when
 * memory is out. */
static int failures_take_off_ledger(struct supermaster *supermaster, uint64_t first, uint64_t count, unsigned rank,
                                    const char *reason)
{
    struct ranges moved;
    ranges_init(&moved);
    int result = ledger_give_up(&supermaster->ledger, first, count, &moved);
    for (size_t i = 0; result == 0 && i < ranges_length(&moved); i++)
        result = given_up_add(&supermaster->given_up, ranges_at(&moved, i), rank, reason);
    ranges_fini(&moved);
    return result;
}

static void failures_give_up(struct supermaster *supermaster, uint64_t first, uint64_t count, unsigned rank,
                             const char *reason)
{
    service_clear(&supermaster->service, first, count);
    if (failures_take_off_ledger(supermaster, first, count, rank, reason) < 0)
        failures_fail_without_memory(supermaster);
    if (supermaster->sched_ready)
        supermaster_claim_what_was_free(supermaster);
    if (supermaster->waits.open != NULL)
        supermaster_note_given_up(supermaster, first, count);
}

void supermaster_describe_range(const struct range *range, bool are_tasks, char text[RANGE_TEXT_MAX])
{
    const char *name = are_tasks ? "task" : "iteration";
    unsigned long long first = range->first + are_tasks;
    if (range->count == 1)
        snprintf(text, RANGE_TEXT_MAX, "%s %llu", name, first);
    else
        snprintf(text, RANGE_TEXT_MAX, "%ss %llu to %llu", name, first, (unsigned long long)(first + range->count - 1));
}

/* Ends a loop that needs what has died so often, as its worker would if it knew of all tries. */
static void fail_for_deaths(struct supermaster *supermaster, const struct iterations_failed *failure, const char *why)
{
    struct error text;
    char what[RANGE_TEXT_MAX];
    supermaster_describe_range(&(struct range){failure->first, failure->count}, false, what);
    error_set(&text, "%s %.250s: given up, and what depends on %s cannot be computed", what, why,
              failure->count == 1 ? "it" : "them");
    supermaster_fail(supermaster, failure->id, text.text);
}

/* Where iterations depend on one another a worker tries again by itself, and knows of no tries of other workers and
 * runs. The supermaster does, and ends the run; it leaves the last iterations, which nobody needs, to the worker. */
void supermaster_note_failure(struct supermaster *supermaster, const struct iterations_failed *failure)
{
    char text[TEXT_MAX + 1];
    snprintf(text, sizeof text, "%.*s", (int)failure->length, failure->text);
    if (failure->died)
        supermaster_note_deaths(supermaster,
                                &(struct poison){.first = failure->first, .count = failure->count, .failures = 1},
                                failure->final);
    supermaster_note_failed_try(supermaster, failure);
    const bool ends_loop = failure->died && !failure->final &&
                           supermaster_is_needed(supermaster, failure->first, failure->count) &&
                           supermaster_has_died_too_often(supermaster, failure->first, failure->count);
    failures_note(supermaster, &(struct report_failure){
                                   {failure->first, failure->count}, failure->id, failure->final || ends_loop, text});
    if (failure->final)
        failures_give_up(supermaster, failure->first, failure->count, failure->id, text);
    else if (ends_loop)
        fail_for_deaths(supermaster, failure, text);
}

int supermaster_give_up_hopeless(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    struct failures *failures = &supermaster->failures;
    char text[] = "what ran it in earlier runs has died (--resume failed tries it again)";
    if (failures_take_off_ledger(supermaster, first, count, REPORT_NO_RANK, text) < 0)
        return -1;
    failures->seen++;
    return failures->count == FAILURES_KEPT
               ? 0
               : failures_append(failures, &(struct report_failure){{first, count}, REPORT_NO_RANK, true, text});
}

int supermaster_note_not_run(struct supermaster *supermaster, uint64_t iteration, uint64_t because, bool was_not_run)
{
    struct failures *failures = &supermaster->failures;
    char what[RANGE_TEXT_MAX], text[RANGE_TEXT_MAX + 60];
    supermaster_describe_range(&(struct range){because, 1}, supermaster->config.are_tasks, what);
    snprintf(text, sizeof text, "was not run: %s, which it waits for, %s", what,
             was_not_run ? "was not run" : "failed");
    if (given_up_add(&supermaster->given_up, &(struct range){iteration, 1}, REPORT_NO_RANK, text) < 0)
        return -1;
    failures->seen++;
    if (failures->count == FAILURES_KEPT)
        return 0;
    return failures_append(
        failures,
        &(struct report_failure){
            .range = {iteration, 1}, .rank = REPORT_NO_RANK, .given_up = true, .not_run = true, .text = text});
}

void supermaster_receive_iterations_failed(struct supermaster *supermaster, const struct iterations_failed *failure)
{
    service_poison(
        &supermaster->service,
        &(struct poison){.first = failure->first, .count = failure->count, .failures = 1, .failed_by = failure->id});
    supermaster_note_failure(supermaster, failure);
}

void supermaster_receive_iterations_given_up(struct supermaster *supermaster, const unsigned char *records,
                                             unsigned count)
{
    char text[60];
    snprintf(text, sizeof text, "%d workers were lost while they computed it", DEATHS_MAX);
    for (unsigned i = 0; i < count; i++) {
        struct range range;
        assign_record_get(records, i, &range.first, &range.count);
        failures_note(supermaster, &(struct report_failure){range, REPORT_NO_RANK, true, text});
        supermaster_note_deaths(supermaster, &(struct poison){.first = range.first, .count = range.count}, true);
        failures_give_up(supermaster, range.first, range.count, REPORT_NO_RANK, text);
    }
}

void supermaster_warn(struct supermaster *supermaster, unsigned m, const struct range *range)
{
    struct range rest = *range;
    struct message message = {.type = MESSAGE_POISON};
    struct poison *poison = &message.poison;
    for (uint64_t count; rest.count > 0; rest.first += count, rest.count -= count) {
        count = poison_look(&supermaster->service.poisons, &rest, poison);
        poison->first = rest.first;
        poison->count = count;
        if (poison->deaths + poison->failures > 0)
            actions_send(supermaster->actions, supermaster->config.topology->master_rank[m], &message);
    }
}

bool supermaster_tell_given_up(const struct supermaster *supermaster, uint64_t place, struct failure_figures *figures)
{
    return given_up_tell(&supermaster->given_up, supermaster->config.topology, place, figures);
}

/* --- for people --- */

unsigned supermaster_failure_count(const struct supermaster *supermaster)
{
    unsigned count = supermaster->failures.count;
    return count <= FAILURES_TOLD ? count : FAILURES_TOLD + 1;
}

void supermaster_failure_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct topology *topology = supermaster->config.topology;
    const struct report_failure *failure = &supermaster->failures.list[i];
    unsigned w = topology_worker(topology, failure->rank);
    char where[60] = "", what[RANGE_TEXT_MAX];
    bool are_tasks = supermaster->config.are_tasks;
    supermaster_describe_range(&failure->range, are_tasks, what);
    if (i == FAILURES_TOLD) {
        error_set(text, "more %s failed, which are not told of one by one", are_tasks ? "tasks" : "iterations");
        return;
    }
    if (failure->not_run) {
        error_set(text, "%s %s", what, failure->text);
        return;
    }
    if (w < topology->workers)
        snprintf(where, sizeof where, "worker rank %u on node %u: ", failure->rank, topology->worker_node[w]);
    error_set(text, "%s%s failed: %s; %s", where, what, failure->text, failure->given_up ? "given up" : "tried again");
}
