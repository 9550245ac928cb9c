/* SPDX-License-Identifier: MIT */
/* Greetings: see greeting.h. No byte after the greeting is read here, because these bytes are for OpenSSL. */
#include "common/stream/greeting.h"

#include "common/stream/channel.h"
#include "common/stream/world.h"
#include "proto/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

void greeting_free(struct greeting *greeting)
{
    if (greeting == NULL)
        return;
    asking_free(greeting->asking);
    explicit_bzero(greeting->key, sizeof greeting->key);
    free(greeting);
}

struct greeting *greeting_new(bool brings)
{
    struct greeting *greeting = calloc(1, sizeof *greeting);
    if (greeting == NULL)
        return NULL;
    greeting->brings = brings;
    greeting->size = brings ? 0 : FRAME_GREETING_BYTES;
    return greeting;
}

static bool has_answer(const struct greeting *greeting)
{
    uint64_t count;
    return read(asking_descriptor(greeting->asking), &count, sizeof count) == (ssize_t)sizeof count;
}

static void end_asking(struct greeting *greeting)
{
    asking_free(greeting->asking);
    greeting->asking = NULL;
}

static int greeting_write(struct greeting *greeting, const struct stream_world_ops *ops, int fd)
{
    while (greeting->done < greeting->size) {
        const ssize_t count =
            ops->send(fd, greeting->bytes + greeting->done, greeting->size - greeting->done, MSG_NOSIGNAL);
        if (count <= 0)
            return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_WRITES : CHANNEL_BROKEN;
        greeting->done += (size_t)count;
    }
    return 0;
}

static int get_credential(struct greeting *greeting, struct error *error)
{
    char *text = (char *)greeting->bytes + FRAME_GREETING_BYTES;
    if (greeting->asking == NULL && (greeting->asking = asking_begin(NULL, error)) == NULL)
        return CHANNEL_FAILED;
    if (!has_answer(greeting))
        return CHANNEL_WAITS;
    const int result = asking_take(greeting->asking, greeting->key, text, error);
    end_asking(greeting);
    if (result < 0)
        return CHANNEL_FAILED;
    greeting->has_key = true;
    greeting->size = FRAME_GREETING_BYTES + strlen(text);
    frame_greeting_encode((uint32_t)strlen(text), greeting->bytes);
    error_set(&greeting->refusal, "it does not take this user's credential of munge");
    return 0;
}

static int greeting_read(struct greeting *greeting, const struct stream_world_ops *ops, int fd)
{
    while (greeting->done < greeting->size) {
        const ssize_t count = ops->receive(fd, greeting->bytes + greeting->done, greeting->size - greeting->done, 0);
        if (count <= 0)
            return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_READS : CHANNEL_BROKEN;
        greeting->done += (size_t)count;
    }
    return 0;
}

static int tell_kind(struct greeting *greeting, const struct stream_world_ops *ops, int fd)
{
    unsigned char first;
    const ssize_t count = ops->receive(fd, &first, 1, MSG_PEEK);
    if (count <= 0)
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_READS : CHANNEL_BROKEN;
    greeting->is_over = first != FRAME_GREETING_BEGIN;
    return 0;
}

static int take_head(struct greeting *greeting, struct error *error)
{
    uint32_t size;
    if (frame_greeting_decode(&size, greeting->bytes) < 0) {
        error_set(error, "it does not speak TLS 1.3 with a shared key");
        return CHANNEL_FAILED;
    }
    greeting->size += size;
    return 0;
}

static int open_credential(struct greeting *greeting)
{
    char *text = (char *)greeting->bytes + FRAME_GREETING_BYTES;
    const size_t size = greeting->size - FRAME_GREETING_BYTES;
    text[size] = '\0';
    if (!frame_is_credential(text, size)) {
        error_set(&greeting->refusal, "it comes with what is no credential of munge");
        return 0;
    }
    if (greeting->asking == NULL && (greeting->asking = asking_begin(text, &greeting->refusal)) == NULL)
        return 0;
    if (!has_answer(greeting))
        return CHANNEL_WAITS;
    greeting->has_key = asking_take(greeting->asking, greeting->key, NULL, &greeting->refusal) == 0;
    end_asking(greeting);
    return 0;
}

static int take_greeting(struct greeting *greeting, const struct stream_world_ops *ops, int fd, struct error *error)
{
    int result = greeting->done == 0 ? tell_kind(greeting, ops, fd) : 0;
    if (result != 0 || greeting->is_over)
        return result;
    result = greeting_read(greeting, ops, fd);
    if (result == 0 && greeting->size == FRAME_GREETING_BYTES && (result = take_head(greeting, error)) == 0)
        result = greeting_read(greeting, ops, fd);
    return result == 0 ? open_credential(greeting) : result;
}

int greeting_go_on(struct greeting *greeting, const struct stream_world_ops *ops, int fd, struct error *error)
{
    int result = 0;
    if (!greeting->brings)
        result = take_greeting(greeting, ops, fd, error);
    else if (greeting->size > 0 || (result = get_credential(greeting, error)) == 0)
        result = greeting_write(greeting, ops, fd);
    if (result == 0)
        greeting->is_over = true;
    return result;
}
