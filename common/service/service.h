/* SPDX-License-Identifier: MIT */
/* Serving workers: the request queue, the task pool, the grants of each worker, and the collection of results. A master
 * serves its own workers with it; in the central topology the supermaster serves all workers.
 *
 * The owner fills the pool and is told which iterations are done. A chunk is first in the pool. An ASSIGN gives it to a
 * worker; from then on it is a grant. A REQUEST reports it as finished. If the job has an output, its results are
 * stored (ACTION_STORE or ACTION_COLLECT). At last it is committed. No memory is allocated per chunk.
 *
 * Work of a lost worker, and iterations that failed, are requeued and handed out before all other work. Failed
 * iterations go to another worker if there is one. Deaths and failures are recorded in `poisons`. Iterations at which
 * workers died are run in a child process. If the kernel cannot run in a child process, they are run one at a time. So
 * the iteration that causes the deaths is found, and other iterations are not lost with it. After too many deaths or
 * failures, iterations are given up.
 *
 * After all work is handed out, work that has not begun is recalled and given to idle workers: see recall.c. After all
 * work has begun, the work of a worker that has been silent for too long is copied to another worker. The worker that
 * sends results first wins. The results of the other are dropped, and it stops at its next iteration. At any time each
 * iteration is in exactly one of these places: in the pool; with one worker whose results count, or with two workers
 * that have sent none of its results yet; on its way to the disk; requeued; recalled; or committed. */
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

/* After this many deaths of workers at the same iterations, these iterations are run in a child process. */
#define ISOLATED_DEATHS 2
/* After this many deaths of workers at the same iterations, these iterations are given up. In a loop with dependencies
 * each death ends the run. So for such a loop the limit is the number of starts that --restarts allows by default: the
 * first start and the restarts. */
#define DEATHS_MAX           3
#define DEPENDENT_DEATHS_MAX 4

static inline bool deaths_are_too_many(const struct poison *poison, unsigned retries, bool are_dependent)
{
    return poison->deaths >= (are_dependent ? DEPENDENT_DEATHS_MAX : DEATHS_MAX) || poison->failures > retries;
}

/* True if the iterations ran at so many losses of the supermaster that each of them must run alone. */
static inline bool deaths_make_suspect(const struct poison *poison)
{
    return poison->shares_blame && poison->deaths >= ISOLATED_DEATHS;
}

/* For this time after a failure, the failed iterations are given to other workers only. */
#define ELSEWHERE_NS 1000000000u
/* If work may be recalled, a worker answers at the end of an iteration. If it has been silent for too long, its grants
 * are copied. The limit of its silence is a multiple of the longest iteration so far, but at least SILENCE_MIN_NS. The
 * factor is SILENCE_FACTOR if one iteration remains, and SILENCE_FACTOR_ASKED if the worker owes an answer to a RECALL.
 */
#define SILENCE_FACTOR       2
#define SILENCE_FACTOR_ASKED 4
#define SILENCE_MIN_NS       10000000u
/* If a worker is faster than another by this factor, it may copy a grant after the other has been silent for only
 * SILENCE_MIN_NS. */
#define FASTER_FACTOR 1.75
/* If work is not recalled, the lease of a chunk is this many times the time that the chunk should take. After its lease
 * the chunk is overdue. */
#define LEASE_FACTOR 10
/* Lower limit of a lease, because other processes may occupy a worker's core for a while. */
#define LEASE_MIN_NS 10000000000u
/* The lease if no chunk has finished yet, so that nobody knows how long a chunk should take. */
#define LEASE_UNKNOWN_NS 60000000000u
/* Time between two searches for overdue chunks, if the first search could give no idle worker a copy. */
#define LEASE_LOOK_NS 5000000u
/* Least time that workers have for leaving after an END without `late`. A worker that has not left in time is declared
 * lost: see service_leave_due_ns(). */
#define LEAVE_NS 5000000000u
/* Replaces LEAVE_NS after an END with `late`. The time limit starts again whenever another worker has left. */
#define LEAVE_LATE_NS 150000000u

/* Value of `record_bytes` if the results of an iteration may have any size. */
#define RECORD_VARIABLE UINT64_MAX

enum copy_owner {
    OWNER_SELF,
    /* two workers have a copy of the chunk; the results of the worker that is first to send some will count */
    OWNER_UNDECIDED,
    OWNER_OTHER,  /* the results of the other worker count, and those of this worker are dropped */
    OWNER_VERIFY, /* this worker's results are only compared with stored results: see verify.h */
};

