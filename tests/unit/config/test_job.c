/* SPDX-License-Identifier: MIT */
/* Command lines of the three daemons: defaults, every option, every way to be wrong and its line. */
#include "common/config/job.h"
#include "common/config/options.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>

static struct job job;
static struct worker_options worker;
static struct error error;
static char words[4000];
static char *argv[100];

static int split(const char *line)
{
    int argc = 1;
    argv[0] = words;
    error.text[0] = '\0';
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        argv[argc++] = word;
    return argc;
}

static int parse(const char *line)
{
    int result = job_parse(&job, split(line), argv, &error);
    return result != 0 ? result : job_check_files(&job, &error);
}

static int parse_worker(const char *line)
{
    return worker_options_parse(&worker, split(line), argv, &error);
}

START_TEST(a_share_is_verified)
{
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert_double_eq(job.spec.verify, 0);
    ck_assert_int_eq(parse("--verify 0.05 toy"), 0);
    ck_assert_double_eq(job.spec.verify, 0.05);
    ck_assert_uint_eq(job.spec.verify_seed, RUN_VERIFY_SEED);
    ck_assert_int_eq(job.spec.verify_action, RUN_VERIFY_FAIL);
    ck_assert_int_eq(parse("--verify=1:0 --verify-action drop-worker toy"), 0);
    ck_assert_double_eq(job.spec.verify, 1);
    ck_assert_uint_eq(job.spec.verify_seed, 0);
    ck_assert_int_eq(job.spec.verify_action, RUN_VERIFY_DROP_WORKER);
}
END_TEST

START_TEST(metrics_go_to_a_file)
{
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert_str_eq(job.metrics_file, "");
    ck_assert_int_eq(parse("--metrics-file here/run.prom --control off toy"), 0);
    ck_assert_str_eq(job.metrics_file, "here/run.prom");
}
END_TEST

START_TEST(nodes_are_put_aside_or_not)
{
    ck_assert_int_eq(parse("--node-failures 3 toy"), 0);
    ck_assert_uint_eq(job.spec.node_failures, 3);
    ck_assert_int_eq(parse("--node-failures off toy"), 0);
    ck_assert_uint_eq(job.spec.node_failures, 0);
}
END_TEST

START_TEST(a_kernel_alone_has_the_defaults)
{
    ck_assert_int_eq(parse("mandelbrot"), 0);
    ck_assert_str_eq(job.kernel, "mandelbrot");
    ck_assert_uint_eq(job.kernel_params, 0);
    ck_assert_str_eq(job.spec.technique.technique->name, "dfss");
    ck_assert_int_eq(job.spec.weighting, SCHED_WEIGHTING_NONE);
    ck_assert_uint_eq(job.spec.min_chunk, 1);
    ck_assert_uint_eq(job.spec.refill_chunks, 1);
    ck_assert_int_eq(job.spec.refill, RUN_REFILL_AHEAD);
    ck_assert_int_eq(job.spec.copies, RUN_COPIES_ON);
    ck_assert_int_eq(job.spec.group_by, RUN_GROUP_BY_NODE);
    ck_assert_int_eq(job.spec.ask_ahead, ASK_AHEAD_AUTO);
    ck_assert_uint_eq(job.spec.retries, 2);
    ck_assert_uint_eq(job.spec.node_failures, 10);
    ck_assert_uint_eq(job.first, 0);
    ck_assert_uint_eq(job.count, UINT64_MAX);
    ck_assert_int_eq(job.spec.power, RUN_POWER_MEASURE);
    ck_assert_str_eq(job.output, "");
    ck_assert_str_eq(job.report, "");
    ck_assert_int_eq(job.progress, JOB_PROGRESS_AUTO);
}
END_TEST

