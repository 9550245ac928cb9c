/* SPDX-License-Identifier: MIT */
/* The oracle: see oracle.h. */
#include "tests/seeds/oracle.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "common/sched/sched.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/precedence.h"
#include "common/util/ranges.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/seeds/memory.h"

#include <string.h>

static uint64_t failed_checksum(const struct ranges *failed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ranges_length(failed); i++)
        sum += virtual_checksum(ranges_at(failed, i)->first, ranges_at(failed, i)->count);
    return sum;
}

/* What becomes of the iteration with all workers, where it is the same. What fails where iterations depend on one
 * another is tried again at once, and works then. */
static bool always(const struct virtual_config *config, uint64_t iteration, bool works)
{
    for (unsigned rank = 0; config->outcome != NULL && rank < 2; rank++) { /* an even and an odd one */
        const enum virtual_outcome outcome = config->outcome(config->context, rank, iteration);
        if ((outcome == VIRTUAL_WORKS || outcome == VIRTUAL_IS_CALLED_FAILED ||
             (outcome == VIRTUAL_FAILS && config->columns > 0)) != works)
            return false;
    }
    return config->outcome != NULL || works;
}

/* True where a worker computes wrongly and what it did may count: not all was computed by two that agree. Who is lost
 * takes along how much of its was not. */
static bool may_be_wrong(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct verifications *verifications = &result->supermaster->verifications;
    bool all_was_verified = config->spec.verify == 1 && result->status == EXIT_STATUS_DONE &&
                            verifications->unverified + verifications->undecided == 0 &&
                            result->supermaster->losses.masters_lost == 0;
    return config->lies != NULL && !all_was_verified;
}

/* What is known of an iteration from earlier runs: workers and child processes that died of it. */
static struct poison earlier_deaths(const struct virtual_config *config, uint64_t iteration)
{
    struct poison found = {0};
    if (config->deaths != NULL)
        poison_look(config->deaths, &(struct range){iteration, 1}, &found);
    return found;
}

/* True for a row that depends on others and may be given up with the last one, in one chunk no longer than the
 * distance. */
static bool goes_with_last(const struct virtual_config *config, uint64_t row)
{
    const uint64_t end = config->first + config->count;
    return config->columns > 0 && row + config->distance >= end && always(config, end - 1, false);
}

/* True if the iteration waits for one that is given up, or called failed. */
static bool waits_for_failed(const struct virtual_config *config, const struct virtual_result *result,
                             uint64_t iteration)
{
    const struct precedence *precedence = config->precedence;
    for (uint64_t i = 0; precedence != NULL && i < precedence->count; i++)
        for (uint64_t k = precedence->begin[i]; k < precedence->begin[i + 1]; k++)
            if (config->first + precedence->waiting[k] == iteration &&
                (ranges_contains(&result->supermaster->ledger.failed, config->first + i) ||
                 (config->outcome != NULL &&
                  config->outcome(config->context, 0, config->first + i) == VIRTUAL_IS_CALLED_FAILED)))
                return true;
    return false;
}

/* Each check returns NULL, or what did not hold. What three workers seem to have died of is given up: they may have
 * been killed, or hang, or have done it, of which nobody has heard. */
static const char *check_failed(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct ranges *failed = &result->supermaster->ledger.failed;
    for (uint64_t i = config->first; i < config->first + config->count; i++) {
        bool given_up = ranges_contains(failed, i), was_done = config->done != NULL && ranges_contains(config->done, i);
        if (!given_up && !was_done && always(config, i, false))
            return "an iteration that never works is said to be done";
        const struct poison earlier = earlier_deaths(config, i);
        if (given_up && always(config, i, true) && !goes_with_last(config, i) && !waits_for_failed(config, result, i) &&
            result->supermaster->losses.workers_lost + earlier.deaths < DEATHS_MAX &&
            !deaths_are_too_many(&earlier, config->spec.retries, config->columns > 0))
            return "iterations were given up that would have worked";
    }
    return NULL;
}

