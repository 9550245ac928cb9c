/* SPDX-License-Identifier: MIT */
/* Random lives of a set's queue and its journal, each made from one number: jobs are submitted, begun, cancelled and
 * end, the set is closed or stopped, its supermaster ends at any moment, and a later one goes on from what the journal
 * has by then, which may be torn behind what was committed. Memory may be out for a submission.
 *
 * The oracle is a second queue of a few lines, which looks at all jobs at each step, and is kept for each record since
 * the last commit, so that it can be gone back to the one that a torn journal ends with. What begins next is the job of
 * the highest priority, then of the lowest number, of those whose others are all done; none begins twice at once,
 * beside one that runs alone, or beyond how many may; each is in the state that the oracle has it in; what was
 * committed is never lost; what is not remembered is over; and in the end all are. */
#include "common/util/error.h"
#include "common/util/random.h"
#include "supermaster/queue.h"
#include "supermaster/set/queue_format.h"
#include "tests/seeds/memory.h"
#include "tests/seeds/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 80, AFTER_MAX = 4, RECORDS_MAX = 16, STEPS = 400 };

/* A job as the oracle has it. */
struct known {
    bool is_there, has_run, is_cancelled, is_open;
    struct queue_items items;
    bool wants_alone, is_alone; /* is_alone: the queue knows of it */
    enum queue_state state;
    int priority;
    unsigned after_count;
    uint32_t after[AFTER_MAX];
};

struct oracle {
    uint32_t newest;
    struct known jobs[JOBS_MAX];
};

struct world {
    struct random random;
    bool trace;
    const char *wrong;
    struct queue queue;
    struct queue_notes notes;
    unsigned char *file; /* what is on disk */
    size_t file_size;
    uint32_t jobs;     /* that are submitted in all, at most */
    bool opens;        /* some jobs are open */
    size_t remembered; /* jobs that are over */
    struct oracle oracle, committed;
    struct oracle since[RECORDS_MAX]; /* [records] after each record since the commit */
    size_t ends[RECORDS_MAX];         /* where the record ends in the notes */
    unsigned records;
};

static struct {
    uint64_t submitted, begun, alone, ended, cancelled, restarts, torn, refused, forgotten, given;
} tally;

static uint64_t between(struct world *world, uint64_t low, uint64_t high)
{
    return random_between(&world->random, low, high);
}

static void complain(struct world *world, const char *wrong)
{
    if (world->wrong == NULL)
        world->wrong = wrong;
}

#define SAY(WORLD, ...) ((WORLD)->trace ? (void)printf("# " __VA_ARGS__) : (void)0)

/* --- the oracle --- */

static bool is_live(const struct known *job)
{
    return job->is_there && job->state <= QUEUE_RUNNING;
}

/* Cancels what is after a job that is not done, until there is none. */
static void oracle_settle(struct oracle *oracle)
{
    for (uint32_t id = 1; id <= oracle->newest; id++) { /* a job is after jobs before it alone */
        struct known *job = &oracle->jobs[id];
        for (unsigned i = 0; job->is_there && job->state == QUEUE_WAITING && i < job->after_count; i++)
            if (oracle->jobs[job->after[i]].state > QUEUE_DONE)
                job->state = QUEUE_CANCELLED;
    }
}

static bool oracle_is_ready(const struct oracle *oracle, uint32_t id)
{
    const struct known *job = &oracle->jobs[id];
    bool ready = job->is_there && job->state == QUEUE_WAITING;
    for (unsigned i = 0; ready && i < job->after_count; i++)
        ready = oracle->jobs[job->after[i]].state == QUEUE_DONE;
    return ready;
}

static unsigned oracle_count(const struct oracle *oracle, enum queue_state state)
{
    unsigned count = 0;
    for (uint32_t id = 1; id <= oracle->newest; id++)
        count += oracle->jobs[id].is_there && oracle->jobs[id].state == state;
    return count;
}

/* True for a job that may still be given items. */
static bool oracle_is_open(const struct known *job)
{
    return is_live(job) && job->is_open && !job->items.is_complete;
}

