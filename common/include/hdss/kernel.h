/* What a kernel is: the loop body that HDSS runs, with its parameters and the shape of its results.
 *
 * A kernel is a constant `struct hdss_kernel`. The daemons call describe() on every rank (cheap: it checks the
 * parameters and says how long the loop is and what one iteration yields), open() on the workers only, then
 * run() for range after range in any order, and close(). A worker calls these from one thread. */
#ifndef HDSS_KERNEL_H
#define HDSS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be raised when a structure or the meaning of a call in this header changes. */
#define HDSS_KERNEL_ABI 1

#define HDSS_DIMS_MAX   4
#define HDSS_PARAMS_MAX 64

enum hdss_param_kind {
    HDSS_PARAM_INTEGER, /* value.integer */
    HDSS_PARAM_REAL,    /* value.real */
    HDSS_PARAM_CHOICE,  /* value.integer: index into `choices` */
    HDSS_PARAM_TEXT,    /* value.text: a file name or free text, borrowed from the job for its whole life */
};

/* One parameter, given as name=value on the command line. The table ends with a NULL name and has at most
 * HDSS_PARAMS_MAX parameters. */
struct hdss_param {
    const char *name;
    enum hdss_param_kind kind;
    const char *fallback;    /* the default, as a user would write it; never NULL */
    double minimum, maximum; /* inclusive; for integers and reals */
    const char *choices;     /* "row|column|pixel", for choices */
    const char *unit;        /* "pixels", "us", ...; "" for a pure number */
    const char *summary;     /* one line */
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

/* How the records of the iterations make up the output array. */
enum hdss_layout {
    HDSS_LAYOUT_ROWS,    /* record after record is the array in C order (last index fastest) */
    HDSS_LAYOUT_COLUMNS, /* record after record is the array in Fortran order (first index fastest) */
    HDSS_LAYOUT_TILES,   /* a record is a tile_height x tile_width tile in C order, tiles row by row; two-dimensional
                            only; tiles at the right and bottom edge are cut off by the array */
};

/* What describe() says about the loop. */
struct hdss_loop {
    uint64_t iterations;
    enum hdss_type type;
    uint64_t record_length; /* elements per iteration, at least 1 */
    unsigned dims;          /* of the output array, 1 .. HDSS_DIMS_MAX */
    uint64_t shape[HDSS_DIMS_MAX];
    enum hdss_layout layout;
    uint64_t tile_height, tile_width;
    bool waits;          /* an iteration sleeps rather than computes: time it by the wall clock */
    uint64_t full_value; /* for pictures of integers: the value drawn black (the inside); 0 if there is none. Where there
                            is one, no iteration yields 0, and 0 is drawn as "not computed" */
};

#define HDSS_ERROR_MAX 400

struct hdss_kernel {
    uint32_t abi;                    /* HDSS_KERNEL_ABI */
    const char *name;                /* as on the command line */
    const char *version;             /* raised when the same parameters give other results */
    const char *summary;             /* one line */
    const struct hdss_param *params; /* ends with a NULL name */

    /* Fills `loop` (zeroed before) from the values, one per parameter in table order, each already of its kind and
     * within its range. Returns 0, or -1 with one line in `error` (what, what is accepted; the caller puts the kernel's
     * name before it) for values that do not go together. Must be deterministic: every rank calls it. */
    int (*describe)(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX]);

    /* Looks at what open() will need, above all at files, before anything starts: called once, by the rank that leads the
     * run, after describe(). Returns 0, or -1 with one line in `error`; the run is then refused as wrong use. NULL where
     * there is nothing to look at. */
    int (*check)(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX]);

    /* Prepares to run: allocates, generates or reads inputs. `*instance` is what run and close are given.
     * Returns 0, or -1 with one line in `error` and nothing left allocated. */
    int (*open)(const union hdss_value *values, const struct hdss_loop *loop, void **instance,
                char error[HDSS_ERROR_MAX]);

    /* Runs iterations first .. first + count - 1 and writes their records one after another at `records`
     * (count * record_length elements, aligned to 64 bytes, contents undefined). Returns 0, or -1 with one line in
     * `error`. */
    int (*run)(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX]);

    /* Releases everything. May be NULL where open() allocates nothing. */
    void (*close)(void *instance);
};

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