/* The checksum of the rows that are not given up: the last ones are. */
static uint64_t rows_checksum(const struct virtual_config *config, uint64_t given_up)
{
    struct virtual_config rest = *config;
    rest.count -= given_up;
    return virtual_serial_checksum(&rest);
}

/* Here all is said to be done. */
static const char *check_complete(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct ledger *ledger = &result->supermaster->ledger;
    uint64_t expected = config->columns > 0
                            ? rows_checksum(config, ranges_total(&ledger->failed))
                            : virtual_checksum(config->first, config->count) - failed_checksum(&ledger->failed);
    if (ledger->done + ranges_total(&ledger->failed) != config->count)
        return "some iterations are neither done nor given up";
    if (ledger->digest != expected && !may_be_wrong(config, result))
        return "the checksum is another";
    return check_failed(config, result);
}

/* What failed was made to fail, and the text says what it was. */
static bool is_told(const struct virtual_result *result)
{
    const char *text = result->supermaster->failure.text;
    if (strstr(text, "out of memory") != NULL)
        return memory_refused() > 0;
    bool of_the_disk = strstr(text, "No space left on device") != NULL || strstr(text, "Input/output error") != NULL;
    return of_the_disk && result->failed_writes > 0;
}

static const char *check_failure(const struct virtual_config *config, const struct virtual_result *result)
{
    if (is_told(result))
        return NULL;
    if (config->steps_dependent && ranges_total(&result->supermaster->ledger.failed) > 0 &&
        strncmp(result->supermaster->failure.text, "time step", 9) == 0)
        return NULL;
    if (config->columns > 0 && config->outcome != NULL &&
        strstr(result->supermaster->failure.text, "cannot be computed") != NULL)
        return NULL;
    const unsigned lost = result->supermaster->losses.workers_lost + result->supermaster->losses.masters_lost;
    if (config->columns > 0 && lost > 0 && strstr(result->supermaster->failure.text, " was lost") != NULL)
        return NULL;
    if (strncmp(result->supermaster->failure.text, "all workers are lost", 20) != 0 &&
        strncmp(result->supermaster->failure.text, "all pods have left", 18) != 0)
        return "the run failed for a reason that there was not";
    const struct losses *losses = &result->supermaster->losses;
    return losses->workers_lost + losses->workers_left < result->supermaster->config.topology->workers
               ? "the run failed with workers left"
               : NULL;
}

static bool may_be_killed(const struct virtual_config *config)
{
    const bool computes = config->spec.masters_compute && config->masters == 0 && config->outcome != NULL;
    return config->fault_count > 0 || config->loses_ranks || config->failing_send > 0 || computes;
}

static const char *check_status(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct ledger *ledger = &result->supermaster->ledger;
    switch (result->status) {
    case -1: return "it hung";
    case -2: return may_be_killed(config) ? NULL : "the supermaster died by itself";
    case EXIT_STATUS_DONE:
        return ranges_total(&ledger->failed) > 0 ? "what was given up is not told" : check_complete(config, result);
    case EXIT_STATUS_TASKS: return check_complete(config, result);
    case EXIT_STATUS_DRAINED:
        return config->drain_at_ns + config->cancel_at_ns > 0 ? NULL : "it drained, and nobody had asked for it";
    case EXIT_STATUS_FAILED: return check_failure(config, result);
    default: return "an exit status that cannot be";
    }
}

static const char *check_journal(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct ledger *ledger = &result->supermaster->ledger;
    if (result->wrong > 0 && !may_be_wrong(config, result))
        return "the output has wrong records";
    if (result->journalled_early > 0)
        return "recorded twice, or before it was stored";
    if (!config->journal || result->status < 0)
        return NULL;
    uint64_t before = config->done != NULL ? ranges_total(config->done) : 0;
    uint64_t recorded = before + ranges_total(result->journalled);
    if (result->failed_writes > 0)
        return recorded > ledger->done ? "the journal has more than the ledger" : NULL;
    if (recorded != ledger->done || config->done_digest + result->journalled_digest != ledger->digest)
        return "the journal is not what the ledger has";
    return NULL;
}

