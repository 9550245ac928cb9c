/* SPDX-License-Identifier: MIT */
/* The kernel: the loop body that HDSS runs, with its parameters and the shape of its results.
 *
 * A kernel is a constant `struct hdss_kernel`. `hdss run` has describe() called before it launches, and so has the rank
 * that leads, in a process of its own each, and each process that runs the kernel calls it (cheap: it checks the
 * parameters and says how long the loop is and what one iteration yields), open() for the workers only, then run() or
 * run_variable() for range after range in any order, and close(). A worker calls these from one thread, unless it is
 * told to use several (--threads): see enum hdss_threads. Where iterations depend on those before them run_block()
 * takes the place of run(): see struct hdss_block.
 *
 * An iteration yields either a record, of the same type and length for all, or bytes on up to HDSS_STREAMS_MAX
 * streams, as many as it likes. Records make up an array, streams make up files: the bytes of all iterations one after
 * another, in the order of the iterations, whatever the order in which they were computed.
 *
 * A kernel of one's own is a shared object with such a constant under the name `hdss_kernel` (HDSS_KERNEL declares it):
 * see hdss-kernel(7). */
#ifndef HDSS_KERNEL_H
#define HDSS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be raised when a structure or the meaning of a call in this header changes. */
#define HDSS_KERNEL_ABI 8

#define HDSS_DIMS_MAX    4
#define HDSS_PARAMS_MAX  64
#define HDSS_STREAMS_MAX 3
/* Bytes of a file's name, with its NUL. */
#define HDSS_OUTPUT_MAX 512
/* Bytes of a line for the user, with its NUL. */
#define HDSS_NOTE_MAX 256

enum hdss_param_kind {
    HDSS_PARAM_INTEGER, /* value.integer */
    HDSS_PARAM_REAL,    /* value.real */
    HDSS_PARAM_CHOICE,  /* value.integer: index into `choices` */
    HDSS_PARAM_TEXT,    /* value.text: a file name or free text, borrowed from the job for its whole life */
};

/* A parameter, given as name=value on the command line. The table ends with a NULL name and has at most HDSS_PARAMS_MAX
 * parameters. */
struct hdss_param {
    const char *name;
    enum hdss_param_kind kind;
    const char *fallback;    /* the default, as a user would write it; never NULL */
    double minimum, maximum; /* inclusive; for integers and reals */
    const char *choices;     /* "row|column|pixel", for choices */
    const char *unit;        /* "pixels", "us", ...; "" for a pure number; of a text "file" or "folder", where it names
                                one, so that shells complete it */
    const char *summary;     /* description in one line */
};

union hdss_value {
    int64_t integer;
    double real;
    const char *text;
};

/* Element type of a record. */
enum hdss_type {
    HDSS_UINT8,
    HDSS_UINT16,
    HDSS_UINT32,
    HDSS_UINT64,
    HDSS_INT32,
    HDSS_INT64,
    HDSS_FLOAT32,
    HDSS_FLOAT64
};

/* The way in which the records of the iterations make up the output array. */
enum hdss_layout {
    HDSS_LAYOUT_ROWS,    /* record after record is the array in C order (last index fastest) */
    HDSS_LAYOUT_COLUMNS, /* record after record is the array in Fortran order (first index fastest) */
    HDSS_LAYOUT_TILES,   /* a record is a tile_height x tile_width tile in C order, tiles row by row; two-dimensional
                            only; tiles at the right and bottom edge are cut off by the array */
};

/* A file that variable output goes to. The texts are constants, or live as long as the process. */
struct hdss_stream {
    const char *ending; /* ending of the file's name behind that of the output, or in the place of its .out: "", ".err",
                           ".log"; each only once */
    const char *heading; /* first line of the file, with its line end; NULL for none */
    bool differs;        /* contents differ from run to run, as times do, and are no part of the checksum */
};

