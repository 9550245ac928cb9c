/* SPDX-License-Identifier: MIT */
/* Contact sheets: the pictures of a three-dimensional result, one for each value of its first index, side by side in
 * rows, with thin gaps, so that the whole is as square as it can be. Inside common/results only. */
#pragma once

#include "common/results/rows.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdint.h>

#define SHEET_GAP       2   /* pixels */
#define SHEET_GAP_SHADE 172 /* a grey of its own among white pictures and black ones */

/* For a two-dimensional result: a picture. */
struct sheet {
    uint64_t pictures, picture_width, picture_height;
    uint64_t across;        /* pictures in a row */
    uint64_t width, height; /* pixels of the whole sheet */
    uint64_t row_height;    /* pixels of a row of pictures, with the gap below */
};

void sheet_init(struct sheet *sheet, const struct hdss_loop *loop);

/* A place in the rows of a file: that of the next element; begins as 0, with rewound rows. */
struct sheet_source {
    const char *row;
    uint64_t left; /* elements of the row */
};

/* Copies the next `count` elements, whatever the rows that they stand in. -1 with one line. */
int sheet_take(struct sheet_source *source, struct rows *rows, uint64_t count, char *elements, struct error *error);
