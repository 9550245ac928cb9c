/* SPDX-License-Identifier: MIT */
/* The queue of a set: order, jobs that are after others, cancels, ends of the set, and what is remembered. */
#include "supermaster/queue.h"
#include "tests/lib/suite.h"

#include <string.h>

static struct queue queue;
static struct error error;

static void set_up(void)
{
    queue_init(&queue, 2);
    error = (struct error){0};
}

static void tear_down(void)
{
    queue_check(&queue);
    queue_fini(&queue);
}

/* A submission after `count` others. */
static struct submission job_after(int priority, size_t count, const uint32_t *after)
{
    struct submission submission = {.priority = priority, .weight = 1, .after_count = count};
    submission.environment = calloc(2, sizeof *submission.environment);
    submission.environment[submission.environment_count++] = strdup("A=b");
    submission.after = malloc((count + 1) * sizeof *after);
    if (count > 0)
        memcpy(submission.after, after, count * sizeof *after);
    return submission;
}

static struct queue_job *submit_after(int priority, size_t count, const uint32_t *after)
{
    struct submission submission = job_after(priority, count, after);
    struct queue_job *job = queue_submit(&queue, &submission, 100, &error);
    ck_assert_msg(job != NULL, "%s", error.text);
    ck_assert_ptr_null(submission.environment);
    queue_check(&queue);
    return job;
}

static struct queue_job *submit(int priority)
{
    return submit_after(priority, 0, NULL);
}

/* Begins the next job, which is this one; 0: none. */
static void begin(uint32_t id)
{
    struct queue_job *job = queue_next(&queue);
    ck_assert_uint_eq(job != NULL ? job->id : 0, id);
    ck_assert_ptr_eq(queue_next(&queue), job);
    if (job != NULL)
        queue_begun(&queue, job, 200);
    queue_check(&queue);
}

static void over(uint32_t id, int status)
{
    ck_assert(queue_over(&queue, queue_find(&queue, id), status, 300));
    queue_check(&queue);
}

static void cancel(uint32_t id)
{
    queue_cancel(&queue, queue_find(&queue, id), 400);
    queue_check(&queue);
}

static enum queue_state state_of(uint32_t id)
{
    return queue_find(&queue, id)->state;
}

START_TEST(priority_then_number)
{
    const struct queue_job *first = submit(0);
    submit(0);
    submit(5);
    submit(-5);
    ck_assert_uint_eq(first->id, 1);
    ck_assert_int_eq(first->submitted_s, 100);
    begin(3);
    begin(1);
    begin(0); /* two at once */
    ck_assert_int_eq(first->began_s, 200);
    over(3, EXIT_STATUS_DONE);
    ck_assert_int_eq(state_of(3), QUEUE_DONE);
    ck_assert_int_eq(queue_find(&queue, 3)->ended_s, 300);
    ck_assert_ptr_null(queue_find(&queue, 3)->submission.environment);
    begin(2);
    over(1, EXIT_STATUS_TASKS);
    ck_assert_int_eq(state_of(1), QUEUE_FAILED);
    begin(4);
    over(2, EXIT_STATUS_DRAINED);
    ck_assert_int_eq(state_of(2), QUEUE_CANCELLED);
    over(4, EXIT_STATUS_DONE);
    ck_assert(queue_is_idle(&queue) && !queue_is_over(&queue));
}
END_TEST

START_TEST(a_job_begins_after_others)
{
    submit(0);
    submit(0);
    submit_after(9, 3, (const uint32_t[]){1, 2, 1});
    submit_after(9, 1, (const uint32_t[]){3});
    begin(1);
    over(1, EXIT_STATUS_DONE);
    begin(2);
    begin(0);
    over(2, EXIT_STATUS_DONE);
    begin(3);
    begin(0);
    over(3, EXIT_STATUS_DONE);
    submit_after(0, 2, (const uint32_t[]){1, 2}); /* which are done */
    begin(4);
    begin(5);
}
END_TEST

