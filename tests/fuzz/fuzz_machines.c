/* SPDX-License-Identifier: MIT */
/* The state machines of supermaster, master and worker under messages that decode and need not make sense, from any
 * rank, in any order, between events that a runtime may bring at that moment. A machine may end the run in one line; it
 * must not break, and what it sends must decode.
 *
 * The first byte is the machine, and whether masters may come to nobody, the second the technique, the third what else
 * the job has, the fourth the length of the loop, which may grow. Masters with their workers join the supermaster, and
 * leave. Then come steps: a byte for the event, and for a message one for its sender, two for its
 * length (little-endian) and the message. */
#include "tests/fuzz/fuzz.h"
#include "common/config/run_spec.h"
#include "common/machine/computing.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "worker/worker.h"

#include <string.h>

enum {
    HEAD_BYTES = 4,
    RANKS = 7,
    PODS_MAX = 4,
    POD_WORKERS_MAX = 2,
    RANKS_MAX = RANKS + PODS_MAX * (1 + POD_WORKERS_MAX),
    STEPS_MAX = 200,
    PARTS_MAX = 4096,
    RECORD_BYTES = 8,
    DATA_BYTES = 2048,
    HALO_BYTES = 2000
};
enum kind { KIND_CENTRAL, KIND_SUPERMASTER, KIND_MASTER, KIND_WORKER, KINDS };
enum {
    FLAG_OUTPUT = 1,
    FLAG_PROBE = 2,
    FLAG_JOURNAL = 4,
    FLAG_FEEDBACK = 8,
    FLAG_AHEAD = 16,
    FLAG_WEIGHTED = 32,
    FLAG_LOADS = 64,
    FLAG_DEPENDENT = 128
};
/* Events, by the byte modulo EVENTS; those below EVENT_BYTE_TIMER are messages. */
enum {
    EVENT_BYTE_TIMER = 4,
    EVENT_BYTE_STORED,
    EVENT_BYTE_LOST,
    EVENT_BYTE_COMPUTED,
    EVENT_BYTE_DRAIN,
    EVENT_BYTE_PROBLEM,
    EVENT_BYTE_FAILED,
    EVENTS
};

/* Of the bytes of a timer those from here on tell that the loop has grown, that a master joins, and that one leaves. */
#define BYTE_OF_MORE  128
#define BYTE_OF_JOIN  192
#define BYTE_OF_LEAVE 220

/* What the first byte says beside the machine: all may be lost, as others may join; there is nobody at first; whoever
 * serves workers computes as well, where iterations are independent. */
#define HEAD_ELASTIC  1
#define HEAD_EMPTY    2
#define HEAD_COMPUTES 4

/* A supermaster cuts no chunk whose results do not fit a file (see kernel_describe()), and a master believes it. */
#define CHUNK_MAX (UINT64_C(1) << 59)

/* The runtime. */
struct bench {
    struct run_spec spec;
    enum kind kind;
    struct topology topology;
    struct boundaries boundaries; /* of the worker */
    struct supermaster supermaster;
    struct master master;
    struct worker worker;
    struct machine machine;
    bool does_both;             /* the machine is that of `computing` */
    struct computing computing; /* of the server and the worker */
    struct actions actions;
    uint64_t now_ns;
    unsigned flags;
    struct part parts[PARTS_MAX]; /* ring of those that are to be stored */
    unsigned part_first, part_count;
    uint64_t running, reported;  /* iterations of the worker's chunk; 0: none; and of them told of */
    uint64_t boundary_at, ready; /* where that chunk ends, and how much of its boundary data is complete */
    bool probing, left;
    bool dropped[RANKS_MAX], dropping; /* nothing comes from these */
    bool cut;                          /* the supermaster was dropped: that ends the rank in the middle of the step */
    unsigned dropped_last;
    bool has_cut, ends; /* it is to be told what is cut off its chunk; what is not done of it is */
    bool grows;         /* it is to be told how much of the loop there is */
    unsigned looks;     /* so many times it was told */
};

static unsigned char records[DATA_BYTES + MESSAGE_MAX];