/* Description of the loop, filled in by describe(). */
struct hdss_loop {
    uint64_t iterations;
    enum hdss_type type;
    uint64_t record_length; /* elements per iteration, at least 1 */
    unsigned dims;          /* dimensions of the output array, 1 .. HDSS_DIMS_MAX */
    uint64_t shape[HDSS_DIMS_MAX];
    enum hdss_layout layout;
    uint64_t tile_height, tile_width;
    bool waits;          /* an iteration sleeps rather than computes: time it by the wall clock, and hand it out singly
                            unless the user says another technique */
    uint64_t full_value; /* for pictures of integers: the value drawn black (the inside); 0 if there is none. Where
                            there is one, no iteration yields 0, and 0 is drawn as "not computed" */
    bool is_bilevel;     /* with HDSS_UINT8: all values are 0, drawn black, or 1, drawn white; a picture has one bit for
                            each */
    bool has_effects;    /* an iteration does more than yield its output: none is run only to be timed, nor by a second
                            worker only because it takes long, without --power all workers count as equally fast,
                            and it is handed out singly as above */
    bool are_tasks;      /* iterations are called tasks, and count from 1, wherever people read of them */
    uint64_t steps;      /* time steps, of which the loop has as many iterations each: none of a step begins before all
                            of the step before are done. 0 is taken as 1 */
    uint64_t inputs;     /* a digest of the files that the kernel reads; 0 where it reads none. All ranks must find the
                            same, and so must a run that is resumed: but see inputs() of the kernel */
    bool grows; /* `iterations` are those that there are now, and more may come behind them while the loop runs: see
                   grow() of the kernel. With variable output only, without time steps and dependencies. A kernel then
                   runs iterations beyond those that it has described; `inputs` is not compared between ranks, but what
                   inputs() says of no iteration */
    char note[HDSS_NOTE_MAX]; /* a line that the user is to be told once, such as that an input was converted; "": none
                               */
    /* Dependencies, of a kernel with run_block(). An iteration is a row of `sync` elements along the synchronization
     * dimension, each of which may need those before it in its row, and of the `distance` rows before its own those up
     * to `reach` elements further along. A further dimension is the kernel's own business. */
    uint64_t sync;           /* 0: iterations do not depend on one another */
    uint64_t distance;       /* at least 1; no chunk is smaller, but for the last */
    uint64_t reach;          /* at most `sync` */
    uint64_t boundary_bytes; /* bytes for each element along `sync` that a chunk hands to the next: at least 1 */
    /* for variable output: with it nothing about records is looked at */
    unsigned streams; /* 0: there are records */
    struct hdss_stream stream[HDSS_STREAMS_MAX];
    char output[HDSS_OUTPUT_MAX]; /* default of --output for variable output; "": none */
};

#define HDSS_ERROR_MAX 400

/* The worker that a kernel runs on. */
struct hdss_worker {
    uint32_t rank;   /* in the run */
    uint32_t node;   /* nodes count from 0 */
    uint32_t number; /* of the worker among all of the run, from 1 */
};

/* Place for the results of the iterations of run_variable(); more members follow that are not for kernels. */
struct hdss_output {
    /* Adds bytes to a stream of an iteration: any number of times, the streams in any order, the iterations in
     * ascending order. The bytes are copied. An iteration that puts nothing yields nothing. Returns 0, or -1 where
     * memory is out, an iteration yields more than 2 GiB or what is asked for cannot be: run_variable() then returns -1
     * at once, and need not say why. */
    int (*put)(struct hdss_output *output, uint64_t iteration, unsigned stream, const void *data, size_t bytes);
    /* The iteration is done and its output counts, but it is to be named as failed at the end of the run. Returns as
     * put() does; where the run has no output, -1: the iteration is given up. */
    int (*failed)(struct hdss_output *output, uint64_t iteration);
    /* This process is unfit for further iterations, because of what this one has left behind in it: the helper of a
     * worker ends after this call of run_variable(), whatever that returns, and another helper runs what follows.
     * Without a helper it has no effect. */
    void (*unfit)(struct hdss_output *output);
};

/* Returned by run_variable() while an iteration waits for something that is not the worker's. */
#define HDSS_WAIT 1

/* A step of a chunk, in a loop with dependencies. A chunk is computed in steps along the synchronization dimension;
 * between two of them workers exchange boundary data, so that neighbouring chunks are computed side by side.
 *
 * In a step the first row of the chunk goes on from element `from` to `to`, and each row stays `reach` elements behind
 * the row before it: row i, counted from 0, computes elements hdss_block_begin() up to, not including,
 * hdss_block_end(). The rows are to be computed in their order; what a row needs of those before it is then there. The
 * steps of a chunk come one after another, `from` being the `to` of the step before, from 0 on until the last row is
 * complete; no step of another chunk comes between. Where a worker of the run is lost a chunk may be given up between
 * two steps: then the next step is the first one of another chunk, or of the same. Where a step has killed the process
 * that ran it, another instance computes the chunk from its first step on, as smaller chunks. */
