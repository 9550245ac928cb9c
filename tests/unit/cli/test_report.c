/* SPDX-License-Identifier: MIT */
/* What `hdss report` is made of: the reader of traces, the trace in its order, the figures, and
 * what is written. */
#include "deploy/cli/report/figures.h"
#include "deploy/cli/report/gantt.h"
#include "deploy/cli/report/markup.h"
#include "deploy/cli/report/pack.h"
#include "deploy/cli/report/page.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD TRACE_COLUMNS "\n"

/* Two workers of node 1 and one of node 0. Worker 3 is lost in its second chunk, which worker 2 computes again; the
 * copy of it is dropped. */
static const char sample[] = HEAD "run,,,,,,,,,,,,,,,,version=1.2.3\n"
                                  "run,,,,,,,,,,,,,,,,kernel=adjoint\n"
                                  "run,,,,,,,,,,,,,,,,technique=gss\n"
                                  "run,,,,,,,,,,,,,,,,iterations=100\n"
                                  "run,,,,,,,,,,,,,,,,masters=2\n"
                                  "run,,,,,,,,,,,,,,,,colour=blue\n"
                                  "worker,,4,0,1,,,,,,,,,,,,\n"
                                  "worker,,3,1,2,,,,,,,,,,,,host=here power=2.5\n"
                                  "worker,,2,1,2,,,,,,,,,,,,power=1 host=there\n"
                                  "chunk,1,2,1,2,1,0,30,own,0.5,1.5,4.5,5,3,done,,\n"
                                  "chunk,1,3,1,2,1,30,30,own,0.5,1.5,3.5,4,2,done,,\n"
                                  "chunk,4,3,1,2,2,60,20,other,3.4,4.25,,,,lost,,\n"
                                  "chunk,6,2,1,2,2,60,20,requeued,4.5,6,8,9,2,done,,\n"
                                  "chunk,1,4,0,1,1,80,20,cut,,2,6,6.5,,done,,\n"
                                  "chunk,7,4,0,1,2,60,20,copy,6.5,7,8,,1,dropped,,\n"
                                  "cut,1,2,,,,0,30,,,,,,,,34,\n"
                                  "cut,1,3,,,,30,30,,,,,,,,,\n"
                                  "event,5,3,,,,,,,,,,,,,,worker lost\n"
                                  "event,9,,,,,80,20,,,,,,,,,\"a \"\"b\"\",\n<c>\"\n"
                                  "chart,,,,,,,,,,,,,,,,of a later version\n";

/* Reads all of a text in pieces of `size` bytes. */
static int read_trace_text(struct run_trace *trace, const char *text, size_t size, struct error *error)
{
    struct trace_reader reader;
    const size_t length = strlen(text);
    int result = 0;
    run_trace_init(trace);
    ck_assert_int_eq(trace_reader_init(&reader, "t.csv", run_trace_take, trace, error), 0);
    for (size_t at = 0; result == 0 && at < length; at += size)
        result = trace_reader_take(&reader, text + at, length - at < size ? length - at : size, error);
    if (result == 0)
        result = trace_reader_end(&reader, error);
    trace_reader_fini(&reader);
    return result == 0 ? run_trace_order(trace, error) : result;
}

static void read_sample(struct run_trace *trace)
{
    struct error error;
    ck_assert_msg(read_trace_text(trace, sample, 1u << 20, &error) == 0, "%s", error.text);
}

START_TEST(a_trace_is_read_in_pieces_of_any_size)
{
    for (size_t size = 1; size < 70; size++) {
        struct run_trace trace;
        struct error error;
        ck_assert_msg(read_trace_text(&trace, sample, size, &error) == 0, "%s", error.text);
        ck_assert_uint_eq(trace.worker_count, 3);
        ck_assert_uint_eq(trace.chunk_count, 6);
        ck_assert_uint_eq(trace.cut_count, 2);
        ck_assert_uint_eq(trace.event_count, 2);
        ck_assert_str_eq(trace.events[1].text, "a \"b\",\n<c>");
        run_trace_fini(&trace);
    }
}
END_TEST

START_TEST(a_trace_comes_into_its_order)
{
    struct run_trace trace;
    double from_s, to_s;
    read_sample(&trace);
    ck_assert_str_eq(trace.facts.kernel, "adjoint");
    ck_assert_uint_eq(trace.facts.iterations, 100);
    ck_assert(trace.facts.workers == TRACE_UNKNOWN && trace.facts.masters == 2);
    const unsigned ranks[] = {4, 2, 3}, counts[] = {2, 2, 2};
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(trace.workers[i].rank, ranks[i]);
        ck_assert_uint_eq(trace.workers[i].count, counts[i]);
        for (size_t k = 0; k < counts[i]; k++)
            ck_assert_uint_eq(trace.chunks[trace.workers[i].first + k].worker, i);
    }
    ck_assert_str_eq(trace.workers[1].host, "there");
    ck_assert_double_eq(trace.workers[2].power, 2.5);
    ck_assert_int_eq(run_trace_find(&trace, 3), 2);
    ck_assert_int_eq(run_trace_find(&trace, 9), -1);
    const struct run_chunk *lost = &trace.chunks[trace.workers[2].first + 1];
    ck_assert(lost->fate == TRACE_LOST && isnan(lost->ended_s) && lost->reason == TRACE_OTHER);
    ck_assert(run_chunk_span(&trace, lost, 100, &from_s, &to_s) && from_s == 4.25 && to_s == 5);
    ck_assert_double_eq(run_trace_end(&trace), 9);
    ck_assert(trace.cuts[0].formula == 34 && trace.cuts[1].formula == TRACE_UNKNOWN);
    run_trace_fini(&trace);
}
END_TEST

