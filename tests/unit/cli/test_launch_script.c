/* SPDX-License-Identifier: MIT */
/* Launches of a scripted launcher, under a time of its own: what it says and does, what its ranks do, and what somebody
 * does to them. */
#include "common/os/process.h"
#include "common/util/error.h"
#include "deploy/cli/launch.h"
#include "deploy/cli/launcher_watch.h"
#include "tests/lib/scripted_launcher.h"
#include "tests/lib/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One launch; times count from its start. */
struct scene {
    struct script script;
    struct launch how;
    int status;
    char *text; /* what was printed; owned */
    size_t length;
    int64_t took_ms;
};

static void set_scene(struct scene *scene, unsigned ranks)
{
    *scene = (struct scene){.how = {.survives = true,
                                    .reports = true,
                                    .ranks = ranks > 0 ? ranks : 2,
                                    .rank_depth = 1,
                                    .begin_ms = 5000,
                                    .kept = "; kept",
                                    .is_resumable = true}};
    script_init(&scene->script, ranks);
}

static void act(struct scene *scene, int64_t after_ms, int who, enum script_deed deed, int number, const char *text)
{
    const int64_t at_ms = scene->script.now_ms + after_ms;
    script_add(&scene->script, (struct script_act){at_ms, who, deed, number, text});
}

static void press(struct scene *scene, int64_t after_ms, int signal_number)
{
    act(scene, after_ms, BY_HDSS, SCRIPT_SIGNALLED, signal_number, NULL);
}

static void strike(struct scene *scene, int64_t after_ms, int who, int signal_number)
{
    act(scene, after_ms, who, SCRIPT_SIGNALLED, signal_number, NULL);
}

/* Returns the status. */
static int play(struct scene *scene)
{
    char name[] = "launcher";
    char *argv[] = {name, NULL};
    const int64_t begin_ms = scene->script.now_ms;
    scene->how.world = &scene->script.world;
    if (getenv("SCRIPT_TRACE") != NULL)
        scene->script.trace = stdout, setvbuf(stdout, NULL, _IONBF, 0);
    scene->how.log = open_memstream(&scene->text, &scene->length);
    scene->status = launch(argv, &scene->how);
    launch_say_lost(&scene->how, "");
    fclose(scene->how.log);
    scene->took_ms = scene->script.now_ms - begin_ms;
    ck_assert(!scene->script.hangs);
    ck_assert_uint_eq(script_count_running(&scene->script), 0);
    return scene->status;
}

static unsigned sent(const struct scene *scene, int who, int signal_number)
{
    return script_count_sent(&scene->script, who, signal_number);
}