/* A chain that a recursion would not get through. */
START_TEST(what_is_after_a_failure_is_cancelled)
{
    enum { CHAIN = 200000 };
    submit(0);
    submit(0);
    for (uint32_t id = 1; id < CHAIN; id++) {
        const uint32_t after[] = {id == 1 ? 1 : id + 1, 2};
        struct submission submission = job_after(0, 2, after);
        ck_assert_ptr_nonnull(queue_submit(&queue, &submission, 0, &error));
    }
    begin(1);
    begin(2);
    ck_assert(queue_over(&queue, queue_find(&queue, 1), EXIT_STATUS_FAILED, 300));
    ck_assert_int_eq(state_of(3), QUEUE_CANCELLED);
    ck_assert_uint_eq(queue_find(&queue, 3)->cancelled_by, 1);
    ck_assert_uint_eq(queue_find(&queue, CHAIN)->cancelled_by, CHAIN - 1);
    ck_assert_int_eq(queue_find(&queue, CHAIN)->status, EXIT_STATUS_DRAINED);
    ck_assert_uint_eq(queue.waiting, 0);
    submit_after(0, 1, (const uint32_t[]){CHAIN});
    ck_assert_int_eq(state_of(CHAIN + 2), QUEUE_CANCELLED);
    ck_assert_ptr_null(queue_find(&queue, 3)); /* forgotten, though job 2 knows it */
    over(2, EXIT_STATUS_DONE);
    ck_assert(queue_is_idle(&queue));
}
END_TEST

START_TEST(cancels)
{
    submit(0);
    submit(0);
    submit_after(0, 1, (const uint32_t[]){2});
    begin(1);
    cancel(1);
    cancel(1);
    ck_assert_int_eq(state_of(1), QUEUE_RUNNING);
    ck_assert(queue_find(&queue, 1)->is_cancelled);
    cancel(2);
    ck_assert_int_eq(state_of(2), QUEUE_CANCELLED);
    ck_assert_int_eq(state_of(3), QUEUE_CANCELLED);
    ck_assert_uint_eq(queue_find(&queue, 3)->cancelled_by, 2);
    begin(0);
    over(1, EXIT_STATUS_DONE); /* it was faster */
    cancel(1);
    ck_assert_int_eq(state_of(1), QUEUE_DONE);
    for (unsigned i = 0; i < 1000; i++) { /* what is stale does not fill the heap */
        submit(-1);
        cancel(queue.newest);
    }
    ck_assert_uint_le(queue.ready_room, 16);
}
END_TEST

START_TEST(a_closed_set_ends_with_its_last_job)
{
    struct submission submission = job_after(0, 0, NULL);
    submit(0);
    submit_after(0, 1, (const uint32_t[]){1});
    queue_close(&queue);
    ck_assert_ptr_null(queue_submit(&queue, &submission, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "takes no further jobs"));
    ck_assert_ptr_nonnull(submission.environment);
    submission_fini(&submission);
    begin(1);
    over(1, EXIT_STATUS_DONE);
    ck_assert(!queue_is_over(&queue));
    begin(2);
    over(2, EXIT_STATUS_DONE);
    ck_assert(queue_is_over(&queue));
}
END_TEST

START_TEST(a_stopped_set_keeps_what_is_not_done)
{
    submit(0);
    submit(0);
    submit(0);
    begin(1);
    begin(2);
    cancel(2);
    queue_stop(&queue);
    begin(0);
    ck_assert(!queue_over(&queue, queue_find(&queue, 1), EXIT_STATUS_DRAINED, 300));
    ck_assert(!queue_is_over(&queue));
    over(2, EXIT_STATUS_DRAINED);
    ck_assert(queue_is_over(&queue) && !queue_is_idle(&queue));
    ck_assert_int_eq(state_of(1), QUEUE_WAITING);
    ck_assert(queue_find(&queue, 1)->has_run && queue_find(&queue, 1)->submission.environment != NULL);
    ck_assert_int_eq(state_of(2), QUEUE_CANCELLED);
    ck_assert_int_eq(state_of(3), QUEUE_WAITING);
}
END_TEST

