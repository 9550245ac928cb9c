/* SPDX-License-Identifier: MIT */
/* A trace in memory, in the order in which it is drawn: workers by node and rank, the chunks of each by the time at
 * which they began. */
#pragma once

#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/cli/report/trace_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of the text of an event that tells the loss of a worker. */
#define RUN_WORKER_LOST "worker lost"
/* And of a master, whose rank stands for a worker's there. */
#define RUN_MASTER_LOST "master lost"

/* Times as in struct trace_row: seconds, NAN where not known. */
struct run_chunk {
    double given_s, asked_s, begun_s, ended_s, stored_s, compute_s;
    double assumed_s;      /* by run_trace_order(), where begun_s is not known of the chunk that its worker was at when
                            * it was lost or the trace ended: when it can have begun; else NAN */
    uint64_t first, count; /* first: TRACE_UNKNOWN where not known */
    uint32_t worker;       /* place in struct run_trace.workers; until run_trace_order() the rank */
    uint32_t number;       /* from 1, with this worker; 0: not known */
    uint32_t node, master; /* master: rank that gave it; RUN_NO_RANK: not known */
    uint8_t reason, fate;  /* enum trace_reason, enum trace_fate */
    bool is_part;          /* by run_trace_order(): another row tells of the same chunk, and stands for its times */
};

#define RUN_NO_RANK UINT32_MAX

struct run_worker {
    uint32_t rank, node, master; /* master: RUN_NO_RANK: not known */
    double power;                /* 0: not known */
    double lost_s;               /* when it was lost; NAN: it was not */
    char *host;                  /* owned; NULL: not known */
    size_t first, count;         /* its chunks in struct run_trace.chunks */
};

struct run_cut {
    double time_s;
    uint64_t first, count, formula; /* TRACE_UNKNOWN where not known */
    uint32_t worker;                /* rank; RUN_NO_RANK: not known */
};

struct run_event {
    double time_s;
    uint64_t first, count; /* TRACE_UNKNOWN where it is not about iterations */
    uint32_t worker;       /* rank; RUN_NO_RANK: about no worker */
    char *text;            /* owned */
};

/* The facts of the run that rows of the kind `run` tell; owned, NULL where not told. */
struct run_facts {
    char *version, *kernel, *technique, *origin;
    uint64_t iterations, workers, masters; /* TRACE_UNKNOWN where not told */
};

struct run_trace {
    struct run_facts facts;
    struct run_worker *workers; /* owned, as all arrays here */
    struct run_chunk *chunks;
    struct run_cut *cuts;
    struct run_event *events;
    struct range *resumed; /* what an earlier run had done, in the order of the file */
    size_t worker_count, chunk_count, cut_count, event_count, resumed_count;
    size_t worker_room, chunk_room, cut_room, event_room, resumed_room;
};

void run_trace_init(struct run_trace *trace);
void run_trace_fini(struct run_trace *trace);

/* Takes a row; a trace_taker whose context is the trace. */
int run_trace_take(void *trace, const struct trace_row *row, struct error *error);

/* Brings all into its order, when the last row is there. A worker of which only chunks tell gets its place, too. -1
 * with one line when memory is out. */
int run_trace_order(struct run_trace *trace, struct error *error);

/* The place of the worker of that rank, or -1; not before run_trace_order(). */
long run_trace_find(const struct run_trace *trace, uint32_t rank);

/* The time from which to which the chunk was with its worker's kernel, never less than 0. A chunk of which no end is
 * known was cut off by the loss of its worker, or by `end_s`, the end of the trace. False where it has not begun, and
 * for a row whose times another one stands for. */
bool run_chunk_span(const struct run_trace *trace, const struct run_chunk *chunk, double end_s, double *from_s,
                    double *to_s);

/* The last moment of which the trace tells, in seconds; 0 for an empty one. */
double run_trace_end(const struct run_trace *trace);
