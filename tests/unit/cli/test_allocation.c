/* SPDX-License-Identifier: MIT */
/* What `hdss run` makes of the variables of batch systems: nodes, their cores, and the time that is left. */
#include "common/util/error.h"
#include "deploy/cli/allocation.h"
#include "deploy/cli/duration.h"
#include "deploy/cli/hosts.h"
#include "deploy/cli/node_list.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct hosts hosts;
static struct error error;
static char names[8192];

static int collect(void *context, const char *name, struct error *why)
{
    (void)context, (void)why;
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " " : "", name);
    return 0;
}

static const struct {
    const char *list, *names;
} lists[] = {
    {"n1", "n1"},
    {"n[01-04,7],gpu3", "n01 n02 n03 n04 n7 gpu3"},
    {"a,b,c", "a b c"},
    {"n[8-11]", "n8 n9 n10 n11"},
    {"n[098-101]-ib", "n098-ib n099-ib n100-ib n101-ib"},
    {"r[1-2]n[1,03]", "r1n1 r1n03 r2n1 r2n03"},
    {"[1-2]x", "1x 2x"},
    {"n[5]", "n5"},
};

START_TEST(node_lists_are_expanded)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        names[0] = '\0';
        ck_assert_int_eq(node_list_expand(lists[i].list, collect, NULL, &error), 0);
        ck_assert_str_eq(names, lists[i].names);
    }
}
END_TEST

static const char *const wrong_lists[] = {
    "",       ",",     "a,",   ",a",       "n[",    "n]",     "n[]",    "n[1",           "n[1-]",  "n[-1]",
    "n[2-1]", "n[1,]", "n[a]", "n[1-2-3]", "n[1]]", "n[[1]]", "n[1 2]", "n[0123456789]", "a,n[x]", "n[1-2",
};

START_TEST(wrong_node_lists_are_refused)
{
    for (size_t i = 0; i < sizeof wrong_lists / sizeof *wrong_lists; i++) {
        names[0] = error.text[0] = '\0';
        ck_assert_msg(node_list_expand(wrong_lists[i], collect, NULL, &error) == -1, "%s", wrong_lists[i]);
        ck_assert_msg(strstr(error.text, "accepted: node names with ranges in brackets") != NULL, "%s", wrong_lists[i]);
    }
}
END_TEST

START_TEST(a_name_that_gets_too_long_is_refused)
{
    char list[HOST_NAME_BYTES + 8];
    memset(list, 'n', sizeof list);
    strcpy(list + HOST_NAME_BYTES - 2, "[1-20]");
    ck_assert_int_eq(node_list_expand(list, collect, NULL, &error), -1);
}
END_TEST

START_TEST(counts_are_repeated)
{
    unsigned counts[4];
    ck_assert_int_eq(node_counts_parse("16(x2),8,1", counts, 4, &error), 0);
    ck_assert(counts[0] == 16 && counts[1] == 16 && counts[2] == 8 && counts[3] == 1);
    ck_assert_int_eq(node_counts_parse("2(x4)", counts, 4, &error), 0);
    ck_assert_uint_eq(counts[3], 2);
}
END_TEST

static const char *const wrong_counts[] = {"",     "1",   "1,2,3", "1(x3)",     "1(x2", "1(x2),",
                                           "1(2)", "0,1", "a,b",   "1(x0),1,1", "1,2,", "-1,2"};

START_TEST(wrong_counts_are_refused)
{
    unsigned counts[2];
    for (size_t i = 0; i < sizeof wrong_counts / sizeof *wrong_counts; i++) {
        error.text[0] = '\0';
        ck_assert_msg(node_counts_parse(wrong_counts[i], counts, 2, &error) == -1, "%s", wrong_counts[i]);
        ck_assert_msg(strstr(error.text, "accepted: a count for each of the 2 nodes") != NULL, "%s", wrong_counts[i]);
    }
}
END_TEST

/* All that are read. */
static const char *const variables[] = {"SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE",
                                        "SLURM_NTASKS",       "SLURM_CPUS_PER_TASK",
                                        "SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE",
                                        "SLURM_JOB_ID",       "SLURM_JOB_END_TIME",
                                        "LSB_MCPU_HOSTS",     "LSB_DJOB_HOSTFILE",
                                        "LSB_HOSTS",          "LSB_JOBID",
                                        "PBS_NODEFILE",       "PBS_JOBID"};