START_TEST(every_option_is_taken)
{
    ck_assert_int_eq(parse("--technique css:chunk=1250 --weighting power --min-chunk 1e3 --refill-chunks 64 --refill "
                           "when-empty --copies off --group-by "
                           "even --ask-ahead 8 --masters-compute --break-after 12 "
                           "--iterations 10:2^20 --power speeds.txt --output a.npy toy a=1 b=x=y --report r.json "
                           "--progress never"),
                     0);
    ck_assert_str_eq(job.spec.technique.technique->name, "css");
    ck_assert_uint_eq(job.spec.technique.values[0].integer, 1250);
    ck_assert_int_eq(job.spec.weighting, SCHED_WEIGHTING_POWER);
    ck_assert_uint_eq(job.spec.min_chunk, 1000);
    ck_assert_uint_eq(job.spec.refill_chunks, 64);
    ck_assert_int_eq(job.spec.refill, RUN_REFILL_WHEN_EMPTY);
    ck_assert_int_eq(job.spec.copies, RUN_COPIES_OFF);
    ck_assert_int_eq(job.spec.group_by, RUN_GROUP_BY_EVEN);
    ck_assert(job.spec.masters_compute && job.spec.break_after == 12);
    ck_assert_int_eq(job.spec.ask_ahead, ASK_AHEAD_FIXED);
    ck_assert_uint_eq(job.spec.ask_ahead_chunks, 8);
    ck_assert_uint_eq(job.first, 10);
    ck_assert_uint_eq(job.count, 1 << 20);
    ck_assert_int_eq(job.spec.power, RUN_POWER_FILE);
    ck_assert_str_eq(job.power_file, "speeds.txt");
    ck_assert_str_eq(job.output, "a.npy");
    ck_assert_str_eq(job.report, "r.json");
    ck_assert_int_eq(job.progress, JOB_PROGRESS_NEVER);
    ck_assert_str_eq(job.kernel, "toy");
    ck_assert_uint_eq(job.kernel_params, 2);
    ck_assert_str_eq(job.kernel_param[0], "a=1");
    ck_assert_str_eq(job.kernel_param[1], "b=x=y");
}
END_TEST

START_TEST(an_option_stands_for_a_parameter)
{
    ck_assert_int_eq(parse("--max-output 5 toy a=1 --max-output=1000"), 0);
    ck_assert_uint_eq(job.kernel_params, 2);
    ck_assert_str_eq(job.kernel_param[0], "a=1");
    ck_assert_str_eq(job.kernel_param[1], "max_output=1000");
}
END_TEST

START_TEST(parts_are_joined_unless_it_is_said_otherwise)
{
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert(job.joins && !job.join_given);
    ck_assert_int_eq(parse("--join no toy"), 0);
    ck_assert(!job.joins && job.join_given);
    ck_assert_int_eq(parse("--join maybe toy"), -1);
}
END_TEST

START_TEST(powers_come_as_a_list_or_from_a_file)
{
    ck_assert_int_eq(parse("--power 1,0.8 toy"), 0);
    ck_assert_int_eq(job.spec.power, RUN_POWER_LIST);
    ck_assert_str_eq(job.power_file, "1,0.8");
    ck_assert_int_eq(parse("--power a,b toy"), 0);
    ck_assert_int_eq(job.spec.power, RUN_POWER_FILE);
}
END_TEST

START_TEST(the_time_of_an_iteration_has_a_limit_if_it_is_asked_for)
{
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert_int_eq(job.spec.timeout, RUN_TIMEOUT_NONE);
    ck_assert_uint_eq(job.spec.timeout_ns, 0);
    ck_assert_int_eq(parse("--iteration-timeout 2.5 toy"), 0);
    ck_assert_int_eq(job.spec.timeout, RUN_TIMEOUT_GIVEN);
    ck_assert_uint_eq(job.spec.timeout_ns, 2500000000);
    ck_assert_int_eq(parse("--iteration-timeout 2.5 --iteration-timeout auto toy"), 0);
    ck_assert_int_eq(job.spec.timeout, RUN_TIMEOUT_AUTO);
    ck_assert_uint_eq(job.spec.timeout_ns, 0);
    ck_assert_int_eq(parse("--iteration-timeout 2.5 --iteration-timeout none toy"), 0);
    ck_assert_int_eq(job.spec.timeout, RUN_TIMEOUT_NONE);
    ck_assert_uint_eq(job.spec.timeout_ns, 0);
}
END_TEST

