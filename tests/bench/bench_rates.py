# SPDX-License-Identifier: MIT
"""Chunks per second, ss, empty body: by workers, by masters, and by what is left of the loop.

Targets: 1 + 3 on 2 cores at least the bare request-and-reply loop's rate, by shared memory 1.2 times that with 3, 7 and 31 workers, and a rate
that does not depend on what is left.
"""
import os
import tempfile
import time

from measure import bare, drain, header, led, show, side_by_side, sized
from launch import finish, job, report, start, wait_until

WORKERS = sized((1, 3, 7, 31, 127), (1, 3))
LINEUPS = sized([(masters, workers) for workers in (3, 7, 31) for masters in (1, 2, 4) if masters <= workers], [(2, 3)])
BACKLOGS = sized([10 ** n for n in range(2, 7)], [100])
OPTIONS = ['--technique', 'ss', '--power', 'equal']


def chunks_of(workers):
    return sized(1000000 if workers < 31 else 300000, 1000)


def thousands(masters, workers, iterations=None, options=()):
    def once():
        figures = led(masters, workers, [*OPTIONS, 'synthetic', f'iterations={iterations or chunks_of(workers)}', 'mean=0'], options)
        return figures['chunks'] / figures['elapsed_s'] / 1e3
    return once


def bare_thousands(workers):
    return lambda: 1e-3 / bare('serve', 1 + workers, chunks_of(workers))['seconds']


def endless():
    """The rate of the first seconds of a loop of 10^9 iterations, which is then drained."""
    process = start(job(0, 3, [*OPTIONS, '--report', 'report.json', '--progress', 'never', 'synthetic', 'iterations=1000000000', 'mean=0']))
    end = time.monotonic() + sized(4, 2)
    wait_until(lambda: time.monotonic() > end, 'some seconds of work')
    drain(process)
    finish(process)
    figures = report()
    return figures['chunks'] / figures['elapsed_s'] / 1e3


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header('Thousand chunks per second, ss, empty body')
    figures, base = {}, {}
    for workers in WORKERS:
        figures[f'bare request and reply, 1 + {workers}'] = bare_thousands(workers)
        figures[f'central, 1 + {workers}'] = thousands(0, workers)
        figures[f'central by shared memory, 1 + {workers}'] = thousands(0, workers, options=None)
        for name in ('central', 'central by shared memory'):
            base[f'{name}, 1 + {workers}'] = f'bare request and reply, 1 + {workers}'
    show('rates', 'Central', side_by_side(figures), 'thousand/s', '{:.0f}', base)
    show('rates', 'Hierarchical', side_by_side({f'1 + {masters} + {workers}': thousands(masters, workers) for masters, workers in LINEUPS}),
         'thousand/s', '{:.0f}')
    figures = {f'{left:,} iterations': thousands(0, 3, left) for left in BACKLOGS}
    show('rates', 'By what is left of the loop, central, 1 + 3 (start and end of the run are in it)',
         side_by_side({**figures, '1,000,000,000 iterations': endless}), 'thousand/s', '{:.0f}')


main()
