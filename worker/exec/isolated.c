/* SPDX-License-Identifier: MIT */
/* Running suspected iterations in a child process: see isolated.h. */
#include "worker/exec/isolated.h"

#include "common/os/children.h"
#include "common/os/signals.h"
#include "common/util/returned.h"
#include "proto/block.h"
#include "worker/exec/helper.h"
#include "worker/exec/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_MS 2

struct isolated_share {
    _Atomic uint64_t done;
    uint64_t count;
    _Atomic bool failed;
    char error[HDSS_ERROR_MAX];
    _Alignas(64) unsigned char records[];
};

/* Gives crash signals their default action again: the MPI library may catch them in the worker, but they must kill the
 * child. Ignores drain signals, because the worker waits for its child during a drain. */
static void set_signals(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        signal(drain_signals[i], SIG_IGN);
}

static int run_into_file(const struct isolated_job *job, int file, uint64_t i, char error[HDSS_ERROR_MAX])
{
    struct output *output = job->output;
    size_t bytes;
    output_clear(output, i);
    output_begin(output, i + 1);
    int result = returned(job->kernel->run_variable(job->instance, i, 1, &output->calls, error), "run_variable", error);
    if (output->problem[0] != '\0')
        snprintf(error, HDSS_ERROR_MAX, "%s", output->problem);
    if (result < 0 || output->problem[0] != '\0' || output_end(output) < 0)
        return -1;
    output_fit(output, &bytes);
    unsigned char *block = ftruncate(file, (off_t)bytes) == 0
                               ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                               : MAP_FAILED;
    if (block == MAP_FAILED) {
        snprintf(error, HDSS_ERROR_MAX, "no memory for a block of %zu bytes", bytes);
        return -1;
    }
    output_take(output, 1, job->loop, block);
    return 0;
}

static int run_in_child(struct isolated_share *share, const struct isolated_job *job, int file, uint64_t i)
{
    unsigned char *record = share->records + i * job->record_bytes;
    if (job->output != NULL)
        return run_into_file(job, file, job->first + i, share->error);
    return returned(job->kernel->run(job->instance, job->first + i, 1, record, share->error), "run", share->error);
}

static _Noreturn void be_child(const struct isolated *isolated, const struct isolated_job *job, pid_t parent)
{
    struct isolated_share *share = isolated->share;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    set_signals();
    for (uint64_t i = 0; i < job->count; i++) {
        if (run_in_child(share, job, isolated->block, i) < 0) {
            atomic_store(&share->failed, true);
            break;
        }
        atomic_store(&share->done, i + 1);
    }
    _exit(0); /* skips exit handlers, which would close MPI and the worker's files */
}