static unsigned told(const struct scene *scene, const char *text)
{
    unsigned count = 0;
    for (const char *at = scene->text; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

/* When the launch has first sent the signal to it; -1: never. */
static int64_t sent_ms(const struct scene *scene, int who, int signal_number)
{
    for (unsigned i = 0; i < scene->script.sent_count; i++)
        if (scene->script.sent[i].who == who && scene->script.sent[i].number == signal_number)
            return scene->script.sent[i].at_ms - 1000;
    return -1;
}

/* A run of three ranks has begun by then, and is over at 1,060 ms. */
#define BEGUN_MS 60

START_TEST(a_run_that_goes_well_is_let_be)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.rank_depth = 1 + (unsigned)_i;
    act(&scene, 500, BY_RANK_1, SCRIPT_PRINTS, 0, "a line\n");
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_str_eq(scene.text, "a line\n# sum\n");
    ck_assert_uint_eq(scene.script.sent_count, 0);
    ck_assert(scene.how.begun && scene.how.started && scene.how.summarized && !scene.how.asked && !scene.how.late);
    free(scene.text);
}
END_TEST

/* --- statuses --- */

#define BEGUN "begun 10000001\n"

/* What ranks that are not seen have said, and how the launcher ends: by a status, or by a signal below 0. */
static const struct {
    bool survives, flat;
    const char *said;
    int end, status;
    const char *lost;
} ends[] = {
    /* launchers that let ranks die: what the ranks say counts */
    {true, false, BEGUN "lead 3\n", 0, 3, ""},
    {true, false, "lead 0\n", 137, 0, ""},
    {true, false, "lead 2\n", 0, 2, ""},
    {true, false, "master 1\nlead 0 lossy\n", 0, 1, ""},
    {true, false, BEGUN, 0, 1, "the run ended without its supermaster"},
    {true, false, BEGUN, 1, 1, "the run ended without its supermaster"},
    {true, true, BEGUN, 1, 1, "the run ended without one of its workers"},
    {true, false, BEGUN, 2, 1, "the run ended without its supermaster"},
    {true, false, BEGUN "lead 1\n", 1, 1, ""},
    {true, false, BEGUN "again\nlead 1 lossy\n", 1, 1, "the run has lost a rank that it needs"},
    {false, false, BEGUN "again\nlead 1 lossy\n", 1, 1, "the run has lost a rank that it needs"},
    {true, false, "", 0, 1, ""},
    {true, false, "lead 77\n\nbegun\n", 0, 1, ""},
    {true, false, "task 1\ngarbage\nlead 0\n", 0, 0, ""},
    {true, false, BEGUN "draining\nlead 4\n", 1, 4, ""},
    {true, false, BEGUN "draining\n", 1, 4, ""},
    {true, false, "draining\n", 1, 4, ""},
    {true, false, "draining\n", 137, 1, "a process of the run was ended by SIGKILL"},
    {true, false, "draining\nlead 2\n", 1, 2, ""},
    {true, false, "", 1, 4, ""},
    {true, false, "", -SIGTERM, 4, ""},
    {true, false, "", -SIGKILL, 1, "a process of the run was ended by SIGKILL"},
    {true, false, "", 5, 1, "the launcher ended with status 5"},
    {true, false, "", 213, 1, "the launcher ended with status 213"},
    /* launchers that end all ranks when one dies: where the launcher says nothing */
    {false, false, "", 0, 1, ""},
    {false, false, BEGUN, 0, 1, ""},
    {false, true, BEGUN, 1, 1, "the run ended without one of its workers"},
    {false, false, "lead 0\n", 0, 0, ""},
    {false, false, "lead 4\n", 0, 4, ""},
    {false, false, "lead 0\n", 3, 3, ""},
    {false, false, "lead 0\n", 1, 0, ""},
    {false, false, "lead 4\n", 1, 1, ""},
    {false, false, "lead 0\nworker 1\n", 1, 1, ""},
    {false, false, "lead 0\n", 137, 1, "a process of the run was ended by SIGKILL"},
    {false, false, "", 2, 2, ""},
    {false, false, BEGUN "draining\nlead 4\n", 137, 4, ""},
    {false, false, BEGUN "draining\nlead 0\n", 137, 0, ""},
    {false, false, "draining\n", 137, 1, "a process of the run was ended by SIGKILL"},
    {false, false, BEGUN "draining\nlead 4 lossy\n", 137, 1, "a process of the run was ended by SIGKILL"},
    {false, false, BEGUN "draining\n", -SIGUSR2, 4, ""},
    {false, false, BEGUN "draining\n", 140, 4, ""},
};

START_TEST(the_status_is_what_launcher_and_ranks_say_together)
{
    struct scene scene;
    set_scene(&scene, 0);
    scene.how.survives = ends[_i].survives;
    scene.how.flat = ends[_i].flat;
    act(&scene, 10, BY_LAUNCHER, SCRIPT_SAYS, 0, ends[_i].said);
    if (ends[_i].end < 0)
        act(&scene, 20, BY_LAUNCHER, SCRIPT_CRASHES, -ends[_i].end, NULL);
    else
        act(&scene, 20, BY_LAUNCHER, SCRIPT_EXITS, ends[_i].end, NULL);
    ck_assert_int_eq(play(&scene), ends[_i].status);
    ck_assert_str_eq(scene.how.lost, ends[_i].lost);
    ck_assert(scene.how.asked == (ends[_i].survives && strstr(ends[_i].said, "draining") != NULL));
    ck_assert(scene.how.begun == (strstr(ends[_i].said, BEGUN) != NULL));
    free(scene.text);
}
END_TEST

START_TEST(a_lost_run_that_has_summed_up_is_known)
{
    struct scene scene;
    set_scene(&scene, 0);
    act(&scene, 10, BY_LAUNCHER, SCRIPT_SAYS, 0, BEGUN);
    act(&scene, 10, BY_LAUNCHER, SCRIPT_SUMS_UP, 0, "# sum\n");
    act(&scene, 20, BY_LAUNCHER, SCRIPT_EXITS, 1, NULL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_str_eq(scene.text, "# sum\nhdss: the run ended without its supermaster\n");
    ck_assert(scene.how.begun && scene.how.summarized);
    free(scene.text);
}
END_TEST

/* Where no journal is kept nothing is left to go on with. */
START_TEST(a_cut_without_a_journal_is_a_failure)
{
    struct scene scene;
    set_scene(&scene, 0);
    scene.how.is_resumable = false;
    act(&scene, 10, BY_LAUNCHER, SCRIPT_SAYS, 0, BEGUN "draining\n");
    act(&scene, 20, BY_LAUNCHER, SCRIPT_EXITS, 1, NULL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_uint_eq(told(&scene, "the launcher was ended, and the ranks before they had drained; kept"), 1);
    free(scene.text);
}
END_TEST

/* One that fails says why, and nothing is added to that. */
START_TEST(a_launcher_that_has_said_why_is_believed)
{
    struct scene scene;
    set_scene(&scene, 0);
    act(&scene, 10, BY_LAUNCHER, SCRIPT_PRINTS, 0, "it fails\n");
    act(&scene, 10, BY_LAUNCHER, SCRIPT_EXITS, 1, NULL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_str_eq(scene.text, "it fails\n");
    free(scene.text);
}
END_TEST

/* --- being asked to stop --- */

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

START_TEST(the_first_signal_drains)
{
    struct scene scene;
    set_scene(&scene, 3);
    press(&scene, 300, asking[_i]);
    press(&scene, 310, SIGUSR1); /* batch systems send more than one */
    press(&scene, 320, SIGUSR2);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert(scene.how.asked && scene.how.lost[0] == '\0');
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGUSR1), 1);
    ck_assert_uint_eq(scene.script.sent_count, 1);
    free(scene.text);
}
END_TEST

/* Stopped before or after it is asked. */
START_TEST(a_stopped_launcher_passes_the_request_on)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.work = -1;
    scene.script.habits.forward = 50;
    strike(&scene, _i == 0 ? 200 : 320, BY_LAUNCHER, SIGSTOP);
    press(&scene, 300, SIGINT);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert_uint_ge(sent(&scene, BY_LAUNCHER, SIGCONT), 1);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGKILL), 0);
    ck_assert_int_lt(scene.took_ms, 3000);
    free(scene.text);
}
END_TEST

