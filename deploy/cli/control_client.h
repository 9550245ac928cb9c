/* SPDX-License-Identifier: MIT */
/* A connection to a control socket for successive requests. */
#pragma once

#include "common/control/socket.h"
#include "deploy/cli/control_answer.h"

/* Result of a request. */
enum ask_end {
    ASK_ANSWERED,
    ASK_REFUSED, /* the server answered with an error, or not as a control socket does */
    ASK_SILENT,  /* no answer within the time limit */
    ASK_GONE,    /* nothing listens, or the run or set has ended meanwhile */
};

struct control_client {
    char path[CONTROL_PATH_MAX];
    int fd;        /* -1: not connected */
    bool was_used; /* a request was answered over it */
    char *bytes;   /* of the response; owned */
    size_t length, room;
};

/* The first request connects. */
void control_client_init(struct control_client *client, const char *path);
void control_client_fini(struct control_client *client);

/* Sends a request, with a JSON body unless NULL. Returns ASK_ANSWERED if it was sent. */
enum ask_end control_client_send(struct control_client *client, const char *method, const char *target,
                                 const char *body, int timeout_ms, struct error *error);

/* Receives the response, which the caller owns in each case; `error` has a line unless it was answered. After
 * ASK_SILENT the call may be repeated, and continues. */
enum ask_end control_client_take(struct control_client *client, int timeout_ms, struct control_answer *answer,
                                 struct error *error);

/* Sends a request and receives the response. Reconnects after the server has closed the connection, but only for
 * requests that are safe to repeat. */
enum ask_end control_client_ask(struct control_client *client, const char *method, const char *target, const char *body,
                                int timeout_ms, struct control_answer *answer, struct error *error);
