/* SPDX-License-Identifier: MIT */
/* A file that is written under a temporary name and then renamed, so that readers never see an incomplete file.
 * Internal interface between the files of common/results. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdio.h>

struct partial {
    char target[PATH_MAX]; /* the file to which the path leads if the path is a link */
    char name[PATH_MAX];
};

int partial_init(struct partial *partial, const char *path, struct error *error);

/* Creates the temporary file. If an earlier run has left a temporary file, removes that file first. Does not follow
 * links. Returns NULL with errno on failure. */
FILE *partial_open(const struct partial *partial);

int partial_keep(const struct partial *partial);
void partial_drop(const struct partial *partial);
