/* SPDX-License-Identifier: MIT */
/* What stands between the user and mpirun, with shell scripts in its place: exit statuses and signals. */
#include "common/mpi/folder.h"
#include "common/util/error.h"
#include "deploy/cli/launch.h"
#include "deploy/cli/launcher_watch.h"
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

START_TEST(statuses_pass_where_they_are_ours)
{
    ck_assert_int_eq(launch_script(ends[_i].script), ends[_i].status);
}
END_TEST

#define SAY " >$HDSS_STATUS_FILE; "

/* Launchers that let ranks die: what the ranks say counts, and who has nothing left to do is ended. */
static const struct {
    const char *script;
    int status;
} survivals[] = {
    {"echo begun $$" SAY "echo lead 3" SAY "exit 0", 3},
    {"echo lead 0" SAY "exit 137", 0},
    {"echo lead 2" SAY "exit 0", 2},
    {"echo master 1" SAY "echo lead 0 lossy" SAY "exit 0", 1},
    {"echo begun $$" SAY "exit 0", 1},
    {"echo begun $$" SAY "exit 2", 1},
    {"exit 0", 1},
    {"echo lead 77" SAY "echo" SAY "echo begun" SAY "exit 0", 1},
    {"echo task 1" SAY "printf garbage" SAY "printf '\\nlead 0\\n'" SAY "exit 0", 0},
    {"echo begun $$" SAY "echo lead 0 lossy" SAY "exec sleep 100", 0},
    {"sleep 100 & echo begun $!" SAY "kill -9 $!; exec sleep 100", 1},
    {"echo begun $$" SAY "echo draining" SAY "echo lead 4" SAY "exit 1", 4},
    {"echo begun $$" SAY "echo draining" SAY "exit 1", 1},
    {"echo draining" SAY "exit 1", 4},
    {"echo draining" SAY "exit 137", 1},
    {"echo draining" SAY "echo lead 2" SAY "exit 1", 2},
    {"exit 1", 4},
    {"kill -TERM $$; exec sleep 100", 4},
    {"kill -KILL $$; exec sleep 100", 1},
    {"echo it fails >&2; exit 1", 1},
    {"exit 5", 1},
};

START_TEST(ranks_that_survive_say_how_it_went)
{
    char shell[] = "sh", option[] = "-c", text[1000];
    char *argv[] = {shell, option, text, NULL};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1};
    snprintf(text, sizeof text, "%s", survivals[_i].script);
    ck_assert_int_eq(launch(argv, &how), survivals[_i].status);
    ck_assert(how.asked == (strstr(text, "draining") != NULL) && getenv("HDSS_STATUS_FILE") == NULL);
}
END_TEST

/* A run that is over a moment after it had begun has lost its supermaster, as one that is over later. */
START_TEST(a_run_that_ends_as_soon_as_it_has_begun_is_lost)
{
    char shell[] = "sh", option[] = "-c", script[] = "echo begun $$" SAY "exit 0";
    char *argv[] = {shell, option, script, NULL};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1};
    ck_assert_int_eq(launch(argv, &how), EXIT_STATUS_FAILED);
    ck_assert_str_eq(how.lost, "the run ended without its supermaster");
    ck_assert(how.begun && how.started);
}
END_TEST

/* Whoever has said how the run went, and stays, is ended at once where nobody waits for it. */
START_TEST(ranks_that_have_said_it_are_ended_where_nobody_waits)
{
    char shell[] = "sh", option[] = "-c";
    char script[] = "echo begun $$" SAY "sleep 100 & echo lead 3" SAY "trap '' TERM; while :; do sleep 1; done";
    char *argv[] = {shell, option, script, NULL};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .ends_soon = true};
    const int64_t begin_ms = launch_clock_ms();
    ck_assert_int_eq(launch(argv, &how), 3);
    ck_assert_int_lt(launch_clock_ms() - begin_ms, 4000); /* else KILL_MS, and more */
    ck_assert_str_eq(how.lost, "");
}
END_TEST

struct beside {
    int ends[2];
    unsigned looks[LAUNCH_IS_OVER + 1]; /* at each stage */
    bool is_read;
};

static enum launch_wish look_beside(void *context, enum launch_stage stage)
{
    struct beside *beside = context;
    char byte;
    beside->looks[stage]++;
    if (stage != LAUNCH_STARTS && !beside->is_read)
        beside->is_read = read(beside->ends[0], &byte, 1) == 1;
    return LAUNCH_GOES_ON;
}

