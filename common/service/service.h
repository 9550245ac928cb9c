/* SPDX-License-Identifier: MIT */
/* Serving workers: the request queue, the task pool, the grants of each worker, and the collection of results. A master
 * serves its own workers with it; in the central topology the supermaster serves all workers.
 *
 * The owner fills the pool and is told what has been stored. The way of a chunk: pool, ASSIGN (it is now a grant),
 * REQUEST with DONE, STORE or COLLECT of its results if the job has an output, committed. Nothing is allocated per
 * chunk.
 *
 * Work of a lost worker, and iterations that failed, are requeued and handed out before anything else; failed
 * iterations go to another worker if there is one. Deaths and failures are recorded in `poisons`: iterations at which
 * workers died are run in a child process, or alone if the kernel cannot run there, so that the guilty iteration is
 * found and kills nothing else. After too many deaths or failures they are given up.
 *
 * When nothing is left to hand out, work that has not begun is recalled and given to idle workers: see recall.c. When
 * all has begun, the work of a worker that has been silent for too long is copied to another. The copy that sends
 * results first counts; the results of the other are dropped, and its worker stops at its next iteration. At any time
 * every iteration is in exactly one place: in the pool, with one worker whose results count (or with two that have sent
 * none of them yet), on its way to the disk, requeued, recalled, or committed. */
#pragma once

#include "common/machine/chunk_trace.h"
#include "common/machine/machine.h"
#include "common/service/boundary_list.h"
#include "common/service/index.h"
#include "common/service/poison.h"
#include "common/service/pool.h"
#include "common/service/verify.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#define GRANTS_MAX   (2 * ASKS_MAX)
#define GRANTS_LEAST 4

/* After this many deaths of workers, iterations are run in a child process. */
#define ISOLATED_DEATHS 2
/* After this many deaths, iterations are given up. In a loop with dependencies each death ends the run, so the limit is
 * the number of starts that --restarts allows by default. */
#define DEATHS_MAX           3
#define DEPENDENT_DEATHS_MAX 4

static inline bool deaths_are_too_many(const struct poison *poison, unsigned retries, bool are_dependent)
{
    return poison->deaths >= (are_dependent ? DEPENDENT_DEATHS_MAX : DEATHS_MAX) || poison->failures > retries;
}
/* For this time after a failure, only other workers get the failed iterations. */
#define ELSEWHERE_NS 1000000000u
/* While work may be recalled, a worker answers at the end of an iteration. Its grants are copied after it has been
 * silent for a multiple of the longest iteration so far: SILENCE_FACTOR if it has one iteration left,
 * SILENCE_FACTOR_ASKED if it owes an answer; but not before SILENCE_MIN_NS. */
#define SILENCE_FACTOR       2
#define SILENCE_FACTOR_ASKED 4
#define SILENCE_MIN_NS       10000000u
/* A worker faster by this factor may copy a grant after the shortest silence. */
#define FASTER_FACTOR 1.75
/* The lease of a chunk is this many times its expected duration; the chunk is overdue after it. Used while work is not
 * recalled. */
#define LEASE_FACTOR 10
/* Lower limit of a lease, because a core may be busy with something else for a while. */
#define LEASE_MIN_NS 10000000000u
/* The lease until a first chunk is finished: before that, the duration of chunks is unknown. */
#define LEASE_UNKNOWN_NS 60000000000u
/* Time between two searches for an overdue chunk if no idle worker could get a copy. */
#define LEASE_LOOK_NS 5000000u
/* A worker is declared lost if it has not left this long after it could have: see service_leave_due_ns(). */
#define LEAVE_NS 5000000000u
/* Instead of LEAVE_NS after an END with `late`. The time begins again while other workers leave. */
#define LEAVE_LATE_NS 150000000u

/* Value of `record_bytes` if results may have any size. */
#define RECORD_VARIABLE UINT64_MAX

enum copy_owner {
    OWNER_SELF,
    OWNER_UNDECIDED, /* two workers have a copy; the first one to send results decides */
    OWNER_OTHER,     /* results of the other worker count; those of this worker are dropped */
    OWNER_VERIFY,    /* results of this worker are only compared with stored ones: see verify.h */
};

