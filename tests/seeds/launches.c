/* SPDX-License-Identifier: MIT */
/* Random launches, each made from one number: a scripted launcher (tests/lib/scripted_launcher.h) and its ranks come
 * up, work, print and leave as quickly as it happens, hang, crash, are stopped and killed at any moment, and so is
 * asked who launched them. Whatever happens, the launch ends, by itself or by the third signal, and soon after the run
 * has said how it went; its status is one of ours, and what the rank that leads has said; 0 only where that has said
 * so; what has come out of the launcher is printed, whole and once, and so is the summary; none of its processes is
 * left; nobody is ended while the run works, nor by a signal that it was not ready for; a failure is told. */
#include "common/util/error.h"
#include "common/util/random.h"
#include "tests/lib/scripted_launcher.h"
#include "tests/seeds/program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MAX = 6, PATIENCE_MS = 300000 };

struct trial {
    struct random random;
    struct script script;
    struct launch how;
    char lines[LINES_MAX][40];
    int64_t last_ms;       /* of what was meant to happen */
    bool is_struck;        /* something was done to a process */
    unsigned stops;        /* of them for ever */
    char *text, *came_out; /* printed by the launch, and by the launcher; owned */
    size_t length, came_length;
    int64_t took_ms;
    int status;
};

static struct {
    uint64_t statuses[EXIT_STATUS_DRAINED + 1];
    uint64_t begun, outlived, given_up, signals, dropped;
} tally;

/* Below `bound`. */
static int64_t draw(struct trial *trial, int64_t bound)
{
    return (int64_t)(random_next(&trial->random) % (uint64_t)bound);
}

static bool one_in(struct trial *trial, int64_t count)
{
    return draw(trial, count) == 0;
}

/* Mostly short; one in `never` is for ever, 0: none. */
static int64_t draw_ms(struct trial *trial, int64_t bound, int64_t never)
{
    if (never > 0 && one_in(trial, never))
        return -1;
    return draw(trial, one_in(trial, 2) ? bound / 20 + 1 : bound);
}

static void act(struct trial *trial, int64_t after_ms, int who, enum script_deed deed, int number, const char *text)
{
    script_add(&trial->script, (struct script_act){trial->script.now_ms + after_ms, who, deed, number, text});
    if (after_ms > trial->last_ms && after_ms < PATIENCE_MS)
        trial->last_ms = after_ms;
}

static void make_habits(struct trial *trial)
{
    struct script_habits *habits = &trial->script.habits;
    habits->ranks = 1 + (unsigned)draw(trial, 5);
    habits->fork = draw_ms(trial, 100, 0);
    habits->run = draw_ms(trial, 100, 0);
    habits->catch = draw_ms(trial, 300, 0);
    habits->join = draw_ms(trial, 300, 0);
    habits->work = draw_ms(trial, 20000, 0);
    habits->store = draw_ms(trial, 500, 0);
    habits->leave = draw_ms(trial, 2000, 8);
    habits->drain = draw_ms(trial, 4000, 8);
    habits->status = one_in(trial, 2) ? EXIT_STATUS_DONE : (int)draw(trial, EXIT_STATUS_TASKS + 1);
    habits->pass = draw_ms(trial, 500, 0);
    habits->end = draw_ms(trial, 500, 8);
    habits->end_ranks = draw_ms(trial, 2500, 0);
    habits->on_end = (enum script_end)draw(trial, 3);
    habits->miss = draw_ms(trial, 3000, 8);
    habits->loses_words = one_in(trial, 3);
    habits->waits_alone = one_in(trial, 2);
    habits->is_passed_by = one_in(trial, 4);
    habits->drops_drain = one_in(trial, 8);
    trial->how = (struct launch){.survives = !one_in(trial, 3),
                                 .reports = !one_in(trial, 10),
                                 .remote = one_in(trial, 10),
                                 .flat = one_in(trial, 5),
                                 .has_pods = one_in(trial, 8),
                                 .ranks = habits->ranks,
                                 .rank_depth = 1 + one_in(trial, 3),
                                 .at_once = one_in(trial, 8),
                                 .ends_soon = one_in(trial, 3),
                                 .is_resumable = one_in(trial, 2),
                                 .begin_ms = 500 + draw(trial, 5000),
                                 .kept = "; kept"};
    trial->how.survives &= trial->how.reports;
    habits->lets_none_die = !trial->how.survives;
    if (one_in(trial, 6))
        trial->how.timeout_s = 1 + (unsigned)draw(trial, 20);
    if (one_in(trial, 6))
        trial->how.drain_ms = trial->script.now_ms + draw(trial, 10000);
    trial->last_ms =
        (habits->fork + 1) * habits->ranks + habits->run + habits->catch + habits->join + habits->work + habits->store;
}