static int wait_beside(void *context)
{
    (void)context;
    return -1;
}

static unsigned wait_for_beside(void *context, struct pollfd *polled)
{
    const struct beside *beside = context;
    *polled = (struct pollfd){.fd = beside->is_read ? -1 : beside->ends[0], .events = POLLIN};
    return 1;
}

START_TEST(a_caller_works_beside_a_launch)
{
    char shell[] = "sh", option[] = "-c",
         script[] = "sleep 1; echo begun $$" SAY "sleep 1; echo over" SAY "sleep 1; echo lead 0" SAY;
    char *argv[] = {shell, option, script, NULL};
    struct beside beside = {0};
    const struct launch_side side = {look_beside, wait_beside, wait_for_beside, &beside};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .side = &side};
    ck_assert_int_eq(pipe(beside.ends), 0);
    ck_assert_int_eq(write(beside.ends[1], "x", 1), 1);
    ck_assert_int_eq(launch(argv, &how), 0);
    ck_assert(beside.is_read);
    for (unsigned stage = 0; stage <= LAUNCH_IS_OVER; stage++)
        ck_assert_uint_gt(beside.looks[stage], 0);
}
END_TEST

/* Launchers that end all ranks when one dies: what the ranks say counts where the launcher says nothing. */
static const struct {
    const char *script;
    int status;
} reports[] = {
    {"exit 0", 1},
    {"echo begun $$" SAY "exit 0", 1},
    {"echo lead 0" SAY "exit 0", 0},
    {"echo lead 4" SAY "exit 0", 4},
    {"echo lead 0" SAY "exit 3", 3},
    {"echo lead 0" SAY "exit 1", 0},
    {"echo lead 4" SAY "exit 1", 1},
    {"echo lead 0" SAY "echo worker 1" SAY "exit 1", 1},
    {"echo lead 0" SAY "exit 137", 1},
    {"exit 2", 2},
    {"echo begun $$" SAY "echo draining" SAY "echo lead 4" SAY "exit 137", 4},
    {"echo begun $$" SAY "echo draining" SAY "echo lead 0" SAY "exit 137", 0},
    {"echo draining" SAY "exit 137", 1},
    {"echo begun $$" SAY "echo draining" SAY "echo lead 4 lossy" SAY "exit 137", 1},
};

START_TEST(no_launcher_is_done_before_its_ranks_are)
{
    char shell[] = "sh", option[] = "-c", text[1000];
    char *argv[] = {shell, option, text, NULL};
    struct launch how = {.reports = true, .ranks = 2, .rank_depth = 1};
    snprintf(text, sizeof text, "%s", reports[_i].script);
    ck_assert_int_eq(launch(argv, &how), reports[_i].status);
}
END_TEST

/* A launcher may pass on whole lines only, and the progress line is none. */
START_TEST(the_progress_line_comes_while_the_launcher_runs)
{
    char shell[] = "sh", option[] = "-c", text[100];
    char script[] = "printf '\r50 %% \033[K' >$HDSS_PROGRESS_FILE; echo begun $$" SAY "echo a line >&2; sleep 1; "
                    "printf '\r99 %% \033[K' >$HDSS_PROGRESS_FILE; echo lead 0" SAY "exit 0";
    char *argv[] = {shell, option, script, NULL};
    FILE *log = tmpfile();
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .log = log};
    ck_assert_int_eq(launch(argv, &how), 0);
    ck_assert_ptr_null(getenv("HDSS_PROGRESS_FILE"));
    rewind(log);
    text[fread(text, 1, sizeof text - 1, log)] = '\0';
    ck_assert_str_eq(text, "\r50 % \033[K\r\033[Ka line\n\r99 % \033[K\r\033[K");
    fclose(log);
}
END_TEST

/* A launcher may drop what ranks print at their end. */
START_TEST(the_summary_comes_once_whatever_becomes_of_the_launcher)
{
    static const char *const scripts[] = {"printf 'chunks  3\nsum 4\n' >$HDSS_SUMMARY_FILE; echo lead 0" SAY,
                                          "printf 'chunks  3\nsum 4\n' >$HDSS_SUMMARY_FILE; kill -9 $$"};
    char shell[] = "sh", option[] = "-c", script[200], text[100];
    char *argv[] = {shell, option, script, NULL};
    FILE *log = tmpfile();
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .log = log};
    snprintf(script, sizeof script, "%s", scripts[_i]);
    ck_assert_int_eq(launch(argv, &how), _i);
    ck_assert_ptr_null(getenv("HDSS_SUMMARY_FILE"));
    rewind(log);
    text[fread(text, 1, sizeof text - 1, log)] = '\0';
    ck_assert_ptr_eq(strstr(text, "chunks"), text);
    ck_assert_ptr_null(strstr(text + 1, "chunks"));
    ck_assert_ptr_nonnull(strstr(text, "3\nsum 4\n"));
    fclose(log);
}
END_TEST

