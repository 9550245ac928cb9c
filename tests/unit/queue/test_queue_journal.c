/* SPDX-License-Identifier: MIT */
/* The queue's journal: what a later set finds, wherever the earlier one has ended, and how long its file gets. */
#include "common/config/submission.h"
#include "supermaster/queue.h"
#include "supermaster/set/queue_format.h"
#include "supermaster/set/queue_journal.h"
#include "tests/lib/scratch.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/hdss-test-queue-XXXXXX";
static struct queue queue;
static struct queue_journal *journal;
static struct error error;

static void open_journal(bool resume)
{
    queue_init(&queue, 2);
    journal = queue_journal_open("queue", resume, &queue, 1000, &error);
}

static void close_journal(void)
{
    queue_journal_close(journal);
    queue_check(&queue);
    queue_fini(&queue);
    journal = NULL;
}

static void set_up(void)
{
    scratch_enter(folder);
    error = (struct error){0};
    open_journal(false);
    ck_assert_msg(journal != NULL, "%s", error.text);
}

static void tear_down(void)
{
    close_journal();
    scratch_leave(folder);
}

static void commit(void)
{
    ck_assert_msg(queue_journal_commit(journal, true, &error) == 0, "%s", error.text);
    ck_assert(!queue_journal_is_due(journal));
}

static struct queue_job *submit_one(uint32_t after, bool is_open)
{
    struct submission submission = {.weight = 1, .umask = 022, .folder = strdup("/a"), .word_count = 1};
    submission.words = (char **)calloc(2, sizeof *submission.words);
    submission.words[0] = strdup("k");
    submission.environment = (char **)calloc(2, sizeof *submission.environment);
    submission.environment[submission.environment_count++] = strdup("A=b");
    submission.after = calloc(1, sizeof *submission.after);
    submission.after_count = after > 0;
    submission.after[0] = after;
    submission.is_open = is_open;
    struct queue_job *job = queue_submit(&queue, &submission, 10, &error);
    ck_assert_msg(job != NULL, "%s", error.text);
    queue_journal_submitted(journal, job);
    return job;
}

static struct queue_job *submit(uint32_t after)
{
    return submit_one(after, false);
}

static void begin(uint32_t id)
{
    struct queue_job *job = queue_next(&queue);
    ck_assert_uint_eq(job != NULL ? job->id : 0, id);
    if (job == NULL)
        return;
    queue_begun(&queue, job, 20);
    queue_journal_begun(journal, job);
}

static void over(uint32_t id, int status)
{
    struct queue_job *job = queue_find(&queue, id);
    if (queue_over(&queue, job, status, 30))
        queue_journal_over(journal, job);
}

static void cancel(uint32_t id)
{
    struct queue_job *job = queue_find(&queue, id);
    queue_cancel(&queue, job, 40);
    queue_journal_cancelled(journal, job);
}

/* The set is killed, and begun again. */
static void restart(void)
{
    close_journal();
    open_journal(true);
    ck_assert_msg(journal != NULL, "%s", error.text);
    queue_check(&queue);
}

static off_t file_size(void)
{
    struct stat status;
    ck_assert_int_eq(stat("queue", &status), 0);
    return status.st_size;
}

