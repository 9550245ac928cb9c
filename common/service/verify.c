/* SPDX-License-Identifier: MIT */
/* Verification: see verify.h. */
#include "common/service/verify.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/service/serving.h"
#include "common/util/grow.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "proto/message.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* How much longer than expected a worker may take before verifications stop waiting for it. On a busy machine a worker
 * may take long. A worker of another node that is silent for this long is declared lost anyway. */
#define PATIENCE_NS UINT64_C(10000000000)

int service_verify_init(struct service *service)
{
    struct verify *verify = &service->verify;
    *verify = (struct verify){
        .on = service->spec->verify > 0 && !service->dependent, .unused = VERIFY_NONE, .close_due_ns = NEVER};
    if (!verify->on)
        return 0;
    verify->queues = calloc(service->worker_count + 1, sizeof *verify->queues);
    for (unsigned i = 0; verify->queues != NULL && i <= service->worker_count; i++)
        verify->queues[i] = (struct verify_queue){VERIFY_NONE, VERIFY_NONE};
    return verify->queues != NULL ? 0 : -1;
}

int service_verify_reserve(struct service *service, unsigned workers)
{
    struct verify *verify = &service->verify;
    return verify->on ? grow_to(&verify->queues, (size_t)service->room + 1, (size_t)workers + 1, sizeof *verify->queues)
                      : 0;
}

void service_verify_add_workers(struct service *service, unsigned workers)
{
    struct verify_queue *queues = service->verify.queues;
    if (!service->verify.on)
        return;
    queues[workers] = queues[service->worker_count];
    for (size_t i = service->worker_count; i < workers; i++)
        queues[i] = (struct verify_queue){VERIFY_NONE, VERIFY_NONE};
}

void service_verify_fini(struct service *service)
{
    free(service->verify.list);
    free(service->verify.queues);
    free(service->verify.mismatches);
}

static uint32_t index_of(const struct verify *verify, const struct verification *verification)
{
    return (uint32_t)(verification - verify->list);
}

static struct verify_queue *queue_of(const struct service *service, const struct verification *verification)
{
    const bool is_usual = verification->computed == 1 && !verification->with_care && verification->tries == 0;
    return &service->verify.queues[is_usual ? verification->worker[0] : service->worker_count];
}

static void verify_enqueue(struct service *service, struct verification *verification)
{
    struct verify *verify = &service->verify;
    struct verify_queue *queue = queue_of(service, verification);
    const uint32_t index = index_of(verify, verification);
    verification->verifier = verification->next = VERIFY_NONE;
    verification->sum = verification->seen = 0;
    if (queue->first == VERIFY_NONE)
        queue->first = index;
    else
        verify->list[queue->last].next = index;
    queue->last = index;
    verify->queued++;
}

static struct verification *verify_dequeue(struct service *service, struct verify_queue *queue, uint32_t before)
{
    struct verify *verify = &service->verify;
    const uint32_t index = before == VERIFY_NONE ? queue->first : verify->list[before].next;
    if (before == VERIFY_NONE)
        queue->first = verify->list[index].next;
    else
        verify->list[before].next = verify->list[index].next;
    if (queue->last == index)
        queue->last = before;
    verify->queued--;
    return &verify->list[index];
}

static struct verification *verify_add(struct service *service)
{
    struct verify *verify = &service->verify;
    void *items = verify->list;
    if (verify->unused != VERIFY_NONE) {
        struct verification *reused = &verify->list[verify->unused];
        verify->unused = reused->next;
        return reused;
    }
    if (!service_make_room(service, &items, verify->count, &verify->capacity, sizeof *verify->list))
        return NULL;
    verify->list = items;
    return &verify->list[verify->count++];
}

static void verify_remove(struct service *service, struct verification *verification)
{
    struct verify *verify = &service->verify;
    verify->held -= verification->range.count;
    verify->disputed -= verification->computed == 2;
    verification->computed = 0;
    verification->next = verify->unused;
    verify->unused = index_of(verify, verification);
}

static bool is_able(const struct service *service, uint32_t w)
{
    return service->workers[w].present && !service->workers[w].gone && !service->workers[w].is_aside;
}

