/* SPDX-License-Identifier: MIT */
/* results: what each kind of file holds, byte for byte and as other programs read it; every layout; every way to fail,
 * with its line. Each test works in a scratch folder of its own. */
#include "common/results/results.h"
#include "common/results/rows.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HDSS_HAVE_PNG
#include <png.h>
#endif

static char folder[] = "/tmp/hdss-results-XXXXXX";
static struct error error;

static void set_up(void)
{
    error.text[0] = '\0';
    scratch_enter(folder);
}

static void tear_down(void)
{
    scratch_leave(folder);
}

#define OK(call)          ck_assert_msg((call) == 0, "%s", error.text)
#define FAILS(call, line) GIVES(call, -1, line)
#define GIVES(call, result, line)                                                                                      \
    do {                                                                                                               \
        ck_assert_int_eq((call), (result));                                                                            \
        ck_assert_str_eq(error.text, line);                                                                            \
    } while (0)

/* The whole file; the caller frees it. */
static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "no %s", path);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void check_text(const char *path, const char *expected)
{
    size_t size;
    char *bytes = contents(path, &size);
    bytes[size] = '\0';
    ck_assert_str_eq(bytes, expected);
    free(bytes);
}

static bool exists(const char *path)
{
    struct stat stat_of;
    return lstat(path, &stat_of) == 0;
}

static struct hdss_loop line_of(enum hdss_type type, uint64_t n)
{
    return (struct hdss_loop){.iterations = n, .type = type, .record_length = 1, .dims = 1, .shape = {n}};
}

static struct hdss_loop table_of(enum hdss_layout layout, uint64_t height, uint64_t width)
{
    struct hdss_loop loop = {.type = HDSS_UINT32, .dims = 2, .shape = {height, width}, .layout = layout};
    loop.iterations = layout == HDSS_LAYOUT_COLUMNS ? width : height;
    loop.record_length = layout == HDSS_LAYOUT_COLUMNS ? height : width;
    return loop;
}

static struct hdss_loop tiles_of(uint64_t height, uint64_t width, uint64_t tile_height, uint64_t tile_width)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_TILES, height, width);
    loop.tile_height = tile_height;
    loop.tile_width = tile_width;
    loop.record_length = tile_height * tile_width;
    loop.iterations = (height + tile_height - 1) / tile_height * ((width + tile_width - 1) / tile_width);
    return loop;
}

static int finish(const char *path, const struct hdss_loop *loop, struct error *why)
{
    int status = results_convert(path, loop, &(struct range){0}, NULL, NULL, why);
    if (status == 0)
        results_remove(path, loop);
    return status;
}

static void write_range(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count,
                        const void *records)
{
    struct results_sink sink;
    OK(results_open(&sink, path, loop, 0, &error));
    OK(results_write(&sink, first, count, records, count * hdss_record_size(loop), &error));
    OK(results_close(&sink, &error));
}

/* Element (y, x) is 1000 y + x, in records of the loop's layout, written backwards in chunks. */
static void write_table(const char *path, const struct hdss_loop *loop, uint64_t chunk)
{
    uint64_t height = loop->shape[0], width = loop->shape[1];
    uint32_t *records = calloc(loop->iterations * loop->record_length, sizeof *records), *at = records;
    for (uint64_t i = 0; i < loop->iterations; i++)
        for (uint64_t k = 0; k < loop->record_length; k++, at++) {
            uint64_t y = i, x = k,
                     across = loop->tile_width > 0 ? (width + loop->tile_width - 1) / loop->tile_width : 0;
            if (loop->layout == HDSS_LAYOUT_COLUMNS) {
                y = k;
                x = i;
            } else if (loop->layout == HDSS_LAYOUT_TILES) {
                y = i / across * loop->tile_height + k / loop->tile_width;
                x = i % across * loop->tile_width + k % loop->tile_width;
            }
            *at = y < height && x < width ? (uint32_t)(1000 * y + x) : 0xdeadbeef;
        }
    OK(results_create(path, loop, NULL, &error));
    for (uint64_t end = loop->iterations; end > 0;) {
        uint64_t count = end < chunk ? end : chunk;
        end -= count;
        write_range(path, loop, end, count, records + end * loop->record_length);
    }
    OK(finish(path, loop, &error));
    free(records);
}

START_TEST(npy_bytes_are_as_specified)
{
    struct hdss_loop loop = line_of(HDSS_FLOAT64, 3);
    const double values[] = {1.5, -2, 1e300};
    OK(results_create("a.npy", &loop, NULL, &error));
    write_range("a.npy", &loop, 0, 3, values);
    OK(finish("a.npy", &loop, &error));
    size_t size;
    char *bytes = contents("a.npy", &size);
    ck_assert_uint_eq(size, 128 + 24);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    ck_assert_mem_eq(bytes + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 57);
    for (int i = 67; i < 127; i++)
        ck_assert_int_eq(bytes[i], ' ');
    ck_assert_int_eq(bytes[127], '\n');
    ck_assert_mem_eq(bytes + 128, values, sizeof values);
    free(bytes);
}
END_TEST

