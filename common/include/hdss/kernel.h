/* SPDX-License-Identifier: MIT */
/* Kernels: the body of the loop that HDSS runs, with its parameters and the shape of its results.
 *
 * A kernel is a constant `struct hdss_kernel`. describe() checks the parameters and describes the length of the loop
 * and the results of an iteration. describe() should be cheap, because many processes call it: `hdss run` before the
 * launch, the leading rank, and each process that runs the kernel. Only workers run a kernel: they first call open(),
 * then run() or run_variable() for ranges in any order, and finally close(). All these calls come from one thread
 * unless --threads allows more: see enum hdss_threads. If iterations depend on earlier ones, run_block() is called
 * instead of run(): see struct hdss_block.
 *
 * An iteration produces either a record, whose type and length are the same for all iterations, or any number of bytes
 * on up to HDSS_STREAMS_MAX streams. Records form an array. Each stream forms a file with the bytes of all iterations
 * in order, regardless of the order in which they were computed.
 *
 * A user kernel is a shared object with such a constant named `hdss_kernel` (declared by HDSS_KERNEL): see
 * hdss-kernel(7). */
#ifndef HDSS_KERNEL_H
#define HDSS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* HDSS increases this number if a structure or the meaning of a call in this header changes. */
#define HDSS_KERNEL_ABI 8

#define HDSS_DIMS_MAX    4
#define HDSS_PARAMS_MAX  64
#define HDSS_STREAMS_MAX 3
#define HDSS_OUTPUT_MAX  512
#define HDSS_NOTE_MAX    256

enum hdss_param_kind {
    HDSS_PARAM_INTEGER,
    HDSS_PARAM_REAL,
    HDSS_PARAM_CHOICE, /* the value is value.integer, an index into `choices` */
    /* the value is value.text: a file name or free text, borrowed from the job, valid until the job ends */
    HDSS_PARAM_TEXT,
};

/* A parameter, name=value on the command line. The table ends with a NULL name and has at most HDSS_PARAMS_MAX
 * parameters. */
struct hdss_param {
    const char *name;
    enum hdss_param_kind kind;
    const char *fallback;    /* the default as text; never NULL */
    double minimum, maximum; /* inclusive bounds of integers and reals */
    const char *choices;     /* the accepted words of a choice, for example "row|column|pixel" */
    /* for example "pixels" or "us"; "" for a pure number. For a text that names a file or folder the unit is
     * "file" or "folder", so that shells can complete the name. */
    const char *unit;
    const char *summary;
};

union hdss_value {
    int64_t integer;
    double real;
    const char *text;
};

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

enum hdss_layout {
    HDSS_LAYOUT_ROWS,    /* consecutive records are the array in C order (last index fastest) */
    HDSS_LAYOUT_COLUMNS, /* consecutive records are the array in Fortran order (first index fastest) */
    /* A record is a tile of tile_height x tile_width elements in C order. The tiles are in rows, too. Only for
     * two-dimensional arrays. Tiles at the right and bottom edge are cut off at the end of the array. */
    HDSS_LAYOUT_TILES,
};

/* A file for variable output. The texts are constants, or live as long as the process. */
struct hdss_stream {
    /* ending of the file's name, such as "", ".err" or ".log"; different for each stream. The ending is appended
     * to the name of the output, but replaces a .out at the end of that name. */
    const char *ending;
    const char *heading; /* first line of the file, with its newline; may be NULL */
    /* the contents differ between runs, for example because they contain times; the checksum does not include them */
    bool differs;
};

