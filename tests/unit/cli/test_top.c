/* SPDX-License-Identifier: MIT */
/* hdss top: pages of jobs and of one job at 60, 100 and 200 columns, what keys do, and how ranks are summed up. */
#include "deploy/cli/top/page.h"
#include "deploy/cli/top/sum.h"
#include "deploy/cli/top/ui.h"
#include "deploy/cli/top/view.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct top_model model;
static struct top_sum sum;
static struct top_rows rows;
static struct top_ui ui;

static void set_up(void)
{
    model = (struct top_model){0};
    sum = (struct top_sum){0};
    rows = (struct top_rows){0};
    ui = (struct top_ui){0};
}

static void tear_down(void)
{
    top_rows_fini(&rows);
    top_sum_fini(&sum);
    top_model_fini(&model);
}

static json_t *json_of(const char *text)
{
    json_error_t reason;
    json_t *json = json_loads(text, 0, &reason);
    ck_assert_msg(json != NULL, "%s in %s", reason.text, text);
    return json;
}

/* Sums up and lists the rows, as after each look. */
static void arrange(void)
{
    top_rows_fini(&rows);
    top_sum_fini(&sum);
    ck_assert_int_eq(top_sum_init(&sum, &model), 0);
    ck_assert_int_eq(top_rows_make(&rows, &model, &sum, &ui), 0);
    top_ui_settle(&ui, &model, &rows);
}

static void add_session(const char *name, const char *json)
{
    struct top_session *session = top_model_add_session(&model, name, strncmp(name, "run-", 4) != 0);
    json_t *object = json_of(json);
    ck_assert_ptr_nonnull(session);
    top_session_read(session, object);
    json_decref(object);
}

static void add_jobs(const char *session, const char *json)
{
    json_t *array = json_of(json);
    ck_assert_int_eq(top_model_add_jobs(&model, session, "/x.sock", array), 0);
    json_decref(array);
}

static void look_into(const char *session, const char *job, const char *ranks)
{
    json_t *object = json_of(job), *array = json_of(ranks);
    ck_assert_int_eq(top_model_look(&model, session, "/x.sock", object), 0);
    ck_assert_int_eq(top_model_put_ranks(&model, 0, array, true), 0);
    ui.is_inside = true;
    snprintf(ui.job, sizeof ui.job, "%s", top_model_looked(&model)->id);
    json_decref(object);
    json_decref(array);
}

/* The page as text, of at most that many columns; to be freed. */
static char *page_of(unsigned width, unsigned height, bool utf8)
{
    struct page page;
    page_init(&page, width, utf8);
    top_view(&page, height, &model, &sum, &rows, &ui);
    for (size_t i = 0; i < page.count; i++) {
        size_t bytes = 0;
        ck_assert_uint_le(page.lines[i].columns, width);
        for (unsigned p = 0; p < page.lines[i].count; p++)
            bytes += page.lines[i].pieces[p].length;
        ck_assert_uint_eq(bytes, page.lines[i].length);
    }
    if (height != TOP_HEIGHT_ANY)
        ck_assert_uint_eq(page.count, height);
    char *text = page_text(&page);
    ck_assert_ptr_nonnull(text);
    page_fini(&page);
    return text;
}

static void check_page(unsigned width, unsigned height, const char *expected)
{
    char *text = page_of(width, height, false);
    ck_assert_str_eq(text, expected);
    free(text);
}

static bool page_has(unsigned width, unsigned height, const char *piece)
{
    char *text = page_of(width, height, false);
    const bool has = strstr(text, piece) != NULL;
    free(text);
    return has;
}

/* --- jobs --- */

#define SET                                                                                                            \
    "{\"ranks\":{\"masters\":0,\"workers\":4},\"jobs\":{\"waiting\":250,\"running\":2,\"done\":1000,\"failed\":5,"     \
    "\"cancelled\":2}"                                                                                                 \
    "}"
