/* SPDX-License-Identifier: MIT */
/* The metrics in a file: the first text, later ones, the last one; whole for whoever reads it; what cannot be written
 * at the start, and what cannot be written later on. */
#include "common/control/metrics_file.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_ROOM 16384
/* Turns of a millisecond, for which a busy disk is waited. */
#define TURNS_MAX 30000

static char folder[] = "/tmp/hdss-test-metrics-XXXXXX";
static struct event_base *base;
static uint64_t done;
static unsigned warnings;
static struct error warned;

static void tell(void *context, struct control_job *job)
{
    (void)context;
    job->kernel = "k";
    job->technique = "ss";
    job->topology = "central";
    job->state = CONTROL_RUNNING;
    job->progress = (struct progress){.done = done, .total = 10, .busy = 3, .elapsed_s = 1};
}

static void warn(void *context, const char *line)
{
    (void)context;
    warnings++;
    error_set(&warned, "%s", line);
}

static const struct control_source source = {.tell = tell, .masters = 1, .workers = 3};

static struct metrics_file *open_at(const char *path, struct error *error)
{
    const struct metrics_file_setup setup = {
        .base = base, .path = path, .every_ms = 1, .version = "1.2.3", .source = &source, .warn = warn};
    return metrics_file_new(&setup, error);
}

static void set_up(void)
{
    scratch_enter(folder);
    ck_assert_int_eq(mkdir("m", 0755), 0);
    base = event_base_new();
    done = 4;
    warnings = 0;
}

static void tear_down(void)
{
    event_base_free(base);
    scratch_leave(folder);
}