/* What is sent reaches the other side as it was. */
static void send_message(void *context, unsigned to, const struct message *message)
{
    unsigned char bytes[MESSAGE_MAX];
    struct message back;
    struct bench *bench = context;
    if (bench->cut)
        return;
    REQUIRE(!bench->left && to < bench->topology.ranks && message_size(message) <= sizeof bytes);
    size_t size = message_encode(message, FIRST_JOB, bytes);
    REQUIRE(message_decode(&back, bytes, size) == DECODE_OK);
}

/* Its place is inside of the loop, as far as the machine knows that, and it fits what a runtime receives at once. */
static void note_part(struct bench *bench, const struct action *action)
{
    const struct part *part = &action->store.part;
    REQUIRE(bench->part_count < PARTS_MAX && part->count > 0 && part->first <= UINT64_MAX - part->count);
    REQUIRE(bench->kind != KIND_CENTRAL ||
            (part->first >= bench->supermaster.config.first &&
             part->first - bench->supermaster.config.first + part->count <= bench->supermaster.ledger.loop.count));
    REQUIRE(action->store.bytes == part->count * RECORD_BYTES && action->store.bytes / RECORD_BYTES == part->count);
    REQUIRE(action->type != ACTION_COLLECT || action->store.bytes <= SLICE_MAX);
    bench->parts[(bench->part_first + bench->part_count++) % PARTS_MAX] = *part;
}

static void apply(void *context, const struct action *action)
{
    struct bench *bench = context;
    if (bench->cut)
        return;
    REQUIRE(!bench->left);
    switch (action->type) {
    case ACTION_PROBE: bench->probing = true; break;
    case ACTION_RUN:
        REQUIRE(bench->running == 0 && action->run.count > 0 && action->run.first <= UINT64_MAX - action->run.count);
        bench->running = action->run.count;
        bench->boundary_at = action->run.first + action->run.count;
        bench->reported = bench->ready = 0;
        break;
    case ACTION_BOUNDARY:
        REQUIRE(action->boundary.bytes > 0 && action->boundary.bytes <= HALO_BYTES &&
                action->boundary.offset <= HALO_BYTES - action->boundary.bytes &&
                action->boundary.from < bench->topology.ranks);
        break;
    case ACTION_REUSE: REQUIRE(bench->running == 0); break;
    case ACTION_STORE:
    case ACTION_COLLECT: note_part(bench, action); break;
    case ACTION_JOURNAL: REQUIRE(action->journal.count > 0); break;
    case ACTION_POINT:
        REQUIRE(action->point.at > 0 && action->point.all == HALO_BYTES && action->point.offset < HALO_BYTES &&
                action->point.bytes > 0 && action->point.bytes <= HALO_BYTES - action->point.offset);
        break;
    case ACTION_DEATHS: REQUIRE(action->deaths.count > 0 && action->deaths.deaths + action->deaths.failures > 0); break;
    case ACTION_DROP:
        REQUIRE(action->drop.rank < bench->topology.ranks && !bench->dropping);
        require_one_line(action->drop.text);
        bench->dropped[bench->dropped_last = action->drop.rank] = bench->dropping = true;
        bench->cut = action->drop.rank == 0;
        break;
    case ACTION_CUT:
        bench->has_cut = true;
        bench->ends = action->cut.now;
        break;
    case ACTION_GROW: bench->grows = true; break;
    case ACTION_EXIT: bench->left = true; break;
    default: break;
    }
}

/* --- the machines --- */

/* supermaster 0, masters 1 and 2, workers 3 to 6; in the central topology all but 0 are workers. */
static void init_topology(struct topology *topology, bool central, unsigned ranks, bool computes)
{
    struct hello hellos[RANKS];
    for (unsigned i = 0; i < RANKS; i++)
        hellos[i] = (struct hello){.protocol = PROTOCOL_VERSION,
                                   .role = i == 0              ? ROLE_SUPERMASTER
                                           : i < 3 && !central ? ROLE_MASTER
                                                               : ROLE_WORKER};
    REQUIRE(topology_init(topology, hellos, ranks, TOPOLOGY_BY_NODE | (computes ? TOPOLOGY_MASTERS_COMPUTE : 0)) == 0);
}