START_TEST(the_second_ends_the_ranks_and_the_third_the_launcher)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.drain = scene.script.habits.work = -1;
    scene.script.habits.on_end = _i == 0 ? SCRIPT_ENDS_RANKS : SCRIPT_IGNORES;
    press(&scene, 300, SIGINT);
    press(&scene, 400, SIGINT);
    press(&scene, 20000, SIGINT);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGTERM), 1);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGKILL), _i);
    ck_assert_int_lt(scene.took_ms, _i == 0 ? 3000 : 40000);
    ck_assert_uint_eq(told(&scene, "supermaster"), 0); /* it was given up, which was said */
    free(scene.text);
}
END_TEST

START_TEST(where_nothing_is_worth_keeping_the_first_ends_the_ranks)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.at_once = true;
    scene.script.habits.drain = scene.script.habits.work = -1;
    press(&scene, 300, SIGINT);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGUSR1), 0);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGTERM), 1);
    free(scene.text);
}
END_TEST

/* At each moment of the start, of each of the ranks: none of them dies of the signal, which waits until all catch it. A
 * rank may begin its own program just as it is looked at. */
START_TEST(a_drain_waits_until_all_ranks_catch_it)
{
    for (int64_t at_ms = 0; at_ms < 160; at_ms++)
        for (int who = 0; who <= BY_RANK_2; who++) {
            struct scene scene;
            set_scene(&scene, 3);
            scene.how.rank_depth = 1 + (unsigned)_i;
            scene.script.runs_when_read = who;
            scene.script.habits.fork = 40;   /* the others are ready by then */
            scene.script.habits.forward = 5; /* and one may be forked meanwhile */
            press(&scene, at_ms, SIGTERM);
            ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
            ck_assert(scene.script.has_begun && scene.script.said == EXIT_STATUS_DRAINED);
            ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, 0), 1);
            free(scene.text);
        }
}
END_TEST

/* Workers that were lost later are not waited for. */
START_TEST(a_drain_needs_no_rank_that_was_lost)
{
    struct scene scene;
    set_scene(&scene, 3);
    strike(&scene, 200, BY_RANK_1, SIGKILL);
    press(&scene, 300, SIGTERM);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert_int_eq(sent_ms(&scene, BY_LAUNCHER, SIGUSR1), 300);
    free(scene.text);
}
END_TEST

/* Whatever holds it up: nothing has begun, and nothing is lost. */
START_TEST(a_launcher_that_hangs_at_the_start_is_not_waited_for)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.fork = 100000;
    scene.script.habits.on_end = (enum script_end)_i;
    press(&scene, 300, SIGTERM);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert_uint_eq(told(&scene, "stopped before the run had begun"), 1);
    ck_assert_int_eq(sent_ms(&scene, BY_LAUNCHER, SIGTERM) / 1000, 5); /* begin_ms */
    ck_assert_int_lt(scene.took_ms, 12000);
    free(scene.text);
}
END_TEST

START_TEST(the_ranks_drain_before_the_time_is_over)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.drain_ms = scene.script.now_ms + 600;
    scene.script.habits.work = 5000;
    scene.script.habits.drain = 2000;
    if (_i == 1) /* and are not asked twice */
        press(&scene, 300, SIGINT);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert(scene.how.asked);
    ck_assert_int_eq(sent_ms(&scene, BY_LAUNCHER, SIGUSR1) >= 600, _i == 0);
    ck_assert_uint_eq(scene.script.sent_count, 1);
    free(scene.text);
}
END_TEST

static bool is_asked(void)
{
    return true;
}

START_TEST(a_signal_that_came_before_the_launcher_drains)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.is_asked = is_asked;
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert_int_lt(scene.took_ms, 500);
    free(scene.text);
}
END_TEST

/* A batch system sends its signal to everybody: hdss says so once, and asks for no more than it was asked for. */
START_TEST(a_signal_to_every_process_drains)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.on_end = SCRIPT_IGNORES;
    if (_i == 1)
        press(&scene, 300, SIGTERM);
    for (int who = BY_LAUNCHER; who <= BY_RANK_2; who++)
        strike(&scene, 300, who, SIGTERM);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert(scene.how.asked);
    ck_assert_uint_eq(told(&scene, "draining, as the ranks were sent a signal"), 1 - (unsigned)_i);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGTERM), 0);
    free(scene.text);
}
END_TEST

/* mpirun kills its ranks a moment behind its signal, whether they have drained or not. */
START_TEST(a_launcher_that_kills_before_the_ranks_have_drained)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.drain = 5000;
    scene.script.habits.work = -1;
    scene.how.is_resumable = _i == 0;
    strike(&scene, 300, BY_LAUNCHER, SIGTERM);
    ck_assert_int_eq(play(&scene), _i == 0 ? EXIT_STATUS_DRAINED : EXIT_STATUS_FAILED);
    ck_assert_uint_eq(told(&scene, "the ranks before they had drained; kept"), 1);
    free(scene.text);
}
END_TEST

START_TEST(a_signal_when_all_is_done_changes_nothing)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.leave = 500;
    scene.how.survives = _i % 2 == 0;
    strike(&scene, 1200, BY_LAUNCHER, _i < 2 ? SIGTERM : SIGINT);
    if (_i % 2 == 0)
        press(&scene, 1200, SIGTERM);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    free(scene.text);
}
END_TEST