struct grant {
    uint64_t first, count;
    uint64_t received; /* number of iterations whose results were announced */
    uint64_t stored;   /* number of iterations whose results were stored or dropped */
    uint64_t since_ns;
    uint32_t chunk; /* number of the chunk; 0: the slot is unused */
    bool computed;
    uint8_t copy_owner;
    bool flawed : 1;
    bool was_copied : 1;
    bool may_return : 1;
    bool is_told_whole : 1;
    union {
        struct {
            /* OWNER_UNDECIDED: worker and chunk of the other copy. OWNER_VERIFY: `other_worker` is an index in the list
             * of verifications, and `other_chunk` is unused. */
            uint32_t other_worker, other_chunk;
        };
        uint64_t digest; /* in a loop with dependencies, where no chunk is copied: digest of the stored results */
    };
};

enum recall_state {
    RECALL_POSSIBLE,
    RECALL_FUTILE,
    RECALL_LATE, /* a RECALL was sent; the service no longer waits for the answer */
    RECALL_SENT,
    RECALL_OUTDATED, /* like RECALL_SENT, but the worker has got more chunks since the RECALL */
};

struct served {
    unsigned holds;
    unsigned asks; /* number of chunks that the worker has requested and not got yet */
    uint32_t chunks_assigned;
    bool present;
    bool gone;
    uint8_t recall;
    uint8_t owed; /* number of RETURNED messages that the worker must still send: see service_check() */
    bool recalled_all;
    bool shuns_verifications;
    bool is_aside; /* the worker gets no more chunks and is not in the queue: see service_put_aside() */
    bool is_wrong; /* two other workers agree that its results are wrong; the owner does not know it yet */
    bool is_revoked;
    bool is_stale;
    uint16_t load; /* load of the worker's core, from its REQUEST; 0: unknown */
    uint16_t load_told;
    uint64_t iterations, chunks, compute_ns, wait_ns;
    uint64_t last_done_ns;
    uint64_t asked_ns;
    /* Time of its latest message or, if later, of the latest RECALL (not RECALL_ALL) or of its adoption with a chunk;
     * 0: none yet. */
    uint64_t heard_ns;
    double probe_s; /* its time for a probe iteration: see service_note_speeds(); 0: unknown */
    uint64_t messages, bytes;
    struct grant *grants; /* [slots], indexed by chunk number modulo `slots`; owned if slots > GRANTS_LEAST */
    uint32_t slots;       /* a power of two, at most GRANTS_MAX */
    unsigned answers;     /* number of chunks in its ASSIGN of this step; service->step.more has all but the first */
    struct assign answer;
};

struct service_ops {
    /* Called if a worker waits and the pool is empty, so that the owner can fill the pool. May be NULL. */
    void (*on_empty)(void *owner, unsigned worker);
    /* Called after a chunk is finished and before the worker's next request is served. The measurement does not include
     * the wait before a worker's first chunk, which lasts until all workers are probed. NULL if the technique does not
     * learn. */
    void (*finished)(void *owner, unsigned worker, const struct feedback_record *feedback);
    /* Called after a part is stored, or has no results to store. In a loop with dependencies it is a whole chunk. */
    void (*committed)(void *owner, const struct part *part);
    /* Called if iterations failed on the worker of rank `failure->id`; `failure->final`: they are given up. */
    void (*failed)(void *owner, const struct iterations_failed *failure);
    /* Called in a loop with dependencies if another process assigned the chunk before `neighbour->first`, so that the
     * owner can tell that process. May be NULL if this service has all workers. */
    void (*neighbour)(void *owner, const struct neighbour *neighbour);
    void (*loaded)(void *owner, unsigned worker);
};

struct requeued {
    struct range range;
    uint64_t since_ns;
};

/* `chunks`: how many chunks of the lost worker are handed out again; `running`: what it was probably computing. */
struct loss {
    unsigned worker;
    uint64_t chunks;
    struct range running;
};

enum service_state { SERVICE_SERVING, SERVICE_ENDING };

/* What the owner gets if it asks others for chunks: chunks; nothing at present; or nothing ever again, because all work
 * has begun. */
enum service_source { SOURCE_FLOWS, SOURCE_RESTS, SOURCE_IS_DRY };

