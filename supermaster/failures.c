/* SPDX-License-Identifier: MIT */
/* Iterations at which the kernel fails or workers die, in this run and in earlier runs; and verification of results. */
#include "supermaster/core.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/metrics/report.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int supermaster_give_up_hopeless(struct supermaster *supermaster, uint64_t first, uint64_t count,
                                        bool shares_blame);

/* Deaths that iterations may have caused: deaths of workers that computed them, and of child processes that ran them.
 * The services count deaths within a run. The supermaster adds up the deaths of all runs of a job. It writes each death
 * to the journal at once, so that a resumed run continues to count. If iterations have too many deaths, a resumed run
 * gives them up before it begins. In a loop with dependencies only the last iterations can be given up, because no
 * others depend on them. If other iterations of such a loop have too many deaths, the run ends before it begins, and
 * names these iterations.
 *
 * If the supermaster dies, a task may have killed it. `hdss run` then records a death of each task that was running
 * (deploy/cli/restarts.h). These *suspects* share the blame. Suspects that were running at two such deaths are released
 * one at a time (dependencies.c), so that a third death shows which of them is the cause.
 *
 * Workers that run the kernel in their own process may die at a probed iteration. All workers probe the same
 * iterations. So if one worker survives, the probe was not the cause. If no worker survives, each probed iteration gets
 * one more death, however many workers have died. A resumed run does not probe, and finds the guilty iteration in the
 * loop. In loops with dependencies such deaths are not counted. */

static bool is_inside_loop(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct range *loop = &supermaster->ledger.loop;
    return count > 0 && first >= loop->first && count <= loop->count && first - loop->first <= loop->count - count;
}

static void find_probed(const struct supermaster *supermaster, struct ranges *probed)
{
    const struct supermaster_config *config = &supermaster->config;
    const uint64_t step = config->step_iterations, count = step > 0 && step < config->count ? step : config->count;
    struct probe probe;
    ranges_init(probed);
    probe_init(&probe, config->first, count, 1);
    for (uint64_t k = 0; k < PROBE_SINGLES && k < count; k++)
        if (ranges_add(probed, probe_iteration(&probe, k), 1, NULL) < 0)
            return;
}

static bool probes_count(const struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->probe && config->probe_kills && config->distance == 0 && !supermaster->speeds.are_unprobed;
}

static bool probe_is_deadly(const struct supermaster *supermaster)
{
    struct ranges probed;
    bool is_deadly = false;
    if (!probes_count(supermaster) || supermaster->deaths.count == 0)
        return false;
    find_probed(supermaster, &probed);
    for (size_t i = 0; i < supermaster->deaths.count && !is_deadly; i++)
        is_deadly = ranges_overlap(&probed, supermaster->deaths.items[i].first, supermaster->deaths.items[i].count);
    ranges_fini(&probed);
    return is_deadly;
}

bool supermaster_note_probe_deaths(struct supermaster *supermaster)
{
    struct ranges probed;
    const bool has_begun = supermaster->speeds.has_one || supermaster->cut.chunks > 0;
    if (!probes_count(supermaster) || has_begun || !supermaster->config.journal || supermaster->losses.workers_left > 0)
        return false;
    find_probed(supermaster, &probed);
    for (size_t i = 0; i < ranges_length(&probed); i++) {
        const struct range *range = ranges_at(&probed, i);
        supermaster_note_deaths(supermaster,
                                &(struct poison){.first = range->first, .count = range->count, .deaths = 1}, false);
    }
    ranges_fini(&probed);
    return true;
}

static bool has_too_many_deaths(const struct supermaster *supermaster, const struct poison *deaths)
{
    struct poison known = *deaths;
    if (deaths->shares_blame && !supermaster_holds_suspects(supermaster))
        known.deaths = 0; /* the iteration never ran alone, so another iteration may have caused its deaths */
    return deaths_are_too_many(&known, supermaster->config.spec->retries, supermaster->config.distance > 0);
}

static bool supermaster_is_needed(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->distance > 0 && first - config->first + count < config->count;
}

static uint64_t too_few_before(const struct supermaster *supermaster, uint64_t first)
{
    const struct ranges *free = &supermaster->ledger.free;
    for (size_t i = 0; i < ranges_length(free); i++) {
        const struct range *range = ranges_at(free, i);
        if (range->first < first && first - range->first <= range->count)
            return first - range->first < supermaster->config.distance ? first - range->first : 0;
    }
    return 0;
}

