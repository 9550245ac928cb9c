/* SPDX-License-Identifier: MIT */
/* Tickets: the file of a set by which pods find and join it. Whoever can read it can join, and have the set's jobs run
 * what they bring: it is its owner's alone. */
#pragma once

#include "common/stream/address.h"
#include "common/stream/stream.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Its name in the folder of the set. */
#define TICKET_NAME "pods"
/* Behind its path: the socket of the same machine. */
#define TICKET_SOCKET_ENDING ".socket"
/* The longest path that leaves room for that. */
#define TICKET_PATH_LENGTH_MAX (STREAM_PATH_MAX - sizeof TICKET_SOCKET_ENDING)

#define TICKET_ADDRESSES_MAX 16
/* The room for the name of a machine, with the NUL. */
#define TICKET_MACHINE_MAX 65

struct ticket {
    struct stream_address addresses[TICKET_ADDRESSES_MAX]; /* [count] in the order in which they are to be tried */
    size_t count;
    char machine[TICKET_MACHINE_MAX]; /* which has its sockets; empty, as one by hand may have it: any */
    unsigned char key[STREAM_KEY_BYTES];
};

/* True where pods can join at a port, which takes TLS: it is built with OpenSSL. */
bool ticket_may_name_port(void);

/* Has the ticket name this machine: by the number that the kernel drew when it booted, or by its host name. */
void ticket_name_machine(struct ticket *ticket);

/* True where the address may lead to the set from here: another machine has a socket of the same path for another set,
 * which no key tells apart. */
bool ticket_leads_from_here(const struct ticket *ticket, const struct stream_address *address);

/* A ticket of this machine with a new key, and no address. -1 with one line where the system has no random bytes. */
int ticket_init(struct ticket *ticket, struct error *error);

/* The text of the file; the caller frees it. NULL when memory is out. */
char *ticket_text(const struct ticket *ticket);

/* Writes the file anew, with mode 0600. -1 with one line. */
int ticket_write(const struct ticket *ticket, const char *path, struct error *error);

/* Reads a file that belongs to this user, and that nobody else can read. -1 with one line. */
int ticket_read(struct ticket *ticket, const char *path, struct error *error);

/* Reads the text of one, as ticket_read() does. -1 with one line. */
int ticket_parse(struct ticket *ticket, const char *text, struct error *error);
