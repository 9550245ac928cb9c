/* SPDX-License-Identifier: MIT */
/* A connection to a control socket, over which one question follows another. */
#pragma once

#include "common/control/socket.h"
#include "deploy/cli/control_answer.h"

/* The end of a question. */
enum ask_end {
    ASK_ANSWERED,
    ASK_REFUSED, /* it has answered with an error, or with what is none of ours */
    ASK_SILENT,  /* somebody listens, and has not answered in time */
    ASK_GONE,    /* nobody listens, or the run or set has ended meanwhile */
};

struct control_client {
    char path[CONTROL_PATH_MAX];
    int fd;        /* -1: there is no connection */
    bool was_used; /* a question has been answered over it */
    char *bytes;   /* of the answer that comes; owned */
    size_t length, room;
};

/* Connects with the first question. */
void control_client_init(struct control_client *client, const char *path);
void control_client_fini(struct control_client *client);

/* Sends a question, with a body of JSON unless that is NULL. ASK_ANSWERED where it is out; else with one line. */
enum ask_end control_client_send(struct control_client *client, const char *method, const char *target,
                                 const char *body, int timeout_ms, struct error *error);

/* Takes the answer to the question that was sent, which is the caller's whatever the end is; one line unless it is
 * answered. ASK_SILENT: what has come of it is kept, to be called again. */
enum ask_end control_client_take(struct control_client *client, int timeout_ms, struct control_answer *answer,
                                 struct error *error);

/* Both. A connection that has ended since the last question is made anew, where asking twice does no harm. */
enum ask_end control_client_ask(struct control_client *client, const char *method, const char *target, const char *body,
                                int timeout_ms, struct control_answer *answer, struct error *error);
