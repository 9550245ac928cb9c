/* SPDX-License-Identifier: MIT */
/* A thread that serves other ranks while the program computes. It sleeps between two polls. It needs
 * MPI_THREAD_MULTIPLE. The mutex `serving` protects the data that this thread shares with the program's threads. */
#include "deploy/library/loop.h"

static void *help(void *context)
{
    struct hdss_shared_loop *loop = context;
    struct backoff backoff;
    backoff_init(&backoff, false);
    while (!loop->stop_helping) {
        pthread_mutex_lock(&loop->serving);
        bool any = loop->mode->serve(loop);
        pthread_mutex_unlock(&loop->serving);
        if (any)
            backoff_reset(&backoff);
        else
            backoff_wait(&backoff);
    }
    return NULL;
}

int progress_start(struct hdss_shared_loop *loop)
{
    loop->stop_helping = false;
    pthread_mutex_init(&loop->serving, NULL);
    loop->helped = pthread_create(&loop->progress_thread, NULL, help, loop) == 0;
    if (!loop->helped)
        pthread_mutex_destroy(&loop->serving);
    return loop->helped ? 0 : -1;
}

void progress_stop(struct hdss_shared_loop *loop)
{
    if (!loop->helped)
        return;
    loop->stop_helping = true;
    pthread_join(loop->progress_thread, NULL);
    pthread_mutex_destroy(&loop->serving);
    loop->helped = false;
}

void progress_lock(struct hdss_shared_loop *loop)
{
    if (loop->helped)
        pthread_mutex_lock(&loop->serving);
}

void progress_unlock(struct hdss_shared_loop *loop)
{
    if (loop->helped)
        pthread_mutex_unlock(&loop->serving);
}