START_TEST(npy_headers_name_type_order_and_shape)
{
    static const char *const codes[] = {"|u1", "<u2", "<u4", "<u8", "<i4", "<i8", "<f4", "<f8"};
    char expected[200];
    for (int type = HDSS_UINT8; type <= HDSS_FLOAT64; type++) {
        struct hdss_loop loop = {.iterations = 6, .type = (enum hdss_type)type, .record_length = 20, .dims = 4};
        memcpy(loop.shape, (uint64_t[]){2, 3, 4, 5}, sizeof loop.shape);
        loop.layout = type % 2 == 0 ? HDSS_LAYOUT_ROWS : HDSS_LAYOUT_COLUMNS;
        OK(results_create("t.npy", &loop, NULL, &error));
        size_t size;
        char *bytes = contents("t.npy", &size);
        ck_assert_uint_eq(size, 128 + 120 * hdss_type_size(loop.type));
        snprintf(expected, sizeof expected, "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3, 4, 5), }",
                 codes[type], type % 2 == 0 ? "False" : "True");
        ck_assert_mem_eq(bytes + 10, expected, strlen(expected));
        free(bytes);
    }
}
END_TEST

/* A 5 x 7 table from each layout; 20 of its 35 elements are checked by the CSV text, all of them by their place. */
static const char table_text[] =
    "0,1,2,3,4,5,6\n1000,1001,1002,1003,1004,1005,1006\n2000,2001,2002,2003,2004,2005,2006\n"
    "3000,3001,3002,3003,3004,3005,3006\n4000,4001,4002,4003,4004,4005,4006\n";

static struct hdss_loop layout(int i)
{
    switch (i) {
    case 0: return table_of(HDSS_LAYOUT_ROWS, 5, 7);
    case 1: return table_of(HDSS_LAYOUT_COLUMNS, 5, 7);
    case 2: return tiles_of(5, 7, 2, 3);
    case 3: return tiles_of(5, 7, 5, 7);
    case 4: return tiles_of(5, 7, 1, 1);
    default: return tiles_of(5, 7, 8, 8);
    }
}

START_TEST(every_layout_makes_the_same_table)
{
    for (uint64_t chunk = 1; chunk <= 40; chunk += 3) {
        struct hdss_loop loop = layout(_i);
        write_table("t.csv", &loop, chunk);
        check_text("t.csv", table_text);
        ck_assert(!exists("t.csv.records"));
        ck_assert(!exists("t.csv.partial"));
    }
}
END_TEST

START_TEST(raw_files_hold_the_array_alone)
{
    size_t size;
    struct hdss_loop loop = tiles_of(5, 7, 2, 3);
    write_table("t.BIN", &loop, 3);
    uint32_t *values = (uint32_t *)contents("t.BIN", &size);
    ck_assert_uint_eq(size, 35 * 4);
    for (uint32_t i = 0; i < 35; i++)
        ck_assert_uint_eq(values[i], i / 7 * 1000 + i % 7);
    free(values);
    loop = table_of(HDSS_LAYOUT_COLUMNS, 5, 7);
    write_table("t.raw", &loop, 3);
    values = (uint32_t *)contents("t.raw", &size);
    for (uint32_t i = 0; i < 35; i++)
        ck_assert_uint_eq(values[i], i % 5 * 1000 + i / 5);
    free(values);
}
END_TEST

START_TEST(one_dimension_is_a_list_in_csv)
{
    struct hdss_loop loop = line_of(HDSS_FLOAT64, 5);
    const double values[] = {0.1, 1.0 / 3, -1e-300, 0.1 + 0.2, 0};
    OK(results_create("a.csv", &loop, NULL, &error));
    write_range("a.csv", &loop, 0, 4, values);
    OK(finish("a.csv", &loop, &error));
    check_text("a.csv", "iteration,value\n0,0.1\n1,0.3333333333333333\n2,-1e-300\n3,0.30000000000000004\n4,0\n");
}
END_TEST