START_TEST(the_last_one_counts)
{
    ck_assert_int_eq(
        parse("--ask-ahead 3 --ask-ahead off --power x --power equal --iterations 0:0 --isolate off --isolate on toy"),
        0);
    ck_assert_int_eq(job.spec.isolate, RUN_ISOLATE_ON);
    ck_assert_int_eq(job.spec.ask_ahead, ASK_AHEAD_OFF);
    ck_assert_int_eq(job.spec.power, RUN_POWER_EQUAL);
    ck_assert_uint_eq(job.count, 0);
}
END_TEST

static const struct {
    const char *line, *text;
} refused[] = {
    {"", "no kernel is given; `hdss kernels` lists them"},
    {"--min-chunk 3", "no kernel is given; `hdss kernels` lists them"},
    {"width=3 toy", "'width=3' stands before the kernel; accepted: KERNEL [KEY=VALUE]..."},
    {"toy width", "'width' after kernel toy: accepted: KEY=VALUE"},
    {"--weighting heavy toy", "--weighting 'heavy': accepted: none, power, acp"},
    {"--min-chunk 0 toy", "--min-chunk '0': accepted: an integer from 1 to 2^63"},
    {"--min-chunk -1 toy", "--min-chunk '-1': accepted: an integer from 1 to 2^63"},
    {"--refill-chunks 0 toy", "--refill-chunks '0': accepted: an integer from 1 to 64"},
    {"--copies 2 toy", "--copies '2': accepted: on, off"},
    {"--refill empty toy", "--refill 'empty': accepted: ahead, when-empty"},
    {"--refill-chunks 65 toy", "--refill-chunks '65': accepted: an integer from 1 to 64"},
    {"--min-chunk 1.5 toy", "--min-chunk '1.5': accepted: an integer from 1 to 2^63"},
    {"--break-after 0 toy", "--break-after '0': accepted: an integer from 1 to 2^63"},
    {"--group-by rack toy", "--group-by 'rack': accepted: node, even"},
    {"--verify 0 toy", "--verify '0': accepted: a number above 0, up to 1, and an integer from 0 as seed"},
    {"--verify 1.5 toy", "--verify '1.5': accepted: a number above 0, up to 1, and an integer from 0 as seed"},
    {"--verify 0.5:x toy", "--verify '0.5:x': accepted: a number above 0, up to 1, and an integer from 0 as seed"},
    {"--verify 0.5: toy", "--verify '0.5:': accepted: a number above 0, up to 1, and an integer from 0 as seed"},
    {"--verify 1 --verify-action ask toy", "--verify-action 'ask': accepted: fail, drop-worker"},
    {"--verify-action fail toy", "--verify-action is for --verify SHARE"},
    {"--isolate yes toy", "--isolate 'yes': accepted: auto, on, off"},
    {"--iteration-timeout 0 toy",
     "--iteration-timeout '0': accepted: auto, none, a number of seconds from 0.001 to 1000000"},
    {"--iteration-timeout 0.0001 toy",
     "--iteration-timeout '0.0001': accepted: auto, none, a number of seconds from 0.001 to 1000000"},
    {"--iteration-timeout 1000001 toy",
     "--iteration-timeout '1000001': accepted: auto, none, a number of seconds from 0.001 to 1000000"},
    {"--iteration-timeout 5s toy",
     "--iteration-timeout '5s': accepted: auto, none, a number of seconds from 0.001 to 1000000"},
    {"--iteration-timeout off toy",
     "--iteration-timeout 'off': accepted: auto, none, a number of seconds from 0.001 to 1000000"},
    {"--retries -1 toy", "--retries '-1': accepted: an integer from 0 to 100"},
    {"--node-failures 0 toy", "--node-failures '0': accepted: off, an integer from 1 to 100"},
    {"--retries 101 toy", "--retries '101': accepted: an integer from 0 to 100"},
    {"--ask-ahead 0 toy", "--ask-ahead '0': accepted: auto, off, an integer from 1 to 8"},
    {"--ask-ahead 9 toy", "--ask-ahead '9': accepted: auto, off, an integer from 1 to 8"},
    {"--inject-delay 100 toy",
     "--inject-delay '100': accepted: calculation:MICROSECONDS or assignment:MICROSECONDS, up to 1000000"},
    {"--inject-delay calculation:-1 toy",
     "--inject-delay 'calculation:-1': accepted: calculation:MICROSECONDS or assignment:MICROSECONDS, up to 1000000"},
    {"--inject-delay communication:1 toy",
     "--inject-delay 'communication:1': accepted: calculation:MICROSECONDS or assignment:MICROSECONDS, up to 1000000"},
    {"--iterations 5 toy", "--iterations '5': accepted: FIRST:COUNT, two integers from 0, such as 0:100"},
    {"--iterations 5: toy", "--iterations '5:': accepted: FIRST:COUNT, two integers from 0, such as 0:100"},
    {"--iterations :5 toy", "--iterations ':5': accepted: FIRST:COUNT, two integers from 0, such as 0:100"},
    {"--iterations 1:2:3 toy", "--iterations '1:2:3': accepted: FIRST:COUNT, two integers from 0, such as 0:100"},
    {"--iterations 2:2^63 toy", "--iterations: '2:2^63' reaches beyond iteration 2^63"},
    {"--report r.txt toy",
     "--report 'r.txt': accepted: the name of a file that ends in .json, a device, or - for standard output"},
    {"--report .json toy",
     "--report '.json': accepted: the name of a file that ends in .json, a device, or - for standard output"},
    {"--output= toy", "--output: the file name is empty"},
    {"--output a.json --report a.json toy", "--output and --report name the same file, a.json"},
    {"--progress maybe toy", "--progress 'maybe': accepted: auto, always, never"},
    {"--frobnicate toy", "unknown option --frobnicate; --help shows what there is"},
    {"--resume toy", "--resume goes on from a journal, and this job has none; accepted: with --output FILE, or with "
                     "--journal FILE"},
    {"--resume --journal off --output a.npy toy",
     "--resume goes on from a journal, and this job has none; accepted: with --output FILE, or with --journal FILE"},
    {"--output a.npy --journal a.npy toy", "--journal names the same file as --output, a.npy"},
    {"--report a.json --journal a.json toy", "--journal names the same file as --report, a.json"},
    {"--journal= toy", "--journal: the file name is empty"},
    {"--metrics-file= toy", "--metrics-file: the file name is empty"},
    {"--metrics-file a.npy --output a.npy toy", "--metrics-file names a file that has another use, a.npy"},
    {"--metrics-file a.json --report a.json toy", "--metrics-file names a file that has another use, a.json"},
    {"--metrics-file a.npy.journal --output a.npy toy",
     "--metrics-file names a file that has another use, a.npy.journal"},
    {"--results elsewhere toy", "--results 'elsewhere': accepted: there, here"},
    {"--durability disk toy", "--durability 'disk': accepted: process, node"},
    {"--drain-time -1 toy", "--drain-time '-1': accepted: a number of seconds from 0 to 1e6"},
    {"--drain-time long toy", "--drain-time 'long': accepted: a number of seconds from 0 to 1e6"},
};

