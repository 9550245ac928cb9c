/* SPDX-License-Identifier: MIT */
/* Contact sheets: the pictures of a three-dimensional result, one per value of the first index, arranged in an almost
 * square grid with thin gaps. Internal interface between the files of common/results. */
#pragma once

#include "common/results/rows.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdint.h>

#define SHEET_GAP       2   /* pixels */
#define SHEET_GAP_SHADE 172 /* grey, distinct from white and black pictures */

/* A two-dimensional result has one picture. */
struct sheet {
    uint64_t pictures, picture_width, picture_height;
    uint64_t across;        /* pictures per row */
    uint64_t width, height; /* pixels of the sheet */
    uint64_t row_height;    /* pixels of a row of pictures with the gap below */
};

void sheet_init(struct sheet *sheet, const struct hdss_loop *loop);

/* Position in the rows of a file; starts with 0 and rewound rows. */
struct sheet_source {
    const char *row;
    uint64_t left; /* elements in the row */
};

/* Copies the next `count` elements across row boundaries. */
int sheet_take(struct sheet_source *source, struct rows *rows, uint64_t count, char *elements, struct error *error);