START_TEST(a_terminal_stops_the_launcher_too_unless_pods_go_on)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.has_pods = _i == 1;
    press(&scene, 300, SIGTSTP);
    press(&scene, 400, SIGCONT);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert(scene.script.is_stopped_self);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGTSTP), 1 - (unsigned)_i);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGCONT), 2 - (unsigned)_i);
    free(scene.text);
}
END_TEST

/* --- time --- */

START_TEST(a_run_whose_time_is_over_is_ended)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.work = scene.script.habits.drain = -1;
    scene.script.habits.on_end = (enum script_end)_i;
    scene.how.timeout_s = 7;
    scene.how.reports = false;
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert(scene.how.late);
    ck_assert_int_ge(sent_ms(&scene, BY_LAUNCHER, SIGTERM), 7000);
    ck_assert_int_lt(scene.took_ms, 14000);
    free(scene.text);
}
END_TEST

/* --- losses --- */

/* A worker that is lost while the ranks find each other leaves the others in MPI for ever. */
START_TEST(a_launch_that_has_lost_a_rank_before_it_began_is_ended)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.survives = _i == 0; /* any launcher may have been told to go on */
    strike(&scene, BEGUN_MS - 15, BY_RANK_2, SIGKILL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert(!scene.how.begun && scene.how.started);
    ck_assert_uint_eq(told(&scene, "a rank was lost before the run had begun"), 1);
    ck_assert_int_lt(scene.took_ms, 10000);
    free(scene.text);
}
END_TEST

START_TEST(a_launcher_that_begins_no_rank_is_ended)
{
    struct scene scene;
    set_scene(&scene, 0);
    scene.how.ranks = 3;
    act(&scene, 100, BY_LAUNCHER, SCRIPT_PRINTS, 0, "no pipes\n");
    scene.script.stop_ms = 600000;
    scene.script.limit_ms += 600000;
    if (_i == 1) { /* the time in which it is stopped itself does not count */
        press(&scene, 1000, SIGTSTP);
        press(&scene, 1001, SIGCONT);
    }
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_uint_eq(told(&scene, "no pipes\nhdss: the launcher has not begun a rank for too long: it is ended\n"), 1);
    ck_assert_int_gt(scene.took_ms, 100000 + 600000 * _i);
    ck_assert_int_lt(scene.took_ms, 150000 + 600000 * _i);
    free(scene.text);
}
END_TEST

START_TEST(a_run_goes_on_without_a_lost_worker)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.work = 60000;
    strike(&scene, 300, BY_RANK_1, SIGKILL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_int_ge(scene.took_ms, 60000);
    free(scene.text);
}
END_TEST

START_TEST(the_others_are_ended_behind_a_lost_supermaster)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.work = scene.script.habits.miss = -1;
    scene.script.habits.on_end = (enum script_end)(_i % 3);
    if (_i >= 3) /* a drain does not change that */
        strike(&scene, 295, BY_RANK_0, SIGTERM);
    strike(&scene, 300, BY_RANK_0, SIGKILL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_str_eq(scene.how.lost, "the run ended without its supermaster");
    ck_assert_int_lt(scene.took_ms, 9000);
    free(scene.text);
}
END_TEST

/* A launcher that ends all ranks when one is lost takes its time for it, and a signal meanwhile makes it crash, and
 * what the ranks have printed is lost. */
START_TEST(a_launcher_that_ends_the_ranks_of_a_failed_run_is_not_disturbed)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.survives = false;
    scene.script.habits.lets_none_die = true;
    scene.script.habits.end_ranks = 700; /* twice */
    scene.script.habits.end = -1;
    scene.script.habits.pass = 1000;
    act(&scene, 290, BY_RANK_1, SCRIPT_PRINTS, 0, "no memory\n");
    act(&scene, 300, BY_RANK_1, SCRIPT_EXITS, 1, NULL);
    act(&scene, 310, BY_RANK_0, SCRIPT_ENDS, 1, NULL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGTERM), 0);
    ck_assert_uint_eq(told(&scene, "no memory\n"), 1);
    free(scene.text);
}
END_TEST

/* --- the end --- */

/* hdss exec ends ranks that have said how the run went; but what they have said of a failure is with the launcher. */
START_TEST(the_words_of_a_run_that_has_failed_are_waited_for)
{
    static const int statuses[] = {EXIT_STATUS_DONE, EXIT_STATUS_TASKS, EXIT_STATUS_FAILED, EXIT_STATUS_USAGE};
    const bool went_through = _i < 2;
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.ends_soon = true;
    scene.script.habits.pass = 400;
    scene.script.habits.leave = 500;
    scene.script.habits.work = -1;
    act(&scene, 490, BY_RANK_0, SCRIPT_PRINTS, 0, "why it failed\n");
    act(&scene, 500, BY_RANK_0, SCRIPT_ENDS, statuses[_i], NULL);
    ck_assert_int_eq(play(&scene), statuses[_i]);
    ck_assert_uint_eq(told(&scene, "why it failed\n"), went_through ? 0 : 1);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGKILL), went_through ? 1 : 0);
    ck_assert_int_eq(scene.took_ms < 600, went_through);
    free(scene.text);
}
END_TEST

/* Ranks that hang when the results are there hold nobody up; how the launcher takes their end does not matter. */
START_TEST(ranks_that_hang_in_mpi_are_ended)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.survives = _i % 2 == 0;
    scene.script.habits.leave = -1;
    scene.script.habits.end = _i < 2 ? 10 : -1;
    scene.script.habits.on_end = SCRIPT_IGNORES;
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_int_ge(scene.took_ms, 1060 + 3000); /* LEAVE_MS */
    ck_assert_int_lt(scene.took_ms, 9000);
    ck_assert_uint_eq(sent(&scene, BY_RANK_1, SIGKILL), 1);
    ck_assert_uint_eq(told(&scene, "# sum\n"), 1);
    free(scene.text);
}
END_TEST