START_TEST(a_journal_has_a_name)
{
    static const struct {
        const char *line, *path;
    } cases[] = {
        {"toy", ""},
        {"--output d/a.npy toy", "d/a.npy.journal"},
        {"--output a.npy --journal b toy", "b"},
        {"--journal b toy", "b"},
        {"--output a.npy --journal off toy", ""},
        {"--output a.npy --journal off --journal b toy", "b"},
        {"--output a.npy --journal b --journal off toy", ""},
    };
    char path[JOB_JOURNAL_PATH_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(parse(cases[i].line), 0);
        ck_assert_str_eq(job_journal_path(&job, path), cases[i].path);
    }
}
END_TEST

START_TEST(an_earlier_run_is_refused_resumed_or_overwritten)
{
    ck_assert_int_eq(parse("--output a.npy toy"), 0);
    ck_assert_int_eq(job.earlier, JOB_EARLIER_REFUSE);
    ck_assert_int_eq(job.durability, JOB_DURABILITY_PROCESS);
    ck_assert_int_eq(parse("--overwrite --output a.npy toy --resume --durability node"), 0); /* the last one counts */
    ck_assert_int_eq(job.earlier, JOB_EARLIER_RESUME);
    ck_assert_int_eq(parse("--output a.npy --resume failed toy"), 0);
    ck_assert_int_eq(job.earlier, JOB_EARLIER_RESUME_FAILED);
    ck_assert_int_eq(parse("--output a.npy --resume=failed toy"), 0);
    ck_assert_int_eq(job.earlier, JOB_EARLIER_RESUME_FAILED);
    ck_assert_int_eq(parse("--output a.npy --resume=all toy"), -1);
    ck_assert_int_eq(parse("--output a.npy --resume toy --durability node"), 0);
    ck_assert_int_eq(job.earlier, JOB_EARLIER_RESUME);
    ck_assert_int_eq(job.durability, JOB_DURABILITY_NODE);
    ck_assert_int_eq(parse("--resume --overwrite toy"), 0);
    ck_assert_int_eq(job.earlier, JOB_EARLIER_OVERWRITE);
}
END_TEST