static struct queue_job *submit_open(int priority)
{
    struct submission submission = job_after(priority, 0, NULL);
    submission.is_open = true;
    struct queue_job *job = queue_submit(&queue, &submission, 100, &error);
    if (job == NULL)
        submission_fini(&submission);
    queue_check(&queue);
    return job;
}

static void complete(struct queue_job *job)
{
    queue_set_items(&queue, job, &(struct queue_items){.count = 3, .is_complete = true});
    queue_check(&queue);
}

START_TEST(an_open_job_takes_no_place)
{
    struct queue_job *open = submit_open(0);
    for (unsigned i = 0; i < 3; i++)
        submit(0);
    begin(1);
    begin(2);
    begin(3);
    begin(0);
    ck_assert(queue_is_open(open));
    struct queue_job *late = submit_open(-1), *later = submit_open(5);
    begin(later->id); /* of those that are open the one of the highest priority, and none of the others */
    begin(late->id);
    begin(0);
    complete(open); /* it takes a place now, of which there are too few */
    ck_assert(!queue_is_open(open));
    over(2, EXIT_STATUS_DONE);
    begin(0);
    over(1, EXIT_STATUS_DONE);
    begin(4);
    queue_cancel(&queue, late, 1);
    ck_assert(!queue_is_open(late) && queue_is_open(later));
    over(late->id, EXIT_STATUS_DRAINED);
    queue_close(&queue);
    ck_assert(!queue_is_over(&queue));
}
END_TEST

START_TEST(so_many_jobs_are_open)
{
    for (unsigned i = 0; i < QUEUE_OPEN_MAX; i++)
        ck_assert_ptr_nonnull(submit_open(0));
    ck_assert(queue_is_full_of_open(&queue));
    ck_assert_ptr_null(submit_open(0));
    ck_assert_msg(strstr(error.text, "64 jobs that are open") != NULL, "%s", error.text);
    submit(0);
    complete(queue_find(&queue, 7));
    ck_assert_ptr_nonnull(submit_open(0));
    queue_set_items(&queue, queue_find(&queue, 7), &(struct queue_items){.count = 1}); /* taken back */
    ck_assert(queue_is_open(queue_find(&queue, 7)));
}
END_TEST

START_TEST(unknown_others_are_refused)
{
    for (unsigned id = 0; id < 3; id += 2) {
        struct submission submission = job_after(0, 1, &id);
        ck_assert_ptr_null(queue_submit(&queue, &submission, 0, &error));
        ck_assert_ptr_nonnull(strstr(error.text, "there is no such job"));
        submission_fini(&submission);
    }
    for (unsigned i = 0; i < QUEUE_ENDED_MAX + 10; i++) {
        submit(0);
        begin(queue.newest);
        over(queue.newest, EXIT_STATUS_DONE);
    }
    struct submission submission = job_after(0, 1, (const uint32_t[]){2});
    ck_assert_ptr_null(queue_submit(&queue, &submission, 0, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "is forgotten"));
    submission_fini(&submission);
    ck_assert_uint_le(queue.ended, QUEUE_ENDED_MAX + 1);
    ck_assert_ptr_nonnull(queue_find(&queue, 11));
}
END_TEST