/* Nothing was to go wrong, and nothing did. */
static bool is_undisturbed(const struct virtual_config *config, const struct virtual_result *result)
{
    bool drains = (config->drain_at_ns > 0 && config->drain_at_ns != NEVER) || config->cancel_at_ns > 0;
    bool fails = config->failing_store + config->failing_journal + config->failing_sync + config->failing_send > 0;
    return result->status == EXIT_STATUS_DONE && config->fault_count == 0 && !config->loses_ranks &&
           config->outcome == NULL && !drains && !fails && memory_refused() == 0 && config->load_count == 0 &&
           config->columns == 0 && config->precedence == NULL;
}

/* What differs is because a worker lies, who is wrong is the one that does, and where all is verified nothing is left
 * out. */
static const char *check_verified(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct verifications *verifications = &result->supermaster->verifications;
    const struct supermaster *supermaster = result->supermaster;
    if (config->lies == NULL && verifications->seen > 0)
        return "results differ, and nobody lies";
    for (unsigned i = 0; i < verifications->count; i++) {
        const struct report_mismatch *mismatch = &verifications->list[i];
        bool is_about_liar = false;
        for (unsigned k = 0; k < 2; k++)
            is_about_liar |= config->lies(config->context, mismatch->rank[k], UINT64_MAX);
        if (!is_about_liar)
            return "results differ between two that do not lie";
        if (mismatch->wrong >= 0 && !config->lies(config->context, mismatch->rank[mismatch->wrong], UINT64_MAX))
            return "a worker is called wrong that does not lie";
    }
    if (!is_undisturbed(config, result) || config->spec.verify != 1 ||
        supermaster->losses.workers_lost + supermaster->losses.workers_left > 0)
        return NULL;
    uint64_t drawn = verifications->alike + verifications->differing + verifications->unverified;
    return drawn + supermaster->resumed != supermaster->ledger.done ? "not all was verified" : NULL;
}

/* A fair time for a message and what has to be done for it, with all other ranks in its way. */
static double message_ns(const struct virtual_config *config)
{
    uint64_t way_ns = config->latency_ns > config->remote_latency_ns ? config->latency_ns : config->remote_latency_ns;
    return (double)(way_ns + config->jitter_ns) + (double)config->service_ns * (1 + config->masters + config->workers);
}

/* Rounds of recalls that a worker waits for in each time step, and messages of each, up the tree and down. A chunk that
 * is not asked for ahead is waited for likewise. */
#define ROUNDS         12
#define ROUND_MESSAGES 6

/* The work that is left, its longest iteration, and who does it. */
struct load {
    double work_ns, longest_ns;     /* at speed 1 */
    double power, slowest, fastest; /* of the workers, as speeds */
};

static struct load load_of(const struct virtual_config *config)
{
    struct load load = {.slowest = config->speeds != NULL ? config->speeds[0] : 1};
    for (uint64_t i = config->first; i < config->first + config->count; i++) {
        if (config->done != NULL && ranges_contains(config->done, i))
            continue;
        double cost_ns = config->cost_ns != NULL ? config->cost_ns(config->context, i) : 1000;
        load.work_ns += cost_ns;
        load.longest_ns = cost_ns > load.longest_ns ? cost_ns : load.longest_ns;
    }
    for (unsigned w = 0; w < config->workers; w++) {
        double speed = config->speeds != NULL ? config->speeds[w] : 1;
        load.power += speed;
        load.slowest = speed < load.slowest ? speed : load.slowest;
        load.fastest = speed > load.fastest ? speed : load.fastest;
    }
    for (unsigned i = 0; i < config->pod_count; i++) /* they help for some time only, if at all */
        load.slowest = config->pods[i].speed < load.slowest ? config->pods[i].speed : load.slowest;
    return load;
}

/* True if no worker has to answer a RECALL. */
static bool steals_from_all(const struct virtual_config *config)
{
    return config->steals && config->nodes <= 1 && config->rank_node == NULL && config->pod_count == 0 &&
           !config->spec.masters_compute && !config->begins_ahead && !run_spec_has_threads(&config->spec);
}

