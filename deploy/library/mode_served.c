/* SPDX-License-Identifier: MIT */
/* The modes with a coordinator. In mode central, rank 0 cuts a chunk for each request. In mode hierarchical, the first
 * rank of each group keeps a pool. It gets refills from rank 0, with one chunk for each rank of the group.
 *
 * The rules are those of the daemons: sched_cut() cuts chunks, common/service/refill.h orders refills and times their
 * requests, and common/service/pool.h assigns chunks of a pool. The state machines of the daemons are not used, because
 * they end a loop only after all results have arrived. A rank of a program must know as soon as no chunk is left for
 * it, because other ranks may wait for it in the next loop.
 *
 * A coordinator computes, too, and serves requests whenever it is in the library. It is finished when each of its ranks
 * has left or knows that no iterations remain. Rank 0 is finished when each coordinator is finished. So no message is
 * in transit after a time step. As a precaution, consecutive time steps use different tags. Messages are plain
 * structures, because all ranks have the same architecture and MPI library. */
#include "deploy/library/loop.h"

#include "common/sched/sched.h"
#include "common/service/pool.h"
#include "common/service/refill.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/hdss.h"

#include <stdlib.h>
#include <string.h>

#define RECEIVES 8
/* The tags of a time step are used again this many time steps later. */
#define TAG_STEPS 4096u

enum tag { TAG_ASK, TAG_ANSWER, TAG_REFILL, TAGS };

enum kind {
    KIND_WORK,
    KIND_LEAVE,
    KIND_REFILL,
    /* Sent when all ranks of a group have left. Ranks send WORK and LEAVE to their coordinator; coordinators send
     * REFILL and GONE to rank 0. */
    KIND_GONE,
};

/* Only the first `records` elements of `measured` are sent. */
struct ask {
    uint32_t kind, records;
    struct measured measured[];
};

/* A chunk; if `count` is 0, no iterations remain. In a refill, `owner` is the index of a rank within its group. */
struct grant {
    uint64_t first, count;
    uint64_t owner;
};

struct coordinator {
    MPI_Request receives[RECEIVES];
    unsigned char *asks;
    unsigned head;
    unsigned left;
    unsigned *waiting;
    unsigned waiting_count;
    struct pool pool;
    bool pool_ready;
    struct refills refills;
    uint64_t handed_out;
    struct ask *refill_ask;
    struct measured *measured;
    /* Owned arrays of refills. Rank 0 has room for the refill that is being cut: [ranks + 1]. Other ranks have room for
     * the refills that they have requested: [REFILLS_OPEN_MAX][members + 1], in the order of `refills`. */
    struct grant *refill;
    MPI_Request refill_sent, refill_received[REFILLS_OPEN_MAX];
};

struct scheduler {
    struct sched sched;
    bool ready;
    unsigned groups_left;
};

struct served {
    bool central, learns, coordinates;
    unsigned idle;
    unsigned members;
    unsigned *member;
    unsigned *first;
    unsigned *index;
    int coordinator_rank;
    size_t ask_bytes;
    struct scheduler scheduler;
    struct coordinator coordinator;
    bool open;
    MPI_Request answer;
    struct grant answered;
    bool asked, told_end;
};

static int tag_of(const struct hdss_shared_loop *loop, enum tag tag)
{
    return (int)(loop->epoch % TAG_STEPS * TAGS + tag);
}

static size_t ask_size(size_t records)
{
    return sizeof(struct ask) + records * sizeof(struct measured);
}

static void count_message(struct hdss_shared_loop *loop, size_t bytes)
{
    loop->figures.messages++;
    loop->figures.bytes += bytes;
}

static void served_learn(struct served *served, const struct measured *measured)
{
    sched_feedback(&served->scheduler.sched, &(struct sched_feedback){.worker = measured->worker - served->idle,
                                                                      .chunks = measured->chunks,
                                                                      .iterations = measured->iterations,
                                                                      .compute_s = measured->compute_s,
                                                                      .wait_s = measured->wait_s});
}

