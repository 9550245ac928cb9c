/* SPDX-License-Identifier: MIT */
/* A connection to a control socket, for one request after the other. */
#pragma once

#include "common/control/socket.h"
#include "deploy/cli/control_answer.h"

enum ask_end {
    ASK_ANSWERED,
    ASK_REFUSED, /* the server has answered with an error, or its answer cannot be read */
    ASK_SILENT,
    ASK_GONE, /* nothing listens, or the run or set has ended */
};

struct control_client {
    char path[CONTROL_PATH_MAX];
    int fd;
    bool was_used;
    char *bytes;
    size_t length, room;
};

/* Does not connect; the first request does. */
void control_client_init(struct control_client *client, const char *path);
void control_client_fini(struct control_client *client);

/* Sends a request, with `body` as JSON unless that is NULL. Returns ASK_ANSWERED if it was sent. */
enum ask_end control_client_send(struct control_client *client, const char *method, const char *target,
                                 const char *body, int timeout_ms, struct error *error);

/* Receives the answer, which the caller must free in all cases. Sets `error` unless it returns ASK_ANSWERED. After
 * ASK_SILENT it may be called again to wait longer. */
enum ask_end control_client_take(struct control_client *client, int timeout_ms, struct control_answer *answer,
                                 struct error *error);

/* Sends a request and receives the answer. Reconnects after the server has closed the connection, but only for
 * requests that are safe to repeat. */
enum ask_end control_client_ask(struct control_client *client, const char *method, const char *target, const char *body,
                                int timeout_ms, struct control_answer *answer, struct error *error);