START_TEST(every_type_in_csv)
{
    const int64_t integers[] = {INT64_MIN, -1, INT64_MAX};
    const uint64_t naturals[] = {0, 10, UINT64_MAX};
    const float reals[] = {0.1f, 1023.99994f, -3.4028235e38f};
    const uint8_t bytes[] = {0, 7, 255};
    const struct {
        enum hdss_type type;
        const void *values;
        const char *text;
    } cases[] = {
        {HDSS_INT64, integers, "iteration,value\n0,-9223372036854775808\n1,-1\n2,9223372036854775807\n"},
        {HDSS_UINT64, naturals, "iteration,value\n0,0\n1,10\n2,18446744073709551615\n"},
        {HDSS_FLOAT32, reals, "iteration,value\n0,0.1\n1,1023.99994\n2,-3.4028235e+38\n"},
        {HDSS_UINT8, bytes, "iteration,value\n0,0\n1,7\n2,255\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hdss_loop loop = line_of(cases[i].type, 3);
        OK(results_create("a.csv", &loop, NULL, &error));
        write_range("a.csv", &loop, 0, 3, cases[i].values);
        OK(finish("a.csv", &loop, &error));
        check_text("a.csv", cases[i].text);
    }
}
END_TEST

START_TEST(more_dimensions_are_a_record_per_line_in_csv)
{
    struct hdss_loop loop = {.iterations = 2, .type = HDSS_INT32, .record_length = 4, .dims = 3, .shape = {2, 2, 2}};
    const int32_t values[] = {1, -2, 3, 4, 5, 6, 7, 8};
    OK(results_create("a.csv", &loop, NULL, &error));
    write_range("a.csv", &loop, 0, 2, values);
    OK(finish("a.csv", &loop, &error));
    check_text("a.csv", "1,-2,3,4\n5,6,7,8\n");
}
END_TEST

START_TEST(what_nobody_wrote_is_0)
{
    struct hdss_loop loop = line_of(HDSS_UINT16, 4);
    OK(results_create("a.csv", &loop, NULL, &error));
    write_range("a.csv", &loop, 2, 1, (const uint16_t[]){9});
    OK(finish("a.csv", &loop, &error));
    check_text("a.csv", "iteration,value\n0,0\n1,0\n2,9\n3,0\n");
}
END_TEST

START_TEST(no_iterations_make_an_empty_result)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 0);
    static const char *const names[] = {"a.npy", "a.csv", "a.raw"};
    for (int i = 0; i < 3; i++) {
        OK(results_create(names[i], &loop, NULL, &error));
        write_range(names[i], &loop, 0, 0, NULL);
        OK(finish(names[i], &loop, &error));
    }
    check_text("a.csv", "iteration,value\n");
    check_text("a.raw", "");
}
END_TEST

/* Rows that do not fit one block, read as columns and as rows. */
START_TEST(large_tables_are_read_in_blocks)
{
    enum { HEIGHT = 700, WIDTH = 9000 };
    for (int columns = 0; columns < 2; columns++) {
        struct hdss_loop loop = table_of(columns ? HDSS_LAYOUT_COLUMNS : HDSS_LAYOUT_ROWS, HEIGHT, WIDTH);
        struct rows rows;
        const void *row;
        write_table("t.raw", &loop, 100);
        OK(rows_open(&rows, "t.raw", &loop, &error));
        ck_assert_uint_lt(rows.room, HEIGHT);
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t y = 0; y < HEIGHT; y++) {
                OK(rows_next(&rows, &row, &error));
                for (uint32_t x = 0; x < WIDTH; x += 501)
                    ck_assert_uint_eq(((const uint32_t *)row)[x], 1000 * y + x);
            }
            OK(rows_next(&rows, &row, &error));
            ck_assert_ptr_null(row);
            rows_rewind(&rows);
        }
        rows_close(&rows);
    }
}
END_TEST

/* Sparse, so that it costs no disk: the last record of a file of 24 GB. */
START_TEST(places_beyond_4_GiB_are_right)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 3000000, 2000), small = line_of(HDSS_UINT32, 2000);
    uint32_t *record = calloc(2000, sizeof *record);
    struct results_sink sink;
    small.record_length = 2000;
    small.iterations = 1;
    OK(results_create("big.raw", &small, NULL, &error));
    ck_assert_int_eq(truncate("big.raw", (off_t)3000000 * 8000), 0);
    OK(results_open(&sink, "big.raw", &loop, 0, &error));
    record[0] = 12345;
    OK(results_write(&sink, 2999999, 1, record, 0, &error));
    OK(results_close(&sink, &error));
    int fd = open("big.raw", O_RDONLY);
    uint32_t value = 0;
    ck_assert_int_eq(pread(fd, &value, 4, (off_t)2999999 * 8000), 4);
    ck_assert_uint_eq(value, 12345);
    close(fd);
    free(record);
}
END_TEST

START_TEST(what_an_earlier_run_left_is_found)
{
    static const char *const names[] = {"o.npy", "o.raw", "o.csv"};
    const char *name = names[_i];
    bool converted = _i == 2;
    struct hdss_loop loop = line_of(HDSS_UINT16, 10), longer = line_of(HDSS_UINT16, 11);
    ck_assert(!results_exist(name, &loop));
    ck_assert_int_eq(results_find(name, &loop, NULL, &error), RESULTS_ABSENT);
    OK(results_create(name, &loop, NULL, &error));
    ck_assert(results_exist(name, &loop));
    OK(results_find(name, &loop, NULL, &error));
    ck_assert_int_eq(results_find(name, &longer, NULL, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "is not the output of such a job"));
    OK(results_convert(name, &loop, &(struct range){0}, NULL, NULL, &error));
    OK(results_find(name, &loop, NULL, &error)); /* what it is made from is still there */
    OK(results_sync_files(name, &loop, &error));
    results_remove(name, &loop);
    ck_assert(results_exist(name, &loop));
    ck_assert_int_eq(results_find(name, &loop, NULL, &error), converted ? RESULTS_ABSENT : 0);
}
END_TEST

START_TEST(an_output_with_another_header_is_not_ours)
{
    struct hdss_loop whole = line_of(HDSS_INT32, 10), real = line_of(HDSS_FLOAT32, 10); /* of one size */
    OK(results_create("o.npy", &whole, NULL, &error));
    ck_assert_int_eq(results_find("o.npy", &real, NULL, &error), -1);
    OK(results_find("o.npy", &whole, NULL, &error));
    ck_assert_int_eq(results_sync_files("nowhere/o.npy", &whole, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "nowhere/o.npy: cannot bring it to the disk"));
}
END_TEST