START_TEST(a_later_set_knows_how_far_a_job_came)
{
    struct queue_figures figures = {.done = 7,
                                    .total = UINT64_C(1) << 63,
                                    .resumed = 3,
                                    .failed = 2,
                                    .elapsed_s = 1.5,
                                    .texts = {[QUEUE_TECHNIQUE] = "gss,2", [QUEUE_OUTPUT] = "exec-1.out"}};
    char long_name[QUEUE_FIGURE_TEXT + 1];
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    submit(0);
    submit(0);
    submit(0);
    begin(1);
    begin(2);
    queue_keep_figures(queue_find(&queue, 1), &figures);
    queue_keep_text(queue_find(&queue, 1), QUEUE_REASON, "no room");
    over(1, EXIT_STATUS_FAILED);
    figures = (struct queue_figures){.texts = {[QUEUE_TECHNIQUE] = long_name}};
    queue_keep_figures(queue_find(&queue, 2), &figures);
    over(2, EXIT_STATUS_DONE);
    cancel(3);
    commit();
    for (unsigned times = 0; times < 2; times++) { /* from what was told, and from what was written anew */
        restart();
        const struct queue_figures *known = &queue_find(&queue, 1)->figures;
        ck_assert(known->done == 7 && known->total == UINT64_C(1) << 63 && known->resumed == 3 && known->failed == 2);
        ck_assert_double_eq(known->elapsed_s, 1.5);
        ck_assert_str_eq(known->texts[QUEUE_TECHNIQUE], "gss,2");
        ck_assert_str_eq(known->texts[QUEUE_OUTPUT], "exec-1.out");
        ck_assert_str_eq(known->texts[QUEUE_REASON], "no room");
        known = &queue_find(&queue, 2)->figures;
        ck_assert_uint_eq(strlen(known->texts[QUEUE_TECHNIQUE]), QUEUE_FIGURE_TEXT - 1);
        ck_assert_ptr_null(known->texts[QUEUE_REASON]);
        ck_assert_ptr_null(queue_find(&queue, 3)->figures.texts[QUEUE_TECHNIQUE]);
    }
}
END_TEST

static void give(uint32_t id, uint64_t count, uint64_t bytes, bool is_complete)
{
    struct queue_job *job = queue_find(&queue, id);
    queue_set_items(&queue, job, &(struct queue_items){count, bytes, is_complete});
    queue_journal_items(journal, job);
}

START_TEST(a_later_set_knows_what_was_added)
{
    for (unsigned i = 0; i < 4; i++)
        submit_one(0, true);
    begin(1);
    give(1, UINT64_C(1) << 39, 0, false);
    give(2, 7, 100, false);
    give(3, 7, 100, true);
    give(2, 5, 80, false); /* the disk did not take the others */
    cancel(4);
    commit();
    for (unsigned times = 0; times < 2; times++) { /* from what was told, and from what was written anew */
        restart();
        ck_assert_uint_eq(queue.open, 2);
        ck_assert(queue_is_open(queue_find(&queue, 1)) && queue_find(&queue, 1)->has_run);
        ck_assert_uint_eq(queue_find(&queue, 1)->items.count, UINT64_C(1) << 39);
        ck_assert(queue_is_open(queue_find(&queue, 2)) && !queue_is_open(queue_find(&queue, 3)));
        ck_assert(queue_find(&queue, 2)->items.count == 5 && queue_find(&queue, 2)->items.bytes == 80);
        ck_assert(queue_find(&queue, 3)->items.count == 7 && queue_find(&queue, 3)->items.is_complete);
    }
}
END_TEST

START_TEST(a_later_set_goes_on)
{
    for (unsigned i = 0; i < 3; i++)
        submit(0);
    submit(1);
    submit(2);
    submit(3);
    begin(1);
    begin(2);
    over(1, EXIT_STATUS_DONE);
    over(2, EXIT_STATUS_FAILED); /* and 5 is cancelled */
    begin(3);
    begin(4);
    cancel(4);
    commit();
    submit(0); /* which nobody was told of */
    for (unsigned times = 0; times < 2; times++) {
        restart();
        ck_assert_uint_eq(queue.newest, 6);
        ck_assert_int_eq(queue_find(&queue, 1)->state, QUEUE_DONE);
        ck_assert_int_eq(queue_find(&queue, 2)->status, EXIT_STATUS_FAILED);
        ck_assert_int_eq(queue_find(&queue, 2)->ended_s, 30);
        ck_assert_int_eq(queue_find(&queue, 5)->state, QUEUE_CANCELLED);
        ck_assert_uint_eq(queue_find(&queue, 5)->cancelled_by, 2);
        ck_assert_int_eq(queue_find(&queue, 4)->state, QUEUE_CANCELLED);
        const struct queue_job *job = queue_next(&queue);
        ck_assert_uint_eq(job->id, 3);
        ck_assert(job->has_run && job->submitted_s == 10 && job->began_s == 20);
        ck_assert_str_eq(job->submission.environment[0], "A=b");
        ck_assert_str_eq(job->submission.folder, "/a");
        ck_assert_uint_eq(queue.waiting, 2);
    }
    begin(3);
    over(3, EXIT_STATUS_DONE);
    begin(6);
    commit();
    restart();
    ck_assert(queue_find(&queue, 6)->has_run && queue.waiting == 1);
}
END_TEST

