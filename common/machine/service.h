/* Serving workers: the request queue, the task pool, who computes what, and the collection of results. A master serves
 * its own workers with it, and the supermaster serves all of them in the central topology: one code for both.
 *
 * The owner fills the pool and is told what has been stored. A chunk's way: pool, ASSIGN (a grant), REQUEST with DONE,
 * STORE or COLLECT of its results where the job has an output, committed. Nothing is allocated per chunk. */
#pragma once

#include "common/machine/machine.h"
#include "common/machine/pool.h"
#include "proto/record.h"

/* Chunks of one worker that are assigned and not yet stored: those it has and those it tells of together. */
#define GRANTS_MAX (2 * ASKS_MAX)

struct grant {
    uint64_t first, count;
    uint64_t received; /* results announced so far, in iterations */
    uint64_t stored;   /* results stored so far */
    uint32_t chunk;    /* number; 0: the slot is unused */
    bool computed;     /* DONE has come */
};

struct served {
    unsigned holds; /* chunks it has not finished */
    unsigned asks;  /* chunks it asked for and has not got */
    uint32_t chunks_assigned;
    bool gone; /* said goodbye */
    uint64_t iterations, chunks, compute_ns, wait_ns;
    uint64_t last_done_ns; /* when its last completion came */
    uint64_t messages, bytes;
    struct grant grants[GRANTS_MAX]; /* by chunk number modulo GRANTS_MAX */
    /* the ASSIGN of this step */
    unsigned answers; /* chunks in it */
    struct assign answer;
    unsigned char more[(ASKS_MAX - 1) * ASSIGN_RECORD_BYTES];
};

struct service_ops {
    /* A request of `worker` waits and the pool is empty: the owner may put chunks into it. May be NULL. */
    void (*dry)(void *owner, unsigned worker);
    /* A chunk of `worker` is finished, and this was measured of it; called before its next request is served. The wait
     * before a worker's first chunk is left out: it lasts until all workers are probed. NULL: nobody learns. */
    void (*finished)(void *owner, unsigned worker, const struct feedback_record *feedback);
    /* The results of the part are stored (or there are none to store). */
    void (*committed)(void *owner, const struct part *part);
};

struct service_config {
    const unsigned *ranks; /* of the workers, sorted; borrowed for the service's life */
    unsigned workers;
    unsigned pool_capacity;
    uint64_t record_bytes; /* of one iteration's result; 0 where results are only digested */
    const struct service_ops *ops;
    void *owner;
};

struct service {
    const struct service_ops *ops;
    void *owner;
    const unsigned *ranks;  /* [worker_count] */
    struct served *workers; /* owned */
    unsigned worker_count;
    struct pool pool;
    unsigned *waiting; /* ring of worker indices that asked, each once: they get a chunk in turn; owned */
    unsigned waiting_first, waiting_count;
    unsigned asks_waiting; /* chunks that these asked for */
    unsigned *answered;    /* those that get an ASSIGN in this step; owned */
    unsigned answered_count;
    uint64_t record_bytes;
    unsigned busy;            /* workers that hold a chunk */
    unsigned parts_on_way;    /* STORE and COLLECT not yet answered */
    unsigned gone;            /* workers that said goodbye */
    bool ending;              /* nobody is served any more */
    uint64_t first_assign_ns; /* NEVER before */
    uint64_t assigned;        /* chunks */
    uint64_t messages, bytes; /* that the workers sent, from their goodbyes */
};

/* -1 when memory is out. */
int service_init(struct service *service, const struct service_config *config);
void service_fini(struct service *service);

/* Index of a worker by its rank; worker_count where it is not one of ours. */
unsigned service_find(const struct service *service, unsigned rank);

/* Takes a REQUEST, RESULT, GOODBYE or ECHO of worker `w`. -1 with one line in `error` for what cannot be. */
int service_message(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                    struct actions *actions, struct error *error);

/* The runtime is through with a part: it is stored, or (`ok` false) lost, and then never committed. */
void service_stored(struct service *service, const struct part *part, bool ok, uint64_t now_ns,
                    struct actions *actions);

/* Hands chunks to those who wait, as long as there are any; at most once in a step. */
void service_serve(struct service *service, uint64_t now_ns, struct actions *actions);

/* Sends END to every worker; from now on nobody is served. */
void service_end(struct service *service, bool drain, struct actions *actions);

/* All workers have left and all their results are stored. */
bool service_is_over(const struct service *service);

/* No worker computes and no result is on its way. */
bool service_is_quiet(const struct service *service);

/* The figures of worker `w` as they go into a STATS message. */
void service_stats(const struct service *service, unsigned w, struct stats_record *record);
