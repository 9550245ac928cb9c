/* SPDX-License-Identifier: MIT */
/* Parses lines of task logs: those of the kernel exec, and those of GNU parallel's --joblog. Lines of both kinds
 * begin with the nine columns of GNU parallel. Accepts any bytes. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_LOG_COMMON  "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"
#define TASK_LOG_HEADING TASK_LOG_COMMON "\tWorker\tNode\tCPUtime\tMaxRSS\tTries\tEnd\tOutbytes\tErrbytes"

/* The three outputs of a task. TASK_STREAM_LOG is the task's line in the log. */
enum task_stream { TASK_STREAM_OUT, TASK_STREAM_ERR, TASK_STREAM_LOG, TASK_STREAMS };

enum task_log { TASK_LOG_NONE, TASK_LOG_PARALLEL, TASK_LOG_HDSS };

struct task_text {
    const char *at;
    size_t length;
};

struct task_row {
    uint64_t number; /* number of the task, from 1 */
    double started_s, runtime_s;
    uint64_t received; /* number of bytes that the task wrote, including errors */
    int64_t exit, signal;
    struct task_text host, command;
    /* This member and those below are set only for TASK_LOG_HDSS; for other logs they are 0 or empty. */
    uint64_t worker, node, peak_kib, tries;
    double cpu_s;
    uint64_t out, err;    /* sizes in bytes of the files with the output and the errors of the task */
    struct task_text end; /* how the task ended: exit, signal, timeout, not-started or not-kept */
};

enum task_log task_log_kind(const char *line, size_t length);

/* Parses a line of `length` bytes without the newline. Returns false if the line is invalid. */
bool task_row_read(struct task_row *row, enum task_log kind, const char *line, size_t length);

bool task_row_failed(const struct task_row *row);

bool task_text_is(struct task_text text, const char *word);
