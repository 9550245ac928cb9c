/* SPDX-License-Identifier: MIT */
/* The journal of a run as the leading program uses it: it looks at an earlier run, resumes it, and records this one. */
#pragma once

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdio.h>

struct resume {
    char path[JOB_JOURNAL_PATH_MAX];
    char *text; /* the text of `head`, which names the job; owned */
    struct journal_head head;
    struct journal_growth growths[JOURNAL_GROWTHS];
    bool grows;
    struct journal_file earlier; /* journal of the resumed run; empty if there is none */
    bool resumed;
    bool is_over;
    bool goes_on;   /* the earlier run was complete; this run continues it, from parts made of its final files */
    bool has_begun; /* a journal without an end exists, so the output belongs to the run of that journal */
    struct journal journal;
    unsigned char *point; /* [point_bytes] boundary data of an incomplete recovery point; owned */
    uint64_t point_bytes;
    struct error failure;
};

void resume_init(struct resume *resume);

/* Returns the file that lists the iterations, borrowed from the set-up. NULL if there is no such file, or several. */
const char *resume_list(const struct job_setup *setup);

/* The first of three steps, which changes no file. Reads the journal for --resume, and rejects a new run that would
 * destroy the results of a run that can be resumed. `keeps`: this run keeps a journal. resume_end() or resume_give_up()
 * must follow. */
int resume_look(struct resume *resume, const struct job_setup *setup, bool keeps, struct error *error);

/* The second step: fails if the output neither exists nor can be created. */
int resume_check_output(const struct resume *resume, const struct job_setup *setup, struct error *error);

/* The third step: takes over what is usable of the earlier run, and tells on `err` what is not. `name` begins each
 * line. */
int resume_take(struct resume *resume, const struct job_setup *setup, FILE *err, const char *name, struct error *error);

/* Finds those iterations that resume_take() has kept and that the kernel reported as failed. */
int resume_find_failed(const struct resume *resume, const struct job_setup *setup, struct ranges *failed,
                       struct error *error);

/* Creates the journal of this run. Returns 0, -1 or RESULTS_NO_ROOM. */
int resume_begin(struct resume *resume, const struct job_setup *setup, struct error *error);

/* Creates or opens the output. `lock` is as for results_create(). Returns 0, -1 or RESULTS_NO_ROOM. */
int resume_create_output(struct resume *resume, const struct job_setup *setup, int *lock, struct error *error);

/* Records the present length of the loop; must be called before iterations beyond the old length are recorded. `grows`:
 * the loop may grow further. */
int resume_record_growth(struct resume *resume, const struct job_setup *setup, bool grows, struct error *error);

int resume_record(struct resume *resume, const struct range *ranges, size_t count, uint64_t digest,
                  struct error *error);

/* Takes a part of a recovery point: its bytes from `offset` on, of `all` bytes. Records the point after the last
 * part. */
int resume_record_point(struct resume *resume, const struct journal_point *part, uint64_t offset, uint64_t all,
                        struct error *error);

int resume_record_deaths(struct resume *resume, const struct poison *deaths, struct error *error);

/* True if the run can be resumed later. If iterations failed, even a complete run can be. */
static inline bool resume_is_possible(const struct resume *resume, bool some_failed)
{
    return resume->path[0] != '\0' && resume->journal.fd >= 0 &&
           (some_failed || resume->grows || !journal_is_complete(&resume->journal));
}

/* True if a resumed run would give up all remaining iterations at once because of their deaths, so that only --resume
 * failed runs them. Must be called before resume_end(). */
bool resume_is_given_up(const struct resume *resume, const struct job_setup *setup);

void resume_end(struct resume *resume);

/* Must be called after the final files are made. Adds the end to the journal if `is_right`, otherwise removes the
 * journal; then closes it. */
void resume_conclude(struct resume *resume, const struct job_setup *setup, bool is_right);

/* Must be called if the run does not begin: removes the journal unless it belongs to an earlier run. */
void resume_give_up(struct resume *resume);