/* The file's text; empty where there is none. */
static const char *read_text(const char *path)
{
    static char text[TEXT_ROOM];
    const int fd = open(path, O_RDONLY);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static bool has_done(const char *path, unsigned number)
{
    char line[96];
    snprintf(line, sizeof line, "\nhdss_job_iterations_done_total{session=\"run-%d\",job_id=\"1\"} %u\n", (int)getpid(),
             number);
    return strstr(read_text(path), line) != NULL;
}

/* Lets the timer of the file expire until the thread has written so. */
static void wait_for_text(const char *path, unsigned number)
{
    for (int turns = 0; turns < TURNS_MAX && !has_done(path, number); turns++)
        event_base_loop(base, EVLOOP_ONCE);
    ck_assert(has_done(path, number));
}

START_TEST(it_is_written_again_and_at_the_end)
{
    struct error error;
    struct stat status;
    const mode_t mask = umask(0077);
    struct metrics_file *file = open_at("m/a.prom", &error);
    ck_assert_ptr_nonnull(file);
    ck_assert(has_done("m/a.prom", 4));
    ck_assert_int_eq(stat("m/a.prom", &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0644); /* the collector is another user */
    ck_assert_int_eq(access("m/a.prom.tmp", F_OK), -1);
    done = 7;
    wait_for_text("m/a.prom", 7);
    ck_assert_ptr_null(strstr(read_text("m/a.prom"), "hdss_end_time_seconds{"));
    done = 10;
    metrics_file_free(file, EXIT_STATUS_DONE);
    umask(mask);
    const char *text = read_text("m/a.prom");
    ck_assert(has_done("m/a.prom", 10));
    ck_assert_ptr_nonnull(strstr(text, "\nhdss_end_time_seconds{"));
    ck_assert_ptr_nonnull(strstr(text, ",state=\"done\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(text, ",state=\"running\"} 0\n"));
    const char *busy = strstr(text, "\nhdss_job_workers_busy{");
    ck_assert_ptr_nonnull(busy);
    ck_assert_msg(strncmp(strchr(busy, '}'), "} 0\n", 4) == 0, "%s", busy);
    ck_assert_uint_eq(warnings, 0);
}
END_TEST

START_TEST(a_reader_keeps_a_whole_text)
{
    struct error error;
    struct metrics_file *file = open_at("m/a.prom", &error);
    const int reader = open("m/a.prom", O_RDONLY);
    const off_t before = lseek(reader, 0, SEEK_END);
    done = 9;
    wait_for_text("m/a.prom", 9);
    ck_assert_int_eq(lseek(reader, 0, SEEK_END), before); /* another file has its name now */
    struct stat old, new;
    ck_assert_int_eq(fstat(reader, &old), 0);
    ck_assert_int_eq(stat("m/a.prom", &new), 0);
    ck_assert_uint_ne(old.st_ino, new.st_ino);
    close(reader);
    metrics_file_free(file, EXIT_STATUS_FAILED);
    ck_assert_ptr_nonnull(strstr(read_text("m/a.prom"), ",state=\"failed\"} 1\n"));
}
END_TEST

START_TEST(it_stays_where_it_was_asked_for)
{
    struct error error;
    struct metrics_file *file = open_at("m/a.prom", &error);
    ck_assert_int_eq(chdir("m"), 0);
    metrics_file_free(file, EXIT_STATUS_DONE);
    ck_assert(has_done("a.prom", 4));
    ck_assert_ptr_nonnull(strstr(read_text("a.prom"), "\nhdss_end_time_seconds{"));
    ck_assert_int_eq(chdir(".."), 0);
}
END_TEST

static void check_refused(const char *path, const char *part)
{
    struct error error;
    ck_assert_ptr_null(open_at(path, &error));
    ck_assert_msg(strstr(error.text, part) != NULL, "%s", error.text);
}

START_TEST(what_cannot_be_written_is_refused)
{
    check_refused("nowhere/a.prom", "nowhere");
    check_refused("m", "it is a folder");
    ck_assert_int_eq(mkdir("m/a.prom.tmp", 0755), 0); /* nothing can be made under that name */
    check_refused("m/a.prom", "m/a.prom: ");
    ck_assert_int_eq(rmdir("m/a.prom.tmp"), 0);
}
END_TEST

START_TEST(what_cannot_be_written_later_is_said_once)
{
    struct error error;
    struct metrics_file *file = open_at("m/a.prom", &error);
    ck_assert_int_eq(rename("m", "n"), 0);
    for (int turns = 0; turns < TURNS_MAX && warnings == 0; turns++)
        event_base_loop(base, EVLOOP_ONCE);
    for (int turns = 0; turns < 20; turns++)
        event_base_loop(base, EVLOOP_ONCE);
    ck_assert_uint_eq(warnings, 1);
    ck_assert_msg(strstr(warned.text, "the run goes on") != NULL, "%s", warned.text);
    ck_assert_msg(strncmp(warned.text, "--metrics-file: ", 16) == 0, "%s", warned.text);
    done = 6;
    ck_assert_int_eq(rename("n", "m"), 0);
    wait_for_text("m/a.prom", 6);
    metrics_file_free(file, EXIT_STATUS_DONE);
    ck_assert_uint_eq(warnings, 1);
}
END_TEST

START_TEST(another_ending_is_warned_of)
{
    struct error error;
    struct metrics_file *file = open_at("m/a.txt", &error);
    ck_assert_uint_eq(warnings, 1);
    ck_assert_msg(strstr(warned.text, ".prom") != NULL, "%s", warned.text);
    metrics_file_free(file, EXIT_STATUS_DONE);
    ck_assert(has_done("m/a.txt", 4));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics file");
    TCase *tests = tcase_create("metrics file");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, it_is_written_again_and_at_the_end);
    tcase_add_test(tests, a_reader_keeps_a_whole_text);
    tcase_add_test(tests, it_stays_where_it_was_asked_for);
    tcase_add_test(tests, what_cannot_be_written_is_refused);
    tcase_add_test(tests, what_cannot_be_written_later_is_said_once);
    tcase_add_test(tests, another_ending_is_warned_of);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