enum service_news {
    SERVICE_HAS_LOST = 1 << 0,
    SERVICE_GAVE_UP = 1 << 1,
    SERVICE_RETURNED = 1 << 2,
    SERVICE_COUNTED = 1 << 3,
    SERVICE_NO_MEMORY = 1 << 4,
    SERVICE_DIFFERED = 1 << 5,
};

#define SERVICE_MORE ((ASKS_MAX - 1) * ASSIGN_RECORD_BYTES)

struct service_config {
    const struct run_spec *spec; /* `spec` and `ranks` are borrowed for the service's life */
    const unsigned *ranks;
    unsigned workers;
    unsigned pool_capacity;
    bool absent;
    uint64_t record_bytes; /* result bytes per iteration, or RECORD_VARIABLE; 0: results are only digested */
    bool no_speculation;
    bool no_isolation;
    /* Each iteration may need results of earlier ones: no chunk is handed out twice, and each worker is told which
     * worker has the next chunk. */
    bool dependent;
    uint64_t first;
    const struct service_ops *ops;
    void *owner;
};

struct service_line {
    unsigned *ring;
    unsigned first;
    unsigned count;
    unsigned passed_over;
    unsigned asks; /* chunks requested by these workers and by those with `is_aside` */
    struct service_index index;
};

struct service_count {
    unsigned busy;
    unsigned present;
    unsigned beginners;
    unsigned gone;
    unsigned aside;
};

/* Buffers for the ASSIGNs of one step; owned: `more` is [worker_count * SERVICE_MORE], `answered` lists the workers
 * that get one. */
struct service_step {
    unsigned char *more;
    unsigned *answered;
    unsigned answered_count;
};

struct service_requeued {
    struct requeued *items;
    unsigned count;
    size_t capacity;
    bool is_deadly; /* each range begins with iterations at which a worker died */
};

struct copy_due {
    uint64_t due_ns;
    unsigned worker;
    uint32_t chunk;
};

struct service_recall {
    struct range *ranges;
    unsigned count;
    size_t capacity;
    unsigned open;
    /* value of `assigned` when no worker could be asked for work; NEVER: there may be such a worker */
    uint64_t assigned_at_futile;
    uint64_t due_ns;
    struct copy_due *copies; /* [copies_count] a heap; the earliest `due_ns` is first; owned */
    size_t copies_count, copies_capacity;
    uint64_t copies_due_ns;
    unsigned waiting_elsewhere;
    bool awaits_stolen; /* This step asked for a STEAL, so no chunk is copied before its result is handed out. */
    uint64_t fruitful;
    uint64_t iterations;
};

struct service_lease {
    uint64_t due_ns;
    uint64_t longest_ns;
    uint64_t assigned_at_look;
    bool has_copied;
};

struct service_losses {
    struct loss *items;
    unsigned count, told;
    size_t capacity;
};

struct service_given_up {
    unsigned char *records; /* in the format of ITERATIONS_GIVEN_UP; owned */
    unsigned count, told;
    size_t capacity;
};

struct service_leaving {
    uint64_t due_ns;
    unsigned gone_at_look;
    bool is_late;
};

struct service_order {
    uint64_t first;
    struct boundary_list ends;
    struct boundary_list beginnings;
};

struct service_tally {
    uint64_t reissued;
    uint64_t duplicates;
    uint64_t messages, bytes;
};

struct service {
    const struct run_spec *spec;
    const struct service_ops *ops;
    void *owner;
    const struct reason_sink *reasons;
    struct trace_sink *trace;
    uint64_t traced_ns;
    const unsigned *ranks;
    struct served *workers;
    struct grant *grants; /* [worker_count * GRANTS_LEAST] the initial slots; owned */
    unsigned worker_count, room;
    struct pool pool;
    struct service_line line;
    struct service_step step;
    struct service_count count;
    uint64_t record_bytes;
    bool no_speculation, no_isolation, dependent;
    bool has_speeds;
    bool may_grow;
    bool out_of_memory;
    unsigned parts_on_way;
    unsigned state;
    unsigned news;
    unsigned source;
    struct service_requeued requeued;
    struct service_recall recall;
    struct service_lease lease;
    struct service_losses losses;
    struct service_given_up given_up;
    struct service_leaving leaving;
    struct service_order order;
    struct service_tally tally;
    struct poison_set poisons;
    /* When to serve waiting workers again: failed iterations are then no longer reserved for another worker, a part of
     * a copy may be recalled, or this step left work that it could not assign any more. */
    uint64_t elsewhere_due_ns;
    uint64_t failed_ns;
    uint64_t first_assign_ns; /* when the first chunk was assigned; NEVER: none was assigned yet */
    uint64_t assigned;
    struct verify verify;
};