/* Handles deaths of earlier runs at some iterations. The iterations are given up if the deaths are too many and no
 * other iterations depend on them. Free iterations before them are given up, too, if they are too few for a chunk.
 * Otherwise only tells the service of the deaths. */
static int take_over(struct supermaster *supermaster, const struct poison *deaths)
{
    struct poison known = *deaths;
    if (has_too_many_deaths(supermaster, deaths) && !supermaster_is_needed(supermaster, deaths->first, deaths->count)) {
        const uint64_t more = too_few_before(supermaster, deaths->first);
        return supermaster_give_up_hopeless(supermaster, deaths->first - more, more + deaths->count,
                                            deaths->shares_blame);
    }
    /* `failed_by` is the rank that last failed at the iterations, and this rank does not retry them if others can. The
     * rank of the supermaster is not the rank of a worker. So any worker may retry. */
    known.failed_by = known.failures > 0 ? supermaster->config.topology->supermaster : 0;
    service_warn(&supermaster->service, &known);
    return supermaster->service.out_of_memory ? -1 : 0;
}

int supermaster_deaths_init(struct supermaster *supermaster)
{
    const struct poison_set *earlier = supermaster->config.deaths;
    if (earlier == NULL)
        return 0;
    for (size_t i = 0; i < earlier->count; i++)
        if (poison_add(&supermaster->deaths, &earlier->items[i]) < 0 || take_over(supermaster, &earlier->items[i]) < 0)
            return -1;
    supermaster->speeds.are_unprobed = probe_is_deadly(supermaster);
    return 0;
}

void supermaster_end_if_hopeless(struct supermaster *supermaster)
{
    const struct poison_set *known = &supermaster->deaths;
    struct error text;
    size_t i = 0;
    while (i < known->count && (!has_too_many_deaths(supermaster, &known->items[i]) ||
                                !supermaster_is_needed(supermaster, known->items[i].first, known->items[i].count)))
        i++;
    if (i == known->count)
        return;
    const struct range range = {known->items[i].first, known->items[i].count};
    const char *object = range.count == 1 ? "it" : "them";
    char what[RANGE_TEXT_MAX];
    supermaster_describe_range(&range, false, what);
    error_set(&text,
              "what ran %s in earlier runs has died, and what depends on %s cannot be computed (--resume failed tries "
              "%s again)",
              what, object, object);
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, text.text);
}

void supermaster_deaths_fini(struct supermaster *supermaster)
{
    poison_fini(&supermaster->deaths);
}

static void record_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    struct action action = {.type = ACTION_DEATHS};
    for (struct range rest = {first, count}; rest.count > 0;) {
        uint64_t alike = poison_look(&supermaster->deaths, &rest, &action.deaths);
        action.deaths.first = rest.first;
        action.deaths.count = alike;
        if (action.deaths.deaths + action.deaths.failures > 0)
            actions_add(supermaster->step.actions, &action);
        rest.first += alike;
        rest.count -= alike;
    }
}

void supermaster_note_deaths(struct supermaster *supermaster, const struct poison *more, bool are_last)
{
    struct poison least = {.first = more->first, .count = more->count};
    if (!supermaster->config.journal || !is_inside_loop(supermaster, more->first, more->count))
        return;
    if (are_last && more->failures > 0)
        least.failures = supermaster->config.spec->retries + 1;
    else if (are_last)
        least.deaths = DEATHS_MAX;
    if ((more->deaths + more->failures > 0 && poison_add(&supermaster->deaths, more) < 0) ||
        (are_last && poison_raise(&supermaster->deaths, &least) < 0))
        supermaster_fail_for_memory(supermaster, "what was lost");
    else
        record_deaths(supermaster, more->first, more->count);
}

static bool supermaster_has_died_too_often(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct range range = {first, count};
    struct poison known;
    poison_look(&supermaster->deaths, &range, &known);
    return has_too_many_deaths(supermaster, &known);
}

void supermaster_forget_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    if (poison_forget(&supermaster->deaths, first, count) < 0)
        supermaster_fail_for_memory(supermaster, "what was lost");
}

