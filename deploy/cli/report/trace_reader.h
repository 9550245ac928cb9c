/* SPDX-License-Identifier: MIT */
/* Reads the trace of a run, the CSV that `hdss run --trace` writes, row by row. Pure: the bytes come in pieces of any
 * size, and each row is handed over as it is complete, so that a trace of any length needs the memory of one row.
 *
 * The file is RFC 4180. Its first line has the columns of TRACE_COLUMNS; later versions may add some behind them, and
 * kinds of rows, which are left out here. Times are seconds since the beginning of the trace. An empty field is not
 * known. A row that is broken is refused with the number of its line. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_COLUMNS                                                                                                  \
    "kind,time_s,worker,node,master,chunk,first,count,reason,asked_s,begun_s,ended_s,stored_s,compute_s,fate,formula," \
    "text"

#define TRACE_ROW_MAX  (64u << 10) /* bytes of a row */
#define TRACE_TIME_MAX 1e9         /* seconds */
#define TRACE_RANK_MAX ((1u << 24) - 1)

/* A count that is not known; a time that is not known is NAN. */
#define TRACE_UNKNOWN UINT64_MAX

enum trace_kind {
    TRACE_RUN,     /* text is KEY=VALUE */
    TRACE_WORKER,  /* a worker of the run; text has `host=NAME power=NUMBER`, or less */
    TRACE_CHUNK,   /* a chunk that a worker was given */
    TRACE_CUT,     /* a scheduling step of the technique */
    TRACE_EVENT,   /* text says what has come about */
    TRACE_RESUMED, /* first and count: what an earlier run had done */
};

/* Why the worker was given the chunk. */
enum trace_reason {
    TRACE_REASON_UNKNOWN,
    TRACE_OWN,      /* cut for this worker before it asked */
    TRACE_OTHER,    /* cut for another worker */
    TRACE_CUT_NOW,  /* cut as it asked */
    TRACE_REQUEUED, /* another worker had it, and was lost or failed */
    TRACE_RECALLED, /* another worker had it, and had not begun it */
    TRACE_COPY,     /* another worker computes it, too */
    TRACE_VERIFY,   /* to be compared with the results of another worker */
    TRACE_ADOPTED,  /* the worker was at it when its master was lost */
    TRACE_REASONS,
};

/* What has become of the chunk. */
enum trace_fate {
    TRACE_FATE_UNKNOWN,
    TRACE_DONE,     /* computed, and its results were taken */
    TRACE_LOST,     /* lost with its worker */
    TRACE_RETURNED, /* given back before it had begun */
    TRACE_DROPPED,  /* its results were not needed any more */
    TRACE_FAILED,
    TRACE_OPEN,   /* not ended when the trace ends */
    TRACE_UNDONE, /* not computed, as the run ended early */
    TRACE_FATES,
};

struct trace_row {
    enum trace_kind kind;
    enum trace_reason reason;
    enum trace_fate fate;
    double time_s, asked_s, begun_s, ended_s, stored_s, compute_s; /* NAN: not known */
    uint64_t worker, node, master, chunk, first, count, formula;   /* TRACE_UNKNOWN: not known */
    const char *text;                                              /* borrowed until the call returns; "" for none */
};

/* Takes a row. 0, or -1 with one line, without file and line number, which refuses the row. */
typedef int trace_taker(void *context, const struct trace_row *row, struct error *error);

struct trace_reader {
    const char *name; /* of the file, for errors; borrowed */
    trace_taker *take;
    void *context;        /* borrowed */
    uint64_t line, begun; /* lines that are complete; the line in which the row begins */
    char *bytes;          /* owned: the row, as far as it has come */
    size_t length;
    bool in_quotes, has_header;
};

/* -1 with one line when memory is out. */
int trace_reader_init(struct trace_reader *reader, const char *name, trace_taker *take, void *context,
                      struct error *error);
void trace_reader_fini(struct trace_reader *reader);

/* Takes the next bytes of the file. -1 with one line that names file and line; nothing may follow then. */
int trace_reader_take(struct trace_reader *reader, const char *bytes, size_t count, struct error *error);

/* Takes the end of the file: a last line without its newline counts. -1 as above, also for a file without a header. */
int trace_reader_end(struct trace_reader *reader, struct error *error);

/* The words of the file; "" for what is not known. */
const char *trace_reason_word(enum trace_reason reason);
const char *trace_fate_word(enum trace_fate fate);
