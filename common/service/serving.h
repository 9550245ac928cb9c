/* SPDX-License-Identifier: MIT */
/* The parts of the service, for its own files only. */
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

/* service.c: notes what becomes of a range of a chunk of worker `w`, for a trace that there is. */
void service_trace_part(const struct service *service, enum trace_record_kind kind, unsigned w, uint32_t chunk,
                        const struct range *range);

/* The same where there may be none. */
static inline void service_note_part(const struct service *service, enum trace_record_kind kind, unsigned w,
                                     uint32_t chunk, uint64_t first, uint64_t count)
{
    if (service->trace != NULL)
        service_trace_part(service, kind, w, chunk, &(struct range){first, count});
}

/* Notes that what is left of the grant is lost, or undone: what its worker has not told is done. In a loop with
 * dependencies that is all of it, as a chunk counts as a whole there. */
static inline void service_note_rest(const struct service *service, enum trace_record_kind kind, unsigned w,
                                     const struct grant *grant)
{
    const uint64_t told = service->dependent ? 0 : grant->received;
    service_note_part(service, kind, w, grant->chunk, grant->first + told, grant->count - told);
}

/* service.c */
void service_move(struct service *service, enum service_state state, const struct actions *actions);

/* service.c: makes room for a worker, which is served from now on. */
void service_begin_to_serve(struct service *service, unsigned w);

/* service.c: the worker, which asks for chunks, waits for them behind the others. */
void service_enqueue(struct service *service, unsigned w);

/* reissue.c: the worker waits for nothing any more. */
void service_leave_queue(struct service *service, unsigned w);

/* index.c: finds workers in O(log W) */
/* Switches the index on, if it is not. False when memory is out: nothing is recalled or copied until there is some. */
bool service_index_begin(struct service *service);
/* Switches it off. */
void service_index_end(struct service *service);
void service_index_fini(struct service *service);
/* Worker `w` has changed, in what it holds or was asked for. */
void service_index_note_stale(struct service *service, unsigned w);
static inline void service_note_change(struct service *service, unsigned w)
{
    if (__builtin_expect(service->line.index.is_on, 0))
        service_index_note_stale(service, w);
}
/* Brings it up to date, as each of these needs it. */
void service_index_update(struct service *service);
/* Workers that may be asked for work. */
static inline unsigned service_index_askable(const struct service *service)
{
    return service->line.index.tree[1].askable;
}
/* Mean time of an iteration, over all workers; 0: not known. */
double service_index_mean_ns(const struct service *service);
void service_index_check(const struct service *service);
/* True if the worker waits for nothing but a chunk: it has none, and room for one. */
bool service_is_free(const struct service *service, unsigned w);

/* order.c: loops with dependencies */
/* Tells workers who computes the chunk behind theirs, for all chunks assigned in this step. The ASSIGNs themselves
 * have been sent before. */
void service_tell_neighbours(struct service *service, struct actions *actions);

/* recall.c: work that has not begun moves to who is idle */
static inline bool service_recalls(const struct service *service)
{
    return service->spec->recall == RUN_RECALL_ON && !service->dependent && service->state == SERVICE_SERVING;
}
/* Sends RECALLs for those who are idle. */
void service_recall(struct service *service, uint64_t now_ns, struct actions *actions);
int service_receive_returned(struct service *service, unsigned w, const struct message *message,
                             struct actions *actions, struct error *error);
/* True where something came back, and who waited for it waits no more: it was lost, or got other work. */
static inline bool service_has_vain_recall(const struct service *service)
{
    return service->recall.count > 0 && service->line.count == 0;
}
/* The worker's share of what came back; false where there is nothing, or it is for others. */
bool service_next_recalled(struct service *service, unsigned w, struct range *range);
/* True if worker `w` may have iterations that have not begun, and is to be asked for them. */
bool service_may_be_asked(const struct service *service, unsigned w);
/* What an askable worker holds, and what another does that holds chunks, for the index. */
void service_hold_for_recall(const struct service *service, unsigned w, struct holding *holding);
void service_hold_for_copy(const struct service *service, unsigned w, struct holding *holding);
/* Worker `w` does not answer: nobody counts on it any more. */
void service_give_up_recall(struct service *service, unsigned w);
/* Gives up those that are late with their answer, and sets when to look again; most often there is nothing to look at.
 */
void service_give_up_late_recalls(struct service *service, uint64_t now_ns);
/* The results of worker `w` may count no more, or it is put aside: has it give up what it has not begun. */
void service_stop_loser(struct service *service, unsigned w, struct actions *actions);
/* Worker `w` is gone, and will not answer. */
void service_forget_recall(struct service *service, unsigned w);

