/* SPDX-License-Identifier: MIT */
/* Several jobs at once on the same ranks: real links and drivers (common/mpi) and real machines, in one process under
 * virtual time. MPI is played here: a message takes LATENCY_NS, and those of one sender arrive in their order. */
#include "common/config/run_spec.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/driver.h"
#include "common/mpi/link.h"
#include "common/mpi/net.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/wait.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "master/master.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

#include <stdlib.h>
#include <string.h>

enum { SUPERMASTER, MASTER, WORKER, WORKERS = 3, RANKS = WORKER + WORKERS, JOBS = 12, HEADROOM = 64 };

#define LATENCY_NS 2000u
#define TURN_NS    100u     /* a turn of a link costs so much */
#define PIECE_NS   1000000u /* an executor computes for so long in a turn */
#define LIMIT_NS   20000000000u

/* --- the world --- */

struct sent {
    unsigned from, to;
    int tag;
    size_t size;
    uint64_t arrives_ns;
    struct sent *next;
    unsigned char bytes[];
};

/* A data message that a rank waits for. */
struct wanted {
    unsigned from, to;
    void *room;
    bool is_taken;
};

static struct sent *under_way[RANKS]; /* those to each rank, in the order of their arrival */
static struct wanted wanted[4096];
static size_t wanted_count;
static uint64_t clock_ns[RANKS], wake_ns[RANKS];
static bool is_idle[RANKS], is_dead[RANKS];
static unsigned current; /* the rank whose turn it is */

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void send_bytes(const void *bytes, size_t size, unsigned to, int tag)
{
    struct sent *sent = malloc(sizeof *sent + size), **place = &under_way[to];
    if (sent == NULL)
        ck_abort_msg("out of memory");
    *sent = (struct sent){.from = current, .to = to, .tag = tag, .size = size};
    sent->arrives_ns = clock_ns[current] + LATENCY_NS;
    memcpy(sent->bytes, bytes, size);
    while (*place != NULL && (*place)->arrives_ns <= sent->arrives_ns)
        place = &(*place)->next;
    sent->next = *place;
    *place = sent;
    if (is_idle[to])
        wake_ns[to] = wake_ns[to] < sent->arrives_ns ? wake_ns[to] : at_least(sent->arrives_ns, clock_ns[to]);
}

/* The oldest message of the tag (and from `from`, where that is a rank) that has arrived. */
static struct sent **arrived(int tag, unsigned from)
{
    struct sent **place = &under_way[current];
    for (; *place != NULL && (*place)->arrives_ns <= clock_ns[current]; place = &(*place)->next)
        if ((*place)->tag == tag && (from == RANKS || (*place)->from == from))
            return place;
    return NULL;
}

static void drop(struct sent **place)
{
    struct sent *sent = *place;
    *place = sent->next;
    free(sent);
}

static carrier_request played_isend(carrier_comm comm, int to, int tag, const void *bytes, size_t size)
{
    (void)comm;
    send_bytes(bytes, size, (unsigned)to, tag);
    return 0;
}

static carrier_request played_irecv(carrier_comm comm, int from, int tag, void *room, size_t size)
{
    (void)comm, (void)tag, (void)size;
    ck_assert_uint_lt(wanted_count, sizeof wanted / sizeof *wanted);
    wanted[wanted_count] = (struct wanted){.from = (unsigned)from, .to = current, .room = room};
    return ++wanted_count;
}

/* A data message goes to the oldest that waits for one from there. */
static enum carrier_result played_test(carrier_request *request, bool *is_over, struct carrier_status *status)
{
    (void)status;
    *is_over = *request == 0;
    if (*is_over)
        return CARRIER_DONE;
    const size_t own = *request - 1;
    for (size_t i = 0; i < own; i++)
        if (!wanted[i].is_taken && wanted[i].from == wanted[own].from && wanted[i].to == wanted[own].to)
            return CARRIER_DONE;
    struct sent **place = arrived(TAG_DATA, wanted[own].from);
    if (place == NULL)
        return CARRIER_DONE;
    memcpy(wanted[own].room, (*place)->bytes, (*place)->size);
    wanted[own].is_taken = true;
    *is_over = true;
    drop(place);
    *request = 0;
    return CARRIER_DONE;
}

static carrier_request played_recv_init(carrier_comm comm, int from, int tag, void *room, size_t size)
{
    (void)comm, (void)from, (void)tag, (void)room, (void)size;
    return 0;
}

static void played_release(carrier_request *request)
{
    *request = 0;
}

static void played_cancel(carrier_request request)
{
    (void)request;
}

static void played_wait(carrier_request *request)
{
    (void)request;
}

static const struct carrier played_carrier = {
    .isend = played_isend,
    .irecv = played_irecv,
    .recv_init = played_recv_init,
    .test = played_test,
    .wait = played_wait,
    .cancel = played_cancel,
    .release = played_release,
};

/* --- the machine --- */

static uint64_t played_now(void)
{
    return clock_ns[current];
}

static void played_delay(struct runtime *runtime, uint64_t ns)
{
    (void)runtime;
    clock_ns[current] += ns;
}

static int played_prepare(struct runtime *runtime, struct error *error)
{
    (void)runtime, (void)error;
    return 0;
}

static int played_watch_all(struct runtime *runtime)
{
    if (peers_init(&runtime->peers, RANKS) < 0)
        return -1;
    for (unsigned i = 0; i < RANKS; i++)
        if (i != runtime->rank)
            peers_move(&runtime->peers, i, PEER_WATCH);
    return 0;
}

static void played_towards(struct runtime *runtime, unsigned rank)
{
    (void)runtime, (void)rank;
}

static void played_look_at_peers(struct runtime *runtime, uint64_t now_ns)
{
    (void)now_ns;
    for (unsigned i = 0; i < RANKS; i++)
        if (is_dead[i] && peers_is_watched(&runtime->peers, i))
            peers_move(&runtime->peers, i, PEER_DIES);
}

static const char *played_fenced(const struct runtime *runtime)
{
    (void)runtime;
    return NULL;
}

static void played_abandon(struct runtime *runtime)
{
    (void)runtime;
}

static void played_start_receive(struct net *net, unsigned receive)
{
    (void)net, (void)receive;
}

static bool played_announce(struct net *net, unsigned to, size_t bytes)
{
    (void)net, (void)bytes;
    return !is_dead[to];
}

