/* SPDX-License-Identifier: MIT */
/* How the leading program uses the journal: it looks at an earlier run, resumes that run, and records the present
 * run. */
#pragma once

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdio.h>

struct resume {
    char path[JOB_JOURNAL_PATH_MAX];
    char *text; /* text that names the job, a part of `head`; owned */
    struct journal_head head;
    struct journal_growth growths[JOURNAL_GROWTHS];
    bool grows;
    struct journal_file earlier; /* journal of the resumed run; empty if there is none */
    bool resumed;
    bool is_over;
    /* the earlier run was complete; its final files are split into parts again, and this run continues with these parts
     */
    bool goes_on;
    /* a journal without an end record exists, so an existing output was written by the run of that journal */
    bool has_begun;
    struct journal journal;
    unsigned char *point; /* [point_bytes] data of a recovery point of which some parts have not arrived yet; owned */
    uint64_t point_bytes;
    struct error failure;
};

void resume_init(struct resume *resume);

/* Returns the name of the kernel's input file, for example of the list of its tasks. The name is borrowed from the
 * set-up. Returns NULL unless exactly one parameter of the kernel names a file. */
const char *resume_list(const struct job_setup *setup);

/* The first of three steps; it changes no file. Reads the journal for --resume, and rejects a new run that would
 * destroy the results of a run that can be resumed. `keeps` is true if this run keeps a journal. resume_end() or
 * resume_give_up() must follow. */
int resume_look(struct resume *resume, const struct job_setup *setup, bool keeps, struct error *error);

/* The second step: fails if this run must not replace an existing output, if the output of the resumed run is
 * missing, or if no output can be created. */
int resume_check_output(const struct resume *resume, const struct job_setup *setup, struct error *error);

/* The third step: takes over the usable results of the earlier run, and reports on `err` which ones are not
 * usable. `name` begins each line. */
int resume_take(struct resume *resume, const struct job_setup *setup, FILE *err, const char *name, struct error *error);

/* Finds the failed iterations of the earlier run: those that resume_take() has kept as done and that the kernel
 * reported as failed. */
int resume_find_failed(const struct resume *resume, const struct job_setup *setup, struct ranges *failed,
                       struct error *error);

/* Creates the journal of this run. Returns RESULTS_NO_ROOM if the disk is full, otherwise 0 or -1. */
int resume_begin(struct resume *resume, const struct job_setup *setup, struct error *error);

/* Creates or opens the output. `lock` is used as by results_create(). Returns RESULTS_NO_ROOM if the disk is full,
 * otherwise 0 or -1. */
int resume_create_output(struct resume *resume, const struct job_setup *setup, int *lock, struct error *error);

/* Records the present length of the loop. Must be called before iterations beyond the old length are recorded.
 * `grows` is true if the loop may grow further. */
int resume_record_growth(struct resume *resume, const struct job_setup *setup, bool grows, struct error *error);

int resume_record(struct resume *resume, const struct range *ranges, size_t count, uint64_t digest,
                  struct error *error);

/* Adds a part of a recovery point that has `all` bytes. The part has part->bytes bytes and begins at byte `offset`
 * of the point. Records the recovery point after its last part. */
int resume_record_point(struct resume *resume, const struct journal_point *part, uint64_t offset, uint64_t all,
                        struct error *error);

int resume_record_deaths(struct resume *resume, const struct poison *deaths, struct error *error);

/* True if the run can be resumed later. A complete run can also be resumed if iterations have failed. */
static inline bool resume_is_possible(const struct resume *resume, bool some_failed)
{
    return resume->path[0] != '\0' && resume->journal.fd >= 0 &&
           (some_failed || resume->grows || !journal_is_complete(&resume->journal));
}

/* True if the remaining iterations have killed too many processes, so --resume would give them all up at once. Only
 * --resume=failed would run them. Must be called before resume_end(). */
bool resume_is_given_up(const struct resume *resume, const struct job_setup *setup);

void resume_end(struct resume *resume);

/* Must be called after the final files are made. Appends the end record to the journal and closes it. Removes the
 * journal instead if `is_right` is false, if the output is a device, or if the record cannot be written. */
void resume_conclude(struct resume *resume, const struct job_setup *setup, bool is_right);

/* Must be called if the run does not begin. Closes the journal. Removes the journal if it is new and records no done
 * iterations. */
void resume_give_up(struct resume *resume);
