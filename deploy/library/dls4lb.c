/* SPDX-License-Identifier: MIT */
/* The functions of DLS4LB, on top of shared loops. They differ from the original on purpose. The last iteration is
 * treated like the others. A loop does not disturb the next loop or the messages of the program. Counts have 64 bits
 * internally, and any number of ranks is accepted.
 *
 * DLS_Terminated() fetches the next piece, because only this shows whether there is a next piece. DLS_StartChunk()
 * returns the piece. Between these calls, a foreman sends the piece to its group if the group follows it. The functions
 * return no errors, so an unexpected error ends the program. If a method rejects its loop, STATIC replaces the method,
 * and rank 0 prints a message. */
#include "deploy/library/dls4lb.h"

#include "deploy/library/loop.h"
#include "dls4lb/LB4MPI.h"
#include "hdss/hdss.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#define METHODS 21

static const struct {
    const char *name, *technique;
    bool has_threshold;
    bool learns;
    bool is_closed;
} methods[METHODS] = {
    [STATIC] = {"STATIC", "static", false, false, true}, [SS] = {"SS", "ss", false, false, true},
    [FSC] = {"FSC", "fsc", false, false, true},          [mFSC] = {"mFSC", "mfsc", false, false, true},
    [GSS] = {"GSS", "gss", true, false, true},           [TSS] = {"TSS", "tss", true, false, true},
    [FAC] = {"FAC", "fac2", true, false, true},          [WF] = {"WF", "wf", true, false, true},
    [AWF] = {"AWF", "awf", true, true, false},           [AWF_B] = {"AWF-B", "awf-b", true, true, false},
    [AWF_C] = {"AWF-C", "awf-c", true, true, false},     [AWF_D] = {"AWF-D", "awf-d", true, true, false},
    [AWF_E] = {"AWF-E", "awf-e", true, true, false},     [AF] = {"AF", "af", true, true, true},
    [SimAS] = {"SimAS", "auto", true, true, false},      [TFSS] = {"TFSS", "tfss", true, false, true},
    [FISS] = {"FISS", "fiss", true, false, true},        [VISS] = {"VISS", "viss", true, false, true},
    [RND] = {"RND", "rnd", true, false, true},           [PLS] = {"PLS", "pls:swr=0.7", true, false, true},
    [TAP] = {"TAP", "tap", true, false, false},
};

static atomic_int chunk_calculation_mode = DLS_CENTRALIZED;

void Configure_Chunk_Calculation_Mode(int mode)
{
    chunk_calculation_mode = mode != DLS_CENTRALIZED;
}

char *get_DLS_ShortName(int method)
{
    return (char *)(method >= 0 && method < METHODS ? methods[method].name : "UNKNOWN");
}

static void dls4lb_give_up(const infoDLS *info, const char *what)
{
    fprintf(stderr, "DLS4LB on rank %d: %s\n", info->myRank, what);
    MPI_Abort(info->comm != MPI_COMM_NULL ? info->comm : MPI_COMM_WORLD, 1);
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

void dls_init(infoDLS *info, MPI_Comm comm, int arrays)
{
    *info = (infoDLS){
        .comm = comm, .crew = MPI_COMM_NULL, .breakAfter = -1, .requestWhen = -1, .myRank = -1, .lastRank = -1};
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &info->commSize);
        MPI_Comm_rank(comm, &info->myRank);
        info->lastRank = info->commSize - 1;
        info->minChunk = info->commSize;
    }
    size_t ranks = (size_t)most(most(arrays, info->commSize), 1);
    info->stats = malloc(3 * ranks * sizeof *info->stats);
    info->weights = malloc(ranks * sizeof *info->weights);
    info->own = calloc(1, sizeof(struct dls_own));
    if (info->stats == NULL || info->weights == NULL || info->own == NULL) {
        dls4lb_give_up(info, "out of memory for the ranks");
        return;
    }
    for (size_t i = 0; i < ranks; i++) {
        info->weights[i] = 1;
        info->stats[3 * i] = info->stats[3 * i + 1] = -1;
        info->stats[3 * i + 2] = 0;
    }
}

