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
    bool has_launcher; /* the ranks have only this job, so they report its status to the launcher: see status.h */
    struct job_setup setup;
    struct error error;
    struct results_sink sink;
    bool sink_open;
    int output_lock; /* descriptor that locks the output against other runs; -1: none */
    struct resume resume;
    bool grows;
    /* Set at the end of the job: the iterations of this run that are done and have failed; borrowed. NULL: the failed
     * iterations must be read from the output. */
    const struct ranges *done_failed_now;
    struct precedence precedence; /* which iterations wait for others; owned */
    /* the failed iterations of earlier runs; read only if some iterations wait for others; owned */
    struct ranges done_failed;
    struct ranges failed; /* set at the end of the job: the iterations that were done and have failed; owned */
    struct reasons reasons;
    bool complete; /* set at the end of the job: everything is done, no iteration failed, and the output is made */
    bool resumable;
    /* set at the end of the job if the remaining iterations were given up: only --resume=failed would run them */
    bool is_given_up;
    struct terminal terminal;
    uint64_t process_start_ns;
    int64_t started_at;
};

/* Prepares a job that uses standard output and standard error, and records the start time. For a job of a set
 * root_use_streams() must follow. */
void root_init(struct root *root, const char *name, const char *version);

/* Called after root_init() for a job of a set. The job then uses these streams, which are borrowed, and neither a
 * terminal nor the launcher. The job's time starts with this call. */
void root_use_streams(struct root *root, FILE *out, FILE *err);

void root_fini(struct root *root);

/* Like job_setup_read_speeds(). Errors of this function and of the following ones are in root->error, unless the
 * function has a parameter `error`. */
int root_read_speeds(struct root *root, const unsigned *ranks, unsigned workers, double **speeds);

/* Makes all checks of check.h, and then takes over the usable results of an earlier run. `keeps_journal` is true if
 * this run keeps a journal. */
int root_check(struct root *root, bool keeps_journal);

/* Asks the kernel which iterations wait for others; must be called after root_check(). Fails if some iterations wait
 * although the options of the job do not allow waiting. */
int root_read_precedence(struct root *root);

/* Creates the journal and the output, or opens those of the resumed run. Returns RESULTS_NO_ROOM if the disk is full,
 * otherwise 0 or -1. */
int root_create_files(struct root *root);
int root_open_sink(struct root *root);

void root_note_added(struct root *root, uint64_t added, bool is_complete);

/* Sets `growth` to the present length of a growing loop. The length comes from the kernel or, if users add
 * iterations, from root_note_added(). */
struct growth;
int root_grow(struct root *root, struct growth *growth, struct error *error);

struct progress;
void root_show_progress(struct root *root, const struct progress *progress);

void root_print_failure(struct root *root, const char *text, unsigned rank);

/* Like job_setup_print_notes(). Prints nothing if `status` is not 0, because the run was then rejected. */
void root_print_notes(const struct root *root, int status);

/* Records in the journal that ranges are done. With --durability node, syncs their results to the disk first. */
int root_record(struct root *root, const struct range *ranges, size_t count, uint64_t digest, struct error *error);

int root_record_deaths(struct root *root, const struct poison *deaths, struct error *error);

int root_record_point(struct root *root, const struct journal_point *part, uint64_t offset, uint64_t all,
                      struct error *error);

/* Closes the sink and makes the final files. Returns `status` if everything succeeds. Returns another exit status if
 * something failed or if the kernel reported failed iterations. */
int root_finish_output(struct root *root, int status);

/* Does the last work on the files of a complete run: appends the end record to its journal, and removes the parts from
 * which the final files were made. If `status` is not 0, removes the journal instead. Must be called after all ranks
 * have ended their part of the run, because a run that is killed before this call can be resumed. */
void root_clear_away(struct root *root, int status);

/* Completes the report, prints the summary and writes the report. Returns the exit status. */
int root_print_report(struct root *root, struct report *report, uint64_t first_assign_ns, int status);