/* Jobs that run and take a place among those that run at once. */
static unsigned oracle_places(const struct oracle *oracle)
{
    unsigned count = 0;
    for (uint32_t id = 1; id <= oracle->newest; id++)
        count +=
            is_live(&oracle->jobs[id]) && oracle->jobs[id].state == QUEUE_RUNNING && !oracle_is_open(&oracle->jobs[id]);
    return count;
}

/* True where a job that runs alone does. */
static bool oracle_has_alone(const struct oracle *oracle)
{
    bool has_alone = false;
    for (uint32_t id = 1; id <= oracle->newest; id++)
        has_alone |= oracle->jobs[id].state == QUEUE_RUNNING && oracle->jobs[id].wants_alone;
    return has_alone;
}

/* The job that is to begin next; 0: none. */
static uint32_t oracle_next(const struct world *world)
{
    const struct oracle *oracle = &world->oracle;
    const unsigned running = oracle_count(oracle, QUEUE_RUNNING);
    const bool has_place = oracle_places(oracle) < world->queue.at_once;
    uint32_t best = 0, first = 0;
    if (world->queue.mode == QUEUE_STOPPED || oracle_has_alone(oracle))
        return 0;
    for (uint32_t id = 1; id <= oracle->newest; id++) {
        if (!oracle_is_ready(oracle, id))
            continue;
        if (first == 0 || oracle->jobs[id].priority > oracle->jobs[first].priority)
            first = id;
        if ((has_place || oracle_is_open(&oracle->jobs[id])) &&
            (best == 0 || oracle->jobs[id].priority > oracle->jobs[best].priority))
            best = id;
    }
    return running > 0 && (oracle->jobs[first].is_alone || oracle->jobs[best].is_alone) ? 0 : best;
}

/* The supermaster has ended. */
static void oracle_restart(struct oracle *oracle)
{
    for (uint32_t id = 1; id <= oracle->newest; id++) {
        struct known *job = &oracle->jobs[id];
        if (!is_live(job))
            continue;
        job->has_run |= job->state == QUEUE_RUNNING;
        job->is_alone = false;
        job->state = job->is_cancelled ? QUEUE_CANCELLED : QUEUE_WAITING;
    }
    oracle_settle(oracle);
}

/* --- the queue beside it --- */

static void compare_job(struct world *world, uint32_t id)
{
    const struct known *known = &world->oracle.jobs[id];
    const struct queue_job *job = queue_find(&world->queue, id);
    if (job == NULL) {
        if (is_live(known))
            complain(world, "a job is lost");
        if (known->is_there && world->queue.ended < world->queue.ended_max)
            complain(world, "a job is forgotten too early");
        tally.forgotten += known->is_there;
        return;
    }
    if (!known->is_there)
        complain(world, "a job is there that was never submitted");
    else if (job->state != known->state)
        complain(world, "a job is in another state");
    else if (is_live(known) && (job->has_run != known->has_run || job->is_cancelled != known->is_cancelled))
        complain(world, "a job that is not over has other marks");
    else if (is_live(known) && (job->items.count != known->items.count || job->items.bytes != known->items.bytes ||
                                job->items.is_complete != known->items.is_complete))
        complain(world, "a job has other items");
    else if (queue_is_open(job) != (oracle_is_open(known) && !known->is_cancelled))
        complain(world, "a job is open, or not");
    else if (job->submission.priority != known->priority)
        complain(world, "a job has another priority");
    else if (is_live(known) != (job->submission.environment != NULL))
        complain(world, "an environment is lost, or kept too long");
}

static void compare(struct world *world)
{
    const struct queue_job *next = queue_next(&world->queue);
    for (uint32_t id = 1; id < JOBS_MAX; id++)
        compare_job(world, id);
    if ((next != NULL ? next->id : 0) != oracle_next(world))
        complain(world, "another job is to begin");
    if (queue_is_idle(&world->queue) !=
        (oracle_count(&world->oracle, QUEUE_WAITING) + oracle_count(&world->oracle, QUEUE_RUNNING) == 0))
        complain(world, "the queue is idle, or not");
    queue_check(&world->queue);
}