static bool played_find_message(struct net *net, struct carrier_status *status)
{
    struct sent **place = arrived(TAG_CONTROL, RANKS);
    if (place == NULL)
        return false;
    *status = (struct carrier_status){.source = (int)(*place)->from, .bytes = (*place)->size};
    memcpy(net->receive_bytes[net->receive_head], (*place)->bytes, (*place)->size);
    drop(place);
    return true;
}

static int played_open_wait(struct wait *wait, struct runtime *runtime)
{
    (void)runtime;
    *wait = (struct wait){.cores_are_free = true, .idle_since_ns = NEVER};
    return 0;
}

static void played_close_wait(struct wait *wait)
{
    (void)wait;
}

static int played_begin_work(struct wait *wait, struct wait_work *work, const struct executor *executor)
{
    (void)wait, (void)work, (void)executor;
    return 0;
}

static void played_end_work(struct wait *wait, struct wait_work *work)
{
    (void)wait, (void)work;
}

static void played_look(struct wait *wait, uint64_t now_ns)
{
    (void)wait, (void)now_ns;
}

static uint64_t next_answer_ns(void);

static bool played_idle(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                        bool (*poll)(void *context), void *context)
{
    (void)wait, (void)runtime, (void)pending, (void)poll, (void)context;
    const struct sent *next = under_way[current];
    while (next != NULL && next->arrives_ns <= now_ns) /* data that nobody wants yet */
        next = next->next;
    is_idle[current] = true;
    wake_ns[current] = until_ns;
    if (next_answer_ns() < until_ns)
        wake_ns[current] = at_least(next_answer_ns(), now_ns);
    if (next != NULL && next->arrives_ns < wake_ns[current])
        wake_ns[current] = next->arrives_ns;
    return true;
}

static bool played_is_sent(carrier_request *request)
{
    return *request == 0;
}

static const struct runtime_ops played = {
    .now = played_now,
    .delay = played_delay,
    .prepare = played_prepare,
    .watch_all = played_watch_all,
    .watch = played_towards,
    .look_at_peers = played_look_at_peers,
    .fence = played_towards,
    .fenced = played_fenced,
    .abandon = played_abandon,
    .sends = SENDS_MAX,
    .start_receive = played_start_receive,
    .announce = played_announce,
    .find_message = played_find_message,
    .is_sent = played_is_sent,
    .ring = played_towards,
    .open_wait = played_open_wait,
    .close_wait = played_close_wait,
    .begin_work = played_begin_work,
    .end_work = played_end_work,
    .look = played_look,
    .idle = played_idle,
};

/* --- jobs --- */

struct job {
    const char *technique;
    uint64_t count, iteration_ns, record_bytes;
    unsigned weight;
    int priority;
    bool has_helper; /* a process of its own computes for each worker */
    uint32_t number;
    uint64_t from_ns[RANKS];   /* when it is there; of an announced one for the supermaster only */
    size_t bytes;              /* of its announcement; 0: it is there on each rank at its time */
    unsigned announced[RANKS]; /* how often it was */
    bool cannot_open;          /* workers cannot open its kernel */
    struct run_spec spec;
    unsigned char *computed, *stored; /* [count] how often */
};

/* A buffer of results that may be on its way. */
struct buffer {
    unsigned char *bytes;
    bool is_sent;
};

/* Computes by letting its rank's clock go on. */
struct work {
    struct executor executor; /* the first member */
    struct job *job;
    uint64_t first, count, done, mark, began_ns;
    struct buffer buffers[2];
    /* with a helper, which computes while the worker does other things: iterations `done` to `end` - 1 since posted_ns,
     * where that is not NEVER, and begins none behind until_ns */
    uint64_t end, posted_ns, until_ns;
};

/* The part of a job that a rank has. */
struct seat {
    struct driver *driver; /* NULL: it is not there yet, or over */
    bool is_over, opened;
    int status;
    union {
        struct supermaster supermaster;
        struct master master;
        struct worker worker;
    };
    struct effects effects;
    struct machine machine;
    struct work work;
};

static struct job jobs[JOBS];
static unsigned job_count;
static struct seat seats[RANKS][JOBS];
static struct runtime runtimes[RANKS];
static struct link *links[RANKS];
static struct hello hellos[RANKS];
static unsigned worker_ranks[WORKERS];
static const double speeds[WORKERS] = {1, 1, 1};

static struct work *work_of(struct executor *executor)
{
    return (struct work *)executor;
}

static void work_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct work *work = work_of(executor);
    (void)isolated;
    if (work->count > 0)
        ck_abort_msg("a chunk begins before the end of another");
    work->first = first;
    work->count = count;
    work->mark = mark;
    work->done = 0;
    work->began_ns = clock_ns[current];
}

static void work_set_mark(struct executor *executor, uint64_t mark)
{
    work_of(executor)->mark = mark;
}

static struct range work_cut(struct executor *executor, unsigned waiting)
{
    struct work *work = work_of(executor);
    const uint64_t begun = work->done < work->count ? work->done + 1 : work->count;
    const uint64_t given = recall_share(work->count - begun, 1, waiting);
    work->count -= given;
    return (struct range){work->first + work->count, given};
}

static unsigned char result_of(const struct job *job, uint64_t i)
{
    return (unsigned char)(7 * i + (uint64_t)(job - jobs) + 1);
}

static void hand_over(struct work *work, struct buffer *buffer, struct chunk_event *chunk)
{
    const struct job *job = work->job;
    chunk->bytes = work->count * job->record_bytes;
    if (chunk->bytes == 0)
        return;
    buffer->bytes = realloc(buffer->bytes, HEADROOM + chunk->bytes);
    ck_assert_ptr_nonnull(buffer->bytes);
    for (uint64_t i = 0; i < work->count; i++)
        memset(buffer->bytes + HEADROOM + i * job->record_bytes, result_of(job, work->first + i), job->record_bytes);
    buffer->is_sent = true;
    chunk->data = buffer->bytes + HEADROOM;
}

