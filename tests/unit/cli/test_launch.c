/* SPDX-License-Identifier: MIT */
/* What stands between the user and mpirun on a real machine, with shell scripts in its place; all that takes time, or
 * chance, is in test_launch_script.c. */
#include "common/mpi/folder.h"
#include "common/os/process.h"
#include "common/util/error.h"
#include "deploy/cli/launch.h"
#include "deploy/cli/launch_world.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *script;
    int status;
} ends[] = {
    {"exit 0", 0}, {"exit 1", 1}, {"exit 4", 4}, {"exit 5", 1}, {"exit 137", 1}, {"kill -9 $$", 1},
};

static int launch_script(const char *script)
{
    char shell[] = "sh", option[] = "-c", text[1000];
    char *argv[] = {shell, option, text, NULL};
    snprintf(text, sizeof text, "%s", script);
    struct launch how = {0};
    return launch(argv, &how);
}

START_TEST(what_is_kept_is_said_where_there_is_something)
{
    struct launch how = {.kept = "; all of it", .journal = "/absent/journal"};
    ck_assert_str_eq(launch_kept(&how), "; nothing was stored yet, and the same line begins anew");
    how.journal = "/";
    ck_assert_str_eq(launch_kept(&how), "; all of it");
    how = (struct launch){0};
    ck_assert_str_eq(launch_kept(&how), "");
}
END_TEST

START_TEST(statuses_pass_where_they_are_ours)
{
    ck_assert_int_eq(launch_script(ends[_i].script), ends[_i].status);
}
END_TEST

#define SAY " >$HDSS_STATUS_FILE; "

/* Through pipes that the environment names, whether the launcher passes anything on or is killed. */
START_TEST(what_ranks_say_comes_by_pipes)
{
    static const char *const ways[] = {"exit 0", "kill -9 $$"};
    char shell[] = "sh", option[] = "-c", script[300], text[200];
    char *argv[] = {shell, option, script, NULL};
    FILE *log = tmpfile();
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .log = log};
    snprintf(script, sizeof script, "%s%s",
             "printf '\r50 %% \033[K' >$HDSS_PROGRESS_FILE; echo a line >&2; "
             "printf 'chunks  3\nsum 4\n' >$HDSS_SUMMARY_FILE; [ $HDSS_RANKS_MAY_END = 1 ] && echo lead 3" SAY,
             ways[_i]);
    ck_assert_int_eq(launch(argv, &how), 3);
    ck_assert(getenv("HDSS_STATUS_FILE") == NULL && getenv("HDSS_SUMMARY_FILE") == NULL);
    ck_assert(getenv("HDSS_PROGRESS_FILE") == NULL && getenv("HDSS_RANKS_MAY_END") == NULL);
    rewind(log);
    text[fread(text, 1, sizeof text - 1, log)] = '\0';
    ck_assert_str_eq(text, "\r50 % \033[K\r\033[Ka line\nchunks  3\nsum 4\n");
    fclose(log);
}
END_TEST

/* What cannot be is left out. */
START_TEST(tasks_that_ran_when_the_supermaster_was_lost_are_known)
{
    char shell[] = "sh", option[] = "-c",
         script[] = "echo begun $$" SAY
                    "printf 'ran 7 2\\nran 20 1\\nran x 1\\nran 3 0\\nran 18446744073709551615 2\\n'" SAY "exit 1";
    char *argv[] = {shell, option, script, NULL};
    struct ranges ran = {0};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .ran = &ran};
    ck_assert_int_eq(launch(argv, &how), EXIT_STATUS_FAILED);
    ck_assert_str_ne(how.lost, "");
    ck_assert(ranges_total(&ran) == 3 && ranges_covers(&ran, 7, 2) && ranges_covers(&ran, 20, 1));
    ranges_fini(&ran);
}
END_TEST

START_TEST(a_rank_that_dies_when_all_is_done_leaves_nothing)
{
    char shell[] = "sh", option[] = "-c", script[] = "echo begun $$" SAY "echo lead 0" SAY "exit 0", folder[FOLDER_MAX];
    char *argv[] = {shell, option, script, NULL};
    struct error error = {""};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1};
    close(folder_make(folder, &error));
    ck_assert_int_eq(access(folder, F_OK), 0);
    ck_assert_int_eq(launch(argv, &how), 0);
    ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

START_TEST(a_launcher_that_is_not_there_is_wrong_use)
{
    char name[] = "/no/such/launcher";
    char *argv[] = {name, NULL};
    struct launch how = {.asked = true};
    ck_assert_int_eq(launch(argv, &how), EXIT_STATUS_USAGE);
    ck_assert(!how.asked);
}
END_TEST

/* Runs the script in a process of its own, with the write end of `says` as its standard output. */
static pid_t start(const char *script, int says[2])
{
    ck_assert_int_eq(pipe(says), 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL); /* whoever runs the tests in the background may have them ignored */
        signal(SIGHUP, SIG_DFL);
        dup2(says[1], STDOUT_FILENO);
        close(says[0]);
        close(says[1]);
        _exit(launch_script(script));
    }
    close(says[1]);
    return pid;
}

