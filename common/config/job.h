/* SPDX-License-Identifier: MIT */
/* The job: what one run is asked to do, as the supermaster's command line says it.
 *
 * The job travels to the other ranks as that command line's own words, and every rank parses them with this
 * same code, so that there is one grammar and one set of checks. */
#pragma once

#include "common/config/options.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_PATH_MAX          1024
#define JOB_KERNEL_PARAMS_MAX 64
#define JOB_ASK_AHEAD_MAX     8
#define JOB_DRAIN_S           20 /* unless --drain-time says another */
#define JOB_RETRIES_MAX       100
#define JOB_RETRIES           2 /* unless --retries says another */
#define JOB_JOURNAL_ENDING    ".journal"
#define JOB_JOURNAL_PATH_MAX  (JOB_PATH_MAX + 8)
#define JOB_TECHNIQUE         "dfss" /* unless --technique says another */
#define JOB_THREADS_MAX       1024
#define JOB_SYNC_POINTS       3      /* for each worker, unless --sync-points says another */
#define JOB_THREAD_TECHNIQUE  "fac2" /* unless --thread-technique says another */
#define JOB_REFILL_CHUNKS_MAX 64     /* for each worker, in one refill */
#define JOB_TECHNIQUE_AUTO    "auto" /* for --technique: the one that is predicted to be the quickest */

enum job_group_by { JOB_GROUP_BY_NODE, JOB_GROUP_BY_EVEN };
enum job_power { JOB_POWER_MEASURE, JOB_POWER_EQUAL, JOB_POWER_FILE, JOB_POWER_LIST };
enum ask_ahead { ASK_AHEAD_AUTO, ASK_AHEAD_OFF, ASK_AHEAD_FIXED };
enum job_durability { JOB_DURABILITY_PROCESS, JOB_DURABILITY_NODE };
/* What to do about the journal of an earlier run. */
enum job_earlier { JOB_EARLIER_REFUSE, JOB_EARLIER_RESUME, JOB_EARLIER_RESUME_FAILED, JOB_EARLIER_OVERWRITE };
enum job_progress { JOB_PROGRESS_AUTO, JOB_PROGRESS_ALWAYS, JOB_PROGRESS_NEVER };

struct job {
    struct sched_spec technique;
    bool technique_auto; /* `auto`: to be chosen for the loop; `technique` is then the default */
    enum sched_weighting weighting;
    uint64_t min_chunk;
    unsigned refill_chunks; /* for each worker, 1 .. JOB_REFILL_CHUNKS_MAX */
    enum job_group_by group_by;
    enum ask_ahead ask_ahead;
    unsigned ask_ahead_chunks; /* for ASK_AHEAD_FIXED, 1 .. JOB_ASK_AHEAD_MAX */
    unsigned threads;          /* of each worker, 1 .. JOB_THREADS_MAX; 0: as many as it has cores */
    bool threads_given;
    uint64_t sync_points; /* 0: auto */
    bool sync_points_given;
    struct sched_spec thread_technique; /* of the threads of a worker among themselves */
    bool thread_technique_given;
    uint64_t first, count;                  /* --iterations; count is UINT64_MAX where it was not given */
    uint64_t calculation_ns, assignment_ns; /* --inject-delay */
    enum job_power power;
    char power_file[JOB_PATH_MAX]; /* or the list */
    char output[JOB_PATH_MAX];     /* empty: no output */
    char report[JOB_PATH_MAX];     /* empty: no report */
    char costs[JOB_PATH_MAX];      /* --record-costs; empty: they are not recorded */
    char journal[JOB_PATH_MAX];    /* empty: the output's name and JOB_JOURNAL_ENDING */
    bool journal_off;
    enum job_durability durability;
    unsigned retries; /* of iterations at which the kernel fails */
    enum job_earlier earlier;
    uint64_t drain_ns; /* --drain-time */
    enum job_progress progress;
    bool inputs_given;
    uint64_t inputs;                                 /* --inputs: the digest of the files that the kernel reads */
    const char *kernel;                              /* borrowed from the words */
    unsigned kernel_params;                          /* how many name=value words follow the kernel */
    const char *kernel_param[JOB_KERNEL_PARAMS_MAX]; /* borrowed from the words, and from max_output */
    char max_output[40]; /* --max-output as the parameter it stands for, or empty: such a job must not be copied */
};

/* Whether it goes on from an earlier run's journal. */
static inline bool job_resumes(const struct job *job)
{
    return job->earlier == JOB_EARLIER_RESUME || job->earlier == JOB_EARLIER_RESUME_FAILED;
}

/* Everything at its default, no kernel. */
void job_init(struct job *job);

/* Parses a command line (argv[0] is the program's name and is not looked at). 0 when `job` is complete; OPTIONS_HELP or
 * OPTIONS_VERSION when the user asks for that instead; -1 with one line in `error`. The job borrows from argv. Whether
 * the kernel exists and its parameters are right is for the caller to see, and so is --iterations against its loop. */
int job_parse(struct job *job, int argc, char *const *argv, struct error *error);

/* The output goes where the kernel wants it, unless --output says it. */
void job_take_output(struct job *job, const struct hdss_loop *loop);

/* Whether its files go together: once it is known where the output goes. -1 with one line. */
int job_check_files(const struct job *job, struct error *error);

/* The name of the job's journal; empty where it keeps none. Returns `path`. */
const char *job_journal_path(const struct job *job, char path[JOB_JOURNAL_PATH_MAX]);

/* Sets technique and technique_auto as --technique does. -1 with one line, with the job as it was. */
int job_set_technique(struct job *job, const char *value, struct error *error);

/* Whether the workers probe before the loop: for their powers, for values of the technique that are measured so, or to
 * choose the technique. */
bool job_probes(const struct job *job);

/* Whether the probe is to time as many iterations as the shortest over the longest of them is taken of, however long
 * they are: for pls, and for `auto`, which wants to know how much they differ. */
bool job_wants_swr(const struct job *job);

/* Whether what is measured during the loop is wanted: the technique learns, or it may be chosen one that does. */
bool job_learns(const struct job *job);

/* The table, for other programs that take a job, and for completions. */
const struct options *job_options(void);

/* The page for --help. The caller frees it; NULL when memory is out. */
char *job_help_text(void);