static int begin_child(struct isolated *isolated, const struct isolated_job *job)
{
    int ends[2];
    assert(isolated->child == 0 && "one child runs at a time");
    assert(job->count > 0 && (job->count <= job->capacity || job->output != NULL) && "the records of a job fit");
    if (isolated->share == NULL) {
        isolated->share_bytes = sizeof *isolated->share + job->capacity * job->record_bytes;
        void *memory = mmap(NULL, isolated->share_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        isolated->share = memory == MAP_FAILED ? NULL : memory;
        if (isolated->share == NULL)
            return -1;
    }
    if (job->output != NULL) {
        if (isolated->block == 0)
            isolated->block = memfd_create("hdss-block", MFD_CLOEXEC);
        if (isolated->block < 0)
            isolated->block = 0;
        if (isolated->block == 0 || ftruncate(isolated->block, 0) < 0)
            return -1;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    struct isolated_share *share = isolated->share;
    atomic_store(&share->done, 0);
    atomic_store(&share->failed, false);
    share->count = job->count;
    share->error[0] = '\0';
    const pid_t parent = getpid();
    fflush(NULL); /* otherwise buffered output could be written twice: by this process and by the child */
    pid_t child = fork();
    if (child == 0)
        be_child(isolated, job, parent);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return -1;
    }
    children_note(child);
    isolated->child = child;
    isolated->end = ends[0];
    isolated->taken = 0;
    return 0;
}

static bool child_has_ended(struct isolated *isolated, int *status)
{
    if (isolated->child == 0 || waitpid(isolated->child, status, WNOHANG) == 0)
        return false;
    children_forget(isolated->child);
    close(isolated->end);
    isolated->child = 0;
    return true;
}

static int put_child_block(struct output *output, uint64_t iteration, const unsigned char *bytes, size_t size)
{
    struct block block;
    int result = block_read(&block, bytes, size, output->streams) ? 0 : -1;
    output_begin(output, iteration + 1);
    for (unsigned s = 0; result == 0 && s < output->streams; s++)
        result = output->calls.put(&output->calls, iteration, s, block.stream[s], block.bytes[s]);
    if (result == 0 && block_failed(&block, 0))
        result = output->calls.failed(&output->calls, iteration);
    return result;
}

static uint64_t take_child_block(struct isolated *isolated, const struct isolated_job *job)
{
    struct stat status;
    if (atomic_load(&isolated->share->done) == isolated->taken || fstat(isolated->block, &status) < 0)
        return 0;
    unsigned char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, isolated->block, 0);
    if (bytes == MAP_FAILED)
        return 0;
    int result = put_child_block(job->output, job->first, bytes, (size_t)status.st_size);
    munmap(bytes, (size_t)status.st_size);
    if (result < 0) {
        output_revert(job->output);
        return 0;
    }
    isolated->taken++;
    return 1;
}

static uint64_t take_child_records(struct isolated *isolated, const struct isolated_job *job, void *records)
{
    if (job->output != NULL)
        return take_child_block(isolated, job);
    uint64_t done = atomic_load(&isolated->share->done), count = done - isolated->taken;
    assert(done >= isolated->taken && done <= isolated->share->count && "a child does its iterations, in their order");
    memcpy(records, isolated->share->records + isolated->taken * job->record_bytes, count * job->record_bytes);
    isolated->taken = done;
    return count;
}

uint64_t isolated_turn(struct isolated *isolated, const struct isolated_job *job, void *records, bool *failed,
                       bool *final, char error[HDSS_ERROR_MAX])
{
    int status = 0;
    if (isolated->child == 0 && begin_child(isolated, job) < 0) {
        *failed = true;
        snprintf(error, HDSS_ERROR_MAX, "no child process for an iteration that took workers down: %s",
                 strerror(errno));
        return 0;
    }
    struct pollfd end = {.fd = isolated->end};
    poll(&end, 1, TURN_MS);
    /* First asks whether the child has ended, then takes its records. In the other order, records that the child writes
     * just before its end would be missed. */
    bool ended = child_has_ended(isolated, &status);
    uint64_t count = take_child_records(isolated, job, records);
    if (!ended || isolated->taken == isolated->share->count)
        return count;
    *failed = true;
    bool done = atomic_load(&isolated->share->done) > isolated->taken;
    *final = !done && !atomic_load(&isolated->share->failed);
    if (done)
        snprintf(error, HDSS_ERROR_MAX, "no memory for what an iteration in a child process yields");
    else if (*final)
        helper_tell_end(status, error);
    else
        memcpy(error, isolated->share->error, HDSS_ERROR_MAX);
    return count;
}

uint64_t isolated_begun(const struct isolated *isolated)
{
    return isolated->child != 0 ? isolated->share->count - isolated->taken : 0;
}

void isolated_fini(struct isolated *isolated)
{
    if (isolated->child != 0) {
        kill(isolated->child, SIGKILL);
        waitpid(isolated->child, NULL, 0);
        children_forget(isolated->child);
        close(isolated->end);
    }
    if (isolated->block != 0)
        close(isolated->block);
    if (isolated->share != NULL)
        munmap(isolated->share, isolated->share_bytes);
    *isolated = (struct isolated){0};
}
