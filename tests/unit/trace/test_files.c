/* SPDX-License-Identifier: MIT */
/* Records in files, and the trace that is made of them. */
#include "common/os/files.h"
#include "common/trace/join.h"
#include "common/trace/spool.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[] = "/tmp/hdss-test-trace-XXXXXX";
static const struct trace_clock simulated = {.machine_ns = 1000};

static void enter(void)
{
    scratch_enter(folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

static void note(struct trace_spool *spool, uint32_t chunk)
{
    *trace_next(&spool->sink) = (struct trace_record){
        .at_ns = 1000 + chunk, .first = chunk, .count = 1, .worker = 1, .chunk = chunk, .kind = CHUNK_CUT};
    trace_note(&spool->sink);
}

static uint64_t seen;

static bool see(void *context, const struct trace_record *records, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        if (records[i].kind != 0)
            ck_assert_uint_eq(records[i].first, ++seen);
    return true;
}

static int read_all(const char *name, struct error *error)
{
    struct trace_spool_head head;
    seen = 0;
    return trace_spool_read(name, &head, see, NULL, error);
}

/* Parts of the file follow one another. */
START_TEST(all_that_was_noted_is_read)
{
    struct trace_spool spool;
    struct error error;
    const uint32_t count = 3 * TRACE_SPOOL_RECORDS + 5;
    ck_assert_int_eq(trace_spool_open(&spool, "t.csv", 4, &simulated, &error), 0);
    for (uint32_t i = 1; i <= count; i++)
        note(&spool, i);
    ck_assert_int_eq(trace_spool_close(&spool, &error), 0);
    ck_assert_int_eq(read_all("t.csv.4.part", &error), 0);
    ck_assert_uint_eq(seen, count);
}
END_TEST

/* A process that is killed loses nothing of it. */
START_TEST(what_a_killed_process_had_noted_is_read)
{
    struct error error;
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct trace_spool spool;
        if (trace_spool_open(&spool, "t.csv", 0, &simulated, &error) == 0)
            for (uint32_t i = 1; i <= 17; i++)
                note(&spool, i);
        kill(getpid(), SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(read_all("t.csv.0.part", &error), 0);
    ck_assert_uint_eq(seen, 17);
}
END_TEST

/* The machine goes on, and the trace says that it is not complete. */
START_TEST(a_file_that_cannot_grow_is_told_of)
{
    struct trace_spool spool;
    struct error error;
    struct rlimit before, least;
    ck_assert_int_eq(trace_spool_open(&spool, "t.csv", 0, &simulated, &error), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    least = before;
    least.rlim_cur = 65536 + TRACE_SPOOL_RECORDS * sizeof(struct trace_record);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &least), 0);
    for (uint32_t i = 1; i <= 3 * TRACE_SPOOL_RECORDS; i++)
        note(&spool, i);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_lt(trace_spool_close(&spool, &error), 0);
    ck_assert_ptr_nonnull(strstr(error.text, "t.csv.0.part: cannot grow"));
    ck_assert_int_eq(read_all("t.csv.0.part", &error), 0);
    ck_assert_uint_eq(seen, TRACE_SPOOL_RECORDS);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_told_of)
{
    struct trace_spool spool;
    struct error error;
    ck_assert_int_lt(trace_spool_open(&spool, "no/t.csv", 0, &simulated, &error), 0);
    ck_assert_ptr_nonnull(strstr(error.text, "no/t.csv.0.part: cannot be made"));
}
END_TEST

START_TEST(other_files_are_refused)
{
    struct error error;
    ck_assert_int_eq(read_all("none", &error), 1);
    ck_assert_int_eq(file_write("x", "x", 1, &error), 0);
    ck_assert_int_lt(read_all("x", &error), 0);
    ck_assert_ptr_nonnull(strstr(error.text, "x: is not of a trace of this version"));
}
END_TEST

static const struct trace_worker workers[] = {{.rank = 2, .node = 0, .master = 1, .power = 1.5}};
static const struct trace_about about = {.version = "1",
                                         .kernel = "k\"k",
                                         .technique = "ss",
                                         .iterations = 9,
                                         .masters = 1,
                                         .workers = 1,
                                         .worker = workers};

/* A rank that has left no file is left out; the files are removed. */
START_TEST(a_trace_is_made_of_the_files)
{
    const unsigned ranks[] = {0, 1, 5};
    const struct trace_clock real = {.machine_ns = 500, .real_ns = UINT64_C(1700000000000000000)};
    struct trace_spool spool;
    struct error error;
    for (unsigned rank = 0; rank < 2; rank++) {
        ck_assert_int_eq(trace_spool_open(&spool, "t.csv", rank, &real, &error), 0);
        *trace_next(&spool.sink) = (struct trace_record){
            .at_ns = 1500, .first = rank, .count = 3, .figure = 7, .worker = 2, .kind = CHUNK_CUT};
        trace_note(&spool.sink);
        *trace_next(&spool.sink) =
            (struct trace_record){.at_ns = 1500, .first = 4 + rank, .count = 5, .kind = CHUNK_RESUMED};
        trace_note(&spool.sink);
        ck_assert_int_eq(trace_spool_close(&spool, &error), 0);
    }
    ck_assert_int_eq(trace_join("t.csv", ranks, 3, &about, &error), 0);
    char *text = file_read("t.csv", &error);
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(strstr(text, "run,,,,,,,,,,,,,,,,\"kernel=k\"\"k\"\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "\"origin=2023-11-14T22:13:20.000000Z\"\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "worker,,2,0,1,,,,,,,,,,,,power=1.5\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "cut,0.000001000,2,0,,,0,3,,,,,,,,7,\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "cut,0.000001000,2,0,,,1,3,,,,,,,,7,\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "resumed,,,,,,4,5,resumed,,,,,,done,,\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "resumed,,,,,,5,5,resumed,,,,,,done,,\r\n"));
    free(text);
    ck_assert_int_lt(access("t.csv.0.part", F_OK), 0);
    ck_assert_int_lt(access("t.csv.1.part", F_OK), 0);
}
END_TEST

START_TEST(without_the_first_file_there_is_no_trace)
{
    const unsigned ranks[] = {0};
    struct error error;
    ck_assert_int_lt(trace_join("t.csv", ranks, 1, &about, &error), 0);
    ck_assert_ptr_nonnull(strstr(error.text, "t.csv.0.part: is not there"));
    ck_assert_int_lt(access("t.csv", F_OK), 0);
}
END_TEST

START_TEST(the_ending_says_the_form)
{
    ck_assert_int_eq((int)trace_form_of("a.csv"), TRACE_CSV);
    ck_assert_int_eq((int)trace_form_of("b/a.pftrace"), TRACE_PERFETTO);
    ck_assert_int_eq((int)trace_form_of(".csv"), TRACE_FORMS);
    ck_assert_int_eq((int)trace_form_of("a.txt"), TRACE_FORMS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files of a trace");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, enter, leave);
    tcase_add_test(all, all_that_was_noted_is_read);
    tcase_add_test(all, what_a_killed_process_had_noted_is_read);
    tcase_add_test(all, a_file_that_cannot_grow_is_told_of);
    tcase_add_test(all, a_folder_that_is_not_there_is_told_of);
    tcase_add_test(all, other_files_are_refused);
    tcase_add_test(all, a_trace_is_made_of_the_files);
    tcase_add_test(all, without_the_first_file_there_is_no_trace);
    tcase_add_test(all, the_ending_says_the_form);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