START_TEST(numbers_are_given_once)
{
    for (unsigned i = 0; i < QUEUE_ENDED_MAX + 10; i++) {
        submit(0);
        begin(queue.newest);
        over(queue.newest, EXIT_STATUS_DONE);
    }
    commit();
    const uint32_t newest = queue.newest;
    restart();
    restart();
    ck_assert_uint_eq(submit(0)->id, newest + 1);
}
END_TEST

START_TEST(a_stopped_set_leaves_its_jobs)
{
    submit(0);
    submit(0);
    begin(1);
    queue_stop(&queue);
    over(1, EXIT_STATUS_DRAINED);
    commit();
    restart();
    ck_assert(queue_find(&queue, 1)->has_run && queue_find(&queue, 1)->state == QUEUE_WAITING);
    ck_assert(!queue_find(&queue, 2)->has_run && queue.waiting == 2);
}
END_TEST

START_TEST(no_job_is_forgotten_by_mistake)
{
    submit(0);
    commit();
    queue_journal_close(journal);
    queue_fini(&queue);
    open_journal(false);
    ck_assert_ptr_null(journal);
    ck_assert_str_eq(error.text, "queue: has 1 job that is not over; --resume goes on with it, --forget drops it");
    queue_fini(&queue);
    open_journal(true);
    begin(1);
    over(1, EXIT_STATUS_DONE);
    commit();
    close_journal();
    open_journal(false);
    ck_assert_ptr_nonnull(journal);
    ck_assert_uint_eq(queue.newest, 1);
}
END_TEST

START_TEST(two_sets_do_not_write_it)
{
    struct queue other;
    queue_init(&other, 1);
    ck_assert_ptr_null(queue_journal_open("queue", true, &other, 0, &error));
    ck_assert_msg(strstr(error.text, "another set is writing it") != NULL, "%s", error.text);
    queue_fini(&other);
}
END_TEST

/* Runs once as a set waits for the other's lock. */
static void (*while_waiting)(void);

