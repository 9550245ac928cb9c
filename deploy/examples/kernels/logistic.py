# SPDX-License-Identifier: MIT
"""A kernel in Python: the logistic map as in orbit.f90.

    hdss run python:logistic.run columns=2000 --output logistic.npy
    hdss run python:logistic.words columns=20 --output words.txt
"""


def describe(columns, kept=0, skipped=0):
    """Describes the loop: its length, and the result, here an array with a row for each iteration."""
    if kept == 0:
        return columns  # text, as words() yields it
    return {'iterations': columns, 'dtype': 'float64', 'shape': (kept,)}


def orbit(r, kept, skipped):
    x, values = 0.5, []
    for k in range(skipped + kept):
        x = r * x * (1 - x)
        if k >= skipped:
            values.append(x)
    return values


def run(first, count, columns=1000, kept=200, skipped=1000):
    """orbits of the logistic map"""
    return [orbit(2.5 + 1.5 * i / max(columns - 1, 1), kept, skipped) for i in range(first, first + count)]


def words(first, count, columns=1000):
    """whether each orbit settles down, in words"""
    lines = []
    for i in range(first, first + count):
        r = 2.5 + 1.5 * i / max(columns - 1, 1)
        values = orbit(r, 64, 1000)
        lines.append(f'{r:.6f} {len({round(x, 9) for x in values})}\n')
    return lines