/* Makes the event of what is done. */
static enum turn tell_work(struct work *work, struct event *event)
{
    event->type = work->done < work->count ? EVENT_MARK : EVENT_FINISHED;
    event->chunk = (struct chunk_event){.done = work->done, .compute_ns = work->done * work->job->iteration_ns};
    if (event->type == EVENT_MARK) {
        work->mark = 0;
        return TURN_EVENT;
    }
    event->chunk.count = event->chunk.digest = work->count;
    event->chunk.began_ns = work->began_ns;
    hand_over(work, &work->buffers[work->buffers[0].is_sent], &event->chunk);
    work->count = 0;
    return TURN_EVENT;
}

static enum turn work_advance(struct executor *executor, struct event *event)
{
    struct work *work = work_of(executor);
    struct buffer *buffer = &work->buffers[work->buffers[0].is_sent];
    if (work->count == 0 || buffer->is_sent)
        return TURN_BLOCKED;
    const bool is_marked = work->mark > work->done && work->mark < work->count;
    const uint64_t next = is_marked ? work->mark : work->count;
    for (uint64_t spent_ns = 0; work->done < next && spent_ns < PIECE_NS; spent_ns += work->job->iteration_ns) {
        work->job->computed[work->first + work->done++]++;
        clock_ns[current] += work->job->iteration_ns;
    }
    event->now_ns = clock_ns[current];
    if (work->done < next)
        return TURN_WORKED;
    return tell_work(work, event);
}

static void work_sent(struct executor *executor, const void *data)
{
    struct work *work = work_of(executor);
    work->buffers[data != work->buffers[0].bytes + HEADROOM].is_sent = false;
}

static const struct executor_ops work_ops = {
    .begin = work_begin, .set_mark = work_set_mark, .cut = work_cut, .advance = work_advance, .sent = work_sent};

/* --- a helper --- */

/* Iterations of the command that are over at the moment. */
static uint64_t over_by(const struct work *work, uint64_t ns)
{
    const uint64_t over = (ns - work->posted_ns) / work->job->iteration_ns, all = work->end - work->done;
    return over < all ? over : all;
}

/* Iterations that the helper computes, if nothing is cut, and when it is through. */
static uint64_t helper_computes(const struct work *work)
{
    const uint64_t all = work->end - work->done;
    if (work->until_ns == NEVER || all == 0)
        return all;
    const uint64_t in_time = work->until_ns > work->posted_ns ? over_by(work, work->until_ns - 1) + 1 : 1;
    return in_time < all ? in_time : all;
}

static uint64_t answers_ns(const struct work *work)
{
    return work->posted_ns == NEVER ? NEVER : work->posted_ns + helper_computes(work) * work->job->iteration_ns;
}

static uint64_t next_answer_ns(void)
{
    uint64_t next_ns = NEVER;
    for (unsigned j = 0; current >= WORKER && j < job_count; j++)
        if (jobs[j].has_helper && seats[current][j].driver != NULL && answers_ns(&seats[current][j].work) < next_ns)
            next_ns = answers_ns(&seats[current][j].work);
    return next_ns;
}

static void post_work(struct work *work)
{
    for (unsigned j = 0; j < job_count; j++) /* a worker computes for one job at a time */
        ck_assert(!jobs[j].has_helper || seats[current][j].driver == NULL || seats[current][j].work.posted_ns == NEVER);
    work->end = work->mark > work->done && work->mark < work->count ? work->mark : work->count;
    work->posted_ns = clock_ns[current];
    work->executor.is_away = true;
}

static enum turn helped_advance(struct executor *executor, struct event *event)
{
    struct work *work = work_of(executor);
    if (work->count == 0 || work->buffers[work->buffers[0].is_sent].is_sent)
        return TURN_BLOCKED;
    if (work->posted_ns == NEVER && work->done < work->count && !executor->is_put_off)
        post_work(work);
    if (work->posted_ns != NEVER) {
        if (answers_ns(work) > clock_ns[current])
            return TURN_BLOCKED;
        executor->spent_ns += answers_ns(work) - work->posted_ns;
        for (uint64_t left = helper_computes(work); left > 0; left--)
            work->job->computed[work->first + work->done++]++;
        work->posted_ns = NEVER;
        executor->is_away = false;
    }
    if (work->done == work->count || (work->mark > 0 && work->done >= work->mark))
        return tell_work(work, event);
    return executor->is_put_off ? TURN_BLOCKED : TURN_WORKED;
}

/* What has begun is not given up. */
static uint64_t begun_by_helper(const struct work *work)
{
    const uint64_t over = work->posted_ns != NEVER ? over_by(work, clock_ns[current]) : 0;
    return work->done + over + (work->posted_ns != NEVER && work->done + over < work->end);
}

static bool helped_put_off(struct executor *executor)
{
    struct work *work = work_of(executor);
    if (work->posted_ns != NEVER)
        work->end = begun_by_helper(work);
    return work->posted_ns == NEVER;
}

static void helped_stop_at(struct executor *executor, uint64_t ns)
{
    work_of(executor)->until_ns = ns;
}

static struct range helped_cut(struct executor *executor, unsigned waiting)
{
    struct work *work = work_of(executor);
    const uint64_t begun = at_least(begun_by_helper(work), 1);
    const uint64_t given = work->count > begun ? recall_share(work->count - begun, 1, waiting) : 0;
    work->count -= given;
    work->end = work->end < work->count ? work->end : work->count;
    return (struct range){work->first + work->count, given};
}

static const struct executor_ops helped_ops = {.begin = work_begin,
                                               .set_mark = work_set_mark,
                                               .cut = helped_cut,
                                               .advance = helped_advance,
                                               .sent = work_sent,
                                               .put_off = helped_put_off,
                                               .stop_at = helped_stop_at};

static int store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    struct job *job = context;
    (void)error;
    uint64_t right = 0;
    for (uint64_t i = 0; i < bytes; i++)
        right += ((const unsigned char *)data)[i] == result_of(job, part->first + i / job->record_bytes);
    ck_assert_uint_eq(right, part->count * job->record_bytes);
    for (uint64_t i = part->first; i < part->first + part->count; i++)
        job->stored[i]++;
    return 0;
}

static int open_work(void *context, struct error *error);

