/* SPDX-License-Identifier: MIT */
/* A file that is made under a temporary name beside it and takes its place by renaming, so that nobody sees half of it.
 * Inside common/results only. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdio.h>

struct partial {
    char target[PATH_MAX]; /* the file itself, where the path is a link to it */
    char name[PATH_MAX];   /* name of the file that becomes the target */
};

/* -1 with one line. */
int partial_init(struct partial *partial, const char *path, struct error *error);

/* A new file in the place of what an earlier run left, never the one that a link there leads to. NULL with errno. */
FILE *partial_open(const struct partial *partial);

/* 0, or -1 with errno. */
int partial_keep(const struct partial *partial);
void partial_drop(const struct partial *partial);
