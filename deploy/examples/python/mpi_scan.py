# SPDX-License-Identifier: MIT
"""Where does a driven pendulum become chaotic? A scan over the amplitude of its drive, shared by mpi4py ranks.

    mpirun -n 4 python3 mpi_scan.py 400

For each amplitude the pendulum is followed until its motion repeats, after 1, 2, 4 .. periods of the drive, or up to
the last period that is looked at. So a chaotic motion takes up to eight times as long as a regular one, and both come
in clusters: a split in equal parts, range(rank * n // size, (rank + 1) * n // size), would leave most ranks waiting for
the one with the most chaos.
"""
import math
import sys

from mpi4py import MPI

import hdss.mpi

DAMPING, DRIVE_FREQUENCY = 0.5, 2 / 3  # in units of the pendulum's own frequency, as textbooks have them
LEAST, MOST = 1.0, 1.5                 # amplitudes of the drive, in units of the weight
STEPS_PER_PERIOD = 100
SETTLING_PERIODS, PERIODS_MOST = 50, 400
REPEATS_MOST = 16
SAME = 1e-6                            # rad, and rad per unit of time


def acceleration(angle, speed, time, amplitude):
    return -math.sin(angle) - DAMPING * speed + amplitude * math.cos(DRIVE_FREQUENCY * time)


def one_period(angle, speed, amplitude):
    """Angle and speed a period of the drive later, by the method of Runge and Kutta of fourth order."""
    step = 2 * math.pi / DRIVE_FREQUENCY / STEPS_PER_PERIOD
    for k in range(STEPS_PER_PERIOD):
        time = k * step
        a1 = acceleration(angle, speed, time, amplitude)
        v2 = speed + step / 2 * a1
        a2 = acceleration(angle + step / 2 * speed, v2, time + step / 2, amplitude)
        v3 = speed + step / 2 * a2
        a3 = acceleration(angle + step / 2 * v2, v3, time + step / 2, amplitude)
        v4 = speed + step * a3
        a4 = acceleration(angle + step * v3, v4, time + step, amplitude)
        angle, speed = angle + step / 6 * (speed + 2 * v2 + 2 * v3 + v4), speed + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return angle, speed


def repeats_after(amplitude):
    """The number of periods of the drive after which the motion repeats; 0 where none was found, as in chaos."""
    seen = [(0.2, 0.0)]
    for period in range(PERIODS_MOST):
        seen.append(one_period(*seen[-1], amplitude))
        angle, speed = seen[-1]
        for back in range(1, REPEATS_MOST + 1) if period >= SETTLING_PERIODS else ():
            turn = math.remainder(angle - seen[-1 - back][0], 2 * math.pi)
            if abs(turn) < SAME and abs(speed - seen[-1 - back][1]) < SAME:
                return back
    return 0


def amplitude_of(i, n):
    return LEAST + (MOST - LEAST) * i / n


def main():
    comm = MPI.COMM_WORLD
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    found = []
    with hdss.mpi.Loop(comm, n, technique='fac2') as loop:
        for chunk in loop:
            for i in chunk:  # was: for i in range(rank * n // size, (rank + 1) * n // size):
                found.append((i, repeats_after(amplitude_of(i, n))))
        totals = loop.totals()
    parts = comm.gather(found, root=0)
    if comm.rank == 0:
        for i, periods in sorted(pair for part in parts for pair in part):
            print(f'{amplitude_of(i, n):.6f} {periods or "chaotic"}')
        print(f'{comm.size} ranks computed {totals.efficiency:.0%} of {totals.elapsed_s:.1f} s', file=sys.stderr)


if __name__ == '__main__':
    main()
