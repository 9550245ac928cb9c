/* SPDX-License-Identifier: MIT */
/* Starts helpers: the program hdss-helper with the words of the job. */
#pragma once

#include "common/job/surroundings.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/exec/environment.h"

#include <limits.h>
#include <sys/types.h>

struct helper_program {
    char path[PATH_MAX];
    char **argv; /* owned; its words are borrowed */
    struct environment environment;
    const struct surroundings *surroundings; /* surroundings of the helper; borrowed; NULL: those of this process */
};

/* Finds the program beside the worker or in libexec, and makes its command line. On failure nothing is owned. */
int helper_program_init(struct helper_program *program, unsigned words, char *const *word, struct error *error);

int helper_program_init_at(struct helper_program *program, const char *path, unsigned words, char *const *word,
                           struct error *error);
void helper_program_fini(struct helper_program *program);

pid_t helper_program_begin(void *program, int file, int bell, char error[HDSS_ERROR_MAX]);