START_TEST(delays_can_be_given_for_both)
{
    ck_assert_int_eq(parse("--inject-delay calculation:0.5 --inject-delay assignment:1e6 toy"), 0);
    ck_assert_uint_eq(job.spec.calculation_ns, 500);
    ck_assert_uint_eq(job.spec.assignment_ns, 1000000000);
}
END_TEST

START_TEST(a_drain_takes_so_long)
{
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert_uint_eq(job.spec.drain_ns, 20000000000);
    ck_assert_int_eq(parse("--drain-time 1.5 toy"), 0);
    ck_assert_uint_eq(job.spec.drain_ns, 1500000000);
}
END_TEST

START_TEST(a_wrong_job_is_refused)
{
    ck_assert_int_eq(parse(refused[_i].line), -1);
    ck_assert_str_eq(error.text, refused[_i].text);
}
END_TEST

START_TEST(techniques_explain_themselves)
{
    ck_assert_int_eq(parse("--technique guess toy"), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "--technique: "));
    ck_assert_ptr_nonnull(strstr(error.text, "'guess'"));
    ck_assert_ptr_nonnull(strstr(error.text, "gss"));
}
END_TEST

START_TEST(auto_leaves_the_technique_open)
{
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert(!job.spec.technique_auto);
    ck_assert_int_eq(parse("--technique auto toy"), 0);
    ck_assert(job.spec.technique_auto);
    ck_assert_str_eq(job.spec.technique.technique->name, "dfss");
    ck_assert_int_eq(parse("--technique auto --technique gss toy"), 0); /* the last one counts */
    ck_assert(!job.spec.technique_auto);
    ck_assert_int_eq(parse("--technique gss --technique auto toy"), 0);
    ck_assert(job.spec.technique_auto);
    ck_assert_str_eq(job.spec.technique.technique->name, "dfss");
    ck_assert_int_eq(parse("--technique guess toy"), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "; or auto"));
    ck_assert_int_eq(parse("--technique css:chunk=0 toy"), -1);
    ck_assert_ptr_null(strstr(error.text, "auto"));
    ck_assert_int_eq(parse("--technique auto:chunk=1 toy"), -1);
    ck_assert_str_eq(error.text, "--technique: technique 'auto:chunk=1' is not accepted: auto has no parameters");
}
END_TEST