static void make_machine(unsigned rank, unsigned j)
{
    struct seat *seat = &seats[rank][j];
    struct job *job = &jobs[j];
    struct error error;
    seat->effects = (struct effects){.context = job, .store = store};
    if (rank == SUPERMASTER) {
        const struct supermaster_config config = {.topology = &runtimes[rank].topology,
                                                  .spec = &job->spec,
                                                  .count = job->count,
                                                  .record_bytes = job->record_bytes,
                                                  .no_speculation = true,
                                                  .speeds = speeds};
        ck_assert_int_eq(supermaster_init(&seat->supermaster, &config, &error), 0);
        seat->machine = supermaster_machine(&seat->supermaster);
    } else if (rank == MASTER) {
        const struct master_config config = {.spec = &job->spec,
                                             .rank = rank,
                                             .ranks = worker_ranks,
                                             .workers = WORKERS,
                                             .record_bytes = job->record_bytes,
                                             .no_speculation = true};
        ck_assert_int_eq(master_init(&seat->master, &config), 0);
        seat->machine = master_machine(&seat->master);
    } else {
        const struct worker_config config = {.spec = &job->spec,
                                             .rank = rank,
                                             .master = MASTER,
                                             .end = job->count,
                                             .topology = &runtimes[rank].topology};
        worker_init(&seat->worker, &config);
        seat->machine = worker_machine(&seat->worker);
        seat->work = (struct work){.executor.ops = job->has_helper ? &helped_ops : &work_ops,
                                   .job = job,
                                   .posted_ns = NEVER,
                                   .until_ns = NEVER};
        seat->effects = (struct effects){.context = job, .executor = job->bytes == 0 ? &seat->work.executor : NULL};
        seat->effects.open = open_work;
    }
}

static int open_work(void *context, struct error *error)
{
    struct job *job = context;
    struct seat *seat = &seats[current][job - jobs];
    ck_assert(!seat->opened);
    seat->opened = true;
    if (job->cannot_open)
        return error_set(error, "no kernel here");
    seat->effects.executor = &seat->work.executor;
    return 0;
}

/* --- announcements --- */

static unsigned char byte_of(const struct job *job, size_t i)
{
    return (unsigned char)(31 * i + job->number);
}

static void add_seat(unsigned j)
{
    struct seat *seat = &seats[current][j];
    ck_assert(seat->driver == NULL && !seat->is_over);
    make_machine(current, j);
    seat->driver = link_add(links[current], &(struct part_of_job){.job = jobs[j].number,
                                                                  .weight = jobs[j].weight,
                                                                  .priority = jobs[j].priority,
                                                                  .machine = &seat->machine,
                                                                  .effects = &seat->effects});
    ck_assert_ptr_nonnull(seat->driver);
}

static void take_announcement(void *context, uint32_t number, const unsigned char *bytes, size_t size)
{
    unsigned j = 0, right = 0;
    (void)context;
    while (j < job_count && jobs[j].number != number)
        j++;
    ck_assert_uint_lt(j, job_count);
    ck_assert_uint_eq(size, jobs[j].bytes);
    for (size_t i = 0; i < size; i++)
        right += bytes[i] == byte_of(&jobs[j], i);
    ck_assert_uint_eq(right, size);
    ck_assert_uint_eq(jobs[j].announced[current]++, 0);
    add_seat(j);
}

static void announce(const struct job *job)
{
    unsigned char *bytes = malloc(job->bytes);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < job->bytes; i++)
        bytes[i] = byte_of(job, i);
    link_announce(links[SUPERMASTER], job->number, bytes, job->bytes, true);
    free(bytes);
}

/* --- ranks --- */

static void set_up(void)
{
    memset(seats, 0, sizeof seats);
    memset(jobs, 0, sizeof jobs);
    memset(is_idle, 0, sizeof is_idle);
    memset(is_dead, 0, sizeof is_dead);
    memset(clock_ns, 0, sizeof clock_ns);
    job_count = 0;
    wanted_count = 0;
    carrier = &played_carrier;
    for (unsigned rank = 0; rank < RANKS; rank++)
        hellos[rank] = (struct hello){.protocol = PROTOCOL_VERSION,
                                      .role = rank == SUPERMASTER ? ROLE_SUPERMASTER
                                              : rank == MASTER    ? ROLE_MASTER
                                                                  : ROLE_WORKER};
    for (unsigned w = 0; w < WORKERS; w++)
        worker_ranks[w] = WORKER + w;
    for (current = 0; current < RANKS; current++) {
        struct runtime *runtime = &runtimes[current];
        *runtime = (struct runtime){
            .ops = &played, .rank = current, .ranks = RANKS, .role = hellos[current].role, .hellos = hellos};
        ck_assert_int_eq(topology_init(&runtime->topology, hellos, RANKS, false), 0);
        runtime->grouped = true;
        links[current] = link_open(runtime);
        ck_assert_ptr_nonnull(links[current]);
        link_expect_jobs(links[current], &(struct job_source){.announced = take_announcement});
    }
}

static void tear_down(void)
{
    for (unsigned j = 0; j < job_count; j++) {
        free(jobs[j].computed);
        free(jobs[j].stored);
        if (seats[SUPERMASTER][j].machine.self != NULL)
            supermaster_fini(&seats[SUPERMASTER][j].supermaster);
        if (seats[MASTER][j].machine.self != NULL)
            master_fini(&seats[MASTER][j].master);
        for (unsigned rank = WORKER; rank < RANKS; rank++)
            for (unsigned i = 0; i < 2; i++)
                free(seats[rank][j].work.buffers[i].bytes);
    }
    for (current = 0; current < RANKS; current++) {
        while (under_way[current] != NULL)
            drop(&under_way[current]);
        runtimes[current].degraded = false; /* else the net is left to MPI */
        link_close(links[current]);
        peers_fini(&runtimes[current].peers);
        topology_fini(&runtimes[current].topology);
    }
}

static struct job *add_job(const char *technique, uint64_t count, uint64_t iteration_ns, uint64_t record_bytes,
                           unsigned weight)
{
    struct job *job = &jobs[job_count++];
    struct error error;
    *job = (struct job){.technique = technique,
                        .count = count,
                        .iteration_ns = iteration_ns,
                        .record_bytes = record_bytes,
                        .weight = weight,
                        .number = FIRST_JOB - 1 + job_count,
                        .computed = calloc(count, 1),
                        .stored = calloc(count, 1)};
    ck_assert(job->computed != NULL && job->stored != NULL);
    run_spec_init(&job->spec);
    job->spec.min_chunk = 1;
    ck_assert_int_eq(run_spec_set_technique(&job->spec, technique, &error), 0);
    return job;
}