static unsigned candidates(const struct service *service, const struct verification *verification, unsigned able)
{
    for (unsigned i = 0; i < verification->computed; i++)
        able -= is_able(service, verification->worker[i]);
    return able;
}

static bool is_deadly(const struct service *service, const struct part *part)
{
    struct range rest = {part->first, part->count};
    struct poison poison;
    for (uint64_t count; service->poisons.count > 0 && rest.count > 0; rest.first += count, rest.count -= count) {
        count = poison_look(&service->poisons, &rest, &poison);
        if (poison.deaths > 0)
            return true;
    }
    return false;
}

static bool is_drawn(const struct service *service, const struct part *part)
{
    return random_to_uniform(random_at(service->spec->verify_seed, part->first)) < service->spec->verify;
}

bool service_hold_back(struct service *service, const struct part *part)
{
    struct verify *verify = &service->verify;
    unsigned others = service_able(service) - is_able(service, part->worker);
    if (!is_drawn(service, part))
        return false;
    if (service->state == SERVICE_ENDING)
        return true; /* The part does not count as done, so a resumed run computes it again. */
    const bool with_care = is_deadly(service, part), can = others > 0 && !(with_care && service->no_isolation);
    struct verification *verification = can ? verify_add(service) : NULL;
    if (verification == NULL) {
        verify->unverified += part->count;
        return false;
    }
    *verification = (struct verification){
        .range = {part->first, part->count},
        .digest = {part->digest},
        .has_failed = part->has_failed,
        .worker = {part->worker},
        .not_with = VERIFY_NONE,
        .computed = 1,
        .with_care = with_care,
    };
    verify->held += part->count;
    verify_enqueue(service, verification);
    return true;
}

static bool may_verify(const struct verification *verification, unsigned w)
{
    for (unsigned i = 0; i < verification->computed; i++)
        if (verification->worker[i] == w)
            return false;
    return verification->not_with != w && verification->tries < VERIFY_TRIES_MAX;
}

/* From the last queue (see struct verify), takes the first verification that worker `w` may compute. If the part must
 * run in a child process, the worker must hold no other chunk: if it died, nobody would know which chunk was the cause.
 */
static struct verification *next_unusual(struct service *service, unsigned w)
{
    struct verify *verify = &service->verify;
    struct verify_queue *queue = &verify->queues[service->worker_count];
    for (uint32_t i = queue->first, before = VERIFY_NONE; i != VERIFY_NONE; before = i, i = verify->list[i].next) {
        const struct verification *one = &verify->list[i];
        if (may_verify(one, w) && (!one->with_care || service->workers[w].holds == 0))
            return verify_dequeue(service, queue, before);
    }
    return NULL;
}

/* Finds the next part that a worker may verify. If the worker has just returned such a part without computing it, it
 * gets no further one while it holds chunks. Otherwise it might return parts without end. */
struct verification *service_next_verification(struct service *service, unsigned w)
{
    struct verify *verify = &service->verify;
    struct served *worker = &service->workers[w];
    struct verification *next = NULL;
    if (worker->shuns_verifications && worker->holds > 0)
        return NULL;
    worker->shuns_verifications = false;
    if (verify->queues[service->worker_count].first != VERIFY_NONE)
        next = next_unusual(service, w);
    for (unsigned left = service->worker_count; next == NULL && left > 0; left--) {
        unsigned v = verify->turn < service->worker_count ? verify->turn : 0;
        verify->turn = v + 1;
        if (v != w && verify->queues[v].first != VERIFY_NONE)
            next = verify_dequeue(service, &verify->queues[v], VERIFY_NONE);
    }
    return next;
}

void service_begin_verification(struct service *service, struct verification *verification, unsigned w,
                                struct grant *grant)
{
    grant->copy_owner = OWNER_VERIFY;
    service->workers[w].answer.isolated |= verification->with_care;
    grant->other_worker = index_of(&service->verify, verification);
    verification->verifier = w;
    verification->chunk = grant->chunk;
    verification->sum = verification->seen = 0;
}

static struct verification *verification_of(const struct service *service, unsigned w, const struct grant *grant)
{
    struct verification *verification = &service->verify.list[grant->other_worker];
    assert(verification->computed > 0 && verification->verifier == w && verification->chunk == grant->chunk &&
           "who computes a second time is known");
    (void)w;
    return verification;
}