/* What no rank has said is a loss, which the caller says. */
static const struct {
    const char *script, *lost;
    bool begun, summarized;
} losses[] = {
    {"echo begun $$" SAY "exit 1", "the run ended without its supermaster", true, false},
    {"echo begun $$" SAY "echo '# sum' >$HDSS_SUMMARY_FILE; "
     "exit 1",
     "the run ended without its supermaster", true, true},
    {"echo begun $$" SAY "echo lead 1" SAY "exit 1", "", true, true},
    {"exit 213", "mpirun ended with status 213", false, false},
    {"exit 1", "", false, false},
};

START_TEST(what_no_rank_has_said_is_a_loss)
{
    char shell[] = "sh", option[] = "-c", text[1000];
    char *argv[] = {shell, option, text, NULL};
    struct launch how = {.survives = true, .reports = true, .ranks = 2, .rank_depth = 1, .lost = "before"};
    snprintf(text, sizeof text, "%s", losses[_i].script);
    launch(argv, &how);
    ck_assert_str_eq(how.lost, losses[_i].lost);
    ck_assert(how.begun == losses[_i].begun && how.summarized == losses[_i].summarized);
}
END_TEST

START_TEST(the_loss_of_workers_alone_is_said)
{
    char shell[] = "sh", option[] = "-c", script[] = "echo begun $$" SAY "exit 1";
    char *argv[] = {shell, option, script, NULL};
    struct launch how = {.survives = _i == 1, .reports = true, .flat = true, .ranks = 2, .rank_depth = 1};
    ck_assert_int_eq(launch(argv, &how), EXIT_STATUS_FAILED);
    ck_assert_str_eq(how.lost, _i == 1 ? "the run ended without rank 0" : "the run ended without one of its workers");
}
END_TEST

/* Launchers that were ended before the ranks had drained: one that lets ranks die kills them, another one dies of the
 * signal, or a process does that it needs. */
static const char *const cuts[] = {"exit 1", "kill -USR2 $$", "exit 140"};

START_TEST(what_is_stored_goes_on_where_a_journal_is_kept)
{
    char shell[] = "sh", option[] = "-c", text[1000];
    char *argv[] = {shell, option, text, NULL};
    struct launch how = {.survives = _i == 0, .reports = true, .ranks = 2, .rank_depth = 1, .is_resumable = true};
    snprintf(text, sizeof text, "echo begun $$" SAY "echo draining" SAY "%s", cuts[_i]);
    ck_assert_int_eq(launch(argv, &how), EXIT_STATUS_DRAINED);
    ck_assert(how.asked == how.survives);
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

START_TEST(what_a_batch_system_sends_is_a_drain_and_nothing_more)
{
    static const int numbers[] = {SIGUSR1, SIGUSR2};
    int says[2];
    pid_t pid = start(RANK "trap 'printf d; sleep 0.5 & wait $!; kill $rank; exit 4' USR1; " LAUNCHER, says);
    expect(says[0], 'r');
    kill(pid, numbers[_i]);
    expect(says[0], 'd');
    kill(pid, numbers[!_i]);
    kill(pid, numbers[_i]);
    ck_assert_int_eq(status_of(pid), 4);
}
END_TEST

START_TEST(the_ranks_drain_before_the_time_is_over)
{
    char shell[] = "sh", option[] = "-c", text[1000];
    char *argv[] = {shell, option, text, NULL};
    struct launch how = {.drain_ms = launch_clock_ms() + 300};
    snprintf(text, sizeof text, "%s", "exec >/dev/null; " RANK "trap 'kill $rank; exit 4' USR1; " LAUNCHER);
    ck_assert_int_eq(launch(argv, &how), 4);
    ck_assert(how.asked && launch_clock_ms() >= how.drain_ms);
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

static void stop(pid_t pid)
{
    int status;
    kill(pid, SIGSTOP);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Looks, a second apart, that find somebody stopped in a row until that is too many; 0: it never is. */
static unsigned looks_until_stopped(struct launcher_watch *watch, pid_t launcher, int64_t *now_ms)
{
    for (unsigned looks = 1; looks < 4 * STOPPED_LOOKS; looks++) {
        *now_ms += 1000;
        ck_assert(!launcher_watch_is_stopped(watch, launcher, *now_ms - 1));
        if (launcher_watch_is_stopped(watch, launcher, *now_ms))
            return looks;
    }
    return 0;
}

START_TEST(who_is_stopped_alone_is_found)
{
    pid_t lead = start_child(), other = start_child();
    int64_t now_ms = 0;
    struct launcher_watch watch = {.depth = 1, .begun = true, .lead = lead};
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), 0);
    stop(lead);
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), STOPPED_LOOKS);
    stop(other); /* all are: somebody wants it so */
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), 0);
    kill(lead, SIGCONT); /* what others do about a stopped worker is theirs, once the run has begun */
    waitpid(lead, NULL, WCONTINUED);
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), 0);
    watch.begun = false;
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), STOPPED_LOOKS);
    watch.begun = watch.flat = true; /* of workers alone each is waited for: by a drain no longer than that */
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), 0);
    watch.asked = true; /* in a barrier they do not say that they drain */
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), STOPPED_LOOKS);
    watch.asked = false;
    watch.draining = true;
    watch.stopped_looks = 0;
    ck_assert_uint_eq(looks_until_stopped(&watch, getpid(), &now_ms), STOPPED_LOOKS);
    end(lead);
    end(other);
}
END_TEST

