/* SPDX-License-Identifier: MIT */
/* Reads the lines of a task log: that of the kernel exec, and that of GNU parallel's --joblog, which has its first nine
 * columns. Accepts any bytes. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The columns of the kernel's; the first nine are GNU parallel's. */
#define TASK_LOG_COMMON  "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"
#define TASK_LOG_HEADING TASK_LOG_COMMON "\tWorker\tNode\tCPUtime\tMaxRSS\tTries\tEnd\tOutbytes\tErrbytes"

/* The streams of a task, of which the last is its line of the log. */
enum task_stream { TASK_STREAM_OUT, TASK_STREAM_ERR, TASK_STREAM_LOG, TASK_STREAMS };

/* The kinds of logs, by their columns. */
enum task_log { TASK_LOG_NONE, TASK_LOG_PARALLEL, TASK_LOG_HDSS };

/* Text within the line; borrowed. */
struct task_text {
    const char *at;
    size_t length;
};

struct task_row {
    uint64_t number; /* from 1 */
    double started_s, runtime_s;
    uint64_t received; /* bytes of output, and here of errors, too */
    int64_t exit, signal;
    struct task_text host, command;
    /* of TASK_LOG_HDSS; else 0 and empty */
    uint64_t worker, node, peak_kib, tries;
    double cpu_s;
    uint64_t out, err;    /* bytes that it has in the files of the output and the errors */
    struct task_text end; /* exit, signal, timeout, not-started, not-kept */
};

/* The kind of a log, by its first line. */
enum task_log task_log_kind(const char *line, size_t length);

/* False for a line that is none of such a log; it ends before its newline. */
bool task_row_read(struct task_row *row, enum task_log kind, const char *line, size_t length);

bool task_row_failed(const struct task_row *row);

bool task_text_is(struct task_text text, const char *word);