enum { VARIABLES = sizeof variables / sizeof *variables };

static void forget(void)
{
    for (size_t i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]);
    hosts_fini(&hosts);
    error.text[0] = '\0';
}

static void put_words(const char *words)
{
    char copy[500], *left = copy;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&left, ";")) != NULL;) {
        char *value = strchr(word, '=');
        *value = '\0';
        setenv(word, value + 1, 1);
    }
}

/* The environment, with ; between the variables, and "name:cores ..." that it stands for, or the line that refuses it.
 */
static const struct {
    const char *environment, *hosts;
} jobs[] = {
    {"PBS_NODEFILE=", ""},
    {"SLURM_JOB_NODELIST=n[1-3];SLURM_JOB_CPUS_PER_NODE=4(x2),2;SLURM_TASKS_PER_NODE=1(x3)", "n1:4 n2:4 n3:2"},
    {"SLURM_JOB_NODELIST=n[1-2];SLURM_JOB_CPUS_PER_NODE=64(x2);SLURM_NTASKS=8;SLURM_TASKS_PER_NODE=4(x2)", "n1:4 n2:4"},
    {"SLURM_JOB_NODELIST=n[1-2];SLURM_NTASKS=3;SLURM_TASKS_PER_NODE=2,1;SLURM_CPUS_PER_TASK=8", "n1:16 n2:8"},
    {"SLURM_JOB_NODELIST=n1;SLURM_CPUS_ON_NODE=6", "n1:6"},
    {"SLURM_JOB_NODELIST=n[1-2];SLURM_CPUS_ON_NODE=6", "n1:0 n2:0"},
    {"SLURM_JOB_NODELIST=n1;SLURM_JOB_CPUS_PER_NODE=2;LSB_HOSTS=a", "n1:2"},
    {"LSB_MCPU_HOSTS=a 4 b.example.org 2;LSB_HOSTS=c", "a:4 b.example.org:2"},
    {"LSB_MCPU_HOSTS= a 4 a 1 ", "a:5"},
    {"LSB_HOSTS=a a b", "a:2 b:1"},
    {"SLURM_JOB_NODELIST=n[1-2;SLURM_JOB_CPUS_PER_NODE=2",
     "SLURM_JOB_NODELIST: 'n[1-2': accepted: node names with ranges in brackets, separated by commas: n[01-04,7],gpu3"},
    {"SLURM_JOB_NODELIST=n1,n1", "SLURM_JOB_NODELIST: 'n1' is in the list twice"},
    {"SLURM_JOB_NODELIST=n[1-99999999]", "SLURM_JOB_NODELIST: more than 4096 hosts"},
    {"SLURM_JOB_NODELIST=-n1", "SLURM_JOB_NODELIST: '-n1' is no host name"},
    {"SLURM_JOB_NODELIST=n[1-2];SLURM_JOB_CPUS_PER_NODE=4",
     "SLURM_JOB_CPUS_PER_NODE: '4': accepted: a count for each of the 2 nodes: 16(x2),8"},
    {"SLURM_JOB_NODELIST=n1;SLURM_JOB_CPUS_PER_NODE=65537", "SLURM_JOB_CPUS_PER_NODE: 'n1' has more than 65536 cores"},
    {"SLURM_JOB_NODELIST=n1;SLURM_CPUS_PER_TASK=0", "SLURM_CPUS_PER_TASK: '0': accepted: an integer from 1 to 65536"},
    {"LSB_MCPU_HOSTS=a 4 b",
     "LSB_MCPU_HOSTS: '' cores: accepted: hosts, each with a number behind it: node1 16 node2 8"},
    {"LSB_MCPU_HOSTS=a b",
     "LSB_MCPU_HOSTS: 'b' cores: accepted: hosts, each with a number behind it: node1 16 node2 8"},
    {"LSB_HOSTS=a:2", "LSB_HOSTS: 'a:2' is no host name"},
    {"LSB_HOSTS= ", "LSB_HOSTS: no host in it"},
    {"PBS_NODEFILE=/no/such/file", "PBS_NODEFILE: /no/such/file: No such file or directory"},
};

static const char *read_job(void)
{
    static char text[500];
    if (allocation_read(&hosts, &error) < 0)
        return error.text;
    text[0] = '\0';
    for (unsigned i = 0; i < hosts.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s:%u", i > 0 ? " " : "", hosts.items[i].name,
                 hosts.items[i].slots);
    }
    return text;
}

