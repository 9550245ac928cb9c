/* SPDX-License-Identifier: MIT */
/* A technique in C, with one parameter: factoring. Each batch takes 1/parts of the remaining iterations, and has one
 * chunk for each worker. With parts=2 these are the chunks of fac2.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags hdss-technique) factoring.c -o factoring.so
 *     hdss chunks ./factoring.so:parts=3 --iterations 1000 --workers 4
 *     hdss run --technique ./factoring.so:parts=3 mandelbrot */
#include <hdss/technique.h>

enum { PARTS };

static const struct hdss_technique_param params[] = {
    {"parts", HDSS_TECHNIQUE_INTEGER, "2", NULL, 1, 1000, NULL, "a batch takes one part in so many of what remains"},
    {NULL, HDSS_TECHNIQUE_INTEGER, NULL, NULL, 0, 0, NULL, NULL},
};

struct factoring {
    uint64_t iterations, parts;
    uint32_t workers;
    uint32_t left;
    uint64_t chunk;
};

/* Returns the size of the chunks in a batch: ceil(R / (parts P)), computed without overflow. R = `remaining` is the
 * number of iterations that remain when the batch begins. */
static uint64_t chunk_of(const struct factoring *factoring, uint64_t remaining)
{
    const uint64_t chunks = factoring->parts * factoring->workers;
    return remaining / chunks + (remaining % chunks != 0);
}

static int init(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    struct factoring *factoring = state;
    (void)error;
    factoring->iterations = loop->iterations;
    factoring->parts = loop->values[PARTS].integer;
    factoring->workers = loop->workers;
    return 0;
}

static uint64_t next(void *state, const struct hdss_technique_request *request)
{
    struct factoring *factoring = state;
    if (factoring->left == 0) {
        factoring->left = factoring->workers;
        factoring->chunk = chunk_of(factoring, request->remaining);
    }
    factoring->left--;
    return factoring->chunk;
}

/* Returns the same as next(), but only from the number of the step, because workers without a supermaster have no other
 * information. Therefore it goes through all earlier batches. */
static uint64_t at(const void *state, uint64_t step)
{
    const struct factoring *factoring = state;
    uint64_t remaining = factoring->iterations;
    for (uint64_t batch = step / factoring->workers; batch > 0; batch--) {
        const uint64_t chunk = chunk_of(factoring, remaining);
        /* the loop ends in this earlier batch: there is no chunk at `step`, and the returned size does not matter */
        if (chunk > remaining / factoring->workers)
            return 1;
        remaining -= chunk * factoring->workers;
    }
    return chunk_of(factoring, remaining);
}

HDSS_TECHNIQUE(hdss_technique) = {
    .abi = HDSS_TECHNIQUE_ABI,
    .name = "factoring",
    .title = "factoring with a part to choose",
    .rule = "K = ceil(R/(parts P)), with R taken at the start of each batch of P chunks",
    .source = "Hummel, Schonberg and Flynn, Factoring: a method for scheduling parallel loops",
    .when = "iterations differ much in time, and fac2 leaves too much or too little for the end",
    .params = params,
    .state_bytes = sizeof(struct factoring),
    .init = init,
    .next = next,
    .at = at,
};
