/* SPDX-License-Identifier: MIT */
/* Jobs that belong to a client: see attachments.h. */
#include "common/control/attachments.h"

#include <stdlib.h>

#define QUIET_MAX_S 1000000000

struct attachment {
    struct evhttp_connection *connection;
    uint64_t job;
    struct attachment *next;
};

struct attachments {
    void (*cancel)(void *context, uint64_t job);
    void *context;
    struct attachment *first;
};

struct attachments *attachments_new(void (*cancel)(void *context, uint64_t job), void *context)
{
    struct attachments *attachments = malloc(sizeof *attachments);
    if (attachments != NULL)
        *attachments = (struct attachments){.cancel = cancel, .context = context};
    return attachments;
}

static void on_connection_closed(struct evhttp_connection *connection, void *context)
{
    struct attachments *attachments = context;
    for (struct attachment **place = &attachments->first; *place != NULL;) {
        struct attachment *attachment = *place;
        if (attachment->connection != connection) {
            place = &attachment->next;
            continue;
        }
        *place = attachment->next;
        attachments->cancel(attachments->context, attachment->job);
        free(attachment);
    }
}

bool attachments_add(struct attachments *attachments, struct evhttp_request *request, uint64_t job)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    struct attachment *attachment = connection != NULL ? malloc(sizeof *attachment) : NULL;
    if (attachment == NULL)
        return false;
    *attachment = (struct attachment){.connection = connection, .job = job, .next = attachments->first};
    attachments->first = attachment;
    evhttp_connection_set_closecb(connection, on_connection_closed, attachments);
    evhttp_connection_set_timeout(connection, QUIET_MAX_S);
    return true;
}

void attachments_free(struct attachments *attachments)
{
    if (attachments == NULL)
        return;
    for (struct attachment *attachment = attachments->first, *next; attachment != NULL; attachment = next) {
        next = attachment->next;
        evhttp_connection_set_closecb(attachment->connection, NULL, NULL);
        free(attachment);
    }
    free(attachments);
}
