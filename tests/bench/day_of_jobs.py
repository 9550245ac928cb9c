#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A made-up day of a set, for `hdss simulate --jobs`.

    day_of_jobs.py [--jobs N] [--scale X] > day.txt

The jobs come at random, one in 80 s in the mean; they have 10^4 to 10^6 iterations and X times 1,600 s of a core in the
median, lognormal; one in five has a higher priority, one in three twice the weight. The same words give the same file.
"""
import argparse
import random


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--jobs', type=int, default=1000)
    parser.add_argument('--scale', type=float, default=1)
    given = parser.parse_args()
    random.seed(1)
    at = 0
    for job in range(given.jobs):
        at += random.expovariate(1 / 80)
        iterations = random.choice([1e4, 1e5, 1e6])
        mean = given.scale * random.lognormvariate(7.4, 1.2) * 1e6 / iterations
        print(f'{int(at)} --name j{job} --priority {random.choice([0, 0, 0, 0, 1])} --weight {random.choice([1, 1, 2])} '
              f'synthetic iterations={int(iterations)} mean={mean:.3f} distribution=exponential')


main()