START_TEST(an_output_is_of_one_run)
{
    struct hdss_loop loop = line_of(HDSS_UINT16, 10);
    const char *path = _i == 0 ? "o.npy" : "o.csv";
    const char *line = _i == 0 ? "o.npy: another run is writing it" : "o.csv.records: another run is writing it";
    int lock, again;
    OK(results_create(path, &loop, &lock, &error));
    FAILS(results_create(path, &loop, NULL, &error), line);
    FAILS(results_find(path, &loop, NULL, &error), line);
    FAILS(results_check_place(path, &loop, &error), line);
    OK(results_look_again(path, &loop, lock, &error)); /* nobody has touched it */
    close(lock);
    OK(results_check_place(path, &loop, &error));
    OK(results_find(path, &loop, &lock, &error));
    FAILS(results_create(path, &loop, &again, &error), line);
    close(lock);
}
END_TEST

/* What somebody else does to the file while it is written. */
static void remove_output(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
}

static void replace_output(const char *path)
{
    struct hdss_loop loop = line_of(HDSS_UINT16, 10);
    OK(results_create("another.npy", &loop, NULL, &error));
    ck_assert_int_eq(rename("another.npy", path), 0);
}

static void cut_output(const char *path)
{
    ck_assert_int_eq(truncate(path, 10), 0);
}

/* As long as before, with zeros: in a file without a header only who writes in between can see it. */
static void empty_and_fill_output(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(truncate(path, status.st_size), 0);
}

#define NOT_WHOLE " while the run wrote it: its results are not whole"

START_TEST(what_becomes_of_an_output_is_noticed)
{
    static const struct {
        void (*happens)(const char *path);
        const char *in_write, *at_end;
    } cases[] = {
        {remove_output, "was removed or replaced", "was removed"},
        {replace_output, "was removed or replaced", "was replaced by another file"},
        {cut_output, "was cut short", "was cut short"},
        {empty_and_fill_output, NULL, "was overwritten"},
    };
    const uint16_t record = 7;
    struct hdss_loop loop = line_of(HDSS_UINT16, 10);
    struct results_sink sink;
    char line[200];
    int lock;
    OK(results_create("o.npy", &loop, &lock, &error));
    OK(results_open(&sink, "o.npy", &loop, 0, &error));
    OK(results_write(&sink, 3, 1, &record, sizeof record, &error));
    OK(results_look_again("o.npy", &loop, lock, &error));
    cases[_i].happens("o.npy");
    OK(results_write(&sink, 9, 1, &record, sizeof record, &error)); /* which is not noticed in the same second */
    if (cases[_i].happens == cut_output)
        cut_output("o.npy"); /* the write has made it as long as it was */
    sink.looked_ns = 0;
    snprintf(line, sizeof line, "o.npy: %s" NOT_WHOLE, cases[_i].in_write);
    if (cases[_i].in_write != NULL)
        FAILS(results_write(&sink, 4, 1, &record, sizeof record, &error), line);
    else
        OK(results_write(&sink, 4, 1, &record, sizeof record, &error));
    snprintf(line, sizeof line, "o.npy: %s" NOT_WHOLE, cases[_i].at_end);
    FAILS(results_look_again("o.npy", &loop, lock, &error), line);
    OK(results_close(&sink, &error));
    close(lock);
}
END_TEST

START_TEST(unknown_kinds_are_refused)
{
    static const char *const names[] = {"a", "a.jpg", "npy", "dir.npy/a", "a.npy.gz", "a."};
    char line[ERROR_TEXT_MAX];
    struct hdss_loop loop = line_of(HDSS_UINT64, 1);
    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line,
                 "%s: unknown kind of output file; accepted: names that end in .npy, .png, .csv, .bin or .raw",
                 names[i]);
        FAILS(results_check(names[i], &loop, &error), line);
        FAILS(results_create(names[i], &loop, NULL, &error), line);
        ck_assert(!exists(names[i]));
    }
    static char name[PATH_MAX + 5];
    memset(name, 'x', PATH_MAX);
    strcpy(name + PATH_MAX, ".npy");
    ck_assert_int_eq(results_check(name, &loop, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "the name is too long"));
}
END_TEST