void DLS_Setup(MPI_Comm comm, infoDLS *info)
{
    dls_init(info, comm, 0);
}

void DLS_Parameters_Setup(MPI_Comm comm, infoDLS *info, int numProcs, int requestWhen, int breakAfter, int minChunk,
                          double h_overhead, double sigma, int nKNL, double Xeon_speed, double KNL_speed)
{
    dls_init(info, comm, numProcs);
    info->requestWhen = requestWhen;
    info->breakAfter = breakAfter;
    info->minChunk = minChunk;
    info->h_overhead = h_overhead;
    info->sigma = sigma;
    double sum = nKNL * KNL_speed + (double)(numProcs - nKNL) * Xeon_speed;
    for (int i = 0; i < numProcs && sum > 0; i++)
        info->weights[i] = (i < numProcs - nKNL ? Xeon_speed : KNL_speed) * numProcs / sum;
}

/* Half of the chunk size of mFSC, as in [2L]. */
static int64_t default_threshold(int64_t iterations, int ranks)
{
    double t = ceil((double)iterations / (ranks > 0 ? ranks : 1));
    double chunk = t > 2 ? floor(0.55 + t * log(2) / log(t)) : 1;
    return chunk >= 4 ? (int64_t)(chunk / 2) : 1;
}

static void set_number(struct hdss_options *options, const char *name, int64_t value, const char *zero)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    hdss_options_set(options, name, value < 0 ? "auto" : value == 0 ? zero : text);
}

static bool is_fsc_given(const struct dls_parameters *parameters)
{
    return parameters->h_overhead > 0 && parameters->sigma > 0;
}

static void set_technique(struct hdss_options *options, const struct dls_parameters *parameters, int method)
{
    char text[128];
    if (method == FSC && is_fsc_given(parameters))
        snprintf(text, sizeof text, "fsc:h=%.17g,sigma=%.17g", parameters->h_overhead, parameters->sigma);
    else
        snprintf(text, sizeof text, "%s", methods[method].technique);
    hdss_options_set(options, "technique", text);
}

/* All powers must be positive. This is also true for a coordinator that computes nothing, although its power has no
 * effect. */
static void set_weights(struct hdss_options *options, const infoDLS *info)
{
    int ranks;
    MPI_Comm_size(info->comm, &ranks);
    if (info->myRank == 0)
        hdss_options_set_powers(options, info->weights, ranks);
}

static struct hdss_options *make_options(const infoDLS *info, int method)
{
    const struct dls_own *own = info->own;
    const struct dls_parameters *parameters = &own->parameters;
    struct hdss_options *options = hdss_options_new();
    if (options == NULL)
        return NULL;
    set_technique(options, parameters, method);
    set_number(options, "break-after", parameters->break_after, "1");
    set_number(options, "request-when", parameters->request_when, "off");
    if (methods[method].has_threshold)
        set_number(options, "min-chunk", parameters->min_chunk, "1");
    if (method == WF)
        set_weights(options, info);
    if (own->leader_idles)
        hdss_options_set(options, "leader", "coordinates");
    else if (parameters->distributed && methods[method].is_closed && (method != FSC || is_fsc_given(parameters)))
        hdss_options_set(options, "mode", "two-sided");
    return options;
}

static int make_loop(infoDLS *info, int method)
{
    struct dls_own *own = info->own;
    struct hdss_options *options = make_options(info, method);
    int status =
        options != NULL ? hdss_loop_new(info->comm, own->parameters.count, options, &own->loop) : HDSS_ERROR_MEMORY;
    if (status < 0 && info->myRank == 0)
        fprintf(stderr, "DLS4LB: %s: %s\n", methods[method].name,
                options != NULL ? hdss_options_error(options) : "out of memory");
    hdss_options_free(options);
    return status;
}

