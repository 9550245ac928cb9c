/* SPDX-License-Identifier: MIT */
/* The machines of a launch and what each of them is to carry. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS_MAX       4096
#define HOST_NAME_BYTES 256
#define SLOTS_MAX       65536 /* slots of a host */

struct host {
    char name[HOST_NAME_BYTES];
    unsigned slots;    /* cores, as given; 0 where they were not */
    unsigned reserved; /* slots for ranks that serve and do not compute */
    unsigned workers, masters;
    unsigned ranks; /* workers, masters and the supermaster */
};

struct hosts {
    struct host *items; /* owned */
    unsigned count;
    size_t room; /* of `items` */
};

void hosts_fini(struct hosts *hosts);

/* Adds a host, or slots to one that is there. -1 with one line: `length` characters at `name` are no name, or there are
 * too many. */
int hosts_add(struct hosts *hosts, const char *name, size_t length, uint64_t slots, struct error *error);

/* "node1:16,node2:16"; a host named twice has its slots added. -1 with one line. */
int hosts_parse_list(struct hosts *hosts, const char *list, struct error *error);

/* The text of a host file: lines "node1 slots=16", # comments. -1 with one line. */
int hosts_parse_file(struct hosts *hosts, const char *text, struct error *error);

typedef int hosts_parser(struct hosts *hosts, const char *text, struct error *error);

/* The hosts of the file, by `parse`. -1 with one line, also where it cannot be read. */
int hosts_read(struct hosts *hosts, const char *path, hosts_parser *parse, struct error *error);

/* True if those of all hosts were given. */
bool hosts_know_slots(const struct hosts *hosts);

/* Returns the number of all slots that are not reserved; 0 where those of some host were not given. */
unsigned hosts_slots(const struct hosts *hosts);

/* Reserves a slot for each of the masters as they will be dealt, on the first host one where it has none, for the
 * supermaster; and what workers of so many threads would leave over, so that none of them takes those. */
void hosts_reserve(struct hosts *hosts, unsigned masters, unsigned threads);

/* Deals the workers out in proportion to the slots that are not reserved, and the masters in turn, from the first host.
 */
void hosts_deal(struct hosts *hosts, unsigned masters, unsigned workers);

/* True if the workers came out as if they had been dealt in turn, from the first host. */
bool hosts_deal_in_turn(const struct hosts *hosts, unsigned workers);

/* Counts how many of the workers [first, first + count), dealt in turn, each host has: dealt[] has an entry for each
 * host. */
void hosts_count_workers(const struct hosts *hosts, unsigned first, unsigned count, unsigned *dealt);

/* True if the name is that of this machine, with or without its domain. */
bool host_is_here(const char *host);