/* verify.c: results that are computed again, see verify.h */
int service_verify_init(struct service *service); /* -1 when memory is out */
void service_verify_fini(struct service *service);
int service_verify_reserve(struct service *service, unsigned workers); /* -1 when memory is out */
void service_verify_add_workers(struct service *service, unsigned workers);
void service_verify_check(const struct service *service);
/* A part is stored: true where it is drawn and held back, until a second worker has computed it. */
bool service_hold_back(struct service *service, const struct part *part);
/* True for a part of a third computation; service_take_third() takes it, when it is stored. */
bool service_is_third(struct service *service, const struct part *part);
bool service_take_third(struct service *service, const struct part *part);
/* What worker `w` is to compute a second or third time, no longer in its queue; NULL: nothing. */
struct verification *service_next_verification(struct service *service, unsigned w);
void service_begin_verification(struct service *service, struct verification *verification, unsigned w,
                                struct grant *grant);
/* The next `count` results of a second or third computation are here: whether they are compared, and dropped; else they
 * are to be stored. */
bool service_verify_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest);
/* Worker `w` does not complete the grant, and what still comes of it is dropped: another is to compute the range.
 * `was_lost`: it died, hangs or failed, which is tried a few times only. */
void service_abandon_verification(struct service *service, unsigned w, struct grant *grant, bool was_lost);
/* When an overdue second or third computation is taken from its worker for `w`, which could have a copy of a chunk at
 * `end_ns`: then, if `w` may compute it, else when nobody would count on its worker any more. */
uint64_t service_verify_end_ns(const struct service *service, const struct grant *grant, unsigned w, uint64_t end_ns);
/* Nobody is served any more: tells what nobody will decide. */
void service_verify_end(struct service *service);
/* Where workers wait and nothing but verifications is left, for others: notes when to look whether these hang. */
void service_verify_look(struct service *service, uint64_t now_ns);
/* Lets go what nobody is left for, where that is due. */
void service_verify_expire(struct service *service, uint64_t now_ns);

/* reissue.c: what is handed out again */
/* Tells the owner that memory is out where `result` is below 0. */
void service_check_memory(struct service *service, int result);
/* Has the range handed out again, or given up where it has failed too often; true if any of it is handed out. */
bool service_requeue(struct service *service, const struct range *range, uint64_t now_ns);
/* Adds the range to the requeued work as it is. */
void service_put_requeued(struct service *service, const struct range *range, uint64_t now_ns);
/* Takes what worker `w` is to get of what was requeued; false when nothing of it is for `w` now. */
bool service_take_requeued(struct service *service, unsigned w, uint64_t now_ns, struct range *range, bool *isolated);
/* Ends the sharing of a grant: where another worker has its rest, too, that worker has it alone. */
void service_unshare(struct service *service, const struct grant *grant);
/* The oldest grant that the worker has not finished: a worker of one thread computes it. NULL: it has none. */
struct grant *service_running_grant(struct served *worker);
/* True if a copy of what is left of the grant is to be run with care. A worker was lost with it, or it was copied
 * before, and that helped nothing: its iterations may take workers down, faster than losses become known. */
bool service_wants_care(const struct service *service, const struct grant *grant);
/* Iterations of worker `w` did not work, in a loop with dependencies, and it tries them again. */
void service_note_try(struct service *service, unsigned w, const struct iterations_failed *failure);
/* The next iterations of a grant, which are counted as over, did not work. */
void service_iterations_failed(struct service *service, unsigned w, struct grant *grant,
                               const struct iterations_failed *failure, uint64_t now_ns, struct actions *actions);
/* Makes room for one more item of `size` bytes; false when memory is out. */
bool service_make_room(struct service *service, void **items, size_t count, size_t *capacity, size_t size);
/* The time at which the answer of a worker that was asked for work and heard then is late; NEVER where that is. */
uint64_t service_answer_due_ns(const struct service *service, uint64_t heard_ns);
/* Mean time of an iteration, over all workers; 0: not known. */
double service_mean_iteration_ns(const struct service *service);
/* The chunk that is overdue for longest, of another worker than `w`, and whose it is; NULL: none at present. */
struct grant *service_find_overdue(struct service *service, unsigned w, uint64_t now_ns, unsigned *other);
/* After an END: when those who have not left are taken for lost. */
uint64_t service_leave_due_ns(const struct service *service, const struct end *end, uint64_t now_ns);
/* Leaves the rest of a grant that two workers have to the grant's own worker. */
void service_take_over(struct service *service, struct grant *grant, struct actions *actions);
/* Two workers have the rest of a chunk from now on. */
void service_share(struct service *service, struct grant *old, unsigned old_worker, struct grant *copy,
                   unsigned copy_worker, struct actions *actions);
/* Results come of a chunk that another worker has, too: whether they are dropped, and then lets the next `count` go. */
bool service_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest,
                   const struct message *message, struct actions *actions);