/* Converts a count for an int field of the original; counts above INT_MAX become INT_MAX. */
static int to_int(int64_t count)
{
    return count < INT_MAX ? (int)count : INT_MAX;
}

static void note_start(infoDLS *info, int64_t first, int64_t count)
{
    struct dls_own *own = info->own;
    info->firstIter = (int)first;
    info->lastIter = (int)(first + count - 1);
    info->N = to_int(count);
    info->timeStep++;
    info->numChunks = info->itersScheduled = info->myIters = 0;
    info->workTime = 0;
    info->chunkStart = (int)first;
    info->subChunkSize = 0;
    own->ended = count <= 0;
    own->in_hand = own->begun = false;
    own->rest_size = own->iterations = 0;
    stats_init(&own->times);
}

static struct dls_parameters share_parameters(const infoDLS *info, int64_t first, int64_t count)
{
    struct dls_parameters parameters = {
        .first = first,
        .count = count,
        .method = info->method,
        .min_chunk = info->minChunk > 0 ? info->minChunk : default_threshold(count, info->commSize),
        .break_after = info->breakAfter,
        .request_when = info->requestWhen,
        .distributed = chunk_calculation_mode,
        .h_overhead = info->h_overhead,
        .sigma = info->sigma,
    };
    MPI_Bcast(&parameters, sizeof parameters, MPI_BYTE, 0, info->comm);
    return parameters;
}

static bool dls4lb_goes_on(const struct dls_own *own, struct dls_parameters parameters)
{
    parameters.first = own->parameters.first;
    parameters.count = own->parameters.count;
    return own->loop != NULL && memcmp(&parameters, &own->parameters, sizeof parameters) == 0;
}

static void begin_loop(infoDLS *info, int64_t first, int64_t count)
{
    struct dls_own *own = info->own;
    const struct dls_parameters parameters = share_parameters(info, first, count);
    bool again = dls4lb_goes_on(own, parameters);
    own->parameters = parameters;
    info->method = (int)parameters.method;
    if (!again && own->loop != NULL)
        hdss_loop_free(&own->loop);
    int status = again ? hdss_loop_again(own->loop, parameters.count) : make_loop(info, info->method);
    if (status < 0 && info->method != STATIC) {
        if (info->myRank == 0)
            fprintf(stderr, "DLS4LB: STATIC is used instead of %s\n", methods[info->method].name);
        if (own->loop != NULL)
            hdss_loop_free(&own->loop);
        info->method = STATIC;
        status = make_loop(info, STATIC);
    }
    if (status < 0)
        dls4lb_give_up(info, hdss_error_text(status));
}

void DLS_StartLoop(infoDLS *info, int firstIter, int lastIter, int method)
{
    int64_t count = (int64_t)lastIter - firstIter + 1;
    info->method = method >= 0 && method < METHODS ? method : STATIC;
    note_start(info, firstIter, count > 0 ? count : 0);
    if (info->comm != MPI_COMM_NULL && count > 0)
        begin_loop(info, firstIter, count);
}

static void cut_piece(struct dls_own *own)
{
    own->start = own->rest_start;
    own->size = own->rest_size < INT_MAX ? own->rest_size : INT_MAX;
    own->rest_start += own->size;
    own->rest_size -= own->size;
    own->in_hand = true;
}

static void dls4lb_fetch(infoDLS *info, struct dls_own *own)
{
    int64_t first, count;
    if (own->rest_size == 0) {
        int status = hdss_loop_next(own->loop, &first, &count);
        if (status < 0)
            dls4lb_give_up(info, hdss_loop_error(own->loop));
        own->ended = status == 0;
        if (own->ended)
            return;
        own->rest_start = own->parameters.first + first;
        own->rest_size = count;
    }
    cut_piece(own);
}

static void follow(infoDLS *info, struct dls_own *own)
{
    int64_t told[3] = {own->ended, own->start, own->size};
    MPI_Bcast(told, 3, MPI_INT64_T, 0, info->crew);
    own->ended = told[0] != 0;
    own->in_hand = !own->ended;
    own->start = told[1];
    own->size = told[2];
}

