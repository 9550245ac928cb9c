/* SPDX-License-Identifier: MIT */
/* A model of a worker's threads: see thread_model.h. */
#include "deploy/simulate/virtual/thread_model.h"

#include "common/machine/spread.h"
#include "common/util/grow.h"
#include "common/util/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS_MAX 65536u
#define TICK_NS   100000.0
/* Times of the main thread. It computes in pieces. Each piece is a kernel call, and takes PIECE_NS or one iteration.
 * The main thread checks for messages after TURN_NS. */
#define PIECE_NS 500000.0
#define TURN_NS  2000000.0

int thread_model_init(struct thread_model *model, unsigned rank, unsigned threads, const struct sched_spec *technique,
                      thread_model_time *time_ns, void *context, struct error *error)
{
    const struct sched_config config = {.iterations = 1, .workers = threads};
    assert(threads > 1 && "one thread needs no model");
    *model = (struct thread_model){
        .figures = {.worker = rank, .count = threads, .max_over_mean = 1},
        .threads = threads,
        .time_ns = time_ns,
        .context = context,
    };
    if (sched_init(&model->sched, technique, &config, error) < 0)
        return -1;
    model->free_ns = calloc(threads, sizeof *model->free_ns);
    model->over_ns = calloc(threads, sizeof *model->over_ns);
    model->busy_ns = calloc(threads, sizeof *model->busy_ns);
    if (model->free_ns != NULL && model->over_ns != NULL && model->busy_ns != NULL)
        return 0;
    thread_model_fini(model);
    return error_set(error, "out of memory for %u threads", threads);
}

void thread_model_fini(struct thread_model *model)
{
    for (unsigned i = 0; i < model->chunk_count; i++)
        free(model->chunk[i].draws);
    if (model->threads > 0)
        sched_fini(&model->sched);
    free(model->free_ns);
    free(model->over_ns);
    free(model->busy_ns);
    *model = (struct thread_model){.threads = 0};
}

static uint64_t drawn_of(const struct thread_model_chunk *chunk)
{
    uint64_t drawn = 0;
    for (size_t i = 0; i < chunk->draw_count; i++)
        drawn += chunk->draws[i].count;
    return drawn;
}

static unsigned first_free(const struct thread_model *model)
{
    unsigned first = 0;
    for (unsigned t = 1; t < model->threads; t++)
        if (model->free_ns[t] < model->free_ns[first])
            first = t;
    return first;
}

static uint64_t thread_step_size(struct thread_model *model, const struct thread_model_chunk *chunk, unsigned thread,
                                 uint64_t left)
{
    uint64_t size = model->sched.technique->at != NULL ? sched_at(&model->sched, chunk->draw_count)
                                                       : sched_next(&model->sched, thread);
    return size == 0 || size > left ? left : size;
}

static void learn_from(struct thread_model *model, const struct thread_draw *draw)
{
    const struct sched_feedback feedback = {
        .worker = draw->thread,
        .chunks = 1,
        .iterations = draw->count,
        .compute_s = (double)(draw->end_ns - draw->start_ns) / 1e9,
    };
    if (model->sched.technique->at == NULL)
        sched_feedback(&model->sched, &feedback);
}

static bool add_draw(struct thread_model *model, struct thread_model_chunk *chunk, unsigned thread, uint64_t offset,
                     uint64_t count, uint64_t steps)
{
    struct thread_draw *draws = grow(chunk->draws, chunk->draw_count, &chunk->draw_room, sizeof *draws);
    if (draws == NULL)
        return false;
    chunk->draws = draws;
    const uint64_t was_free_ns = model->free_ns[thread];
    const uint64_t start_ns = was_free_ns > chunk->begins_ns ? was_free_ns : chunk->begins_ns;
    const struct thread_work work = {.before_ns = was_free_ns > 0 ? (double)was_free_ns : -1,
                                     .start_ns = start_ns,
                                     .first = chunk->first + offset,
                                     .count = count,
                                     .calls = steps};
    const double time_ns = model->time_ns(model->context, &work);
    const struct thread_draw draw = {start_ns, start_ns + (uint64_t)(time_ns > 1 ? time_ns : 1), count, thread};
    draws[chunk->draw_count++] = draw;
    model->free_ns[thread] = draw.end_ns;
    learn_from(model, &draw);
    return true;
}