#define JOBS                                                                                                           \
    "[{\"id\":7,\"name\":\"day\",\"kernel\":\"mandelbrot\",\"state\":\"running\",\"done\":5000,\"total\":10000,"       \
    "\"rate_per_s\":1234.5,\"rate_now_per_s\":1100,\"elapsed_s\":4,\"eta_s\":25.05,\"eta_soonest_s\":20.2,"            \
    "\"eta_latest_s\":31,\"workers\":4,\"busy\":3,\"lost\":1,\"folder\":\"/data/work/pictures\","                      \
    "\"submitted\":\"a\",\"began\":\"b\"},"                                                                            \
    "{\"id\":12,\"name\":null,\"kernel\":\"exec\",\"state\":\"running\",\"done\":12345,\"total\":null,"                \
    "\"rate_per_s\":50,\"elapsed_s\":200,\"eta_s\":null,\"workers\":4,\"busy\":4,\"folder\":\"/srv\","                 \
    "\"submitted\":\"a\",\"began\":\"b\"},"                                                                            \
    "{\"id\":13,\"name\":null,\"kernel\":\"exec\",\"state\":\"waiting\",\"done\":0,\"total\":0,\"eta_s\":null,"        \
    "\"folder\":\"/srv\",\"submitted\":\"a\",\"began\":null}]"
#define RUN                                                                                                            \
    "[{\"id\":1,\"kernel\":\"adjoint\",\"state\":\"draining\",\"done\":10,\"total\":100,\"rate_per_s\":0.5,"           \
    "\"elapsed_s\":20,\"eta_s\":7260,\"eta_soonest_s\":7000,\"eta_latest_s\":null,\"workers\":2,\"busy\":2,"           \
    "\"folder\":\"/home/me\"}]"

static void list_jobs(void)
{
    add_session("night", SET);
    add_session("run-4711", "{}");
    add_session("run-99", "{}");
    add_jobs("night", JOBS);
    add_jobs("run-4711", RUN);
    job_list_add(&model.jobs, "run-99", 1);
    snprintf(model.clock, sizeof model.clock, "12:00:00");
    arrange();
}

START_TEST(jobs_fit)
{
    list_jobs();
    check_page(60, 12,
               "hdss top                                            12:00:00\n"
               "set night: 4 workers, 2 running, 250 waiting, 1,007 over\n"
               "\n"
               "ID        NAME  STATE       DONE      RATE         ETA  LOST\n"
               "night/7   day   running     50 %  1.10 k/s      25.1 s     1\n"
               "night/12        running   12.3 k      50/s\n"
               "night/13        waiting\n"
               "run-99          silent\n"
               "run-4711        draining    10 %    30/min  2 h 01 min\n"
               "and 249 others that wait\n"
               "\n"
               "q quit  Enter look into  s sort: id  c cancel  ? help\n");
}
END_TEST

START_TEST(jobs_fit_100)
{
    list_jobs();
    check_page(100, 12,
               "hdss top                                                                                    12:00:00\n"
               "set night: 4 workers, 2 running, 250 waiting, 1,007 over\n"
               "\n"
               "ID        NAME  KERNEL      STATE                 DONE      RATE         ETA  BETWEEN           LOST\n"
               "night/7   day   mandelbrot  running   ####        50 %  1.10 k/s      25.1 s  20 to 31 s           1\n"
               "night/12        exec        running             12.3 k      50/s\n"
               "night/13        exec        waiting\n"
               "run-99                      silent\n"
               "run-4711        adjoint     draining  #           10 %    30/min  2 h 01 min  1:56:40 or later\n"
               "and 249 others that wait\n"
               "\n"
               "q quit  Enter look into  s sort: id  c cancel  ? help\n");
}
END_TEST

START_TEST(jobs_fit_200)
{
    list_jobs();
    check_page(200, TOP_HEIGHT_ANY,
               "hdss top, 12:00:00\n"
               "set night: 4 workers, 2 running, 250 waiting, 1,007 over\n"
               "\n"
               "ID        NAME  KERNEL      STATE                                       DONE      RATE         ETA  "
               "BETWEEN           BUSY  LOST  FOLDER\n"
               "night/7   day   mandelbrot  running   ###############                   50 %  1.10 k/s      25.1 s  20 "
               "to 31 s         3/4     1  /data/work/pictures\n"
               "night/12        exec        running                                   12.3 k      50/s                 "
               "                4/4        /srv\n"
               "night/13        exec        waiting                                                                    "
               "                           /srv\n"
               "run-99                      silent\n"
               "run-4711        adjoint     draining  ###                               10 %    30/min  2 h 01 min  "
               "1:56:40 or later   2/2        /home/me\n"
               "and 249 others that wait\n");
}
END_TEST

