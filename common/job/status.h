/* SPDX-License-Identifier: MIT */
/* The channel for a run's exit status, summary and progress to `hdss run`. It is needed because an MPI launcher may
 * return any status if ranks die, and may drop their last output.
 *
 * `hdss run` names a pipe in the environment, and the ranks write lines to it. The supermaster writes STATUS_BEGUN
 * with its process number after all ranks have joined; `hdss run` watches that process from then on. The supermaster
 * writes STATUS_DRAINING after a signal, STATUS_OVER after the loop, and STATUS_END with the exit status after the
 * results are finished and before it leaves MPI. If the run failed and can be restarted, STATUS_AGAIN precedes
 * STATUS_END. If the supermaster is lost, one rank of a machine writes a STATUS_RAN for each worker of this machine
 * that has run a task. Without a supermaster rank 0 writes STATUS_BEGUN and STATUS_END. Other ranks write STATUS_END
 * only if their status is not 0.
 *
 * The summary and the progress line have pipes of their own, because launchers may forward only whole lines and the
 * progress line has no end. If the environment variable of a pipe is not set, nothing is written to that pipe. */
#pragma once

#include "common/util/ranges.h"

#include <inttypes.h>
#include <stdbool.h>

#define STATUS_VARIABLE   "HDSS_STATUS_FILE"
#define SUMMARY_VARIABLE  "HDSS_SUMMARY_FILE"
#define PROGRESS_VARIABLE "HDSS_PROGRESS_FILE"
/* The variables have this value if the pipe has no path because /proc is not mounted. Ranks then inherit the pipe's
 * descriptor. */
#define STATUS_DESCRIPTOR "descriptor:%d"

/* limit of a summary that is sent through the pipe; a longer one may not fit */
#define SUMMARY_PIPED_MAX 65536u

/* `hdss run` sets this variable if it will itself end the ranks that remain after the run. The supermaster then need
 * not wait for these ranks. */
#define SURVIVAL_VARIABLE "HDSS_RANKS_MAY_END"

#define STATUS_BEGUN    "begun %d"
#define STATUS_DRAINING "draining"
#define STATUS_OVER     "over"
/* the run has failed because it lost a rank without which it cannot continue, so it can be restarted */
#define STATUS_AGAIN "again"
/* Two numbers: the first of the tasks that a worker has begun last, and how many tasks these are. STATUS_RAN_READ is
 * for sscanf(). */
#define STATUS_RAN      "ran %" PRIu64 " %" PRIu64
#define STATUS_RAN_READ "ran %" SCNu64 " %" SCNu64
#define STATUS_END      "%s %d%s" /* the role, the exit status, and STATUS_DEGRADED or nothing */
#define STATUS_LEAD     "lead"
/* one of the ranks was lost, so the other ranks leave without waiting for each other */
#define STATUS_DEGRADED " lossy"

bool status_may_lose_ranks(void);
void status_tell_begun(void);
void status_tell_draining(void); /* may be called by a signal handler */
void status_tell_over(void);
void status_tell_again(void);
void status_tell_ran(const struct range *range);
void status_tell_end(const char *role, int status, bool degraded);

/* Sends the summary to `hdss run`, which prints it. Returns false if the summary could not be sent. */
bool status_tell_summary(const char *text);

/* Sends a text to `hdss run`, which prints it. The text shows or clears the progress line. Returns false if there is
 * no pipe for the text. */
bool status_tell_progress(const char *text);