/* Jobs come and go between two turns, as they do in a program. */
static void look_at_jobs(void)
{
    for (unsigned j = 0; j < job_count; j++) {
        struct seat *seat = &seats[current][j];
        if (seat->driver != NULL && !driver_goes_on(seat->driver)) {
            seat->status = link_remove(links[current], seat->driver);
            seat->driver = NULL;
            seat->is_over = true;
        }
        if (seat->driver == NULL && !seat->is_over && jobs[j].from_ns[current] <= clock_ns[current]) {
            if (jobs[j].bytes > 0)
                announce(&jobs[j]);
            add_seat(j);
        }
    }
}

static uint64_t next_job_ns(unsigned rank)
{
    uint64_t next_ns = NEVER;
    for (unsigned j = 0; j < job_count; j++)
        if (seats[rank][j].driver == NULL && !seats[rank][j].is_over && jobs[j].from_ns[rank] < next_ns)
            next_ns = jobs[j].from_ns[rank];
    return next_ns;
}

static uint64_t due_ns(unsigned rank)
{
    const uint64_t job_ns = next_job_ns(rank);
    uint64_t ns = is_idle[rank] ? wake_ns[rank] : clock_ns[rank];
    ns = job_ns < ns ? at_least(job_ns, clock_ns[rank]) : ns;
    return is_dead[rank] ? NEVER : ns;
}

static bool is_over(unsigned j)
{
    bool over = true;
    for (unsigned rank = 0; rank < RANKS; rank++)
        over = over && (is_dead[rank] || seats[rank][j].is_over);
    return over;
}

/* Runs the rank whose time has come first. False where nothing is left to happen. */
static bool turn(void)
{
    unsigned first = 0;
    for (unsigned rank = 1; rank < RANKS; rank++)
        if (due_ns(rank) < due_ns(first))
            first = rank;
    const uint64_t now_ns = due_ns(first);
    if (now_ns == NEVER)
        return false;
    if (now_ns > LIMIT_NS)
        ck_abort_msg("the jobs do not end");
    current = first;
    clock_ns[current] = at_least(clock_ns[current], now_ns);
    is_idle[current] = false;
    look_at_jobs();
    link_turn(links[current]);
    look_at_jobs();
    if (!is_idle[current])
        clock_ns[current] += TURN_NS;
    return true;
}

static void run_until(uint64_t ns)
{
    while (clock_ns[SUPERMASTER] < ns)
        if (!turn())
            ck_abort_msg("nothing happens");
}

/* Runs all ranks up to that moment, whichever of them have nothing to do. */
static void run_all_until(uint64_t ns)
{
    uint64_t next_ns = 0;
    while (next_ns < ns) {
        if (!turn())
            ck_abort_msg("nothing happens");
        next_ns = NEVER;
        for (unsigned rank = 0; rank < RANKS; rank++)
            next_ns = due_ns(rank) < next_ns ? due_ns(rank) : next_ns;
    }
}

static void run_all(void)
{
    unsigned over = 0;
    while (over < job_count) {
        if (!turn())
            ck_abort_msg("%u of %u jobs are over, and nothing happens", over, job_count);
        for (over = 0; over < job_count && is_over(over); over++)
            ;
    }
}

static void assert_exactly_once(void)
{
    for (unsigned j = 0; j < job_count; j++) {
        ck_assert_int_eq(seats[SUPERMASTER][j].status, EXIT_STATUS_DONE);
        uint64_t computed_once = 0, stored_once = 0;
        for (uint64_t i = 0; i < jobs[j].count; i++) {
            computed_once += jobs[j].computed[i] == 1;
            stored_once += jobs[j].stored[i] == (jobs[j].record_bytes > 0);
        }
        ck_assert_uint_eq(computed_once, jobs[j].count);
        ck_assert_uint_eq(stored_once, jobs[j].count);
    }
}

/* --- tests --- */

START_TEST(each_iteration_of_each_job_is_computed_once)
{
    add_job("gss", 3000, 20000, 0, 1);
    add_job("fac2", 2000, 50000, 8, 1);  /* results in messages */
    add_job("tss", 4000, 10000, 500, 2); /* results behind messages */
    run_all();
    assert_exactly_once();
}
END_TEST

START_TEST(jobs_share_by_their_weights)
{
    static const unsigned weights[] = {1, 2, 5};
    for (unsigned j = 0; j < 3; j++)
        add_job(j == 0 ? "gss" : j == 1 ? "ss" : "css:chunk=50", 60000, 100000 + 70000 * j, 0, weights[j]);
    run_until(1000000000);
    for (unsigned rank = WORKER; rank < RANKS; rank++) {
        uint64_t all_ns = 0;
        for (unsigned j = 0; j < 3; j++)
            all_ns += driver_used_ns(seats[rank][j].driver);
        ck_assert_uint_gt(all_ns, 980000000u); /* and the core is used */
        for (unsigned j = 0; j < 3; j++) {
            const double share = (double)driver_used_ns(seats[rank][j].driver) / (double)all_ns;
            ck_assert_double_eq_tol(share, weights[j] / 8.0, 0.02);
        }
    }
    run_all();
    assert_exactly_once();
}
END_TEST

START_TEST(messages_wait_for_their_job)
{
    add_job("gss", 2000, 20000, 500, 1);
    struct job *late = add_job("fac2", 2000, 20000, 8, 1);
    for (unsigned rank = 0; rank < RANKS; rank++) /* workers first, then the master, then the supermaster */
        late->from_ns[rank] = rank >= WORKER ? 1000000 + rank : rank == MASTER ? 3000000 : 5000000;
    struct job *last = add_job("ss", 500, 20000, 500, 1);
    for (unsigned rank = 0; rank < RANKS; rank++)
        last->from_ns[rank] = rank == MASTER ? 8000000 : 6000000;
    run_all();
    assert_exactly_once();
}
END_TEST

/* Results of a chunk that nobody has assigned, behind their message, from all workers to the master. */
static void send_results(uint32_t job)
{
    static const unsigned char results[700] = {1};
    const struct message message = {.type = MESSAGE_RESULT,
                                    .payload = PAYLOAD_DATA,
                                    .payload_data = results,
                                    .payload_bytes = sizeof results,
                                    .result = {1, 1, 1}};
    unsigned char bytes[MESSAGE_MAX];
    for (current = WORKER; current < RANKS; current++) {
        send_bytes(bytes, message_encode(&message, job, bytes), MASTER, TAG_CONTROL);
        send_bytes(results, sizeof results, MASTER, TAG_DATA);
    }
}

