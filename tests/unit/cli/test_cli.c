/* SPDX-License-Identifier: MIT */
/* The parts of `hdss run` that start nothing: hosts, shell words, and the filter for mpirun's boilerplate. */
#include "common/util/error.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/hosts.h"
#include "deploy/cli/stderr_filter.h"
#include "deploy/cli/wrap.h"
#include "tests/lib/suite.h"

#include <string.h>
#include <unistd.h>

#define RULE "--------------------------------------------------------------------------\n"
#define ABORTED                                                                                                        \
    RULE "Primary job  terminated normally, but 1 process returned\n"                                                  \
         "a non-zero exit code. Per user-direction, the job has been aborted.\n" RULE
#define DETECTED                                                                                                       \
    RULE "mpirun detected that one or more processes exited with non-zero status, thus causing\n"                      \
         "the job to be terminated. The first process to do so was:\n\n"                                               \
         "  Process name: [[32581,1],0]\n  Exit code:    1\n" RULE
#define NOTICED RULE "mpirun noticed that process rank 2 with PID 0 on node n exited on signal 9 (Killed).\n" RULE

static char passed[4000];

static void collect(void *context, const char *bytes, size_t count)
{
    (void)context;
    strncat(passed, bytes, count);
}

static const struct {
    const char *in, *out;
} streams[] = {
    {"", ""},
    {"plain\n--option\n---\n", "plain\n--option\n---\n"},
    {ABORTED, ""},
    {"before\n" ABORTED "between\n" DETECTED "after\n", "before\nbetween\nafter\n"},
    {ABORTED DETECTED, ""},
    {NOTICED ABORTED, NOTICED},
    {NOTICED "text\n" NOTICED, NOTICED "text\n" NOTICED},
    {"\r 99 %\r\033[K" DETECTED, "\r 99 %\r\033[K"},
    {"-" ABORTED, "-"},
    {"mpirun: Forwarding signal 10 to job\nnext\n", "next\n"},
    {"\r 99 %\033[Kmpirun: Forwarding signal 10 to job\nnext\n", "\r 99 %\033[Knext\n"},
    {"[n:1] PMIX ERROR: BAD-PARAM in file ../../../src/event/pmix_event_notification.c at line 1033\nnext\n", "next\n"},
    {"[n:1] PMIX ERROR: PMIX_ERR_UNREACH in file ../../../src/server/pmix_server.c at line 3184\nnext\n", "next\n"},
    {"[n:1] PMIX ERROR: BAD-PARAM in file other.c\n", "[n:1] PMIX ERROR: BAD-PARAM in file other.c\n"},
    {"[no name\n] PMIX", "[no name\n] PMIX"},
    {"[[1,2],3] text\n", "[[1,2],3] text\n"},
    {RULE "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n" RULE "next\n",
     "next\n"},
    {"before\n" RULE "WARNING: The selected 'osc' module 'sm' is not tested for post-failure\noperation, yet\n" RULE
     "6 more processes have sent help message help-mpi-ft.txt / module:untested:failundef\nafter\n",
     "before\nafter\n"},
    {RULE "WARNING: The selected 'osc' module 'rdma'\n" RULE, RULE "WARNING: The selected 'osc' module 'rdma'\n" RULE},
    {"6 more processes have sent help message\n", "6 more processes have sent help message\n"},
    {"mpirun: Error: unknown option\n", "mpirun: Error: unknown option\n"},
    {RULE "Primary job  terminated", RULE "Primary job  terminated"},
    {"end without newline -", "end without newline -"},
};

START_TEST(boilerplate_goes_and_the_rest_passes)
{
    /* in one piece and byte by byte */
    for (size_t step = 1; step <= 4000; step += 3999) {
        struct stderr_filter stderr_filter;
        const char *in = streams[_i].in;
        size_t length = strlen(in);
        passed[0] = '\0';
        stderr_filter_init(&stderr_filter, collect, NULL);
        for (size_t at = 0; at < length; at += step)
            stderr_filter_take(&stderr_filter, in + at, length - at < step ? length - at : step);
        stderr_filter_flush(&stderr_filter);
        ck_assert_str_eq(passed, streams[_i].out);
    }
}
END_TEST

