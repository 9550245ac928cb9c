/* SPDX-License-Identifier: MIT */
/* Parts of variable output: written in any order by several ranks, joined in the order of the iterations; entries that
 * are torn, corrupted or there twice; later runs of the job; every way to fail, with its line. */
#include "common/metrics/reasons.h"
#include "common/metrics/task_log.h"
#include "common/results/parts.h"
#include "common/results/results.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "proto/wire.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-parts-XXXXXX";
static struct error error;
static struct ranges failed;

static void set_up(void)
{
    error.text[0] = '\0';
    ranges_init(&failed);
    scratch_enter(folder);
}

static void tear_down(void)
{
    ranges_fini(&failed);
    scratch_leave(folder);
}

#define OK(call) ck_assert_msg((call) == 0, "%s", error.text)
#define FAILS(call, line)                                                                                              \
    do {                                                                                                               \
        ck_assert_int_eq((call), -1);                                                                                  \
        ck_assert_str_eq(error.text, line);                                                                            \
    } while (0)

static const struct hdss_loop loop = {
    .iterations = 10,
    .streams = 2,
    .stream = {{.ending = ""}, {.ending = ".err", .heading = "errors\n", .differs = true}}};

/* A block of iterations that each say "NUMBER MARK" on the first stream, the odd ones "e" on the second. */
static size_t block_of(uint64_t first, uint32_t count, char mark, uint64_t failing, unsigned char out[1000])
{
    size_t at = block_head_put(out, count, 2);
    unsigned char *entry = out + at;
    at += count * block_entry_bytes(2);
    for (uint64_t i = first; i < first + count; i++, entry += block_entry_bytes(2)) {
        int length = sprintf((char *)out + at, "%llu%c\n", (unsigned long long)i, mark);
        wire_put32(entry, i == failing ? BLOCK_FAILED : 0);
        wire_put32(entry + 4, (uint32_t)length);
        wire_put32(entry + 8, i % 2);
        at += (size_t)length;
    }
    for (uint64_t i = first; i < first + count; i++)
        if (i % 2 == 1)
            out[at++] = 'e';
    return at;
}

static void write_part(struct results_sink *sink, uint64_t first, uint32_t count, char mark, uint64_t failing)
{
    unsigned char bytes[1000];
    size_t size = block_of(first, count, mark, failing, bytes);
    OK(results_write(sink, first, count, bytes, size, &error));
}

static void check_text(const char *path, const char *expected)
{
    char bytes[1000] = "";
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "no %s", path);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(bytes, expected);
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static int join(uint64_t first, uint64_t count)
{
    return results_convert("out", &loop, &(struct range){first, count}, &failed, NULL, &error);
}

START_TEST(parts_of_several_ranks_are_joined_in_order)
{
    struct results_sink one, two;
    OK(results_create("out", &loop, NULL, &error));
    ck_assert(results_exist("out", &loop));
    OK(results_open(&one, "out", &loop, 0, &error));
    OK(results_open(&two, "out", &loop, 7, &error));
    write_part(&two, 8, 2, 'b', 9);
    write_part(&one, 3, 1, 'a', 0);
    write_part(&one, 0, 3, 'a', 1);
    write_part(&two, 4, 4, 'b', 0);
    OK(results_sync(&one, &error));
    OK(results_close(&one, &error));
    OK(join(0, 10)); /* while the other is still open, as that of a rank that leaves later */
    OK(results_close(&two, &error));
    check_text("out", "0a\n1a\n2a\n3a\n4b\n5b\n6b\n7b\n8b\n9b\n");
    check_text("out.err", "errors\neeeee");
    ck_assert_uint_eq(ranges_length(&failed), 2);
    ck_assert(ranges_contains(&failed, 1) && ranges_contains(&failed, 9));
    OK(results_sync_files("out", &loop, &error));
    results_remove("out", &loop);
    ck_assert(!exists("out.parts") && exists("out") && !exists("out.partial"));
}
END_TEST