START_TEST(chunks_are_sorted_and_their_workers_added)
{
    struct run_trace trace;
    struct error error;
    double from_s, to_s;
    ck_assert_int_eq(read_trace_text(&trace,
                                     HEAD "chunk,3,7,,,2,,5,,,3.5,4,,,done,,\r\n"
                                          "chunk,1,7,,,1,0,5,,,1.5,2,,,done,,\r\n"
                                          "chunk,5,7,,,3,10,5,,,,,,,returned,,",
                                     9, &error),
                     0);
    ck_assert_uint_eq(trace.worker_count, 1);
    ck_assert(trace.workers[0].rank == 7 && trace.workers[0].count == 3 && trace.workers[0].master == RUN_NO_RANK);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_uint_eq(trace.chunks[i].number, i + 1);
    ck_assert(!run_chunk_span(&trace, &trace.chunks[2], 9, &from_s, &to_s));
    run_trace_fini(&trace);
}
END_TEST

START_TEST(broken_lines_are_refused)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "t.csv:1: this is no trace"},
        {"kind,time_s\n", "t.csv:1: this is no trace"},
        {TRACE_COLUMNS "s\n", "t.csv:1: this is no trace"},
        {HEAD "\n", "t.csv:2: 1 field; accepted are 17 or more"},
        {HEAD "chunk,1,2\n", "t.csv:2: 3 fields; accepted are 17 or more"},
        {HEAD "chunk,x,2,,,,0,1,,,,,,,,,\n", "t.csv:2: time_s is 'x'; accepted are seconds from 0 to 1e9"},
        {HEAD "chunk,-1,2,,,,0,1,,,,,,,,,\n", "t.csv:2: time_s is '-1'"},
        {HEAD "chunk,nan,2,,,,0,1,,,,,,,,,\n", "t.csv:2: time_s is 'nan'"},
        {HEAD "chunk,2e9,2,,,,0,1,,,,,,,,,\n", "t.csv:2: time_s is '2e9'"},
        {HEAD "chunk,1,-2,,,,0,1,,,,,,,,,\n", "t.csv:2: worker is '-2'; accepted are whole numbers from 0 to 16777215"},
        {HEAD "chunk,1,2,,,,0,99999999999999999999,,,,,,,,,\n", "t.csv:2: count is '99999999999999999999'"},
        {HEAD "chunk,1,2,,,,0,1,since,,,,,,,,\n",
         "t.csv:2: reason is 'since'; accepted are own, other, cut, requeued, recalled, copy, verify"},
        {HEAD "chunk,1,2,,,,0,1,own,,,,,,well,,\n",
         "t.csv:2: fate is 'well'; accepted are done, lost, returned, dropped, failed, open"},
        {HEAD "chunk,1,,,,,0,1,own,,,,,,done,,\n", "t.csv:2: a row of the kind 'chunk' has no worker"},
        {HEAD "chunk,,2,,,,0,1,own,,,,,,done,,\n", "t.csv:2: a row of the kind 'chunk' has no time_s"},
        {HEAD "cut,1,2,,,,0,,,,,,,,,,\n", "t.csv:2: a row of the kind 'cut' has no count"},
        {HEAD "resumed,,,,,,0,,,,,,,,,,\n", "t.csv:2: a row of the kind 'resumed' has no count"},
        {HEAD "resumed,,,,,,,7,,,,,,,,,\n", "t.csv:2: a row of the kind 'resumed' has no first"},
        {HEAD "run,,,,,,,,,,,,,,,,kernel\n", "t.csv:2: a row of the kind 'run' has no text with KEY=VALUE"},
        {HEAD "run,,,,,,,,,,,,,,,,iterations=many\n", "t.csv:2: 'many' is no number"},
        {HEAD "event,1,,,,,,,,,,,,,,,\"a\nb\"\nevent,1,,,,,,,,,,,,,,,a\"b\n", "t.csv:4: the file ends within quotes"},
        {HEAD "event,1,,,,,,,,,,,,,,,\"a\"b\n", "t.csv:2: a quote is not as accepted"},
        {HEAD "event,1,,,,,,,,,,,,,,,\"a\n\n", "t.csv:2: the file ends within quotes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run_trace trace;
        struct error error = {0};
        ck_assert_msg(read_trace_text(&trace, cases[i].text, 7, &error) == -1, "%s", cases[i].text);
        ck_assert_msg(strncmp(error.text, cases[i].said, strlen(cases[i].said)) == 0, "%s: %s", cases[i].text,
                      error.text);
        run_trace_fini(&trace);
    }
}
END_TEST

START_TEST(a_row_has_an_end)
{
    struct run_trace trace;
    struct error error;
    char *text = calloc(1, sizeof HEAD + 2 * TRACE_ROW_MAX);
    ck_assert_ptr_nonnull(text);
    memcpy(text, HEAD, strlen(HEAD));
    memset(text + strlen(HEAD), 'x', TRACE_ROW_MAX + 1);
    ck_assert_int_eq(read_trace_text(&trace, text, 1000, &error), -1);
    ck_assert_str_eq(error.text, "t.csv:2: the row is longer than 65536 bytes");
    run_trace_fini(&trace);
    free(text);
}
END_TEST

