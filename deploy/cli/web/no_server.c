/* SPDX-License-Identifier: MIT */
/* A build without evhttp: see server.h. */
#include "deploy/cli/web/server.h"

int web_server_check(struct error *error)
{
    return error_set(error,
                     "this build has no evhttp, which the page takes; accepted: a build with libevent_extra (Debian: "
                     "libevent-dev) and without -Dcontrol=disabled");
}

struct web_server *web_server_new(const char *name, const char *path, uint16_t port, struct error *error)
{
    (void)name, (void)path, (void)port;
    web_server_check(error);
    return NULL;
}

void web_server_free(struct web_server *server)
{
    (void)server;
}

uint16_t web_server_port(const struct web_server *server)
{
    (void)server;
    return 0;
}

const char *web_server_token(const struct web_server *server)
{
    (void)server;
    return "";
}

int web_server_run(struct web_server *server, void (*on_change)(const char *name, bool has_ended), struct error *error)
{
    (void)server, (void)on_change;
    return web_server_check(error);
}