START_TEST(an_endless_block_is_given_up)
{
    struct stderr_filter stderr_filter;
    passed[0] = '\0';
    stderr_filter_init(&stderr_filter, collect, NULL);
    stderr_filter_take(&stderr_filter, ABORTED, strlen(RULE) + 60);
    for (int i = 0; i < 300; i++)
        stderr_filter_take(&stderr_filter, "0123456789", 10);
    ck_assert_uint_gt(strlen(passed), 900);
}
END_TEST

START_TEST(text_is_held_back_only_while_it_is_in_doubt)
{
    struct stderr_filter stderr_filter;
    passed[0] = '\0';
    stderr_filter_init(&stderr_filter, collect, NULL);
    stderr_filter_take(&stderr_filter, "\r 50 %", 6);
    ck_assert_str_eq(passed, "\r 50 %");
    stderr_filter_take(&stderr_filter, "--", 2);
    ck_assert_str_eq(passed, "\r 50 %");
    stderr_filter_take(&stderr_filter, "x", 1);
    ck_assert_str_eq(passed, "\r 50 %--x");
    stderr_filter_take(&stderr_filter, "\033[K", 3); /* the bracket begins no text of mpirun's */
    ck_assert_str_eq(passed, "\r 50 %--x\033[K");
}
END_TEST

static struct hosts hosts;
static struct error error;

START_TEST(hosts_come_in_a_list)
{
    ck_assert_int_eq(hosts_parse_list(&hosts, "a:4,b.example.org:2,a:1", &error), 0);
    ck_assert_uint_eq(hosts.count, 2);
    ck_assert_str_eq(hosts.items[1].name, "b.example.org");
    ck_assert_uint_eq(hosts.items[0].slots, 5);
    ck_assert_uint_eq(hosts_slots(&hosts), 7);
    hosts_fini(&hosts);
    ck_assert_int_eq(hosts_parse_list(&hosts, "a,b:2", &error), 0);
    ck_assert_uint_eq(hosts_slots(&hosts), 0);
    hosts_fini(&hosts);
}
END_TEST

START_TEST(hosts_come_in_a_file)
{
    ck_assert_int_eq(hosts_parse_file(&hosts, "# two\n\n a slots=4 max_slots=8 # big\r\nb\tslots=2", &error), 0);
    ck_assert_uint_eq(hosts.count, 2);
    ck_assert_str_eq(hosts.items[0].name, "a");
    ck_assert_uint_eq(hosts.items[0].slots, 4);
    ck_assert_uint_eq(hosts.items[1].slots, 2);
    hosts_fini(&hosts);
}
END_TEST

START_TEST(wrong_hosts_are_refused)
{
    static const struct {
        const char *list, *text;
    } cases[] = {{"", "'' is no host name"},
                 {"a,,b", "'' is no host name"},
                 {":3", "'' is no host name"},
                 {"-oProxyCommand=x:3", "'-oProxyCommand=x' is no host name"},
                 {"a:0", "'0' cores: accepted: an integer from 1 to 65536"},
                 {"a:", "'' cores: accepted: an integer from 1 to 65536"},
                 {"a:x", "'x' cores: accepted: an integer from 1 to 65536"},
                 {"a:65536,a:1", "'a' has more than 65536 cores"},
                 {"a b:1", "'a b' is no host name"},
                 {"a\nb:1", "'a?b' is no host name"}};
    ck_assert_int_eq(hosts_parse_list(&hosts, cases[_i].list, &error), -1);
    ck_assert_str_eq(error.text, cases[_i].text);
    hosts_fini(&hosts);
}
END_TEST