static void plan_chunk(struct thread_model *model, struct thread_model_chunk *chunk)
{
    struct error error;
    uint64_t drawn = drawn_of(chunk);
    const bool is_closed = model->sched.technique->at != NULL;
    if (drawn == chunk->count)
        return;
    if (sched_again(&model->sched, is_closed ? chunk->planned : chunk->count - drawn, &error) < 0)
        model->is_out_of_memory = true;
    while (drawn < chunk->count && !model->is_out_of_memory) {
        const unsigned thread = first_free(model);
        const uint64_t left = chunk->count - drawn, size = thread_step_size(model, chunk, thread, left);
        uint64_t steps = (chunk->planned / DRAWS_MAX + size - 1) / size;
        steps = steps < 1 ? 1 : steps;
        const uint64_t count = steps > left / size ? left : steps * size;
        model->is_out_of_memory = !add_draw(model, chunk, thread, drawn, count, steps);
        drawn += count;
    }
}

static void find_free(struct thread_model *model)
{
    memcpy(model->free_ns, model->over_ns, model->threads * sizeof *model->free_ns);
    for (unsigned c = 0; c < model->chunk_count; c++)
        for (size_t i = 0; i < model->chunk[c].draw_count; i++)
            model->free_ns[model->chunk[c].draws[i].thread] = model->chunk[c].draws[i].end_ns;
}

static void unplan(struct thread_model_chunk *chunk, uint64_t now_ns)
{
    while (chunk->draw_count > 0 && chunk->draws[chunk->draw_count - 1].start_ns > now_ns)
        chunk->draw_count--;
}

void thread_model_begin(struct thread_model *model, uint64_t begins_ns, uint64_t first, uint64_t count, uint64_t mark)
{
    assert(model->chunk_count < THREAD_MODEL_CHUNKS_MAX && "a worker has so many chunks at most");
    struct thread_model_chunk *chunk = &model->chunk[model->chunk_count++];
    *chunk = (struct thread_model_chunk){
        .first = first, .count = count, .planned = count, .begins_ns = begins_ns, .mark = mark};
    model->dry_told = false;
    plan_chunk(model, chunk);
}

void thread_model_set_mark(struct thread_model *model, uint64_t mark)
{
    if (model->chunk_count > 0)
        model->chunk[0].mark = mark;
}

void thread_model_slow(struct thread_model *model, uint64_t now_ns, double factor)
{
    for (unsigned c = 0; c < model->chunk_count; c++) {
        struct thread_model_chunk *chunk = &model->chunk[c];
        unplan(chunk, now_ns);
        for (size_t i = 0; i < chunk->draw_count; i++)
            if (chunk->draws[i].end_ns > now_ns)
                chunk->draws[i].end_ns = now_ns + (uint64_t)((double)(chunk->draws[i].end_ns - now_ns) * factor);
    }
    find_free(model);
    for (unsigned c = 0; c < model->chunk_count; c++)
        plan_chunk(model, &model->chunk[c]);
}

static void remove_chunk(struct thread_model *model, unsigned index)
{
    free(model->chunk[index].draws);
    model->chunk_count--;
    memmove(&model->chunk[index], &model->chunk[index + 1], (model->chunk_count - index) * sizeof *model->chunk);
}

static void leave_draws(struct thread_model *model, const struct thread_model_chunk *chunk)
{
    for (size_t i = 0; i < chunk->draw_count; i++) {
        const struct thread_draw *draw = &chunk->draws[i];
        if (draw->end_ns > model->over_ns[draw->thread])
            model->over_ns[draw->thread] = draw->end_ns;
        model->busy_ns[draw->thread] += (double)(draw->end_ns - draw->start_ns);
    }
    model->figures.chunks += chunk->draw_count;
}

void thread_model_forget(struct thread_model *model, uint64_t now_ns)
{
    while (model->chunk_count > 1) {
        struct thread_model_chunk *chunk = &model->chunk[model->chunk_count - 1];
        unplan(chunk, now_ns);
        leave_draws(model, chunk);
        remove_chunk(model, model->chunk_count - 1);
    }
    find_free(model);
}

static size_t draws_behind(const struct thread_model_chunk *chunk, uint64_t least, uint64_t *kept)
{
    size_t i = 0;
    for (*kept = 0; i < chunk->draw_count && *kept < least; i++)
        *kept += chunk->draws[i].count;
    return i;
}

static uint64_t drawn_by(const struct thread_model_chunk *chunk, uint64_t now_ns)
{
    uint64_t drawn = 0;
    for (size_t i = 0; i < chunk->draw_count && chunk->draws[i].start_ns <= now_ns; i++)
        drawn += chunk->draws[i].count;
    return drawn;
}