/* Failures. The services retry failed iterations. The supermaster lists failures for the report and removes given-up
 * iterations from the work of the ledger. It warns masters of iterations that have failed at other masters. */

void supermaster_failures_fini(struct supermaster *supermaster)
{
    for (unsigned i = 0; i < supermaster->failures.count; i++)
        free(supermaster->failures.list[i].text);
    free(supermaster->failures.list);
    given_up_fini(&supermaster->given_up);
}

/* Merges the failure with the last failure of the list, unless the last failure is printed by itself. So the list stays
 * short even if the kernel always fails. */
static bool merge_failure(struct failures *failures, const struct report_failure *failure)
{
    struct report_failure *last = failures->count > FAILURES_TOLD ? &failures->list[failures->count - 1] : NULL;
    if (last == NULL || last->rank != failure->rank || last->given_up != failure->given_up ||
        last->range.first + last->range.count != failure->range.first || strcmp(last->text, failure->text) != 0)
        return false;
    last->range.count += failure->range.count;
    return true;
}

static int append_failure(struct failures *failures, const struct report_failure *failure)
{
    struct report_failure *list = grow(failures->list, failures->count, &failures->capacity, sizeof *list);
    if (list == NULL)
        return -1;
    failures->list = list;
    failures->list[failures->count] = *failure;
    failures->list[failures->count].text = strdup(failure->text);
    return failures->list[failures->count].text == NULL ? -1 : (failures->count++, 0);
}

static void list_failure(struct supermaster *supermaster, const struct report_failure *failure)
{
    struct failures *failures = &supermaster->failures;
    failures->seen++;
    if (merge_failure(failures, failure) || failures->count == FAILURES_KEPT)
        return;
    if (append_failure(failures, failure) < 0)
        supermaster_fail_for_memory(supermaster, "what failed");
}