/* Of a complete run only its files are left. */
START_TEST(files_are_gone_on_with)
{
    const struct range done = {0, 6};
    struct results_sink sink;
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 0, 6, 'a', 10);
    OK(results_close(&sink, &error));
    OK(join(0, 6));
    ck_assert_uint_eq(results_bytes("out", &loop), 18 + 7 + 3);
    results_remove("out", &loop);
    for (uint64_t from = 6; from < 10; from += 2) { /* the second time of what the first has made */
        OK(results_take_back("out", &loop, (struct range){0, from}, &error));
        OK(results_find("out", &loop, NULL, &error));
        OK(results_open(&sink, "out", &loop, 0, &error));
        write_part(&sink, from, 2, 'b', 10);
        OK(results_close(&sink, &error));
        OK(join(0, from + 2));
        results_remove("out", &loop);
    }
    check_text("out", "0a\n1a\n2a\n3a\n4a\n5a\n6b\n7b\n8b\n9b\n");
    check_text("out.err", "errors\neeeee");
    ck_assert(ranges_length(&failed) == 0 && !exists("out.parts"));
    unlink("out.err");
    FAILS(results_take_back("out", &loop, done, &error), "out.err: cannot read: No such file or directory");
}
END_TEST

START_TEST(parts_are_searched_for_what_failed)
{
    struct results_sink sink;
    struct ranges among;
    ranges_init(&among);
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 4, 4, 'b', 5);
    write_part(&sink, 0, 3, 'a', 1);
    OK(results_close(&sink, &error));
    OK(results_review("out", &loop, NULL, &failed, NULL, &error));
    ck_assert(ranges_total(&failed) == 2 && ranges_contains(&failed, 1) && ranges_contains(&failed, 5));
    ranges_clear(&failed);
    OK(results_review("out", &loop, &among, &failed, NULL, &error));
    ck_assert_uint_eq(ranges_total(&failed), 0);
    ranges_add(&among, 5, 1, NULL);
    OK(results_review("out", &loop, &among, &failed, NULL, &error));
    ck_assert(ranges_total(&failed) == 1 && ranges_contains(&failed, 5));
    ck_assert(exists("out.parts") && !exists("out") && !exists("out.err") && !exists("out.partial"));
    ranges_fini(&among);
}
END_TEST

START_TEST(tasks_that_failed_alike_are_counted)
{
    static const struct hdss_loop tasks = {
        .iterations = 10,
        .streams = 3,
        .are_tasks = true,
        .stream = {{.ending = ""}, {.ending = ".err"}, {.ending = ".log", .heading = TASK_LOG_HEADING "\n"}}};
    static const char line[] = "3\tn\t1\t1\t0\t0\t7\t0\t./fit\t1\t0\t0\t0\t1\texit\t0\t0\n";
    unsigned char bytes[1000];
    struct reasons reasons = {0};
    struct results_sink sink;
    size_t at = block_head_put(bytes, 3, 3);
    for (uint32_t i = 0; i < 3; i++, at += block_entry_bytes(3)) { /* the second and the third have failed */
        wire_put32(bytes + at, i > 0 ? BLOCK_FAILED : 0);
        wire_put32(bytes + at + 4, 0);
        wire_put32(bytes + at + 8, i == 2 ? 0 : 4);
        wire_put32(bytes + at + 12, sizeof line - 1);
    }
    at += (size_t)sprintf((char *)bytes + at, "no!\nbad\n%s%s%s", line, line, line);
    OK(results_create("out", &tasks, NULL, &error));
    OK(results_open(&sink, "out", &tasks, 0, &error));
    OK(results_write(&sink, 1, 3, bytes, at, &error));
    OK(results_close(&sink, &error));
    OK(results_convert("out", &tasks, &(struct range){1, 3}, &failed, &reasons, &error));
    ck_assert_uint_eq(ranges_total(&failed), 2);
    ck_assert_uint_eq(reasons.count, 1);
    ck_assert_uint_eq(reasons.items[0].count, 2);
    ck_assert_int_eq((int)reasons.items[0].value, 7);
    ck_assert_str_eq(reasons.items[0].error, "bad");
    FAILS(results_convert("out", &tasks, &(struct range){0, 4}, &failed, NULL, &error),
          "out.parts: the output of task 1 is missing there");
}
END_TEST

