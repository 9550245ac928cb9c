/* SPDX-License-Identifier: MIT */
/* The hosts of a launch, and the ranks on each. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS_MAX       4096
#define HOST_NAME_BYTES 256
#define SLOTS_MAX       65536

struct host {
    char name[HOST_NAME_BYTES];
    unsigned slots; /* cores; 0: not given */
    unsigned reserved;
    unsigned workers, masters;
    unsigned ranks;
};

struct hosts {
    struct host *items;
    unsigned count;
    size_t room;
};

void hosts_fini(struct hosts *hosts);

/* Adds a host, or slots to a known host. Fails if the `length` characters at `name` are no valid name, or there are too
 * many hosts or slots. */
int hosts_add(struct hosts *hosts, const char *name, size_t length, uint64_t slots, struct error *error);

int hosts_parse_list(struct hosts *hosts, const char *list, struct error *error);

int hosts_parse_file(struct hosts *hosts, const char *text, struct error *error);

typedef int hosts_parser(struct hosts *hosts, const char *text, struct error *error);

int hosts_read(struct hosts *hosts, const char *path, hosts_parser *parse, struct error *error);

bool hosts_know_slots(const struct hosts *hosts);

/* Slots that are not reserved; 0 if the slots of a host are unknown. */
unsigned hosts_slots(const struct hosts *hosts);

/* Reserves slots that workers cannot use: one for each master, on the host where hosts_deal() places it; one on the
 * first host for the supermaster, if no master is there; and the slots of each host that are left over because its
 * slots are no multiple of `threads`. */
void hosts_reserve(struct hosts *hosts, unsigned masters, unsigned threads);

/* Distributes workers in proportion to the free slots, and masters in turn from the first host on. */
void hosts_deal(struct hosts *hosts, unsigned masters, unsigned workers);

bool hosts_deal_in_turn(const struct hosts *hosts, unsigned workers);

/* Counts how many of the workers [first, first + count) are on each host. Workers are numbered in turn over the hosts
 * that still have workers without a number. */
void hosts_count_workers(const struct hosts *hosts, unsigned first, unsigned count, unsigned *dealt);

/* True for the name of this machine, with or without its domain, and for "localhost". */
bool host_is_here(const char *host);