START_TEST(figures_are_those_of_the_trace)
{
    struct run_trace trace;
    struct figures figures;
    struct error error;
    read_sample(&trace);
    figures_init(&figures);
    ck_assert_int_eq(figures_of_trace(&figures, &trace, &error), 0);
    ck_assert_double_eq(figures.begin_s, 1);
    ck_assert_double_eq(figures.elapsed_s, 8);  /* to the last result on disk, at 9 */
    ck_assert_double_eq(figures.compute_s, 11); /* 3 + 2 + 2, and 4 from beginning to end where it was not measured */
    ck_assert_double_eq_tol(figures.efficiency, 11. / 24, 1e-12);
    ck_assert_double_eq_tol(figures.in_vain_s, 0.75 + 1, 1e-12);
    ck_assert_uint_eq(figures.done, 100);
    ck_assert(figures.workers == 3 && figures.nodes == 2 && figures.masters == 2 && figures.lost_workers == 1);
    ck_assert(figures.chunks == 6 && figures.steps == 2 && figures.reissued == 1 && figures.duplicates == 1);
    ck_assert_double_eq(figures.worker_stats[0].wait_s, 4); /* of 8 s */
    ck_assert_double_eq(figures.worker_stats[2].wait_s, 2); /* of 4 s until it was lost */
    ck_assert_double_eq(figures.worker_stats[0].finish_s, 5);
    ck_assert_double_eq(figures.worker_stats[1].finish_s, 7);
    ck_assert_double_eq(figures.worker_stats[2].finish_s, 2.5);
    ck_assert_double_eq_tol(figures.max_over_mean, 7 / (14.5 / 3), 1e-12);
    ck_assert_double_eq(figures.tail_s, 3); /* worker 3 was lost, and had not finished */
    ck_assert_double_eq_tol(figures.tail_idle, (3. + 1) / 24, 1e-12);
    figures_fini(&figures);
    run_trace_fini(&trace);
}
END_TEST

/* Of chunk 2 a part was given back, of chunk 3 one was dropped; the worker was lost at chunk 4, and had not begun 5. */
START_TEST(rows_of_one_chunk_are_one_chunk)
{
    struct run_trace trace;
    struct figures figures;
    struct error error;
    double from_s, to_s;
    ck_assert_int_eq(read_trace_text(&trace,
                                     HEAD "chunk,1,1,0,1,1,0,10,own,,1,2,2.5,0.875,done,,\n"
                                          "chunk,1.5,1,0,1,2,10,6,own,0.5,2,4,4.5,1.75,done,,\n"
                                          "chunk,1.5,1,0,1,2,16,4,own,0.5,,,3,,returned,,\n"
                                          "chunk,1.6,1,0,1,3,20,5,own,,4,5,6,1,dropped,,\n"
                                          "chunk,1.6,1,0,1,3,25,5,own,,4,5,6,,done,,\n"
                                          "chunk,3,1,0,1,4,30,5,copy,,,,5.5,,lost,,\n"
                                          "chunk,3.5,1,0,1,5,35,5,own,,,,5.5,,lost,,\n"
                                          "event,5.5,1,0,,,,,,,,,,,,,worker lost\n",
                                     9, &error),
                     0);
    const unsigned numbers[] = {1, 2, 2, 5, 3, 3, 4}, parts[] = {0, 1, 0, 0, 1, 0, 0};
    for (unsigned i = 0; i < 7; i++)
        ck_assert_msg(trace.chunks[i].number == numbers[i] && trace.chunks[i].is_part == parts[i], "%u", i);
    ck_assert(run_chunk_span(&trace, &trace.chunks[2], 9, &from_s, &to_s) && from_s == 2 && to_s == 4);
    ck_assert(!run_chunk_span(&trace, &trace.chunks[3], 9, &from_s, &to_s));
    ck_assert(!run_chunk_span(&trace, &trace.chunks[4], 9, &from_s, &to_s));
    ck_assert(run_chunk_span(&trace, &trace.chunks[6], 9, &from_s, &to_s) && from_s == 5 && to_s == 5.5);
    figures_init(&figures);
    ck_assert_int_eq(figures_of_trace(&figures, &trace, &error), 0);
    ck_assert(figures.chunks == 5 && figures.done == 21 && figures.worker_stats[0].chunks == 3);
    ck_assert(figures.reasons[TRACE_OWN] == 4 && figures.reasons[TRACE_COPY] == 1 && figures.duplicates == 1);
    ck_assert_double_eq(figures.compute_s,
                        0.875 + 1.75 + 1); /* the time of chunk 3 stands in the row of the other part */
    ck_assert_double_eq(figures.in_vain_s, 0.5);
    figures_fini(&figures);
    run_trace_fini(&trace);
}
END_TEST