static int init_supermaster(struct bench *bench, const uint8_t *head)
{
    static const double speeds[RANKS] = {1, 2, 3.5, 1, 0.1, 7, 1};
    struct error error = {0};
    size_t techniques;
    const struct technique *const *all = sched_techniques(&techniques), *technique = all[head[1] % techniques];
    const uint64_t distance = bench->flags & FLAG_DEPENDENT ? head[1] % 3 + 1u : 0;
    bench->spec = (struct run_spec){
        .technique = {.technique = technique},
        .weighting = bench->flags & FLAG_LOADS      ? SCHED_WEIGHTING_ACP
                     : bench->flags & FLAG_WEIGHTED ? SCHED_WEIGHTING_POWER
                                                    : SCHED_WEIGHTING_NONE,
        .min_chunk = distance > 1 ? distance : 1,
        .refill_chunks = 1,
        .threads = 1,
        .ask_ahead = bench->flags & FLAG_AHEAD ? ASK_AHEAD_AUTO : ASK_AHEAD_OFF,
    };
    const struct supermaster_config config = {
        .topology = &bench->topology,
        .spec = &bench->spec,
        .first = head[3],
        .count = head[3] & 1 ? head[3] : CHUNK_MAX >> head[3] / 4,
        .record_bytes = bench->flags & FLAG_OUTPUT ? RECORD_BYTES : 0,
        .speeds = bench->flags & FLAG_PROBE ? NULL : speeds,
        .probe = bench->flags & FLAG_PROBE,
        .journal = bench->flags & FLAG_JOURNAL,
        .grows = bench->flags & FLAG_FEEDBACK && distance == 0 && technique->may_grow,
        .is_told_of_growth = bench->flags & FLAG_AHEAD,
        .boundary_bytes = bench->flags & FLAG_DEPENDENT ? HALO_BYTES : 0,
        .distance = distance,
        .no_speculation = bench->flags & FLAG_DEPENDENT,
        .no_isolation = bench->flags & FLAG_DEPENDENT,
        .is_elastic = distance == 0 && head[0] / KINDS & (HEAD_ELASTIC | HEAD_EMPTY),
    };
    if (supermaster_init(&bench->supermaster, &config, &error) < 0) {
        require_one_line(error.text);
        return -1;
    }
    bench->machine = supermaster_machine(&bench->supermaster);
    return 0;
}

static int init_master(struct bench *bench)
{
    static const unsigned ranks[] = {1, 3, 5, 6};
    static const struct run_spec specs[] = {
        {.min_chunk = 1, .refill_chunks = 1, .threads = 1},
        {.min_chunk = 1, .refill_chunks = 1, .threads = 1, .refill = RUN_REFILL_WHEN_EMPTY}};
    const struct master_config config = {
        .spec = &specs[bench->flags & FLAG_PROBE ? 1 : 0],
        .rank = 1,
        .supermaster = 0,
        .ranks = ranks + !bench->does_both,
        .workers = 3 + bench->does_both,
        .record_bytes = bench->flags & FLAG_OUTPUT ? RECORD_BYTES : 0,
        .feedback = bench->flags & FLAG_FEEDBACK,
        .sync = bench->flags & FLAG_JOURNAL,
        .distance = bench->flags & FLAG_DEPENDENT ? 2 : 0,
        .no_speculation = bench->flags & FLAG_DEPENDENT,
        .no_isolation = bench->flags & FLAG_DEPENDENT,
    };
    REQUIRE(master_init(&bench->master, &config) == 0);
    bench->machine = master_machine(&bench->master);
    return 0;
}

static int init_worker(struct bench *bench, const uint8_t *head)
{
    bench->spec = (struct run_spec){
        .ask_ahead = bench->flags & FLAG_AHEAD ? ASK_AHEAD_FIXED : ASK_AHEAD_AUTO,
        .ask_ahead_chunks = head[3] % ASKS_MAX + 1,
    };
    const struct worker_config config = {
        .spec = &bench->spec,
        .rank = 3,
        .master = 1,
        .probe = bench->flags & FLAG_PROBE,
        .boundaries = bench->flags & FLAG_DEPENDENT ? &bench->boundaries : NULL,
        .boundary_bytes = HALO_BYTES,
        .end = 1000,
        .topology = &bench->topology,
    };
    worker_init(&bench->worker, &config);
    bench->machine = worker_machine(&bench->worker);
    return 0;
}