int service_init(struct service *service, const struct service_config *config);
void service_fini(struct service *service);

/* -1: out of memory; the state is consistent. */
int service_reserve(struct service *service, unsigned workers);

/* Adds workers, for which there must be room. `ranks`: the sorted ranks of all workers, borrowed; it replaces the
 * previous array. The new workers are not served until service_adopt(). */
void service_add_workers(struct service *service, const unsigned *ranks, unsigned workers);

unsigned service_find(const struct service *service, unsigned rank);

/* True if the loop cannot go on without the worker, because no other worker may compute the work that it holds. */
bool service_needs(const struct service *service, unsigned rank);

/* Sets mean_s[worker_count], the seconds that the same probe iterations took on each worker. At the end of the loop a
 * much faster worker may then copy the rest of a slow one. */
void service_note_speeds(struct service *service, const double *mean_s);

/* Sets whether iterations may still be added to the loop. While they may, workers wait for them, and a chunk is copied
 * only if its lease is over. When no more can be added, waiting workers are served at once. */
void service_note_growth(struct service *service, bool may_grow);

/* Handles a REQUEST, RESULT, RETURNED, ITERATIONS_FAILED, GOODBYE or ECHO of worker `w`. Returns -1 for an invalid
 * message, and 1 for a message of a worker declared lost, which is ignored. After an ITERATIONS_FAILED the owner calls
 * service_serve(). */
int service_message(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                    struct actions *actions, struct error *error);

/* -1: the worker had no such chunk. */
int service_stolen(struct service *service, unsigned w, uint64_t now_ns, const struct stolen *stolen,
                   struct actions *actions, struct error *error);

/* Commits the part of EVENT_STORED if it was stored. If its sender was lost before all of it arrived, requeues the
 * part; the owner calls service_serve() afterwards. If the disk failed, the part is never committed. */
void service_stored(struct service *service, const struct event *event, struct actions *actions);

/* No effect if worker `w` has left. The owner calls service_serve() afterwards. */
void service_lost(struct service *service, unsigned w, uint64_t now_ns);

/* Begins to serve worker `w`. The chunk `running`, which the worker computes and which may be empty, becomes its first
 * grant. If `counts` is false, its results are dropped and the worker is told to stop it. */
void service_adopt(struct service *service, unsigned w, const struct range *running, bool counts, uint64_t now_ns,
                   struct actions *actions);

/* Excludes worker `w`: it gets no more chunks, and those that it has not begun are recalled. It finishes the others and
 * waits for the END. No effect if it is already excluded, gone, or not served here. */
void service_put_aside(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions);
/* The owner calls service_serve() afterwards. */
void service_take_back(struct service *service, unsigned w);

/* These add to the record of deaths and failures of iterations, raise it to at least `known`, or remove it. */
void service_poison(struct service *service, const struct poison *more);
void service_warn(struct service *service, const struct poison *known);
void service_clear(struct service *service, uint64_t first, uint64_t count);

/* Takes a range away for another service: a requeued range, or a recalled range for which no worker here waits. Returns
 * false if there is none. */
bool service_take_away(struct service *service, struct range *range);

void service_expire(struct service *service, uint64_t now_ns, struct actions *actions);

/* Declares workers with overdue chunks lost. Needed if only workers of other services are idle: they can get the work
 * only after the worker that has it is lost. */
void service_lose_overdue(struct service *service, uint64_t now_ns);