START_TEST(places_that_cannot_be_written_are_refused)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 4);
    FAILS(results_create("none/a.npy", &loop, NULL, &error), "none/a.npy: cannot create: No such file or directory");
    FAILS(results_create("none/a.csv", &loop, NULL, &error),
          "none/a.csv.records: cannot create: No such file or directory");
    ck_assert_int_eq(mkdir("d.npy", 0755), 0);
    ck_assert_int_eq(mkdir("d.csv", 0755), 0);
    FAILS(results_create("d.npy", &loop, NULL, &error),
          "d.npy: it is a folder; accepted: the name of a file, such as d.npy/results.npy");
    FAILS(results_create("d.csv", &loop, NULL, &error),
          "d.csv: it is a folder; accepted: the name of a file, such as d.csv/results.npy");
    FAILS(results_check(".", &loop, &error), ".: it is a folder; accepted: the name of a file, such as ./results.npy");
    FAILS(results_check_place("d.npy", &loop, &error),
          "d.npy: it is a folder; accepted: the name of a file, such as d.npy/results.npy");
    FAILS(results_check_place("none/a.csv", &loop, &error),
          "none/a.csv: there is no folder none; `mkdir -p none` makes it");
    ck_assert_int_eq(results_check_place("a.csv", &loop, &error), 0);
    ck_assert_int_eq(access("a.csv.records", F_OK), -1);
    ck_assert_int_eq(symlink("/dev/full", "full.npy"), 0);
    GIVES(results_create("full.npy", &loop, NULL, &error), RESULTS_NO_ROOM,
          "full.npy: cannot write: No space left on device (the results take 0.0 MiB)");
}
END_TEST

/* No file can be longer: as on a full disk, for each file by itself. */
static void limit_files(rlim_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, RLIM_INFINITY}), 0);
}

START_TEST(too_little_room_is_found_at_the_start)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 1 << 20);
    limit_files(1 << 20);
    GIVES(results_create("a.raw", &loop, NULL, &error), RESULTS_NO_ROOM,
          "a.raw: cannot write: File too large (the results take 8.0 MiB)");
}
END_TEST

START_TEST(a_disk_that_fills_up_is_one_line)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 4, 4), tiles = tiles_of(4, 4, 2, 2);
    const struct hdss_loop *const loops[] = {&loop, &tiles};
    const uint32_t records[16] = {0};
    for (int i = 0; i < 2; i++) {
        struct results_sink sink;
        OK(results_create("a.raw", loops[i], NULL, &error));
        OK(results_open(&sink, "a.raw", loops[i], 0, &error));
        int full = open("/dev/full", O_WRONLY);
        ck_assert_int_ge(dup2(full, sink.fd), 0);
        close(full);
        FAILS(results_write(&sink, 0, 4, records, 0, &error),
              "a.raw: cannot write: No space left on device (the results take 0.0 MiB)");
        results_close(&sink, NULL);
    }
}
END_TEST

START_TEST(ranges_beyond_the_loop_are_refused)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 4);
    struct results_sink sink;
    const uint64_t records[4] = {0};
    OK(results_create("a.raw", &loop, NULL, &error));
    OK(results_open(&sink, "a.raw", &loop, 0, &error));
    FAILS(results_write(&sink, 2, 3, records, 0, &error), "a.raw: iterations 2 + 3 are beyond the loop's 4");
    ck_assert_int_eq(results_write(&sink, UINT64_MAX, 2, records, 0, &error), -1);
    OK(results_write(&sink, 4, 0, records, 0, &error));
    OK(results_close(&sink, &error));
}
END_TEST

START_TEST(a_node_that_does_not_see_the_file_says_so)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 4), other = line_of(HDSS_UINT64, 5);
    struct results_sink sink;
    FAILS(results_open(&sink, "a.csv", &loop, 0, &error),
          "a.csv.records: is not there on this node: output must be in a folder that all nodes share");
    ck_assert(!exists("a.csv.records"));
    OK(results_create("a.csv", &loop, NULL, &error));
    FAILS(results_open(&sink, "a.csv", &other, 0, &error),
          "a.csv.records: is another file on this node: output must be in a folder that all nodes share");
    ck_assert_int_eq(sink.fd, -1);
}
END_TEST

START_TEST(a_failed_conversion_keeps_records_and_old_file)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 4);
    FILE *old = fopen("a.csv", "w");
    fputs("old", old);
    fclose(old);
    OK(results_create("a.csv", &loop, NULL, &error));
    check_text("a.csv", "old");
    limit_files(20);
    FAILS(finish("a.csv", &loop, &error), "a.csv: cannot write: File too large; the results are kept in a.csv.records");
    limit_files(RLIM_INFINITY);
    check_text("a.csv", "old");
    ck_assert(exists("a.csv.records"));
    ck_assert(!exists("a.csv.partial"));
    OK(finish("a.csv", &loop, &error));
    check_text("a.csv", "iteration,value\n0,0\n1,0\n2,0\n3,0\n");
    FAILS(finish("a.csv", &loop, &error), "a.csv.records: No such file or directory");
}
END_TEST

/* Where somebody else can write the folder: a link under a name that we choose leads nowhere. */
START_TEST(planted_links_are_not_followed)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 4);
    struct results_sink sink;
    FILE *victim = fopen("victim", "w");
    fputs("as it was", victim);
    fclose(victim);
    ck_assert_int_eq(symlink("victim", "a.csv.records"), 0);
    FAILS(results_create("a.csv", &loop, NULL, &error),
          "a.csv.records: cannot create: Too many levels of symbolic links");
    FAILS(results_find("a.csv", &loop, NULL, &error), "a.csv.records: cannot open: Too many levels of symbolic links");
    FAILS(results_open(&sink, "a.csv", &loop, 0, &error),
          "a.csv.records: cannot open: Too many levels of symbolic links");
    ck_assert_int_eq(unlink("a.csv.records"), 0);
    OK(results_create("a.csv", &loop, NULL, &error));
    ck_assert_int_eq(symlink("victim", "a.csv.partial"), 0);
    OK(finish("a.csv", &loop, &error));
    check_text("a.csv", "iteration,value\n0,0\n1,0\n2,0\n3,0\n");
    check_text("victim", "as it was");
}
END_TEST

