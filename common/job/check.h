/* SPDX-License-Identifier: MIT */
/* Checks that the leading rank makes before it changes anything. `hdss run` makes the same checks before the launch, so
 * that the user sees an error before the job waits in a queue. */
#pragma once

#include "common/job/job_setup.h"
#include "common/job/resume.h"
#include "common/util/error.h"

#include <stdio.h>

enum checker {
    CHECKED_BY_LEADER,
    CHECKED_BEFORE_LAUNCH,
};

/* Checks the earlier run, the kernel's files, and the paths of output, journal and reports. `keeps` is true if this
 * run keeps a journal. `resume` receives the result of resume_look(). */
int job_setup_check(const struct job_setup *setup, enum checker checker, bool keeps, struct resume *resume,
                    struct error *error);

/* Prints the kernel's note, and a line if --min-chunk was raised. `name` begins each line. */
void job_setup_print_notes(const struct job_setup *setup, FILE *err, const char *name);