START_TEST(nothing_is_said)
{
    arrange();
    check_page(80, TOP_HEIGHT_ANY, "hdss top\n\nno run or set of yours is there on this machine\n");
    ck_assert(page_has(60, 10, "no run or set of yours is there on this machine; one is wait"));
    add_session("night", "{\"ranks\":{\"workers\":1},\"jobs\":{\"waiting\":0,\"running\":0,\"done\":3}}");
    arrange();
    check_page(80, TOP_HEIGHT_ANY,
               "hdss top\nset night: 1 worker, 0 running, 0 waiting, 3 over\n\nno job runs or waits\n");
    model.sessions[0].is_silent = true;
    ck_assert(page_has(80, TOP_HEIGHT_ANY, "set night: silent\n"));
    snprintf(model.sessions[0].reason, sizeof model.sessions[0].reason, "it is of an earlier version");
    ck_assert(page_has(80, TOP_HEIGHT_ANY, "set night: it is of an earlier version\n"));
    for (int i = 0; i < 9; i++) {
        char name[10];
        snprintf(name, sizeof name, "n%d", i);
        add_session(name, "{}");
    }
    arrange();
    ck_assert(page_has(80, TOP_HEIGHT_ANY, "\nand 6 other sets\n"));
}
END_TEST

/* --- one job --- */

#define JOB                                                                                                            \
    "{\"id\":7,\"name\":\"day\",\"kernel\":\"mandelbrot\",\"state\":\"running\",\"done\":5000,\"total\":10000,"        \
    "\"failed\":2,\"rate_per_s\":1234.5,\"rate_now_per_s\":1100,\"elapsed_s\":4,\"eta_s\":4.05,\"eta_soonest_s\":3.2," \
    "\"eta_latest_s\":6,\"workers\":4,\"busy\":3,\"lost\":1,\"folder\":\"/data\",\"technique\":\"fac2\","              \
    "\"topology\":\"central\",\"command\":[\"mandelbrot\",\"width=4096\",\"a\\u001bb\"],\"submitted\":\"a\","          \
    "\"began\":\"b\"}"
#define RANKS                                                                                                          \
    "[{\"rank\":1,\"role\":\"worker\",\"state\":\"computing\",\"node\":0,\"host\":\"alpha\",\"master\":null,"          \
    "\"done\":2000,\"chunks\":20,\"compute_s\":3,\"wait_s\":0.1,\"power\":1,\"load\":1.25,"                            \
    "\"chunk\":{\"first\":100,\"count\":10,\"left\":4,\"since_s\":0.5}},"                                              \
    "{\"rank\":2,\"role\":\"worker\",\"state\":\"computing\",\"node\":0,\"host\":\"alpha\",\"master\":null,"           \
    "\"done\":1000,\"chunks\":10,\"compute_s\":1,\"wait_s\":0.1,\"power\":1,\"load\":null,"                            \
    "\"chunk\":{\"first\":300,\"count\":100,\"left\":100,\"since_s\":2}},"                                             \
    "{\"rank\":3,\"role\":\"worker\",\"state\":\"waiting\",\"node\":1,\"host\":\"beta\",\"master\":null,"              \
    "\"done\":2000,\"chunks\":5,\"compute_s\":1,\"wait_s\":3,\"power\":1,\"load\":null,\"chunk\":null},"               \
    "{\"rank\":4,\"role\":\"worker\",\"state\":\"lost\",\"node\":1,\"host\":\"beta\",\"master\":null,"                 \
    "\"done\":0,\"chunks\":0,\"compute_s\":0,\"wait_s\":0,\"power\":1,\"load\":null,\"chunk\":null}]"

static void look_into_job(void)
{
    look_into("night", JOB, RANKS);
    snprintf(model.clock, sizeof model.clock, "12:00:00");
    arrange();
}

