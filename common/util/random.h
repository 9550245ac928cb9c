/* SPDX-License-Identifier: MIT */
/* Random numbers that are equal on all machines. splitmix64 (Steele, Lea and Flood 2014, public-domain reference by
 * Vigna) is for seeding and for hashing an index. xoshiro256** 1.0 (Blackman and Vigna 2018) is for streams. Both are
 * tested with their published vectors. */
#pragma once

#include <stdint.h>

#define SPLITMIX64_STEP UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += SPLITMIX64_STEP;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t splitmix64_at(uint64_t seed, uint64_t index);

static inline uint64_t random_at(uint64_t seed, uint64_t index)
{
    uint64_t state = seed;
    state = splitmix64(&state) ^ index;
    return splitmix64(&state);
}

struct random {
    uint64_t s[4];
};

void random_init(struct random *random, uint64_t seed);
uint64_t random_next(struct random *random);

/* Returns a uniform number in [0, 1), with 53 random bits. */
double random_uniform(struct random *random);

static inline double random_to_uniform(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1.0p-53;
}

/* Returns a uniform number in [low, high], without bias. */
uint64_t random_between(struct random *random, uint64_t low, uint64_t high);