START_TEST(records_that_are_cut_off_are_found)
{
    struct hdss_loop loop = line_of(HDSS_UINT64, 4);
    OK(results_create("a.csv", &loop, NULL, &error));
    ck_assert_int_eq(truncate("a.csv.records", 30), 0);
    FAILS(finish("a.csv", &loop, &error), "a.csv.records: ends too early");
    ck_assert(!exists("a.csv.partial"));
    ck_assert(!exists("a.csv"));
}
END_TEST

#ifdef HDSS_HAVE_PNG
static struct hdss_loop series_of(uint64_t pictures, uint64_t height, uint64_t width)
{
    return (struct hdss_loop){.iterations = pictures,
                              .type = HDSS_UINT32,
                              .record_length = height * width,
                              .dims = 3,
                              .shape = {pictures, height, width}};
}
#endif

START_TEST(pictures_need_two_or_three_dimensions)
{
#ifdef HDSS_HAVE_PNG
    struct hdss_loop loop = line_of(HDSS_UINT64, 4), empty = table_of(HDSS_LAYOUT_ROWS, 0, 4);
    FAILS(results_check("a.png", &loop, &error), "a.png: a picture needs a two- or three-dimensional result, this "
                                                 "one has 1 dimension; accepted: .npy, .csv, .bin or .raw");
    FAILS(results_check("a.png", &empty, &error),
          "a.png: a picture's sides are 1 to 2147483647 pixels, this result is 4 x 0");
    struct hdss_loop many = series_of(0, 3, 2);
    FAILS(results_check("a.png", &many, &error),
          "a.png: a picture's sides are 1 to 2147483647 pixels, this result is 2 x 0");
    many = series_of((uint64_t)1 << 60, 1, 1);
    FAILS(results_check("a.png", &many, &error),
          "a.png: a picture's sides are 1 to 2147483647 pixels, this result is 3221225470 x 3221225470");
    many.layout = HDSS_LAYOUT_COLUMNS;
    FAILS(results_check("a.png", &many, &error),
          "a.png: a contact sheet needs pictures row by row; accepted: .npy, .csv, .bin or .raw");
#else
    struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 2, 4);
    FAILS(results_check("a.png", &loop, &error), "a.png: this build has no libpng; accepted: .npy, .csv, .bin or .raw");
#endif
}
END_TEST

#ifdef HDSS_HAVE_PNG
/* The picture's RGB bytes; the caller frees them. */
static uint8_t *picture(const char *path, uint32_t width, uint32_t height)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_int_ne(png_image_begin_read_from_file(&image, path), 0);
    ck_assert_uint_eq(image.width, width);
    ck_assert_uint_eq(image.height, height);
    image.format = PNG_FORMAT_RGB;
    uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
    ck_assert_int_ne(png_image_finish_read(&image, NULL, rgb, 0, NULL), 0);
    return rgb;
}

static int lightness(const uint8_t *rgb)
{
    return 2 * rgb[0] + 5 * rgb[1] + rgb[2];
}

START_TEST(a_picture_of_counts_is_black_inside)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_COLUMNS, 2, 3);
    const uint32_t records[] = {1, 100, 2, 3, 0, 100};
    loop.full_value = 100;
    OK(results_create("a.png", &loop, NULL, &error));
    write_range("a.png", &loop, 0, 3, records);
    OK(finish("a.png", &loop, &error));
    ck_assert(!exists("a.png.records"));
    uint8_t *rgb = picture("a.png", 3, 2);
    static const uint8_t black[3] = {0}, grey[3] = {72, 72, 76};
    ck_assert_mem_eq(rgb + 9, black, 3);  /* row 1, column 0 */
    ck_assert_mem_eq(rgb + 15, black, 3); /* row 1, column 2 */
    ck_assert_mem_eq(rgb + 6, grey, 3);   /* row 0, column 2: 0, not computed */
    ck_assert_mem_ne(rgb, black, 3);
    ck_assert_mem_ne(rgb, rgb + 3, 3);
    ck_assert_mem_ne(rgb + 3, rgb + 12, 3);
    free(rgb);
}
END_TEST

START_TEST(a_picture_of_reals_goes_from_dark_to_light)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 1, 256);
    double record[256];
    loop.type = HDSS_FLOAT64;
    for (int i = 0; i < 255; i++)
        record[i] = -3 + i * 0.1;
    record[255] = 0.0 / 0.0;
    OK(results_create("a.png", &loop, NULL, &error));
    write_range("a.png", &loop, 0, 1, record);
    OK(finish("a.png", &loop, &error));
    uint8_t *rgb = picture("a.png", 256, 1);
    for (int i = 0; i + 8 < 255; i++)
        ck_assert_int_lt(lightness(rgb + 3 * i), lightness(rgb + 3 * (i + 8)));
    ck_assert_mem_eq(rgb + 3 * 255, ((const uint8_t[]){128, 128, 128}), 3);
    free(rgb);
}
END_TEST