static const char report[] =
    "{\"hdss\": \"1\", \"topology\": \"central\", \"kernel\": {\"name\": \"k\"}, \"technique\": {\"name\": \"t\"},"
    " \"outcome\": \"done\", \"iterations\": 10, \"done\": 9, \"masters\": 0, \"nodes\": 1, \"elapsed_s\": 2.5,"
    " \"startup_s\": 0.5, \"efficiency\": 0.75, \"imbalance\": {\"max_over_mean\": 1.5, \"cov\": 0.25}, \"chunks\": 7,"
    " \"messages\": 12, \"recalls\": {\"count\": 2, \"iterations\": 3}, \"faults\": {\"lost_workers\": 1},"
    " \"failed\": [[3, 1]], \"failed_tasks\": [[5, 2]], \"worker_stats\": ["
    "{\"rank\": 2, \"node\": 0, \"master\": 0, \"iterations\": 4, \"finish_s\": 1.5},"
    "{\"rank\": 1, \"node\": 0, \"master\": 0, \"iterations\": 5, \"finish_s\": 2}]}";

START_TEST(figures_are_those_of_the_report)
{
    struct figures figures;
    struct error error;
    json_t *json = json_loads(report, 0, NULL);
    figures_init(&figures);
    ck_assert_msg(figures_of_report(&figures, json, &error) == 0, "%s", error.text);
    ck_assert_str_eq(figures.topology, "central");
    ck_assert(figures.workers == 2 && figures.worker_stats[0].rank == 1 && figures.worker_stats[1].iterations == 4);
    ck_assert_double_eq(figures.worker_stats[0].finish_s, 2);
    ck_assert(figures.elapsed_s == 2.5 && figures.startup_s == 0.5 && figures.cov == 0.25 && isnan(figures.tail_s));
    ck_assert(figures.failed_iterations == 3 && figures.messages == 12 && figures.recalls == 2 && figures.done == 9);
    figures_fini(&figures);
    json_decref(json);
}
END_TEST

/* A report with what --technique auto predicted; `iterations` were left at its latest decision. */
static json_t *chosen_report(int iterations)
{
    json_t *json = json_loads(report, 0, NULL);
    json_object_set_new(json, "done", json_integer(10));
    json_object_set_new(json, "technique",
                        json_pack("{s:s, s:{s:i, s:i, s:{s:f, s:n, s:f, s:f}}}", "name", "gss", "auto", "decisions", 1,
                                  "iterations", iterations, "predicted_s", "static", 3.0, "ss", "gss", 2.0, "css",
                                  1.5));
    return json;
}

/* The page of a report, with another one that is simulated or NULL; both are released. */
static char *page_of_reports(json_t *json, json_t *simulated_json)
{
    struct figures figures, simulated;
    struct error error;
    struct text text;
    figures_init(&figures);
    figures_init(&simulated);
    ck_assert_msg(figures_of_report(&figures, json, &error) == 0, "%s", error.text);
    if (simulated_json != NULL)
        ck_assert_msg(figures_of_report(&simulated, simulated_json, &error) == 0, "%s", error.text);
    text_init(&text);
    page_html(&text, &(struct page_content){.figures = &figures,
                                            .simulated = simulated_json != NULL ? &simulated : NULL,
                                            .name = "r.json"});
    figures_fini(&figures);
    figures_fini(&simulated);
    json_decref(json);
    json_decref(simulated_json);
    return text_take(&text);
}

START_TEST(predictions_come_least_first)
{
    struct figures figures;
    struct error error;
    json_t *json = chosen_report(10);
    figures_init(&figures);
    ck_assert_int_eq(figures_of_report(&figures, json, &error), 0);
    ck_assert(figures.predicted.count == 4 && figures.predicted.decisions == 1 && figures.predicted.iterations == 10);
    const char *const names[] = {"css", "gss", "static", "ss"};
    for (unsigned i = 0; i < 4; i++)
        ck_assert_str_eq(figures.predicted.list[i].technique, names[i]);
    ck_assert_double_eq(figures.predicted.list[0].predicted_s, 1.5);
    ck_assert(isnan(figures.predicted.list[3].predicted_s) && !figures.is_simulated);
    figures_fini(&figures);
    json_decref(json);
}
END_TEST

START_TEST(what_was_predicted_stands_beside_what_came)
{
    char *page = page_of_reports(chosen_report(10), NULL); /* 2.5 s instead of 2 s */
    ck_assert_ptr_nonnull(strstr(page, "has-predicted"));
    ck_assert_ptr_nonnull(strstr(page, "25.0 % longer than predicted"));
    ck_assert_ptr_nonnull(strstr(page, "data-figure=\"actual_over_predicted\" data-value=\"1.25\""));
    ck_assert_ptr_nonnull(strstr(page, "gss (taken)"));
    ck_assert_ptr_nonnull(strstr(page, "not predicted"));
    free(page);
    page = page_of_reports(chosen_report(6), NULL); /* the loop time is of all 10 */
    ck_assert_ptr_nonnull(strstr(page, "cannot be compared"));
    ck_assert_ptr_null(strstr(page, "actual_over_predicted"));
    free(page);
    json_t *steps = chosen_report(5); /* which took 3 s in the last of two time steps */
    json_object_set_new(steps, "steps", json_pack("[{s:f}, {s:f}]", "elapsed_s", 1.0, "elapsed_s", 3.0));
    page = page_of_reports(steps, NULL);
    ck_assert_ptr_nonnull(strstr(page, "The last time step took"));
    ck_assert_ptr_nonnull(strstr(page, "data-figure=\"actual_over_predicted\" data-value=\"1.5\""));
    free(page);
    page = page_of_reports(json_loads(report, 0, NULL), NULL);
    ck_assert_ptr_null(strstr(page, "\"has-predicted"));
    ck_assert_ptr_null(strstr(page, "id=\"predicted\""));
    free(page);
}
END_TEST