START_TEST(a_job_fits)
{
    look_into_job();
    check_page(60, TOP_HEIGHT_ANY,
               "night/7, day: mandelbrot, running, 12:00:00\n"
               "  command    mandelbrot width=4096 a?b\n"
               "  done       ####      50.0 %, 5,000 of 10,000, 2 given up\n"
               "  rate       1.10 k/s now, 1.23 k/s in the mean\n"
               "  end        in 4.05 s (3.2 to 6.0 s), after 4.00 s\n"
               "  technique  fac2, central\n"
               "  workers    2 of 4 compute, 1 waits, 1 lost\n"
               "  imbalance  1.40 max/mean of the times that workers compute\n"
               "  lost       rank 4 on beta\n"
               "  slowest    300 to 399: 2.00 s, 20.0 x the mean, rank 2\n"
               "             106 to 109: 500 ms, 50.0 x the mean, rank 1\n"
               "\n"
               "               COMPUTES   BUSY                 DONE      FOR\n"
               "node 0, alpha  2 of 2     ########     81 %   3,000   2.00 s\n"
               "  rank 1       computes   #########    87 %   2,000   500 ms\n"
               "  rank 2       computes   ########     75 %   1,000   2.00 s\n"
               "node 1, beta   0 of 2     ###          25 %   2,000\n"
               "  rank 3       waits      ###          25 %   2,000\n"
               "  rank 4       lost                               0\n");
}
END_TEST

START_TEST(a_job_fits_100)
{
    look_into_job();
    check_page(100, 24,
               "night/7, day: mandelbrot, running                                                           12:00:00\n"
               "  command    mandelbrot width=4096 a?b\n"
               "  done       #############              50.0 %, 5,000 of 10,000, 2 given up\n"
               "  rate       1.10 k/s now, 1.23 k/s in the mean\n"
               "  end        in 4.05 s (3.2 to 6.0 s), after 4.00 s\n"
               "  technique  fac2, central\n"
               "  workers    2 of 4 compute, 1 waits, 1 lost\n"
               "  imbalance  1.40 max/mean of the times that workers compute\n"
               "  lost       rank 4 on beta\n"
               "  slowest    iterations 300 to 399: 2.00 s, 20.0 x the mean, rank 2 on alpha\n"
               "             iterations 106 to 109: 500 ms, 50.0 x the mean, rank 1 on alpha\n"
               "\n"
               "               COMPUTES   BUSY                         DONE  CHUNKS      FOR  CHUNK       LOAD  LOST\n"
               "node 0, alpha  2 of 2     ###############      81 %   3,000      30   2.00 s\n"
               "  rank 1       computes   ################     87 %   2,000      20   500 ms  106 to 109  1.25\n"
               "  rank 2       computes   ##############       75 %   1,000      10   2.00 s  300 to 399\n"
               "node 1, beta   0 of 2     #####                25 %   2,000       5                                1\n"
               "  rank 3       waits      #####                25 %   2,000       5\n"
               "  rank 4       lost                                       0\n"
               "\n"
               "\n"
               "\n"
               "\n"
               "q back  s sort: group  c cancel  ? help\n");
}
END_TEST

START_TEST(a_job_fits_200)
{
    look_into_job();
    check_page(
        200, TOP_HEIGHT_ANY,
        "night/7, day: mandelbrot, running, 12:00:00\n"
        "  command    mandelbrot width=4096 a?b\n"
        "  done       #########################                           50.0 %, 5,000 of 10,000, 2 given up\n"
        "  rate       1.10 k/s now, 1.23 k/s in the mean\n"
        "  end        in 4.05 s (3.2 to 6.0 s), after 4.00 s\n"
        "  technique  fac2, central\n"
        "  workers    2 of 4 compute, 1 waits, 1 lost\n"
        "  imbalance  1.40 max/mean of the times that workers compute\n"
        "  lost       rank 4 on beta\n"
        "  slowest    iterations 300 to 399: 2.00 s, 20.0 x the mean, rank 2 on alpha\n"
        "             iterations 106 to 109: 500 ms, 50.0 x the mean, rank 1 on alpha\n"
        "\n"
        "               COMPUTES   BUSY                                     DONE  CHUNKS      FOR  CHUNK       LOAD  "
        "LOST\n"
        "node 0, alpha  2 of 2     ########################         81 %   3,000      30   2.00 s\n"
        "  rank 1       computes   ##########################       87 %   2,000      20   500 ms  106 to 109  1.25\n"
        "  rank 2       computes   #######################          75 %   1,000      10   2.00 s  300 to 399\n"
        "node 1, beta   0 of 2     ########                         25 %   2,000       5                               "
        " 1\n"
        "  rank 3       waits      ########                         25 %   2,000       5\n"
        "  rank 4       lost                                                   0\n");
}
END_TEST