/* Only that the extremes of each type do not upset the colours. */
START_TEST(pictures_of_every_type)
{
    static const uint64_t records[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 63, 0x7ff8000000000000, 5, 77};
    for (int type = HDSS_UINT8; type <= HDSS_FLOAT64; type++) {
        struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 4, 16 / hdss_type_size((enum hdss_type)type));
        loop.type = (enum hdss_type)type;
        loop.full_value = type % 2 == 0 ? 1 : 0;
        OK(results_create("a.png", &loop, NULL, &error));
        write_range("a.png", &loop, 0, 4, records);
        OK(finish("a.png", &loop, &error));
        free(picture("a.png", (uint32_t)loop.shape[1], 4));
    }
}
END_TEST

START_TEST(a_picture_of_one_value)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 3, 3);
    OK(results_create("a.png", &loop, NULL, &error));
    OK(finish("a.png", &loop, &error));
    free(picture("a.png", 3, 3));
    loop.full_value = 9;
    OK(results_create("a.png", &loop, NULL, &error));
    OK(finish("a.png", &loop, &error));
    free(picture("a.png", 3, 3));
}
END_TEST

/* The value at (x, y) of each picture of a sheet, whose pictures are 3 wide and 2 high: its number and its place. */
static uint32_t value_at(uint32_t picture, uint32_t y, uint32_t x)
{
    return 1000 * picture + 10 * y + x;
}

/* Five pictures in two columns; what iterations yield may be pictures, rows of them, or pieces of rows. */
START_TEST(three_dimensions_make_a_contact_sheet)
{
    enum { PICTURES = 5, HEIGHT = 2, WIDTH = 3, ACROSS = 2, CELL_WIDTH = WIDTH + 2, CELL_HEIGHT = HEIGHT + 2 };
    enum { SHEET_WIDTH = ACROSS * CELL_WIDTH - 2, SHEET_HEIGHT = 3 * CELL_HEIGHT - 2 };
    static const uint64_t lengths[] = {HEIGHT * WIDTH, WIDTH, 1};
    uint32_t records[PICTURES * HEIGHT * WIDTH];
    struct hdss_loop loop = series_of(PICTURES, HEIGHT, WIDTH);
    loop.record_length = lengths[_i];
    loop.iterations = PICTURES * HEIGHT * WIDTH / lengths[_i];
    for (uint32_t i = 0; i < PICTURES * HEIGHT * WIDTH; i++)
        records[i] = value_at(i / (HEIGHT * WIDTH), i / WIDTH % HEIGHT, i % WIDTH);
    OK(results_create("a.png", &loop, NULL, &error));
    write_range("a.png", &loop, 0, loop.iterations, records);
    OK(finish("a.png", &loop, &error));
    uint8_t *rgb = picture("a.png", SHEET_WIDTH, SHEET_HEIGHT), before[3] = {255, 255, 255};
    ck_assert_mem_eq(rgb, before, 3); /* the smallest is white */
    for (uint32_t i = 0; i < PICTURES * HEIGHT * WIDTH; i++) {
        uint32_t n = i / (HEIGHT * WIDTH), y = i / WIDTH % HEIGHT, x = i % WIDTH;
        const uint8_t *dot = rgb + 3 * ((n / ACROSS * CELL_HEIGHT + y) * SHEET_WIDTH + n % ACROSS * CELL_WIDTH + x);
        ck_assert(dot[0] == dot[1] && dot[1] == dot[2]);
        ck_assert_int_le(dot[0], before[0]); /* values ascend */
        memcpy(before, dot, 3);
    }
    ck_assert_mem_eq(before, ((uint8_t[]){0, 0, 0}), 3);
    for (uint32_t i = 0; i < SHEET_WIDTH * SHEET_HEIGHT; i++) {
        uint32_t x = i % SHEET_WIDTH, y = i / SHEET_WIDTH, n = y / CELL_HEIGHT * ACROSS + x / CELL_WIDTH;
        if (x % CELL_WIDTH >= WIDTH || y % CELL_HEIGHT >= HEIGHT || n >= PICTURES)
            ck_assert_mem_eq(rgb + 3 * i, ((uint8_t[]){172, 172, 172}), 3);
    }
    free(rgb);
}
END_TEST

/* As square as it can be, and never wider than there are pictures. */
START_TEST(contact_sheets_are_nearly_square)
{
    static const struct {
        uint64_t pictures, height, width, sheet_height, sheet_width;
    } cases[] = {{1, 4, 4, 4, 4},    {2, 4, 4, 4, 10},   {9, 4, 4, 16, 16},     {10, 4, 4, 16, 22},
                 {4, 1, 40, 10, 40}, {4, 40, 1, 40, 10}, {100, 8, 18, 128, 158}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hdss_loop loop = series_of(cases[i].pictures, cases[i].height, cases[i].width);
        OK(results_create("a.png", &loop, NULL, &error));
        OK(finish("a.png", &loop, &error));
        free(picture("a.png", (uint32_t)cases[i].sheet_width, (uint32_t)cases[i].sheet_height));
    }
}
END_TEST

