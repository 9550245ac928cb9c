/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of the service. */
#pragma once

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"

static inline struct grant *grant_slot(struct served *worker, uint32_t chunk)
{
    return &worker->grants[chunk & (worker->slots - 1)];
}

void service_trace_part(const struct service *service, enum trace_record_kind kind, unsigned w, uint32_t chunk,
                        const struct range *range);

static inline void service_note_part(const struct service *service, enum trace_record_kind kind, unsigned w,
                                     uint32_t chunk, uint64_t first, uint64_t count)
{
    if (service->trace != NULL)
        service_trace_part(service, kind, w, chunk, &(struct range){first, count});
}

/* Adds a record to the trace. It covers the iterations of the grant that have no results; in a loop with dependencies
 * it covers the whole chunk. */
static inline void service_note_rest(const struct service *service, enum trace_record_kind kind, unsigned w,
                                     const struct grant *grant)
{
    const uint64_t told = service->dependent ? 0 : grant->received;
    service_note_part(service, kind, w, grant->chunk, grant->first + told, grant->count - told);
}

/* Returns the time from which a part of the later of two copies may be recalled. Let t be the time for which the other
 * worker had had the chunk when the copy was made. For half of t the worker of the copy may keep all of it. The other
 * worker may be in a long iteration. After this time, the worker of the copy has probably begun that iteration too, and
 * keeps it. If it were asked earlier, it would return the long iteration, and a third worker would begin this iteration
 * again. */
static inline uint64_t service_copy_due_ns(const struct grant *one, const struct grant *other)
{
    const uint64_t old_ns = one->since_ns < other->since_ns ? one->since_ns : other->since_ns;
    const uint64_t copy_ns = one->since_ns < other->since_ns ? other->since_ns : one->since_ns;
    return copy_ns + (copy_ns - old_ns) / 2;
}

void service_note_copy(struct service *service, unsigned w, const struct grant *grant);

void service_release_copies(struct service *service, uint64_t now_ns);

void service_begin_to_serve(struct service *service, unsigned w);

void service_enqueue(struct service *service, unsigned w);

void service_leave_queue(struct service *service, unsigned w);

/* Builds the index if there is none. If memory runs out, returns false; nothing is recalled or copied then. */
bool service_index_begin(struct service *service);
void service_index_end(struct service *service);
void service_index_fini(struct service *service);
void service_index_note_stale(struct service *service, unsigned w);
static inline void service_note_change(struct service *service, unsigned w)
{
    if (__builtin_expect(service->line.index.is_on, 0))
        service_index_note_stale(service, w);
}
/* Updates the leaves of stale workers. Must be called before the following functions. */
void service_index_update(struct service *service);
static inline unsigned service_index_askable(const struct service *service)
{
    return service->line.index.tree[1].askable;
}
double service_index_mean_ns(const struct service *service);
void service_index_check(const struct service *service);

/* Tells each worker which worker computes the chunk after its own. Must be called after the ASSIGNs of this step are
 * sent. */
void service_tell_neighbours(struct service *service, struct actions *actions);

static inline bool service_recalls(const struct service *service)
{
    return service->spec->recall == RUN_RECALL_ON && !service->dependent && service->state == SERVICE_SERVING;
}
void service_recall(struct service *service, uint64_t now_ns, struct actions *actions);
int service_receive_returned(struct service *service, unsigned w, const struct message *message,
                             struct actions *actions, struct error *error);
static inline bool service_has_vain_recall(const struct service *service)
{
    return service->recall.count > 0 && service->line.count == 0;
}
bool service_next_recalled(struct service *service, unsigned w, struct range *range);
bool service_may_be_asked(const struct service *service, unsigned w);
/* Both functions write the bounds of worker `w` for the index. service_hold_for_recall() is for a worker that may be
 * asked to return work. service_hold_for_copy() is for a worker that holds chunks and may not be asked. */
void service_hold_for_recall(const struct service *service, unsigned w, struct holding *holding);
void service_hold_for_copy(const struct service *service, unsigned w, struct holding *holding);
void service_give_up_recall(struct service *service, unsigned w);
void service_give_up_late_recalls(struct service *service, uint64_t now_ns, struct actions *actions);
/* Makes worker `w` give up the iterations that it has not begun. Does so only if the results of these iterations will
 * be dropped, or if the worker is put aside. */