START_TEST(a_launcher_that_hangs_when_all_ranks_have_left_is_ended)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.end = -1;
    scene.script.habits.on_end = (enum script_end)_i;
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_int_lt(scene.took_ms, 11000);
    free(scene.text);
}
END_TEST

START_TEST(who_is_stopped_at_the_end_goes_on_to_leave)
{
    struct scene scene;
    set_scene(&scene, 3);
    strike(&scene, 500, _i == 0 ? BY_LAUNCHER : BY_RANK_2, SIGSTOP);
    act(&scene, 600, BY_RANK_1, SCRIPT_PRINTS, 0, "a line\n");
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_str_eq(scene.text, "a line\n# sum\n");
    ck_assert_uint_ge(sent(&scene, _i == 0 ? BY_LAUNCHER : BY_RANK_2, SIGCONT), 1);
    ck_assert_uint_eq(sent(&scene, BY_LAUNCHER, SIGKILL), 0);
    ck_assert_int_lt(scene.took_ms, 3000);
    free(scene.text);
}
END_TEST

/* --- words --- */

/* The launcher ends the ranks and drops what they have printed. The summary does not go through the launcher. */
START_TEST(the_summary_comes_though_the_launcher_loses_words)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.pass = -1;
    scene.script.habits.leave = -1;
    scene.script.habits.loses_words = true;
    strike(&scene, 300, BY_RANK_1, SIGKILL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_str_eq(scene.text, "# sum\n");
    free(scene.text);
}
END_TEST

/* Ranks may outlive their launcher. */
START_TEST(a_summary_comes_after_the_launcher_has_ended)
{
    struct scene scene;
    set_scene(&scene, 0);
    act(&scene, 10, BY_RANK_0, SCRIPT_IS_THERE, 0, NULL);
    act(&scene, 20, BY_RANK_0, SCRIPT_SAYS, 0, BEGUN);
    strike(&scene, 30, BY_LAUNCHER, SIGKILL);
    act(&scene, 40, BY_RANK_0, SCRIPT_SAYS, 0, "lead 0\n");
    act(&scene, 50, BY_RANK_0, SCRIPT_SUMS_UP, 0, "# sum\n");
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_uint_eq(told(&scene, "the launcher was killed: the run ended without it\n"), 1);
    ck_assert_uint_eq(told(&scene, "# sum\n"), 1);
    free(scene.text);
}
END_TEST

