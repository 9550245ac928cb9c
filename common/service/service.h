/* SPDX-License-Identifier: MIT */
/* Serving workers: the request queue, the task pool, who computes what, and the collection of results. A master serves
 * its own workers with it, and the supermaster serves all of them in the central topology: one code for both.
 *
 * The owner fills the pool and is told what has been stored. A chunk's way: pool, ASSIGN (a grant), REQUEST with DONE,
 * STORE or COLLECT of its results where the job has an output, committed. Nothing is allocated per chunk.
 *
 * What a lost worker had is requeued, and so is what did not work: it is handed out again before anything else, the
 * latter to another worker where there is one. What is held against it is kept in `poisons`: iterations that took
 * workers down go out to be run with care, or one by one where the kernel cannot be, so that the guilty one is found
 * and no other goes with it; where nothing helps they are given up.
 *
 * Once nothing is left to be handed out, work that has not begun is recalled from those who have some, and handed out
 * to those who wait: see recall.c. When all has begun, what a worker has that has been silent for too long is handed
 * out a second time; the first part of results that comes of either copy decides whose results count, those of the
 * other are dropped, and it is stopped at its next iteration. Every iteration is at any time in the pool, with one
 * worker whose results count (or two that have sent none of it yet), on its way to the disk, requeued, recalled, or
 * committed. */
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

/* Chunks of one worker that are assigned and not yet stored: those it has and those it tells of together. */
#define GRANTS_MAX (2 * ASKS_MAX)
/* Slots of each worker at first. Most workers have few grants; the slots double where they do not fit. */
#define GRANTS_LEAST 4

/* Deaths of workers from which on iterations are run in a child process. */
#define ISOLATED_DEATHS 2
/* Deaths of workers at which iterations are given up. In a loop with dependencies each death ends the run, and the
 * number is that of the starts that --restarts allows by default. */
#define DEATHS_MAX           3
#define DEPENDENT_DEATHS_MAX 4

/* True if iterations that have seen so much are given up. */
static inline bool deaths_are_too_many(const struct poison *poison, unsigned retries, bool are_dependent)
{
    return poison->deaths >= (are_dependent ? DEPENDENT_DEATHS_MAX : DEATHS_MAX) || poison->failures > retries;
}
/* Iterations that failed at one worker wait so long for another. */
#define ELSEWHERE_NS 1000000000u
/* While work may be recalled, a worker answers at the end of an iteration. A worker is slow, or stands still, when it
 * has been silent for so many times the longest iteration so far: with one iteration left, or asked for more. Its
 * grants are then given a second time. */
#define SILENCE_FACTOR       2
#define SILENCE_FACTOR_ASKED 4
/* The least such silence. */
#define SILENCE_MIN_NS 10000000u
/* A worker that is so many times faster gets a copy of what another one has after the least silence. */
#define FASTER_FACTOR 1.75
/* Without recall: factor by which an overdue chunk takes longer than the earlier ones of its worker let expect. */
#define LEASE_FACTOR 10
/* The least lease: a core that was busy with something else for a moment is no reason. */
#define LEASE_MIN_NS 10000000000u
/* The lease where no chunk was finished yet, so that nothing is known of how long they take. */
#define LEASE_UNKNOWN_NS 60000000000u
/* Time between two looks for an overdue chunk, while no worker is idle that could get a copy. */
#define LEASE_LOOK_NS 5000000u
/* A worker that has not left so long after it could is taken for lost: see service_leave_due_ns(). */
#define LEAVE_NS 5000000000u
/* The wait for a worker after an END that is LATE, from the moment at which the worker before it has left. */
#define LEAVE_LATE_NS 150000000u

/* For record_bytes: each iteration yields what it likes. */
#define RECORD_VARIABLE UINT64_MAX

/* The copy whose results count. */
enum copy_owner {
    OWNER_SELF,      /* the results of this worker */
    OWNER_UNDECIDED, /* undecided between two workers that have the rest: the first to send results */
    OWNER_OTHER,     /* the results of the other worker; those of this one are dropped */
    OWNER_VERIFY,    /* the results are compared with those that are there, see verify.h */
};