START_TEST(a_job_that_is_over_has_a_status)
{
    look_into("night",
              "{\"id\":7,\"kernel\":\"k\",\"state\":\"failed\",\"done\":5,\"total\":9,\"elapsed_s\":2,\"status\":3,"
              "\"submitted\":\"a\",\"began\":\"b\"}",
              "[]");
    arrange();
    check_page(60, TOP_HEIGHT_ANY,
               "night/7: k, failed\n"
               "  done       ####      55.6 %, 5 of 9\n"
               "  took       2.00 s\n"
               "  status     3; hdss output night/7 has what it printed\n");
}
END_TEST

START_TEST(a_job_that_is_not_told_of_says_so)
{
    ui.is_inside = true;
    strcpy(ui.job, "night/7");
    arrange();
    check_page(60, TOP_HEIGHT_ANY, "night/7\nit does not answer\n");
    model.looked_is_gone = true;
    check_page(60, TOP_HEIGHT_ANY, "night/7\nit is not there any more\n");
    strcpy(model.looked_reason, "there is no such job");
    check_page(60, TOP_HEIGHT_ANY, "night/7\nthere is no such job\n");
    look_into_job();
    ck_assert(page_has(60, TOP_HEIGHT_ANY, "night/7, day: mandelbrot, out of sight, 12:00:00\nthere is no such job\n"));
    model.looked_is_gone = false;
    model.looked_is_silent = true;
    ck_assert(page_has(60, TOP_HEIGHT_ANY, "night/7, day: mandelbrot, silent, 12:00:00\n"));
}
END_TEST

/* Workers without a master come in groups of nodes, of which there may be many. */
static void look_into_large_job(unsigned nodes, unsigned each, unsigned lost)
{
    json_t *ranks = json_array();
    for (unsigned i = 0; i < nodes * each; i++) {
        char host[16];
        snprintf(host, sizeof host, "n%u", i / each);
        json_array_append_new(ranks,
                              json_pack("{s:i, s:s, s:s, s:i, s:s, s:i, s:i, s:f}", "rank", (int)i + 1, "role",
                                        "worker", "state", i % 3 == 0 && i < lost ? "lost" : "computing", "node",
                                        (int)(i / each), "host", host, "done", 10, "chunks", 1, "compute_s", 1.0));
    }
    char *text = json_dumps(ranks, 0);
    look_into("night", JOB, text);
    free(text);
    json_decref(ranks);
    arrange();
}

START_TEST(large_jobs_are_folded)
{
    look_into_large_job(10, 100, 0);
    ck_assert_uint_eq(rows.count, 10);
    ck_assert(page_has(60, 24, "node 0, n0    100 of 100"));
    top_ui_key(&ui, &model, &sum, &rows, 10, TOP_KEY_DOWN);
    ck_assert_int_eq(top_ui_key(&ui, &model, &sum, &rows, 10, TOP_KEY_ENTER), TOP_NOTHING);
    arrange();
    ck_assert_uint_eq(rows.count, 110);
    ck_assert(rows.items[1].kind == ROW_GROUP && rows.items[2].kind == ROW_RANK && rows.items[102].kind == ROW_GROUP);
    top_ui_key(&ui, &model, &sum, &rows, 10, TOP_KEY_ENTER);
    arrange();
    ck_assert_uint_eq(rows.count, 10);
    top_ui_key(&ui, &model, &sum, &rows, 10, TOP_KEY_ALL);
    arrange();
    ck_assert_uint_eq(rows.count, 1010);
    top_ui_key(&ui, &model, &sum, &rows, 10, TOP_KEY_LAST);
    ck_assert(page_has(100, 24, "rank 1000") && !page_has(100, 24, "rank 980"));
}
END_TEST

START_TEST(many_lost_ranks_are_cut_short)
{
    look_into_large_job(1, 300, 300);
    ck_assert(page_has(60, TOP_HEIGHT_ANY, "\n  lost       ranks 1, 4, 7, 10, 13, 16, 19 and 93 others\n"));
    ck_assert(page_has(200, TOP_HEIGHT_ANY, " others\n"));
    ck_assert(page_has(60, TOP_HEIGHT_ANY, "  workers    200 of 300 compute, 100 lost\n"));
    for (size_t i = 0; i < model.rank_count; i++)
        model.ranks[i].figures.state = i > 0 ? RANK_LOST : RANK_COMPUTES;
    arrange();
    ck_assert(page_has(60, TOP_HEIGHT_ANY, "\n  lost       ranks 2 to 300\n"));
}
END_TEST