START_TEST(a_picture_on_a_full_disk)
{
    struct hdss_loop loop = table_of(HDSS_LAYOUT_ROWS, 300, 300);
    OK(results_create("a.png", &loop, NULL, &error));
    limit_files(100);
    FAILS(finish("a.png", &loop, &error), "a.png: cannot write: File too large; the results are kept in a.png.records");
    limit_files(RLIM_INFINITY);
    ck_assert(exists("a.png.records"));
}
END_TEST
#endif

#ifdef PYTHON_WITH_NUMPY
START_TEST(numpy_reads_what_is_written)
{
    static const char script[] =
        PYTHON_WITH_NUMPY " -c 'import numpy as np\n"
                          "want = np.arange(5)[:, None] * 1000 + np.arange(7)[None, :]\n"
                          "for name in (\"0.npy\", \"1.npy\", \"2.npy\"):\n"
                          "    got = np.load(name)\n"
                          "    assert got.dtype == np.uint32 and got.shape == (5, 7) and (got == want).all(), name\n"
                          "assert (np.loadtxt(\"1.csv\", delimiter=\",\", dtype=int) == want).all()\n"
                          "got = np.loadtxt(\"line.csv\", delimiter=\",\", skiprows=1)\n"
                          "assert (got == np.array([[0, 0.1], [1, 1e300]])).all()\n"
                          "assert np.load(\"empty.npy\").shape == (0,)'";
    char name[20];
    for (int i = 0; i < 3; i++) {
        struct hdss_loop loop = layout(i);
        snprintf(name, sizeof name, "%d.npy", i);
        write_table(name, &loop, 2);
        snprintf(name, sizeof name, "%d.csv", i);
        write_table(name, &loop, 2);
    }
    struct hdss_loop line = line_of(HDSS_FLOAT64, 2), empty = line_of(HDSS_UINT64, 0);
    OK(results_create("line.csv", &line, NULL, &error));
    write_range("line.csv", &line, 0, 2, (const double[]){0.1, 1e300});
    OK(finish("line.csv", &line, &error));
    OK(results_create("empty.npy", &empty, NULL, &error));
    ck_assert_int_eq(system(script), 0);
}
END_TEST
#endif

static void add_pictures(TCase *tcase)
{
    tcase_add_test(tcase, pictures_need_two_or_three_dimensions);
#ifdef HDSS_HAVE_PNG
    tcase_add_test(tcase, a_picture_of_counts_is_black_inside);
    tcase_add_test(tcase, a_picture_of_reals_goes_from_dark_to_light);
    tcase_add_test(tcase, pictures_of_every_type);
    tcase_add_test(tcase, a_picture_of_one_value);
    tcase_add_loop_test(tcase, three_dimensions_make_a_contact_sheet, 0, 3);
    tcase_add_test(tcase, contact_sheets_are_nearly_square);
    tcase_add_test(tcase, a_picture_on_a_full_disk);
#endif
}

static void add_failures(TCase *tcase)
{
    tcase_add_test(tcase, unknown_kinds_are_refused);
    tcase_add_test(tcase, places_that_cannot_be_written_are_refused);
    tcase_add_test(tcase, too_little_room_is_found_at_the_start);
    tcase_add_test(tcase, a_disk_that_fills_up_is_one_line);
    tcase_add_test(tcase, ranges_beyond_the_loop_are_refused);
    tcase_add_test(tcase, a_node_that_does_not_see_the_file_says_so);
    tcase_add_test(tcase, a_failed_conversion_keeps_records_and_old_file);
    tcase_add_test(tcase, planted_links_are_not_followed);
    tcase_add_test(tcase, records_that_are_cut_off_are_found);
}

int main(void)
{
    Suite *suite = suite_create("results");
    TCase *tcase = tcase_create("results");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, npy_bytes_are_as_specified);
    tcase_add_test(tcase, npy_headers_name_type_order_and_shape);
    tcase_add_loop_test(tcase, every_layout_makes_the_same_table, 0, 6);
    tcase_add_test(tcase, raw_files_hold_the_array_alone);
    tcase_add_test(tcase, one_dimension_is_a_list_in_csv);
    tcase_add_test(tcase, every_type_in_csv);
    tcase_add_test(tcase, more_dimensions_are_a_record_per_line_in_csv);
    tcase_add_test(tcase, what_nobody_wrote_is_0);
    tcase_add_test(tcase, no_iterations_make_an_empty_result);
    tcase_add_test(tcase, large_tables_are_read_in_blocks);
    tcase_add_test(tcase, places_beyond_4_GiB_are_right);
    tcase_add_loop_test(tcase, what_an_earlier_run_left_is_found, 0, 3);
    tcase_add_test(tcase, an_output_with_another_header_is_not_ours);
    tcase_add_loop_test(tcase, an_output_is_of_one_run, 0, 2);
    tcase_add_loop_test(tcase, what_becomes_of_an_output_is_noticed, 0, 4);
    add_failures(tcase);
    add_pictures(tcase);
#ifdef PYTHON_WITH_NUMPY
    tcase_add_test(tcase, numpy_reads_what_is_written);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