START_TEST(a_simulation_stands_beside_the_run)
{
    json_t *simulated = json_loads(report, 0, NULL);
    json_object_set_new(simulated, "elapsed_s", json_real(1));
    json_object_set_new(simulated, "chunks", json_integer(14));
    json_object_set_new(simulated, "technique", json_pack("{s:s}", "name", "<u>"));
    json_object_set_new(simulated, "simulated",
                        json_pack("{s:s, s:s, s:i, s:{s:f, s:f}}", "backend", "virtual", "platform", "p<q",
                                  "repetitions", 5, "elapsed_s", "least", 0.5, "most", 1.5));
    ck_assert(figures_report_is_simulated(simulated));
    char *page = page_of_reports(json_loads(report, 0, NULL), simulated);
    ck_assert_ptr_nonnull(strstr(page, "on p&lt;q (virtual) to take"));
    ck_assert_ptr_nonnull(strstr(page, "the median of 5 repetitions that took 500 ms to 1.50 s"));
    ck_assert_ptr_nonnull(strstr(page, "2.50 times as long as simulated"));
    ck_assert_ptr_nonnull(strstr(page, "its technique is &lt;u&gt;, that of the run t."));
    ck_assert_ptr_nonnull(strstr(page, "data-figure=\"elapsed_ratio\" data-value=\"2.5\""));
    ck_assert_ptr_nonnull(strstr(page, "data-figure=\"chunks_ratio\" data-value=\"0.5\""));
    ck_assert_ptr_nonnull(strstr(page, "The efficiency is the simulated one."));
    free(page);
}
END_TEST

START_TEST(a_report_of_another_run_is_refused)
{
    struct run_trace trace;
    struct figures figures;
    struct error error;
    json_t *json = json_loads(report, 0, NULL), *none = json_pack("{s:i}", "a", 1),
           *odd = json_pack("{s:s, s:[i, s]}", "hdss", "1", "worker_stats", 5, "b");
    read_sample(&trace);
    figures_init(&figures);
    ck_assert_int_eq(figures_of_trace(&figures, &trace, &error), 0);
    ck_assert_int_eq(figures_of_report(&figures, json, &error), -1);
    ck_assert_str_eq(error.text, "it tells of 2 workers, and the trace of 3: they are of different runs");
    ck_assert_int_eq(figures_of_report(&figures, none, &error), -1);
    ck_assert_str_eq(error.text, "it is no report of a run: it has no \"hdss\" and no \"worker_stats\"");
    figures_fini(&figures);
    run_trace_fini(&trace);
    json_decref(json);
    json_decref(none);
    figures_init(&figures);
    ck_assert_int_eq(figures_of_report(&figures, odd, &error), -1);
    ck_assert_str_eq(error.text, "an entry of \"worker_stats\" has no rank");
    figures_fini(&figures);
    json_decref(odd);
}
END_TEST

/* The sample, gone on from a run that had done what nobody is given here. */
static const char *const resumed_rows = "resumed,,,,,,50,10,resumed,,,,,,done,,\nresumed,,,,,,100,7,,,,,,,,,\n";

START_TEST(what_an_earlier_run_had_done_is_told_apart)
{
    struct run_trace trace, alone;
    struct figures figures, figures_alone;
    struct run_tree tree;
    struct error error;
    struct text text;
    text_init(&text);
    text_add(&text, "%s%s", sample, resumed_rows);
    ck_assert_msg(read_trace_text(&trace, text.data, 7, &error) == 0, "%s", error.text);
    text_fini(&text);
    read_sample(&alone);
    ck_assert_uint_eq(trace.resumed_count, 2);
    ck_assert(trace.resumed[0].first == 50 && trace.resumed[1].first == 100 && trace.resumed[1].count == 7);
    ck_assert(trace.chunk_count == alone.chunk_count && trace.worker_count == alone.worker_count);
    figures_init(&figures);
    figures_init(&figures_alone);
    ck_assert_int_eq(figures_of_trace(&figures, &trace, &error), 0);
    ck_assert_int_eq(figures_of_trace(&figures_alone, &alone, &error), 0);
    ck_assert(figures.resumed == 17 && figures.done == figures_alone.done + 17);
    ck_assert(figures.chunks == figures_alone.chunks && figures.compute_s == figures_alone.compute_s);
    ck_assert(figures.worker_stats[0].iterations == figures_alone.worker_stats[0].iterations);
    text_init(&text);
    ck_assert_int_eq(run_tree_make(&tree, &trace, figures.begin_s, 9, &error), 0);
    page_html(&text, &(struct page_content){.figures = &figures, .trace = &trace, .tree = &tree, .name = "t.csv"});
    run_tree_fini(&tree);
    ck_assert_ptr_nonnull(strstr(text.data, " cut what was left of "));
    ck_assert_ptr_nonnull(
        strstr(text.data, "data-figure=\"resumed\" data-value=\"17\">17</b> of them by an earlier run"));
    text_fini(&text);
    figures_fini(&figures);
    figures_fini(&figures_alone);
    run_trace_fini(&trace);
    run_trace_fini(&alone);
}
END_TEST