struct range thread_model_cut(struct thread_model *model, uint64_t now_ns, unsigned waiting)
{
    for (unsigned index = model->chunk_count; index-- > 0;) {
        struct thread_model_chunk *chunk = &model->chunk[index];
        const uint64_t count = chunk->count, drawn = drawn_by(chunk, now_ns);
        const uint64_t least = index == 0 && drawn <= chunk->told ? chunk->told + 1 : drawn;
        uint64_t kept;
        if (least >= count)
            continue;
        size_t draws = draws_behind(chunk, count - recall_share(count - least, 1, waiting), &kept);
        if (kept == count)
            draws = draws_behind(chunk, least, &kept);
        if (kept == count)
            continue;
        const struct range cut = {chunk->first + kept, count - kept};
        chunk->draw_count = draws;
        chunk->count = kept;
        if (kept == 0)
            remove_chunk(model, index);
        find_free(model);
        return cut;
    }
    return (struct range){0};
}

static uint64_t done_ns(const struct thread_model_chunk *chunk, uint64_t count)
{
    uint64_t latest_ns = chunk->begins_ns, before = 0;
    for (size_t i = 0; i < chunk->draw_count && before < count; before += chunk->draws[i++].count) {
        const struct thread_draw *draw = &chunk->draws[i];
        const double part = count - before < draw->count ? (double)(count - before) / (double)draw->count : 1;
        const uint64_t at_ns = draw->start_ns + (uint64_t)(part * (double)(draw->end_ns - draw->start_ns));
        latest_ns = at_ns > latest_ns ? at_ns : latest_ns;
    }
    return latest_ns;
}

static double done_by(const struct thread_model_chunk *chunk, uint64_t now_ns)
{
    double done = 0;
    for (size_t i = 0; i < chunk->draw_count && chunk->draws[i].start_ns < now_ns; i++) {
        const struct thread_draw *draw = &chunk->draws[i];
        const double part = (double)(now_ns - draw->start_ns) / (double)(draw->end_ns - draw->start_ns);
        done += (double)draw->count * (part < 1 ? part : 1);
    }
    return done;
}

/* Returns when `mark` iterations of the chunk are done, no matter which iterations. done_ns() differs: it counts only
 * the first iterations, without gaps. */
static uint64_t marked_ns(const struct thread_model_chunk *chunk, uint64_t mark)
{
    uint64_t before = chunk->begins_ns, behind = done_ns(chunk, chunk->count);
    while (behind - before > 1) {
        const uint64_t middle = before + (behind - before) / 2;
        *(done_by(chunk, middle) < (double)mark ? &before : &behind) = middle;
    }
    return behind;
}

/* Returns the first time, not before `at_ns`, at which thread 0 is between two pieces. A piece takes `most_ns` or one
 * iteration. */
static uint64_t between_pieces_ns(const struct thread_model *model, uint64_t at_ns, double most_ns)
{
    for (unsigned c = 0; c < model->chunk_count; c++)
        for (size_t i = 0; i < model->chunk[c].draw_count && model->chunk[c].draws[i].start_ns < at_ns; i++) {
            const struct thread_draw *draw = &model->chunk[c].draws[i];
            if (draw->thread != 0 || draw->end_ns <= at_ns)
                continue;
            const double iteration_ns = (double)(draw->end_ns - draw->start_ns) / (double)draw->count;
            const double piece_ns = iteration_ns * fmax(1, floor(most_ns / iteration_ns));
            const double passed_ns = ceil((double)(at_ns - draw->start_ns) / piece_ns) * piece_ns;
            const uint64_t between_ns = draw->start_ns + (uint64_t)passed_ns;
            return between_ns < draw->end_ns ? between_ns : draw->end_ns;
        }
    return at_ns;
}

uint64_t thread_model_hears_ns(const struct thread_model *model, uint64_t now_ns)
{
    return between_pieces_ns(model, now_ns, TURN_NS);
}

bool thread_model_next(const struct thread_model *model, struct thread_model_event *next)
{
    const struct thread_model_chunk *oldest = &model->chunk[0];
    if (model->chunk_count == 0)
        return false;
    const bool at_end = model->slice == 0 || oldest->count - oldest->told <= model->slice;
    const uint64_t done = at_end ? oldest->count : oldest->told + model->slice;
    *next = (struct thread_model_event){at_end ? EVENT_FINISHED : EVENT_SLICE, done_ns(oldest, done), done};
    if (oldest->mark > 0 && oldest->mark < oldest->count) {
        const uint64_t at_ns = marked_ns(oldest, oldest->mark);
        if (at_ns < next->at_ns)
            *next = (struct thread_model_event){EVENT_MARK, at_ns, oldest->mark};
    }
    const uint64_t dry_ns = model->free_ns[first_free(model)];
    if (!model->dry_told && dry_ns < next->at_ns)
        *next = (struct thread_model_event){EVENT_DRY, dry_ns, 0};
    next->at_ns = between_pieces_ns(model, next->at_ns, PIECE_NS);
    return true;
}