START_TEST(jobs_are_read_from_the_environment)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        forget();
        put_words(jobs[i].environment);
        ck_assert_str_eq(read_job(), jobs[i].hosts);
    }
    forget();
}
END_TEST

/* Jobs of which one variable is then another one's, or nonsense. */
static const char *const sound_jobs[] = {
    "PBS_JOBID=",
    "SLURM_JOB_ID=7;SLURM_JOB_NODELIST=n[1-2];SLURM_JOB_CPUS_PER_NODE=4(x2)",
    "SLURM_JOB_NODELIST=n[1-2];SLURM_NTASKS=3;SLURM_TASKS_PER_NODE=2,1;SLURM_CPUS_PER_TASK=8",
    "SLURM_JOB_NODELIST=n1;SLURM_CPUS_ON_NODE=6",
    "LSB_JOBID=7;LSB_MCPU_HOSTS=a 4 b 2",
    "PBS_JOBID=7;PBS_NODEFILE=/etc/hostname",
};
static const char *const nonsense[] = {"",
                                       " ",
                                       "junk",
                                       "-1",
                                       "0",
                                       "3.5",
                                       "18446744073709551616",
                                       ",",
                                       "a a",
                                       "a 0",
                                       "a 4 a",
                                       "n[1-",
                                       "n[1-2]",
                                       "4(x",
                                       "4(x0)",
                                       "4(x4294967296)",
                                       "(x2)",
                                       "4(x3)",
                                       "/nonexistent/9",
                                       "/dev/null",
                                       "/",
                                       "%s%n",
                                       "\x1b[31m\xff\xc2\x9b"};

/* The line names a variable that is set. */
static bool names_a_variable(const char *line)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        const size_t length = strlen(variables[i]);
        if (getenv(variables[i]) != NULL && strncmp(line, variables[i], length) == 0 && line[length] == ':')
            return true;
    }
    return false;
}

/* It is read as a job, or refused by a line that names a variable of it; and nobody need want the line. */
static void check_refusal_or_hosts(void)
{
    struct hosts again = {0};
    const int result = allocation_read(&hosts, &error);
    ck_assert_int_eq(allocation_read(&again, NULL), result);
    ck_assert_uint_eq(again.count, hosts.count);
    ck_assert_msg(result == 0 || names_a_variable(error.text), "%s", error.text);
    for (const char *c = error.text; *c != '\0'; c++)
        ck_assert(*c != '\x1b');
    allocation_is_there();
    free(allocation_tasks(&hosts));
    hosts_fini(&again);
}

START_TEST(nonsense_is_refused_by_name)
{
    enum { JOBS = sizeof sound_jobs / sizeof *sound_jobs };
    for (size_t n = 0; n < JOBS * (sizeof nonsense / sizeof *nonsense); n++)
        for (size_t i = 0; i < VARIABLES; i++) {
            forget();
            put_words(sound_jobs[n % JOBS]);
            setenv(variables[i], nonsense[n / JOBS], 1);
            check_refusal_or_hosts();
            unsetenv(variables[i]);
            hosts_fini(&hosts);
            check_refusal_or_hosts();
        }
    forget();
}
END_TEST

