/* SPDX-License-Identifier: MIT */
/* The energy that the processors and the memory of this node have used, by their own counters (RAPL: David et al.
 * 2010), where the system shows them to this process: Linux has a folder for each in /sys/class/powercap, and most
 * systems let only root read what is in them.
 *
 * Of each processor the counter of the package counts, and that of the memory (dram) beside it where there is one;
 * parts of a package (core, uncore) are in it already, and the counter of the whole platform (psys) has all of them.
 *
 * A counter begins again at 0 behind its range, at full power after some minutes. So it has to be looked at from time
 * to time: where a look comes so late that the counter may have begun again more than once, the energy is not known. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_FOLDER "/sys/class/powercap"
/* Counters of a node; where there are more, the energy is not known. */
#define ENERGY_COUNTERS_MAX 64
/* No counter rises faster: a package uses less than this. */
#define ENERGY_WATT_MAX 2000

struct energy_counter {
    char name[64]; /* of its folder */
    uint64_t last_uj, range_uj;
};

struct energy_meter {
    const char *folder; /* borrowed */
    struct energy_counter counters[ENERGY_COUNTERS_MAX];
    unsigned count;   /* 0: the energy is not known */
    uint64_t last_ns; /* of the latest look */
    double joules;    /* since the first look */
};

/* Takes the first look at the counters of the folder, which is borrowed. `now_ns` is of any clock, the same for all
 * looks. Where a counter cannot be read the energy is not known. */
void energy_meter_init(struct energy_meter *meter, const char *folder, uint64_t now_ns);

/* Adds what has been used since the latest look. */
void energy_meter_look(struct energy_meter *meter, uint64_t now_ns);

/* True if `joules` is known. */
bool energy_meter_is_known(const struct energy_meter *meter);