struct grant {
    uint64_t first, count;
    uint64_t received;      /* results announced so far, in iterations */
    uint64_t stored;        /* results stored so far, or dropped */
    uint64_t since_ns;      /* when the grant was assigned */
    uint32_t chunk;         /* number; 0: the slot is unused */
    bool computed;          /* DONE has come */
    uint8_t copy_owner;     /* enum copy_owner */
    bool flawed : 1;        /* some iterations failed */
    bool was_copied : 1;    /* some worker was given a copy of it */
    bool is_told_whole : 1; /* a trace knows from its completion that all of it is stored */
    union {
        struct {
            uint32_t other_worker, other_chunk; /* UNDECIDED: the other copy; VERIFY: place in the list, and nothing */
        };
        uint64_t digest; /* sum over the stored results, in a loop with dependencies, where no chunk is copied */
    };
};

/* A worker as somebody whom work may be recalled from. */
enum recall_state {
    RECALL_POSSIBLE,
    RECALL_FUTILE,   /* all that it holds has begun */
    RECALL_LATE,     /* asked, and nobody counts on the answer: it is late, or brings nothing */
    RECALL_SENT,     /* asked; the answer is waited for */
    RECALL_OUTDATED, /* likewise, and it was assigned more since */
};

struct served {
    unsigned holds; /* chunks it has not finished */
    unsigned asks;  /* chunks it asked for and has not got */
    uint32_t chunks_assigned;
    bool present;      /* served here */
    bool gone;         /* said goodbye, or is lost */
    uint8_t recall;    /* enum recall_state */
    uint8_t owed;      /* RETURNEDs that are to come: one, or two where the second RECALL is that for everything */
    bool recalled_all; /* a RECALL for everything is unanswered */
    bool shuns_verifications; /* it has returned one: it gets no other as long as it has something else */
    bool is_aside;            /* it gets nothing more, and is not in the queue: see service_put_aside() */
    bool is_wrong;            /* two others agree that its results are wrong, and the owner does not know it yet */
    bool is_revoked;          /* it was asked, and what it has asked ahead for has been taken from it */
    bool is_stale;            /* it is among `index.stale` */
    uint16_t load;            /* load of the worker's core, as in a REQUEST; 0: not told */
    uint16_t load_told;       /* kept by the owner */
    uint64_t iterations, chunks, compute_ns, wait_ns;
    uint64_t last_done_ns; /* when the worker's last completion came */
    uint64_t asked_ns;     /* when it asked for the oldest of the chunks that it asks for */
    uint64_t heard_ns;     /* when the worker's last message came, or it was asked for work */
    double probe_s;        /* time of a probe iteration: see service_note_speeds(); 0: not known */
    uint64_t messages, bytes;
    struct grant *grants; /* [slots] by chunk number modulo `slots`; owned, unless there are GRANTS_LEAST */
    uint32_t slots;       /* a power of two, at most GRANTS_MAX */
    unsigned answers;     /* chunks in the ASSIGN of this step; those behind the first are in service->step.more */
    struct assign answer;
};

struct service_ops {
    /* A request of `worker` waits and the pool is empty: the owner may put chunks into it. May be NULL. */
    void (*on_empty)(void *owner, unsigned worker);
    /* A chunk of `worker` is finished, and this was measured of it; called before its next request is served. The wait
     * before a worker's first chunk is left out: it lasts until all workers are probed. NULL: nobody learns. */
    void (*finished)(void *owner, unsigned worker, const struct feedback_record *feedback);
    /* The results of the part are stored (or there are none to store). In a loop with dependencies that is a whole
     * chunk: what of it others may have to compute again cannot be told apart by its digest. */
    void (*committed)(void *owner, const struct part *part);
    /* Iterations did not work with the worker of rank `failure->id`; final: they are given up. */
    void (*failed)(void *owner, const struct iterations_failed *failure);
    /* In a loop with dependencies: the chunk before `neighbour->first` was assigned elsewhere, where that is to be
     * told. May be NULL where all workers are served here. */
    void (*neighbour)(void *owner, const struct neighbour *neighbour);
    /* A worker has told another load of its core. May be NULL. */
    void (*loaded)(void *owner, unsigned worker);
};