/* As a journal tells it: numbers that have holes, others that are done and forgotten, and jobs that ran. */
START_TEST(a_restart)
{
    struct submission submissions[] = {job_after(0, 1, (const uint32_t[]){3}), job_after(0, 0, NULL),
                                       job_after(1, 1, (const uint32_t[]){7}), job_after(0, 0, NULL),
                                       job_after(0, 1, (const uint32_t[]){4})};
    queue_begun(&queue, queue_restore(&queue, 4, &submissions[0], 10), 11);
    queue_restore(&queue, 7, &submissions[1], 12);
    queue_restore(&queue, 8, &submissions[2], 12);
    struct queue_job *cancelled = queue_restore(&queue, 9, &submissions[3], 12);
    queue_begun(&queue, cancelled, 13);
    queue_cancel(&queue, cancelled, 13);
    queue_restore_end(&queue, queue_restore(&queue, 10, &submissions[4], 12), EXIT_STATUS_DRAINED, 5, 14);
    struct submission attached = job_after(0, 0, NULL);
    attached.is_attached = true;
    queue_begun(&queue, queue_restore(&queue, 11, &attached, 12), 13);
    queue_restart(&queue, false, 20);
    queue_check(&queue);
    ck_assert_uint_eq(queue.newest, 11);
    ck_assert_int_eq(state_of(9), QUEUE_CANCELLED);
    ck_assert_int_eq(state_of(11), QUEUE_CANCELLED);
    ck_assert_int_eq(state_of(10), QUEUE_CANCELLED);
    ck_assert_uint_eq(queue_find(&queue, 10)->cancelled_by, 5);
    ck_assert(queue_find(&queue, 4)->has_run);
    begin(4);
    begin(7);
    over(7, EXIT_STATUS_DONE);
    begin(8);
    ck_assert_uint_eq(submit(0)->id, 12);
}
END_TEST

/* Of two jobs one takes the supermaster with it each time that it runs. */
START_TEST(a_job_that_takes_three_sets_with_it_is_given_up)
{
    submit(0);
    submit(0);
    for (unsigned losses = 0; losses < 2; losses++) {
        begin(1);
        begin(2);
        queue_restart(&queue, true, 20);
    }
    submit(0);
    begin(1); /* alone now, as each of the two is a suspect */
    ck_assert_ptr_null(queue_next(&queue));
    over(1, EXIT_STATUS_DONE);
    begin(2);
    ck_assert_ptr_null(queue_next(&queue));
    queue_restart(&queue, false, 30); /* a set that was ended is none that was lost */
    begin(2);
    queue_restart(&queue, true, 40);
    queue_check(&queue);
    ck_assert_int_eq(state_of(2), QUEUE_FAILED);
    ck_assert_ptr_nonnull(strstr(queue_find(&queue, 2)->figures.texts[QUEUE_REASON], "it is given up"));
    begin(3);
    over(3, EXIT_STATUS_DONE);
}
END_TEST

static void note_forgotten(void *context, uint32_t id)
{
    ck_assert_uint_eq(queue_find(&queue, id)->id, id);
    *(uint32_t *)context = *(uint32_t *)context * 10 + id;
}

START_TEST(who_is_forgotten_is_told)
{
    uint32_t forgotten = 0;
    queue.ended_max = 1;
    queue.on_forget = note_forgotten;
    queue.context = &forgotten;
    for (uint32_t id = 1; id <= 4; id++) {
        submit(0);
        begin(id);
        over(id, id == 2 ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE);
    }
    ck_assert_uint_eq(forgotten, 12);
    ck_assert_ptr_null(queue_find(&queue, 2));
    submit(0);
    ck_assert_uint_eq(forgotten, 123);
}
END_TEST

/* Nothing is beside it; what is behind it waits as soon as it is the next, what is before it does not. */
START_TEST(a_job_runs_alone)
{
    submit(0);
    begin(1);
    queue_keep_alone(submit(0));
    submit(0);
    begin(0);
    submit(1);
    begin(4);
    over(1, EXIT_STATUS_DONE);
    begin(0);
    over(4, EXIT_STATUS_DONE);
    begin(2);
    submit(2);
    begin(0);
    over(2, EXIT_STATUS_FAILED);
    begin(5);
    begin(3);
}
END_TEST

/* An open job takes no place, and would keep it from its turn for as long as it stays open. */
START_TEST(no_open_job_comes_before_one_that_runs_alone)
{
    submit(0);
    begin(1);
    queue_keep_alone(submit(0));
    submit(1);
    begin(3);
    submit_open(0);
    begin(0);
    submit_open(1);
    begin(5);
}
END_TEST

static enum queue_hold hold(uint32_t id, uint32_t *other)
{
    *other = 0;
    return queue_hold(&queue, queue_find(&queue, id), other);
}

