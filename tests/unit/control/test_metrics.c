/* SPDX-License-Identifier: MIT */
/* Metrics as text: both formats, labels that must be escaped, and samples that are absent. */
#include "common/control/metrics_text.h"
#include "tests/lib/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct control_session session = {.kind = "set", .name = "a", .version = "1.2.3", .started = 17};

static char *text_of(const struct control_job *jobs, size_t count, enum metrics_format format)
{
    const struct metrics metrics = {.session = &session,
                                    .counts = {.waiting = 1, .running = 2, .done = 3, .failed = 4, .cancelled = 5},
                                    .masters = 6,
                                    .workers = 7,
                                    .jobs = jobs,
                                    .job_count = count};
    char *text = metrics_text(&metrics, format);
    ck_assert_ptr_nonnull(text);
    return text;
}

static void has_line(const char *text, const char *line)
{
    const size_t length = strlen(line);
    const char *found = text;
    while (found != NULL && (strncmp(found, line, length) != 0 || found[length] != '\n')) {
        found = strchr(found, '\n');
        found = found != NULL ? found + 1 : NULL;
    }
    ck_assert_msg(found != NULL, "no line '%s' in\n%s", line, text);
}

START_TEST(a_session_is_told)
{
    char *text = text_of(NULL, 0, METRICS_PROMETHEUS);
    has_line(text, "hdss_info{session=\"a\",kind=\"set\",name=\"a\",version=\"1.2.3\"} 1");
    has_line(text, "# TYPE hdss_info gauge");
    has_line(text, "hdss_start_time_seconds{session=\"a\"} 17");
    has_line(text, "hdss_masters{session=\"a\"} 6");
    has_line(text, "hdss_workers{session=\"a\"} 7");
    ck_assert_ptr_null(strstr(text, "hdss_end_time_seconds"));
    has_line(text, "hdss_jobs{session=\"a\",state=\"waiting\"} 1");
    has_line(text, "hdss_jobs{session=\"a\",state=\"running\"} 2");
    has_line(text, "# TYPE hdss_jobs_ended_total counter");
    has_line(text, "hdss_jobs_ended_total{session=\"a\",state=\"done\"} 3");
    has_line(text, "hdss_jobs_ended_total{session=\"a\",state=\"failed\"} 4");
    has_line(text, "hdss_jobs_ended_total{session=\"a\",state=\"cancelled\"} 5");
    ck_assert_ptr_null(strstr(text, "# EOF"));
    free(text);
}
END_TEST