/* A worker of its own for the server of that rank, if it is to have one. */
static int init_beside(struct bench *bench, unsigned rank)
{
    const struct worker_config config = {.spec = &bench->spec,
                                         .rank = rank,
                                         .master = rank,
                                         .probe = bench->flags & FLAG_PROBE,
                                         .end = UINT64_MAX,
                                         .topology = &bench->topology};
    if (!bench->does_both)
        return 0;
    worker_init(&bench->worker, &config);
    const struct machine worker = worker_machine(&bench->worker);
    REQUIRE(computing_init(&bench->computing, &bench->machine, &worker, rank, true) == 0);
    bench->machine = computing_machine(&bench->computing);
    return 0;
}

static int init_machine(struct bench *bench, const uint8_t *head)
{
    const bool is_empty =
        bench->kind == KIND_SUPERMASTER && head[0] / KINDS & HEAD_EMPTY && !(bench->flags & FLAG_DEPENDENT);
    bench->does_both = (bench->kind == KIND_CENTRAL || bench->kind == KIND_MASTER) &&
                       (head[0] / KINDS & HEAD_COMPUTES) != 0 && !(bench->flags & FLAG_DEPENDENT);
    init_topology(&bench->topology, bench->kind == KIND_CENTRAL, is_empty ? 1 : RANKS, bench->does_both);
    switch (bench->kind) {
    case KIND_MASTER: return init_master(bench) == 0 ? init_beside(bench, 1) : -1;
    case KIND_WORKER: return init_worker(bench, head);
    case KIND_CENTRAL: return init_supermaster(bench, head) == 0 ? init_beside(bench, 0) : -1;
    default: return init_supermaster(bench, head);
    }
}

static void fini_machine(struct bench *bench)
{
    if (bench->does_both)
        computing_fini(&bench->computing);
    if (bench->kind == KIND_MASTER)
        master_fini(&bench->master);
    if (bench->kind == KIND_MASTER || bench->kind == KIND_WORKER)
        return;
    REQUIRE(bench->supermaster.ledger.done <= bench->supermaster.ledger.loop.count);
    supermaster_fini(&bench->supermaster);
}

/* --- events --- */

static void step(struct bench *bench, struct event *event);
static void lose_dropped(struct bench *bench);

/* A runtime probes before it looks at anything else. */
static void step_probed(struct bench *bench)
{
    struct speed speed = {.worker = bench->worker.config.rank, .levels = 1, .elapsed_ns = {1000}, .mean_ns = 1000};
    bench->probing = false;
    step(bench, &(struct event){.type = EVENT_PROBED, .speed = &speed});
}

/* The loop grows by nothing, one, or many at a time, and ends some time. */
static void step_grown(struct bench *bench)
{
    static const uint64_t more[] = {0, 1, 0, 3, 1000, 2};
    const unsigned look = bench->looks++;
    bench->grows = false;
    step(bench, &(struct event){.type = EVENT_GROWN,
                                .growth = {bench->supermaster.ledger.loop.count + more[look % 6], look == 20}});
}

/* The half of what is not done of the chunk is cut off it, or all, and then it is over. */
static void step_cut(struct bench *bench)
{
    const uint64_t left = bench->running - bench->reported, given = bench->ends ? left : left / 2;
    const bool ends = bench->ends && bench->running > 0;
    bench->has_cut = false;
    bench->running -= given;
    bench->boundary_at -= given;
    step(bench, &(struct event){.type = EVENT_CUT, .cut = {bench->boundary_at, given}});
    if (!ends || bench->left)
        return;
    const uint64_t done = bench->reported;
    bench->running = bench->reported = 0;
    step(bench, &(struct event){.type = EVENT_FINISHED, .chunk = {.done = done, .compute_ns = 10 * done}});
}