START_TEST(masters_tell_less)
{
    look_into(
        "run-5",
        "{\"id\":1,\"kernel\":\"k\",\"state\":\"running\",\"done\":1,\"total\":9,\"rate_per_s\":1,\"elapsed_s\":1,"
        "\"workers\":3,\"busy\":2,\"technique\":\"gss\",\"topology\":\"hierarchical\"}",
        "[{\"rank\":1,\"role\":\"master\",\"state\":\"serving\",\"host\":\"a\",\"done\":70,\"workers\":2,\"busy\":1},"
        "{\"rank\":2,\"role\":\"master\",\"state\":\"lost\",\"host\":\"b\",\"done\":5,\"workers\":1,\"busy\":0},"
        "{\"rank\":3,\"role\":\"worker\",\"state\":null,\"node\":0,\"master\":1,\"done\":null},"
        "{\"rank\":4,\"role\":\"worker\",\"state\":null,\"node\":0,\"master\":1,\"done\":null},"
        "{\"rank\":5,\"role\":\"worker\",\"state\":\"computing\",\"node\":1,\"master\":2,\"done\":8,\"chunks\":2,"
        "\"compute_s\":0.5,\"chunk\":{\"first\":10,\"count\":1,\"left\":1,\"since_s\":0.25}}]");
    arrange();
    ck_assert_uint_eq(sum.group_count, 2);
    ck_assert_double_lt(sum.imbalance, 0);
    check_page(60, TOP_HEIGHT_ANY,
               "run-5: k, running\n"
               "  done       #         11.1 %, 1 of 9\n"
               "  rate       1/s in the mean\n"
               "  end        not known, after 1.00 s\n"
               "  technique  gss, hierarchical\n"
               "  workers    2 of 3 compute\n"
               "  imbalance  not known: masters have told no times\n"
               "  lost       rank 2 on b\n"
               "  slowest    10: 250 ms, 4.0 x the mean, rank 5\n"
               "\n"
               "              COMPUTES   BUSY                  DONE      FOR\n"
               "master 1, a   1 of 2     ######                  70\n"
               "  rank 3\n"
               "  rank 4\n"
               "master 2, b   gone       ########      75 %       8   250 ms\n"
               "  rank 5      computes   ########      75 %       8   250 ms\n");
}
END_TEST

/* What is listed page by page: one page behind the other, and fewer at the end. */
START_TEST(pages_of_ranks_are_put_together)
{
    json_t *two = json_of("[{\"rank\":1},{\"rank\":2}]"), *none = json_of("[]");
    ck_assert_int_eq(top_model_put_ranks(&model, 2, two, false), 0);
    ck_assert_uint_eq(model.rank_count, 0);
    ck_assert_int_eq(top_model_put_ranks(&model, 0, two, false), 0);
    ck_assert_int_eq(top_model_put_ranks(&model, 2, two, true), 0);
    ck_assert_uint_eq(model.rank_count, 4);
    ck_assert_int_eq(top_model_put_ranks(&model, 0, two, false), 0);
    ck_assert_uint_eq(model.rank_count, 4);
    ck_assert_int_eq(top_model_put_ranks(&model, 2, none, true), 0);
    ck_assert_uint_eq(model.rank_count, 2);
    json_decref(two);
    json_decref(none);
}
END_TEST

/* What an answer should not have is nothing that ends the program. */
START_TEST(nonsense_is_passed_by)
{
    add_jobs("night",
             "[7,null,{},{\"state\":3},{\"state\":\"running\",\"total\":\"x\",\"done\":-5,\"elapsed_s\":1e300}]");
    ck_assert_uint_eq(model.jobs.count, 1);
    look_into(
        "night",
        "{\"state\":\"running\",\"command\":[7,\"\\u0007\"],\"elapsed_s\":1e300,\"eta_s\":1e300,"
        "\"eta_soonest_s\":1e300,\"eta_latest_s\":1e300,\"rate_per_s\":1e300}",
        "[7,{\"rank\":-1,\"role\":7,\"state\":\"?\",\"node\":1e30,\"done\":1e30,\"busy\":1e30,"
        "\"chunk\":{\"first\":1e30,\"count\":1e30,\"left\":1e30,\"since_s\":1e30}},{\"role\":\"master\",\"busy\":-1}]");
    arrange();
    for (unsigned width = 1; width <= TOP_WIDTH_MAX; width += 7)
        for (unsigned height = 0; height < 30; height++)
            free(page_of(width, height, height % 2 == 0));
    ui.is_inside = false;
    arrange();
    for (unsigned width = 1; width <= TOP_WIDTH_MAX; width += 7)
        for (unsigned height = 0; height < 30; height++)
            free(page_of(width, height, height % 2 == 0));
}
END_TEST