struct hdss_block {
    uint64_t first, count; /* the chunk: iterations first .. first + count - 1 */
    uint64_t from, to;     /* elements of its first row; beyond `sync` while the last rows are being completed */
    uint64_t sync, reach;  /* values of the loop */
    const void *before;    /* boundary data of the chunk before, for elements 0 .. to + reach - 1; aligned to 64 bytes.
                              NULL where `first` is the loop's first iteration */
    void *after;           /* sync * boundary_bytes, aligned to 64 bytes: what this chunk hands over. Of each element
                              that the last row computes it is to be filled in by the same step; elsewhere it may be
                              written to meanwhile. It keeps its contents from step to step */
    void *records;         /* count * record_length elements, aligned to 64 bytes, which keep their contents likewise: a
                              row's record is to be complete when the row is */
};

static inline uint64_t hdss_block_clip(const struct hdss_block *block, uint64_t row, uint64_t at)
{
    uint64_t behind = row * block->reach;
    at = at > behind ? at - behind : 0;
    return at < block->sync ? at : block->sync;
}

/* Elements along `sync` that row `row` of the chunk computes in this step: none where both are the same. */
static inline uint64_t hdss_block_begin(const struct hdss_block *block, uint64_t row)
{
    return hdss_block_clip(block, row, block->from);
}

static inline uint64_t hdss_block_end(const struct hdss_block *block, uint64_t row)
{
    return hdss_block_clip(block, row, block->to);
}

/* Use that a worker with several threads may make of a kernel. */
enum hdss_threads {
    HDSS_THREADS_OWN,   /* each thread calls run() with an instance of its own; all are opened by one thread */
    HDSS_THREADS_SHARE, /* all threads share one instance, which run() does not change */
    HDSS_THREADS_NONE,  /* a worker has one thread */
};

/* A kernel tells by these in precedence(). */
struct hdss_precedence {
    /* Iteration `iteration` waits for iteration `other`, be it said once or more. Returns 0, or -1: then precedence()
     * returns that. */
    int (*waits)(struct hdss_precedence *precedence, uint64_t iteration, uint64_t other);
};

struct hdss_kernel {
    uint32_t abi;                    /* HDSS_KERNEL_ABI */
    const char *name;                /* name on the command line */
    const char *version;             /* raised when the same parameters give other results */
    const char *summary;             /* description in one line */
    const struct hdss_param *params; /* ends with a NULL name */