/* With recall no worker is idle while an iteration that has not begun waits for longer than the messages take, so that
 * all of them are busy until the last iteration begins [Graham]. In each time step but the first, the losers of copies
 * first end the iteration that they compute in vain, which takes no more from the work of all than the longest
 * iteration on the slowest worker takes: of k losers each is missing for that time at most, and k are not all. Where
 * workers answer only when their iteration is over, several may follow upon one another. */
static const char *check_bound(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct supermaster *supermaster = result->supermaster;
    bool is_known = config->cost_ns != NULL && config->speeds != NULL;
    if (!is_known || config->spec.recall != RUN_RECALL_ON || config->spec.verify > 0 ||
        !is_undisturbed(config, result) || !(config->cuts_at_once || steals_from_all(config)) ||
        supermaster->cut.first_ns == NEVER || supermaster->last_commit_ns == NEVER)
        return NULL;
    const struct load load = load_of(config);
    uint64_t steps =
        config->step_iterations > 0 ? (config->count + config->step_iterations - 1) / config->step_iterations : 1;
    double chunks = (double)supermaster->cut.chunks * load.fastest / load.power; /* of one worker */
    double messages_ns =
        ((double)steps * ROUNDS + chunks) * ROUND_MESSAGES * message_ns(config) + 2 * (double)config->collect_ns;
    double ends = supermaster->losses.reissued > 0 ? 2 * (double)steps - 1 : (double)steps;
    double bound_ns = 1.02 * (load.work_ns / load.power + ends * load.longest_ns / load.slowest) + messages_ns;
    if (config->growth_count > 0) /* nobody knows of the last iterations before */
        bound_ns += (double)(config->growth[config->growth_count - 1].at_ns + GROWTH_LOOK_NS);
    double took_ns = (double)(supermaster->last_commit_ns - supermaster->cut.first_ns);
    return took_ns > bound_ns ? "with recall, workers were idle while iterations waited" : NULL;
}

/* Where nothing else goes wrong, a run that is to end without what runs is over as soon as all have heard of it. */
static const char *check_cancelled(const struct virtual_config *config, const struct virtual_result *result)
{
    const bool fails =
        config->failing_store + config->failing_journal + config->failing_sync + config->failing_send > 0;
    if (config->cancel_at_ns == 0 || result->status != EXIT_STATUS_DRAINED || config->fault_count > 0 || fails ||
        memory_refused() > 0 || config->columns > 0)
        return NULL;
    const struct load load = load_of(config);
    double bound_ns = 2 * ROUNDS * ROUND_MESSAGES * message_ns(config) + 2 * (double)config->collect_ns;
    if (!config->cuts_at_once)
        bound_ns += (config->spec.masters_compute ? 2 : 1) * load.longest_ns / load.slowest; /* a master's, too */
    const double took_ns = (double)result->end_ns - (double)config->cancel_at_ns;
    return took_ns > bound_ns ? "what runs was not ended at once" : NULL;
}

const char *oracle_check(const struct virtual_config *config, const struct virtual_result *result)
{
    const struct supermaster *supermaster = result->supermaster;
    const char *status = check_status(config, result), *journal = check_journal(config, result);
    if (status != NULL || journal != NULL)
        return status != NULL ? status : journal;
    const char *verified = check_verified(config, result);
    if (verified != NULL)
        return verified;
    bool may_drop_liar = config->lies != NULL && config->spec.verify_action == RUN_VERIFY_DROP_WORKER;
    if (result->drops > may_drop_liar && result->sent_garbage == 0)
        return "a rank was dropped that had sent nothing wrong";
    uint64_t later = supermaster->ledger.loop.count - supermaster->steps.end;
    if (supermaster->technique.is_ready &&
        supermaster->technique.sched.remaining + later != ranges_total(&supermaster->ledger.free))
        return "the technique's remaining work is not what is free";
    if (result->misled > 0)
        return "boundary data were not where they had to be";
    if (config->columns > 0 && result->executed > config->count)
        return "iterations of a loop with dependencies were computed more than once";
    if (result->too_early > 0)
        return "a time step began before the one before it was done, or an iteration before what it waits for";
    const char *cancelled = check_cancelled(config, result);
    return cancelled != NULL ? cancelled : check_bound(config, result);
}
