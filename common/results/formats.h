/* SPDX-License-Identifier: MIT */
/* The kinds of result files: one constant each, found by the file's extension. Inside common/results only. */
#pragma once

#include "common/results/rows.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdio.h>

#define RESULTS_HEADER_MAX 512

struct results_format {
    const char *extension; /* with its dot, in lower case */

    /* Checks whether it can hold such results; `path` is for the message. NULL where it can hold all. */
    int (*check)(const char *path, const struct hdss_loop *loop, struct error *error);

    /* Writes what stands before the records and returns its length. NULL for none. */
    size_t (*header)(const struct hdss_loop *loop, char header[RESULTS_HEADER_MAX]);

    /* Writes the final file from the array's rows; `path` is for messages. NULL where the file is written in place. */
    int (*convert)(FILE *out, const char *path, struct rows *rows, struct error *error);
};

extern const struct results_format results_npy;
extern const struct results_format results_csv;
extern const struct results_format results_png;
extern const struct results_format results_bin;
extern const struct results_format results_raw;