/* Work that is to be handed out again. */
struct requeued {
    struct range range;
    uint64_t since_ns;
};

/* A worker that was lost, for the owner to tell. */
struct loss {
    unsigned worker;
    uint64_t chunks;      /* chunks of the worker that are handed out again */
    struct range running; /* range that the worker was computing, as far as is known */
};

/* ENDING: nobody is served any more, and requests for chunks are not listened to. */
enum service_state { SERVICE_SERVING, SERVICE_ENDING };

/* What an owner can get from elsewhere: chunks; nothing at present; or nothing, as all that is with others has begun.
 */
enum service_source { SOURCE_FLOWS, SOURCE_RESTS, SOURCE_IS_DRY };

/* News in a service that its owner is to look at: a set of bits, see service_take_news(). */
enum service_news {
    SERVICE_HAS_LOST = 1 << 0,  /* workers were lost: see service_take_loss() */
    SERVICE_GAVE_UP = 1 << 1,   /* iterations were given up: see service_take_given_up() */
    SERVICE_RETURNED = 1 << 2,  /* work came back, and nobody has got any of it yet */
    SERVICE_COUNTED = 1 << 3,   /* chunks were handed out again, or results dropped: see service_take_counts() */
    SERVICE_NO_MEMORY = 1 << 4, /* memory for lost work is out */
    SERVICE_DIFFERED = 1 << 5,  /* results differed: see service_take_mismatch() */
};

#define SERVICE_MORE ((ASKS_MAX - 1) * ASSIGN_RECORD_BYTES)

struct service_config {
    const struct run_spec *spec; /* borrowed for the service's life */
    const unsigned *ranks;       /* ranks of the workers, sorted; borrowed for the service's life */
    unsigned workers;
    unsigned pool_capacity;
    bool absent;           /* no worker is served at first: see service_adopt() */
    uint64_t record_bytes; /* bytes of one iteration's result, or RECORD_VARIABLE; 0 where results are only digested */
    bool no_speculation;   /* no worker gets a copy of a chunk that another worker computes, however long it takes */
    bool no_isolation;     /* no child processes: iterations that took workers down are handed out one by one */
    bool dependent;        /* iterations need those before them: nothing is handed out again, neighbours are told */
    uint64_t first;        /* first iteration of the loop, where it is dependent */
    const struct service_ops *ops;
    void *owner;
};

/* Workers that have asked for a chunk and wait: they get one in the order of their requests. */
struct service_line {
    unsigned *ring; /* worker indices, each once; owned */
    unsigned first;
    unsigned count;       /* in the ring, or in the line of the index while that is on */
    unsigned passed_over; /* workers that were moved to the end of the ring without a chunk, one after another */
    unsigned asks;        /* chunks that these workers, and those put aside, have asked for */
    struct service_index index;
};

/* Numbers of workers. */
struct service_count {
    unsigned busy;      /* that hold a chunk */
    unsigned present;   /* that are or were served here */
    unsigned beginners; /* that are served here and have had no chunk yet */
    unsigned gone;      /* those of `present` that have said goodbye or are lost */
    unsigned aside;     /* those of `present` that get no chunks for now, and are not gone */
};

/* What the ASSIGNs of one step are made of. */
struct service_step {
    unsigned char *more; /* [worker_count * SERVICE_MORE] records; owned */
    unsigned *answered;  /* workers that get one; owned */
    unsigned answered_count;
};

/* Iterations that are to be assigned anew. */
struct service_requeued {
    struct requeued *items; /* owned; allocated at the first loss */
    unsigned count;
    size_t capacity;
    bool is_deadly; /* at the first iterations of each of them a worker was lost */
};