static void tell_mismatch(struct service *service, const struct verification *verification, uint32_t third, int wrong)
{
    struct verify *verify = &service->verify;
    void *items = verify->mismatches;
    service->news |= SERVICE_DIFFERED;
    if (verification->told || !service_make_room(service, &items, verify->mismatch_count, &verify->mismatch_capacity,
                                                 sizeof *verify->mismatches))
        return;
    verify->mismatches = items;
    verify->mismatches[verify->mismatch_count++] = (struct mismatch){
        .range = verification->range,
        .computations = third != VERIFY_NONE ? 3 : 2,
        .worker = {verification->worker[0], verification->worker[1], third != VERIFY_NONE ? third : 0},
        .wrong = wrong,
    };
}

static void let_go(struct service *service, struct verification *verification, uint64_t digest)
{
    const struct range *range = &verification->range;
    const struct part part = {verification->worker[0], 0, range->first, range->count, digest, verification->has_failed};
    verify_remove(service, verification);
    service->ops->committed(service->owner, &part);
}

/* Ends a verification that no worker can complete. If the service is ending, the part does not count as done, and a
 * resumed run computes it again. Otherwise the first results count. */
static void close_verification(struct service *service, struct verification *verification)
{
    if (verification->computed == 2)
        tell_mismatch(service, verification, VERIFY_NONE, -1);
    verification->told = true;
    verification->verifier = VERIFY_NONE;
    verification->sum = verification->seen = 0;
    if (service->state == SERVICE_ENDING)
        return;
    if (verification->computed == 1)
        service->verify.unverified += verification->range.count;
    REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") counts as it is: nobody else can compute it",
           verification->range.first, verification->range.first + verification->range.count);
    let_go(service, verification, verification->digest[0]);
}

static void compare_two(struct service *service, unsigned w, struct verification *verification)
{
    struct verify *verify = &service->verify;
    if (verification->sum == verification->digest[0]) {
        verify->alike += verification->range.count;
        let_go(service, verification, verification->sum);
        return;
    }
    REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") differs: rank %u has computed it otherwise than rank %u",
           verification->range.first, verification->range.first + verification->range.count, service->ranks[w],
           service->ranks[verification->worker[0]]);
    verification->digest[1] = verification->sum;
    verification->worker[1] = w;
    verification->computed = 2;
    verification->tries = 0;
    verification->not_with = VERIFY_NONE;
    verify->disputed++;
    if (service->state == SERVICE_ENDING || candidates(service, verification, service_able(service)) == 0)
        close_verification(service, verification);
    else
        verify_enqueue(service, verification);
}

static void decide(struct service *service, struct verification *verification)
{
    const uint64_t sum = verification->sum;
    int wrong = sum == verification->digest[0] ? 1 : sum == verification->digest[1] ? 0 : -1;
    tell_mismatch(service, verification, verification->verifier, wrong);
    if (wrong >= 0)
        service->workers[verification->worker[wrong]].is_wrong = true;
    let_go(service, verification, sum);
}

static struct verification *disputed_with(struct service *service, const struct part *part)
{
    struct verify *verify = &service->verify;
    for (uint32_t i = 0; verify->disputed > 0 && i < verify->count; i++) {
        const struct range *range = &verify->list[i].range;
        if (verify->list[i].computed == 2 && part->first >= range->first &&
            part->first + part->count <= range->first + range->count)
            return &verify->list[i];
    }
    return NULL;
}

bool service_is_third(struct service *service, const struct part *part)
{
    return disputed_with(service, part) != NULL;
}

bool service_take_third(struct service *service, const struct part *part)
{
    struct verification *verification = disputed_with(service, part);
    if (verification == NULL)
        return false;
    if (verification->verifier != part->worker || verification->chunk != part->chunk)
        return true; /* The part is the result of an earlier third computation, whose worker was lost. */
    verification->has_failed = part->has_failed;
    verification->sum += part->digest;
    verification->seen += part->count;
    if (verification->seen == verification->range.count)
        decide(service, verification);
    return true;
}