/* In pieces, without an end, behind the launcher's end, and between those of a progress line. */
START_TEST(no_line_is_lost_or_torn)
{
    struct scene scene;
    set_scene(&scene, 0);
    act(&scene, 10, BY_RANK_0, SCRIPT_IS_THERE, 0, NULL);
    act(&scene, 20, BY_LAUNCHER, SCRIPT_PRINTS, 0, "one li");
    act(&scene, 30, BY_LAUNCHER, SCRIPT_PROGRESS, 0, "\r50 % \033[K");
    act(&scene, 40, BY_LAUNCHER, SCRIPT_PRINTS, 0, "ne\nmpirun: Forwarding signal 10 to job\nanother");
    act(&scene, 1000, BY_LAUNCHER, SCRIPT_PROGRESS, 0, "\r60 % \033[K"); /* that one was written by then */
    act(&scene, 2000, BY_LAUNCHER, SCRIPT_PRINTS, 0, ", later\n");
    act(&scene, 3000, BY_LAUNCHER, SCRIPT_PRINTS, 0, "the last");
    act(&scene, 3000, BY_LAUNCHER, SCRIPT_EXITS, 1, NULL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_str_eq(scene.text, "\r50 % \033[K\r\033[Kone line\nanother\r60 % \033[K\r\033[K, later\nthe last");
    free(scene.text);
}
END_TEST

/* --- who is stopped --- */

/* Looks, a second apart, that find somebody stopped in a row until that is too many; 0: it never is. */
static unsigned looks_until_stopped(struct launcher_watch *watch, int64_t *now_ms)
{
    for (unsigned looks = 1; looks < 4 * STOPPED_LOOKS; looks++) {
        *now_ms += 1000;
        ck_assert(!launcher_watch_is_stopped(watch, SCRIPT_PID(BY_LAUNCHER), *now_ms - 1));
        if (launcher_watch_is_stopped(watch, SCRIPT_PID(BY_LAUNCHER), *now_ms))
            return looks;
    }
    return 0;
}

static void make_processes(struct script *script, char launcher, char lead, char other)
{
    script_init(script, 0);
    script->processes[BY_LAUNCHER] = (struct script_process){.state = launcher, .parent = BY_HDSS};
    script->processes[BY_RANK_0] = (struct script_process){.state = lead, .parent = BY_LAUNCHER};
    script->processes[BY_RANK_1] = (struct script_process){.state = other, .parent = BY_LAUNCHER};
}

#define NEVER 0

static const struct {
    char launcher, lead, other; /* states */
    bool begun, flat, asked, draining, ended, remote, is_one;
    unsigned looks;
} stops[] = {
    {'S', 'S', 'S', .begun = true, .looks = NEVER},
    {'S', 'T', 'S', .begun = true, .looks = STOPPED_LOOKS},
    {'S', 'T', 'T', .begun = true, .looks = NEVER},       /* all are: somebody wants it so */
    {'S', 'S', 'T', .begun = true, .looks = NEVER},       /* what others do about a stopped worker is theirs */
    {'S', 'T', 0, .begun = true, .looks = STOPPED_LOOKS}, /* nobody else is left to see it */
    {'S', 'T', 0, .begun = true, .is_one = true, .looks = STOPPED_LOOKS}, /* all others are pods */
    {'S', 'T', 0, .begun = true, .is_one = true, .flat = true, .looks = NEVER},
    {'S', 'S', 'T', .looks = STOPPED_LOOKS},
    {'S', 'S', 'T', .begun = true, .flat = true,
     .looks = NEVER}, /* each is waited for: by a drain no longer than that */
    {'S', 'S', 'T', .begun = true, .flat = true, .asked = true, .looks = STOPPED_LOOKS}, /* in a barrier */
    {'S', 'S', 'T', .begun = true, .flat = true, .draining = true, .looks = STOPPED_LOOKS},
    {'S', 'T', 'S', .begun = true, .ended = true, .looks = NEVER},
    {'S', 'T', 'S', .begun = true, .remote = true, .looks = NEVER},
    {'T', 0, 0, .looks = STOPPED_LOOKS},        /* it has not begun any rank yet */
    {'T', 0, 0, .begun = true, .looks = NEVER}, /* nobody needs it before the end */
    {'T', 'T', 'T', .looks = NEVER},
    {'S', 0, 0, .looks = NEVER},
};

START_TEST(who_is_stopped_alone_is_found)
{
    static struct script script;
    int64_t now_ms = 0;
    make_processes(&script, stops[_i].launcher, stops[_i].lead, stops[_i].other);
    struct launcher_watch watch = {.world = &script.world,
                                   .ranks = stops[_i].is_one ? 1 : 2,
                                   .running = 1 + (stops[_i].other != 0),
                                   .depth = 1,
                                   .begun = stops[_i].begun,
                                   .lead = SCRIPT_PID(BY_RANK_0),
                                   .flat = stops[_i].flat,
                                   .asked = stops[_i].asked,
                                   .draining = stops[_i].draining,
                                   .ended = stops[_i].ended,
                                   .remote = stops[_i].remote};
    ck_assert_uint_eq(looks_until_stopped(&watch, &now_ms), stops[_i].looks);
    if (stops[_i].looks == NEVER)
        return;
    script.processes[BY_RANK_0].state = script.processes[BY_LAUNCHER].state = 'S'; /* a pause begins the count anew */
    script.processes[BY_RANK_1].state = 'S';
    watch.stopped_looks = STOPPED_LOOKS - 1;
    ck_assert_uint_eq(looks_until_stopped(&watch, &now_ms), NEVER);
    ck_assert_uint_eq(watch.stopped_looks, 0);
}
END_TEST

static const struct {
    int64_t at_ms; /* the stop */
    int who;
    bool flat, drains;
    int status;
    const char *told;
} stopped_for_good[] = {
    {300, BY_RANK_0, false, false, 1, "the supermaster has been stopped for 10 seconds: it is ended\n"},
    {300, BY_RANK_0, false, true, 1, "the supermaster has been stopped for 10 seconds: it is ended\n"},
    {40, BY_RANK_1, false, false, 1, "a rank has been stopped for 10 seconds before the run had begun: it is ended\n"},
    {2, BY_LAUNCHER, false, false, 1,
     "the launcher has been stopped for 10 seconds before the run had begun: it is ended\n"},
    {300, BY_RANK_1, true, true, 4, "a rank has been stopped for 10 seconds and the others drain: it is ended\n"},
};

/* Whoever is stopped for so long while the others wait for it is as good as dead. */
START_TEST(who_is_stopped_for_good_is_ended)
{
    static char said[4096];
    const int who = stopped_for_good[_i].who;
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.flat = stopped_for_good[_i].flat;
    scene.script.habits.work = -1;
    if (stopped_for_good[_i].flat)
        scene.script.habits.drain = 11000; /* the others wait for it */
    strike(&scene, stopped_for_good[_i].at_ms, who, SIGSTOP);
    if (stopped_for_good[_i].drains)
        press(&scene, 400, SIGTERM);
    FILE *errors = stderr;
    stderr = fmemopen(said, sizeof said, "w");
    const int status = play(&scene);
    fclose(stderr);
    stderr = errors;
    ck_assert_int_eq(status, stopped_for_good[_i].status);
    ck_assert_ptr_nonnull(strstr(said, stopped_for_good[_i].told));
    ck_assert_uint_ge(sent(&scene, who, SIGKILL), 1);
    const int64_t waited_ms = sent_ms(&scene, who, SIGKILL) - stopped_for_good[_i].at_ms;
    ck_assert(waited_ms > 8500 && waited_ms < 11500);
    ck_assert_int_lt(scene.took_ms, 25000);
    free(scene.text);
}
END_TEST

START_TEST(a_run_that_is_stopped_as_a_whole_goes_on)
{
    struct scene scene;
    set_scene(&scene, 3);
    for (int who = BY_RANK_0; who <= BY_RANK_2; who++) {
        strike(&scene, 300, who, SIGSTOP);
        strike(&scene, 40000, who, SIGCONT);
    }
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_uint_eq(scene.script.sent_count, 0);
    free(scene.text);
}
END_TEST

/* --- a launcher that is killed --- */

START_TEST(ranks_whose_launcher_was_killed_are_ended)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.miss = _i == 0 ? 100 : -1;
    scene.script.habits.work = -1;
    strike(&scene, 300, BY_LAUNCHER, SIGKILL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_str_eq(scene.how.lost, "the run ended without its supermaster");
    ck_assert_int_lt(scene.took_ms, _i == 0 ? 1000 : 18000);
    ck_assert_uint_eq(sent(&scene, BY_RANK_2, SIGKILL) > 0, _i == 1);
    free(scene.text);
}
END_TEST

/* Who goes on with the run before it has ended would write to the same files. */
START_TEST(a_supermaster_outlives_its_launcher)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.waits_alone = true;
    scene.script.habits.work = -1;
    scene.script.habits.drain = 3000;
    strike(&scene, 300, BY_LAUNCHER, SIGKILL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DRAINED);
    ck_assert_uint_eq(told(&scene, "the launcher was killed: the run ended without it; kept\n"), 1);
    ck_assert_uint_eq(told(&scene, "# sum\n"), 1);
    ck_assert_int_ge(scene.took_ms, 3300);
    free(scene.text);
}
END_TEST