void service_stop_loser(struct service *service, unsigned w, struct actions *actions);
void service_forget_recall(struct service *service, unsigned w);

int service_verify_init(struct service *service);
void service_verify_fini(struct service *service);
int service_verify_reserve(struct service *service, unsigned workers);
void service_verify_add_workers(struct service *service, unsigned workers);
void service_verify_check(const struct service *service);
/* Returns true if the stored part is selected for verification. The part then does not count as done until a second
 * worker has computed it. */
bool service_hold_back(struct service *service, const struct part *part);
bool service_is_third(struct service *service, const struct part *part);
bool service_take_third(struct service *service, const struct part *part);
struct verification *service_next_verification(struct service *service, unsigned w);
void service_begin_verification(struct service *service, struct verification *verification, unsigned w,
                                struct grant *grant);
/* Compares results of a second computation with the first. Returns true if these results are not needed after that.
 * Returns false if they are from a third computation, so that they must be stored. */
bool service_verify_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest);
/* Gives up a verification that worker `w` will not complete. The results of `w` are dropped, and another worker must
 * compute the part. `was_lost`: the worker died, hangs or failed. After VERIFY_TRIES_MAX tries with this end the part
 * is not verified. */
void service_abandon_verification(struct service *service, unsigned w, struct grant *grant, bool was_lost);
/* Returns the time from which worker `w` may take over an overdue verification. If `w` may compute the part, this is
 * `end_ns`. Otherwise it is later: the time from which the worker that computes the part counts as hanging. */
uint64_t service_verify_end_ns(const struct service *service, const struct grant *grant, unsigned w, uint64_t end_ns);
void service_verify_end(struct service *service);
/* Called if workers wait, and if they may not compute the verifications that are the only remaining work. Sets the time
 * at which to check whether the other workers hang. */
void service_verify_look(struct service *service, uint64_t now_ns);
/* Accepts parts without verification if no remaining worker could compute them a second time. Does nothing before
 * `close_due_ns`. */
void service_verify_expire(struct service *service, uint64_t now_ns);

void service_check_memory(struct service *service, int result);
/* Requeues a range. Returns false if the whole range is given up because it failed too often. Also returns false, and
 * requeues nothing, if the service is ending or the loop has dependencies. */
bool service_requeue(struct service *service, const struct range *range, uint64_t now_ns);
void service_put_requeued(struct service *service, const struct range *range, uint64_t now_ns);
bool service_take_requeued(struct service *service, unsigned w, uint64_t now_ns, struct range *range, bool *isolated);
void service_unshare(struct service *service, const struct grant *grant);
struct grant *service_running_grant(struct served *worker);
/* Must a copy of the grant's remaining iterations run in a child process? It must if a worker was lost while it
 * computed them. It must also if an earlier copy is overdue too, because the iterations may have killed both workers
 * before their losses were noticed. */
bool service_wants_care(const struct service *service, const struct grant *grant);
void service_note_try(struct service *service, unsigned w, const struct iterations_failed *failure);
void service_iterations_failed(struct service *service, unsigned w, struct grant *grant,
                               const struct iterations_failed *failure, uint64_t now_ns, struct actions *actions);
bool service_make_room(struct service *service, void **items, size_t count, size_t *capacity, size_t size);
/* Returns the time at which a worker's answer to a RECALL becomes late. `heard_ns`: the time at which the worker was
 * last heard. If `heard_ns` is NEVER, returns NEVER. */
uint64_t service_answer_due_ns(const struct service *service, uint64_t heard_ns);
/* Among the chunks of all workers except `w`, finds the one that has been overdue longest. Sets `*other` to the worker
 * that has it. Returns NULL if no chunk is overdue. */
struct grant *service_find_overdue(struct service *service, unsigned w, uint64_t now_ns, unsigned *other);
uint64_t service_leave_due_ns(const struct service *service, const struct end *end, uint64_t now_ns);
void service_take_over(struct service *service, struct grant *grant, struct actions *actions);
void service_share(struct service *service, struct grant *old, unsigned old_worker, struct grant *copy,
                   unsigned copy_worker, struct actions *actions);
/* Returns true if the results must be dropped. In this case they were counted as received and stored. */
bool service_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest,
                   const struct message *message, struct actions *actions);