struct hdss_loop {
    uint64_t iterations;
    enum hdss_type type;
    uint64_t record_length; /* number of elements per iteration, at least 1 */
    unsigned dims;          /* number of dimensions of the output array, 1 .. HDSS_DIMS_MAX */
    uint64_t shape[HDSS_DIMS_MAX];
    enum hdss_layout layout;
    uint64_t tile_height, tile_width;
    /* Iterations sleep instead of computing: they are timed by the wall clock and, by default, assigned one at a
     * time. */
    bool waits;
    /* For pictures of integers: the value that is drawn in black, for example inside a fractal; 0: none. If this
     * value is set, no iteration may produce 0, because 0 is drawn as "not computed". */
    uint64_t full_value;
    /* if `type` is HDSS_UINT8: each value is 0 (drawn black) or 1 (drawn white), so pictures have one bit per pixel */
    bool is_bilevel;
    /* Iterations have effects other than their output. HDSS then never runs an iteration merely to time it, and
     * never runs a late iteration a second time. Without --power all workers count as equally fast. By default
     * iterations are assigned one at a time. */
    bool has_effects;
    bool are_tasks; /* iterations are called tasks in messages, and are counted from 1 */
    /* Number of time steps; 0 means 1. All steps have the same number of iterations. A step begins after all
     * iterations of the previous step are done. */
    uint64_t steps;
    /* Digest of the files that the kernel reads; 0: none. The digest must be equal on all ranks. In a resumed run
     * it must be that of the earlier run, unless the kernel has inputs(). */
    uint64_t inputs;
    /* More iterations may follow during the run (see grow()); `iterations` is the present number. Only allowed with
     * variable output, without time steps and without dependencies. The kernel must be able to run iterations beyond
     * those that describe() gave. If the kernel has inputs(), ranks do not compare `inputs`; they compare the digest
     * that inputs() gives for 0 iterations. */
    bool grows;
    char note[HDSS_NOTE_MAX]; /* a line to show to the user once, for example that an input was converted; "": none */
    /* The members up to `boundary_bytes` describe dependencies, for kernels with run_block(). An iteration is a row
     * of `sync` elements along the synchronization dimension. An element may depend on earlier elements of its row.
     * It may also depend on elements of the `distance` preceding rows, if their index is at most `reach` higher than
     * its own. Further dimensions are internal to the kernel. */
    uint64_t sync; /* number of elements of a row; 0: iterations are independent */
    /* how many preceding rows a row may depend on, at least 1; a chunk has at least this many rows, except the last
     * chunk */
    uint64_t distance;
    uint64_t reach;          /* see above; at most `sync` */
    uint64_t boundary_bytes; /* bytes per element along `sync` that a chunk passes to the next one, at least 1 */
    /* `streams` and `stream` describe variable output. If `streams` is not 0, the members for records are ignored. */
    unsigned streams; /* number of streams; 0: the output consists of records */
    struct hdss_stream stream[HDSS_STREAMS_MAX];
    char output[HDSS_OUTPUT_MAX]; /* default of --output; "": none */
};

#define HDSS_ERROR_MAX 400

struct hdss_worker {
    uint32_t rank;
    uint32_t node;   /* number of the worker's node, from 0 */
    uint32_t number; /* number of the worker in the run, from 1 */
    uint32_t beside; /* number of workers on the node, including this worker; 0: unknown */
};

/* Receives the results of run_variable(). HDSS has private members after the public ones. */
struct hdss_output {
    /* Appends a copy of the bytes to a stream of an iteration. May be called any number of times, for streams in any
     * order and for iterations in ascending order. Iterations without calls have no output. Returns 0. Returns -1 if
     * memory runs out, an iteration exceeds 2 GiB, or an argument is invalid. After -1 run_variable() must return -1
     * at once and need not set an error. */
    int (*put)(struct hdss_output *output, uint64_t iteration, unsigned stream, const void *data, size_t bytes);
    /* Reports a finished iteration as failed. The output of the iteration is kept, and the iteration is listed as
     * failed at the end of the run. Returns the same values as put(). If the iteration has no output, returns -1, and
     * HDSS gives the iteration up. */
    int (*failed)(struct hdss_output *output, uint64_t iteration);
    /* Declares this process unfit for further iterations. The worker's helper process ends after the present call of
     * run_variable(), whatever this call returns. A new helper runs the remaining iterations. If the worker has no
     * helper, unfit() has no effect. */
    void (*unfit)(struct hdss_output *output);
};

/* Returned by run_variable() while an iteration waits for something outside of the worker. */
#define HDSS_WAIT 1

/* A step of a chunk in a loop with dependencies. A chunk is computed in steps along the synchronization dimension.
 * Between steps workers exchange boundary data, so that neighbouring chunks are computed in parallel.
 *
 * In a step the first row of the chunk computes the elements from `from` to `to`. Each row stays `reach` elements
 * behind the row before it. Row i, counted from 0, computes the elements from hdss_block_begin() up to but not
 * including hdss_block_end(). Rows must be computed in order, so that the elements on which a row depends exist. The
 * first `from` of a chunk is 0, and each later `from` is the previous `to`. Between two steps of a chunk there are
 * no steps of other chunks. The steps end when the last row is complete. After the loss of a worker a chunk may be
 * abandoned between two steps. The next step is then the first step of this chunk or of another chunk. If a step
 * kills its process, another instance computes the iterations of the chunk again, in smaller chunks. */