START_TEST(words_are_never_markup)
{
    struct text text;
    text_init(&text);
    markup_add(&text, "<b> & \"x\" 'y' \x1b[2J \xc3\xa4 \xff \xc0\xaf \xed\xa0\x80 \xf0\x9f\x98\x80");
    ck_assert_str_eq(text.data, "&lt;b&gt; &amp; &quot;x&quot; &#39;y&#39; ?[2J \xc3\xa4 ? ?? ??? \xf0\x9f\x98\x80");
    text_fini(&text);
    text_init(&text);
    markup_add_json(&text, "</script>\"\\\n\xff");
    ck_assert_str_eq(text.data, "\"\\u003c/script\\u003e\\u0022\\u005c\\u000a?\"");
    text_fini(&text);
}
END_TEST

START_TEST(numbers_are_packed)
{
    struct pack pack;
    struct text text;
    text_init(&text);
    pack_begin(&pack, &text);
    pack_put(&pack, 7, 7);    /* 01 */
    pack_put(&pack, 5, 7);    /* 04 */
    pack_put_unknown(&pack);  /* 00 */
    pack_put(&pack, 1000, 0); /* 2001: d1 0f */
    pack_end(&pack);
    ck_assert_str_eq(text.data, "AQQA0Q8A");
    text_fini(&text);
    text_init(&text);
    pack_begin(&pack, &text);
    for (unsigned i = 0; i < 10000; i++) /* more than goes at once */
        pack_put(&pack, INT64_C(1) << 53, 0);
    pack_end(&pack);
    ck_assert_uint_eq(text.length, (10000 * 8 + 2) / 3 * 4);
    text_fini(&text);
}
END_TEST

START_TEST(classes_are_by_fate_and_reason)
{
    ck_assert_int_eq(gantt_class_of(TRACE_OWN, TRACE_DONE), GANTT_OWN);
    ck_assert_int_eq(gantt_class_of(TRACE_CUT_NOW, TRACE_OPEN), GANTT_OWN);
    ck_assert_int_eq(gantt_class_of(TRACE_COPY, TRACE_DONE), GANTT_COPY);
    ck_assert_int_eq(gantt_class_of(TRACE_COPY, TRACE_DROPPED), GANTT_IN_VAIN);
    ck_assert_int_eq(gantt_class_of(TRACE_VERIFY, TRACE_DROPPED), GANTT_VERIFY);
    ck_assert_int_eq(gantt_class_of(TRACE_VERIFY, TRACE_LOST), GANTT_IN_VAIN);
    ck_assert_int_eq(gantt_class_of(TRACE_REQUEUED, TRACE_LOST), GANTT_IN_VAIN);
    ck_assert_int_eq(gantt_class_of(TRACE_RECALLED, TRACE_RETURNED), GANTT_RECALLED);
}
END_TEST

/* Masters 1, of workers 4 and 5, and 2, of worker 6. The chunk of worker 6 is given in two parts, the second of them by
 * the other master. */
static const char tree_sample[] = HEAD "worker,,4,0,1,,,,,,,,,,,,\n"
                                       "worker,,5,0,1,,,,,,,,,,,,\n"
                                       "worker,,6,1,2,,,,,,,,,,,,\n"
                                       "cut,1,4,,,,0,10,,,,,,,,,\n"
                                       "cut,1,5,,,,10,10,,,,,,,,,\n"
                                       "cut,1,6,,,,20,30,,,,,,,,,\n"
                                       "chunk,2,4,0,1,1,0,10,own,,,,,,done,,\n"
                                       "chunk,3,4,0,1,2,10,10,other,,,,,,done,,\n"
                                       "chunk,2,6,1,2,1,20,10,own,,,,,,done,,\n"
                                       "chunk,4,6,1,2,2,0,10,copy,,,,,,dropped,,\n"
                                       "chunk,5,5,0,1,1,30,20,recalled,,,,,,done,,\n";

static void make_tree(struct run_tree *tree, struct run_trace *trace, const char *text)
{
    struct error error;
    ck_assert_msg(read_trace_text(trace, text, 1u << 20, &error) == 0, "%s", error.text);
    ck_assert_msg(run_tree_make(tree, trace, 1, 5, &error) == 0, "%s", error.text);
}

START_TEST(masters_and_their_pools_are_followed)
{
    struct run_trace trace;
    struct run_tree tree;
    make_tree(&tree, &trace, tree_sample);
    ck_assert(tree.masters == 2 && tree.branch_count == 2 && tree.all.workers == 3 && tree.all.served == 3);
    const struct tree_branch *one = &tree.branches[0], *two = &tree.branches[1];
    ck_assert(one->first == 1 && one->last == 1 && one->workers == 2 && one->served == 2 && two->first == 2);
    ck_assert(one->counts.chunks == 3 && one->counts.own == 1 && one->counts.other == 1 && one->counts.recalled == 1);
    ck_assert(two->counts.chunks == 2 && two->counts.own == 1 && two->counts.again == 1 && two->served == 1);
    ck_assert(tree.all.counts.chunks == 5 && tree.of_worker[0].other == 1 && tree.of_worker[1].recalled == 1);
    ck_assert_uint_eq(trace.workers[one->worker_index[1]].rank, 5);
    /* from 1 s to 5 s: 20 until 2 s, 10 until 3 s, then nothing */
    ck_assert(one->pool->cut == 20 && one->pool->most_iterations == 20 && one->pool->most_chunks == 2);
    ck_assert(one->pool->iterations[59] == 20 && one->pool->iterations[61] == 10 && one->pool->chunks[61] == 1);
    ck_assert(one->pool->iterations[119] == 10 && one->pool->iterations[121] == 0 && one->pool->moved == 0);
    ck_assert_double_eq_tol(one->pool->mean_chunks, 0.75, 1e-12);
    ck_assert_double_eq_tol(one->pool->empty, 0.5, 1e-12);
    /* 30 until 2 s, then 20, of one chunk all the time */
    ck_assert(two->pool->most_iterations == 30 && two->pool->most_chunks == 1 && two->pool->moved == 20);
    ck_assert(two->pool->iterations[239] == 20 && two->pool->empty == 0 && two->pool->most_s == 1);
    ck_assert_double_eq_tol(two->pool->mean_chunks, 1, 1e-12);
    ck_assert(tree.all.pool->most_iterations == 50 && tree.all.pool->most_chunks == 3 && tree.all.pool->moved == 20);
    run_tree_fini(&tree);
    run_trace_fini(&trace);
}
END_TEST

