/* SPDX-License-Identifier: MIT */
/* A job as it is given to a set: its command line, and what a shell would have given the command beside it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBMISSION_NAME_MAX   255 /* bytes of a name */
#define SUBMISSION_WORDS_MAX  4096
#define SUBMISSION_AFTER_MAX  1000
#define SUBMISSION_PRIORITY   1000 /* a priority is that at most, and its negative at least */
#define SUBMISSION_WEIGHT_MAX 1000
#define SUBMISSION_UMASK_MAX  0777

/* All that is pointed to is owned. */
struct submission {
    char *name;      /* NULL: none */
    int priority;    /* higher first */
    unsigned weight; /* share of the time for computing beside other jobs, 1 to SUBMISSION_WEIGHT_MAX */
    uint32_t *after; /* [after_count] jobs that are to be done before it begins */
    size_t after_count;
    char **words; /* [word_count] kernel and options, without a program; NULL behind them, as in an argv */
    size_t word_count;
    char *folder; /* where it runs: an absolute path */
    unsigned umask;
    char **environment; /* [environment_count] "NAME=value"; NULL behind them, as in an environ */
    size_t environment_count;
    bool is_open;     /* rows or iterations are added to it later on, until it is said that these are all */
    bool is_attached; /* it ends with the connection by which it came, and with the set */
};

void submission_fini(struct submission *submission);

/* Releases the environment, which nobody needs of a job that is over. */
void submission_forget_environment(struct submission *submission);