struct grant {
    uint64_t first, count;
    uint64_t received; /* number of iterations whose results the worker has announced */
    uint64_t stored;   /* number of iterations whose results were stored, or were dropped */
    uint64_t since_ns;
    uint32_t chunk; /* number of the chunk in the order of its worker's chunks; 0: the slot is empty */
    bool computed;
    uint8_t copy_owner;
    bool flawed : 1;
    bool was_copied : 1;
    bool may_return : 1;
    bool is_told_whole : 1;
    union {
        struct {
            /* If `copy_owner` is OWNER_UNDECIDED: worker and chunk of the other copy. If it is OWNER_VERIFY:
             * `other_worker` is an index in the list of verifications, and `other_chunk` is not used. */
            uint32_t other_worker, other_chunk;
        };
        /* Only in a loop with dependencies, in which no chunk is copied: digest of the results stored so far. */
        uint64_t digest;
    };
};

enum recall_state {
    RECALL_POSSIBLE,
    RECALL_FUTILE,
    RECALL_LATE, /* a RECALL was sent, but the answer is late and is no longer awaited */
    RECALL_SENT,
    RECALL_OUTDATED, /* a RECALL was sent and is not answered yet, and the worker has been assigned chunks since then */
};

struct served {
    unsigned holds;
    unsigned asks; /* number of chunks that the worker has requested and that were not assigned yet */
    uint32_t chunks_assigned;
    bool present;
    bool gone;
    uint8_t recall;
    uint8_t owed; /* number of RETURNED messages that the worker must still send: see service_check() */
    bool recalled_all;
    bool shuns_verifications;
    bool is_aside; /* the worker gets no more chunks, and is not in the queue: see service_put_aside() */
    /* two other workers have agreed that this worker's results are wrong; the owner does not know it yet */
    bool is_wrong;
    bool is_revoked;
    bool is_stale;
    uint16_t load; /* load of the worker's core, from its REQUEST; 0: unknown */
    uint16_t load_told;
    uint64_t iterations, chunks, compute_ns, wait_ns;
    uint64_t last_done_ns;
    uint64_t asked_ns;
    /* The latest of three times: when the last message of the worker came; when the last RECALL (except RECALL_ALL) was
     * sent to it; when it was adopted, if it had a chunk then. 0: none of these has happened. */
    uint64_t heard_ns;
    double probe_s; /* the worker's time for a probe iteration: see service_note_speeds(); 0: unknown */
    uint64_t messages, bytes;
    struct grant *grants; /* [slots], indexed by chunk number modulo `slots`; owned if slots > GRANTS_LEAST */
    uint32_t slots;       /* a power of two, at most GRANTS_MAX */
    /* number of chunks in the ASSIGN that the worker gets in this step. The first of them is in `answer`, the others
     * are in service->step.more. */
    unsigned answers;
    struct assign answer;
};

struct service_ops {
    /* Called if a worker waits and the pool is empty; may fill the pool. May be NULL. */
    void (*on_empty)(void *owner, unsigned worker);
    /* Called after a chunk is finished and before the worker's next request is served. A worker waits for its first
     * chunk until all workers are probed; `feedback` does not contain this wait. The member is NULL if the technique
     * does not learn. */
    void (*finished)(void *owner, unsigned worker, const struct feedback_record *feedback);
    /* Called after a part is stored. If the part has no results to store, called after it is finished. In a loop with
     * dependencies the part is a whole chunk. */
    void (*committed)(void *owner, const struct part *part);
    /* Called if iterations have failed on the worker with rank `failure->id`. If `failure->final` is set, these
     * iterations are given up. */
    void (*failed)(void *owner, const struct iterations_failed *failure);
    /* Called in a loop with dependencies if another process assigns the chunk before `neighbour->first`. The owner
     * tells that process which worker has the chunk that begins at `neighbour->first`. May be NULL if this service has
     * all workers. */
    void (*neighbour)(void *owner, const struct neighbour *neighbour);
    void (*loaded)(void *owner, unsigned worker);
};

struct requeued {
    struct range range;
    uint64_t since_ns;
};

/* `chunks`: how many chunks of the lost worker are handed out again. `running`: the iterations that it was probably
 * computing. */
struct loss {
    unsigned worker;
    uint64_t chunks;
    struct range running;
};

enum service_state { SERVICE_SERVING, SERVICE_ENDING };

