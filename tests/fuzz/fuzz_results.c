/* SPDX-License-Identifier: MIT */
/* What is made of a file of records at the end of a run, whatever is in it: it is read row by row and becomes .csv or,
 * where there is libpng, .png. The first HEAD_BYTES bytes are the shape, what follows the records; a file that is too
 * short is refused with one line. */
#include "tests/fuzz/fuzz.h"
#include "common/results/formats.h"
#include "common/results/rows.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <unistd.h>

/* 0 type, 1 dimensions, layout and kind of file, 2 rows, 3 columns, 4 full value */
enum { HEAD_BYTES = 5, SIDE_MAX = 32, COLUMNS_BIT = 0x80, PNG_BIT = 0x40 };

static struct hdss_loop loop_of(const uint8_t *head)
{
    uint64_t rows = head[2] % SIDE_MAX + 1, columns = head[3] % SIDE_MAX + 1;
    unsigned dims = (head[1] & ~(COLUMNS_BIT | PNG_BIT)) % 3u + 1;
    struct hdss_loop loop = {.iterations = rows,
                             .type = (enum hdss_type)(head[0] % (HDSS_FLOAT64 + 1)),
                             .dims = dims,
                             .full_value = head[4]};
    loop.record_length = dims == 1 ? 1 : columns;
    loop.layout = head[1] & COLUMNS_BIT ? HDSS_LAYOUT_COLUMNS : HDSS_LAYOUT_ROWS;
    loop.shape[0] = rows;
    for (unsigned i = 1; i < dims; i++)
        loop.shape[i] = i == 1 ? columns : 1;
    if (dims == 3 && columns % 3 == 0) { /* pictures of three columns, one in a record or a row of one */
        loop.shape[1] = columns / 3;
        loop.shape[2] = 3;
        loop.record_length = columns % 2 == 0 ? 3 : columns;
        loop.iterations = rows * columns / loop.record_length;
    }
    return loop;
}

static void convert(const struct results_format *format, const char *path, const struct hdss_loop *loop, bool whole)
{
    struct rows rows;
    struct error error = {0};
    char *made = NULL;
    size_t length = 0;
    if (format->check != NULL && format->check(path, loop, &error) < 0)
        return;
    REQUIRE(rows_open(&rows, path, loop, &error) == 0);
    FILE *out = open_memstream(&made, &length);
    REQUIRE(out != NULL);
    int result = format->convert(out, path, &rows, &error);
    fclose(out);
    rows_close(&rows);
    REQUIRE((result == 0) == whole && (result < 0 || length > 0));
    if (result < 0)
        require_one_line(error.text);
    free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[FUZZ_PATH_MAX];
    if (size < HEAD_BYTES)
        return 0;
    const struct hdss_loop loop = loop_of(bytes);
    uint64_t needed = hdss_type_size(loop.type);
    for (unsigned i = 0; i < loop.dims; i++)
        needed *= loop.shape[i];
    int fd = fuzz_file(bytes + HEAD_BYTES, size - HEAD_BYTES, path);
    convert(bytes[1] & PNG_BIT ? &results_png : &results_csv, path, &loop, size - HEAD_BYTES >= needed);
    close(fd);
    return 0;
}
