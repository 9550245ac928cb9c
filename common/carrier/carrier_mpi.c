/* SPDX-License-Identifier: MIT */
/* The carrier for MPI, compiled for each MPI library. Only this file and libhdss call MPI. */
#include "common/carrier/carrier.h"
#include "common/carrier/openmpi_help.h"
#include "common/carrier/words.h"

#include <mpi.h>
#ifdef HDSS_ULFM
#include <assert.h>
#include <mpi-ext.h>
#endif

static const int levels[] = {[CARRIER_SINGLE] = MPI_THREAD_SINGLE,
                             [CARRIER_FUNNELED] = MPI_THREAD_FUNNELED,
                             [CARRIER_SERIALIZED] = MPI_THREAD_SERIALIZED,
                             [CARRIER_MULTIPLE] = MPI_THREAD_MULTIPLE};

static carrier_comm begin(int *argc, char ***argv, enum carrier_level level)
{
    int granted;
    MPI_Init_thread(argc, argv, levels[level], &granted);
    openmpi_help_print_here();
    return carrier_word_of_comm(MPI_COMM_WORLD);
}

static enum carrier_level level(void)
{
    int granted;
    enum carrier_level result = CARRIER_MULTIPLE;
    MPI_Query_thread(&granted);
    while (result > CARRIER_SINGLE && levels[result] > granted)
        result--;
    return result;
}

static void finish(void)
{
    MPI_Finalize();
}

static void abort_all(carrier_comm comm, int status)
{
    MPI_Abort(carrier_comm_of(comm), status);
}

static int rank_in(carrier_comm comm)
{
    int rank;
    MPI_Comm_rank(carrier_comm_of(comm), &rank);
    return rank;
}

static int ranks_of(carrier_comm comm)
{
    int ranks;
    MPI_Comm_size(carrier_comm_of(comm), &ranks);
    return ranks;
}

static carrier_comm duplicate(carrier_comm comm)
{
    MPI_Comm own;
    MPI_Comm_dup(carrier_comm_of(comm), &own);
    return carrier_word_of_comm(own);
}

static carrier_comm split(carrier_comm comm, int colour, int key)
{
    MPI_Comm part;
    MPI_Comm_split(carrier_comm_of(comm), colour, key, &part);
    return carrier_word_of_comm(part);
}

static void release_comm(carrier_comm *comm)
{
    MPI_Comm own = carrier_comm_of(*comm);
    MPI_Comm_free(&own);
    *comm = 0;
}

static int sender_of(int from)
{
    return from == CARRIER_ANY ? MPI_ANY_SOURCE : from;
}

static void send_bytes(carrier_comm comm, int to, int tag, const void *data, size_t bytes)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, to, tag, carrier_comm_of(comm));
}

static carrier_request begin_send(carrier_comm comm, int to, int tag, const void *data, size_t bytes)
{
    MPI_Request request;
    MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, carrier_comm_of(comm), &request);
    return carrier_word_of_request(request);
}

static carrier_request begin_receive(carrier_comm comm, int from, int tag, void *room, size_t bytes)
{
    MPI_Request request;
    MPI_Irecv(room, (int)bytes, MPI_BYTE, sender_of(from), tag, carrier_comm_of(comm), &request);
    return carrier_word_of_request(request);
}

static carrier_request make_receive(carrier_comm comm, int from, int tag, void *room, size_t bytes)
{
    MPI_Request request;
    MPI_Recv_init(room, (int)bytes, MPI_BYTE, sender_of(from), tag, carrier_comm_of(comm), &request);
    return carrier_word_of_request(request);
}

static void start(carrier_request request)
{
    MPI_Request own = carrier_request_of(request);
    MPI_Start(&own);
}

static enum carrier_result result_of(int result)
{
    int class;
    MPI_Error_class(result, &class);
#ifdef HDSS_ULFM
    if (class == MPIX_ERR_PROC_FAILED)
        return CARRIER_LOST;
    if (class == MPIX_ERR_PROC_FAILED_PENDING)
        return CARRIER_PENDING;
#endif
    return class == MPI_SUCCESS ? CARRIER_DONE : CARRIER_ERROR;
}

static enum carrier_result test(carrier_request *request, bool *is_over, struct carrier_status *status)
{
    MPI_Request own = carrier_request_of(*request);
    MPI_Status told;
    int flag = 1, bytes; /* SimGrid does not set the flag for a null request */
    const int result = MPI_Test(&own, &flag, status != NULL ? &told : MPI_STATUS_IGNORE);
    *request = carrier_word_of_request(own);
    *is_over = flag;
    if (flag && status != NULL) {
        MPI_Get_count(&told, MPI_BYTE, &bytes);
        *status = (struct carrier_status){.source = told.MPI_SOURCE, .bytes = (size_t)bytes};
    }
    return result == MPI_SUCCESS ? CARRIER_DONE : result_of(result);
}

static bool is_over(carrier_request request)
{
    int flag;
    MPI_Request_get_status(carrier_request_of(request), &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void wait_for(carrier_request *request)
{
    MPI_Request own = carrier_request_of(*request);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    *request = carrier_word_of_request(own);
}

static void cancel(carrier_request request)
{
    MPI_Request own = carrier_request_of(request);
    MPI_Cancel(&own);
}

static void release(carrier_request *request)
{
    MPI_Request own = carrier_request_of(*request);
    MPI_Request_free(&own);
    *request = 0;
}

/* Lets MPI make progress by probing for a message from this rank to itself. Such a message is never sent. If it
 * existed, the probe would find it and return before MPI has made progress. */
static void progress(carrier_comm comm, int self)
{
    int any;
    MPI_Iprobe(self, MPI_ANY_TAG, carrier_comm_of(comm), &any, MPI_STATUS_IGNORE);
}

static void barrier(carrier_comm comm)
{
    MPI_Barrier(carrier_comm_of(comm));
}

static void bcast(carrier_comm comm, int root, void *data, size_t bytes)
{
    MPI_Bcast(data, (int)bytes, MPI_BYTE, root, carrier_comm_of(comm));
}

static void gather(carrier_comm comm, int root, const void *own, size_t bytes, void *all)
{
    MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, root, carrier_comm_of(comm));
}

static void allgather(carrier_comm comm, const void *own, size_t bytes, void *all)
{
    MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, carrier_comm_of(comm));
}

