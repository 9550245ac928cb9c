/* SPDX-License-Identifier: MIT */
/* A carrier transports messages between the ranks of a launch. It is a table of functions, so a program can use an MPI
 * library without being linked with it. carrier_mpi.c implements the table for MPI, and is compiled into one module per
 * library. A rank loads the module for the launcher that started it (load.c). Programs that are linked with MPI contain
 * the table (linked.c). Ranks that share memory have a carrier of their own (common/mpi/local_carrier.c).
 *
 * Communicators, requests and windows are opaque integers; 0 means none. A message is an array of bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Increase this number whenever this file changes: a module with another number is rejected. */
#define CARRIER_VERSION 1
#define CARRIER_SYMBOL  "hdss_carrier"

typedef uintptr_t carrier_comm, carrier_request, carrier_window;

#define CARRIER_ANY (-1)

enum carrier_level { CARRIER_SINGLE, CARRIER_FUNNELED, CARRIER_SERIALIZED, CARRIER_MULTIPLE };

/* Results of operations. Before heed_losses() is called, an MPI error ends the rank, and every result is CARRIER_DONE.
 */
enum carrier_result {
    CARRIER_DONE,
    CARRIER_LOST,
    CARRIER_PENDING, /* a rank has failed; a receive from any sender is still active and can be continued */
    CARRIER_ERROR,
};

struct carrier_status {
    int source;
    size_t bytes;
};

struct carrier {
    unsigned version; /* must be the first member, so that any version of this table can be recognised */
    const char *name;

    carrier_comm (*begin)(int *argc, char ***argv, enum carrier_level level);
    enum carrier_level (*level)(void);
    void (*finish)(void);
    void (*abort)(carrier_comm comm, int status); /* ends all ranks of the launch; may return before this rank ends */

    int (*rank)(carrier_comm comm);
    int (*ranks)(carrier_comm comm);
    carrier_comm (*duplicate)(carrier_comm comm);
    carrier_comm (*split)(carrier_comm comm, int colour, int key);
    /* sets `*comm` to 0; every release and close function sets its argument to 0 */
    void (*release_comm)(carrier_comm *comm);

    void (*send)(carrier_comm comm, int to, int tag, const void *data, size_t bytes);
    carrier_request (*isend)(carrier_comm comm, int to, int tag, const void *data, size_t bytes);
    carrier_request (*irecv)(carrier_comm comm, int from, int tag, void *room, size_t bytes);
    carrier_request (*recv_init)(carrier_comm comm, int from, int tag, void *room, size_t bytes);
    void (*start)(carrier_request request);
    /* Tests whether a request is finished; a request of 0 always is. Sets a finished request to 0, unless it is from
     * recv_init(). If the request is a finished receive, fills `status`, which may be NULL. */
    enum carrier_result (*test)(carrier_request *request, bool *is_over, struct carrier_status *status);
    bool (*is_over)(carrier_request request);
    void (*wait)(carrier_request *request);
    /* Cancels a receive. Afterwards the caller must call wait() or release(). */
    void (*cancel)(carrier_request request);
    void (*release)(carrier_request *request);
    void (*progress)(carrier_comm comm, int self);

    void (*barrier)(carrier_comm comm);
    void (*bcast)(carrier_comm comm, int root, void *data, size_t bytes);
    /* `all` is used at the root only: it has room for `bytes` from each rank */
    void (*gather)(carrier_comm comm, int root, const void *own, size_t bytes, void *all);
    void (*allgather)(carrier_comm comm, const void *own, size_t bytes, void *all);
    uint64_t (*max)(carrier_comm comm, uint64_t own);

    /* Opening and closing are collective. The window is an array of 64-bit words in the memory of rank 0. All words are
     * 0 at first. */
    carrier_window (*open_window)(carrier_comm comm, size_t words);
    void (*close_window)(carrier_window *window);
    uint64_t (*fetch_add)(carrier_window window, size_t word, uint64_t amount);
    /* Both functions transfer each 64-bit word atomically, but not several words together. */
    void (*put_words)(carrier_window window, size_t first, const void *words, size_t count);
    void (*get_words)(carrier_window window, size_t first, void *words, size_t count);
    /* Sharing and unsharing are collective. The first rank allocates the memory. The memory is page-aligned in all
     * ranks. */
    void *(*share_memory)(carrier_comm comm, size_t bytes, carrier_window *memory);
    void (*unshare_memory)(carrier_window *memory);

    void (*heed_losses)(carrier_comm comm);
    /* Failed ranks are numbered in the order in which they are detected. Writes the failed ranks from number `known` on
     * to `ranks`, at most `room` of them, and returns how many it has written. Also acknowledges these failures, so
     * that receives from any sender continue. */
    int (*next_losses)(carrier_comm comm, int known, int *ranks, int room);
};

/* The carrier of this rank. It is NULL before the rank joins its launch. */
extern const struct carrier *carrier;

extern const struct carrier hdss_carrier;

/* Ends a persistent or pending receive. Afterwards MPI does not write to its buffer any more. */
static inline void carrier_end_receive(carrier_request *request)
{
    carrier->cancel(*request);
    carrier->wait(request);
    if (*request != 0)
        carrier->release(request);
}
