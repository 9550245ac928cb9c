/* SPDX-License-Identifier: MIT */
/* The little server of `hdss page`: the page, and what it asks of the control socket of one run or set, at a port of
 * this machine. By libevent's evhttp, or in a build without it there is none. */
#pragma once

#include "common/config/address.h"
#include "common/control/bearer.h"

#include <stdint.h>

/* The page: HTML with its style and script, made by embed.py of the files in page/. */
extern const char web_page[];

struct web_server;

/* -1 with one line in a build that has no server. */
int web_server_check(struct error *error);

/* Listens at 127.0.0.1 for a session, whose name and path of the socket are borrowed; port 0 is any that is free. From
 * then on SIGINT, SIGTERM and SIGHUP end the server rather than the program. NULL with one line. */
struct web_server *web_server_new(const char *name, const char *path, uint16_t port, struct error *error);
void web_server_free(struct web_server *server);

/* The port at which it listens, and the token that a client has to show. */
uint16_t web_server_port(const struct web_server *server);
const char *web_server_token(const struct web_server *server);

/* Serves until one of these signals ends it. `on_change` is called when the session has ended, and when
 * one of its name is there again. -1 with one line where that cannot be awaited. */
int web_server_run(struct web_server *server, void (*on_change)(const char *name, bool has_ended), struct error *error);
