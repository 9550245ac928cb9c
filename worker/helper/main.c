/* SPDX-License-Identifier: MIT */
/* hdss-helper runs the kernel of a job for the worker that started it. Its command line is that of the job, and it does
 * not use MPI. Two other command lines are possible. If the first word is HELPER_IS_SPARE, hdss-helper first waits for
 * a job. If the command line is HELPER_DESCRIBES, hdss-helper answers questions about a kernel instead. Only programs
 * of HDSS start hdss-helper. */
#include "common/job/job_setup.h"
#include "common/os/files.h"
#include "common/os/signals.h"
#include "common/util/error.h"
#include "worker/exec/openmp_pool.h"
#include "worker/exec/serve.h"
#include "worker/helper/config.h"
#include "worker/helper/questions.h"
#include "worker/helper/spare.h"
#include "worker/helper/start.h"
#include "worker/kernels/kernels.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void on_drain(int signal)
{
    (void)signal;
}

static void replace_drain_action(void (*from)(int), void (*to)(int))
{
    const struct sigaction action = {.sa_handler = to, .sa_flags = SA_RESTART};
    struct sigaction now;
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        if (sigaction(drain_signals[i], NULL, &now) == 0 && now.sa_handler == from)
            sigaction(drain_signals[i], &action, NULL);
}

/* If the kernel forks, drain signals get their default action in the new process, so they end it. Drain signals are
 * blocked during fork(). Otherwise the new process could receive one before its action has changed; the handler would
 * then discard the signal. */
static _Thread_local sigset_t mask_before_copy;

static void hold_signals(void)
{
    sigset_t held;
    drain_signals_set(&held);
    pthread_sigmask(SIG_BLOCK, &held, &mask_before_copy);
}

static void let_signals_go_on(void)
{
    pthread_sigmask(SIG_SETMASK, &mask_before_copy, NULL);
}

static void release_signals(void)
{
    replace_drain_action(on_drain, SIG_DFL);
    let_signals_go_on();
}

/* Drain signals are sent to all processes of a job. The worker handles its drain signal and ends its helper. The
 * helper's own handler does nothing. The helper does not ignore the signals, because programs that the kernel starts
 * would inherit that. */
static void catch_signals(void)
{
    sigset_t drains;
    drain_signals_set(&drains);
    replace_drain_action(SIG_DFL, on_drain);
    pthread_sigmask(SIG_UNBLOCK, &drains, NULL);
    pthread_atfork(hold_signals, let_signals_go_on, release_signals);
}

static struct channel *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, CHANNEL_FILE, 0);
    if (memory != MAP_FAILED)
        madvise(memory, bytes, MADV_DONTFORK); /* see map_blocks() in worker/exec/serve.c */
    return memory == MAP_FAILED ? NULL : memory;
}

static struct channel *map_channel(void)
{
    struct stat file;
    if (fstat(CHANNEL_FILE, &file) < 0 || !S_ISREG(file.st_mode) || file.st_size < (off_t)sizeof(struct channel))
        return NULL;
    struct channel *head = map_memory(sizeof *head);
    if (head == NULL)
        return NULL;
    const size_t bytes = head->version == CHANNEL_VERSION ? head->bytes : 0;
    munmap(head, sizeof *head);
    return bytes >= sizeof *head && (off_t)bytes <= file.st_size ? map_memory(bytes) : NULL;
}

static bool is_called(int argc, char **argv, int words, const char *word)
{
    struct stat file;
    return argc == words + 1 && strcmp(argv[1], word) == 0 && fstat(CHANNEL_FILE, &file) == 0 && S_ISSOCK(file.st_mode);
}

static void leave_worker(void)
{
    close(CHANNEL_BELL);
    file_close_from(CHANNEL_BELL + 1);
    catch_signals();
}

int main(int argc, char **argv)
{
    static struct job_setup setup;
    struct exec_config config = {0};
    struct error error;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (is_called(argc, argv, 1, HELPER_DESCRIBES)) {
        leave_worker();
        return answer_questions(CHANNEL_FILE);
    }
    const bool is_spare = is_called(argc, argv, 2, HELPER_IS_SPARE);
    if (is_spare) {
        leave_worker();
        setpgid(0, 0);
        spare_wait(CHANNEL_FILE, argv[2], &argc, &argv);
    }
    struct channel *channel = map_channel();
    if (channel == NULL) {
        fprintf(stderr, "hdss-helper: is begun by workers only\n");
        return EXIT_STATUS_USAGE;
    }
    if (getppid() != channel->worker_pid) /* the worker ended before prctl() */
        return EXIT_STATUS_FAILED;
    file_close_from(CHANNEL_BELL + 1);
    if (!is_spare)
        catch_signals();
    bool is_ready = job_setup_make(&setup, &kernel_loader, argc - 1, argv + 1, &error) == 0;
    const struct exec_team team = {
        .technique = &setup.job.spec.thread_technique, .cores = openmp_pool_cores(), .run = openmp_pool_run};
    if (is_ready)
        executor_config_of_job(&config, &setup);
    config.team = &team;
    serve(channel, CHANNEL_FILE, CHANNEL_BELL, &config, is_ready ? NULL : error.text);
    return EXIT_STATUS_DONE;
}