START_TEST(an_ending_takes_the_place_of_out)
{
    static const char *const cases[][3] = {
        {"tasks.txt.out", "", "tasks.txt.out"}, {"tasks.txt.out", ".err", "tasks.txt.err"},
        {"tasks.txt", ".err", "tasks.txt.err"}, {"a/.out", ".err", "a/.out.err"},
        {".out", ".err", ".out.err"},           {"x.out", "-more", "x.out-more"},
        {"x.out", ".out", "x.out.out"},         {"a.out/x", ".err", "a.out/x.err"},
    };
    char file[PATH_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_str_eq(parts_stream_file(cases[i][0], cases[i][1], file), cases[i][2]);
}
END_TEST

START_TEST(what_is_missing_is_named_where_all_must_be_there)
{
    struct results_sink sink;
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 2, 3, 'a', 0);
    write_part(&sink, 6, 1, 'a', 0);
    OK(results_close(&sink, &error));
    FAILS(join(2, 5), "out.parts: the results of iteration 5 are missing there");
    FAILS(join(0, 10), "out.parts: the results of iteration 0 are missing there");
    ck_assert(!exists("out") && !exists("out.partial") && exists("out.parts"));
    OK(join(2, 3));
    OK(join(0, 0));
    check_text("out", "2a\n3a\n4a\n6a\n");
}
END_TEST

START_TEST(of_iterations_that_are_there_twice_the_latest_run_counts)
{
    struct results_sink sink;
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 0, 6, 'a', 2);
    write_part(&sink, 4, 6, 'a', 7); /* of a rank that went on after another had been lost */
    OK(results_close(&sink, &error));
    uint64_t digest, expected = digest_record(2, "2a\n", 3) + digest_record(7, "7a\n", 3);
    struct ranges done;
    ranges_init(&done);
    ranges_add(&done, 0, 7, NULL);
    OK(results_find_failed("out", &loop, &done, &failed, &digest, &error));
    ck_assert_uint_eq(ranges_total(&failed), 1); /* the other one is not called done */
    ck_assert_uint_eq(digest, digest_record(2, "2a\n", 3));
    ranges_add(&done, 7, 3, NULL);
    OK(results_find_failed("out", &loop, &done, &failed, &digest, &error));
    ck_assert_uint_eq(ranges_total(&failed), 2);
    ck_assert_uint_eq(digest, expected);
    ranges_clear(&failed);
    ranges_fini(&done);
    OK(results_find("out", &loop, NULL, &error)); /* the job is resumed */
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 7, 1, 'b', 99);
    write_part(&sink, 2, 1, 'b', 99);
    OK(results_close(&sink, &error));
    OK(join(0, 10));
    check_text("out", "0a\n1a\n2b\n3a\n4a\n5a\n6a\n7b\n8a\n9a\n");
    ck_assert_uint_eq(ranges_total(&failed), 0);
}
END_TEST

START_TEST(of_what_a_writer_has_written_twice_the_later_counts)
{
    struct results_sink sink;
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 0, 6, 'a', 99);
    write_part(&sink, 6, 4, 'a', 99);
    write_part(&sink, 2, 3, 'b', 99);
    write_part(&sink, 0, 6, 'c', 99);
    write_part(&sink, 3, 1, 'd', 99);
    OK(results_close(&sink, &error));
    OK(join(0, 10));
    check_text("out", "0c\n1c\n2c\n3d\n4c\n5c\n6a\n7a\n8a\n9a\n");
}
END_TEST

/* The first run's file, of three entries: 0 + 3, 3 + 3 and 6 + 4. Returns its size. */
static off_t write_three(off_t at[3])
{
    struct results_sink sink;
    struct stat status;
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    for (unsigned i = 0; i < 3; i++) {
        at[i] = (off_t)sink.end;
        write_part(&sink, 3 * i, i < 2 ? 3 : 4, 'a', 99);
    }
    OK(results_close(&sink, &error));
    ck_assert_int_eq(stat("out.parts/1-0", &status), 0);
    return status.st_size;
}