/* --- the journal --- */

static void commit(struct world *world)
{
    world->file = realloc(world->file, world->file_size + world->notes.size + 1);
    memcpy(world->file + world->file_size, world->notes.bytes, world->notes.size);
    world->file_size += world->notes.size;
    world->notes.size = 0;
    world->committed = world->oracle;
    world->records = 0;
}

/* A record of what has just been done is noted. */
static void recorded(struct world *world)
{
    oracle_settle(&world->oracle);
    world->ends[world->records] = world->notes.size;
    world->since[world->records++] = world->oracle;
    if (world->records == RECORDS_MAX)
        commit(world);
}

/* The journal is written anew. */
static void write_anew(struct world *world)
{
    SAY(world, "written anew\n");
    queue_note_all(&world->notes, &world->queue);
    world->file_size = 0;
    commit(world);
}

static void end_queue(struct world *world)
{
    queue_fini(&world->queue);
    queue_init(&world->queue, (unsigned)between(world, 1, 4));
    world->queue.ended_max = world->remembered;
}

/* The supermaster ends, and some of what it has not committed is in the file; a later one goes on. */
static void restart(struct world *world)
{
    struct error error;
    struct queue_damage damage;
    const size_t committed = world->file_size, torn = between(world, 0, world->notes.size);
    size_t good = 0;
    tally.restarts++;
    tally.torn += torn < world->notes.size;
    world->file = realloc(world->file, committed + torn + 1);
    memcpy(world->file + committed, world->notes.bytes, torn);
    world->oracle = world->committed;
    for (unsigned i = 0; i < world->records && world->ends[i] <= torn; i++) {
        world->oracle = world->since[i];
        good = world->ends[i];
    }
    SAY(world, "restart, with %zu of %zu bytes that are not committed\n", torn, world->notes.size);
    end_queue(world);
    if (queue_replay(&world->queue, world->file, committed + torn, &damage, &error) < 0)
        complain(world, "the journal cannot be read");
    if (damage.bytes != torn - good || (damage.bytes > 0 && damage.at != committed + good) || damage.cancelled > 0)
        complain(world, "the journal is read to another place");
    if (world->queue.newest < world->oracle.newest)
        complain(world, "a number is given twice");
    queue_restart(&world->queue, false, 5);
    oracle_restart(&world->oracle);
    write_anew(world);
}

/* --- what happens --- */

static struct submission make_submission(struct world *world)
{
    struct submission submission = {.priority = (int)between(world, 0, 3) - 1, .weight = 1};
    submission.words = (char **)calloc(2, sizeof *submission.words);
    submission.words[submission.word_count++] = strdup("k");
    submission.folder = strdup("/");
    submission.environment = (char **)calloc(2, sizeof *submission.environment);
    submission.environment[submission.environment_count++] = strdup("A=b");
    submission.after = calloc(AFTER_MAX, sizeof *submission.after);
    if (world->oracle.newest > 0 && between(world, 0, 1))
        submission.after_count = between(world, 1, AFTER_MAX);
    for (size_t i = 0; i < submission.after_count; i++) /* most are after what came last, a few after what never was */
        submission.after[i] =
            (uint32_t)between(world, world->oracle.newest > 8 && between(world, 0, 7) ? world->oracle.newest - 8 : 0,
                              world->oracle.newest + (between(world, 0, 15) == 0));
    return submission;
}

static bool are_all_there(const struct world *world, const struct submission *submission)
{
    for (size_t i = 0; i < submission->after_count; i++)
        if (queue_find(&world->queue, submission->after[i]) == NULL)
            return false;
    return true;
}

static struct queue_job *try_to_submit(struct world *world, struct submission *submission, bool *memory_is_out)
{
    struct error error;
    const struct refusal refusal = {.nth = between(world, 0, 7) == 0 ? between(world, 1, 4) : 0};
    memory_refuse(&refusal);
    memory_in_machine(true);
    struct queue_job *job = queue_submit(&world->queue, submission, 1, &error);
    memory_in_machine(false);
    *memory_is_out = memory_refused() > 0;
    return job;
}