bool service_verify_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest)
{
    struct verification *verification = verification_of(service, w, grant);
    if (verification->computed == 2)
        return false;
    verification->sum += digest;
    verification->seen += count;
    if (verification->seen == verification->range.count) {
        grant->copy_owner = OWNER_OTHER;
        compare_two(service, w, verification);
    }
    return true;
}

void service_abandon_verification(struct service *service, unsigned w, struct grant *grant, bool was_lost)
{
    struct verification *verification = verification_of(service, w, grant);
    service_note_change(service, w);
    grant->copy_owner = OWNER_OTHER;
    if (was_lost) {
        verification->tries++;
        verification->not_with = w;
    }
    if (service->state == SERVICE_ENDING)
        close_verification(service, verification);
    else {
        verify_enqueue(service, verification);
        if (was_lost) {
            service->verify.close_due_ns = 0;
            service->tally.reissued++;
            service->news |= SERVICE_COUNTED;
        }
    }
}

uint64_t service_verify_end_ns(const struct service *service, const struct grant *grant, unsigned w, uint64_t end_ns)
{
    if (may_verify(&service->verify.list[grant->other_worker], w))
        return end_ns;
    return end_ns < NEVER - PATIENCE_NS ? end_ns + PATIENCE_NS : NEVER;
}

void service_verify_end(struct service *service)
{
    struct verify *verify = &service->verify;
    for (uint32_t i = 0; i < verify->count; i++)
        if (verify->list[i].computed == 2 && verify->list[i].verifier == VERIFY_NONE)
            close_verification(service, &verify->list[i]);
    verify->close_due_ns = NEVER;
}

static bool is_awaited(const struct grant *grant)
{
    return grant->chunk != 0 && !grant->computed && grant->received < grant->count && grant->copy_owner != OWNER_OTHER;
}

/* Returns the time from which a worker that sends no message counts as hanging. A hanging worker is not expected to
 * verify anything. Returns NEVER if the worker is idle and waits for a chunk, or if its results are expected. */
static uint64_t hangs_from_ns(const struct service *service, unsigned w)
{
    const struct served *worker = &service->workers[w];
    if (worker->asks > 0 && worker->holds == 0 && worker->owed == 0)
        return NEVER;
    if (worker->chunks_assigned == 0)
        return service->first_assign_ns + LEASE_UNKNOWN_NS;
    for (uint32_t i = 0; i < worker->slots; i++)
        if (is_awaited(&worker->grants[i]))
            return NEVER;
    const uint64_t due_ns = service_answer_due_ns(service, worker->heard_ns);
    return due_ns < NEVER - PATIENCE_NS ? due_ns + PATIENCE_NS : NEVER;
}

/* Sets the time of the next check. It is at least LEASE_LOOK_NS from now: a worker that hangs will probably not
 * continue earlier. */
void service_verify_look(struct service *service, uint64_t now_ns)
{
    struct verify *verify = &service->verify;
    const uint64_t soon_ns = now_ns + LEASE_LOOK_NS;
    if (verify->queued == 0 || verify->close_due_ns != NEVER || service->line.count == 0 ||
        service->source == SOURCE_FLOWS)
        return;
    for (unsigned w = 0; w < service->worker_count; w++) {
        uint64_t due_ns = is_able(service, w) ? hangs_from_ns(service, w) : NEVER;
        due_ns = due_ns < soon_ns ? soon_ns : due_ns;
        verify->close_due_ns = due_ns < verify->close_due_ns ? due_ns : verify->close_due_ns;
    }
}

static bool is_there(const struct service *service, unsigned w, uint64_t now_ns)
{
    return is_able(service, w) && hangs_from_ns(service, w) > now_ns;
}

/* Closes no more verifications than one step may report. If a worker no longer counts as a possible verifier, closes
 * the verifications that only this worker could compute, because no other worker would ever request them. */
