/* SPDX-License-Identifier: MIT */
/* Random numbers: see random.h. */
#include "common/util/random.h"

uint64_t splitmix64_at(uint64_t seed, uint64_t index)
{
    seed += index * SPLITMIX64_STEP;
    return splitmix64(&seed);
}

void random_init(struct random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->s[i] = splitmix64(&seed);
}

static inline uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t random_next(struct random *random)
{
    uint64_t *s = random->s;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double random_uniform(struct random *random)
{
    return random_to_uniform(random_next(random));
}

uint64_t random_between(struct random *random, uint64_t low, uint64_t high)
{
    uint64_t span = high - low + 1;
    if (span == 0)
        return random_next(random);
    uint64_t reject_below = (0 - span) % span, value;
    do
        value = random_next(random);
    while (value < reject_below);
    return low + value % span;
}