/* What was given before it was cut, by the clock of another node, lay in no pool; what a lost master had is cut again,
 * and what it had given and is given again by the supermaster is not in a pool a second time. */
START_TEST(a_pool_ends_with_its_master)
{
    struct run_trace trace;
    struct run_tree tree;
    make_tree(&tree, &trace,
              HEAD "worker,,4,0,1,,,,,,,,,,,,\n"
                   "worker,,6,1,2,,,,,,,,,,,,\n"
                   "cut,2,4,,,,0,10,,,,,,,,,\n"
                   "chunk,1.5,4,0,1,1,0,10,own,,,,,,done,,\n"
                   "cut,2,4,,,,10,10,,,,,,,,,\n"
                   "event,3,1,,,,,,,,,,,,,,master lost\n"
                   "cut,3,6,,,,10,10,,,,,,,,,\n"
                   "chunk,4,6,1,2,1,10,10,own,,,,,,done,,\n"
                   "chunk,5,4,0,0,1,0,10,requeued,,,,,,done,,\n"
                   "event,9,6,,,,,,,,,,,,,,worker lost\n");
    ck_assert_uint_eq(tree.branch_count, 3);
    ck_assert(tree.branches[0].masters == 0 && tree.branches[0].workers == 0 && tree.branches[0].counts.again == 1);
    ck_assert(tree.branches[1].pool->most_iterations == 10 && tree.branches[1].pool->iterations[239] == 0);
    ck_assert_double_eq_tol(tree.branches[1].pool->empty, 0.75, 1e-12);
    ck_assert_double_eq_tol(tree.branches[2].pool->empty, 0.75, 1e-12);
    ck_assert(tree.branches[1].pool->cut == 20 && tree.branches[2].pool->cut == 10 && tree.all.pool->moved == 0);
    ck_assert(tree.all.pool->most_iterations == 10 && tree.all.pool->most_chunks == 1);
    run_tree_fini(&tree);
    run_trace_fini(&trace);
}
END_TEST

/* The workers hang on the supermaster; an empty trace has nobody. */
START_TEST(without_masters_there_are_no_pools)
{
    struct run_trace trace;
    struct run_tree tree;
    make_tree(&tree, &trace,
              HEAD "worker,,1,0,0,,,,,,,,,,,,\nworker,,2,0,0,,,,,,,,,,,,\n"
                   "chunk,2,1,0,0,1,0,10,cut,,,,,,done,,\n");
    ck_assert(tree.masters == 0 && tree.branch_count == 1 && tree.all.workers == 2 && tree.all.served == 1);
    ck_assert(tree.all.pool == NULL && tree.all.counts.own == 1);
    run_tree_fini(&tree);
    run_trace_fini(&trace);
    make_tree(&tree, &trace, HEAD);
    ck_assert(tree.masters == 0 && tree.branch_count == 0 && tree.all.workers == 0);
    run_tree_fini(&tree);
    run_trace_fini(&trace);
}
END_TEST

START_TEST(very_many_masters_are_summed)
{
    struct run_trace trace;
    struct run_tree tree;
    struct text text;
    text_init(&text);
    text_add(&text, "%s", HEAD);
    for (unsigned master = 1; master <= 1000; master++)
        text_add(&text,
                 "worker,,%u,0,%u,,,,,,,,,,,,\ncut,1,%u,,,,%u,10,,,,,,,,,\nchunk,2,%u,0,%u,1,%u,10,own,,,,,,done,,\n",
                 master + 1000, master, master + 1000, 10 * master, master + 1000, master, 10 * master);
    make_tree(&tree, &trace, text.data);
    ck_assert(tree.masters == 1000 && tree.branch_count == 63 && tree.all.counts.own == 1000);
    const struct tree_branch *last = &tree.branches[62];
    ck_assert(tree.branches[0].first == 1 && tree.branches[0].last == 16 && tree.branches[0].pool->most_chunks == 16);
    ck_assert(last->first == 993 && last->last == 1000 && last->masters == 8 && last->workers == 8);
    ck_assert_uint_eq(tree.all.pool->most_iterations, 10000);
    run_tree_fini(&tree);
    run_trace_fini(&trace);
    text_fini(&text);
}
END_TEST

