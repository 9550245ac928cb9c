# SPDX-License-Identifier: MIT
"""After what time does a double pendulum turn over? A scan over the angles at which its two rods are let go.

    python3 parameter_scan.py 200 flips.npy

An element of the array is the time for one pair of angles, in units of sqrt(length / gravity), and infinite where the
pendulum has not turned over at the end, or cannot. An iteration is a row of the array. Rows in which all have soon
turned over take little, those in which some swing on for ever take longest, and they lie side by side: equal shares of
the rows would leave most cores waiting.
"""
import argparse

import numpy

import hdss

STEP, TIME_MOST = 0.02, 50.0


def accelerations(a, b, va, vb):
    """Of the two angles of a pendulum of equal masses and lengths; a and b are the angles, va and vb their speeds."""
    d = a - b
    below = 3 - numpy.cos(2 * d)
    of_a = (-3 * numpy.sin(a) - numpy.sin(a - 2 * b) - 2 * numpy.sin(d) * (vb**2 + va**2 * numpy.cos(d))) / below
    of_b = 2 * numpy.sin(d) * (2 * va**2 + 2 * numpy.cos(a) + vb**2 * numpy.cos(d)) / below
    return numpy.array([va, vb, of_a, of_b])


def step(state):
    """The state of pendulums a step later, by the method of Runge and Kutta of fourth order."""
    k1 = accelerations(*state)
    k2 = accelerations(*(state + STEP / 2 * k1))
    k3 = accelerations(*(state + STEP / 2 * k2))
    k4 = accelerations(*(state + STEP * k3))
    return state + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def flip_times(first_angle, second_angles):
    """Times after which the second rod passes its upper point, of pendulums that begin at rest."""
    times = numpy.full(len(second_angles), numpy.inf)
    # Without the energy for either rod to stand upright nothing can turn over.
    going = numpy.flatnonzero(2 * numpy.cos(first_angle) + numpy.cos(second_angles) <= 1)
    state = numpy.zeros((4, len(going)))
    state[0], state[1] = first_angle, second_angles[going]
    for number in range(1, round(TIME_MOST / STEP) + 1):
        if len(going) == 0:
            break
        state = step(state)
        has_turned = abs(state[1]) > numpy.pi
        times[going[has_turned]] = number * STEP
        state, going = state[:, ~has_turned], going[~has_turned]
    return times


def angles(n):
    """n angles, from -pi to pi without either."""
    return (numpy.arange(n) + 0.5) / n * 2 * numpy.pi - numpy.pi


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('n', type=int, nargs='?', default=100, help='angles of each rod (default %(default)s)')
    parser.add_argument('output', nargs='?', default='flips.npy', help='the array (default %(default)s)')
    parser.add_argument('--workers', type=int, help='default: one for each core, or those of the set that is up')
    given = parser.parse_args()
    at = angles(given.n)
    times = hdss.loop(lambda i: flip_times(at[i], at), given.n, shape=given.n, output=given.output, workers=given.workers, progress=True)
    turned = times[numpy.isfinite(times)]
    print(f'{turned.size} of {times.size} pendulums turn over within {TIME_MOST:g}, half of them before {numpy.median(turned):.2f}')


if __name__ == '__main__':
    main()