START_TEST(a_torn_entry_is_not_believed)
{
    off_t at[3], size = write_three(at);
    for (off_t cut = size - 1; cut >= 0; cut--) {
        ck_assert_int_eq(truncate("out.parts/1-0", cut), 0);
        OK(join(0, 0));
        check_text("out", cut >= at[2] ? "0a\n1a\n2a\n3a\n4a\n5a\n" : cut >= at[1] ? "0a\n1a\n2a\n" : "");
    }
}
END_TEST

static uint64_t digest_of(uint64_t first, uint64_t end)
{
    uint64_t digest = 0;
    for (uint64_t i = first; i < end; i++) {
        char text[24];
        int length = snprintf(text, sizeof text, "%llua\n", (unsigned long long)i);
        digest += digest_record(i, text, (size_t)length);
    }
    return digest;
}

START_TEST(what_is_missing_of_what_is_done_is_found)
{
    off_t at[3], size = write_three(at);
    struct ranges done, sound;
    uint64_t digest;
    ranges_init(&done);
    ranges_init(&sound);
    ck_assert_int_eq(results_hold("out", &loop, &done, &error), RESULTS_COMPLETE);
    ranges_add(&done, 1, 9, NULL);
    ck_assert_int_eq(results_hold("out", &loop, &done, &error), RESULTS_COMPLETE);
    OK(results_find_sound("out", &loop, &done, false, &sound, &digest, &error));
    ck_assert(ranges_total(&sound) == 9 && ranges_covers(&sound, 1, 9));
    ck_assert_uint_eq(digest, digest_of(1, 10));
    ranges_clear(&sound);
    ck_assert_int_eq(truncate("out.parts/1-0", size - 1), 0);
    ck_assert_int_eq(results_hold("out", &loop, &done, &error), RESULTS_LACKS);
    OK(results_find_sound("out", &loop, &done, false, &sound, &digest, &error));
    ck_assert(ranges_total(&sound) == 5 && ranges_covers(&sound, 1, 5));
    ck_assert_uint_eq(digest, digest_of(1, 6));
    ck_assert_int_eq(unlink("out.parts/run"), 0);
    ck_assert_int_eq(results_hold("out", &loop, &done, &error), RESULTS_ABSENT);
    ranges_fini(&done);
    ranges_fini(&sound);
}
END_TEST

/* The entry in the middle has its head, and the last is torn. */
START_TEST(an_entry_without_its_bytes_counts_for_who_has_read_it)
{
    off_t at[3], size = write_three(at);
    struct ranges done, sound;
    uint64_t digest;
    const int fd = open("out.parts/1-0", O_WRONLY);
    ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at[1] + PART_HEAD_BYTES,
                               at[2] - at[1] - PART_HEAD_BYTES),
                     0);
    ck_assert_int_eq(ftruncate(fd, size - 1), 0);
    close(fd);
    ranges_init(&done);
    ranges_add(&done, 1, 9, NULL);
    for (int by_heads = 0; by_heads < 2; by_heads++) {
        ranges_init(&sound);
        OK(results_find_sound("out", &loop, &done, by_heads != 0, &sound, &digest, &error));
        ck_assert(ranges_total(&sound) == (by_heads ? 5 : 2) && ranges_covers(&sound, 1, by_heads ? 5 : 2));
        ck_assert_uint_eq(digest, digest_of(1, 3));
        ranges_fini(&sound);
    }
    ranges_fini(&done);
}
END_TEST