START_TEST(who_measures_what)
{
    static const struct {
        const char *line;
        bool probes, learns, swr;
    } jobs[] = {
        {"toy", true, false},
        {"--power equal toy", false, false},
        {"--power FILE toy", false, false},
        {"--technique auto --power equal toy", true, true, true},
        {"--technique awf-b --power equal toy", false, true},
        {"--technique fsc --power equal toy", true, true},
        {"--technique fsc:h=0.01 --power equal toy", false, true},
        {"--technique fsc:h=0.01,sigma=0.1 --power equal toy", false, false},
        {"--technique fac:mu=1,sigma=0.1 toy", true, false},
        {"--technique pls --power equal toy", true, false, true},
        {"--technique pls:swr=measure --power equal toy", true, false, true},
        {"--technique pls:swr=0.5 --power equal toy", false, false},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        ck_assert_msg(parse(jobs[i].line) == 0, "%s", error.text);
        ck_assert_msg(run_spec_probes(&job.spec) == jobs[i].probes && run_spec_learns(&job.spec) == jobs[i].learns,
                      "%s", jobs[i].line);
        ck_assert_int_eq(run_spec_wants_swr(&job.spec), jobs[i].swr);
    }
}
END_TEST

/* `auto` that is chosen late measures nothing before the loop; what the kernel wants is handed out singly. */
START_TEST(iterations_with_effects_are_not_probed)
{
    ck_assert_int_eq(parse("--technique auto --power equal toy"), 0);
    ck_assert(job.technique_given);
    job.spec.chosen_late = true;
    run_spec_hand_out_singly(&job.spec);
    ck_assert(!run_spec_probes(&job.spec) && run_spec_learns(&job.spec) && job.spec.technique_by_kernel);
    ck_assert_str_eq(job.spec.technique.technique->name, "ss");
    ck_assert_int_eq(parse("toy"), 0);
    ck_assert(!job.technique_given && !job.spec.technique_by_kernel);
}
END_TEST

START_TEST(limits_are_kept)
{
    char line[3 * JOB_KERNEL_PARAMS_MAX + 3 * JOB_PATH_MAX] = "toy";
    for (int i = 0; i < JOB_KERNEL_PARAMS_MAX; i++)
        strcat(line, " a=");
    ck_assert_int_eq(parse(line), 0);
    ck_assert_uint_eq(job.kernel_params, JOB_KERNEL_PARAMS_MAX);
    strcat(line, " a=");
    ck_assert_int_eq(parse(line), -1);
    ck_assert_str_eq(error.text, "kernel toy has more than 64 parameters");
    memset(line, 'x', sizeof line);
    memcpy(line, "toy --output=", 13);
    line[13 + JOB_PATH_MAX - 1] = '\0';
    ck_assert_int_eq(parse(line), 0);
    line[13 + JOB_PATH_MAX - 1] = 'x';
    line[13 + JOB_PATH_MAX] = '\0';
    ck_assert_int_eq(parse(line), -1);
    ck_assert_str_eq(error.text, "--output: the file name is longer than 1023 characters");
}
END_TEST

START_TEST(workers_take_a_slowdown)
{
    ck_assert_int_eq(parse_worker(""), 0);
    ck_assert_double_eq(worker.slowdown, 1);
    ck_assert_int_eq(worker.dca, WORKER_DCA_NONE);
    ck_assert_int_eq(parse_worker("--slowdown 2.5"), 0);
    ck_assert_double_eq(worker.slowdown, 2.5);
    ck_assert_int_eq(parse_worker("--slowdown 0.9"), -1);
    ck_assert_str_eq(error.text, "--slowdown '0.9': accepted: a number from 1 to 1000");
    ck_assert_int_eq(parse_worker("--slowdown 1001"), -1);
    ck_assert_int_eq(parse_worker("--slowdown nan"), -1);
}
END_TEST