static void submit(struct world *world)
{
    bool memory_is_out = false;
    const uint32_t id = world->queue.newest + 1;
    struct submission submission = make_submission(world);
    struct known known = {.is_there = true,
                          .wants_alone = between(world, 0, 3) == 0,
                          .priority = submission.priority,
                          .after_count = (unsigned)submission.after_count};
    known.is_open = submission.is_open = world->opens && id % 3 == 0;
    for (size_t i = 0; i < submission.after_count; i++)
        known.after[i] = submission.after[i];
    const bool forgets = world->queue.ended > world->remembered; /* perhaps one of `after` */
    const bool may = id < world->jobs && world->queue.mode == QUEUE_OPEN && are_all_there(world, &submission);
    struct queue_job *job = id < world->jobs ? try_to_submit(world, &submission, &memory_is_out) : NULL;
    if (job == NULL) {
        if (may && !memory_is_out && !forgets)
            complain(world, "a job is refused");
        tally.refused++;
        submission_fini(&submission);
        return;
    }
    SAY(world, "submit %" PRIu32 ", priority %d, after %u\n", id, known.priority, known.after_count);
    if (!may || job->id != id)
        complain(world, "a job is taken that may not be, or has another number");
    tally.submitted++;
    world->oracle.jobs[id] = known;
    world->oracle.newest = id;
    queue_note_submitted(&world->notes, job);
    recorded(world);
}

static void begin_next(struct world *world)
{
    struct queue_job *job = queue_next(&world->queue);
    if (job == NULL)
        return;
    if (world->oracle.jobs[job->id].wants_alone && !job->is_alone) {
        SAY(world, "%" PRIu32 " is to run alone\n", job->id);
        tally.alone++;
        queue_keep_alone(job);
        world->oracle.jobs[job->id].is_alone = true;
        return;
    }
    SAY(world, "begin %" PRIu32 "\n", job->id);
    tally.begun++;
    queue_begun(&world->queue, job, 2);
    world->oracle.jobs[job->id].state = QUEUE_RUNNING;
    queue_note_begun(&world->notes, job);
    recorded(world);
}

/* Any job that the queue has in one of the states; NULL: none. */
static struct queue_job *choose(struct world *world, enum queue_state first, enum queue_state last)
{
    struct queue_job *chosen = NULL;
    unsigned seen = 0;
    for (struct queue_job *job = world->queue.first; job != NULL; job = job->next)
        if (job->state >= first && job->state <= last && between(world, 0, seen++) == 0)
            chosen = job;
    return chosen;
}

static void end_one(struct world *world, bool well)
{
    static const int statuses[] = {EXIT_STATUS_DONE, EXIT_STATUS_DONE, EXIT_STATUS_FAILED, EXIT_STATUS_DRAINED,
                                   EXIT_STATUS_TASKS};
    struct queue_job *job = choose(world, QUEUE_RUNNING, QUEUE_RUNNING);
    if (job == NULL)
        return;
    struct known *known = &world->oracle.jobs[job->id];
    const int status = well ? EXIT_STATUS_DONE : statuses[between(world, 0, 4)];
    const bool waits = world->queue.mode == QUEUE_STOPPED && status == EXIT_STATUS_DRAINED && !known->is_cancelled;
    SAY(world, "job %" PRIu32 " ends with %d\n", job->id, status);
    if (queue_over(&world->queue, job, status, 3) == waits)
        complain(world, "a job is over that should go on, or not over");
    known->has_run |= waits;
    known->state = waits                           ? QUEUE_WAITING
                   : status == EXIT_STATUS_DONE    ? QUEUE_DONE
                   : status == EXIT_STATUS_DRAINED ? QUEUE_CANCELLED
                                                   : QUEUE_FAILED;
    if (waits) { /* nothing is noted: in the journal it still runs */
        oracle_settle(&world->oracle);
        return;
    }
    tally.ended++;
    queue_note_over(&world->notes, job);
    recorded(world);
}