struct hdss_block {
    uint64_t first, count;
    /* the elements that the first row computes in this step; `to` exceeds `sync` while later rows are completed */
    uint64_t from, to;
    uint64_t sync, reach;
    /* boundary data of the previous chunk, for elements 0 .. to + reach - 1; aligned to 64 bytes; NULL: this chunk is
     * the first of the loop */
    const void *before;
    /* Boundary data of this chunk: sync * boundary_bytes bytes, aligned to 64 bytes, preserved between steps. The
     * step that computes an element of the last row must fill in the boundary data of that element; boundary data
     * of other elements may be overwritten. */
    void *after;
    /* count * record_length elements, aligned to 64 bytes, preserved between steps. A step that completes a row must
     * also complete the record of this row. */
    void *records;
};

static inline uint64_t hdss_block_clip(const struct hdss_block *block, uint64_t row, uint64_t at)
{
    uint64_t behind = row * block->reach;
    at = at > behind ? at - behind : 0;
    return at < block->sync ? at : block->sync;
}

/* hdss_block_begin() and hdss_block_end() return the range of elements along `sync` that row `row` of the chunk
 * computes in this step. If begin and end are equal, the range is empty. */
static inline uint64_t hdss_block_begin(const struct hdss_block *block, uint64_t row)
{
    return hdss_block_clip(block, row, block->from);
}

static inline uint64_t hdss_block_end(const struct hdss_block *block, uint64_t row)
{
    return hdss_block_clip(block, row, block->to);
}

enum hdss_threads {
    /* each thread calls run() with an instance of its own; one thread calls open() for all instances */
    HDSS_THREADS_OWN,
    HDSS_THREADS_SHARE, /* all threads share one instance, which run() does not change */
    HDSS_THREADS_NONE,
};

struct hdss_precedence {
    /* Tells HDSS that `iteration` waits for `other`; the same pair may be given again. Returns 0 on success. If it
     * returns -1, precedence() must return -1, too. */
    int (*waits)(struct hdss_precedence *precedence, uint64_t iteration, uint64_t other);
};

struct hdss_kernel {
    uint32_t abi;
    const char *name;
    const char *version; /* version of the results; must be changed if the same parameters give other results */
    const char *summary;
    const struct hdss_param *params;