static void step(struct bench *bench, struct event *event)
{
    event->now_ns = bench->now_ns;
    actions_clear(&bench->actions);
    bench->machine.step(bench->machine.self, event, &bench->actions);
    REQUIRE(bench->machine.state(bench->machine.self)[0] != '\0');
    if (!bench->left && (bench->does_both || bench->kind == KIND_CENTRAL || bench->kind == KIND_SUPERMASTER))
        bench->machine.check(bench->machine.self); /* it outlives all others: their messages must not confuse it */
    bench->left |= bench->cut;
    if (bench->has_cut && !bench->left)
        step_cut(bench);
    if (bench->grows && !bench->left)
        step_grown(bench);
    if (bench->probing && !bench->left)
        step_probed(bench);
    if (bench->dropping && !bench->left)
        lose_dropped(bench);
}

/* Parts of it that are on their way are lost with it. */
static void lose_dropped(struct bench *bench)
{
    bench->dropping = false;
    step(bench, &(struct event){.type = EVENT_RANK_LOST, .from = bench->dropped_last});
}

static void step_stored(struct bench *bench, bool ok)
{
    if (bench->part_count == 0)
        return;
    struct event event = {.type = EVENT_STORED, .part = bench->parts[bench->part_first], .text = ok ? NULL : "disk"};
    bench->part_first = (bench->part_first + 1) % PARTS_MAX;
    bench->part_count--;
    step(bench, &event);
}

/* More of the boundary data of the running chunk, all of them where nothing is left. */
static void step_ready(struct bench *bench, bool whole)
{
    struct event event = {.type = EVENT_BOUNDARY_READY};
    if (!(bench->flags & FLAG_DEPENDENT) || bench->running == 0 || bench->ready == HALO_BYTES)
        return;
    bench->ready = whole ? HALO_BYTES : bench->ready + (HALO_BYTES - bench->ready + 1) / 2;
    event.ready = (struct boundary_ready){bench->boundary_at, records, bench->ready};
    step(bench, &event);
}

/* The chunk, or by an odd byte a part of it, is over; or some of its boundary data are. */
static void step_computed(struct bench *bench, uint8_t byte)
{
    bool ready = bench->flags & FLAG_DEPENDENT && byte / EVENTS & 2;
    step_ready(bench, !ready);
    if (ready || bench->left)
        return;
    uint64_t left = bench->running - bench->reported; /* 0 where the last one has failed */
    bool output = bench->flags & FLAG_OUTPUT;
    bool part = output && byte / EVENTS & 1 && left > 1;
    uint64_t count = part ? left / 2 : left;
    uint64_t bytes = output ? count * RECORD_BYTES : 0;
    if (bench->running == 0)
        return;
    bench->reported += count;
    struct event event = {
        .type = part ? EVENT_SLICE : EVENT_FINISHED,
        .chunk = {.done = bench->reported, .compute_ns = 10 * count, .count = count, .digest = count}};
    if (bytes > 0 && bytes <= DATA_BYTES) {
        event.chunk.data = records + MESSAGE_MAX;
        event.chunk.bytes = bytes;
    }
    if (!part)
        bench->running = bench->reported = 0;
    step(bench, &event);
}

/* The next iteration of the chunk does not work. */
static void step_failed(struct bench *bench, uint8_t byte)
{
    if (bench->running == bench->reported)
        return;
    bench->reported++;
    struct event event = {
        .type = EVENT_ITERATIONS_FAILED,
        .text = "no\nluck",
        .chunk = {.done = bench->reported, .compute_ns = 10, .count = 1, .final = byte / EVENTS & 1},
    };
    step(bench, &event);
}

static void step_message(struct bench *bench, unsigned from, const uint8_t *bytes, size_t size)
{
    struct message message;
    struct event event = {.type = EVENT_MESSAGE, .from = from, .message = &message};
    if (bench->does_both && from == bench->computing.rank) /* nobody else has that rank */
        return;
    if (!bench->dropped[from] && message_decode(&message, bytes, size) == DECODE_OK)
        step(bench, &event);
}