START_TEST(text_is_cut_between_characters)
{
    struct page page;
    page_init(&page, 8, true);
    page_line(&page);
    page_add_short(&page, LOOK_PLAIN, "äöü", 3);
    page_add_short(&page, LOOK_PLAIN, "äöüß\xff", 4);
    page_add(&page, LOOK_PLAIN, "\x1b\xc2\x9bxyz");
    page_line(&page);
    page_add_bar(&page, 0.5, 4);
    char *text = page_text(&page);
    ck_assert_str_eq(text, "äöüäö..?\n██\n");
    free(text);
    page_fini(&page);
    page_init(&page, 8, false);
    page_line(&page);
    page_add(&page, LOOK_PLAIN, "äb\xff");
    page_add_bar(&page, 0.5, 4);
    text = page_text(&page);
    ck_assert_str_eq(text, "?b?##\n");
    free(text);
    page_fini(&page);
}
END_TEST

/* --- keys --- */

static enum top_act press(enum top_key key)
{
    const enum top_act act = top_ui_key(&ui, &model, &sum, &rows, 5, key);
    arrange();
    return act;
}

START_TEST(keys_select)
{
    list_jobs();
    ck_assert_str_eq(ui.selected_id, "night/7");
    press(TOP_KEY_DOWN);
    ck_assert_str_eq(ui.selected_id, "night/12");
    press(TOP_KEY_LAST);
    ck_assert_str_eq(ui.selected_id, "run-4711");
    press(TOP_KEY_DOWN);
    ck_assert_str_eq(ui.selected_id, "run-4711");
    press(TOP_KEY_PAGE_UP);
    ck_assert_str_eq(ui.selected_id, "night/7");
    press(TOP_KEY_UP);
    ck_assert_str_eq(ui.selected_id, "night/7");
    press(TOP_KEY_PAGE_DOWN);
    ck_assert_uint_eq(ui.selected, 4);
    press(TOP_KEY_FIRST);
    press(TOP_KEY_DOWN);
    /* The job that is selected stays so where another one before it is over. */
    memmove(model.jobs.items[0].id, "night/99", sizeof "night/99");
    arrange();
    ck_assert_str_eq(ui.selected_id, "night/12");
    ck_assert_uint_eq(ui.selected, 0);
}
END_TEST

static const char *id_at(size_t row)
{
    return model.jobs.items[rows.items[row].index].id;
}

START_TEST(keys_sort)
{
    list_jobs();
    ck_assert_str_eq(top_ui_order_name(&ui), "id");
    press(TOP_KEY_SORT);
    ck_assert_str_eq(top_ui_order_name(&ui), "done");
    ck_assert_str_eq(id_at(0), "night/7");
    ck_assert_str_eq(id_at(1), "run-4711");
    press(TOP_KEY_SORT);
    ck_assert_str_eq(id_at(0), "night/7");
    ck_assert_str_eq(id_at(1), "night/12");
    press(TOP_KEY_SORT);
    ck_assert_str_eq(top_ui_order_name(&ui), "end");
    ck_assert_str_eq(id_at(0), "night/7");
    ck_assert_str_eq(id_at(1), "run-4711");
    press(TOP_KEY_SORT);
    ck_assert_str_eq(top_ui_order_name(&ui), "id");
    look_into_job();
    press(TOP_KEY_SORT);
    ck_assert_uint_eq(rows.count, 4);
    ck_assert_uint_eq(model.ranks[rows.items[0].index].figures.rank, 2); /* 2 s */
    press(TOP_KEY_SORT);
    ck_assert_uint_eq(model.ranks[rows.items[0].index].figures.rank, 4); /* 0 % */
    press(TOP_KEY_SORT);
    ck_assert_uint_eq(model.ranks[rows.items[0].index].figures.rank, 1); /* 2,000 */
}
END_TEST