static void print_lines(struct trial *trial)
{
    const unsigned count = (unsigned)draw(trial, LINES_MAX + 1);
    for (unsigned i = 0; i < count; i++) {
        snprintf(trial->lines[i], sizeof trial->lines[i], "line %u\n", i);
        const int who = (int)draw(trial, 1 + trial->how.ranks);
        act(trial, draw(trial, trial->last_ms + 500), who, SCRIPT_PRINTS, 0, trial->lines[i]);
    }
}

static void strike(struct trial *trial)
{
    static const int ends[] = {SIGKILL, SIGSEGV, SIGPIPE}, asks[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    const int64_t at_ms = draw(trial, one_in(trial, 3) ? 500 : trial->last_ms + 1000);
    const int who = (int)draw(trial, 1 + trial->how.ranks);
    trial->is_struck = true;
    switch (draw(trial, 5)) {
    case 0:
    case 1: act(trial, at_ms, who, SCRIPT_CRASHES, ends[draw(trial, 3)], NULL); break;
    case 2:
        act(trial, at_ms, who, SCRIPT_SIGNALLED, SIGSTOP, NULL);
        if (one_in(trial, 2))
            act(trial, at_ms + draw(trial, 20000), who, SCRIPT_SIGNALLED, SIGCONT, NULL);
        else
            trial->stops++;
        break;
    case 3: act(trial, at_ms, who, SCRIPT_SIGNALLED, asks[draw(trial, 5)], NULL); break;
    default: {
        const int number = asks[draw(trial, 5)];
        for (int each = 0; each <= (int)trial->how.ranks; each++)
            act(trial, at_ms, each, SCRIPT_SIGNALLED, number, NULL);
    }
    }
}

static void press_keys(struct trial *trial)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    for (int64_t left = one_in(trial, 2) ? 0 : draw(trial, 4); left > 0; left--)
        act(trial, draw(trial, trial->last_ms + 1000), BY_HDSS, SCRIPT_SIGNALLED, numbers[draw(trial, 7)], NULL);
    for (int i = 0; i < 3; i++) /* somebody gives it up */
        act(trial, PATIENCE_MS + 1000 * i, BY_HDSS, SCRIPT_SIGNALLED, SIGINT, NULL);
}

/* What was printed, without the lines of our own. */
static void drop_own_lines(char *text)
{
    char *to = text;
    for (char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        const bool is_own = strncmp(line, "hdss: ", 6) == 0 || strcmp(line, "# sum\n") == 0;
        if (!is_own)
            memmove(to, line, length);
        line += length;
        to += is_own ? 0 : length;
    }
    *to = '\0';
}

static const char *judge_words(struct trial *trial)
{
    const struct script *script = &trial->script;
    const char *sum = strstr(trial->text, "# sum\n");
    if (trial->how.reports && script->has_ended != (sum != NULL))
        return "the summary is lost, or made up";
    if (sum != NULL && strstr(sum + 1, "# sum\n") != NULL)
        return "the summary comes twice";
    /* what a user has asked for was answered on standard error */
    const unsigned asked = script->asked + (trial->how.drain_ms != 0);
    const bool is_told = strstr(trial->text, "hdss: ") != NULL || trial->how.lost[0] != '\0' || trial->how.late ||
                         script->said > 0 || asked > (trial->how.reports && !trial->how.at_once ? 1 : 0);
    if (trial->status == EXIT_STATUS_FAILED && !is_told && trial->text[0] == '\0')
        return "it fails without a word";
    drop_own_lines(trial->text);
    return strcmp(trial->text, trial->came_out) == 0 ? NULL : "lines are lost, torn or made up";
}

static const char *judge_status(const struct trial *trial)
{
    const struct script *script = &trial->script;
    const struct launch *how = &trial->how;
    if (trial->status < EXIT_STATUS_DONE || trial->status > EXIT_STATUS_DRAINED)
        return "the status is none of ours";
    if (how->survives && script->said >= 0 && trial->status != script->said)
        return "the status is not what the rank that leads has said";
    if (how->reports && trial->status == EXIT_STATUS_DONE && script->said != EXIT_STATUS_DONE)
        return "it is done, and no rank has said so";
    if (how->reports && script->said == EXIT_STATUS_DONE && !trial->is_struck && trial->status != EXIT_STATUS_DONE)
        return "all was done, and it is not";
    if (trial->status == EXIT_STATUS_DRAINED && script->asked == 0 && !trial->is_struck && how->drain_ms == 0 &&
        script->said != EXIT_STATUS_DRAINED)
        return "nobody has asked it to drain";
    return NULL;
}

/* Times that the launch gives: to leave MPI, to end its ranks when it must, to itself when it has none, and twice a
 * look aside. */
