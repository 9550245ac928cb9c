/* SPDX-License-Identifier: MIT */
/* Asking the control sockets: see ask_control.h. A request goes out in HTTP/1.1 and asks for the connection to be
 * closed, so that the answer is all that comes. libevent's client of HTTP knows no Unix sockets before version 2.2. */
#include "deploy/cli/ask_control.h"

#include "common/os/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (16u << 20)
#define PIECE      65536u
#define LIST_MS    2000
/* Between two tries to connect to a run whose queue is full. */
#define TRY_MS 10

static int64_t now_ms(void)
{
    return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

/* Waits until the socket is ready. False when the time is over. */
static bool wait_for(int fd, short what, int64_t until_ms)
{
    for (;;) {
        const int64_t left_ms = until_ms - now_ms();
        struct pollfd waits = {fd, what, 0};
        const int ready = poll(&waits, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static int connect_until(const char *path, int64_t until_ms)
{
    for (;;) {
        const int fd = control_connect(path);
        if (fd >= 0 || errno != EAGAIN || now_ms() >= until_ms)
            return fd;
        poll(NULL, 0, TRY_MS);
    }
}

static enum ask_end send_all(int fd, const char *bytes, size_t length, int64_t until_ms)
{
    while (length > 0) {
        const ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return ASK_GONE;
        if (sent < 0 && !wait_for(fd, POLLOUT, until_ms))
            return ASK_SILENT;
        bytes += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return ASK_ANSWERED;
}

/* Takes all until the connection ends into `*bytes`, which the caller frees. */
static enum ask_end take_all(int fd, char **bytes, size_t *length, int64_t until_ms)
{
    size_t room = 0;
    for (*length = 0; *length < ANSWER_MAX;) {
        if (room - *length < PIECE) {
            char *more = realloc(*bytes, room + PIECE);
            if (more == NULL)
                return ASK_REFUSED;
            *bytes = more;
            room += PIECE;
        }
        const ssize_t got = recv(fd, *bytes + *length, room - *length, 0);
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            return *length > 0 ? ASK_ANSWERED : ASK_GONE;
        if (got < 0 && !wait_for(fd, POLLIN, until_ms))
            return ASK_SILENT;
        *length += got > 0 ? (size_t)got : 0;
    }
    return ASK_REFUSED;
}

enum ask_end control_ask(const char *path, const char *method, const char *target, int timeout_ms,
                         struct control_answer *answer, struct error *error)
{
    char request[256], *bytes = NULL;
    size_t length = 0;
    const int64_t until_ms = now_ms() + timeout_ms;
    const int fd = connect_until(path, until_ms);
    *answer = (struct control_answer){0};
    if (fd < 0) {
        const enum ask_end end = errno == ECONNREFUSED || errno == ENOENT ? ASK_GONE : ASK_SILENT;
        error_set(error, "%s: %s", path, strerror(errno));
        return end;
    }
    const int size =
        snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: hdss\r\nConnection: close\r\n\r\n", method, target);
    enum ask_end end = send_all(fd, request, (size_t)size, until_ms);
    if (end == ASK_ANSWERED)
        end = take_all(fd, &bytes, &length, until_ms);
    close(fd);
    if (end == ASK_ANSWERED && control_answer_read(answer, bytes, length, error) < 0)
        end = ASK_REFUSED;
    else if (end == ASK_REFUSED)
        error_set(error, "its answer is too long");
    else if (end != ASK_ANSWERED)
        error_set(error, end == ASK_SILENT ? "it does not answer" : "it has ended");
    free(bytes);
    return end;
}

/* --- listing --- */

struct listing {
    struct job_list *list;
    bool failed;
};

static void list_session(void *context, const char *path, const char *name)
{
    struct listing *listing = context;
    struct control_answer answer;
    struct error error;
    const enum ask_end end = control_ask(path, "GET", "/v1/jobs", LIST_MS, &answer, &error);
    if (end == ASK_GONE)
        return;
    struct job_view *view = job_list_add(listing->list, name);
    if (view == NULL) {
        listing->failed = true;
    } else {
        snprintf(view->path, sizeof view->path, "%s", path);
        job_view_read(view, json_array_get(json_object_get(answer.json, "jobs"), 0), &error);
    }
    json_decref(answer.json);
}

/* As numbers are ordered: "run-9" comes before "run-10". */
static int by_name(const void *a, const void *b)
{
    return strverscmp(((const struct job_view *)a)->session, ((const struct job_view *)b)->session);
}

int control_list_jobs(struct job_list *list)
{
    struct listing listing = {.list = list};
    control_each(list_session, &listing);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    return listing.failed ? -1 : 0;
}