/* Recall: work that has not begun is taken back from its worker for idle ones. See recall.c. */
struct service_recall {
    struct range *ranges; /* [count] taken back, and waiting for an idle worker; owned */
    unsigned count;
    size_t capacity;
    unsigned open;               /* RECALLs that were not answered */
    uint64_t assigned_at_futile; /* value of `assigned` when nobody was left to be asked; NEVER: somebody may be */
    uint64_t due_ns;             /* when to look whether an answer is late; NEVER: none is waited for */
    unsigned waiting_elsewhere;  /* idle workers that others serve, for whom work is recalled here, too */
    uint64_t fruitful;           /* recalls that took something back */
    uint64_t iterations;         /* that were taken back and handed out here */
};

/* Chunks that take far longer than they should: see reissue.c. */
struct service_lease {
    uint64_t due_ns;           /* the next look for overdue chunks; 0: at once */
    uint64_t longest_ns;       /* the longest mean time of an iteration in a chunk so far */
    uint64_t assigned_at_look; /* value of `assigned` at the last look */
    bool has_copied;           /* a chunk was given a second time: who is busy may compute what has come */
};

/* Losses that the owner is to be told of. */
struct service_losses {
    struct loss *items; /* owned */
    unsigned count, told;
    size_t capacity;
};

/* Ranges that were given up, and of which the owner is to be told. */
struct service_given_up {
    unsigned char *records; /* as those of an ITERATIONS_GIVEN_UP; owned */
    unsigned count, told;
    size_t capacity;
};

/* In the state SERVICE_ENDING: how long the service waits for workers that have not left. */
struct service_leaving {
    uint64_t due_ns;       /* when workers that have not left are taken for lost */
    unsigned gone_at_look; /* workers that had left when `due_ns` was set */
    bool is_late;          /* the service waits for no worker that does not leave soon */
};

/* The order of chunks in a loop with dependencies: see order.c. */
struct service_order {
    uint64_t first;                  /* the first iteration of the loop */
    struct boundary_list ends;       /* of assigned chunks with no assigned chunk behind them yet; by worker */
    struct boundary_list beginnings; /* of assigned chunks whose predecessor is not assigned yet; by rank */
};

struct service_tally {
    uint64_t reissued;        /* chunks handed out again, or a second time */
    uint64_t duplicates;      /* results that were dropped */
    uint64_t messages, bytes; /* traffic of the workers, from their goodbyes */
};

struct service {
    const struct run_spec *spec; /* borrowed */
    const struct service_ops *ops;
    void *owner;
    const struct reason_sink *reasons; /* borrowed; NULL: nobody listens */
    struct trace_sink *trace;          /* borrowed; NULL: chunks are not traced */
    uint64_t traced_ns;                /* time of the latest event, for what is traced */
    const unsigned *ranks;             /* [worker_count] */
    struct served *workers;            /* owned */
    struct grant *grants;              /* [worker_count * GRANTS_LEAST] where they are first; owned */
    unsigned worker_count, room;       /* room: for so many workers */
    struct pool pool;
    struct service_line line;
    struct service_step step;
    struct service_count count;
    uint64_t record_bytes;
    bool no_speculation, no_isolation, dependent;
    bool has_speeds; /* all workers have a probe_s, and some are much faster than others */
    bool may_grow;   /* the loop may: see service_note_growth() */
    bool out_of_memory;
    unsigned parts_on_way; /* STORE and COLLECT not yet answered */
    unsigned state;        /* enum service_state */
    unsigned news;         /* enum service_news, not yet taken by the owner */
    unsigned source;       /* enum service_source */
    struct service_requeued requeued;
    struct service_recall recall;
    struct service_lease lease;
    struct service_losses losses;
    struct service_given_up given_up;
    struct service_leaving leaving;
    struct service_order order;
    struct service_tally tally;
    struct poison_set poisons; /* deaths and failures of iterations that are neither done nor given up */
    uint64_t elsewhere_due_ns; /* when what waits for another worker, a slot or the next step does no longer; NEVER */
    uint64_t failed_ns;        /* when iterations failed here last; NEVER: none have */
    uint64_t first_assign_ns;  /* NEVER before */
    uint64_t assigned;         /* chunks assigned so far */
    struct verify verify;
};

/* -1 when memory is out. */
int service_init(struct service *service, const struct service_config *config);
void service_fini(struct service *service);