/* What ranks say and print is taken as long as they are waited for, also where the run had not begun. */
START_TEST(the_last_words_of_orphans_come_out)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.is_passed_by = true;
    scene.script.habits.miss = 3000;
    strike(&scene, _i == 0 ? 300 : 30, BY_LAUNCHER, SIGKILL);
    act(&scene, 1000, BY_RANK_0, SCRIPT_PRINTS, 0, "late\n");
    act(&scene, 1065, BY_RANK_1, SCRIPT_PRINTS, 0, "later\n");
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_uint_eq(told(&scene, "late\n"), 1);
    ck_assert_uint_eq(told(&scene, "later\n"), 1);
    ck_assert(scene.how.begun && scene.how.lost[0] == '\0');
    free(scene.text);
}
END_TEST

START_TEST(a_user_need_not_wait_for_it)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.script.habits.miss = scene.script.habits.work = scene.script.habits.drain = -1;
    strike(&scene, 300, BY_LAUNCHER, SIGKILL);
    press(&scene, 500, SIGINT);
    press(&scene, 600, SIGINT);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_FAILED);
    ck_assert_int_eq(sent_ms(&scene, BY_RANK_0, SIGTERM), 500);
    ck_assert_int_eq(sent_ms(&scene, BY_RANK_0, SIGKILL), 600);
    free(scene.text);
}
END_TEST

/* SIGPIPE, or a crash in its last moment, when the ranks have said all. */
START_TEST(a_launcher_that_crashes_at_the_end_changes_nothing)
{
    struct scene scene;
    set_scene(&scene, 3);
    act(&scene, 1085, BY_LAUNCHER, SCRIPT_CRASHES, _i == 0 ? SIGSEGV : SIGPIPE, NULL);
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    ck_assert_str_eq(scene.text, "# sum\n");
    free(scene.text);
}
END_TEST

/* --- the caller's own work --- */

struct beside {
    struct launch_world *world;
    unsigned looks[LAUNCH_IS_OVER + 1];
    enum launch_wish wish;
    int64_t from_ms;
};

static enum launch_wish look_beside(void *context, enum launch_stage stage)
{
    struct beside *beside = context;
    beside->looks[stage]++;
    return beside->world->now_ms(beside->world) >= beside->from_ms ? beside->wish : LAUNCH_GOES_ON;
}

static int wait_beside(void *context)
{
    (void)context;
    return 100;
}

#define BESIDE_DESCRIPTOR 77

static unsigned wait_for_beside(void *context, struct pollfd *polled)
{
    (void)context;
    *polled = (struct pollfd){.fd = BESIDE_DESCRIPTOR, .events = POLLIN};
    return 1;
}

static void add_beside(struct scene *scene, struct beside *beside, struct launch_side *side, enum launch_wish wish)
{
    *beside = (struct beside){.world = &scene->script.world, .wish = wish, .from_ms = scene->script.now_ms + 500};
    *side = (struct launch_side){look_beside, wait_beside, wait_for_beside, beside, NULL, NULL};
    scene->how.side = side;
}

START_TEST(a_caller_sees_each_stage)
{
    struct scene scene;
    struct beside beside;
    struct launch_side side;
    set_scene(&scene, 3);
    add_beside(&scene, &beside, &side, LAUNCH_GOES_ON);
    scene.script.habits.fork = 100;
    scene.script.habits.store = 500;
    ck_assert_int_eq(play(&scene), EXIT_STATUS_DONE);
    for (unsigned stage = 0; stage <= LAUNCH_IS_OVER; stage++)
        ck_assert_uint_gt(beside.looks[stage], 0);
    ck_assert_int_eq(scene.script.waited_for, BESIDE_DESCRIPTOR);
    free(scene.text);
}
END_TEST

START_TEST(what_a_caller_wishes_is_done)
{
    static const struct {
        enum launch_wish wish;
        enum script_end on_end;
        int status, limit_ms;
    } wishes[] = {{LAUNCH_DRAINS, SCRIPT_IGNORES, 4, 1000},
                  {LAUNCH_ENDS, SCRIPT_ENDS_RANKS, 1, 3000},
                  {LAUNCH_ENDS, SCRIPT_IGNORES, 1, 7000},
                  {LAUNCH_KILLS, SCRIPT_IGNORES, 1, 1500}};
    struct scene scene;
    struct beside beside;
    struct launch_side side;
    set_scene(&scene, 3);
    add_beside(&scene, &beside, &side, wishes[_i].wish);
    scene.script.habits.work = -1;
    scene.script.habits.drain = wishes[_i].wish == LAUNCH_DRAINS ? 50 : -1;
    scene.script.habits.on_end = wishes[_i].on_end;
    ck_assert_int_eq(play(&scene), wishes[_i].status);
    ck_assert_int_lt(scene.took_ms, wishes[_i].limit_ms);
    if (wishes[_i].wish == LAUNCH_KILLS) /* given up, and not lost */
        ck_assert(scene.how.asked && scene.how.lost[0] == '\0');
    free(scene.text);
}
END_TEST

