/* SPDX-License-Identifier: MIT */
/* A carrier takes messages from one rank of a launch to another. It is a table of functions, so that a program can use
 * an MPI library without being linked with it. carrier_mpi.c fills the table for one MPI library and is compiled into a
 * module for each; a rank loads the module of the library whose launcher has started it (load.c). A program that is
 * linked with MPI has the table linked in (linked.c). Ranks that share memory have one of their own
 * (common/mpi/local_carrier.c).
 *
 * A communicator, a request and a window are each one word, which only the table understands; 0 stands for none.
 * Messages are bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Goes up with every change of this file: a module of another version is refused. */
#define CARRIER_VERSION 1
/* The name of the table in a module. */
#define CARRIER_SYMBOL "hdss_carrier"

typedef uintptr_t carrier_comm, carrier_request, carrier_window;

/* In the place of a sender: any rank. */
#define CARRIER_ANY (-1)

/* The use of threads that the library has to support: the levels of MPI. */
enum carrier_level { CARRIER_SINGLE, CARRIER_FUNNELED, CARRIER_SERIALIZED, CARRIER_MULTIPLE };

/* What an operation returns. Errors end the rank unless heed_losses() was called. */
enum carrier_result {
    CARRIER_DONE,
    CARRIER_LOST,    /* the other rank has failed */
    CARRIER_PENDING, /* some rank has failed, and a receive from any rank goes on */
    CARRIER_ERROR,
};

/* A message that was received. */
struct carrier_status {
    int source;
    size_t bytes;
};

struct carrier {
    unsigned version; /* stays the first member */
    const char *name; /* "Open MPI 4.1.4" */

    /* --- the process --- */
    /* Begins, and returns the communicator of all ranks. */
    carrier_comm (*begin)(int *argc, char ***argv, enum carrier_level level);
    enum carrier_level (*level)(void); /* that was granted */
    void (*finish)(void);
    void (*abort)(carrier_comm comm, int status); /* ends all ranks; may return */

    /* --- communicators --- */
    int (*rank)(carrier_comm comm);
    int (*ranks)(carrier_comm comm);
    carrier_comm (*duplicate)(carrier_comm comm);
    carrier_comm (*split)(carrier_comm comm, int colour, int key);
    void (*release_comm)(carrier_comm *comm); /* and sets it to 0 */

    /* --- messages --- */
    void (*send)(carrier_comm comm, int to, int tag, const void *data, size_t bytes);
    carrier_request (*isend)(carrier_comm comm, int to, int tag, const void *data, size_t bytes);
    carrier_request (*irecv)(carrier_comm comm, int from, int tag, void *room, size_t bytes);
    /* A receive that can be started again and again. */
    carrier_request (*recv_init)(carrier_comm comm, int from, int tag, void *room, size_t bytes);
    void (*start)(carrier_request request);
    /* Tells whether the operation of the request is over; for the request 0 it is. After that the request is 0, unless
     * recv_init() has made it. `status` (may be NULL) is set for a receive that is over. */
    enum carrier_result (*test)(carrier_request *request, bool *is_over, struct carrier_status *status);
    /* True if the operation is over. The request stays as it is. */
    bool (*is_over)(carrier_request request);
    void (*wait)(carrier_request *request);
    void (*cancel)(carrier_request request);       /* a receive; wait() or release() comes after it */
    void (*release)(carrier_request *request);     /* gives it back, over or not, and sets it to 0 */
    void (*progress)(carrier_comm comm, int self); /* has the library do what is due; `self`: the own rank */

    /* --- all ranks of a communicator together --- */
    void (*barrier)(carrier_comm comm);
    void (*bcast)(carrier_comm comm, int root, void *data, size_t bytes);
    void (*gather)(carrier_comm comm, int root, const void *own, size_t bytes, void *all); /* all[ranks]: the root's */
    void (*allgather)(carrier_comm comm, const void *own, size_t bytes, void *all);
    uint64_t (*max)(carrier_comm comm, uint64_t own);

    /* --- memory of rank 0, a window of 64-bit words --- */
    /* Collective; `words` zeros at rank 0. */
    carrier_window (*open_window)(carrier_comm comm, size_t words);
    void (*close_window)(carrier_window *window); /* collective; and sets it to 0 */
    /* Adds to a word and returns the value before. */
    uint64_t (*fetch_add)(carrier_window window, size_t word, uint64_t amount);
    /* Write and read words, each of them whole. */
    void (*put_words)(carrier_window window, size_t first, const void *words, size_t count);
    void (*get_words)(carrier_window window, size_t first, void *words, size_t count);
    /* Collective: memory of the first rank, in the same place of a page for all ranks, which share it. */
    void *(*share_memory)(carrier_comm comm, size_t bytes, carrier_window *memory);
    void (*unshare_memory)(carrier_window *memory); /* collective; and sets it to 0 */

    /* --- ranks that have failed; both NULL where the library tells of none --- */
    /* Has operations return errors from now on. */
    void (*heed_losses)(carrier_comm comm);
    /* Writes failed ranks, from the known-th on in the order in which the library learned of them, at most `room`, and
     * acknowledges them: receives from any rank go on. Returns their number. */
    int (*next_losses)(carrier_comm comm, int known, int *ranks, int room);
};

/* The carrier of this process. NULL until the rank has entered its launch. */
extern const struct carrier *carrier;

/* The table that carrier_mpi.c makes. */
extern const struct carrier hdss_carrier;

/* Ends a receive that recv_init() has made, or whose message has not come. Nothing is written into its room any more.
 */
static inline void carrier_end_receive(carrier_request *request)
{
    carrier->cancel(*request);
    carrier->wait(request);
    if (*request != 0)
        carrier->release(request);
}
