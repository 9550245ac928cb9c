/* SPDX-License-Identifier: MIT */
/* The functions of hdss/hdss.h for loops. They check arguments, make the ranks agree, and divide chunks into pieces.
 *
 * A rank that serves others gets its own chunks in pieces, and serves the others between two pieces. So a program
 * without threads can compute and coordinate. Between two pieces a rank can also request its next chunk early. */
#include "deploy/library/loop.h"

#include "common/os/files.h"
#include "common/sched/sched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAGIC    UINT64_C(0x7368617265646c31)
#define BREAK_NS 100000.0
/* A piece is at most this many times as long as the previous piece, because its iterations may cost more than the
 * iterations before. */
#define PIECE_GROWTH 4
/* With `request-when auto`, the next chunk is requested when this part of the present chunk remains. */
#define REQUEST_PERCENT 15

bool loop_is_valid(const struct hdss_shared_loop *loop)
{
    return loop != NULL && loop->magic == MAGIC;
}

static bool mpi_is_there(void)
{
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

static int api_loop_fail(struct error *error, int status, const char *text)
{
    error_set(error, "%s", text);
    return status;
}

static int check_communicator(MPI_Comm comm, struct error *error)
{
    int is_inter = 0, ranks = 0;
    if (!mpi_is_there())
        return api_loop_fail(error, HDSS_ERROR_MPI, "MPI is not initialised, or already finalised");
    if (comm == MPI_COMM_NULL)
        return api_loop_fail(error, HDSS_ERROR_COMM,
                             "the communicator is MPI_COMM_NULL: it has no rank that could share a loop");
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return api_loop_fail(error, HDSS_ERROR_COMM,
                             "an intercommunicator cannot share a loop: accepted is one of one group");
    MPI_Comm_size(comm, &ranks);
    return ranks < 1 ? api_loop_fail(error, HDSS_ERROR_COMM, "the communicator has no ranks") : HDSS_OK;
}

static int check_iterations(int64_t iterations, struct error *error)
{
    if (iterations >= 0)
        return HDSS_OK;
    error_set(error, "a loop of %" PRId64 " iterations: accepted are 0 and more", iterations);
    return HDSS_ERROR_COUNT;
}

static int check_thread(const struct hdss_shared_loop *loop, struct error *error)
{
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    return !loop->settings.thread || provided == MPI_THREAD_MULTIPLE
               ? HDSS_OK
               : api_loop_fail(error, HDSS_ERROR_MPI,
                               "option thread: MPI_Init_thread() must have given MPI_THREAD_MULTIPLE");
}

static int check_leader(struct hdss_shared_loop *loop)
{
    if (!loop->settings.leader_idles)
        return HDSS_OK;
    if (loop->settings.mode != API_CENTRAL)
        return api_loop_fail(&loop->error, HDSS_ERROR_OPTION, "option leader: coordinates is for mode central");
    return loop->team.ranks > 1
               ? HDSS_OK
               : api_loop_fail(
                     &loop->error, HDSS_ERROR_OPTION,
                     "option leader: with coordinates somebody else must compute, and there is no other rank");
}

static int take_powers(struct hdss_shared_loop *loop, const struct hdss_options *options)
{
    const struct team *team = &loop->team;
    if (team->rank != 0 || options == NULL || options->powers == NULL)
        return HDSS_OK;
    if (options->power_count != team->ranks) {
        error_set(&loop->error, "%d powers were given: accepted is one for each of the %d ranks", options->power_count,
                  team->ranks);
        return HDSS_ERROR_OPTION;
    }
    loop->speeds = malloc((size_t)team->ranks * sizeof *loop->speeds);
    if (loop->speeds == NULL)
        return api_loop_fail(&loop->error, HDSS_ERROR_MEMORY, "out of memory for the powers");
    memcpy(loop->speeds, options->powers, (size_t)team->ranks * sizeof *loop->speeds);
    return HDSS_OK;
}

static int check_own(struct hdss_shared_loop *loop, int64_t iterations, const struct hdss_options *options)
{
    int status = check_iterations(iterations, &loop->error);
    if (status == HDSS_OK)
        status = check_thread(loop, &loop->error);
    if (status == HDSS_OK)
        status = check_leader(loop);
    if (status == HDSS_OK)
        status = take_powers(loop, options);
    if (status == HDSS_OK && loop->team.rank == 0 && loop->settings.report[0] != '\0' &&
        file_check_writable(loop->settings.report, &loop->error) < 0)
        status = HDSS_ERROR_REPORT;
    return status;
}

static int check_same(struct hdss_shared_loop *loop)
{
    if (team_is_same(&loop->team, loop->iterations) && team_is_same(&loop->team, api_settings_digest(&loop->settings)))
        return HDSS_OK;
    return api_loop_fail(&loop->error, HDSS_ERROR_DIFFERENT,
                         "the ranks were not given the same number of iterations and the same options");
}

static int spread_powers(struct hdss_shared_loop *loop)
{
    const struct team *team = &loop->team;
    int given = loop->speeds != NULL, status = HDSS_OK;
    MPI_Bcast(&given, 1, MPI_INT, 0, team->world);
    if (!given)
        return HDSS_OK;
    if (team->rank != 0 && (loop->speeds = malloc((size_t)team->ranks * sizeof *loop->speeds)) == NULL)
        status = api_loop_fail(&loop->error, HDSS_ERROR_MEMORY, "out of memory for the powers");
    status = team_agree(team, status, &loop->error);
    if (status == HDSS_OK)
        MPI_Bcast(loop->speeds, team->ranks, MPI_DOUBLE, 0, team->world);
    return status;
}

int loop_make_powers(struct hdss_shared_loop *loop, bool by_group)
{
    const struct team *team = &loop->team;
    const struct technique *technique = loop->settings.technique.technique;
    int idle = loop->settings.leader_idles;
    unsigned count = by_group ? team->groups : (unsigned)(team->ranks - idle);
    free(loop->powers);
    loop->powers = NULL;
    if ((technique->needs & SCHED_NEEDS_POWER) == 0 && loop->settings.weighting == SCHED_WEIGHTING_NONE)
        return 0;
    loop->powers = calloc(count, sizeof *loop->powers);
    if (loop->powers == NULL)
        return error_set(&loop->error, "out of memory for %u powers", count);
    for (int i = idle; i < team->ranks; i++)
        loop->powers[by_group ? team->group_of[i] : (unsigned)(i - idle)] += loop->speeds != NULL ? loop->speeds[i] : 1;
    sched_powers_from_speeds(technique, loop->settings.weighting, loop->powers, count, loop->powers);
    return 0;
}

static int api_loop_prepare(struct hdss_shared_loop *loop)
{
    if (loop->own == NULL && (loop->own = calloc(1, loop->mode->own_bytes)) == NULL)
        return api_loop_fail(&loop->error, HDSS_ERROR_MEMORY, "out of memory for the loop");
    return loop->mode->prepare(loop);
}

/* All ranks start at the same time, except for the latency of a message, because team_agree() synchronizes them. */
static int api_loop_start(struct hdss_shared_loop *loop)
{
    int status = loop->serves && loop->settings.thread && progress_start(loop) < 0
                     ? api_loop_fail(&loop->error, HDSS_ERROR_MEMORY, "no thread is to be had for option thread")
                     : HDSS_OK;
    status = team_agree(&loop->team, status, &loop->error);
    loop->start_ns = backoff_clock_ns();
    loop->started_at = time(NULL);
    loop->figures = (struct figures){.first_ns = UINT64_MAX, .finish_ns = UINT64_MAX, .least_wait_ns = UINT64_MAX};
    loop->rest = (struct range){0};
    loop->measured = (struct measured){0};
    loop->has_chunk = loop->asked = false;
    loop->piece_ns = 0;
    return status;
}

static int api_loop_begin(struct hdss_shared_loop *loop)
{
    loop->state = LOOP_BROKEN;
    int status = team_agree(&loop->team, api_loop_prepare(loop), &loop->error);
    if (status < 0)
        return status;
    loop->open = true;
    loop->finished = false;
    status = team_agree(&loop->team, loop->mode->open(loop) < 0 ? HDSS_ERROR_MEMORY : HDSS_OK, &loop->error);
    if (status == HDSS_OK)
        status = api_loop_start(loop);
    if (status == HDSS_OK)
        loop->state = LOOP_RUNS;
    else
        progress_stop(loop);
    return status;
}

static int group(struct hdss_shared_loop *loop)
{
    int status = team_group(&loop->team, loop->settings.group_size);
    backoff_init(&loop->backoff, loop->team.cores_are_free);
    return status < 0 ? api_loop_fail(&loop->error, HDSS_ERROR_MEMORY, "out of memory for the ranks") : HDSS_OK;
}

static int begin_first(struct hdss_shared_loop *loop, int64_t iterations, const struct hdss_options *options)
{
    loop->iterations = (uint64_t)iterations;
    loop->mode =
        loop->settings.mode == API_CENTRAL || loop->settings.mode == API_HIERARCHICAL ? &mode_served : &mode_dca;
    int status = team_agree(&loop->team, check_own(loop, iterations, options), &loop->error);
    if (status == HDSS_OK)
        status = check_same(loop);
    if (status == HDSS_OK)
        status = spread_powers(loop);
    if (status == HDSS_OK)
        status = team_agree(&loop->team, group(loop), &loop->error);
    return status == HDSS_OK ? api_loop_begin(loop) : status;
}

static void api_loop_finish(struct hdss_shared_loop *loop)
{
    if (loop->open && !loop->finished)
        loop->mode->finish(loop);
    loop->finished = true;
}

static void close_mode(struct hdss_shared_loop *loop)
{
    progress_stop(loop);
    if (loop->open || loop->own != NULL)
        loop->mode->close(loop);
    loop->open = false;
}

static void api_loop_release(struct hdss_shared_loop *loop)
{
    if (loop->own != NULL)
        loop->mode->fini(loop);
    auto_fini(loop);
    free(loop->own);
    free(loop->speeds);
    free(loop->powers);
    pthread_mutex_destroy(&loop->mutex);
    loop->magic = 0;
    free(loop);
}

static int api_loop_report(struct hdss_shared_loop *loop)
{
    struct report report;
    struct report_worker *rows;
    if (loop->settings.report[0] == '\0' || loop->state == LOOP_BROKEN)
        return HDSS_OK;
    if (totals_gather(loop, &report, &rows) < 0)
        return HDSS_ERROR_MEMORY;
    int status = loop->team.rank == 0 ? totals_write(loop, &report) : HDSS_OK;
    free(rows);
    return team_agree(&loop->team, status, &loop->error);
}

/* Adds a piece to the variance of the time per iteration, with the piece's length as weight (Chan, Golub and LeVeque
 * 1979). If the costs of iterations are independent, squares / (pieces - 1) is the variance of the cost of one
 * iteration. */
static void note_spread(struct hdss_shared_loop *loop, uint64_t elapsed_ns)
{
    double length = (double)loop->piece, time_s = (double)elapsed_ns / 1e9 / length;
    double off = time_s - loop->spread.mean_s;
    loop->spread.weight += length;
    loop->spread.mean_s += off * length / loop->spread.weight;
    loop->spread.squares += length * off * (time_s - loop->spread.mean_s);
    loop->spread.pieces++;
}

static void end_piece(struct hdss_shared_loop *loop, uint64_t now_ns)
{
    if (loop->piece_ns == 0)
        return;
    uint64_t elapsed_ns = now_ns - loop->piece_ns;
    loop->piece_ns = 0;
    loop->figures.compute_ns += elapsed_ns;
    loop->figures.finish_ns = now_ns - loop->start_ns;
    loop->measured.compute_s += (double)elapsed_ns / 1e9;
    loop->measured.iterations += loop->piece;
    loop->iteration_ns = (double)elapsed_ns / (double)loop->piece;
    if (loop->rest.count == 0)
        loop->measured.chunks++;
    if (loop->settings.technique_auto)
        note_spread(loop, elapsed_ns);
}

static uint64_t api_loop_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t break_size(const struct hdss_shared_loop *loop)
{
    if (loop->settings.break_after != API_AUTO)
        return loop->settings.break_after > 0 ? loop->settings.break_after : UINT64_MAX;
    if (loop->iteration_ns <= 0)
        return 1;
    double in_time = BREAK_NS / loop->iteration_ns;
    return in_time < 1      ? 1
           : in_time < 1e18 ? api_loop_least((uint64_t)in_time, PIECE_GROWTH * loop->piece)
                            : UINT64_MAX;
}

static uint64_t piece_size(struct hdss_shared_loop *loop)
{
    uint64_t rest = loop->rest.count;
    if (loop->serves)
        return loop->helped ? rest : api_loop_least(rest, break_size(loop));
    if (loop->rest_least == 0)
        return rest;
    if (rest > loop->rest_least)
        return rest - loop->rest_least;
    if (!loop->asked)
        loop->mode->ask(loop);
    loop->asked = true;
    return rest;
}

static void api_loop_hand_out(struct hdss_shared_loop *loop, int64_t *first, int64_t *count)
{
    loop->piece = piece_size(loop);
    *first = (int64_t)loop->rest.first;
    *count = (int64_t)loop->piece;
    loop->rest.first += loop->piece;
    loop->rest.count -= loop->piece;
    loop->figures.iterations += loop->piece;
    loop->figures.pieces++;
}

static bool api_loop_draw(struct hdss_shared_loop *loop)
{
    loop->asked = false;
    if (!loop->mode->draw(loop, &loop->rest))
        return false;
    uint64_t when = loop->settings.request_when;
    if (loop->mode->ask == NULL)
        when = 0;
    else if (when == API_AUTO)
        when = loop->rest.count * REQUEST_PERCENT / 100 + (loop->rest.count < 100);
    loop->rest_least = when;
    loop->figures.chunks++;
    return true;
}

static bool has_more(struct hdss_shared_loop *loop)
{
    if (loop->rest.count == 0)
        return api_loop_draw(loop);
    if (loop->serves && !loop->helped)
        loop->mode->serve(loop);
    return true;
}

const char *hdss_version(void)
{
    return HDSS_VERSION;
}

static int api_loop_end(struct hdss_shared_loop *loop)
{
    if (loop->state == LOOP_BROKEN)
        return HDSS_ERROR_MEMORY;
    api_loop_finish(loop);
    loop->state = LOOP_ENDED;
    return 0;
}

static int next(struct hdss_shared_loop *loop, int64_t *first, int64_t *count)
{
    if (loop->state == LOOP_ENDED)
        return api_loop_fail(&loop->error, HDSS_ERROR_ENDED,
                             "the loop has ended: hdss_loop_next() has returned 0 before");
    if (loop->state == LOOP_BROKEN)
        return HDSS_ERROR_USE;
    uint64_t began_ns = backoff_clock_ns();
    end_piece(loop, began_ns);
    bool draws = loop->rest.count == 0;
    if (!has_more(loop))
        return api_loop_end(loop);
    api_loop_hand_out(loop, first, count);
    uint64_t now_ns = backoff_clock_ns();
    loop->figures.wait_ns += now_ns - began_ns;
    if (draws)
        loop->figures.least_wait_ns = api_loop_least(loop->figures.least_wait_ns, now_ns - began_ns);
    loop->measured.wait_s += (double)(now_ns - began_ns) / 1e9;
    if (loop->figures.first_ns == UINT64_MAX)
        loop->figures.first_ns = now_ns - loop->start_ns;
    loop->piece_ns = now_ns;
    return 1;
}

int hdss_loop_next(struct hdss_shared_loop *loop, int64_t *first, int64_t *count)
{
    if (!loop_is_valid(loop))
        return HDSS_ERROR_USE;
    pthread_mutex_lock(&loop->mutex);
    int result = first == NULL || count == NULL
                     ? api_loop_fail(&loop->error, HDSS_ERROR_USE, "hdss_loop_next() was given a null pointer")
                     : next(loop, first, count);
    pthread_mutex_unlock(&loop->mutex);
    return result;
}

static struct hdss_shared_loop *make(const struct team *team, const struct hdss_options *options)
{
    struct hdss_shared_loop *loop = calloc(1, sizeof *loop);
    if (team_agree(team, loop != NULL ? HDSS_OK : HDSS_ERROR_MEMORY, NULL) < 0) {
        free(loop);
        return NULL;
    }
    loop->team = *team;
    pthread_mutex_init(&loop->mutex, NULL);
    api_settings_init(&loop->settings);
    if (options != NULL)
        loop->settings = options->settings;
    return loop;
}

static void dispose(struct hdss_shared_loop *loop)
{
    struct team team = loop->team;
    close_mode(loop);
    api_loop_release(loop);
    MPI_Barrier(team.world);
    team_fini(&team);
}

static int new_loop(MPI_Comm comm, int64_t iterations, const struct hdss_options *options,
                    struct hdss_shared_loop **out, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct team team;
    if (team_join(&team, comm) < 0)
        return api_loop_fail(error, HDSS_ERROR_MPI, "MPI cannot duplicate the communicator");
    struct hdss_shared_loop *loop = make(&team, options);
    if (loop == NULL) {
        team_fini(&team);
        return api_loop_fail(error, HDSS_ERROR_MEMORY, "out of memory for the loop");
    }
    int status = begin_first(loop, iterations, options);
    *error = loop->error;
    if (status < 0) {
        dispose(loop);
        return status;
    }
    loop->magic = MAGIC;
    *out = loop;
    return HDSS_OK;
}

int hdss_loop_new(MPI_Comm comm, int64_t iterations, struct hdss_options *options, struct hdss_shared_loop **out)
{
    struct error error = {0};
    if (out == NULL || (options != NULL && !api_options_are_valid(options)))
        return HDSS_ERROR_USE;
    *out = NULL;
    int status = check_communicator(comm, &error);
    if (status == HDSS_OK)
        status = new_loop(comm, iterations, options, out, &error);
    if (options != NULL)
        options->error = error;
    return status;
}

void loop_finish(struct hdss_shared_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    end_piece(loop, backoff_clock_ns());
    api_loop_finish(loop);
    if (loop->state == LOOP_RUNS)
        loop->state = LOOP_ENDED;
    pthread_mutex_unlock(&loop->mutex);
}

void loop_pause(struct hdss_shared_loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    end_piece(loop, backoff_clock_ns());
    pthread_mutex_unlock(&loop->mutex);
}

int hdss_loop_progress(struct hdss_shared_loop *loop)
{
    if (!loop_is_valid(loop))
        return HDSS_ERROR_USE;
    pthread_mutex_lock(&loop->mutex);
    if (loop->state == LOOP_RUNS && loop->serves && !loop->helped)
        loop->mode->serve(loop);
    pthread_mutex_unlock(&loop->mutex);
    return HDSS_OK;
}

static int again(struct hdss_shared_loop *loop, int64_t iterations)
{
    end_piece(loop, backoff_clock_ns());
    api_loop_finish(loop);
    int status = team_agree(&loop->team, check_iterations(iterations, &loop->error), &loop->error);
    if (status == HDSS_OK && !team_is_same(&loop->team, (uint64_t)iterations))
        status =
            api_loop_fail(&loop->error, HDSS_ERROR_DIFFERENT, "the ranks were not given the same number of iterations");
    if (status < 0)
        return status;
    close_mode(loop);
    loop->iterations = (uint64_t)iterations;
    loop->epoch++;
    status = loop->settings.technique_auto ? auto_choose(loop) : HDSS_OK;
    if (status == HDSS_OK)
        return api_loop_begin(loop);
    loop->state = LOOP_BROKEN;
    return status;
}

int hdss_loop_again(struct hdss_shared_loop *loop, int64_t iterations)
{
    if (!loop_is_valid(loop))
        return HDSS_ERROR_USE;
    if (!mpi_is_there())
        return api_loop_fail(&loop->error, HDSS_ERROR_MPI, "MPI is already finalised");
    pthread_mutex_lock(&loop->mutex);
    int status = loop->state == LOOP_BROKEN ? HDSS_ERROR_USE : again(loop, iterations);
    pthread_mutex_unlock(&loop->mutex);
    return status;
}

int hdss_loop_free(struct hdss_shared_loop **out)
{
    if (out == NULL || !loop_is_valid(*out))
        return HDSS_ERROR_USE;
    struct hdss_shared_loop *loop = *out;
    *out = NULL;
    if (!mpi_is_there()) {
        /* MPI_Finalize() has freed the MPI objects of the loop; the other memory of the loop is never freed */
        loop->magic = 0;
        return HDSS_ERROR_MPI;
    }
    end_piece(loop, backoff_clock_ns());
    api_loop_finish(loop);
    linked_fini(loop);
    int status = api_loop_report(loop);
    dispose(loop);
    return status;
}

const char *hdss_loop_error(const struct hdss_shared_loop *loop)
{
    return loop_is_valid(loop) ? loop->error.text : hdss_error_text(HDSS_ERROR_USE);
}

int hdss_loop_stats(struct hdss_shared_loop *loop, struct hdss_stats *stats, size_t size)
{
    if (!loop_is_valid(loop))
        return HDSS_ERROR_USE;
    if (stats == NULL)
        return api_loop_fail(&loop->error, HDSS_ERROR_USE, "hdss_loop_stats() was given a null pointer");
    pthread_mutex_lock(&loop->mutex);
    const struct hdss_stats own = {
        .iterations = (int64_t)loop->figures.iterations,
        .chunks = (int64_t)loop->figures.chunks,
        .pieces = (int64_t)loop->figures.pieces,
        .compute_s = (double)loop->figures.compute_ns / 1e9,
        .wait_s = (double)loop->figures.wait_ns / 1e9,
    };
    pthread_mutex_unlock(&loop->mutex);
    memset(stats, 0, size);
    memcpy(stats, &own, size < sizeof own ? size : sizeof own);
    return HDSS_OK;
}

static int totals(struct hdss_shared_loop *loop, struct hdss_totals *all)
{
    struct report report = {0};
    struct report_worker *rows;
    if (loop->state != LOOP_ENDED)
        return api_loop_fail(&loop->error, HDSS_ERROR_USE,
                             "the loop has not ended on this rank: hdss_loop_next() has not returned 0");
    if (totals_gather(loop, &report, &rows) < 0)
        return HDSS_ERROR_MEMORY;
    free(rows);
    *all = (struct hdss_totals){
        .iterations = (int64_t)report.done,
        .chunks = (int64_t)report.chunks,
        .messages = (int64_t)report.messages,
        .elapsed_s = report.elapsed_s,
        .compute_s = report.compute_s,
        .efficiency = report.efficiency,
        .max_over_mean = report.imbalance.max_over_mean,
    };
    MPI_Bcast(all, sizeof *all, MPI_BYTE, 0, loop->team.world);
    return HDSS_OK;
}

int hdss_loop_totals(struct hdss_shared_loop *loop, struct hdss_totals *out, size_t size)
{
    struct hdss_totals all;
    if (!loop_is_valid(loop))
        return HDSS_ERROR_USE;
    if (out == NULL)
        return api_loop_fail(&loop->error, HDSS_ERROR_USE, "hdss_loop_totals() was given a null pointer");
    pthread_mutex_lock(&loop->mutex);
    int status = totals(loop, &all);
    pthread_mutex_unlock(&loop->mutex);
    if (status < 0)
        return status;
    memset(out, 0, size);
    memcpy(out, &all, size < sizeof all ? size : sizeof all);
    return HDSS_OK;
}
