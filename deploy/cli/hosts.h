/* SPDX-License-Identifier: MIT */
/* The machines of a launch and their numbers of ranks. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS_MAX       4096
#define HOST_NAME_BYTES 256
#define SLOTS_MAX       65536 /* per host */

struct host {
    char name[HOST_NAME_BYTES];
    unsigned slots;    /* cores; 0: not given */
    unsigned reserved; /* slots of ranks that do not compute */
    unsigned workers, masters;
    unsigned ranks;
};

struct hosts {
    struct host *items; /* owned */
    unsigned count;
    size_t room; /* of `items` */
};

void hosts_fini(struct hosts *hosts);

/* Adds a host, or slots to an existing one. Fails if the `length` characters at `name` are no valid name, or there are
 * too many. */
int hosts_add(struct hosts *hosts, const char *name, size_t length, uint64_t slots, struct error *error);

/* Parses "node1:16,node2:16"; the slots of repeated hosts add up. */
int hosts_parse_list(struct hosts *hosts, const char *list, struct error *error);

/* Parses the text of a host file: lines "node1 slots=16", # comments. */
int hosts_parse_file(struct hosts *hosts, const char *text, struct error *error);

typedef int hosts_parser(struct hosts *hosts, const char *text, struct error *error);

int hosts_read(struct hosts *hosts, const char *path, hosts_parser *parse, struct error *error);

/* True if all hosts have a number of slots. */
bool hosts_know_slots(const struct hosts *hosts);

/* Number of slots that are not reserved; 0 if unknown for a host. */
unsigned hosts_slots(const struct hosts *hosts);

/* Reserves a slot for each master as it will be dealt, one for the supermaster on the first host if that has no master,
 * and those that workers with so many threads cannot use. */
void hosts_reserve(struct hosts *hosts, unsigned masters, unsigned threads);

/* Deals the workers in proportion to the free slots, and the masters in turn, from the first host. */
void hosts_deal(struct hosts *hosts, unsigned masters, unsigned workers);

/* True if the workers are dealt as if in turn from the first host. */
bool hosts_deal_in_turn(const struct hosts *hosts, unsigned workers);

/* Counts the workers [first, first + count), dealt in turn, of each host into dealt[]. */
void hosts_count_workers(const struct hosts *hosts, unsigned first, unsigned count, unsigned *dealt);

/* True for the name of this machine, with or without its domain. */
bool host_is_here(const char *host);