static uint64_t greatest(carrier_comm comm, uint64_t own)
{
    uint64_t all;
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_MAX, carrier_comm_of(comm));
    return all;
}

static MPI_Win window_of(carrier_window word)
{
    return (MPI_Win)word;
}

static carrier_window open_window(carrier_comm comm, size_t words)
{
    MPI_Comm own = carrier_comm_of(comm);
    MPI_Info info;
    MPI_Win window;
    uint64_t *memory;
    if (rank_in(comm) != 0)
        words = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "same_disp_unit", "true");
    MPI_Win_allocate((MPI_Aint)(words * sizeof(uint64_t)), sizeof(uint64_t), info, own, &memory, &window);
    MPI_Info_free(&info);
    for (size_t i = 0; i < words; i++)
        memory[i] = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Win_sync(window);
    MPI_Barrier(own);
    return (carrier_window)window;
}

static void close_window(carrier_window *window)
{
    MPI_Win own = window_of(*window);
    MPI_Win_unlock_all(own);
    MPI_Win_free(&own);
    *window = 0;
}

static uint64_t fetch_add(carrier_window window, size_t word, uint64_t amount)
{
    uint64_t before;
    MPI_Fetch_and_op(&amount, &before, MPI_UINT64_T, 0, (MPI_Aint)word, MPI_SUM, window_of(window));
    MPI_Win_flush(0, window_of(window));
    return before;
}

static void put_words(carrier_window window, size_t first, const void *words, size_t count)
{
    MPI_Accumulate(words, (int)count, MPI_UINT64_T, 0, (MPI_Aint)first, (int)count, MPI_UINT64_T, MPI_REPLACE,
                   window_of(window));
    MPI_Win_flush(0, window_of(window));
}

static void get_words(carrier_window window, size_t first, void *words, size_t count)
{
    MPI_Get_accumulate(NULL, 0, MPI_UINT64_T, words, (int)count, MPI_UINT64_T, 0, (MPI_Aint)first, (int)count,
                       MPI_UINT64_T, MPI_NO_OP, window_of(window));
    MPI_Win_flush(0, window_of(window));
}

static void *share_memory(carrier_comm comm, size_t bytes, carrier_window *memory)
{
    MPI_Win window;
    MPI_Aint size;
    int unit;
    void *address;
    MPI_Win_allocate_shared(rank_in(comm) == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, carrier_comm_of(comm), &address,
                            &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &address);
    *memory = (carrier_window)window;
    return address;
}

static void unshare_memory(carrier_window *memory)
{
    MPI_Win own = window_of(*memory);
    MPI_Win_free(&own);
    *memory = 0;
}

#ifdef HDSS_ULFM

static void heed_losses(carrier_comm comm)
{
    MPI_Comm_set_errhandler(carrier_comm_of(comm), MPI_ERRORS_RETURN);
}

/* MPI appends later failures to its group of failed ranks. Earlier failures keep their positions. */
static int next_losses(carrier_comm comm, int known, int *ranks, int room)
{
    MPI_Comm own = carrier_comm_of(comm);
    MPI_Group failed, all;
    int count, acknowledged, told = 0;
    if (MPIX_Comm_get_failed(own, &failed) != MPI_SUCCESS)
        return 0;
    MPI_Group_size(failed, &count);
    MPI_Comm_group(own, &all);
    for (int place = known; place < count && told < room; place++) {
        MPI_Group_translate_ranks(failed, 1, &place, all, &ranks[told]);
        assert(ranks[told] >= 0);
        told++;
    }
    MPI_Group_free(&all);
    if (told > 0)
        MPIX_Comm_ack_failed(own, known + told, &acknowledged);
    if (failed != MPI_GROUP_EMPTY)
        MPI_Group_free(&failed);
    return told;
}

#endif

#define TEXT_OF(value) #value
#define TEXT(value)    TEXT_OF(value)

#if defined(OMPI_MAJOR_VERSION)
#define NAME "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
#define NAME "MPICH " MPICH_VERSION
#else
#define NAME "another MPI library"
#endif

__attribute__((visibility("default"))) const struct carrier hdss_carrier = {
    .version = CARRIER_VERSION,
    .name = NAME,
    .begin = begin,
    .level = level,
    .finish = finish,
    .abort = abort_all,
    .rank = rank_in,
    .ranks = ranks_of,
    .duplicate = duplicate,
    .split = split,
    .release_comm = release_comm,
    .send = send_bytes,
    .isend = begin_send,
    .irecv = begin_receive,
    .recv_init = make_receive,
    .start = start,
    .test = test,
    .is_over = is_over,
    .wait = wait_for,
    .cancel = cancel,
    .release = release,
    .progress = progress,
    .barrier = barrier,
    .bcast = bcast,
    .gather = gather,
    .allgather = allgather,
    .max = greatest,
    .open_window = open_window,
    .close_window = close_window,
    .fetch_add = fetch_add,
    .put_words = put_words,
    .get_words = get_words,
    .share_memory = share_memory,
    .unshare_memory = unshare_memory,
#ifdef HDSS_ULFM
    .heed_losses = heed_losses,
    .next_losses = next_losses,
#endif
};