/* A master joins the supermaster with as many workers. None takes part in a loop with dependencies. */
static void step_joined(struct bench *bench, unsigned workers)
{
    const struct topology *topology = &bench->topology;
    if (bench->kind != KIND_SUPERMASTER || bench->flags & FLAG_DEPENDENT ||
        topology->masters - topology->launched == PODS_MAX)
        return;
    REQUIRE(supermaster_reserve(&bench->supermaster, workers) == 0);
    REQUIRE(topology_append(&bench->topology, bench->topology.ranks, 1 + workers, bench->topology.ranks) == 0);
    step(bench, &(struct event){.type = EVENT_JOINED});
}

/* The first or the last one that has joined is to leave. */
static void step_leaving(struct bench *bench, bool first, bool now)
{
    const struct topology *topology = &bench->topology;
    if (bench->kind != KIND_SUPERMASTER || topology->masters == topology->launched)
        return;
    const unsigned m = first ? topology->launched : topology->masters - 1;
    step(bench, &(struct event){.type = EVENT_LEAVING, .from = topology->master_rank[m], .now = now});
}

static void step_timer(struct bench *bench, uint8_t byte)
{
    const unsigned kind = byte / EVENTS;
    if (byte >= BYTE_OF_LEAVE)
        step_leaving(bench, kind == UINT8_MAX / EVENTS - 1, kind % 2);
    else if (byte >= BYTE_OF_JOIN)
        step_joined(bench, 1 + kind % POD_WORKERS_MAX);
    else if (byte >= BYTE_OF_MORE)
        step(bench, &(struct event){.type = EVENT_MORE});
    else if (bench->machine.deadline(bench->machine.self) != NEVER) {
        bench->now_ns = bench->machine.deadline(bench->machine.self);
        step(bench, &(struct event){.type = EVENT_TIMER});
    }
}

static void step_other(struct bench *bench, uint8_t byte)
{
    switch (byte % EVENTS) {
    case EVENT_BYTE_STORED: step_stored(bench, true); break;
    case EVENT_BYTE_LOST: step_stored(bench, false); break;
    case EVENT_BYTE_COMPUTED: step_computed(bench, byte); break;
    case EVENT_BYTE_FAILED: step_failed(bench, byte); break;
    case EVENT_BYTE_DRAIN: step(bench, &(struct event){.type = EVENT_DRAIN, .now = byte / EVENTS & 1}); break;
    case EVENT_BYTE_PROBLEM: step(bench, &(struct event){.type = EVENT_FATAL, .text = "cannot go on"}); break;
    default: step_timer(bench, byte);
    }
}

static void run(struct bench *bench, const uint8_t *bytes, size_t size)
{
    step(bench, &(struct event){.type = EVENT_START});
    for (unsigned i = 0; i < STEPS_MAX && size > 0 && !bench->left; i++) {
        uint8_t byte = *bytes;
        bench->now_ns += 1000;
        bytes++, size--;
        if (byte % EVENTS >= EVENT_BYTE_TIMER) {
            step_other(bench, byte);
            continue;
        }
        if (size < 3)
            return;
        size_t length = bytes[1] | (size_t)bytes[2] << 8, room = size - 3;
        length = length < room ? length : room;
        step_message(bench, bytes[0] % bench->topology.ranks, bytes + 3, length);
        bytes += 3 + length;
        size -= 3 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct bench bench;
    if (size < HEAD_BYTES)
        return 0;
    memset(&bench, 0, offsetof(struct bench, parts));
    bench.part_first = bench.part_count = 0;
    bench.running = bench.reported = 0;
    bench.probing = bench.left = bench.dropping = bench.cut = bench.grows = false;
    bench.looks = 0;
    memset(bench.dropped, 0, sizeof bench.dropped);
    bench.kind = (enum kind)(bytes[0] % KINDS);
    bench.flags = bytes[2];
    bench.now_ns = 1000000000;
    const struct action_sink sink = {send_message, apply, &bench};
    actions_init_sink(&bench.actions, &sink);
    if (init_machine(&bench, bytes) == 0) {
        run(&bench, bytes + HEAD_BYTES, size - HEAD_BYTES);
        fini_machine(&bench);
    }
    topology_fini(&bench.topology);
    actions_fini(&bench.actions);
    return 0;
}
