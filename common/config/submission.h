/* SPDX-License-Identifier: MIT */
/* A job as submitted to a set: its command line, and the working directory, umask and environment for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBMISSION_NAME_MAX   255
#define SUBMISSION_WORDS_MAX  4096
#define SUBMISSION_AFTER_MAX  1000
#define SUBMISSION_PRIORITY   1000 /* largest priority; the smallest is -SUBMISSION_PRIORITY */
#define SUBMISSION_WEIGHT_MAX 1000
#define SUBMISSION_UMASK_MAX  0777

/* All pointers are owned. */
struct submission {
    char *name;
    int priority;
    unsigned weight; /* weight by which running jobs share the computing time, 1 .. SUBMISSION_WEIGHT_MAX */
    uint32_t *after; /* [after_count] numbers of the jobs that must finish before this one begins */
    size_t after_count;
    char **words; /* [word_count] kernel and options, without the name of a program; a NULL follows */
    size_t word_count;
    char *folder;
    unsigned umask;
    char **environment; /* [environment_count] "NAME=value"; a NULL follows */
    size_t environment_count;
    bool is_open;
    bool is_attached; /* the job is cancelled when its client closes the connection or the set ends */
};

void submission_fini(struct submission *submission);

void submission_forget_environment(struct submission *submission);