START_TEST(data_of_a_sender_are_taken_in_their_order)
{
    add_job("css:chunk=20", 3000, 20000, 500, 1);
    struct job *third = add_job("fac2", 3000, 20000, 500, 1);
    third->number = FIRST_JOB + 2; /* the second one never comes to the master */
    for (unsigned rank = 0; rank < RANKS; rank++)
        third->from_ns[rank] = 15000000; /* the first sends data until then, and after it */
    run_until(2000000);
    send_results(FIRST_JOB + 1);
    run_all();
    assert_exactly_once();
}
END_TEST

START_TEST(what_is_said_of_a_job_that_is_over_is_dropped)
{
    add_job("gss", 100, 20000, 500, 1);
    struct job *next = add_job("fac2", 3000, 20000, 500, 1);
    for (unsigned rank = 0; rank < RANKS; rank++)
        next->from_ns[rank] = 50000000;
    run_until(50000000);
    ck_assert(is_over(0));
    send_results(FIRST_JOB);
    run_all();
    assert_exactly_once();
}
END_TEST

START_TEST(jobs_that_come_one_after_another_leave_nothing)
{
    for (unsigned j = 0; j < JOBS; j++) {
        struct job *job = add_job("gss", 300, 20000, j % 2 * 500, 1);
        for (unsigned rank = 0; rank < RANKS; rank++)
            job->from_ns[rank] = j * 500000;
    }
    run_all();
    assert_exactly_once();
    for (unsigned rank = 0; rank < RANKS; rank++)
        ck_assert_ptr_null(under_way[rank]);
}
END_TEST

START_TEST(a_job_that_comes_late_has_saved_nothing_up)
{
    add_job("ss", 20000, 100000, 0, 1);
    add_job("ss", 20000, 100000, 0, 1);
    struct job *late = add_job("ss", 20000, 100000, 0, 1);
    for (unsigned rank = 0; rank < RANKS; rank++)
        late->from_ns[rank] = 500000000;
    run_until(800000000);
    ck_assert_double_eq_tol((double)driver_used_ns(seats[WORKER][2].driver), 300e6 / 3, 1.1 * LINK_KEEPS_NS);
    run_all();
    assert_exactly_once();
}
END_TEST

START_TEST(a_loss_is_told_to_all_jobs)
{
    for (unsigned j = 0; j < 3; j++)
        add_job("fac2", 3000, 50000, j * 250, 1);
    run_until(20000000);
    is_dead[WORKER + 1] = true;
    for (unsigned rank = 0; rank < RANKS; rank++) /* the detectors wake who sleeps */
        is_idle[rank] = false;
    run_all();
    for (unsigned j = 0; j < job_count; j++) {
        ck_assert_int_eq(seats[SUPERMASTER][j].status, EXIT_STATUS_DONE);
        uint64_t missing = 0;
        for (uint64_t i = 0; i < jobs[j].count; i++)
            missing += (jobs[j].record_bytes > 0 ? jobs[j].stored[i] : jobs[j].computed[i]) == 0;
        ck_assert_uint_eq(missing, 0);
    }
}
END_TEST

static struct job *announce_job(const char *technique, uint64_t count, uint64_t record_bytes, uint64_t from_ns,
                                size_t bytes)
{
    struct job *job = add_job(technique, count, 20000, record_bytes, 1);
    job->bytes = bytes;
    for (unsigned rank = 0; rank < RANKS; rank++)
        job->from_ns[rank] = rank == SUPERMASTER ? from_ns : NEVER;
    return job;
}

/* Ends the set, and has all ranks go on until they know. */
static void end_set(void)
{
    unsigned over = 0;
    current = SUPERMASTER;
    link_end(links[SUPERMASTER]);
    is_idle[SUPERMASTER] = false;
    while (over < RANKS) {
        if (!turn())
            ck_abort_msg("the set does not end");
        for (over = 0; over < RANKS && (is_dead[over] || link_is_over(links[over])); over++)
            ;
    }
}

/* All that still lives has done the jobs; an iteration of a rank that was lost may have been computed again. */
static void assert_all_there(void)
{
    for (unsigned j = 0; j < job_count; j++) {
        ck_assert_int_eq(seats[SUPERMASTER][j].status, EXIT_STATUS_DONE);
        uint64_t missing = 0;
        for (uint64_t i = 0; i < jobs[j].count; i++)
            missing += (jobs[j].record_bytes > 0 ? jobs[j].stored[i] : jobs[j].computed[i]) == 0;
        ck_assert_uint_eq(missing, 0);
    }
}

static void lose(unsigned rank)
{
    is_dead[rank] = true;
    for (unsigned i = 0; i < RANKS; i++) /* the detectors wake who sleeps */
        is_idle[i] = false;
}

START_TEST(announced_jobs_come_to_all_ranks_once)
{
    static const size_t sizes[] = {1, JOB_PART_MAX, JOB_PART_MAX + 1, 5 * JOB_PART_MAX, 700000};
    for (unsigned j = 0; j < 5; j++)
        announce_job(j % 2 == 0 ? "gss" : "fac2", 500, j * 100, j * 300000, sizes[j]);
    run_all();
    assert_exactly_once();
    for (unsigned j = 0; j < 5; j++)
        for (unsigned rank = MASTER; rank < RANKS; rank++)
            ck_assert_uint_eq(jobs[j].announced[rank], 1);
    ck_assert_ptr_null(links[SUPERMASTER]->announcements.live);
    for (unsigned rank = 0; rank < RANKS; rank++)
        ck_assert(!link_is_over(links[rank]));
    end_set();
    for (unsigned rank = 0; rank < RANKS; rank++)
        ck_assert_ptr_null(under_way[rank]);
}
END_TEST

START_TEST(a_set_ends_without_a_job)
{
    end_set();
    for (unsigned rank = 0; rank < RANKS; rank++)
        ck_assert(runtimes[rank].has_end && !runtimes[rank].degraded);
}
END_TEST

