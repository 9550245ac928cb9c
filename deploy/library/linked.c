/* SPDX-License-Identifier: MIT */
/* Linked loops: while a rank waits in one loop, it also serves the loops that are linked with this loop. Without links,
 * two ranks in different loops could wait for each other forever. The program says which loops are linked, so there is
 * no global list. */
#include "deploy/library/loop.h"

#include <stdlib.h>

/* Serves the loop once, and returns whether there was something to do. Does nothing and returns false if another thread
 * is in the loop, because that thread serves the loop. */
static bool linked_serve(struct hdss_shared_loop *loop)
{
    if (pthread_mutex_trylock(&loop->mutex) != 0)
        return false;
    bool any = loop->open && !loop->finished && loop->serves && !loop->helped && loop->mode->serve(loop);
    pthread_mutex_unlock(&loop->mutex);
    return any;
}

void linked_wait(struct hdss_shared_loop *loop)
{
    bool any = false;
    for (unsigned i = 0; i < loop->linked_count; i++)
        any = linked_serve(loop->linked[i]) || any;
    if (any)
        backoff_reset(&loop->backoff);
    else
        backoff_wait(&loop->backoff);
}

static bool knows(const struct hdss_shared_loop *loop, const struct hdss_shared_loop *other)
{
    for (unsigned i = 0; i < loop->linked_count; i++)
        if (loop->linked[i] == other)
            return true;
    return false;
}

static int linked_add(struct hdss_shared_loop *loop, struct hdss_shared_loop *other)
{
    pthread_mutex_lock(&loop->mutex);
    struct hdss_shared_loop **linked = loop->linked;
    bool known = knows(loop, other);
    if (!known)
        linked = realloc(loop->linked, (loop->linked_count + 1) * sizeof *linked);
    if (linked != NULL)
        loop->linked = linked;
    if (!known && linked != NULL)
        linked[loop->linked_count++] = other;
    pthread_mutex_unlock(&loop->mutex);
    return known || linked != NULL ? 0 : error_set(&loop->error, "out of memory for a linked loop");
}

static void linked_forget(struct hdss_shared_loop *loop, const struct hdss_shared_loop *other)
{
    pthread_mutex_lock(&loop->mutex);
    for (unsigned i = 0; i < loop->linked_count; i++)
        if (loop->linked[i] == other)
            loop->linked[i--] = loop->linked[--loop->linked_count];
    pthread_mutex_unlock(&loop->mutex);
}

void linked_fini(struct hdss_shared_loop *loop)
{
    for (unsigned i = 0; i < loop->linked_count; i++)
        linked_forget(loop->linked[i], loop);
    free(loop->linked);
    loop->linked = NULL;
    loop->linked_count = 0;
}

int hdss_loop_link(struct hdss_shared_loop *loop, struct hdss_shared_loop *other)
{
    if (!loop_is_valid(loop) || !loop_is_valid(other) || loop == other)
        return HDSS_ERROR_USE;
    if (linked_add(loop, other) == 0 && linked_add(other, loop) == 0)
        return HDSS_OK;
    linked_forget(loop, other);
    return HDSS_ERROR_MEMORY;
}