int DLS_Terminated(infoDLS *info)
{
    struct dls_own *own = info->own;
    if (own->ended || own->in_hand)
        return own->ended;
    if (info->comm != MPI_COMM_NULL)
        dls4lb_fetch(info, own);
    else if (info->crew == MPI_COMM_NULL)
        own->ended = true;
    if (info->crew != MPI_COMM_NULL)
        follow(info, own);
    return own->ended;
}

void DLS_StartChunk(infoDLS *info, int *chunkStart, int *chunkSize)
{
    struct dls_own *own = info->own;
    bool there = !DLS_Terminated(info);
    info->chunkStart = *chunkStart = there ? (int)own->start : info->lastIter;
    info->subChunkSize = *chunkSize = there ? (int)own->size : 0;
    own->in_hand = false;
    own->begun = there;
    own->began_s = MPI_Wtime();
}

void DLS_EndChunk(infoDLS *info)
{
    struct dls_own *own = info->own;
    if (!own->begun || info->comm == MPI_COMM_NULL) {
        own->begun = false;
        return;
    }
    double elapsed_s = MPI_Wtime() - own->began_s;
    own->begun = false;
    loop_pause(own->loop);
    info->workTime += elapsed_s;
    own->iterations += info->subChunkSize;
    info->itersScheduled = info->myIters = to_int(own->iterations);
    if (info->subChunkSize > 0)
        stats_add(&own->times, elapsed_s / info->subChunkSize);
}

static void dls4lb_weigh(infoDLS *info)
{
    double sum = 0;
    int known = 0;
    for (int i = info->firstRank; i <= info->lastRank; i++)
        if (info->stats[3 * i] > 0) {
            sum += 1 / info->stats[3 * i];
            known++;
        }
    for (int i = info->firstRank; i <= info->lastRank; i++)
        info->weights[i] = info->stats[3 * i] > 0 ? known / (info->stats[3 * i] * sum) : 1;
}

static void dls4lb_gather(infoDLS *info, const struct dls_own *own)
{
    struct hdss_stats figures;
    hdss_loop_stats(own->loop, &figures, sizeof figures);
    double mine[3] = {own->times.count > 0 && own->iterations > 0 ? info->workTime / (double)own->iterations : -1,
                      own->times.count > 0 ? stats_deviation(&own->times) : -1, (double)own->times.count};
    int64_t sums[2] = {figures.chunks, figures.iterations}, all[2];
    MPI_Gather(mine, 3, MPI_DOUBLE, info->stats, 3, MPI_DOUBLE, 0, info->comm);
    MPI_Reduce(sums, all, 2, MPI_INT64_T, MPI_SUM, 0, info->comm);
    if (info->myRank == 0 && methods[info->method].learns)
        dls4lb_weigh(info);
    const int64_t *known = info->myRank == 0 ? all : sums;
    info->numChunks = to_int(known[0]);
    info->itersScheduled = to_int(known[1]);
}

void DLS_EndLoop(infoDLS *info, int *niters, double *worktime)
{
    struct dls_own *own = info->own;
    if (own->loop != NULL && info->N > 0) {
        loop_finish(own->loop);
        dls4lb_gather(info, own);
        if (!methods[info->method].learns)
            hdss_loop_free(&own->loop);
    }
    own->ended = true;
    *niters = info->myIters;
    *worktime = info->workTime;
}

void DLS_Finalize(infoDLS *info)
{
    struct dls_own *own = info->own;
    if (own == NULL)
        return;
    if (own->loop != NULL)
        hdss_loop_free(&own->loop);
    if (own->frees_communicators && info->crew != MPI_COMM_NULL)
        MPI_Comm_free(&info->crew);
    if (own->frees_communicators && info->comm != MPI_COMM_NULL)
        MPI_Comm_free(&info->comm);
    free(own);
    free(info->stats);
    free(info->weights);
    info->own = NULL;
    info->stats = info->weights = NULL;
}