START_TEST(a_set_ends_behind_its_last_job)
{
    announce_job("gss", 500, 0, 0, 100);
    run_until(100000);
    end_set();
    assert_exactly_once();
}
END_TEST

START_TEST(workers_of_a_lost_master_hear_of_jobs_from_the_supermaster)
{
    announce_job("fac2", 2000, 100, 0, 100);
    announce_job("fac2", 2000, 0, 5000000, 400000); /* the master dies while it passes this on */
    announce_job("gss", 2000, 100, 5100000, 9000);
    announce_job("gss", 500, 0, 40000000, 9000); /* when it is long dead */
    run_until(5060000);
    lose(MASTER);
    run_all();
    assert_all_there();
    for (unsigned j = 0; j < job_count; j++)
        for (unsigned rank = WORKER; rank < RANKS; rank++)
            ck_assert_uint_eq(jobs[j].announced[rank], 1);
    end_set();
    for (unsigned rank = WORKER; rank < RANKS; rank++)
        ck_assert(runtimes[rank].degraded); /* nobody waits for the master */
}
END_TEST

START_TEST(a_job_that_begins_behind_losses_does_without)
{
    announce_job("fac2", 2000, 100, 0, 100);
    announce_job("fac2", 2000, 100, 60000000, 100);
    run_until(5000000);
    lose(WORKER);
    run_all();
    assert_all_there();
    ck_assert_uint_eq(jobs[1].announced[WORKER], 0);
    end_set();
}
END_TEST

/* As run_until(), where all may be over before. */
static void run_up_to(uint64_t ns)
{
    while (clock_ns[SUPERMASTER] < ns && turn())
        ;
}

START_TEST(losses_at_any_time_leave_no_job_open)
{
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (unsigned j = 0; j < 6; j++)
        announce_job(j % 2 == 0 ? "gss" : "fac2", random_between(&random, 1, 1500), random_between(&random, 0, 1) * 300,
                     random_between(&random, 0, 30000000), random_between(&random, 1, 20000));
    for (unsigned j = 1; j < job_count; j++) /* numbers rise with time */
        jobs[j].from_ns[SUPERMASTER] = at_least(jobs[j].from_ns[SUPERMASTER], jobs[j - 1].from_ns[SUPERMASTER]);
    run_up_to(random_between(&random, 0, 30000000));
    lose((unsigned)random_between(&random, MASTER, WORKER));
    run_up_to(random_between(&random, 30000000, 40000000));
    lose(WORKER + 1);
    run_all();
    assert_all_there();
    end_set();
}
END_TEST

START_TEST(a_job_whose_kernel_cannot_be_opened_fails_alone)
{
    announce_job("gss", 2000, 0, 0, 100);
    announce_job("gss", 2000, 0, 1000000, 100)->cannot_open = true;
    announce_job("gss", 2000, 0, 2000000, 100);
    run_all();
    ck_assert_int_eq(seats[SUPERMASTER][1].status, EXIT_STATUS_FAILED);
    ck_assert_str_eq(seats[SUPERMASTER][1].supermaster.failure.text, "no kernel here");
    ck_assert_int_eq(seats[SUPERMASTER][0].status, EXIT_STATUS_DONE);
    ck_assert_int_eq(seats[SUPERMASTER][2].status, EXIT_STATUS_DONE);
    end_set();
}
END_TEST

START_TEST(a_kernel_is_opened_where_it_has_a_chunk)
{
    announce_job("ss", 1, 0, 0, 100);
    run_all();
    assert_exactly_once();
    unsigned opened = 0;
    for (unsigned rank = WORKER; rank < RANKS; rank++)
        opened += seats[rank][0].opened;
    ck_assert_uint_eq(opened, 1);
}
END_TEST

START_TEST(a_higher_priority_computes_first)
{
    for (unsigned j = 0; j < 3; j++)
        add_job("ss", 30000, 100000, 0, 1)->priority = j == 2 ? 5 : -1;
    for (unsigned rank = 0; rank < RANKS; rank++)
        jobs[2].from_ns[rank] = 100000000;
    run_until(400000000);
    for (unsigned rank = WORKER; rank < RANKS; rank++) {
        const double high_ns = (double)driver_used_ns(seats[rank][2].driver);
        ck_assert_double_gt(high_ns, 0.97 * 300e6);
        /* the others share what was before, and what is left */
        ck_assert_double_eq_tol((double)driver_used_ns(seats[rank][0].driver),
                                (double)driver_used_ns(seats[rank][1].driver), 3e6);
    }
    run_all();
    assert_exactly_once();
}
END_TEST

/* Time that the job has had a worker up to now. */
static uint64_t had_ns(unsigned rank, unsigned j, uint64_t now_ns)
{
    const struct stride_share *share = &seats[rank][j].driver->share;
    const uint64_t since_ns = share->held_since_ns;
    return share->used_ns + (since_ns > 0 && since_ns < now_ns ? now_ns - since_ns : 0);
}

/* Shares of long chunks, in the rank and in helpers, in any tenth of a second. */
START_TEST(long_chunks_share_by_their_weights)
{
    static const unsigned weights[] = {1, 2, 4};
    uint64_t before[RANKS][3] = {{0}};
    for (unsigned j = 0; j < 3; j++) {
        struct job *job = add_job("static", 60000, 30000 + 50000 * j, 0, weights[j]);
        job->has_helper = _i > 0 || j == 1;
    }
    for (unsigned tenth = 0; tenth < 8; tenth++) {
        run_all_until(100000000 * (tenth + 1));
        for (unsigned rank = WORKER; rank < RANKS; rank++) {
            uint64_t spent[3], all_ns = 0;
            for (unsigned j = 0; j < 3; j++) {
                const uint64_t used_ns = had_ns(rank, j, 100000000 * (tenth + 1));
                all_ns += spent[j] = used_ns - before[rank][j];
                before[rank][j] = used_ns;
            }
            ck_assert_uint_gt(all_ns, 95000000u);
            for (unsigned j = 0; j < 3; j++)
                ck_assert_double_eq_tol((double)spent[j], (double)all_ns * weights[j] / 7, 2 * LINK_KEEPS_NS);
        }
    }
    for (unsigned rank = WORKER; rank < RANKS; rank++)
        for (unsigned j = 0; j < 3; j++)
            ck_assert_double_eq_tol((double)before[rank][j], 800e6 * weights[j] / 7, 0.02 * 800e6);
    run_all();
    assert_exactly_once();
}
END_TEST

