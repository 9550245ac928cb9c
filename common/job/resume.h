/* SPDX-License-Identifier: MIT */
/* The journal of a run as the leading program uses it: state of an earlier run, resuming it, and recording this one. */
#pragma once

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdio.h>

struct resume {
    char path[JOB_JOURNAL_PATH_MAX];
    char *text; /* names the job; owned */
    struct journal_head head;
    struct journal_growth growths[JOURNAL_GROWTHS];
    bool grows;
    struct journal_file earlier; /* journal of the resumed run; empty if there is none */
    bool resumed;
    bool is_over;   /* resumed and complete: nothing remains to do */
    bool goes_on;   /* resumed and complete: the final files exist, and parts are made from them */
    bool has_begun; /* a journal without an end exists: its run makes the output */
    struct journal journal;
    unsigned char *point; /* [point_bytes] boundary data of an incomplete recovery point; owned */
    uint64_t point_bytes;
    struct error failure; /* first failure to record; empty: none */
};

void resume_init(struct resume *resume);

/* Returns the file that lists the iterations, borrowed from the set-up; NULL if there is no such file, or several. */
const char *resume_list(const struct job_setup *setup);

/* The first of three steps; changes nothing. Reads the journal for --resume, and rejects a new run that would destroy
 * one that can be resumed. `keeps`: this run keeps a journal. Must be followed by resume_end() or resume_give_up(). */
int resume_look(struct resume *resume, const struct job_setup *setup, bool keeps, struct error *error);

/* The second step: checks that the output exists, or can be created. */
int resume_check_output(const struct resume *resume, const struct job_setup *setup, struct error *error);

/* The third step: takes the usable part of the earlier run. `name` precedes notes on `err` about dropped parts. */
int resume_take(struct resume *resume, const struct job_setup *setup, FILE *err, const char *name, struct error *error);

/* Of the iterations that resume_take() has kept, finds those that the kernel reported as failed. */
int resume_find_failed(const struct resume *resume, const struct job_setup *setup, struct ranges *failed,
                       struct error *error);

/* Creates the journal of this run. Returns 0, -1 or RESULTS_NO_ROOM. */
int resume_begin(struct resume *resume, const struct job_setup *setup, struct error *error);

/* Creates or opens the output; `lock` as for results_create(). Returns 0, -1 or RESULTS_NO_ROOM. */
int resume_create_output(struct resume *resume, const struct job_setup *setup, int *lock, struct error *error);

/* Records the present length of the loop; call it before iterations beyond the old length are recorded. `grows`: it may
 * grow further. */
int resume_record_growth(struct resume *resume, const struct job_setup *setup, bool grows, struct error *error);

int resume_record(struct resume *resume, const struct range *ranges, size_t count, uint64_t digest,
                  struct error *error);

/* Takes `part`, the bytes from `offset` of `all` in total. Records the recovery point after the last part. */
int resume_record_point(struct resume *resume, const struct journal_point *part, uint64_t offset, uint64_t all,
                        struct error *error);

int resume_record_deaths(struct resume *resume, const struct poison *deaths, struct error *error);

/* True if the run can be resumed later: also if it is complete but iterations failed. */
static inline bool resume_is_possible(const struct resume *resume, bool some_failed)
{
    return resume->path[0] != '\0' && resume->journal.fd >= 0 &&
           (some_failed || resume->grows || !journal_is_complete(&resume->journal));
}

/* True if only iterations remain that a resumed run would give up at once because of their deaths, so that only
 * --resume failed runs them. Call it before resume_end(). */
bool resume_is_given_up(const struct resume *resume, const struct job_setup *setup);

void resume_end(struct resume *resume);

/* After the final files are made: completes the journal if the run is right, otherwise removes it, and closes it. */
void resume_conclude(struct resume *resume, const struct job_setup *setup, bool is_right);

/* The run does not begin: removes its journal unless it is that of an earlier run. */
void resume_give_up(struct resume *resume);
