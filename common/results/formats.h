/* SPDX-License-Identifier: MIT */
/* Formats of result files, selected by extension. Internal interface between the files of common/results. */
#pragma once

#include "common/results/rows.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdio.h>

#define RESULTS_HEADER_MAX 512

struct results_format {
    const char *extension; /* extension in lower case, with its dot */

    /* Checks that the format can hold the results. Errors name `path`. If the pointer is NULL, the format can hold all
     * results. */
    int (*check)(const char *path, const struct hdss_loop *loop, struct error *error);

    /* Makes the header of a file that is written in place, and returns its length. If the pointer is NULL, the file has
     * no header. */
    size_t (*header)(const struct hdss_loop *loop, char header[RESULTS_HEADER_MAX]);

    /* Writes the final file from the rows. Errors name `path`. If the pointer is NULL, the file is written in place. */
    int (*convert)(FILE *out, const char *path, struct rows *rows, struct error *error);
};

extern const struct results_format results_npy;
extern const struct results_format results_csv;
extern const struct results_format results_png;
extern const struct results_format results_bin;
extern const struct results_format results_raw;