/* Makes room for so many workers, no fewer than there was room for. -1 when memory is out: nothing but some of the room
 * has changed. */
int service_reserve(struct service *service, unsigned workers);

/* Workers have joined, behind those that there are, and there is room for them: `workers` in all, of `ranks`, sorted,
 * which is borrowed in the place of the array before. They are not served here: see service_adopt(). */
void service_add_workers(struct service *service, const unsigned *ranks, unsigned workers);

/* Index of a worker by its rank; worker_count where it is not one of ours. */
unsigned service_find(const struct service *service, unsigned rank);

/* True if the worker holds work that no other one may compute, or if the loop cannot go on without it. */
bool service_needs(const struct service *service, unsigned rank);

/* Tells how long the same iteration takes on each worker, by the probes: mean_s[worker_count] in seconds. Who is much
 * faster then gets a copy of what is left at the end with a slow one. */
void service_note_speeds(struct service *service, const double *mean_s);

/* Tells whether iterations may still come that nobody knows of yet. Workers then wait for those, and a copy is made
 * only of what is overdue by its lease, as without recall. Where no more may come they are served again at once. */
void service_note_growth(struct service *service, bool may_grow);

/* Takes a REQUEST, RESULT, ITERATIONS_FAILED, GOODBYE or ECHO of worker `w`. -1 with one line in `error` for what
 * cannot be; 1 where the worker was taken for lost, and nobody listens to it. After an ITERATIONS_FAILED the owner
 * serves. */
int service_message(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                    struct actions *actions, struct error *error);

/* The runtime is through with a part, by EVENT_STORED: it is stored, or its sender was lost before all of it was here
 * and it is requeued (the owner serves afterwards), or the disk failed and it is never committed. */
void service_stored(struct service *service, const struct event *event, struct actions *actions);

/* Worker `w` is dead. The owner serves afterwards. Nothing happens where it has left already. */
void service_lost(struct service *service, unsigned w, uint64_t now_ns);

/* Worker `w`, which was absent, is served from now on. The chunk that it computes, of which `count` may be 0, becomes
 * its first; `counts`: its results do, else they are dropped, and it is to give up what has not begun. */
void service_adopt(struct service *service, unsigned w, const struct range *running, bool counts, uint64_t now_ns,
                   struct actions *actions);

/* Puts worker `w` aside: it is given nothing more, and asked for what it has not begun. It finishes what it has begun,
 * and waits for the END. Nothing happens where it is put aside, gone, or not served here. */
void service_put_aside(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions);
/* Worker `w` gets work again, as one that never was put aside. The owner serves afterwards. */
void service_take_back(struct service *service, unsigned w);

/* Knowledge of others about iterations: adds to what is known here, says how much it is at least, or that nothing is
 * held against them any more. */
void service_poison(struct service *service, const struct poison *more);
void service_warn(struct service *service, const struct poison *known);
void service_clear(struct service *service, uint64_t first, uint64_t count);

/* Takes away what was requeued, or recalled for workers that do not wait any more, for the owner to give to others;
 * false when there is nothing. */
bool service_take_away(struct service *service, struct range *range);

/* At EVENT_TIMER: looks for overdue chunks, and takes for lost who should have left long ago. */
void service_expire(struct service *service, uint64_t now_ns, struct actions *actions);

/* Takes those for lost whose chunk is overdue: to be called where only others than the workers here are idle. */
void service_lose_overdue(struct service *service, uint64_t now_ns);

/* The next moment at which something is to be looked at: nearly always NEVER. */
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

/* Workers that may be given work. */
static inline unsigned service_able(const struct service *service)
{
    return service->count.present - service->count.gone - service->count.aside;
}

/* Workers among those that are put aside that hold nothing. */
unsigned service_idle_aside(const struct service *service);

/* Workers that hold nothing, and wait for work or are about to ask for it. */
static inline unsigned service_idle(const struct service *service)
{
    unsigned idle_aside = service->count.aside > 0 ? service_idle_aside(service) : 0;
    return service->count.present - service->count.gone - service->count.busy - idle_aside;
}

/* True if there is nobody left to recall work from, and nobody is asked. */
bool service_recall_is_over(struct service *service);

