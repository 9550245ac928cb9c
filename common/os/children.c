/* SPDX-License-Identifier: MIT */
/* Child processes: see children.h. */
#include "common/os/children.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

/* More than enough for 64 jobs: each has at most a guard, and a task or a helper. */
#define CHILDREN_MAX 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t children[CHILDREN_MAX];
static size_t count;

static size_t find(pid_t child)
{
    size_t i = 0;
    while (i < count && children[i] != child)
        i++;
    return i;
}

void children_note(pid_t child)
{
    pthread_mutex_lock(&lock);
    assert(count < CHILDREN_MAX && "children that were waited for are forgotten");
    children[count++] = child;
    pthread_mutex_unlock(&lock);
}

void children_forget(pid_t child)
{
    pthread_mutex_lock(&lock);
    const size_t place = find(child);
    if (place < count)
        children[place] = children[--count];
    pthread_mutex_unlock(&lock);
}

bool children_have(pid_t child)
{
    pthread_mutex_lock(&lock);
    const bool have = find(child) < count;
    pthread_mutex_unlock(&lock);
    return have;
}