/* Returns when service_expire() must be called; mostly NEVER. */
static inline uint64_t service_deadline(const struct service *service)
{
    if (service->state == SERVICE_ENDING)
        return service->count.gone < service->count.present ? service->leaving.due_ns : NEVER;
    uint64_t recall_ns = service->recall.open > 0 ? service->recall.due_ns : NEVER;
    uint64_t close_ns = service->verify.close_due_ns;
    if (service->line.count == 0)
        return service->recall.waiting_elsewhere > 0 && recall_ns < close_ns ? recall_ns : close_ns;
    uint64_t lease_ns = service->source != SOURCE_FLOWS && service->lease.due_ns > 0 ? service->lease.due_ns : NEVER;
    lease_ns = recall_ns < lease_ns ? recall_ns : lease_ns;
    lease_ns = close_ns < lease_ns ? close_ns : lease_ns;
    return lease_ns < service->elsewhere_due_ns ? lease_ns : service->elsewhere_due_ns;
}

static inline unsigned service_able(const struct service *service)
{
    return service->count.present - service->count.gone - service->count.aside;
}

unsigned service_idle_aside(const struct service *service);

static inline unsigned service_idle(const struct service *service)
{
    unsigned idle_aside = service->count.aside > 0 ? service_idle_aside(service) : 0;
    return service->count.present - service->count.gone - service->count.busy - idle_aside;
}

bool service_recall_is_over(struct service *service);

void service_recall_for_others(struct service *service, unsigned waiting, uint64_t now_ns, struct actions *actions);

uint64_t service_recalled_iterations(const struct service *service);

/* Takes up to `most` ranges for `waiting` workers of other services, and returns how many: recalled ranges; if there
 * are none, a share of the pool or of the requeued work. */
unsigned service_take_recalled(struct service *service, unsigned waiting, struct range *ranges, unsigned most);

/* Assigns chunks to waiting workers while there are any. Call it at most once per step. */
void service_serve(struct service *service, uint64_t now_ns, struct actions *actions);

void service_end(struct service *service, const struct end *end, uint64_t now_ns, struct actions *actions);

void service_close(struct service *service, const struct actions *actions);

static inline void service_set_source(struct service *service, enum service_source source)
{
    service->source = source;
}

static inline unsigned service_take_news(struct service *service)
{
    unsigned news = service->news;
    if (news != 0)
        service->news = 0;
    return news;
}

/* Returns the next lost worker that was not yet taken, or NULL. Valid until the next call of the service. */
const struct loss *service_take_loss(struct service *service);

/* Returns up to `most` new records of ITERATIONS_GIVEN_UP, valid until the next call of the service. */
const unsigned char *service_take_given_up(struct service *service, unsigned most, unsigned *count);

struct recovery_counts service_take_counts(struct service *service);

/* Returns false if there are no news. */
bool service_take_verified(struct service *service, struct verified *verified);

/* Returns the next worker to drop because two others agree that its results are wrong, or worker_count. The reason is
 * valid for the service's life. Call it once per step after SERVICE_DIFFERED; the next step may have more. */
unsigned service_take_wrong(struct service *service, const char **reason);

/* In a loop with dependencies: another process has assigned the chunk that begins at `neighbour->first`. Returns false
 * if that contradicts what this service has assigned. */
bool service_take_neighbour(struct service *service, const struct neighbour *neighbour, struct actions *actions);

/* For the journal of a loop with dependencies: asks the worker with the lowest open chunk that ends at or after `at` to
 * send the boundary data at that end to the supermaster. No effect if there is no such chunk. */
void service_ask_for_boundary(struct service *service, uint64_t at, unsigned supermaster, struct actions *actions);
void service_pass_boundary(const struct service *service, const struct message *message, struct actions *actions);

bool service_is_over(const struct service *service);

bool service_is_quiet(const struct service *service);

void service_check(const struct service *service);

/* Returns how many iterations in the pool, returned or assigned have no results yet. Slow; not for loops with
 * dependencies. */
uint64_t service_open_iterations(const struct service *service);

/* The oldest unfinished chunk of worker `w`: sets `*chunk`, how many of its iterations have no results, and since when
 * the worker has had it. Returns false if the worker has no chunk. */
bool service_running(const struct service *service, unsigned w, struct range *chunk, uint64_t *left,
                     uint64_t *since_ns);

void service_stats(const struct service *service, unsigned w, struct stats_record *record);