/* One of higher priority has the worker once the iteration is over that runs, and gives it back. */
START_TEST(a_chunk_in_a_helper_makes_room_for_a_higher_priority)
{
    struct job *low = add_job("static", 3000, 1000000, 0, 1), *high = add_job("ss", 300, 100000, 8, 1);
    low->has_helper = true;
    high->has_helper = _i > 0;
    high->priority = 1;
    for (unsigned rank = 0; rank < RANKS; rank++)
        high->from_ns[rank] = 100000000;
    run_all_until(103000000);
    for (unsigned rank = WORKER; rank < RANKS; rank++) { /* an iteration of the other, and a chunk of its own */
        ck_assert_uint_gt(driver_used_ns(seats[rank][1].driver), 1000000);
        ck_assert(seats[rank][0].work.executor.is_put_off);
    }
    run_all();
    assert_exactly_once();
    ck_assert_uint_lt(clock_ns[WORKER], 1040000000u + LINK_KEEPS_NS);
}
END_TEST

/* Iterations that wait for a job of higher priority go to who has none of it, and what was done of the chunk is told.
 */
START_TEST(what_is_put_off_is_recalled)
{
    struct job *low = add_job("static", 300, 1000000, 8, 1), *high = add_job("ss", 1, 2000000000, 0, 1);
    low->has_helper = _i > 0;
    high->has_helper = true; /* else the worker cannot answer */
    high->priority = 1;
    for (unsigned rank = 0; rank < RANKS; rank++)
        high->from_ns[rank] = 20000000;
    run_all_until(300000000);
    ck_assert(is_over(0)); /* long before the other one */
    run_all();
    assert_exactly_once();
}
END_TEST

START_TEST(a_worker_that_is_lost_while_its_chunk_is_put_off_costs_no_iteration)
{
    struct job *low = add_job("static", 300, 1000000, 8, 1), *high = add_job("ss", 300, 100000, 8, 1);
    low->has_helper = true;
    high->priority = 1;
    for (unsigned rank = 0; rank < RANKS; rank++)
        high->from_ns[rank] = 20000000;
    run_all_until(24000000);
    ck_assert(seats[WORKER][0].work.executor.is_put_off);
    lose(WORKER);
    run_all();
    assert_all_there();
}
END_TEST

START_TEST(a_worker_that_asks_for_a_job_that_is_over_is_told_its_end)
{
    const struct message adopt = {.type = MESSAGE_ADOPT};
    unsigned char bytes[MESSAGE_MAX];
    struct message end;
    announce_job("gss", 100, 0, 0, 100);
    run_all();
    current = WORKER;
    is_idle[SUPERMASTER] = true;
    send_bytes(bytes, message_encode(&adopt, FIRST_JOB, bytes), SUPERMASTER, TAG_CONTROL);
    while (under_way[WORKER] == NULL && turn())
        ;
    ck_assert_ptr_nonnull(under_way[WORKER]);
    ck_assert_int_eq(message_decode(&end, under_way[WORKER]->bytes, under_way[WORKER]->size), DECODE_OK);
    ck_assert_int_eq(end.type, MESSAGE_END);
    ck_assert(end.job == FIRST_JOB && end.end.degraded);
    end_set();
}
END_TEST

START_TEST(parts_that_do_not_follow_are_no_announcement)
{
    const unsigned char byte = 1;
    struct message message = {.type = MESSAGE_JOB, .job_part = {1, 2}, .records = &byte, .record_count = 1};
    current = MASTER;
    message.job = 3;
    ck_assert_ptr_nonnull(announcements_receive(links[MASTER], SUPERMASTER, &message));
    message.job_part = (struct job_part){0, 2};
    ck_assert_ptr_null(announcements_receive(links[MASTER], SUPERMASTER, &message));
    message.job_part.offset = 1;
    message.job = 4; /* of another job */
    ck_assert_ptr_nonnull(announcements_receive(links[MASTER], SUPERMASTER, &message));
    message.job = 3;
    message.job_part.all = 3;
    ck_assert_ptr_nonnull(announcements_receive(links[MASTER], SUPERMASTER, &message));
    ck_assert_ptr_nonnull(announcements_receive(links[MASTER], WORKER, &message));
    ck_assert_uint_eq(links[MASTER]->announcements.newest, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("jobs");
    TCase *all = tcase_create("jobs");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, each_iteration_of_each_job_is_computed_once);
    tcase_add_test(all, jobs_share_by_their_weights);
    tcase_add_test(all, messages_wait_for_their_job);
    tcase_add_test(all, data_of_a_sender_are_taken_in_their_order);
    tcase_add_test(all, what_is_said_of_a_job_that_is_over_is_dropped);
    tcase_add_test(all, jobs_that_come_one_after_another_leave_nothing);
    tcase_add_test(all, a_job_that_comes_late_has_saved_nothing_up);
    tcase_add_test(all, a_loss_is_told_to_all_jobs);
    tcase_add_test(all, announced_jobs_come_to_all_ranks_once);
    tcase_add_test(all, a_set_ends_without_a_job);
    tcase_add_test(all, a_set_ends_behind_its_last_job);
    tcase_add_test(all, workers_of_a_lost_master_hear_of_jobs_from_the_supermaster);
    tcase_add_test(all, a_job_that_begins_behind_losses_does_without);
    tcase_add_loop_test(all, losses_at_any_time_leave_no_job_open, 0, 60);
    tcase_add_test(all, a_job_whose_kernel_cannot_be_opened_fails_alone);
    tcase_add_test(all, a_kernel_is_opened_where_it_has_a_chunk);
    tcase_add_test(all, a_higher_priority_computes_first);
    tcase_add_loop_test(all, long_chunks_share_by_their_weights, 0, 2);
    tcase_add_loop_test(all, a_chunk_in_a_helper_makes_room_for_a_higher_priority, 0, 2);
    tcase_add_loop_test(all, what_is_put_off_is_recalled, 0, 2);
    tcase_add_test(all, a_worker_that_is_lost_while_its_chunk_is_put_off_costs_no_iteration);
    tcase_add_test(all, a_worker_that_asks_for_a_job_that_is_over_is_told_its_end);
    tcase_add_test(all, parts_that_do_not_follow_are_no_announcement);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