START_TEST(a_file_without_hosts_is_refused)
{
    ck_assert_int_eq(hosts_parse_file(&hosts, "# none\n", &error), -1);
    ck_assert_str_eq(error.text, "no host in it");
}
END_TEST

START_TEST(workers_are_dealt_by_size_and_masters_in_turn)
{
    ck_assert_int_eq(hosts_parse_list(&hosts, "a:8,b:4,c:4", &error), 0);
    hosts_deal(&hosts, 4, 16);
    ck_assert_uint_eq(hosts.items[0].workers, 8);
    ck_assert_uint_eq(hosts.items[1].workers, 4);
    ck_assert_uint_eq(hosts.items[2].workers, 4);
    ck_assert_uint_eq(hosts.items[0].masters, 2);
    ck_assert_uint_eq(hosts.items[2].masters, 1);
    hosts_fini(&hosts);
    ck_assert_int_eq(hosts_parse_list(&hosts, "a,b", &error), 0);
    hosts_deal(&hosts, 0, 5);
    ck_assert_uint_eq(hosts.items[0].workers, 3);
    ck_assert_uint_eq(hosts.items[1].workers, 2);
    hosts_fini(&hosts);
}
END_TEST

START_TEST(cores_are_left_to_masters)
{
    ck_assert_int_eq(hosts_parse_list(&hosts, "a:8,b:4,c:1", &error), 0);
    hosts_reserve(&hosts, 4, 1);
    ck_assert_uint_eq(hosts_slots(&hosts), 6 + 3 + 0);
    hosts_deal(&hosts, 4, 9);
    ck_assert(hosts.items[0].masters == 2 && hosts.items[0].workers == 6);
    ck_assert(hosts.items[1].workers == 3 && hosts.items[2].workers == 0);
    ck_assert(!hosts_deal_in_turn(&hosts, 9));
    hosts_reserve(&hosts, 0, 1); /* one for the supermaster */
    ck_assert_uint_eq(hosts_slots(&hosts), 7 + 4 + 1);
    hosts_reserve(&hosts, 3, 2);
    ck_assert_uint_eq(hosts_slots(&hosts), 6 + 2 + 0);
    hosts_fini(&hosts);
}
END_TEST

/* One by one to whoever is then the least loaded, the first of several. */
static void deal_slowly(const unsigned *slots, unsigned count, unsigned workers, unsigned *dealt)
{
    for (unsigned w = 0; w < workers; w++) {
        unsigned least = 0;
        for (unsigned i = 1; i < count; i++)
            if ((dealt[i] + 1) * slots[least] < (dealt[least] + 1) * slots[i])
                least = i;
        dealt[least]++;
    }
}

START_TEST(dealing_by_shares_is_dealing_one_by_one)
{
    static const unsigned slots[][5] = {{4, 2, 1, 1, 7}, {3, 3, 3, 3, 3}, {64, 1, 1, 1, 1}, {5, 7, 11, 13, 2}};
    char list[60];
    snprintf(list, sizeof list, "a:%u,b:%u,c:%u,d:%u,e:%u", slots[_i][0], slots[_i][1], slots[_i][2], slots[_i][3],
             slots[_i][4]);
    for (unsigned workers = 0; workers < 300; workers++) {
        unsigned dealt[5] = {0};
        ck_assert_int_eq(hosts_parse_list(&hosts, list, &error), 0);
        hosts_deal(&hosts, 1, 7); /* a launch before this one */
        hosts_deal(&hosts, 0, workers);
        deal_slowly(slots[_i], 5, workers, dealt);
        for (unsigned i = 0; i < 5; i++)
            ck_assert_uint_eq(hosts.items[i].workers, dealt[i]);
        hosts_fini(&hosts);
    }
}
END_TEST

