/* SPDX-License-Identifier: MIT */
/* Tickets: the file by which pods find and join a set. Whoever can read a ticket can join the set and thus run code in
 * its jobs, so only the owner of a ticket may access it. */
#pragma once

#include "common/stream/address.h"
#include "common/stream/stream.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

#define TICKET_NAME          "pods"
#define TICKET_SOCKET_ENDING ".socket"
/* Maximum length of the path of a ticket. TICKET_SOCKET_ENDING can be appended to such a path. */
#define TICKET_PATH_LENGTH_MAX (STREAM_PATH_MAX - sizeof TICKET_SOCKET_ENDING)

#define TICKET_ADDRESSES_MAX 16
#define TICKET_MACHINE_MAX   65

struct ticket {
    /* [count] the addresses, in the order in which they are tried */
    struct stream_address addresses[TICKET_ADDRESSES_MAX];
    size_t count;
    char machine[TICKET_MACHINE_MAX]; /* machine on which the Unix sockets are; empty: they may be on any machine */
    unsigned char key[STREAM_KEY_BYTES];
};

bool ticket_may_name_port(void);

void ticket_name_machine(struct ticket *ticket);

/* Returns whether the address may lead to the set from this machine. A Unix path leads to the set only on the ticket's
 * machine. On another machine the same path may belong to another set, and no key is checked at Unix sockets. */
bool ticket_leads_from_here(const struct ticket *ticket, const struct stream_address *address);

int ticket_init(struct ticket *ticket, struct error *error);

/* Returns the text of the file, which the caller frees. */
char *ticket_text(const struct ticket *ticket);

/* Replaces the file, with mode 0600. */
int ticket_write(const struct ticket *ticket, const char *path, struct error *error);

/* Fails if the file does not belong to this user, or if others can access it. */
int ticket_read(struct ticket *ticket, const char *path, struct error *error);

int ticket_parse(struct ticket *ticket, const char *text, struct error *error);
