/* SPDX-License-Identifier: MIT */
/* A job: one run as described by the supermaster's command line.
 *
 * The job is sent to the other ranks as the words of this command line, and each rank parses them with the same code,
 * so that there is one grammar and one set of checks. */
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
/* Who writes the results of pods: their masters, or the supermaster, which receives them in streams. */
enum job_results { JOB_RESULTS_THERE, JOB_RESULTS_HERE };
enum job_earlier { JOB_EARLIER_REFUSE, JOB_EARLIER_RESUME, JOB_EARLIER_RESUME_FAILED, JOB_EARLIER_OVERWRITE };
enum job_summary { JOB_SUMMARY_TEXT, JOB_SUMMARY_JSON, JOB_SUMMARY_NONE };
enum job_progress { JOB_PROGRESS_AUTO, JOB_PROGRESS_ALWAYS, JOB_PROGRESS_NEVER };

struct job {
    struct run_spec spec;
    bool technique_given;
    bool threads_given;
    bool sync_points_given;
    bool thread_technique_given;
    bool verify_action_given;
    uint64_t first, count;         /* --iterations; count is UINT64_MAX if not given */
    char power_file[JOB_PATH_MAX]; /* file for RUN_POWER_FILE, list for RUN_POWER_LIST */
    char output[JOB_PATH_MAX];
    bool output_is_default; /* the kernel has named the output */
    char report[JOB_PATH_MAX];
    char costs[JOB_PATH_MAX]; /* --record-costs */
    char trace[JOB_PATH_MAX];
    char journal[JOB_PATH_MAX]; /* empty: the output's name and JOB_JOURNAL_ENDING */
    bool joins;                 /* the parts of variable output are joined into its files at the end */
    bool join_given;
    bool journal_off;
    enum job_durability durability;
    enum job_results results;
    enum job_earlier earlier;
    enum job_progress progress;
    enum job_summary summary;
    bool control_off;
    struct address http; /* empty host: not given */
    char metrics_file[JOB_PATH_MAX];
    bool listens;
    struct address listen; /* TCP address at which the run listens besides a local socket; empty host: none */
    char pods_file[JOB_PATH_MAX];
    unsigned await_pods; /* number of pods to wait for, and the most that may join; 0: any number, no waiting */
    bool log_every_given;
    uint64_t log_every_ns; /* between two lines of the log, if the progress is shown as a log */
    struct findings found;
    const char *plugin; /* --technique if it names a plug-in, else NULL; borrowed from the words, as is `kernel` */
    const char *kernel;
    unsigned kernel_params;
    const char *kernel_param[JOB_KERNEL_PARAMS_MAX]; /* name=value; borrowed from the words, and from max_output */
    char max_output[40]; /* --max-output as a kernel parameter, or empty; `kernel_param` may point to it, so the struct
                            must not be copied */
};

static inline bool job_resumes(const struct job *job)
{
    return job->earlier == JOB_EARLIER_RESUME || job->earlier == JOB_EARLIER_RESUME_FAILED;
}

void job_init(struct job *job);

/* Parses a command line. argv[0] is ignored unless it is a findings_text(). Returns 0, or OPTIONS_HELP or
 * OPTIONS_VERSION if requested, or -1. The job borrows from argv. The caller checks the kernel, its parameters and
 * --iterations against the loop. Plug-ins are not loaded: until the caller loads them the technique is
 * technique_elsewhere(), and candidates have only their texts. */
int job_parse(struct job *job, int argc, char *const *argv, struct error *error);

/* Checks a technique's parameters as far as possible without the loop and the workers. `option` names the option in
 * errors: "--technique". */
int job_check_technique(const struct job *job, const char *option, const struct sched_spec *spec, struct error *error);

/* Sets the output that the kernel asks for unless --output is given. */
void job_take_output(struct job *job, const struct hdss_loop *loop);

int job_check_files(const struct job *job, struct error *error);

/* True if the report goes to standard output, which nothing else may use then. */
bool job_reports_to_output(const struct job *job);

/* Writes the name of the job's journal to `path`, empty if there is none. Returns `path`. */
const char *job_journal_path(const struct job *job, char path[JOB_JOURNAL_PATH_MAX]);

const struct options *job_options(void);

/* Returns the page for --help, which the caller frees. NULL if memory runs out. */
char *job_help_text(void);