START_TEST(a_launcher_that_is_stopped_before_the_run_has_begun_is_found)
{
    pid_t launcher = start_child();
    int64_t now_ms = 0;
    struct launcher_watch watch = {.depth = 1};
    ck_assert_uint_eq(looks_until_stopped(&watch, launcher, &now_ms), 0);
    stop(launcher); /* it has not begun any rank yet */
    ck_assert(launcher_watch_holds(&watch, launcher));
    ck_assert_uint_eq(looks_until_stopped(&watch, launcher, &now_ms), STOPPED_LOOKS);
    watch.begun = true; /* nobody needs it before the end */
    ck_assert(!launcher_watch_holds(&watch, launcher));
    ck_assert_uint_eq(looks_until_stopped(&watch, launcher, &now_ms), 0);
    end(launcher);
}
END_TEST

int main(void)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO); /* what launch() says is for people */
    Suite *suite = suite_create("launch");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, statuses_pass_where_they_are_ours, 0, sizeof ends / sizeof *ends);
    tcase_add_loop_test(tests, ranks_that_survive_say_how_it_went, 0, sizeof survivals / sizeof *survivals);
    tcase_add_test(tests, a_run_that_ends_as_soon_as_it_has_begun_is_lost);
    tcase_add_test(tests, ranks_that_have_said_it_are_ended_where_nobody_waits);
    tcase_add_test(tests, a_caller_works_beside_a_launch);
    tcase_add_loop_test(tests, what_no_rank_has_said_is_a_loss, 0, sizeof losses / sizeof *losses);
    tcase_add_loop_test(tests, the_loss_of_workers_alone_is_said, 0, 2);
    tcase_add_loop_test(tests, what_is_stored_goes_on_where_a_journal_is_kept, 0, sizeof cuts / sizeof *cuts);
    tcase_add_test(tests, a_rank_that_dies_when_all_is_done_leaves_nothing);
    tcase_add_test(tests, a_launcher_that_is_not_there_is_wrong_use);
    tcase_add_loop_test(tests, no_launcher_is_done_before_its_ranks_are, 0, sizeof reports / sizeof *reports);
    tcase_add_loop_test(tests, the_first_signal_is_a_drain_when_the_rank_can_take_it, 0, 3);
    tcase_add_loop_test(tests, what_a_batch_system_sends_is_a_drain_and_nothing_more, 0, 2);
    tcase_add_test(tests, the_ranks_drain_before_the_time_is_over);
    tcase_add_test(tests, the_second_ends_the_ranks);
    tcase_add_test(tests, the_third_ends_the_launcher);
    tcase_add_test(tests, the_launcher_has_no_input_and_a_group_of_its_own);
    tcase_add_test(tests, who_is_stopped_alone_is_found);
    tcase_add_test(tests, a_launcher_that_is_stopped_before_the_run_has_begun_is_found);
    tcase_add_test(tests, the_progress_line_comes_while_the_launcher_runs);
    tcase_add_loop_test(tests, the_summary_comes_once_whatever_becomes_of_the_launcher, 0, 2);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