static void expect(int says, char c)
{
    char got = 0;
    ck_assert_int_eq(read(says, &got, 1), 1);
    ck_assert_int_eq(got, c);
}

static int status_of(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A launcher with one rank; both catch SIGUSR1, the rank only after a moment, and the launcher says what reaches it. */
#define RANK     "sh -c 'sleep 0.2; trap : USR1; printf r; while :; do sleep 0.05; done' & "
#define LAUNCHER "rank=$!; trap 'kill $rank; exit 1' TERM; while :; do wait; done"

START_TEST(the_first_signal_is_a_drain_when_the_rank_can_take_it)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    int says[2];
    pid_t pid = start("printf u; " RANK "trap 'printf d; kill $!; exit 4' USR1; " LAUNCHER, says);
    expect(says[0], 'u');
    kill(pid, numbers[_i]);
    expect(says[0], 'r');
    expect(says[0], 'd');
    ck_assert_int_eq(status_of(pid), 4);
}
END_TEST

START_TEST(the_second_ends_the_ranks)
{
    int says[2];
    pid_t pid = start(RANK "trap 'printf d' USR1; " LAUNCHER, says);
    expect(says[0], 'r');
    kill(pid, SIGTERM);
    expect(says[0], 'd');
    kill(pid, SIGTERM);
    ck_assert_int_eq(status_of(pid), 1);
}
END_TEST

START_TEST(the_third_ends_the_launcher)
{
    int says[2];
    pid_t pid = start("trap 'printf d' USR1; trap 'printf t' TERM; sh -c 'trap : USR1; printf r; "
                      "while [ -d /proc/$PPID ] && kill -0 $PPID; do sleep 0.05; done' & while :; do wait; done",
                      says);
    expect(says[0], 'r');
    kill(pid, SIGTERM);
    expect(says[0], 'd');
    kill(pid, SIGTERM);
    expect(says[0], 't');
    kill(pid, SIGTERM);
    ck_assert_int_eq(status_of(pid), 1);
}
END_TEST

START_TEST(the_launcher_has_no_input_and_a_group_of_its_own)
{
    ck_assert_int_eq(launch_script("read word && exit 1; set -- $(cut -d ' ' -f 1,5 /proc/self/stat); [ $2 = $$ ]"), 0);
}
END_TEST

static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static bool find_child(pid_t pid, void *context)
{
    return pid != *(pid_t *)context;
}

START_TEST(the_machine_shows_its_processes)
{
    struct launch_world *world = launch_world_real();
    pid_t child = start_child();
    uint64_t caught;
    char own[1024], line[1024];
    int status;
    ck_assert_int_eq(world->parent(world, child), getpid());
    ck_assert(!world->visit_children(world, getpid(), find_child, &child));
    ck_assert(world->read_caught(world, child, &caught));
    ck_assert(!world->reap(world, child, &status));
    const size_t length = world->read_command_line(world, child, line, sizeof line); /* a copy of our own */
    ck_assert(length > 0 && length == world->read_command_line(world, getpid(), own, sizeof own));
    ck_assert_int_eq(world->kill(world, child, SIGSTOP), 0);
    waitpid(child, NULL, WUNTRACED);
    ck_assert_int_eq(world->state(world, child), PROCESS_STOPPED);
    ck_assert_int_eq(world->kill(world, child, SIGKILL), 0);
    waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
    ck_assert(!process_runs(world->state(world, child)));
    ck_assert(world->reap(world, child, &status) && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ck_assert(!world->read_caught(world, child, &caught) && world->parent(world, child) == 0);
    ck_assert(!world->visit_children(world, child, find_child, &child));
}
END_TEST

int main(void)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO); /* what launch() says is for people */
    Suite *suite = suite_create("launch");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_is_kept_is_said_where_there_is_something);
    tcase_add_loop_test(tests, statuses_pass_where_they_are_ours, 0, sizeof ends / sizeof *ends);
    tcase_add_test(tests, tasks_that_ran_when_the_supermaster_was_lost_are_known);
    tcase_add_test(tests, a_rank_that_dies_when_all_is_done_leaves_nothing);
    tcase_add_test(tests, a_launcher_that_is_not_there_is_wrong_use);
    tcase_add_loop_test(tests, the_first_signal_is_a_drain_when_the_rank_can_take_it, 0, 3);
    tcase_add_test(tests, the_second_ends_the_ranks);
    tcase_add_test(tests, the_third_ends_the_launcher);
    tcase_add_test(tests, the_launcher_has_no_input_and_a_group_of_its_own);
    tcase_add_loop_test(tests, what_ranks_say_comes_by_pipes, 0, 2);
    tcase_add_test(tests, the_machine_shows_its_processes);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