    /* Fills `loop` (zeroed before) from the values, one per parameter in table order, each already of its kind and
     * within its range. Returns 0, or -1 with one line in `error` (what, what is accepted; the caller puts the kernel's
     * name before it) for values that do not go together. Must be deterministic: a process in
     * which it describes another loop than in the rank that leads does not take part. */
    int (*describe)(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX]);

    /* Looks at what open() will need, above all at files, before anything starts: called once, by the rank that leads
     * the run, after describe(). Returns 0, or -1 with one line in `error`; the run is then refused as wrong use. NULL
     * where there is nothing to look at. */
    int (*check)(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX]);

    /* Prepares to run: allocates, generates or reads inputs. `*instance` is what run and close are given. All that is
     * passed but `error` stays as it is until close(). Returns 0, or -1 with one line in `error` and nothing left
     * allocated. */
    int (*open)(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                void **instance, char error[HDSS_ERROR_MAX]);

    /* Runs iterations first .. first + count - 1 and writes their records one after another at `records`
     * (count * record_length elements, aligned to 64 bytes, contents undefined). Returns 0, or -1 with one line in
     * `error`: then they may be run again, one by one and by other workers, and this instance goes on with others.
     * Iterations that have killed their process may be run in a child process, which has a copy of the instance. NULL
     * where the output is variable. */
    int (*run)(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX]);

    /* Runs iterations as run() does, with variable output: puts what they yield. Or returns HDSS_WAIT, where the kernel
     * has a descriptor(): the worker then calls again, with the same iteration, which goes on. NULL where the kernel
     * has records. */
    int (*run_variable)(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                        char error[HDSS_ERROR_MAX]);

    /* Called before the first iteration of a time step that this worker runs: for each step from 0 on, in their order,
     * none left out. `results` are the records of all iterations of the step before, whoever computed them; NULL at
     * step 0. They are valid during the call. Returns 0, or -1 with one line in `error`: that ends the run. NULL where
     * there is nothing to do. */
    int (*step)(void *instance, uint64_t step, const void *results, char error[HDSS_ERROR_MAX]);

    /* Releases everything. May be NULL where open() allocates nothing. */
    void (*close)(void *instance);

    /* Returns the descriptor that becomes readable when run_variable(), which waits for something, can go on; meanwhile
     * the worker looks after its messages. The descriptor is the same for the whole life of the instance. A kernel that
     * has one has_effects, is asked for one iteration at a time, and may be closed while it waits. Its work is done
     * outside of the worker, in processes of its own: the kernel is never put into a child process, as the descriptor
     * is the worker's. NULL where the kernel never waits. */
    int (*descriptor)(void *instance);

    /* Names of parameters, "timeout|retries", that say in what manner iterations are run and not what they are: a run
     * that ended early may be resumed with other values of these. NULL where there are none. */
    const char *manner;

    /* Threads for a kernel with records and no effects: others have one thread in any case. */
    enum hdss_threads threads;

    /* Computes one step of a chunk: what run() does where iterations depend on those before them. Called where the loop
     * has a `sync`, and then run() is not; a kernel may have both. Returns 0, or -1 with one line in `error`, which
     * ends the run. To be measured, single iterations are run before the loop with `before` all zeros. NULL where
     * iterations are always independent. */
    int (*run_block)(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX]);

    /* Says how many iterations the loop has by now, where describe() has said that it grows. Called with the same
     * values by the rank that leads, or the process that has described the loop for it, some times a second until the
     * loop is complete; it should look, and not wait. Sets `*iterations`, which holds what was said last and never
     * becomes less. Returns 1: there may be more later; 0: these are all; -1 with one line in `error`, which ends the
     * run. A kernel that has it can be run as an open job of a set, which says itself how many iterations come behind
     * those of describe(): it is not called then. NULL where no loop grows. */
    int (*grow)(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX]);

    /* Sets `*digest` to a digest of what the first `iterations` iterations of the loop are read from, and of what all
     * are, but of nothing behind them: a run that ended early may be resumed when its loop has become longer, if what
     * it had is the same. `iterations` are no more than the loop is known to have. Called where grow() is, after
     * describe(). Returns 0, or -1 with one line in `error`. NULL: loops that read files do not become longer; where
     * one grows, `inputs` of the loop must be a digest of what does not, and be so when it is complete, too. */
    int (*inputs)(const union hdss_value *values, uint64_t iterations, uint64_t *digest, char error[HDSS_ERROR_MAX]);

    /* Says which iterations wait for others: one begins when all that it waits for are done, and none of them has
     * failed for good, or is called failed. What waits for one that has is not run. Called where grow() is, once, after
     * describe(), before anything starts. Iterations that wait for one another in a circle are refused. Returns 0, or
     * -1 with one line in `error`. NULL where none waits. Not in loops that grow, nor with time steps or a `sync`. */
    int (*precedence)(const union hdss_value *values, struct hdss_precedence *precedence, char error[HDSS_ERROR_MAX]);

    /* Asks what run_variable() waits for to end, as nobody wants its results any more. Called while it waits, where the
     * kernel has a descriptor(); should not wait itself. run_variable() is then called as before, until it does not
     * return HDSS_WAIT, and what it has put is dropped; then close() follows. NULL: the kernel is closed while it
     * waits. */
    void (*stop)(void *instance);
};

/* Declares the kernel of a shared object, before its definition: HDSS_KERNEL(hdss_kernel) = { HDSS_KERNEL_ABI, .. }; */
#ifdef __cplusplus
#define HDSS_KERNEL(name)                                                                                              \
    extern "C" __attribute__((visibility("default"))) const struct hdss_kernel name;                                   \
    const struct hdss_kernel name
#else
#define HDSS_KERNEL(name)                                                                                              \
    extern __attribute__((visibility("default"))) const struct hdss_kernel name;                                       \
    const struct hdss_kernel name
#endif

/* Bytes of one element of the type. */
static inline size_t hdss_type_size(enum hdss_type type)
{
    switch (type) {
    case HDSS_UINT8: return 1;
    case HDSS_UINT16: return 2;
    case HDSS_UINT32:
    case HDSS_INT32:
    case HDSS_FLOAT32: return 4;
    case HDSS_UINT64:
    case HDSS_INT64:
    case HDSS_FLOAT64: return 8;
    }
    return 0;
}

static inline size_t hdss_record_size(const struct hdss_loop *loop)
{
    return hdss_type_size(loop->type) * loop->record_length;
}

#ifdef __cplusplus
}
#endif

#endif
