/* SPDX-License-Identifier: MIT */
/* What the leading rank does in any topology: it checks the files, shows progress, finishes the output, prints the
 * summary and writes the report. */
#pragma once

#include "common/job/job_setup.h"
#include "common/job/resume.h"
#include "common/job/terminal.h"
#include "common/metrics/report.h"
#include "common/results/results.h"
#include "common/util/error.h"
#include "common/util/precedence.h"
#include "common/util/ranges.h"

#include <stdio.h>

struct root {
    const char *name;
    const char *version;
    unsigned rank;
    FILE *out, *err;   /* streams for messages of the job; borrowed */
    bool has_launcher; /* this is the only job of the ranks, whose launcher receives its status: see status.h */
    struct job_setup setup;
    struct error error;
    struct results_sink sink;
    bool sink_open;
    int output_lock; /* locks the output against other runs; -1: none */
    struct resume resume;
    bool grows;
    /* Set at the end: failed iterations among those that this run has done. Borrowed; NULL: the output must be read for
     * them. */
    const struct ranges *done_failed_now;
    struct precedence precedence; /* owned; empty if no iterations wait */
    struct ranges done_failed;    /* failed iterations of earlier runs, read only if some iterations wait; owned */
    struct ranges failed;         /* set at the end: all iterations that are done but failed; owned */
    struct reasons reasons;
    bool complete; /* set at the end: everything is done, nothing failed, and the output is made */
    bool resumable;
    bool is_given_up; /* set at the end: only --resume failed runs what remains */
    struct terminal terminal;
    uint64_t process_start_ns;
    int64_t started_at;
};

/* Records the start times. The job is the only one of its ranks and uses standard output and error. */
void root_init(struct root *root, const char *name, const char *version);

/* For a job of a set: it uses these streams, which are borrowed, and neither a terminal nor the launcher. Restarts its
 * time. */
void root_use_streams(struct root *root, FILE *out, FILE *err);

void root_fini(struct root *root);

/* Reads the speeds of --power, one for each rank. `*speeds` is NULL if they are measured; the caller frees it, also on
 * failure. This and the following functions leave the error in root->error if they have no `error`. */
int root_read_speeds(struct root *root, const unsigned *ranks, unsigned workers, double **speeds);

/* Checks everything before anything is changed, mainly an earlier run. `keeps_journal`: this run keeps one. */
int root_check(struct root *root, bool keeps_journal);

/* Finds out which iterations wait for others. It is the last of all checks. Also fails if the job cannot run such a
 * loop. */
int root_read_precedence(struct root *root);

/* Creates the journal and the output, or opens those of the resumed run. Returns 0, -1 or RESULTS_NO_ROOM. */
int root_create_files(struct root *root);
int root_open_sink(struct root *root);

void root_note_added(struct root *root, uint64_t added, bool is_complete);

/* Asks the kernel for the present length of a growing loop, or takes that of root_note_added(). */
struct growth;
int root_grow(struct root *root, struct growth *growth, struct error *error);

struct progress;
void root_show_progress(struct root *root, const struct progress *progress);

void root_print_failure(struct root *root, const char *text, unsigned rank);

/* Like job_setup_print_notes(), but prints nothing if `status` is not 0, because the run was rejected then. */
void root_print_notes(const struct root *root, int status);

/* Records that ranges are done. With --durability node, syncs their results first. */
int root_record(struct root *root, const struct range *ranges, size_t count, uint64_t digest, struct error *error);

int root_record_deaths(struct root *root, const struct poison *deaths, struct error *error);

int root_record_point(struct root *root, const struct journal_point *part, uint64_t offset, uint64_t all,
                      struct error *error);

/* Closes the sink and makes the final files. Returns the exit status, changed if the kernel reported failures. */
int root_finish_output(struct root *root, int status);

/* For a complete run: completes its journal, or removes it if `status` is not 0, and removes the parts of the final
 * files. Must be called after all ranks have left, so that a run that is killed before can be resumed. */
void root_clear_away(struct root *root, int status);

/* Completes the report, prints the summary and writes the report. Returns the exit status. */
int root_print_report(struct root *root, struct report *report, uint64_t first_assign_ns, int status);