static void cancel(struct world *world)
{
    struct queue_job *job = choose(world, QUEUE_WAITING, QUEUE_CANCELLED);
    if (job == NULL)
        return;
    struct known *known = &world->oracle.jobs[job->id];
    const bool is_new = is_live(known);
    SAY(world, "cancel %" PRIu32 "\n", job->id);
    queue_cancel(&world->queue, job, 4);
    known->is_cancelled |= is_new;
    if (known->state == QUEUE_WAITING)
        known->state = QUEUE_CANCELLED;
    tally.cancelled += is_new;
    if (!is_new)
        return;
    queue_note_cancelled(&world->notes, job);
    recorded(world);
}

/* An open job is given items, or is told that these are all, or its items are taken back. */
static void give_items(struct world *world)
{
    struct queue_job *job = choose(world, QUEUE_WAITING, QUEUE_RUNNING);
    if (job == NULL || !job->submission.is_open)
        return;
    struct queue_items items = {0};
    items.count = between(world, 0, 9);
    items.bytes = between(world, 0, 9);
    items.is_complete = between(world, 0, 2) == 0;
    SAY(world, "job %" PRIu32 " has %" PRIu64 " items%s\n", job->id, items.count, items.is_complete ? ", all" : "");
    queue_set_items(&world->queue, job, &items);
    world->oracle.jobs[job->id].items = items;
    tally.given++;
    queue_note_items(&world->notes, job);
    recorded(world);
}

static void change_mode(struct world *world)
{
    SAY(world, "the set is told to end\n");
    if (between(world, 0, 1))
        queue_close(&world->queue);
    else
        queue_stop(&world->queue);
}

static void happen(struct world *world)
{
    const uint64_t what = between(world, 0, 99);
    if (what < 35)
        submit(world);
    else if (what < 60)
        begin_next(world);
    else if (what < 80) {
        if (world->opens && what >= 72)
            give_items(world);
        end_one(world, false);
    } else if (what < 86)
        cancel(world);
    else if (what < 91)
        commit(world);
    else if (what < 95)
        write_anew(world);
    else if (what < 96)
        change_mode(world);
    else if (what < 98 || world->queue.mode != QUEUE_OPEN)
        restart(world);
}

/* A last supermaster has all jobs done. */
static void finish_all(struct world *world)
{
    commit(world);
    restart(world);
    for (unsigned steps = 0; !queue_is_idle(&world->queue) && world->wrong == NULL; steps++) {
        while (queue_next(&world->queue) != NULL)
            begin_next(world);
        end_one(world, true);
        compare(world);
        if (steps == 2 * JOBS_MAX)
            complain(world, "jobs do not come to their end");
    }
}

static const char *run(uint64_t seed, bool trace)
{
    static struct world world;
    world = (struct world){.trace = trace};
    random_init(&world.random, seed);
    world.jobs = (uint32_t)between(&world, 2, JOBS_MAX - 1);
    world.remembered = between(&world, 0, 1) ? 5 : JOBS_MAX;
    world.opens = seed % 4 == 2; /* not those that are kept */
    queue_init(&world.queue, 1);
    write_anew(&world);
    end_queue(&world);
    for (unsigned step = 0; step < STEPS && world.wrong == NULL; step++) {
        happen(&world);
        compare(&world);
    }
    if (world.wrong == NULL)
        finish_all(&world);
    queue_fini(&world.queue);
    queue_notes_fini(&world.notes);
    free(world.file);
    return world.wrong;
}

static void print_tally(void)
{
    printf("# %" PRIu64 " jobs, %" PRIu64 " refused, %" PRIu64 " beginnings, %" PRIu64 " found to run alone, %" PRIu64
           " ends, %" PRIu64 " cancels, %" PRIu64 " restarts, %" PRIu64 " with a torn journal, items given %" PRIu64
           " times\n",
           tally.submitted, tally.refused, tally.begun, tally.alone, tally.ended, tally.cancelled, tally.restarts,
           tally.torn, tally.given);
}

int main(int argc, char **argv)
{
    const struct seeds_program program = {"seeds-queue", run, print_tally};
    return seeds_program_main(&program, argc, argv);
}
