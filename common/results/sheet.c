/* SPDX-License-Identifier: MIT */
/* Contact sheets: see sheet.h. */
#include "common/results/sheet.h"

#include <math.h>
#include <string.h>

static uint64_t pictures_across(const struct sheet *sheet)
{
    double cell_width = (double)sheet->picture_width + SHEET_GAP,
           cell_height = (double)sheet->picture_height + SHEET_GAP;
    double across = ceil(sqrt((double)sheet->pictures * cell_height / cell_width));
    if (!(across < (double)sheet->pictures))
        return sheet->pictures;
    return across > 1 ? (uint64_t)across : 1;
}

void sheet_init(struct sheet *sheet, const struct hdss_loop *loop)
{
    const uint64_t *sides = loop->shape + (loop->dims == 3);
    *sheet = (struct sheet){.pictures = 1, .picture_width = sides[1], .picture_height = sides[0], .across = 1};
    if (loop->dims == 3) {
        sheet->pictures = loop->shape[0];
        sheet->across = pictures_across(sheet);
    }
    uint64_t down = sheet->across > 0 ? (sheet->pictures + sheet->across - 1) / sheet->across : 0;
    bool is_empty = down == 0 || sheet->picture_width == 0 || sheet->picture_height == 0;
    sheet->width = is_empty ? sheet->picture_width : sheet->across * (sheet->picture_width + SHEET_GAP) - SHEET_GAP;
    sheet->height = is_empty ? 0 : down * (sheet->picture_height + SHEET_GAP) - SHEET_GAP;
    sheet->row_height = sheet->picture_height + (down > 1 ? SHEET_GAP : 0);
}

int sheet_take(struct sheet_source *source, struct rows *rows, uint64_t count, char *elements, struct error *error)
{
    while (count > 0) {
        const void *row;
        if (source->left == 0) {
            if (rows_next(rows, &row, error) < 0)
                return -1;
            if (row == NULL || rows->columns == 0)
                return error_set(error, "%.200s: ends too early", rows->path);
            source->row = row;
            source->left = rows->columns;
        }
        uint64_t some = count < source->left ? count : source->left;
        memcpy(elements, source->row, some * rows->element);
        elements += some * rows->element;
        source->row += some * rows->element;
        source->left -= some;
        count -= some;
    }
    return 0;
}
