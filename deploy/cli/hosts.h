/* The machines of a launch and what each of them is to carry. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

#define HOSTS_MAX       4096
#define HOST_NAME_BYTES 256

struct host {
    char name[HOST_NAME_BYTES];
    unsigned slots; /* cores, as given; 0 where they were not */
    unsigned workers, masters;
};

struct hosts {
    struct host *items; /* owned */
    unsigned count;
};

void hosts_fini(struct hosts *hosts);

/* "node1:16,node2:16"; a host named twice has its slots added. -1 with one line. */
int hosts_parse_list(struct hosts *hosts, const char *list, struct error *error);

/* The text of a host file: lines "node1 slots=16", # comments. -1 with one line. */
int hosts_parse_file(struct hosts *hosts, const char *text, struct error *error);

/* All slots; 0 where those of some host were not given. */
unsigned hosts_slots(const struct hosts *hosts);

/* Deals the workers out in proportion to the slots and the masters in turn, from the first host. */
void hosts_deal(struct hosts *hosts, unsigned masters, unsigned workers);