/* Result of requesting chunks from another process. FLOWS: the owner gets chunks. RESTS: it gets none at present.
 * IS_DRY: it will never get any again, because all work has begun. */
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
    const struct run_spec *spec; /* `spec` and `ranks` are borrowed until service_fini() */
    const unsigned *ranks;
    unsigned workers;
    unsigned pool_capacity;
    bool absent;
    /* bytes of results per iteration, or RECORD_VARIABLE. 0: workers send only digests of their results. */
    uint64_t record_bytes;
    bool no_speculation;
    bool no_isolation;
    /* true: an iteration may need results of earlier iterations. In this case no chunk is handed out twice, and each
     * worker is told which worker has the next chunk. */
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
    /* number of chunks that are requested, by the workers in the queue and by those that are put aside */
    unsigned asks;
    struct service_index index;
};

struct service_count {
    unsigned busy;
    unsigned present;
    unsigned beginners;
    unsigned gone;
    unsigned aside;
};

/* Buffers for the ASSIGNs of one step; owned. `more`: [worker_count * SERVICE_MORE]. `answered`: the workers that get
 * an ASSIGN. */
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
    /* If no worker could be asked to return work: the value of `assigned` at that time. Otherwise NEVER. */
    uint64_t assigned_at_futile;
    uint64_t due_ns;
    struct copy_due *copies; /* [copies_count] heap with the earliest `due_ns` first; owned */
    size_t copies_count, copies_capacity;
    uint64_t copies_due_ns;
    unsigned waiting_elsewhere;
    /* This step has tried a STEAL. No chunk is copied before the stolen iterations are handed out. */
    bool awaits_stolen;
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
    unsigned char *records; /* list of records in the format of ITERATIONS_GIVEN_UP; owned */
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
    struct grant *grants; /* [worker_count * GRANTS_LEAST] the first slots of each worker; owned */
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
    /* Time at which to serve waiting workers again. Failed iterations are then no longer reserved for another worker,
     * or a part of a copy may be recalled. If a step could not assign all the work that it had, this time is the
     * present one or earlier. */
    uint64_t elsewhere_due_ns;
    uint64_t failed_ns;
    uint64_t first_assign_ns; /* time at which the first chunk was assigned; NEVER: none was assigned yet */
    uint64_t assigned;
    struct verify verify;
};

int service_init(struct service *service, const struct service_config *config);
void service_fini(struct service *service);

/* Makes room for `workers` workers. If memory runs out, returns -1; the service remains usable. */
int service_reserve(struct service *service, unsigned workers);

/* Adds workers; service_reserve() has made room for them. `ranks`: the sorted ranks of all workers, borrowed; this
 * array replaces the previous one. A new worker is not served until service_adopt(). */
void service_add_workers(struct service *service, const unsigned *ranks, unsigned workers);

unsigned service_find(const struct service *service, unsigned rank);

/* Returns true if no other worker may compute the work that this worker holds, so that the loop cannot finish without
 * this worker. */
bool service_needs(const struct service *service, unsigned rank);

/* Stores the speeds of the workers. `mean_s`: [worker_count] the time of a probe iteration on each worker, in seconds;
 * all workers compute the same probe iterations. At the end of the loop a much faster worker may then copy the
 * remaining work of a slow one. */
void service_note_speeds(struct service *service, const double *mean_s);

/* Sets whether iterations may still be added to the loop. While they may be added, workers wait for them, and a chunk
 * is copied only after its lease. After that, waiting workers are served at once. */
void service_note_growth(struct service *service, bool may_grow);

/* Handles a REQUEST, RESULT, RETURNED, ITERATIONS_FAILED, GOODBYE or ECHO of worker `w`. Returns -1 if the message is
 * invalid. Returns 1 and ignores the message if the worker was declared lost. After an ITERATIONS_FAILED the owner must
 * call service_serve(). */
int service_message(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                    struct actions *actions, struct error *error);

/* Handles the result of a STEAL from worker `w`. Returns -1 if the worker had no chunk with the stolen iterations. */
int service_stolen(struct service *service, unsigned w, uint64_t now_ns, const struct stolen *stolen,
                   struct actions *actions, struct error *error);

/* Handles EVENT_STORED. If the part was stored, commits it. If the part's sender was lost before the whole part
 * arrived, requeues it; the owner must then call service_serve(). If the disk failed, the part is never committed. */
void service_stored(struct service *service, const struct event *event, struct actions *actions);

/* Handles the loss of worker `w`. Does nothing if the worker has left in order before. The owner must call
 * service_serve() afterwards. */