static double later_by(const struct thread_model *model, uint64_t now_ns)
{
    double sum = 0;
    for (unsigned c = 1; c < model->chunk_count; c++)
        for (size_t i = 0; i < model->chunk[c].draw_count && model->chunk[c].draws[i].start_ns < now_ns; i++) {
            const struct thread_draw *draw = &model->chunk[c].draws[i];
            sum += (double)((draw->end_ns < now_ns ? draw->end_ns : now_ns) - draw->start_ns);
        }
    return sum;
}

static uint64_t model_wall_ns(const struct thread_model *model, uint64_t began_ns, uint64_t now_ns, double later_ns)
{
    const uint64_t since_ns = began_ns > model->ended_ns ? began_ns : model->ended_ns;
    const double wall_ns = now_ns > since_ns ? (double)(now_ns - since_ns) : 0;
    const double own_ns = wall_ns - (later_ns - model->later_ns) / model->threads;
    return own_ns > 1 ? (uint64_t)own_ns : 1;
}

static struct spread spread_of_draws(const struct thread_model *model, const struct thread_model_chunk *chunk)
{
    struct spread all = {0};
    uint64_t offset = chunk->first;
    for (size_t i = 0; i < chunk->draw_count; i++) {
        const struct thread_draw *draw = &chunk->draws[i];
        const double iterations = TICK_NS / (double)(draw->end_ns - draw->start_ns) * (double)draw->count;
        struct spread spread = {0};
        for (uint64_t done = 0, piece; done < draw->count; done += piece) {
            piece = iterations < 1 ? 1 : iterations < (double)draw->count ? (uint64_t)iterations : draw->count;
            piece = piece < draw->count - done ? piece : draw->count - done;
            const struct thread_work work = {(double)draw->start_ns, draw->start_ns, offset + done, piece, .calls = 1};
            spread_add(&spread, piece, model->time_ns(model->context, &work));
        }
        spread_merge(&all, &spread);
        offset += draw->count;
    }
    return all;
}

static void count_figures(struct thread_model *model)
{
    struct stats stats;
    stats_init(&stats);
    for (unsigned t = 0; t < model->threads; t++)
        stats_add(&stats, model->busy_ns[t]);
    model->figures.max_over_mean = stats.mean > 0 ? (float)(stats.maximum / stats.mean) : 1;
    model->figures.cov = (float)stats_cov(&stats);
}

static void end_oldest(struct thread_model *model, uint64_t now_ns, struct event *event)
{
    const struct thread_model_chunk *oldest = &model->chunk[0];
    if (model->spread) {
        const struct spread spread = spread_of_draws(model, oldest);
        event->chunk.deviation_ns = spread_deviation_ns(&spread) / model->threads;
        event->chunk.samples = spread.pieces < UINT32_MAX ? (uint32_t)spread.pieces : UINT32_MAX;
    }
    leave_draws(model, oldest);
    count_figures(model);
    model->ended_ns = now_ns;
    model->later_ns = later_by(model, now_ns);
    remove_chunk(model, 0);
}

struct range thread_model_take(struct thread_model *model, const struct thread_model_event *next, uint64_t now_ns,
                               struct event *event)
{
    struct thread_model_chunk *oldest = &model->chunk[0];
    struct range results = {0};
    event->type = next->type;
    if (next->type == EVENT_DRY) {
        model->dry_told = true;
        return results;
    }
    event->chunk.done = next->done;
    event->chunk.began_ns = oldest->draws[0].start_ns;
    event->chunk.compute_ns = model_wall_ns(model, event->chunk.began_ns, now_ns, later_by(model, now_ns));
    if (next->type == EVENT_MARK) {
        oldest->mark = 0;
        return results;
    }
    results = (struct range){oldest->first + oldest->told, next->done - oldest->told};
    event->chunk.count = results.count;
    oldest->told = next->done;
    if (next->type == EVENT_FINISHED)
        end_oldest(model, now_ns, event);
    return results;
}
