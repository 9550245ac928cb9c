# SPDX-License-Identifier: MIT
"""How many neutrons pass a wall? A Monte Carlo simulation, whose result is the same on any number of workers.

    python3 monte_carlo.py --batches 500

A neutron flies on for a random length, and then is absorbed or scattered in a random direction, until it has left the
wall on either side. The neutrons of a batch draw from a generator of their own, which begins with the seed and the
number of the batch. So neither the worker that runs a batch nor the order in which batches are run makes a difference,
a batch that is repeated gives the same again, and one more batch changes none of those before it.
"""
import argparse
import collections
import functools

import numpy

import hdss

Counts = collections.namedtuple('Counts', 'passed returned absorbed')


def simulate(seed, thickness, absorption, neutrons, batch):
    """What becomes of the neutrons of one batch. `thickness` is in mean free paths; `absorption` is the probability of it
    where a neutron meets a nucleus."""
    random = numpy.random.default_rng([seed, batch])
    depth, direction = numpy.zeros(neutrons), numpy.ones(neutrons)  # the direction as its cosine
    passed = returned = absorbed = 0
    while len(depth) > 0:
        depth = depth + direction * random.exponential(size=len(depth))
        is_inside = (depth >= 0) & (depth <= thickness)
        passed += int((depth > thickness).sum())
        returned += int((depth < 0).sum())
        is_scattered = random.random(len(depth)) >= absorption
        absorbed += int((is_inside & ~is_scattered).sum())
        depth = depth[is_inside & is_scattered]
        direction = random.uniform(-1, 1, len(depth))
    return Counts(passed, returned, absorbed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--batches', type=int, default=200)
    parser.add_argument('--neutrons', type=int, default=10_000, help='of a batch (default %(default)s)')
    parser.add_argument('--thickness', type=float, default=5.0, help='in mean free paths (default %(default)s)')
    parser.add_argument('--absorption', type=float, default=0.1, help='probability (default %(default)s)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--workers', type=int, help='default: one for each core, or those of the set that is up')
    given = parser.parse_args()
    batch = functools.partial(simulate, given.seed, given.thickness, given.absorption, given.neutrons)
    with hdss.Executor(workers=given.workers, progress=True) as executor:
        counts = numpy.array(list(executor.map(batch, range(given.batches))))
    parts = counts / given.neutrons
    for name, mean, error in zip(Counts._fields, parts.mean(axis=0), parts.std(axis=0, ddof=1) / len(parts)**0.5):
        print(f'{name:9} {mean:.5f} +- {error:.5f}')


if __name__ == '__main__':
    main()
