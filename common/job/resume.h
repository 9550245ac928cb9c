/* SPDX-License-Identifier: MIT */
/* The journal of a run, as the program sees it that leads: what an earlier run has left, going on from it, and what is
 * left at the end. */
#pragma once

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/job/journal.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdio.h>

struct resume {
    char path[JOB_JOURNAL_PATH_MAX]; /* empty: no journal is kept */
    char *text;                      /* names the job; owned */
    struct journal_head head;
    struct journal_growth growths[JOURNAL_GROWTHS]; /* of the head, where the loop may become longer */
    bool grows;                                     /* more iterations may come while it runs */
    struct journal_file earlier; /* journal of the run that is resumed; its content is empty where none is */
    bool resumed;
    bool is_over;   /* resumed, and the run is complete: all that is wanted of it is there, and nothing is to begin */
    bool goes_on;   /* resumed, and the run is complete: its final files are there, and parts are to be made of them */
    bool has_begun; /* a journal is there that has no end: its run makes the output */
    struct journal journal;
    unsigned char *point; /* [point_bytes] boundary data of the recovery point that is coming; owned */
    uint64_t point_bytes;
    struct error failure; /* the first reason why something was not recorded; empty if there is none */
};

/* Before anything else: nothing is kept. */
void resume_init(struct resume *resume);

/* The file that the iterations are read from, where it is clear which; else NULL. Borrowed from the setup. */
const char *resume_list(const struct job_setup *setup);

/* Looks at what is there, and changes nothing: reads the journal with --resume, and refuses to begin anew where that
 * would destroy what could be resumed. `keeps`: this run keeps a journal. -1 with one line, for wrong use. To be ended
 * by resume_end() or resume_give_up() in any case. */
int resume_look(struct resume *resume, const struct job_setup *setup, bool keeps, struct error *error);

/* Then, whether the output is there that is gone on with, or can be made. -1 with one line. */
int resume_check_output(const struct resume *resume, const struct job_setup *setup, struct error *error);

/* Takes of what was found what can be believed and is wanted. `name` stands before a line on `err` about what is
 * dropped. -1 with one line, for wrong use. */
int resume_take(struct resume *resume, const struct job_setup *setup, FILE *err, const char *name, struct error *error);

/* Finds what the earlier run has done and the kernel called failed, as far as resume_take() has left it done. -1 with
 * one line. */
int resume_find_failed(const struct resume *resume, const struct job_setup *setup, struct ranges *failed,
                       struct error *error);

/* Begins the journal of this run. 0, -1 with one line, or RESULTS_NO_ROOM. */
int resume_begin(struct resume *resume, const struct job_setup *setup, struct error *error);

/* Makes or, where the run is resumed, finds the output; `lock` as for results_create(). 0, -1 with one line, or
 * RESULTS_NO_ROOM. */
int resume_create_output(struct resume *resume, const struct job_setup *setup, int *lock, struct error *error);

/* Records how long the loop is by now, if it has become longer, before anything that lies behind what it was. `grows`:
 * it may still become so. -1 with one line. */
int resume_record_growth(struct resume *resume, const struct job_setup *setup, bool grows, struct error *error);

/* Records a group of ranges. -1 with one line. */
int resume_record(struct resume *resume, const struct range *ranges, size_t count, uint64_t digest,
                  struct error *error);

/* Takes the next `bytes` of a recovery point, at `offset` of `all` its data, and records the point when it has all of
 * them. -1 with one line. */
int resume_record_point(struct resume *resume, const struct journal_point *part, uint64_t offset, uint64_t all,
                        struct error *error);

/* Records the deaths that iterations have seen so far, as for journal_append_deaths(). -1 with one line. */
int resume_record_deaths(struct resume *resume, const struct poison *deaths, struct error *error);

/* True if what is there can be resumed later; also where all is done, but the kernel calls some of it failed. */
static inline bool resume_is_possible(const struct resume *resume, bool some_failed)
{
    return resume->path[0] != '\0' && resume->journal.fd >= 0 &&
           (some_failed || resume->grows || !journal_is_complete(&resume->journal));
}

/* True if nothing is left but what a resumed run would give up before it begins, as deaths are held against it: only
 * --resume failed runs it. Before resume_end(). */
bool resume_is_given_up(const struct resume *resume, const struct job_setup *setup);

/* Closes the journal. */
void resume_end(struct resume *resume);

/* All is done, and the final files are made. Writes the end of the journal if the run is right, removes the journal if
 * not, and closes it. */
void resume_conclude(struct resume *resume, const struct job_setup *setup, bool is_right);

/* The run does not begin: the journal as well, unless it is that of an earlier one. */
void resume_give_up(struct resume *resume);
