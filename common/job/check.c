/* SPDX-License-Identifier: MIT */
/* The checks of the leading rank, before it changes anything: see check.h. */
#include "common/job/check.h"

#include "common/config/job.h"
#include "common/config/params.h"
#include "common/config/run_spec.h"
#include "common/os/files.h"
#include "common/os/say.h"
#include "common/trace/join.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"

#include <inttypes.h>
#include <stdio.h>

static int check_kernel(const struct job_setup *setup, enum checker checker, struct error *error)
{
    const struct hdss_kernel *kernel = setup->kernel;
    char text[HDSS_ERROR_MAX] = "";
    int result = 0;
    if (checker == CHECKED_BEFORE_LAUNCH)
        result = setup->loader->look(kernel, setup->values, &setup->loop, text);
    else if (kernel->check != NULL)
        result = returned(kernel->check(setup->values, &setup->loop, text), "check", text);
    return result == 0 ? 0 : error_set(error, "%s: %s", kernel->name, text);
}

static int check_report(const char *option, const char *path, struct error *error)
{
    struct error inner;
    if (path[0] == '\0' || file_check_writable(path, &inner) == 0)
        return 0;
    return error_set(error, "%s: cannot write %s", option, inner.text);
}

static int check_trace(const char *path, struct error *error)
{
    struct error inner;
    if (path[0] == '\0' || trace_check(path, &inner) == 0)
        return 0;
    return error_set(error, "--trace: cannot write %s", inner.text);
}

static int job_check_check_journal(const struct resume *resume, struct error *error)
{
    struct error inner;
    if (resume->path[0] == '\0' || file_check_folder(resume->path, &inner) == 0)
        return 0;
    return error_set(error, "--journal: %s", inner.text);
}

int job_setup_check(const struct job_setup *setup, enum checker checker, bool keeps, struct resume *resume,
                    struct error *error)
{
    const struct job *job = &setup->job;
    if (resume_look(resume, setup, keeps, error) < 0 || check_kernel(setup, checker, error) < 0)
        return -1;
    if (setup->collect && resume_check_output(resume, setup, error) < 0)
        return -1;
    if (job_check_check_journal(resume, error) < 0 || check_report("--report", job->report, error) < 0)
        return -1;
    if (check_trace(job->trace, error) < 0)
        return -1;
    return check_report("--record-costs", job->costs, error);
}

void job_setup_print_notes(const struct job_setup *setup, FILE *err, const char *name)
{
    if (setup->loop.note[0] != '\0')
        say(err, "%s: %s: %s", name, setup->kernel->name, setup->loop.note);
    if (setup->min_chunk_raised)
        say(err,
            "%s: --min-chunk is raised to %" PRIu64 ": an iteration of %s needs so many before it, which are to "
            "be of one chunk",
            name, setup->job.spec.min_chunk, setup->kernel->name);
}