START_TEST(openmetrics_names_families_without_their_ending)
{
    char *text = text_of(NULL, 0, METRICS_OPEN);
    has_line(text, "# TYPE hdss info");
    has_line(text, "# TYPE hdss_jobs_ended counter");
    has_line(text, "# UNIT hdss_start_time_seconds seconds");
    has_line(text, "hdss_jobs_ended_total{session=\"a\",state=\"done\"} 3");
    ck_assert_str_eq(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
    free(text);
}
END_TEST

START_TEST(jobs_are_told)
{
    const struct control_job jobs[] = {
        {.id = 3,
         .name = "n",
         .kernel = "k",
         .technique = "ss",
         .topology = "central",
         .state = CONTROL_RUNNING,
         .status = -1,
         .failed = 1,
         .counts = {.free = 40,
                    .chunks = 12,
                    .refills = 5,
                    .recalls = 3,
                    .reissued = 2,
                    .messages_sent = 99,
                    .bytes_sent = 12345},
         .progress = {.done = 30, .total = 90, .resumed = 10, .elapsed_s = 2.5, .busy = 2, .workers = 4, .lost = 1}},
        {.id = 4,
         .kernel = "g",
         .technique = "",
         .topology = "central",
         .status = -1,
         .progress = {.total = 5, .grows = true}},
    };
    char *text = text_of(jobs, 2, METRICS_PROMETHEUS);
    has_line(text, "hdss_job_info{session=\"a\",job_id=\"3\",name=\"n\",kernel=\"k\",technique=\"ss\",topology="
                   "\"central\",state=\"running\"} 1");
    has_line(text, "hdss_job_iterations{session=\"a\",job_id=\"3\"} 90");
    has_line(text, "hdss_job_iterations_done_total{session=\"a\",job_id=\"3\"} 30");
    has_line(text, "hdss_job_iterations_resumed{session=\"a\",job_id=\"3\"} 10");
    has_line(text, "hdss_job_iterations_failed_total{session=\"a\",job_id=\"3\"} 1");
    has_line(text, "hdss_job_elapsed_seconds{session=\"a\",job_id=\"3\"} 2.5");
    has_line(text, "hdss_job_remaining_seconds{session=\"a\",job_id=\"3\"} 7.5");
    has_line(text, "hdss_job_workers_busy{session=\"a\",job_id=\"3\"} 2");
    has_line(text, "hdss_job_ranks_lost_total{session=\"a\",job_id=\"3\"} 1");
    has_line(text, "hdss_job_iterations_free{session=\"a\",job_id=\"3\"} 40");
    has_line(text, "hdss_job_chunks_total{session=\"a\",job_id=\"3\"} 12");
    has_line(text, "hdss_job_chunks_reissued_total{session=\"a\",job_id=\"3\"} 2");
    has_line(text, "hdss_job_refills_total{session=\"a\",job_id=\"3\"} 5");
    has_line(text, "hdss_job_recalls_total{session=\"a\",job_id=\"3\"} 3");
    has_line(text, "hdss_job_supermaster_messages_sent_total{session=\"a\",job_id=\"3\"} 99");
    has_line(text, "hdss_job_supermaster_sent_bytes_total{session=\"a\",job_id=\"3\"} 12345");
    has_line(text, "hdss_job_iterations_done_total{session=\"a\",job_id=\"4\"} 0");
    ck_assert_ptr_null(strstr(text, "hdss_job_iterations{session=\"a\",job_id=\"4\"}"));
    ck_assert_ptr_null(strstr(text, "hdss_job_remaining_seconds{session=\"a\",job_id=\"4\"}"));
    ck_assert_ptr_null(strstr(text, "job=\"")); /* labels that Prometheus gives itself */
    ck_assert_ptr_null(strstr(text, "instance=\""));
    free(text);
}
END_TEST

START_TEST(the_end_is_told)
{
    const struct control_session over = {.kind = "run", .name = "b", .version = "1.2.3", .started = 17, .ended = 42};
    const struct metrics metrics = {.session = &over};
    char *text = metrics_text(&metrics, METRICS_OPEN);
    ck_assert_ptr_nonnull(text);
    has_line(text, "# UNIT hdss_end_time_seconds seconds");
    has_line(text, "hdss_end_time_seconds{session=\"b\"} 42");
    free(text);
}
END_TEST

START_TEST(labels_are_escaped)
{
    char name[301];
    memset(name, 'x', 300);
    name[300] = '\0';
    memcpy(name, "a\"b\\c\nd\xc3\xa9", 9);
    memcpy(name + 255, "\xc3\xa9", 2); /* would be cut in two */
    const struct control_job jobs[] = {
        {.id = 1, .name = name, .kernel = "\xff\x7f", .technique = "", .topology = "central", .status = -1}};
    char *text = text_of(jobs, 1, METRICS_PROMETHEUS);
    const char *info = strstr(text, "hdss_job_info{session=\"a\",job_id=\"1\",name=\"a\\\"b\\\\c?d\xc3\xa9xxx");
    ck_assert_msg(info != NULL, "%s", text);
    const char *kernel = strstr(info, ",kernel=\"?"
                                      "?\",");
    ck_assert_ptr_nonnull(kernel);
    ck_assert_int_eq(kernel[-2], 'x');
    free(text);
}
END_TEST

START_TEST(the_client_chooses)
{
    ck_assert_int_eq(metrics_wanted(NULL), METRICS_PROMETHEUS);
    ck_assert_int_eq(metrics_wanted("*/*"), METRICS_PROMETHEUS);
    ck_assert_int_eq(metrics_wanted("application/openmetrics-text;version=1.0.0,text/plain;q=0.3"), METRICS_OPEN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tests = tcase_create("metrics");
    tcase_add_test(tests, a_session_is_told);
    tcase_add_test(tests, openmetrics_names_families_without_their_ending);
    tcase_add_test(tests, jobs_are_told);
    tcase_add_test(tests, the_end_is_told);
    tcase_add_test(tests, labels_are_escaped);
    tcase_add_test(tests, the_client_chooses);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
