/* SPDX-License-Identifier: MIT */
/* The work of the rank that leads a run, whatever the topology: looks at the files before it starts, shows how far
 * it is, finishes the output, prints the summary and writes the report. */
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
    const char *name;    /* name of the program, before its messages */
    const char *version; /* version of HDSS */
    unsigned rank;
    FILE *out, *err;   /* where all goes that the job says; borrowed */
    bool has_launcher; /* whoever launched the ranks is told of the job as well, as it is the only one: see status.h */
    struct job_setup setup;
    struct error error;
    struct results_sink sink;
    bool sink_open;
    int output_lock; /* the output, as long as no other run may write it; -1: none, or released */
    struct resume resume;
    bool grows;                   /* the loop may become longer while it runs */
    struct precedence precedence; /* iterations that wait for others; empty where none does; owned */
    struct ranges done_failed;    /* what earlier runs have done and the kernel calls failed, where some wait; owned */
    struct ranges failed;         /* at the end: what is done but the kernel calls failed; owned */
    struct reasons reasons;       /* why they have failed, where they are tasks */
    bool complete;                /* at the end: all is done, nothing failed, and the output is made */
    bool resumable;               /* at the end: a later run can go on from what is there */
    bool is_given_up;             /* at the end: but only with --resume failed */
    struct terminal terminal;
    uint64_t process_start_ns;
    int64_t started_at;
};

/* Notes the times of the start. The job is the only one of the ranks, and says what it says on standard output and
 * standard error. */
void root_init(struct root *root, const char *name, const char *version);

/* Has a job that is one of several say what it says on streams of its own, which are borrowed: to no terminal, and
 * whoever launched the ranks is told nothing. Its time counts from now on. */
void root_use_streams(struct root *root, FILE *out, FILE *err);

/* Releases what the root keeps to its end. */
void root_fini(struct root *root);

/* The speeds that --power gives, one for each of the ranks; NULL where they are measured. To be freed by the caller,
 * also after -1 (with one line in root->error). */
int root_read_speeds(struct root *root, const unsigned *ranks, unsigned workers, double **speeds);

/* Looks at all that can be known before anything is changed, what an earlier run has left above all.
 * `keeps_journal`: this one keeps a journal. -1 with one line in root->error. */
int root_check(struct root *root, bool keeps_journal);

/* Finds out which iterations wait for others: to be called last of all checks. -1 with one line in root->error, also
 * where the job is none for such a loop. */
int root_read_precedence(struct root *root);

/* Begins the journal and creates the output, or finds that of the run that is resumed. -1 with one line in root->error
 * for wrong use, RESULTS_NO_ROOM. */
int root_create_files(struct root *root);
int root_open_sink(struct root *root);

/* Notes that so many iterations have been added by now to a loop to which they are added by number, which of any other
 * is the kernel's to say. */
void root_note_added(struct root *root, uint64_t added, bool is_complete);

/* How much there is by now of the loop, which grows: asks the kernel, or as was noted. -1 with one line. */
struct growth;
int root_grow(struct root *root, struct growth *growth, struct error *error);

/* Shows the progress line. */
struct progress;
void root_show_progress(struct root *root, const struct progress *progress);

/* Prints a line on the stream of errors, in the name of `rank`. */
void root_print_failure(struct root *root, const char *text, unsigned rank);

/* Says what is done other than it was asked for, or with the kernel's inputs, unless `status` is not 0: then the run is
 * refused. */
void root_print_notes(const struct root *root, int status);

/* Brings to the disk what is stored, as --durability node wants it, and records a group of ranges. -1 with one line. */
int root_record(struct root *root, const struct range *ranges, size_t count, uint64_t digest, struct error *error);

/* Records the deaths that iterations have seen so far. -1 with one line. */
int root_record_deaths(struct root *root, const struct poison *deaths, struct error *error);

/* Records a part of a recovery point, as for resume_record_point(). -1 with one line. */
int root_record_point(struct root *root, const struct journal_point *part, uint64_t offset, uint64_t all,
                      struct error *error);

/* Closes the sink, if it is open, and makes the final files. Returns the exit status: another one where the kernel
 * calls something failed. */
int root_finish_output(struct root *root, int status);

/* After a complete run with this exit status: writes the end of its journal, or removes the journal if the status is
 * not 0, and removes what the final files were made from. Called when all ranks have left: a run that is killed before
 * that can still be resumed, with nothing to do. */
void root_clear_away(struct root *root, int status);

/* Completes the report (version, kernel, times of day, output, what follows), prints the summary and writes the report.
 * Returns the exit status. */
int root_print_report(struct root *root, struct report *report, uint64_t first_assign_ns, int status);