static bool served_cut(struct served *served, unsigned rank, struct range *chunk)
{
    return sched_cut(&served->scheduler.sched, rank - served->idle, chunk);
}

struct group_refill {
    struct served *served;
    unsigned group;
    struct grant *grants;
    unsigned count;
};

static bool group_refill_cut(void *context, unsigned i)
{
    struct group_refill *refill = context;
    struct served *served = refill->served;
    struct range chunk;
    if (!served_cut(served, served->member[served->first[refill->group] + i], &chunk))
        return false;
    refill->grants[refill->count++] = (struct grant){.first = chunk.first, .count = chunk.count, .owner = i};
    return true;
}

static unsigned cut_refill(struct served *served, unsigned group, struct grant *grants)
{
    struct group_refill refill = {served, group, grants, 0};
    unsigned members = served->first[group + 1] - served->first[group];
    refill_cut(members, members, group_refill_cut, &refill);
    return refill.count;
}

static void served_put(struct hdss_shared_loop *loop, struct coordinator *coordinator, const struct grant *grants,
                       unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pool_put(&coordinator->pool, (unsigned)grants[i].owner, (struct range){grants[i].first, grants[i].count});
    coordinator->refills.parked = count == 0;
    loop->figures.refills++;
}

static size_t gather_measured(struct served *served, enum kind kind)
{
    struct coordinator *coordinator = &served->coordinator;
    struct ask *ask = coordinator->refill_ask;
    ask->kind = kind;
    ask->records = 0;
    for (unsigned i = 0; served->learns && i < served->members; i++)
        if (coordinator->measured[i].chunks > 0)
            ask->measured[ask->records++] = coordinator->measured[i];
    if (served->learns)
        memset(coordinator->measured, 0, served->members * sizeof *coordinator->measured);
    return ask_size(ask->records);
}

static void send_to_rank_0(struct hdss_shared_loop *loop, struct served *served, enum kind kind)
{
    struct coordinator *coordinator = &served->coordinator;
    MPI_Wait(&coordinator->refill_sent, MPI_STATUS_IGNORE);
    size_t bytes = gather_measured(served, kind);
    MPI_Isend(coordinator->refill_ask, (int)bytes, MPI_BYTE, 0, tag_of(loop, TAG_ASK), loop->team.world,
              &coordinator->refill_sent);
    count_message(loop, bytes);
}

static struct grant *refill_place(const struct served *served, unsigned place)
{
    return served->coordinator.refill + (size_t)place * (served->members + 1);
}

static void ask_for_refill(struct hdss_shared_loop *loop, struct served *served, uint64_t now_ns)
{
    struct coordinator *coordinator = &served->coordinator;
    unsigned place = (coordinator->refills.first + coordinator->refills.open) % REFILLS_OPEN_MAX;
    refills_ask(&coordinator->refills, now_ns);
    MPI_Irecv(refill_place(served, place), (int)((served->members + 1) * sizeof *coordinator->refill), MPI_BYTE, 0,
              tag_of(loop, TAG_REFILL), loop->team.world, &coordinator->refill_received[place]);
    send_to_rank_0(loop, served, KIND_REFILL);
}

static bool take_refill(struct hdss_shared_loop *loop, struct served *served)
{
    struct coordinator *coordinator = &served->coordinator;
    unsigned place = coordinator->refills.first % REFILLS_OPEN_MAX;
    MPI_Status status;
    int arrived = 0, bytes;
    if (coordinator->refills.open == 0)
        return false;
    MPI_Test(&coordinator->refill_received[place], &arrived, &status);
    if (!arrived)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    refills_take(&coordinator->refills, backoff_clock_ns());
    served_put(loop, coordinator, refill_place(served, place), (unsigned)((size_t)bytes / sizeof *coordinator->refill));
    return true;
}

