/* SPDX-License-Identifier: MIT */
/* Threads that query munge: see asking.h. The caller and the thread share the struct; the last one to release it frees
 * it. The thread stores the answer and then writes to the eventfd. The caller reads the eventfd and then the answer. */
#include "common/stream/asking.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ASKING_STACK_BYTES ((size_t)256 << 10)

struct asking {
    atomic_uint holders;
    int over;
    bool makes;
    char text[CREDENTIAL_MAX + 1];
    unsigned char key[STREAM_KEY_BYTES];
    int result;
    struct error error;
};

static atomic_uint askings;

static void leave_asking(struct asking *asking)
{
    if (atomic_fetch_sub(&asking->holders, 1) > 1)
        return;
    close(asking->over);
    explicit_bzero(asking, sizeof *asking);
    free(asking);
}

static void *run_asking(void *context)
{
    struct asking *asking = context;
    const uint64_t one = 1;
    asking->result = asking->makes ? credential_make(asking->key, asking->text, &asking->error)
                                   : credential_open(asking->text, asking->key, &asking->error);
    const ssize_t written = write(asking->over, &one, sizeof one);
    (void)written; /* this cannot fail, because the eventfd is new */
    leave_asking(asking);
    atomic_fetch_sub(&askings, 1);
    return NULL;
}

static int start_asking(struct asking *asking)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, ASKING_STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = pthread_create(&thread, &attributes, run_asking, asking);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return result == 0 ? 0 : -1;
}

struct asking *asking_begin(const char *text, struct error *error)
{
    struct asking *asking = calloc(1, sizeof *asking);
    const bool is_one_too_many = atomic_fetch_add(&askings, 1) >= ASKINGS_MAX;
    const int over = asking != NULL ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (over >= 0 && !is_one_too_many) {
        asking->over = over;
        asking->makes = text == NULL;
        if (text != NULL)
            strncpy(asking->text, text, CREDENTIAL_MAX);
        atomic_init(&asking->holders, 2);
        if (start_asking(asking) == 0)
            return asking;
    }
    atomic_fetch_sub(&askings, 1);
    if (over >= 0)
        close(over);
    free(asking);
    error_set(error, is_one_too_many ? "munge: it does not answer" : "no thread or descriptor is left to ask munge");
    return NULL;
}

int asking_descriptor(const struct asking *asking)
{
    return asking->over;
}

int asking_take(const struct asking *asking, unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1],
                struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    if (asking->result < 0) {
        *error = asking->error;
        return -1;
    }
    memcpy(key, asking->key, STREAM_KEY_BYTES);
    if (text != NULL)
        strcpy(text, asking->text);
    return 0;
}

void asking_free(struct asking *asking)
{
    if (asking != NULL)
        leave_asking(asking);
}