START_TEST(keys_go_in_and_back)
{
    list_jobs();
    press(TOP_KEY_DOWN);
    ck_assert_int_eq(press(TOP_KEY_ENTER), TOP_LOOK);
    ck_assert(ui.is_inside);
    ck_assert_str_eq(ui.job, "night/12");
    ck_assert_int_eq(press(TOP_KEY_QUIT), TOP_LOOK);
    ck_assert(!ui.is_inside);
    ck_assert_str_eq(ui.selected_id, "night/12");
    ck_assert_int_eq(press(TOP_KEY_BACK), TOP_NOTHING);
    press(TOP_KEY_ENTER);
    ck_assert_int_eq(press(TOP_KEY_BACK), TOP_LOOK);
    ck_assert_int_eq(press(TOP_KEY_ALL), TOP_LOOK);
    ck_assert(ui.shows_over);
    press(TOP_KEY_HELP);
    ck_assert(page_has(60, 24, "hdss top: keys"));
    ck_assert_int_eq(press(TOP_KEY_QUIT), TOP_NOTHING);
    ck_assert(!ui.helps);
    ck_assert_int_eq(press(TOP_KEY_QUIT), TOP_END);
    ck_assert_int_eq(press(TOP_KEY_END), TOP_END);
    ui.is_inside = ui.is_alone = true;
    ck_assert_int_eq(press(TOP_KEY_QUIT), TOP_END);
}
END_TEST

START_TEST(a_cancel_is_asked_for)
{
    list_jobs();
    ck_assert_int_eq(press(TOP_KEY_YES), TOP_NOTHING);
    press(TOP_KEY_CANCEL);
    ck_assert(page_has(60, 24, "cancel night/7? what runs is ended (y/n)"));
    ck_assert_int_eq(press(TOP_KEY_OTHER), TOP_NOTHING);
    ck_assert(!ui.asks);
    press(TOP_KEY_CANCEL);
    ck_assert_int_eq(press(TOP_KEY_YES), TOP_CANCEL);
    ck_assert_str_eq(ui.asked, "night/7");
    ck_assert(!ui.asks);
    press(TOP_KEY_LAST);
    press(TOP_KEY_CANCEL);
    ck_assert(page_has(60, 24, "cancel run-4711? what runs is finished (y/n)"));
    press(TOP_KEY_END);
    look_into_job();
    ui.asks = false;
    press(TOP_KEY_CANCEL);
    ck_assert(ui.asks);
    ck_assert_str_eq(ui.asked, "night/7");
    ui.asks = false;
    model.looked_is_gone = true;
    press(TOP_KEY_CANCEL);
    ck_assert(!ui.asks);
    tear_down();
    set_up();
    arrange();
    press(TOP_KEY_CANCEL); /* there is no job */
    ck_assert(!ui.asks);
    ck_assert_int_eq(press(TOP_KEY_ENTER), TOP_NOTHING);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hdss top");
    TCase *tests = tcase_create("pages");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, jobs_fit);
    tcase_add_test(tests, jobs_fit_100);
    tcase_add_test(tests, jobs_fit_200);
    tcase_add_test(tests, nothing_is_said);
    tcase_add_test(tests, a_job_fits);
    tcase_add_test(tests, a_job_fits_100);
    tcase_add_test(tests, a_job_fits_200);
    tcase_add_test(tests, a_job_that_is_over_has_a_status);
    tcase_add_test(tests, a_job_that_is_not_told_of_says_so);
    tcase_add_test(tests, large_jobs_are_folded);
    tcase_add_test(tests, many_lost_ranks_are_cut_short);
    tcase_add_test(tests, masters_tell_less);
    tcase_add_test(tests, pages_of_ranks_are_put_together);
    tcase_add_test(tests, nonsense_is_passed_by);
    tcase_add_test(tests, text_is_cut_between_characters);
    suite_add_tcase(suite, tests);
    TCase *keys = tcase_create("keys");
    tcase_add_checked_fixture(keys, set_up, tear_down);
    tcase_add_test(keys, keys_select);
    tcase_add_test(keys, keys_sort);
    tcase_add_test(keys, keys_go_in_and_back);
    tcase_add_test(keys, a_cancel_is_asked_for);
    suite_add_tcase(suite, keys);
    return suite_run(suite);
}