/* Has work recalled for `waiting` workers that others serve, beside those here; 0: no more. Nothing where
 * service_recall_is_over(). */
void service_recall_for_others(struct service *service, unsigned waiting, uint64_t now_ns, struct actions *actions);

/* Iterations that came back, and were given to nobody yet. */
uint64_t service_recalled_iterations(const struct service *service);

/* Takes up to `most` ranges for workers that others serve out of what came back, or, for `waiting` of them, out of the
 * pool, or out of what is to be computed again. Returns how many. */
unsigned service_take_recalled(struct service *service, unsigned waiting, struct range *ranges, unsigned most);

/* Hands chunks to those who wait, as long as there are any; at most once in a step. */
void service_serve(struct service *service, uint64_t now_ns, struct actions *actions);

/* Sends END to every worker that has not left, also once more; from now on nobody is served. */
void service_end(struct service *service, const struct end *end, uint64_t now_ns, struct actions *actions);

/* Ends service as service_end() does, where no worker is left to be told. */
void service_close(struct service *service, const struct actions *actions);

/* Says what the owner can get from elsewhere when the pool is empty; at first chunks. */
static inline void service_set_source(struct service *service, enum service_source source)
{
    service->source = source;
}

/* A set of enum service_news, which is empty afterwards. */
static inline unsigned service_take_news(struct service *service)
{
    unsigned news = service->news;
    if (news != 0)
        service->news = 0;
    return news;
}

/* The next worker that was lost and not taken before; NULL: there is none. Valid until the next call of the service. */
const struct loss *service_take_loss(struct service *service);

/* The records of what was given up and not taken before, as in an ITERATIONS_GIVEN_UP, at most `most`; `*count` of
 * them. Valid until the next call of the service. */
const unsigned char *service_take_given_up(struct service *service, unsigned most, unsigned *count);

/* Chunks that were handed out again, results that were dropped, and what was recalled, since this was called last. */
struct recovery_counts service_take_counts(struct service *service);

/* What was computed a second time since this was called last, and one range at most for which the results differed, as
 * it goes into a VERIFIED message; false when there is nothing to tell. */
bool service_take_verified(struct service *service, struct verified *verified);

/* The next worker that is to be dropped, as two others agree that its results are wrong, with the reason, which is
 * valid as long as the service; worker_count: there is none. To be called after SERVICE_DIFFERED, once in a step, as
 * more may be dropped in the next. */
unsigned service_take_wrong(struct service *service, const char **reason);

/* In a loop with dependencies: the chunk that begins at `neighbour->first` is computed elsewhere. False where that
 * cannot be. */
bool service_take_neighbour(struct service *service, const struct neighbour *neighbour, struct actions *actions);

/* In a loop with dependencies that keeps a journal: asks the worker with the lowest open chunk that ends at `at` or
 * behind it, if there is one, for the boundary data of that end, in the name of the supermaster's rank. */
void service_ask_for_boundary(struct service *service, uint64_t at, unsigned supermaster, struct actions *actions);
/* Passes boundary data of the journal on to the worker of the chunk that begins with them, if there still is one. */
void service_pass_boundary(const struct service *service, const struct message *message, struct actions *actions);

/* True when all workers have left and all their results are stored. */
bool service_is_over(const struct service *service);

/* No worker computes and no result is on its way. */
bool service_is_quiet(const struct service *service);

/* Between two steps: stops the program where an invariant of the service does not hold. */
void service_check(const struct service *service);

/* Iterations of which the service has no results yet: in the pool, returned, or with workers whose results count. In a
 * loop without dependencies; takes as long as service_check(). */
uint64_t service_open_iterations(const struct service *service);

/* The oldest chunk that worker `w` has not finished: iterations of it of which there are no results, and since when it
 * has been the oldest. False where it has none. */
bool service_running(const struct service *service, unsigned w, struct range *chunk, uint64_t *left,
                     uint64_t *since_ns);

/* The figures of worker `w` as they go into a STATS message. */
void service_stats(const struct service *service, unsigned w, struct stats_record *record);