int nanosleep(const struct timespec *time, struct timespec *rest)
{
    void (*run)(void) = while_waiting;
    while_waiting = NULL;
    if (run != NULL)
        run();
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

static void submit_and_end(void)
{
    submit(0);
    commit();
    close_journal();
}

static void submit_end_and_remove(void)
{
    submit_and_end();
    unlink("queue");
}

/* What the other set has written meanwhile is read, too, and what has been removed is not there. */
START_TEST(a_set_that_ends_is_waited_for)
{
    struct queue other;
    queue_init(&other, 1);
    while_waiting = _i == 0 ? submit_and_end : submit_end_and_remove;
    submit(0);
    commit();
    struct queue_journal *second = queue_journal_open("queue", true, &other, 0, &error);
    ck_assert_msg(second != NULL, "%s", error.text);
    ck_assert_uint_eq(other.newest, _i == 0 ? 2 : 0);
    queue_journal_close(second);
    queue_fini(&other);
    open_journal(true);
}
END_TEST

START_TEST(a_torn_end_is_told_and_kept_aside)
{
    submit(0);
    commit();
    const off_t whole = file_size();
    submit(0);
    commit();
    ck_assert_int_eq(truncate("queue", whole + 5), 0);
    queue_journal_close(journal);
    queue_fini(&queue);
    open_journal(false);
    ck_assert_ptr_null(journal);
    ck_assert_msg(strstr(error.text, "--resume") != NULL, "%s", error.text);
    queue_fini(&queue);
    open_journal(true);
    ck_assert_ptr_nonnull(journal);
    char line[ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "queue: damaged at byte %lld: 1 record or more is lost; 1 job is known; the damaged file is kept as "
             "queue.damaged-1",
             (long long)whole);
    ck_assert_str_eq(queue_journal_warning(journal), line);
    ck_assert_int_eq(file_size(), whole);
    ck_assert_int_eq(access("queue.damaged-1", F_OK), 0);
    ck_assert_uint_eq(queue.newest, 1); /* what is torn was told to nobody */
}
END_TEST

START_TEST(nonsense_is_refused)
{
    static const char *const files[] = {"", "HDSSQUEU", "something else, which is longer than a head"};
    static const char *const complaints[] = {"is not the journal of a queue",
                                             "is torn or corrupted at its beginning, and no job of it is left",
                                             "is not the journal of a queue"};
    close_journal();
    for (size_t i = 0; i < 3; i++) {
        FILE *file = fopen("queue", "w");
        fputs(files[i], file);
        fclose(file);
        open_journal(true);
        ck_assert_ptr_null(journal);
        ck_assert_msg(strstr(error.text, complaints[i]) != NULL, "%s", error.text);
    }
}
END_TEST

START_TEST(the_file_stays_short)
{
    off_t longest = 0;
    for (unsigned i = 0; i < 100000; i++) {
        submit(0);
        begin(queue.newest);
        over(queue.newest, EXIT_STATUS_DONE);
        if (i % 100 == 0) {
            ck_assert_int_eq(queue_journal_commit(journal, false, &error), 0);
            longest = file_size() > longest ? file_size() : longest;
        }
    }
    ck_assert_int_lt(longest, QUEUE_JOURNAL_LEAST + 50000);
    submit(0);
    commit();
    restart();
    ck_assert_uint_eq(queue.newest, 100001);
    ck_assert_uint_eq(queue.waiting, 1);
}
END_TEST

/* As where the disk is full: what was noted is in the file once there is room. */
START_TEST(a_failed_write_loses_nothing)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit all;
    getrlimit(RLIMIT_FSIZE, &all);
    signal(SIGXFSZ, SIG_IGN);
    submit(0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    const int result = queue_journal_commit(journal, true, &error), again = queue_journal_commit(journal, true, &error);
    submit(0);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){all.rlim_max, all.rlim_max});
    ck_assert_int_eq(result, -1);
    ck_assert_int_eq(again, -1);
    ck_assert_msg(strstr(error.text, "queue: cannot write: File too large") != NULL, "%s", error.text);
    ck_assert(queue_journal_is_due(journal));
    commit();
    restart();
    ck_assert_uint_eq(queue.waiting, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue-journal");
    TCase *tcase = tcase_create("journal");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_later_set_goes_on);
    tcase_add_test(tcase, a_later_set_knows_how_far_a_job_came);
    tcase_add_test(tcase, a_later_set_knows_what_was_added);
    tcase_add_test(tcase, numbers_are_given_once);
    tcase_add_test(tcase, a_stopped_set_leaves_its_jobs);
    tcase_add_test(tcase, no_job_is_forgotten_by_mistake);
    tcase_add_test(tcase, two_sets_do_not_write_it);
    tcase_add_loop_test(tcase, a_set_that_ends_is_waited_for, 0, 2);
    tcase_add_test(tcase, a_torn_end_is_told_and_kept_aside);
    tcase_add_test(tcase, nonsense_is_refused);
    tcase_add_test(tcase, the_file_stays_short);
    tcase_add_test(tcase, a_failed_write_loses_nothing);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
