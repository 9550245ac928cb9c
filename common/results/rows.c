/* SPDX-License-Identifier: MIT */
/* Rows of a file of records: see rows.h. A block of rows is read with one system call. If the file is stored column by
 * column, each column of the block is read with one call, and the block is transposed. Each pass reads the file only
 * once, even if the file is larger than the memory. */
#include "common/results/rows.h"

#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (8u << 20)

static void shape_of(struct rows *rows)
{
    const struct hdss_loop *loop = &rows->loop;
    if (loop->dims == 2) {
        rows->rows = loop->shape[0];
        rows->columns = loop->shape[1];
        rows->transposed = loop->layout == HDSS_LAYOUT_COLUMNS;
    } else if (loop->dims == 1) {
        rows->rows = loop->shape[0];
        rows->columns = 1;
    } else {
        rows->rows = loop->iterations;
        rows->columns = loop->record_length;
    }
}

int rows_open(struct rows *rows, const char *path, const struct hdss_loop *loop, struct error *error)
{
    *rows = (struct rows){.path = path, .loop = *loop, .element = hdss_type_size(loop->type)};
    shape_of(rows);
    rows->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (rows->fd < 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    uint64_t row_bytes = rows->columns * rows->element;
    rows->room = row_bytes == 0 || row_bytes > BLOCK_BYTES ? 1 : BLOCK_BYTES / row_bytes;
    if (rows->room > rows->rows)
        rows->room = rows->rows;
    rows->block = malloc(rows->room * row_bytes + 1);
    rows->column = malloc(rows->transposed ? rows->room * rows->element + 1 : 1);
    if (rows->block == NULL || rows->column == NULL) {
        rows_close(rows);
        return error_set(error, "%s: out of memory for a row of %llu bytes", path, (unsigned long long)row_bytes);
    }
    return 0;
}

void rows_close(struct rows *rows)
{
    close(rows->fd);
    free(rows->block);
    free(rows->column);
}

void rows_rewind(struct rows *rows)
{
    rows->next = 0;
}

static int read_fully(const struct rows *rows, void *buffer, size_t bytes, uint64_t offset, struct error *error)
{
    int result = file_read_at(rows->fd, buffer, bytes, offset);
    if (result == 0)
        return 0;
    return error_set(error, "%s: %s", rows->path, result == FILE_ENDS ? "ends too early" : strerror(errno));
}

static int read_columns(struct rows *rows, struct error *error)
{
    size_t element = rows->element, row_bytes = rows->columns * element;
    for (uint64_t c = 0; c < rows->columns; c++) {
        uint64_t offset = (c * rows->rows + rows->first) * element;
        if (read_fully(rows, rows->column, rows->count * element, offset, error) < 0)
            return -1;
        for (uint64_t r = 0; r < rows->count; r++)
            memcpy(rows->block + r * row_bytes + c * element, rows->column + r * element, element);
    }
    return 0;
}

static int rows_read_block(struct rows *rows, struct error *error)
{
    uint64_t row_bytes = rows->columns * rows->element, left = rows->rows - rows->next;
    rows->first = rows->next;
    rows->count = left < rows->room ? left : rows->room;
    int status = rows->transposed
                     ? read_columns(rows, error)
                     : read_fully(rows, rows->block, rows->count * row_bytes, rows->first * row_bytes, error);
    if (status < 0)
        rows->count = 0;
    return status;
}

int rows_next(struct rows *rows, const void **row, struct error *error)
{
    *row = NULL;
    if (rows->next >= rows->rows)
        return 0;
    bool there = rows->next >= rows->first && rows->next < rows->first + rows->count;
    if (!there && rows_read_block(rows, error) < 0)
        return -1;
    *row = rows->block + (rows->next - rows->first) * rows->columns * rows->element;
    rows->next++;
    return 0;
}