static pid_t cleared;

static void clear(pid_t launcher)
{
    cleared = launcher;
}

/* Its files are those of one that did not end in order. */
START_TEST(what_a_launcher_leaves_is_cleared_away)
{
    struct scene scene;
    set_scene(&scene, 3);
    scene.how.clear = clear;
    if (_i == 1)
        strike(&scene, 300, BY_LAUNCHER, SIGKILL);
    if (_i == 2)
        strike(&scene, 300, BY_RANK_1, SIGKILL);
    play(&scene);
    ck_assert_int_eq(cleared, _i == 0 ? 0 : SCRIPT_PID(BY_LAUNCHER));
    free(scene.text);
}
END_TEST

int main(void)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO); /* what launch() says is for people */
    Suite *suite = suite_create("launch-script");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_run_that_goes_well_is_let_be, 0, 2);
    tcase_add_loop_test(all, the_status_is_what_launcher_and_ranks_say_together, 0, COUNT(ends));
    tcase_add_test(all, a_lost_run_that_has_summed_up_is_known);
    tcase_add_test(all, a_cut_without_a_journal_is_a_failure);
    tcase_add_test(all, a_launcher_that_has_said_why_is_believed);
    tcase_add_loop_test(all, the_first_signal_drains, 0, COUNT(asking));
    tcase_add_loop_test(all, a_stopped_launcher_passes_the_request_on, 0, 2);
    tcase_add_loop_test(all, the_second_ends_the_ranks_and_the_third_the_launcher, 0, 2);
    tcase_add_test(all, where_nothing_is_worth_keeping_the_first_ends_the_ranks);
    tcase_add_loop_test(all, a_drain_waits_until_all_ranks_catch_it, 0, 2);
    tcase_add_test(all, a_drain_needs_no_rank_that_was_lost);
    tcase_add_loop_test(all, a_launcher_that_hangs_at_the_start_is_not_waited_for, 0, 3);
    tcase_add_loop_test(all, the_ranks_drain_before_the_time_is_over, 0, 2);
    tcase_add_test(all, a_signal_that_came_before_the_launcher_drains);
    tcase_add_loop_test(all, a_signal_to_every_process_drains, 0, 2);
    tcase_add_loop_test(all, a_launcher_that_kills_before_the_ranks_have_drained, 0, 2);
    tcase_add_loop_test(all, a_signal_when_all_is_done_changes_nothing, 0, 4);
    tcase_add_loop_test(all, a_terminal_stops_the_launcher_too_unless_pods_go_on, 0, 2);
    tcase_add_loop_test(all, a_run_whose_time_is_over_is_ended, 0, 3);
    tcase_add_loop_test(all, a_launch_that_has_lost_a_rank_before_it_began_is_ended, 0, 2);
    tcase_add_loop_test(all, a_launcher_that_begins_no_rank_is_ended, 0, 2);
    tcase_add_test(all, a_run_goes_on_without_a_lost_worker);
    tcase_add_loop_test(all, the_others_are_ended_behind_a_lost_supermaster, 0, 6);
    tcase_add_test(all, a_launcher_that_ends_the_ranks_of_a_failed_run_is_not_disturbed);
    tcase_add_loop_test(all, the_words_of_a_run_that_has_failed_are_waited_for, 0, 4);
    tcase_add_loop_test(all, ranks_that_hang_in_mpi_are_ended, 0, 4);
    tcase_add_loop_test(all, a_launcher_that_hangs_when_all_ranks_have_left_is_ended, 0, 3);
    tcase_add_loop_test(all, who_is_stopped_at_the_end_goes_on_to_leave, 0, 2);
    tcase_add_test(all, the_summary_comes_though_the_launcher_loses_words);
    tcase_add_test(all, a_summary_comes_after_the_launcher_has_ended);
    tcase_add_test(all, no_line_is_lost_or_torn);
    tcase_add_loop_test(all, who_is_stopped_alone_is_found, 0, COUNT(stops));
    tcase_add_loop_test(all, who_is_stopped_for_good_is_ended, 0, COUNT(stopped_for_good));
    tcase_add_test(all, a_run_that_is_stopped_as_a_whole_goes_on);
    tcase_add_loop_test(all, ranks_whose_launcher_was_killed_are_ended, 0, 2);
    tcase_add_test(all, a_supermaster_outlives_its_launcher);
    tcase_add_loop_test(all, the_last_words_of_orphans_come_out, 0, 2);
    tcase_add_test(all, a_user_need_not_wait_for_it);
    tcase_add_loop_test(all, a_launcher_that_crashes_at_the_end_changes_nothing, 0, 2);
    tcase_add_test(all, a_caller_sees_each_stage);
    tcase_add_loop_test(all, what_a_caller_wishes_is_done, 0, 4);
    tcase_add_loop_test(all, what_a_launcher_leaves_is_cleared_away, 0, 3);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