/* Makes sure that the pool gets a refill in time. Call it before a chunk of the pool is assigned. Rank 0 cuts its own
 * refill at once; other ranks request a refill from rank 0. */
static void served_refill(struct hdss_shared_loop *loop, struct served *served)
{
    struct coordinator *coordinator = &served->coordinator;
    bool cuts = loop->team.rank == 0;
    if (!cuts && refills_gap_is_over(&coordinator->refills, coordinator->handed_out))
        refills_measure_gap(&coordinator->refills, coordinator->handed_out, backoff_clock_ns());
    if (!refills_are_wanted(&coordinator->refills, coordinator->pool.count, coordinator->waiting_count + 1))
        return;
    if (cuts)
        served_put(loop, coordinator, coordinator->refill, cut_refill(served, loop->team.group, coordinator->refill));
    else
        ask_for_refill(loop, served, backoff_clock_ns());
}

enum taken { TAKEN, TAKE_LATER, TAKE_NEVER };

static enum taken served_take(struct hdss_shared_loop *loop, struct served *served, unsigned member,
                              struct range *chunk)
{
    struct coordinator *coordinator = &served->coordinator;
    if (served->central)
        return served_cut(served, member, chunk) ? TAKEN : TAKE_NEVER;
    served_refill(loop, served);
    if (!pool_take(&coordinator->pool, member, chunk))
        return coordinator->refills.parked ? TAKE_NEVER : TAKE_LATER;
    coordinator->handed_out++;
    return TAKEN;
}

static void served_answer(struct hdss_shared_loop *loop, struct served *served, unsigned member)
{
    struct coordinator *coordinator = &served->coordinator;
    struct grant grant = {0};
    struct range chunk = {0};
    switch (served_take(loop, served, member, &chunk)) {
    case TAKE_LATER: coordinator->waiting[coordinator->waiting_count++] = member; return;
    case TAKE_NEVER: coordinator->left++; break;
    case TAKEN: grant = (struct grant){.first = chunk.first, .count = chunk.count, .owner = member};
    }
    int rank = (int)served->member[served->first[served->central ? 0 : loop->team.group] + member];
    MPI_Send(&grant, sizeof grant, MPI_BYTE, rank, tag_of(loop, TAG_ANSWER), loop->team.world);
    count_message(loop, sizeof grant);
}

static void answer_waiting(struct hdss_shared_loop *loop, struct served *served)
{
    struct coordinator *coordinator = &served->coordinator;
    unsigned count = coordinator->waiting_count;
    coordinator->waiting_count = 0;
    for (unsigned i = 0; i < count; i++)
        /* served_answer() may put the rank back into `waiting`; this overwrites only entries that were already read */
        served_answer(loop, served, coordinator->waiting[i]);
}

static void send_refill(struct hdss_shared_loop *loop, struct served *served, int coordinator_rank)
{
    struct coordinator *coordinator = &served->coordinator;
    size_t bytes =
        cut_refill(served, loop->team.group_of[coordinator_rank], coordinator->refill) * sizeof *coordinator->refill;
    MPI_Send(coordinator->refill, (int)bytes, MPI_BYTE, coordinator_rank, tag_of(loop, TAG_REFILL), loop->team.world);
    count_message(loop, bytes);
}

static void note_measured(struct hdss_shared_loop *loop, struct served *served, const struct measured *measured)
{
    if (loop->team.rank == 0) {
        served_learn(served, measured);
        return;
    }
    struct measured *sum = &served->coordinator.measured[served->index[measured->worker]];
    sum->worker = measured->worker;
    sum->chunks += measured->chunks;
    sum->iterations += measured->iterations;
    sum->compute_s += measured->compute_s;
    sum->wait_s += measured->wait_s;
}

static void served_handle(struct hdss_shared_loop *loop, struct served *served, const struct ask *ask, int from)
{
    for (unsigned i = 0; i < ask->records; i++)
        note_measured(loop, served, &ask->measured[i]);
    switch ((enum kind)ask->kind) {
    case KIND_WORK: served_answer(loop, served, served->index[from]); break;
    case KIND_LEAVE: served->coordinator.left++; break;
    case KIND_REFILL: send_refill(loop, served, from); break;
    case KIND_GONE: served->scheduler.groups_left++; break;
    }
}