void service_verify_expire(struct service *service, uint64_t now_ns)
{
    struct verify *verify = &service->verify;
    unsigned closed = 0;
    if (!verify->on || verify->close_due_ns > now_ns)
        return;
    verify->close_due_ns = NEVER;
    if (service->state != SERVICE_SERVING)
        return;
    /* Parts that are being written to disk may belong to a third computation that was given up. So nothing is closed
     * before these parts are stored. */
    if (verify->disputed > 0 && service->parts_on_way > 0) {
        verify->close_due_ns = now_ns + LEASE_LOOK_NS;
        return;
    }
    unsigned able = 0;
    for (unsigned w = 0; w < service->worker_count; w++)
        able += is_there(service, w, now_ns);
    for (unsigned q = 0; q <= service->worker_count; q++) {
        struct verify_queue *queue = &verify->queues[q];
        for (uint32_t i = queue->first, before = VERIFY_NONE, next; i != VERIFY_NONE; i = next) {
            const struct verification *verification = &verify->list[i];
            next = verification->next;
            unsigned left = able;
            for (unsigned k = 0; k < verification->computed; k++)
                left -= is_there(service, verification->worker[k], now_ns);
            left -= verification->tries > 0 && is_there(service, verification->not_with, now_ns);
            if (left > 0 && verification->tries < VERIFY_TRIES_MAX) {
                before = i;
                continue;
            }
            if (closed++ == ASKS_MAX) {
                verify->close_due_ns = now_ns;
                return;
            }
            close_verification(service, verify_dequeue(service, queue, before));
        }
    }
    for (unsigned w = 0; verify->queued > 0 && w < service->worker_count; w++)
        if (is_there(service, w, now_ns)) {
            const uint64_t due_ns = hangs_from_ns(service, w);
            verify->close_due_ns = due_ns < verify->close_due_ns ? due_ns : verify->close_due_ns;
        }
}

bool service_take_verified(struct service *service, struct verified *verified)
{
    struct verify *verify = &service->verify;
    *verified = (struct verified){.alike = verify->alike, .unverified = verify->unverified, .wrong = -1};
    verify->alike = verify->unverified = 0;
    if (verify->mismatches_taken < verify->mismatch_count) {
        const struct mismatch *mismatch = &verify->mismatches[verify->mismatches_taken++];
        verified->computations = mismatch->computations;
        for (unsigned i = 0; i < mismatch->computations; i++)
            verified->rank[i] = service->ranks[mismatch->worker[i]];
        verified->wrong = mismatch->wrong;
        verified->first = mismatch->range.first;
        verified->count = mismatch->range.count;
    }
    return verified->alike + verified->unverified + verified->computations > 0;
}

unsigned service_take_wrong(struct service *service, const char **reason)
{
    const bool drops = service->spec->verify_action == RUN_VERIFY_DROP_WORKER && service->state != SERVICE_ENDING;
    *reason = "has computed results that two others have computed otherwise";
    for (unsigned w = 0; drops && w < service->worker_count; w++)
        if (service->workers[w].is_wrong && is_able(service, w)) {
            service->workers[w].is_wrong = false;
            service->news |= SERVICE_DIFFERED;
            return w;
        }
    return service->worker_count;
}

void service_verify_check(const struct service *service)
{
    const struct verify *verify = &service->verify;
    uint64_t held = 0;
    unsigned queued = 0, disputed = 0, in_queues = 0;
    for (uint32_t i = 0; i < verify->count; i++) {
        const struct verification *verification = &verify->list[i];
        if (verification->computed == 0)
            continue;
        held += verification->range.count;
        disputed += verification->computed == 2;
        queued += verification->verifier == VERIFY_NONE;
        assert(verification->seen < verification->range.count && "what is complete is compared at once");
        if (verification->verifier == VERIFY_NONE)
            continue;
        const struct served *worker = &service->workers[verification->verifier];
        const struct grant *grant = &worker->grants[verification->chunk & (worker->slots - 1)];
        assert(grant->chunk == verification->chunk && grant->copy_owner == OWNER_VERIFY && grant->other_worker == i &&
               "who computes a second time has a chunk for it");
        assert(verification->verifier != verification->worker[0] && "nobody verifies itself");
    }
    for (unsigned q = 0; verify->on && q <= service->worker_count; q++)
        for (uint32_t i = verify->queues[q].first; i != VERIFY_NONE; i = verify->list[i].next)
            in_queues++;
    assert(held == verify->held && "what is held back is counted");
    assert(disputed == verify->disputed && "what two differ in is counted");
    assert(in_queues == verify->queued && "what waits for another worker is counted");
    assert((service->state == SERVICE_ENDING || in_queues == queued) && "what nobody has waits in a queue");
}
