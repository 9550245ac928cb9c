/* SPDX-License-Identifier: MIT */
/* A file that is written under a temporary name and renamed, so that readers never see a part. Internal interface
 * between the files of common/results. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdio.h>

struct partial {
    char target[PATH_MAX]; /* the file to which the path leads if it is a link */
    char name[PATH_MAX];
};

int partial_init(struct partial *partial, const char *path, struct error *error);

/* Creates a new file in place of leftovers of an earlier run. Does not follow links. NULL with errno. */
FILE *partial_open(const struct partial *partial);

int partial_keep(const struct partial *partial);
void partial_drop(const struct partial *partial);