static int64_t limit_of_end(const struct trial *trial)
{
    const int64_t leave_ms = trial->how.remote ? 10000 : 3000;
    return leave_ms + 400 * (int64_t)trial->how.ranks / 2 + 5000 + 1000 + 2000 + 2000;
}

static const char *judge_time(const struct trial *trial)
{
    const struct script *script = &trial->script;
    const struct launch *how = &trial->how;
    if (script->hangs)
        return "it hangs";
    if (how->reports && script->has_ended && script->now_ms - script->ended_ms > limit_of_end(trial))
        return "all was said, and it stays";
    /* A launcher that ends all when one is lost does so by itself, and ranks elsewhere have two minutes to come up. One
     * that starts nobody is waited for, and so is a run that is stopped as a whole. */
    const int64_t spare_ms = 10000 + 2000 + 2 * 5000 + limit_of_end(trial);
    if (how->survives && !how->remote && how->started && how->ranks > 1 && trial->stops < 2 &&
        trial->took_ms > trial->last_ms + spare_ms)
        return "it does not end by itself";
    return NULL;
}

static const char *judge(struct trial *trial)
{
    const struct script *script = &trial->script;
    const struct launch *how = &trial->how;
    const char *wrong = judge_time(trial);
    if (wrong != NULL)
        return wrong;
    if (script_count_running(script) > 0)
        return "a process is left";
    if (script->blamed_ms >= 0 && !how->at_once && how->drain_ms == 0 && !how->remote && how->reports &&
        (how->timeout_s == 0 || script->blamed_ms - 1000 < 1000 * (int64_t)how->timeout_s))
        return "a run that works is ended";
    const bool has_waited = how->remote || script->now_ms - 1000 >= 120000; /* as long as ranks may take to come up */
    if (script->has_struck_unready && how->reports && !has_waited)
        return "ranks are asked to drain that are not ready for it";
    wrong = judge_status(trial);
    return wrong != NULL ? wrong : judge_words(trial);
}

static void count_up(const struct trial *trial)
{
    tally.statuses[trial->status]++;
    tally.begun += trial->how.begun;
    tally.outlived += strstr(trial->text, "ended without it") != NULL;
    tally.given_up += trial->took_ms >= PATIENCE_MS;
    tally.signals += trial->script.sent_count;
    tally.dropped += trial->script.dropped;
}

static const char *run(uint64_t seed, bool trace)
{
    static struct trial trial;
    char name[] = "launcher";
    char *argv[] = {name, NULL};
    memset(&trial, 0, sizeof trial);
    random_init(&trial.random, seed);
    script_init(&trial.script, 0);
    trial.script.trace = trace ? stdout : NULL;
    trial.script.came_out = open_memstream(&trial.came_out, &trial.came_length);
    make_habits(&trial);
    print_lines(&trial);
    for (int64_t left = one_in(&trial, 4) ? 0 : draw(&trial, 4); left > 0; left--)
        strike(&trial);
    press_keys(&trial);
    if (one_in(&trial, 2))
        trial.script.runs_when_read = 1 + (int)draw(&trial, trial.how.ranks);
    trial.script.habits.forward = draw_ms(&trial, 50, 0);
    trial.how.world = &trial.script.world;
    trial.how.log = open_memstream(&trial.text, &trial.length);
    const int64_t begin_ms = trial.script.now_ms;
    trial.status = launch(argv, &trial.how);
    fclose(trial.how.log);
    fclose(trial.script.came_out);
    trial.took_ms = trial.script.now_ms - begin_ms;
    if (trace)
        printf("%6" PRId64 " status %d, lost '%s', printed:\n%s", trial.script.now_ms, trial.status, trial.how.lost,
               trial.text);
    count_up(&trial);
    const char *wrong = judge(&trial);
    free(trial.text);
    free(trial.came_out);
    return wrong;
}

static void print_tally(void)
{
    printf("# statuses:");
    for (int status = 0; status <= EXIT_STATUS_DRAINED; status++)
        printf(" %d: %" PRIu64, status, tally.statuses[status]);
    printf("; %" PRIu64 " had begun, %" PRIu64 " outlived their launcher, %" PRIu64 " were given up; %" PRIu64
           " signals sent, %" PRIu64 " lines lost with launchers\n",
           tally.begun, tally.outlived, tally.given_up, tally.signals, tally.dropped);
}

int main(int argc, char **argv)
{
    const struct seeds_program program = {"seeds-launches", run, print_tally};
    int null = open("/dev/null", O_WRONLY);
    if (argc != 2)
        dup2(null, STDERR_FILENO); /* what launch() says is for people */
    return seeds_program_main(&program, argc, argv);
}