    /* Fills `loop`, which is initially zero. The values are in the order of the table, and each value is already
     * checked. Returns 0. If the values are incompatible, returns -1 with one line in `error`: what is wrong and
     * what is accepted. The caller adds the kernel's name to this line. describe() must be deterministic, because a
     * process whose loop differs from that of the leading rank cannot take part. */
    int (*describe)(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX]);

    /* The leading rank calls check() once after describe(), before anything starts. check() finds out whether open()
     * can succeed, mainly whether its files are usable. Returns 0. On failure returns -1 with one line in `error`, and
     * the run is rejected as a mistake of the user. May be NULL. */
    int (*check)(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX]);

    /* Prepares to run iterations: allocates memory, generates or reads inputs. `*instance` is later passed to run() and
     * close(). All arguments except `error` stay valid until close(). Returns 0. On failure returns -1 with one line in
     * `error`, and must not leave anything allocated. */
    int (*open)(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                void **instance, char error[HDSS_ERROR_MAX]);

    /* Runs iterations first .. first + count - 1 and writes their records to `records` (count * record_length elements,
     * aligned to 64 bytes, initially undefined). Returns 0, or -1 with one line in `error`. After a failure this
     * instance is still used for other iterations. The failed iterations may be run again, one by one and by other
     * workers. Iterations that killed their process may be run in a child process with a copy of the instance. The
     * member is NULL if the kernel has variable output. */
    int (*run)(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX]);

    /* Like run(), but passes variable output to `output`. A kernel with descriptor() may return HDSS_WAIT. The worker
     * then calls run_variable() again with the same iteration, to continue it. The member is NULL if the output
     * consists of records. */
    int (*run_variable)(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                        char error[HDSS_ERROR_MAX]);

    /* Each worker calls step() before the first iteration of each time step, in order from step 0. `results`
     * contains the records of all iterations of the previous step, from all workers. It is valid only during the
     * call, and NULL at step 0. Returns 0, or -1 with one line in `error`, which ends the run. May be NULL. */
    int (*step)(void *instance, uint64_t step, const void *results, char error[HDSS_ERROR_MAX]);

    /* Releases everything. The member may be NULL if open() allocates nothing. */
    void (*close)(void *instance);

    /* Returns a descriptor, which must stay the same for an instance. After run_variable() has returned HDSS_WAIT,
     * the descriptor becomes readable when run_variable() can continue. Meanwhile the worker handles messages. A
     * kernel with descriptor() must set has_effects, gets one iteration at a time, and may be closed while it waits.
     * It never runs in a child process, because the descriptor belongs to the worker. NULL: the kernel never waits. */
    int (*descriptor)(void *instance);

    /* Names of those parameters that do not change the results of iterations, for example "timeout|retries". A run may
     * be resumed with other values of these parameters. May be NULL. */
    const char *manner;

    /* Only kernels with records and without effects may have several threads. */
    enum hdss_threads threads;

    /* Computes one step of a chunk. HDSS calls run_block() instead of run() if `sync` of the loop is not 0; a kernel
     * may have both functions. Returns 0, or -1 with one line in `error`, which ends the run. To time iterations, HDSS
     * runs single ones before the loop; the boundary data in `before` are then all zero. The member is NULL if
     * iterations are always independent. */
    int (*run_block)(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX]);

    /* Updates the number of iterations if describe() has set `grows`. The leading rank, or the process that describes
     * the loop for the leading rank, calls grow() a few times per second until the loop is complete. The values are
     * always the same. grow() should not wait. `*iterations` contains the last value and must not decrease. Returns 1
     * if more iterations may follow, 0 if the loop is complete, or -1 with one line in `error`, which ends the run. The
     * member is NULL if the kernel's loops never grow.
     *
     * A kernel with grow() can be run as an open job of a set. Users then add iterations after those of describe(), and
     * grow() is not called. */
    int (*grow)(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX]);

    /* Sets `*digest` to a digest of the inputs of the first `iterations` iterations and of the inputs common to all
     * iterations. The digest must not include inputs of later iterations. It shows whether the inputs of an earlier run
     * are unchanged, so a run can be resumed after its loop has become longer. `iterations` is at most the known length
     * of the loop. The process that calls grow() calls inputs() after describe(). Returns 0, or -1 with one line in
     * `error`.
     *
     * The member may be NULL. In this case a loop with input files must not be longer when it is resumed. If a loop of
     * such a kernel grows, its `inputs` must be a digest of constant inputs, even when the loop is complete. */
    int (*inputs)(const union hdss_value *values, uint64_t iterations, uint64_t *digest, char error[HDSS_ERROR_MAX]);

    /* Reports which iterations wait for others. An iteration begins after all iterations for which it waits are done
     * without failure. If an iteration fails for good, the iterations that wait for it are not run. The process that
     * calls grow() calls precedence() once, after describe() and before the start. Cycles are rejected. Returns 0, or
     * -1 with one line in `error`. The member is NULL if no iterations wait for others. Not allowed for growing loops,
     * loops with time steps, or loops with dependencies (`sync`). */
    int (*precedence)(const union hdss_value *values, struct hdss_precedence *precedence, char error[HDSS_ERROR_MAX]);

    /* For kernels with descriptor(): aborts whatever run_variable() waits for, because the results of the iteration
     * are no longer needed. stop() is called while run_variable() waits, and should not wait itself. Afterwards the
     * worker calls run_variable() until it returns something other than HDSS_WAIT, drops the output, and calls
     * close(). If stop() is NULL, the worker calls close() while the kernel waits. */
    void (*stop)(void *instance);
};

/* Declares the kernel of a shared object before its definition: HDSS_KERNEL(hdss_kernel) = { HDSS_KERNEL_ABI, .. }; */
#ifdef __cplusplus
#define HDSS_KERNEL(name)                                                                                              \
    extern "C" __attribute__((visibility("default"))) const struct hdss_kernel name;                                   \
    const struct hdss_kernel name
#else
#define HDSS_KERNEL(name)                                                                                              \
    extern __attribute__((visibility("default"))) const struct hdss_kernel name;                                       \
    const struct hdss_kernel name
#endif

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