START_TEST(a_corrupted_entry_is_left_out)
{
    off_t at[3], size = write_three(at);
    int fd = open("out.parts/1-0", O_RDWR);
    for (off_t i = 0; i < size; i++) {
        unsigned char byte, other;
        ck_assert_int_eq(pread(fd, &byte, 1, i), 1);
        other = byte ^ 0x20;
        ck_assert_int_eq(pwrite(fd, &other, 1, i), 1);
        OK(join(0, 0));
        unsigned entry = i >= at[2] ? 2 : i >= at[1] ? 1 : 0;
        bool in_head = i < at[entry] + PART_HEAD_BYTES; /* what follows cannot be found then */
        char expected[100] = "";
        for (unsigned k = 0; k < 10; k++)
            if (k / 3 < entry || (!in_head && entry < 2 && k >= 3 * (entry + 1)))
                sprintf(expected + strlen(expected), "%ua\n", k);
        check_text("out", expected);
        ck_assert_int_eq(pwrite(fd, &byte, 1, i), 1);
    }
    close(fd);
}
END_TEST

START_TEST(a_corrupted_entry_gives_way_to_another_of_its_iterations)
{
    off_t at[3];
    write_three(at);
    struct results_sink sink;
    OK(results_find("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    write_part(&sink, 2, 3, 'b', 99);
    OK(results_close(&sink, &error));
    int fd = open("out.parts/2-0", O_RDWR);
    ck_assert_int_eq(pwrite(fd, "?", 1, PART_HEAD_BYTES + 50), 1);
    close(fd);
    OK(join(0, 10));
    check_text("out", "0a\n1a\n2a\n3a\n4a\n5a\n6a\n7a\n8a\n9a\n");
}
END_TEST

START_TEST(what_is_no_block_of_the_part_is_not_written)
{
    struct results_sink sink;
    unsigned char bytes[1000];
    OK(results_create("out", &loop, NULL, &error));
    OK(results_open(&sink, "out", &loop, 0, &error));
    size_t size = block_of(3, 2, 'a', 99, bytes);
    FAILS(results_write(&sink, 3, 3, bytes, size, &error),
          "out.parts/1-0: the results of iterations 3 + 3 are not what they should be");
    FAILS(results_write(&sink, 9, 2, bytes, size, &error),
          "out.parts/1-0: the results of iterations 9 + 2 are not what they should be");
    FAILS(results_write(&sink, 3, 2, bytes, size - 1, &error),
          "out.parts/1-0: the results of iterations 3 + 2 are not what they should be");
    ck_assert_uint_eq(sink.end, 0);
    OK(results_close(&sink, &error));
}
END_TEST

START_TEST(a_folder_that_cannot_be_is_refused)
{
    struct results_sink sink;
    const struct hdss_loop other = {.iterations = 10, .streams = 1, .stream = {{.ending = ""}}};
    FAILS(results_create("nowhere/out", &loop, NULL, &error),
          "nowhere/out.parts: cannot create: No such file or directory");
    FAILS(results_open(&sink, "out", &loop, 0, &error),
          "out.parts: is not there on this node: output must be in a folder that all nodes share");
    ck_assert_int_eq(results_find("out", &loop, NULL, &error), RESULTS_ABSENT);
    OK(mkdir("folder", 0777));
    FAILS(results_create("folder", &loop, NULL, &error),
          "folder: it is a folder; accepted: the name of a file, such as folder/results.out");
    FAILS(results_check_place("nowhere/out", &loop, &error),
          "nowhere/out: there is no folder nowhere; `mkdir -p nowhere` makes it");
    OK(results_check_place("out", &loop, &error));
    ck_assert_int_eq(results_look("out", &loop, &error), RESULTS_ABSENT);
    OK(results_create("out", &other, NULL, &error));
    FAILS(results_find("out", &loop, NULL, &error), "out.parts/run: is not of the output of such a job");
    FAILS(results_look("out", &loop, &error), "out.parts/run: is not of the output of such a job");
    OK(results_look("out", &other, &error));
    OK(results_check_place("out", &loop, &error));
    OK(results_open(&sink, "out", &other, 4, &error));
    struct results_sink second;
    FAILS(results_open(&second, "out", &other, 4, &error), "out.parts/1-4: cannot create: File exists");
    OK(results_close(&sink, &error));
    FILE *mine = fopen("out.parts/mine", "w"); /* of the user: it stays */
    fclose(mine);
    results_remove("out", &other);
    ck_assert(exists("out.parts/mine") && !exists("out.parts/1-4"));
    FAILS(results_create("out", &loop, NULL, &error), "out.parts: cannot create: File exists");
}
END_TEST

START_TEST(a_run_begun_anew_forgets_the_one_before)
{
    off_t at[3];
    write_three(at);
    OK(results_create("out", &loop, NULL, &error));
    OK(join(0, 0));
    check_text("out", "");
}
END_TEST

#define NOT_WHOLE " while the run wrote it: its results are not whole"

START_TEST(parts_are_of_one_run)
{
    const char *line = "out.parts: another run is writing it";
    int lock, next;
    OK(results_create("out", &loop, &lock, &error));
    FAILS(results_create("out", &loop, NULL, &error), line);
    FAILS(results_find("out", &loop, &next, &error), line);
    FAILS(results_look("out", &loop, &error), line);
    FAILS(results_check_place("out", &loop, &error), line);
    close(lock);
    OK(results_find("out", &loop, &lock, &error)); /* resumed, and from then on its own */
    FAILS(results_find("out", &loop, &next, &error), line);
    OK(results_look_again("out", &loop, lock, &error));
    close(lock);
    OK(results_create("out", &loop, &next, &error));
    close(next);
}
END_TEST

START_TEST(what_becomes_of_parts_is_noticed)
{
    struct results_sink one, two;
    unsigned char bytes[1000];
    size_t size = block_of(0, 1, 'a', 0, bytes);
    int lock;
    OK(results_create("out", &loop, &lock, &error));
    OK(results_open(&one, "out", &loop, 0, &error));
    OK(results_open(&two, "out", &loop, 1, &error));
    write_part(&one, 5, 1, 'a', 0);
    write_part(&two, 6, 1, 'a', 0);
    ck_assert_int_eq(truncate("out.parts/1-0", 10), 0);
    one.looked_ns = two.looked_ns = 0; /* a second later */
    FAILS(results_write(&one, 0, 1, bytes, size, &error), "out.parts/1-0: was cut short" NOT_WHOLE);
    OK(results_look_again("out", &loop, lock, &error));
    results_remove("out", &loop);
    FAILS(results_write(&two, 0, 1, bytes, size, &error), "out.parts/1-1: was removed or replaced" NOT_WHOLE);
    FAILS(results_look_again("out", &loop, lock, &error), "out.parts/run: was removed" NOT_WHOLE);
    OK(results_create("out", &loop, NULL, &error)); /* what has no name is in nobody's way */
    FAILS(results_look_again("out", &loop, lock, &error), "out.parts/run: was replaced by another file" NOT_WHOLE);
    close(lock);
    OK(results_close(&one, &error));
    OK(results_close(&two, &error));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts");
    TCase *all = tcase_create("parts");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, parts_of_several_ranks_are_joined_in_order);
    tcase_add_test(all, parts_are_searched_for_what_failed);
    tcase_add_test(all, files_are_gone_on_with);
    tcase_add_test(all, tasks_that_failed_alike_are_counted);
    tcase_add_test(all, an_ending_takes_the_place_of_out);
    tcase_add_test(all, what_is_missing_is_named_where_all_must_be_there);
    tcase_add_test(all, of_iterations_that_are_there_twice_the_latest_run_counts);
    tcase_add_test(all, of_what_a_writer_has_written_twice_the_later_counts);
    tcase_add_test(all, a_torn_entry_is_not_believed);
    tcase_add_test(all, what_is_missing_of_what_is_done_is_found);
    tcase_add_test(all, a_corrupted_entry_is_left_out);
    tcase_add_test(all, an_entry_without_its_bytes_counts_for_who_has_read_it);
    tcase_add_test(all, a_corrupted_entry_gives_way_to_another_of_its_iterations);
    tcase_add_test(all, what_is_no_block_of_the_part_is_not_written);
    tcase_add_test(all, a_folder_that_cannot_be_is_refused);
    tcase_add_test(all, a_run_begun_anew_forgets_the_one_before);
    tcase_add_test(all, parts_are_of_one_run);
    tcase_add_test(all, what_becomes_of_parts_is_noticed);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