START_TEST(files_name_a_host_for_each_slot)
{
    static const char *const of_files[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"};
    char path[] = "/tmp/hdss-nodes-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, "a\nb\r\na\n\nb\na\n", 12), 12);
    close(descriptor);
    forget();
    setenv(of_files[_i], path, 1);
    ck_assert_str_eq(read_job(), "a:3 b:2");
    forget();
    unlink(path);
}
END_TEST

START_TEST(mpirun_is_told_how_many_ranks_a_node_takes)
{
    forget();
    ck_assert_int_eq(hosts_parse_list(&hosts, "n1:4,n2:4,n3:4,n5:4", &error), 0);
    ck_assert_ptr_null(allocation_tasks(&hosts));
    setenv("SLURM_JOB_NODELIST", "n[1-6]", 1);
    hosts.items[0].ranks = 6;
    hosts.items[1].ranks = hosts.items[2].ranks = 5;
    hosts.items[3].ranks = 7;
    char *text = allocation_tasks(&hosts);
    ck_assert_str_eq(text, "6,5(x2),1,7,1");
    free(text);
    forget();
}
END_TEST

START_TEST(a_job_of_slurm_says_when_it_ends)
{
    char text[32];
    forget();
    snprintf(text, sizeof text, "%jd", (intmax_t)time(NULL) + 1000);
    setenv("SLURM_JOB_END_TIME", text, 1);
    ck_assert_int_eq(allocation_seconds_left(), -1);
    setenv("SLURM_JOB_ID", "7", 1);
    int64_t left = allocation_seconds_left();
    ck_assert_int_le(left, 1000);
    ck_assert_int_gt(left, 0);
    setenv("SLURM_JOB_END_TIME", "1", 1);
    ck_assert_int_eq(allocation_seconds_left(), 0);
    setenv("SLURM_JOB_END_TIME", "99999999999", 1);
    ck_assert_int_eq(allocation_seconds_left(), -1);
    forget();
}
END_TEST

/* What a squeue in the path says counts where the job does not. */
static const struct {
    const char *says;
    int64_t seconds;
} answers[] = {{"1-00:00:10", 86410}, {"59", 59}, {"2:03", 123}, {"UNLIMITED", -1}, {"INVALID", -1}, {"", -1}};

START_TEST(slurm_is_asked_how_long_a_job_has)
{
    char folder[] = "/tmp/hdss-squeue-XXXXXX", path[64], *before = strdup(getenv("PATH"));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/squeue", folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n[ \"$*\" = '--noheader --format=%%L --jobs=7' ] && echo '%s'\n", answers[_i].says);
    fchmod(fileno(file), 0700);
    fclose(file);
    setenv("PATH", folder, 1);
    forget();
    setenv("SLURM_JOB_ID", "7", 1);
    ck_assert_int_eq(allocation_seconds_left(), answers[_i].seconds);
    forget();
    setenv("PATH", before, 1);
    free(before);
    unlink(path);
    rmdir(folder);
}
END_TEST

static const struct {
    const char *text;
    int64_t seconds;
} spans[] = {{"0", 0},
             {"90", 90},
             {"10:30", 630},
             {"2:00:00", 7200},
             {"1-12:00:00", 129600},
             {"100:00", 6000},
             {"", -1},
             {"1:60", -1},
             {"1:2:3:4", -1},
             {"1-2", -1},
             {"-1", -1},
             {"1h", 3600},
             {"90s", 90},
             {"2d", 172800},
             {"1h30m", 5400},
             {"5min", 300},
             {"1500ms", -1},
             {"2000ms", 2},
             {"0.5h", 1800},
             {"1h30", -1},
             {"1x", -1},
             {"m", -1},
             {"99999d", -1},
             {"1:", -1},
             {":1", -1},
             {" 1", -1},
             {"1-2-3:0:0", -1},
             {"99999999999", -1},
             {"9999999999-0:0:0", -1},
             {"1-2:3", -1},
             {"1:2:61", -1},
             {"1.5", -1},
             {"2147483648", -1}};

START_TEST(spans_of_time_are_read)
{
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        uint64_t seconds = 7;
        const bool is_wrong = spans[i].seconds < 0;
        ck_assert_msg(duration_parse(spans[i].text, &seconds) == (is_wrong ? -1 : 0), "%s", spans[i].text);
        ck_assert_msg((int64_t)seconds == (is_wrong ? 7 : spans[i].seconds), "%s", spans[i].text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocation");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, node_lists_are_expanded);
    tcase_add_test(tests, wrong_node_lists_are_refused);
    tcase_add_test(tests, a_name_that_gets_too_long_is_refused);
    tcase_add_test(tests, counts_are_repeated);
    tcase_add_test(tests, wrong_counts_are_refused);
    tcase_add_test(tests, jobs_are_read_from_the_environment);
    tcase_add_test(tests, nonsense_is_refused_by_name);
    tcase_add_loop_test(tests, files_name_a_host_for_each_slot, 0, 2);
    tcase_add_test(tests, mpirun_is_told_how_many_ranks_a_node_takes);
    tcase_add_test(tests, a_job_of_slurm_says_when_it_ends);
    tcase_add_loop_test(tests, slurm_is_asked_how_long_a_job_has, 0, sizeof answers / sizeof *answers);
    tcase_add_test(tests, spans_of_time_are_read);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