static bool served_serve_one(struct hdss_shared_loop *loop, struct served *served)
{
    struct coordinator *coordinator = &served->coordinator;
    MPI_Status status;
    int arrived;
    MPI_Test(&coordinator->receives[coordinator->head], &arrived, &status);
    if (!arrived)
        return false;
    served_handle(loop, served, (const struct ask *)(coordinator->asks + coordinator->head * served->ask_bytes),
                  status.MPI_SOURCE);
    MPI_Start(&coordinator->receives[coordinator->head]);
    coordinator->head = (coordinator->head + 1) % RECEIVES;
    return true;
}

static bool served_serve(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    bool any = take_refill(loop, served);
    if (any)
        answer_waiting(loop, served);
    for (int i = 0; i < 2 * loop->team.ranks && served_serve_one(loop, served); i++)
        any = true;
    return any;
}

static void served_send_ask(struct hdss_shared_loop *loop, struct served *served, enum kind kind)
{
    _Alignas(struct ask) unsigned char bytes[sizeof(struct ask) + sizeof(struct measured)];
    struct ask *ask = (struct ask *)bytes;
    *ask = (struct ask){.kind = kind};
    if (served->learns && loop->measured.chunks > 0) {
        loop->measured.worker = (uint32_t)loop->team.rank;
        ask->measured[ask->records++] = loop->measured;
        loop->measured = (struct measured){0};
    }
    size_t size = ask_size(ask->records);
    MPI_Send(ask, (int)size, MPI_BYTE, served->coordinator_rank, tag_of(loop, TAG_ASK), loop->team.world);
    count_message(loop, size);
}

static void served_ask(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    if (served->coordinates || served->asked || served->told_end)
        return;
    served->asked = true;
    MPI_Irecv(&served->answered, sizeof served->answered, MPI_BYTE, served->coordinator_rank, tag_of(loop, TAG_ANSWER),
              loop->team.world, &served->answer);
    served_send_ask(loop, served, KIND_WORK);
}

static void served_wait_for_answer(struct hdss_shared_loop *loop, struct served *served)
{
    int arrived = 0;
    backoff_reset(&loop->backoff);
    for (;;) {
        MPI_Test(&served->answer, &arrived, MPI_STATUS_IGNORE);
        if (arrived)
            break;
        linked_wait(loop);
    }
    served->asked = false;
    served->told_end = served->answered.count == 0;
}

static bool draw_there(struct hdss_shared_loop *loop, struct served *served, struct range *chunk)
{
    served_ask(loop);
    if (served->asked)
        served_wait_for_answer(loop, served);
    *chunk = (struct range){.first = served->answered.first, .count = served->answered.count};
    return !served->told_end;
}

static void note_own(struct hdss_shared_loop *loop, struct served *served)
{
    if (!served->learns || loop->measured.chunks == 0)
        return;
    loop->measured.worker = (uint32_t)loop->team.rank;
    note_measured(loop, served, &loop->measured);
    loop->measured = (struct measured){0};
}

static bool draw_here(struct hdss_shared_loop *loop, struct served *served, struct range *chunk)
{
    if (served->idle > 0)
        return false;
    progress_lock(loop);
    note_own(loop, served);
    progress_unlock(loop);
    backoff_reset(&loop->backoff);
    for (;;) {
        progress_lock(loop);
        served_serve(loop);
        enum taken taken = served_take(loop, served, served->index[loop->team.rank], chunk);
        progress_unlock(loop);
        if (taken != TAKE_LATER)
            return taken == TAKEN;
        linked_wait(loop);
    }
}

static bool served_draw(struct hdss_shared_loop *loop, struct range *chunk)
{
    struct served *served = loop->own;
    return served->coordinates ? draw_here(loop, served, chunk) : draw_there(loop, served, chunk);
}