static unsigned occurrences(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

START_TEST(the_svg_has_each_chunk)
{
    struct run_trace trace;
    struct text text;
    read_sample(&trace);
    text_init(&text);
    gantt_svg(&text, &trace, "a <title> & more");
    ck_assert_ptr_nonnull(text.data);
    ck_assert_uint_eq(occurrences(text.data, "a &lt;title&gt; &amp; more"), 2);
    ck_assert_uint_eq(occurrences(text.data, "<title>worker 3 was lost</title>"), 1);
    ck_assert_uint_eq(occurrences(text.data, ">node "), 2);
    /* a path for each class, with a rectangle for each of its chunks; worker 4 computes from 2 to 6 s of 9 s, which are
     * 660 cells behind the 92 of the labels */
    const char *own = strstr(text.data, "<path fill=\"#0072b2\"");
    ck_assert_ptr_nonnull(own);
    ck_assert_uint_eq(occurrences(text.data, "<path fill="), 3);
    ck_assert_ptr_nonnull(strstr(own, "M238.7 74h293v15h-293z"));
    text_fini(&text);
    run_trace_fini(&trace);
}
END_TEST

START_TEST(many_short_chunks_make_a_small_svg)
{
    struct run_trace trace;
    struct trace_reader reader;
    struct error error;
    struct text text;
    run_trace_init(&trace);
    ck_assert_int_eq(trace_reader_init(&reader, "t.csv", run_trace_take, &trace, &error), 0);
    ck_assert_int_eq(trace_reader_take(&reader, HEAD, strlen(HEAD), &error), 0);
    for (unsigned i = 0; i < 100000; i++) {
        char line[160];
        const int length =
            snprintf(line, sizeof line, "chunk,%u,%u,0,0,,0,1,own,,%u,%u.5,,,done,,\n", i / 2, i % 2 + 1, i / 2, i / 2);
        ck_assert_int_eq(trace_reader_take(&reader, line, (size_t)length, &error), 0);
    }
    ck_assert_int_eq(trace_reader_end(&reader, &error), 0);
    ck_assert_int_eq(run_trace_order(&trace, &error), 0);
    text_init(&text);
    gantt_svg(&text, &trace, "t");
    ck_assert_uint_lt(text.length, 100000);
    ck_assert_uint_ge(occurrences(text.data, "fill-opacity=\"0.5\""), 1); /* half of the time is busy */
    text_fini(&text);
    trace_reader_fini(&reader);
    run_trace_fini(&trace);
}
END_TEST

START_TEST(the_page_has_its_data_and_no_marks_left)
{
    struct run_trace trace;
    struct figures figures;
    struct run_tree tree;
    struct error error;
    struct text text;
    read_sample(&trace);
    figures_init(&figures);
    ck_assert_int_eq(figures_of_trace(&figures, &trace, &error), 0);
    ck_assert_int_eq(run_tree_make(&tree, &trace, figures.begin_s, 9, &error), 0);
    text_init(&text);
    page_html(&text, &(struct page_content){.figures = &figures, .trace = &trace, .tree = &tree, .name = "<t.csv>"});
    ck_assert_ptr_nonnull(text.data);
    ck_assert_ptr_nonnull(strstr(text.data, "data-figure=\"elapsed_s\" data-value=\"8\">8.00 s<"));
    ck_assert_ptr_nonnull(strstr(text.data, "from &lt;t.csv&gt;."));
    ck_assert_ptr_nonnull(strstr(text.data, "<td>a &quot;b&quot;,\n&lt;c&gt;</td>"));
    ck_assert_ptr_null(strstr(text.data, "<c>"));
    ck_assert_ptr_null(strstr(text.data, "{{"));
    ck_assert_uint_eq(occurrences(text.data, "<th scope=\"row\" data-value"), 3);
    text_fini(&text);
    run_tree_fini(&tree);
    figures_fini(&figures);
    run_trace_fini(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *all = tcase_create("report");
    tcase_add_test(all, a_trace_is_read_in_pieces_of_any_size);
    tcase_add_test(all, a_trace_comes_into_its_order);
    tcase_add_test(all, chunks_are_sorted_and_their_workers_added);
    tcase_add_test(all, broken_lines_are_refused);
    tcase_add_test(all, a_row_has_an_end);
    tcase_add_test(all, figures_are_those_of_the_trace);
    tcase_add_test(all, rows_of_one_chunk_are_one_chunk);
    tcase_add_test(all, figures_are_those_of_the_report);
    tcase_add_test(all, predictions_come_least_first);
    tcase_add_test(all, what_was_predicted_stands_beside_what_came);
    tcase_add_test(all, a_simulation_stands_beside_the_run);
    tcase_add_test(all, a_report_of_another_run_is_refused);
    tcase_add_test(all, what_an_earlier_run_had_done_is_told_apart);
    tcase_add_test(all, words_are_never_markup);
    tcase_add_test(all, numbers_are_packed);
    tcase_add_test(all, classes_are_by_fate_and_reason);
    tcase_add_test(all, masters_and_their_pools_are_followed);
    tcase_add_test(all, a_pool_ends_with_its_master);
    tcase_add_test(all, without_masters_there_are_no_pools);
    tcase_add_test(all, very_many_masters_are_summed);
    tcase_add_test(all, the_svg_has_each_chunk);
    tcase_add_test(all, many_short_chunks_make_a_small_svg);
    tcase_add_test(all, the_page_has_its_data_and_no_marks_left);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