START_TEST(a_waiting_job_says_why)
{
    uint32_t other;
    queue.at_once = 1;
    submit(0);
    submit(0);
    ck_assert_int_eq(hold(2, &other), QUEUE_IN_TURN);
    begin(1);
    ck_assert_int_eq(hold(2, &other), QUEUE_IS_FULL);
    queue_keep_alone(queue_find(&queue, 2));
    submit(0);
    ck_assert_int_eq(hold(2, &other), QUEUE_MUST_ALONE);
    ck_assert_int_eq(hold(3, &other), QUEUE_OTHER_ALONE);
    ck_assert_uint_eq(other, 2);
    over(1, EXIT_STATUS_DONE);
    begin(2);
    ck_assert_int_eq(hold(3, &other), QUEUE_OTHER_ALONE);
    ck_assert_uint_eq(other, 2);
    queue.mode = QUEUE_STOPPED;
    ck_assert_int_eq(hold(3, &other), QUEUE_IS_STOPPED);
}
END_TEST

START_TEST(a_job_that_would_run_alone_is_cancelled)
{
    submit(0);
    begin(1);
    queue_keep_alone(submit(0));
    submit(0);
    cancel(2);
    begin(3);
}
END_TEST

/* Another supermaster does not know of it before it reads the words. */
/* As one that turns out not to be ready. It has its turn once more, however often. */
START_TEST(a_job_is_put_back)
{
    struct queue_job *first = submit(0), *second = submit(0);
    for (unsigned i = 0; i < 20; i++) {
        begin(1);
        begin(2);
        queue_put_back(&queue, i % 2 == 0 ? first : second, false);
        queue_check(&queue);
        ck_assert_ptr_eq(queue_next(&queue), i % 2 == 0 ? first : second);
        queue_put_back(&queue, i % 2 == 0 ? second : first, false);
        queue_check(&queue);
        ck_assert_ptr_eq(queue_next(&queue), first);
        ck_assert(!first->has_run && first->began_s == 0);
    }
    begin(1);
    queue_put_back(&queue, first, false);
    queue_cancel(&queue, first, 300);
    ck_assert_int_eq(first->state, QUEUE_CANCELLED);
    begin(2);
    begin(0);
}
END_TEST

START_TEST(a_job_that_ran_alone_goes_on)
{
    queue_keep_alone(submit(0));
    submit(0);
    begin(1);
    begin(0);
    queue_restart(&queue, false, 20);
    queue_check(&queue);
    begin(1);
    queue_stop(&queue);
    ck_assert(!queue_over(&queue, queue_find(&queue, 1), EXIT_STATUS_DRAINED, 300));
    queue_check(&queue);
    ck_assert_ptr_null(queue.alone);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue");
    TCase *tcase = tcase_create("queue");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, priority_then_number);
    tcase_add_test(tcase, a_job_begins_after_others);
    tcase_add_test(tcase, what_is_after_a_failure_is_cancelled);
    tcase_add_test(tcase, cancels);
    tcase_add_test(tcase, a_closed_set_ends_with_its_last_job);
    tcase_add_test(tcase, a_stopped_set_keeps_what_is_not_done);
    tcase_add_test(tcase, an_open_job_takes_no_place);
    tcase_add_test(tcase, so_many_jobs_are_open);
    tcase_add_test(tcase, unknown_others_are_refused);
    tcase_add_test(tcase, a_restart);
    tcase_add_test(tcase, a_job_that_takes_three_sets_with_it_is_given_up);
    tcase_add_test(tcase, who_is_forgotten_is_told);
    tcase_add_test(tcase, a_job_runs_alone);
    tcase_add_test(tcase, no_open_job_comes_before_one_that_runs_alone);
    tcase_add_test(tcase, a_waiting_job_says_why);
    tcase_add_test(tcase, a_job_that_would_run_alone_is_cancelled);
    tcase_add_test(tcase, a_job_is_put_back);
    tcase_add_test(tcase, a_job_that_ran_alone_goes_on);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
