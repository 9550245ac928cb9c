/* SPDX-License-Identifier: MIT */
/* The way of a run's exit status, summary and progress to its launcher: an MPI launcher may return any status when
 * ranks die, and may drop what they print at their end.
 *
 * `hdss run` names a pipe in the environment, and the ranks write lines to it: the supermaster STATUS_BEGUN when all
 * ranks are there, for its process to be watched, STATUS_DRAINING when a signal has reached it, STATUS_OVER when the
 * loop is over and its results are still to be brought where they belong, and STATUS_END with its status when they are
 * there and all ranks are through, before it leaves MPI, behind STATUS_AGAIN where that is failed and another start
 * goes on with it; in a flat launch rank 0 says the first and the last. Any other rank writes STATUS_END only where its
 * status is not 0. The summary has a pipe of its own. The progress line has one, too: a launcher may pass on whole
 * lines only, and this one has no end. Where a variable is not set nothing is written. */
#pragma once

#include <stdbool.h>

#define STATUS_VARIABLE   "HDSS_STATUS_FILE"
#define SUMMARY_VARIABLE  "HDSS_SUMMARY_FILE"
#define PROGRESS_VARIABLE "HDSS_PROGRESS_FILE"
/* Their value if /proc is not mounted, so that no path leads to the pipe: the number of the inherited descriptor. */
#define STATUS_DESCRIPTOR "descriptor:%d"

/* A longer summary may not fit into the pipe. */
#define SUMMARY_PIPED_MAX 65536u

/* Where the launcher lets ranks end as they like, and `hdss run` ends those that are left when the run is over, it says
 * so to the supermaster: then nobody needs to be waited for. */
#define SURVIVAL_VARIABLE "HDSS_RANKS_MAY_END"

/* Lines, between two newlines each: empty lines, and any that are none of these, are nothing. */
#define STATUS_BEGUN    "begun %d" /* the supermaster's process */
#define STATUS_DRAINING "draining"
#define STATUS_OVER     "over"
#define STATUS_AGAIN    "again"   /* the run has lost a rank that it needs */
#define STATUS_END      "%s %d%s" /* role, status, STATUS_DEGRADED or nothing */
#define STATUS_LEAD     "lead"    /* the role of the supermaster, or in a flat launch of rank 0 */
#define STATUS_DEGRADED " lossy"  /* a rank was lost: the others end without waiting for each other */

bool status_may_lose_ranks(void);
void status_tell_begun(void);
void status_tell_draining(void); /* may be called from the handler of a signal */
void status_tell_over(void);
void status_tell_again(void);
void status_tell_end(const char *role, int status, bool degraded);

/* True where `hdss run` has the summary, and prints it. */
bool status_tell_summary(const char *text);

/* The same for the progress line: what a terminal is to show of it, or to remove it. */
bool status_tell_progress(const char *text);