static bool served_is_needed(const struct hdss_shared_loop *loop, const struct served *served)
{
    if (served->coordinator.left < served->members - 1 || served->coordinator.refills.open > 0)
        return true;
    return loop->team.rank == 0 && !served->central && served->scheduler.groups_left < loop->team.groups - 1;
}

static void finish_here(struct hdss_shared_loop *loop, struct served *served)
{
    progress_stop(loop);
    backoff_reset(&loop->backoff);
    note_own(loop, served);
    while (served_is_needed(loop, served))
        if (served_serve(loop))
            backoff_reset(&loop->backoff);
        else
            linked_wait(loop);
    if (loop->team.rank != 0)
        send_to_rank_0(loop, served, KIND_GONE);
}

static void finish_there(struct hdss_shared_loop *loop, struct served *served)
{
    if (served->asked)
        served_wait_for_answer(loop, served);
    if (!served->told_end)
        served_send_ask(loop, served, KIND_LEAVE);
}

static void served_finish(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    if (served->coordinates)
        finish_here(loop, served);
    else
        finish_there(loop, served);
}

static int served_list_members(struct hdss_shared_loop *loop, struct served *served)
{
    const struct team *team = &loop->team;
    unsigned groups = served->central ? 1 : team->groups;
    served->member = calloc((size_t)team->ranks, sizeof *served->member);
    served->index = calloc((size_t)team->ranks, sizeof *served->index);
    served->first = calloc(groups + 2, sizeof *served->first);
    if (served->member == NULL || served->index == NULL || served->first == NULL)
        return -1;
    for (int i = 0; i < team->ranks; i++)
        served->index[i] = served->first[(served->central ? 0 : team->group_of[i]) + 2]++;
    for (unsigned g = 2; g < groups + 2; g++)
        served->first[g] += served->first[g - 1];
    for (int i = 0; i < team->ranks; i++)
        served->member[served->first[(served->central ? 0 : team->group_of[i]) + 1]++] = (unsigned)i;
    return 0;
}

static int prepare_coordinator(struct hdss_shared_loop *loop, struct served *served)
{
    struct coordinator *coordinator = &served->coordinator;
    unsigned most = loop->team.rank == 0 ? (unsigned)loop->team.ranks : served->members;
    served->ask_bytes = ask_size(most);
    coordinator->asks = calloc(RECEIVES, served->ask_bytes);
    coordinator->waiting = calloc(served->members, sizeof *coordinator->waiting);
    coordinator->measured = calloc(served->members, sizeof *coordinator->measured);
    coordinator->refill_ask = calloc(1, served->ask_bytes);
    coordinator->refill =
        calloc((loop->team.rank == 0 ? 1 : REFILLS_OPEN_MAX) * ((size_t)most + 1), sizeof *coordinator->refill);
    coordinator->pool_ready =
        pool_init(&coordinator->pool, served->members,
                  served->central ? 0 : POOL_REFILLS(REFILLS_OPEN_MAX) * served->members + 1) == 0;
    return coordinator->asks != NULL && coordinator->waiting != NULL && coordinator->measured != NULL &&
                   coordinator->refill_ask != NULL && coordinator->refill != NULL && coordinator->pool_ready
               ? 0
               : -1;
}

static int prepare_once(struct hdss_shared_loop *loop, struct served *served)
{
    const struct team *team = &loop->team;
    served->central = loop->settings.mode == API_CENTRAL;
    served->idle = loop->settings.leader_idles;
    served->members = (unsigned)(served->central ? team->ranks : team->group_ranks);
    served->coordinator_rank = served->central ? 0 : team->leaders[team->group];
    served->coordinates = served->coordinator_rank == team->rank;
    if (served_list_members(loop, served) < 0 || (served->coordinates && prepare_coordinator(loop, served) < 0))
        return error_set(&loop->error, "out of memory for %d ranks", team->ranks);
    return 0;
}

