/* SPDX-License-Identifier: MIT */
/* Checks that the rank which leads a run makes before it changes anything. They need no ranks: `hdss run` looks at the
 * same before it launches them, so that what is wrong is said before a queue and a launch have been waited for. */
#pragma once

#include "common/job/job_setup.h"
#include "common/job/resume.h"
#include "common/util/error.h"

#include <stdio.h>

enum checker {
    CHECKED_BY_LEADER,
    CHECKED_BEFORE_LAUNCH, /* without what a user's kernel would look at, and nothing is made */
};

/* The earlier run, the kernel's files, and where the output, the journal and the reports go. `keeps`: the run keeps a
 * journal. -1 with one line. `resume` has what resume_look() finds. */
int job_setup_check(const struct job_setup *setup, enum checker checker, bool keeps, struct resume *resume,
                    struct error *error);

/* Says on `err` what is done other than it was asked for, or with the kernel's inputs. `name` stands before each line.
 */
void job_setup_print_notes(const struct job_setup *setup, FILE *err, const char *name);
