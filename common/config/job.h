/* SPDX-License-Identifier: MIT */
/* The job: what one run is asked to do, as the supermaster's command line says it.
 *
 * The job travels to the other ranks as that command line's own words, and every rank parses them with this
 * same code, so that there is one grammar and one set of checks. */
#pragma once

#include "common/config/address.h"
#include "common/config/findings.h"
#include "common/config/run_spec.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_LOG_EVERY_S       60
#define JOB_LOG_EVERY_MAX_S   86400
#define JOB_PATH_MAX          1024
#define JOB_TRACE_ENDINGS     ".csv or .pftrace"
#define JOB_KERNEL_PARAMS_MAX 64
#define JOB_JOURNAL_ENDING    ".journal"
#define JOB_JOURNAL_PATH_MAX  (JOB_PATH_MAX + 8)

enum job_durability { JOB_DURABILITY_PROCESS, JOB_DURABILITY_NODE };
/* Who writes the results of pods: their masters, or the supermaster, to which they are streamed. */
enum job_results { JOB_RESULTS_THERE, JOB_RESULTS_HERE };
/* The treatment of the journal of an earlier run. */
enum job_earlier { JOB_EARLIER_REFUSE, JOB_EARLIER_RESUME, JOB_EARLIER_RESUME_FAILED, JOB_EARLIER_OVERWRITE };
/* The form of the summary that the run ends with. */
enum job_summary { JOB_SUMMARY_TEXT, JOB_SUMMARY_JSON, JOB_SUMMARY_NONE };
enum job_progress { JOB_PROGRESS_AUTO, JOB_PROGRESS_ALWAYS, JOB_PROGRESS_NEVER };

struct job {
    struct run_spec spec; /* the part that the machines of the run borrow */
    bool technique_given;
    bool threads_given;
    bool sync_points_given;
    bool thread_technique_given;
    bool verify_action_given;
    uint64_t first, count;         /* --iterations; count is UINT64_MAX where it was not given */
    char power_file[JOB_PATH_MAX]; /* path for RUN_POWER_FILE, list for RUN_POWER_LIST */
    char output[JOB_PATH_MAX];     /* empty: no output */
    bool output_is_default;        /* its kernel has named it */
    char report[JOB_PATH_MAX];     /* empty: no report */
    char costs[JOB_PATH_MAX];      /* --record-costs; empty: they are not recorded */
    char trace[JOB_PATH_MAX];      /* --trace; empty: there is none */
    char journal[JOB_PATH_MAX];    /* empty: the output's name and JOB_JOURNAL_ENDING */
    bool joins;                    /* --join: the parts of variable output become its files at the end */
    bool join_given;
    bool journal_off;
    enum job_durability durability;
    enum job_results results; /* --results */
    enum job_earlier earlier;
    enum job_progress progress;
    enum job_summary summary;
    bool control_off;                /* --control off: nobody can ask the run how it goes */
    struct address http;             /* --http; without a host: it was not given */
    char metrics_file[JOB_PATH_MAX]; /* --metrics-file; empty: there is none */
    bool listens;                    /* --listen: pods may join */
    struct address listen;           /* by this port, too; without a host: by a socket of this machine alone */
    char pods_file[JOB_PATH_MAX];    /* --pods-file, by which they join */
    unsigned await_pods;             /* --await-pods: so many come, and no further ones; 0: as many as like to */
    bool log_every_given;
    uint64_t log_every_ns;  /* from line to line of the log where the progress is one */
    struct findings found;  /* of word 0 */
    const char *plugin;     /* --technique, where it names a plug-in; borrowed from the words; NULL: it does not */
    const char *kernel;     /* borrowed from the words */
    unsigned kernel_params; /* number of name=value words that follow the kernel */
    const char *kernel_param[JOB_KERNEL_PARAMS_MAX]; /* borrowed from the words, and from max_output */
    char max_output[40]; /* --max-output as the parameter it stands for, or empty: such a job must not be copied */
};

/* True if the job goes on from an earlier run's journal. */
static inline bool job_resumes(const struct job *job)
{
    return job->earlier == JOB_EARLIER_RESUME || job->earlier == JOB_EARLIER_RESUME_FAILED;
}

/* Sets everything to its default, without a kernel. */
void job_init(struct job *job);

/* Parses a command line (argv[0] is a program's name, which is not looked at, or findings_text()). 0 when `job` is
 * complete; OPTIONS_HELP or OPTIONS_VERSION when the user asks for that instead; -1 with one line in `error`. The job
 * borrows from argv. Whether the kernel exists and its parameters are right is for the caller to see, and so is
 * --iterations against its loop. Plug-ins are not loaded: the job has a technique_elsewhere() until the caller does,
 * and no candidates but their texts. */
int job_parse(struct job *job, int argc, char *const *argv, struct error *error);

/* Checks a technique's parameters as far as they can be wrong, whatever the loop and the workers are. `option` is what
 * names it, "--technique". -1 with one line. */
int job_check_technique(const struct job *job, const char *option, const struct sched_spec *spec, struct error *error);

/* The output goes where the kernel wants it, unless --output says it. */
void job_take_output(struct job *job, const struct hdss_loop *loop);

/* Checks whether its files go together: once it is known where the output goes. -1 with one line. */
int job_check_files(const struct job *job, struct error *error);

/* True if the report goes to standard output, so that nothing else may. */
bool job_reports_to_output(const struct job *job);

/* The name of the job's journal; empty where it keeps none. Returns `path`. */
const char *job_journal_path(const struct job *job, char path[JOB_JOURNAL_PATH_MAX]);

/* The table, for other programs that take a job, and for completions. */
const struct options *job_options(void);

/* The page for --help. The caller frees it; NULL when memory is out. */
char *job_help_text(void);