START_TEST(workers_are_told_that_there_are_no_threads)
{
    ck_assert_int_eq(parse_worker(""), 0);
    ck_assert(!worker.no_threads);
    ck_assert_int_eq(parse_worker("--no-threads"), 0);
    ck_assert(worker.no_threads);
    ck_assert_int_eq(parse_worker("--no-threads=1"), -1);
}
END_TEST

START_TEST(workers_take_a_load)
{
    ck_assert_int_eq(parse_worker(""), 0);
    ck_assert(!worker.loaded);
    ck_assert_int_eq(parse_worker("--load 0"), 0);
    ck_assert(worker.loaded && worker.load == 0);
    ck_assert_int_eq(parse_worker("--load 64"), 0);
    ck_assert_uint_eq(worker.load, 64);
    ck_assert_int_eq(parse_worker("--load 65"), -1);
    ck_assert_str_eq(error.text, "--load '65': accepted: an integer from 0 to 64");
    ck_assert_int_eq(parse_worker("--load 1.5"), -1);
}
END_TEST

START_TEST(ranks_take_no_job)
{
    struct master_options options;
    ck_assert_int_eq(parse_worker("mandelbrot"), -1);
    ck_assert_str_eq(error.text, "unexpected word 'mandelbrot': worker takes no job, it is given to the supermaster");
    ck_assert_int_eq(parse_worker("--dca two-sided mandelbrot"), 0);
    ck_assert_int_eq(worker.dca, WORKER_DCA_TWO_SIDED);
    ck_assert_int_eq(master_options_parse(&options, split("mandelbrot"), argv, &error), -1);
    ck_assert_str_eq(error.text, "unexpected word 'mandelbrot': master takes no job, it is given to the supermaster");
    ck_assert_int_eq(master_options_parse(&options, split("--help"), argv, &error), OPTIONS_HELP);
    ck_assert_int_eq(master_options_parse(&options, split(""), argv, &error), 0);
    ck_assert_str_eq(options.join, "");
    ck_assert_int_eq(master_options_parse(&options, split("--join /set/pods"), argv, &error), 0);
    ck_assert_str_eq(options.join, "/set/pods");
}
END_TEST

START_TEST(pages_fit_a_terminal)
{
    char *(*const pages[])(void) = {job_help_text, master_help_text, worker_help_text};
    char *text = pages[_i]();
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) < 80, "%s", line);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, a_kernel_alone_has_the_defaults);
    tcase_add_test(tests, parts_are_joined_unless_it_is_said_otherwise);
    tcase_add_test(tests, a_share_is_verified);
    tcase_add_test(tests, metrics_go_to_a_file);
    tcase_add_test(tests, nodes_are_put_aside_or_not);
    tcase_add_test(tests, every_option_is_taken);
    tcase_add_test(tests, an_option_stands_for_a_parameter);
    tcase_add_test(tests, powers_come_as_a_list_or_from_a_file);
    tcase_add_test(tests, the_time_of_an_iteration_has_a_limit_if_it_is_asked_for);
    tcase_add_test(tests, the_last_one_counts);
    tcase_add_test(tests, delays_can_be_given_for_both);
    tcase_add_test(tests, a_drain_takes_so_long);
    tcase_add_test(tests, a_journal_has_a_name);
    tcase_add_test(tests, an_earlier_run_is_refused_resumed_or_overwritten);
    tcase_add_loop_test(tests, a_wrong_job_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(tests, techniques_explain_themselves);
    tcase_add_test(tests, auto_leaves_the_technique_open);
    tcase_add_test(tests, who_measures_what);
    tcase_add_test(tests, iterations_with_effects_are_not_probed);
    tcase_add_test(tests, limits_are_kept);
    tcase_add_test(tests, workers_take_a_slowdown);
    tcase_add_test(tests, workers_are_told_that_there_are_no_threads);
    tcase_add_test(tests, workers_take_a_load);
    tcase_add_test(tests, ranks_take_no_job);
    tcase_add_loop_test(tests, pages_fit_a_terminal, 0, 3);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