START_TEST(neighbours_among_the_workers_are_found_on_their_hosts)
{
    static const unsigned dealt[6] = {0, 1, 0, 1, 0, 0}; /* a b a b a a */
    unsigned found[2], whole[2];
    ck_assert_int_eq(hosts_parse_list(&hosts, "a:4,b:2", &error), 0);
    hosts_deal(&hosts, 1, 6);
    for (unsigned first = 0; first < 6; first++)
        for (unsigned count = 0; first + count <= 6; count++) {
            unsigned wanted[2] = {0};
            for (unsigned worker = first; worker < first + count; worker++)
                wanted[dealt[worker]]++;
            hosts_count_workers(&hosts, first, count, found);
            ck_assert(found[0] == wanted[0] && found[1] == wanted[1]);
        }
    hosts_count_workers(&hosts, 0, 100, whole); /* there are no more */
    ck_assert(whole[0] == 4 && whole[1] == 2);
    hosts_fini(&hosts);
}
END_TEST

START_TEST(words_can_be_pasted_into_a_shell)
{
    struct argv words = {0};
    char line[200];
    FILE *file = fmemopen(line, sizeof line, "w");
    argv_add_split(&words, "  a\tb=1 ");
    argv_add(&words, "");
    argv_add(&words, "it's $HOME");
    argv_add_format(&words, "%d:%s", 3, "x");
    argv_add(&words, ":");
    argv_print(&words, file);
    fclose(file);
    ck_assert_str_eq(line, "a b=1 '' 'it'\\''s $HOME' 3:x :\n");
    ck_assert(argv_contain(&words, "b=1") && !argv_contain(&words, "b"));
    ck_assert_ptr_null(words.items[words.count]);
    argv_fini(&words);
}
END_TEST

START_TEST(what_is_said_has_nothing_that_a_terminal_obeys)
{
    char said[80] = "";
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    ck_assert(file != NULL && dup2(fileno(file), STDERR_FILENO) >= 0);
    say_error("hdss", "a\033[31m b\r\nc\xc2\x9b");
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    ck_assert_uint_gt(fread(said, 1, sizeof said - 1, file), 0);
    fclose(file);
    ck_assert_str_eq(said, "hdss: a?[31m b??c?\n");
}
END_TEST

/* One that is longer than a line, too. */
START_TEST(words_are_broken_between_lines_and_kept_whole)
{
    char text[3100] = "a \033", lines[3200];
    const size_t length = sizeof text - 1;
    memset(text + 3, 'w', length - 3);
    FILE *file = fmemopen(lines, sizeof lines, "w");
    wrap_write(text, length, 2, file);
    fclose(file);
    ck_assert(strncmp(lines, "a\n  ?w", 6) == 0);
    ck_assert_uint_eq(strspn(lines + 5, "w"), length - 3);
    ck_assert_str_eq(lines + 5 + length - 3, "\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, boilerplate_goes_and_the_rest_passes, 0, sizeof streams / sizeof *streams);
    tcase_add_test(tests, an_endless_block_is_given_up);
    tcase_add_test(tests, text_is_held_back_only_while_it_is_in_doubt);
    tcase_add_test(tests, hosts_come_in_a_list);
    tcase_add_test(tests, hosts_come_in_a_file);
    tcase_add_loop_test(tests, wrong_hosts_are_refused, 0, 10);
    tcase_add_test(tests, a_file_without_hosts_is_refused);
    tcase_add_test(tests, workers_are_dealt_by_size_and_masters_in_turn);
    tcase_add_test(tests, cores_are_left_to_masters);
    tcase_add_loop_test(tests, dealing_by_shares_is_dealing_one_by_one, 0, 4);
    tcase_add_test(tests, neighbours_among_the_workers_are_found_on_their_hosts);
    tcase_add_test(tests, words_can_be_pasted_into_a_shell);
    tcase_add_test(tests, what_is_said_has_nothing_that_a_terminal_obeys);
    tcase_add_test(tests, words_are_broken_between_lines_and_kept_whole);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