static int take_off_ledger(struct supermaster *supermaster, uint64_t first, uint64_t count, unsigned rank,
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

static void give_up(struct supermaster *supermaster, uint64_t first, uint64_t count, unsigned rank, const char *reason)
{
    service_clear(&supermaster->service, first, count);
    if (take_off_ledger(supermaster, first, count, rank, reason) < 0)
        supermaster_fail_for_memory(supermaster, "what failed");
    if (supermaster->technique.is_ready)
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

static void fail_for_deaths(struct supermaster *supermaster, const struct iterations_failed *failure, const char *why)
{
    struct error text;
    char what[RANGE_TEXT_MAX];
    supermaster_describe_range(&(struct range){failure->first, failure->count}, false, what);
    error_set(&text, "%s %.250s: given up, and what depends on %s cannot be computed", what, why,
              failure->count == 1 ? "it" : "them");
    supermaster_fail(supermaster, failure->id, text.text);
}

/* In a loop with dependencies a worker retries a failed iteration by itself. The worker does not know how often the
 * iteration has killed child processes of other workers, or in other runs. The supermaster knows this, and ends the run
 * after too many deaths. The last iterations of the loop are an exception: no others depend on them, so the worker
 * decides alone. */
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
    list_failure(supermaster, &(struct report_failure){
                                  {failure->first, failure->count}, failure->id, failure->final || ends_loop, text});
    if (failure->final)
        give_up(supermaster, failure->first, failure->count, failure->id, text);
    else if (ends_loop)
        fail_for_deaths(supermaster, failure, text);
}

static int supermaster_give_up_hopeless(struct supermaster *supermaster, uint64_t first, uint64_t count,
                                        bool shares_blame)
{
    struct failures *failures = &supermaster->failures;
    char text[120] = "what ran it in earlier runs has died (--resume failed tries it again)";
    if (shares_blame)
        snprintf(text, sizeof text, "%d supermasters were lost while it ran (--resume failed tries it again)",
                 DEATHS_MAX);
    if (take_off_ledger(supermaster, first, count, REPORT_NO_RANK, text) < 0)
        return -1;
    failures->seen++;
    return failures->count == FAILURES_KEPT
               ? 0
               : append_failure(failures, &(struct report_failure){{first, count}, REPORT_NO_RANK, true, text});
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
    return append_failure(
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
        list_failure(supermaster, &(struct report_failure){range, REPORT_NO_RANK, true, text});
        supermaster_note_deaths(supermaster, &(struct poison){.first = range.first, .count = range.count}, true);
        give_up(supermaster, range.first, range.count, REPORT_NO_RANK, text);
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
            actions_send(supermaster->step.actions, supermaster->config.topology->master_rank[m], &message);
    }
}

bool supermaster_tell_given_up(const struct supermaster *supermaster, uint64_t place, struct failure_figures *figures)
{
    return given_up_tell(&supermaster->given_up, supermaster->config.topology, place, figures);
}

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

void supermaster_verified_fini(struct supermaster *supermaster)
{
    free(supermaster->verifications.list);
}

static void note_mismatch(struct supermaster *supermaster, const struct verified *verified)
{
    struct verifications *verifications = &supermaster->verifications;
    verifications->seen++;
    verifications->differing += verified->count;
    verifications->undecided += verified->wrong < 0;
    if (verifications->count == MISMATCHES_KEPT)
        return;
    struct report_mismatch *list =
        grow(verifications->list, verifications->count, &verifications->capacity, sizeof *list);
    if (list == NULL) {
        supermaster_fail_for_memory(supermaster, "what differs");
        return;
    }
    verifications->list = list;
    list[verifications->count++] = (struct report_mismatch){
        .range = {verified->first, verified->count},
        .workers = verified->computations,
        .rank = {verified->rank[0], verified->rank[1], verified->rank[2]},
        .wrong = verified->wrong,
    };
}

static void note_verified(struct supermaster *supermaster, const struct verified *verified)
{
    supermaster->verifications.alike += verified->alike;
    supermaster->verifications.unverified += verified->unverified;
    if (verified->computations > 0)
        note_mismatch(supermaster, verified);
}

void supermaster_receive_verified(struct supermaster *supermaster, const struct verified *verified)
{
    for (unsigned i = 0; i < verified->computations; i++)
        if (!supermaster_speaks_for(supermaster, verified->rank[i])) {
            supermaster_refuse(supermaster, "told of results of a rank that it does not serve");
            return;
        }
    note_verified(supermaster, verified);
}

void supermaster_take_own_verified(struct supermaster *supermaster)
{
    struct verified verified;
    while (service_take_verified(&supermaster->service, &verified))
        note_verified(supermaster, &verified);
}

void supermaster_take_own_mismatches(struct supermaster *supermaster)
{
    const char *reason;
    unsigned wrong = service_take_wrong(&supermaster->service, &reason);
    supermaster_take_own_verified(supermaster);
    if (wrong < supermaster->service.worker_count && !ledger_is_complete(&supermaster->ledger))
        actions_drop(supermaster->step.actions, supermaster->service.ranks[wrong], reason);
}

bool supermaster_is_in_doubt(const struct supermaster *supermaster)
{
    const struct verifications *verifications = &supermaster->verifications;
    bool drops = supermaster->config.spec->verify_action == RUN_VERIFY_DROP_WORKER;
    return drops ? verifications->undecided > 0 : verifications->seen > 0;
}

unsigned supermaster_mismatch_count(const struct supermaster *supermaster)
{
    unsigned count = supermaster->verifications.count;
    return count <= MISMATCHES_TOLD ? count : MISMATCHES_TOLD + 1;
}

void supermaster_mismatch_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct report_mismatch *mismatch = &supermaster->verifications.list[i];
    const uint64_t first = mismatch->range.first, last = first + mismatch->range.count - 1;
    char what[60], verdict[80] = "no other worker could decide";
    if (i == MISMATCHES_TOLD) {
        error_set(text, "more results differ, which are not told of one by one");
        return;
    }
    if (first == last)
        snprintf(what, sizeof what, "iteration %" PRIu64, first);
    else
        snprintf(what, sizeof what, "iterations %" PRIu64 " to %" PRIu64, first, last);
    if (mismatch->workers == 3 && mismatch->wrong >= 0)
        snprintf(verdict, sizeof verdict, "rank %u agrees with rank %u: rank %u is wrong", mismatch->rank[2],
                 mismatch->rank[1 - mismatch->wrong], mismatch->rank[mismatch->wrong]);
    else if (mismatch->workers == 3)
        snprintf(verdict, sizeof verdict, "rank %u agrees with neither", mismatch->rank[2]);
    error_set(text, "worker rank %u and worker rank %u have computed %s with different results; %s", mismatch->rank[0],
              mismatch->rank[1], what, verdict);
}