static int prepare_scheduler(struct hdss_shared_loop *loop, struct served *served)
{
    const struct sched_config config = {.iterations = loop->iterations,
                                        .workers = (unsigned)loop->team.ranks - served->idle,
                                        .powers = loop->powers,
                                        .min_chunk = loop->settings.min_chunk,
                                        .weighting = loop->settings.weighting};
    struct scheduler *scheduler = &served->scheduler;
    scheduler->groups_left = 0;
    if (scheduler->ready && loop->technique_changed) {
        sched_fini(&scheduler->sched);
        scheduler->ready = false;
    }
    if (scheduler->ready)
        return sched_again(&scheduler->sched, loop->iterations, &loop->error);
    if (sched_init(&scheduler->sched, &loop->settings.technique, &config, &loop->error) < 0)
        return -1;
    scheduler->ready = true;
    return 0;
}

static int served_prepare(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    if (served->member == NULL && prepare_once(loop, served) < 0)
        return HDSS_ERROR_MEMORY;
    served->learns = sched_spec_learns(&loop->settings.technique);
    served->asked = served->told_end = false;
    if (loop->team.rank != 0)
        return HDSS_OK;
    if ((!served->scheduler.ready || loop->technique_changed) && loop_make_powers(loop, false) < 0)
        return HDSS_ERROR_MEMORY;
    return prepare_scheduler(loop, served) < 0 ? HDSS_ERROR_TECHNIQUE : HDSS_OK;
}

static int served_open(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    struct coordinator *coordinator = &served->coordinator;
    served->open = true;
    served->answer = MPI_REQUEST_NULL;
    coordinator->refill_sent = MPI_REQUEST_NULL;
    loop->serves = served->coordinates && loop->team.ranks > 1;
    if (!served->coordinates)
        return 0;
    coordinator->head = coordinator->left = coordinator->waiting_count = 0;
    coordinator->handed_out = 0;
    refills_init(&coordinator->refills, served->members, 1, REFILLS_OPEN_MAX, false);
    for (unsigned i = 0; i < RECEIVES; i++) {
        MPI_Recv_init(coordinator->asks + i * served->ask_bytes, (int)served->ask_bytes, MPI_BYTE, MPI_ANY_SOURCE,
                      tag_of(loop, TAG_ASK), loop->team.world, &coordinator->receives[i]);
        MPI_Start(&coordinator->receives[i]);
    }
    return 0;
}

static void served_close(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    struct coordinator *coordinator = &served->coordinator;
    if (!served->open)
        return;
    served->open = false;
    if (!served->coordinates)
        return;
    MPI_Wait(&coordinator->refill_sent, MPI_STATUS_IGNORE);
    for (unsigned i = 0; i < RECEIVES; i++) {
        MPI_Cancel(&coordinator->receives[i]);
        MPI_Wait(&coordinator->receives[i], MPI_STATUS_IGNORE);
        MPI_Request_free(&coordinator->receives[i]);
    }
    struct range left;
    while (pool_take(&coordinator->pool, 0, &left))
        ;
}

static void served_fini(struct hdss_shared_loop *loop)
{
    struct served *served = loop->own;
    struct coordinator *coordinator = &served->coordinator;
    if (served->scheduler.ready)
        sched_fini(&served->scheduler.sched);
    if (coordinator->pool_ready)
        pool_fini(&coordinator->pool);
    free(coordinator->asks);
    free(coordinator->waiting);
    free(coordinator->measured);
    free(coordinator->refill_ask);
    free(coordinator->refill);
    free(served->member);
    free(served->index);
    free(served->first);
}

const struct mode mode_served = {
    .own_bytes = sizeof(struct served),
    .prepare = served_prepare,
    .open = served_open,
    .draw = served_draw,
    .ask = served_ask,
    .serve = served_serve,
    .finish = served_finish,
    .close = served_close,
    .fini = served_fini,
};