void service_lost(struct service *service, unsigned w, uint64_t now_ns);

/* Begins to serve worker `w`. `running`: the chunk that the worker is computing already, or an empty range. This chunk
 * becomes the worker's first grant. If `counts` is false, the results of this chunk are dropped, and the worker is told
 * to stop it. */
void service_adopt(struct service *service, unsigned w, const struct range *running, bool counts, uint64_t now_ns,
                   struct actions *actions);

/* Puts worker `w` aside. The worker gets no more chunks, and its chunks that have not begun are recalled. It finishes
 * the chunks that have begun, and waits for the END. Does nothing if `w` is already put aside, gone, or not served
 * here. */
void service_put_aside(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions);
/* Undoes service_put_aside(). The owner must call service_serve() afterwards. */
void service_take_back(struct service *service, unsigned w);

/* These functions change the record of deaths and failures of iterations. service_poison() adds to it. service_warn()
 * raises it to at least `known`. service_clear() removes it. */
void service_poison(struct service *service, const struct poison *more);
void service_warn(struct service *service, const struct poison *known);
void service_clear(struct service *service, uint64_t first, uint64_t count);

/* Takes away a range that another service will hand out. The range was requeued, or it was recalled and no worker waits
 * for it here. Returns false if there is no such range. */
bool service_take_away(struct service *service, struct range *range);

void service_expire(struct service *service, uint64_t now_ns, struct actions *actions);

/* Declares workers with overdue chunks lost. Needed if only workers of other services are idle: another service can
 * hand out an overdue chunk only after the worker that has it was lost. */
void service_lose_overdue(struct service *service, uint64_t now_ns);

/* Returns the time at which service_expire() must be called; usually NEVER. */
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

/* Takes up to `most` ranges for `waiting` idle workers of other services, and returns how many. Takes recalled ranges.
 * If there are none, takes a share of the pool or of the requeued work. */
unsigned service_take_recalled(struct service *service, unsigned waiting, struct range *ranges, unsigned most);

/* Assigns chunks to waiting workers until no chunks are left or no worker waits. Call it at most once per step. */
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

/* Returns the next lost worker that no earlier call has returned, or NULL. The result is valid until the next call of a
 * function of the service. */
const struct loss *service_take_loss(struct service *service);

/* Returns the records that no earlier call has returned, at most `most`, in the format of ITERATIONS_GIVEN_UP. They are
 * valid until the next call of a function of the service. */
const unsigned char *service_take_given_up(struct service *service, unsigned most, unsigned *count);

struct recovery_counts service_take_counts(struct service *service);

/* Returns false if nothing has changed since the last call. */
bool service_take_verified(struct service *service, struct verified *verified);

/* Returns the next worker that must be dropped because two others agree that its results are wrong. Returns
 * worker_count if there is none. The reason stays valid until service_fini(). Call it once per step after
 * SERVICE_DIFFERED. If there are more such workers, the next step returns them. */
unsigned service_take_wrong(struct service *service, const char **reason);

/* In a loop with dependencies: notes that another process has assigned the chunk that begins at `neighbour->first`.
 * Returns false if this contradicts what this service knows. */
bool service_take_neighbour(struct service *service, const struct neighbour *neighbour, struct actions *actions);

/* For the journal of a loop with dependencies. Finds the lowest unfinished chunk that ends at or after `at`. Asks the
 * worker of this chunk to send the boundary data at the chunk's end to the supermaster. Does nothing if there is no
 * such chunk. */
void service_ask_for_boundary(struct service *service, uint64_t at, unsigned supermaster, struct actions *actions);
void service_pass_boundary(const struct service *service, const struct message *message, struct actions *actions);

bool service_is_over(const struct service *service);

bool service_is_quiet(const struct service *service);

void service_check(const struct service *service);

/* Returns how many iterations of this service are not done. They are in the pool, requeued, recalled, assigned without
 * results, or held back for verification. The function is slow. It cannot be used for loops with dependencies. */
uint64_t service_open_iterations(const struct service *service);

/* Describes the oldest unfinished chunk of worker `w`. `*left`: number of its iterations that have no results.
 * `*since_ns`: time at which the worker got the chunk. Returns false if the worker has no chunk. */
bool service_running(const struct service *service, unsigned w, struct range *chunk, uint64_t *left,
                     uint64_t *since_ns);

void service_stats(const struct service *service, unsigned w, struct stats_record *record);
