# SPDX-License-Identifier: MIT
"""The loop time of real kernels by every technique, as efficiency: the serial time divided by the workers, divided by the loop time.
Beside it OpenMP's schedules in one process on the same loop. As many workers as cores.

Targets: the best technique at least 0.98, and within 1 % of OpenMP's best. HDSS_BENCH_TECHNIQUES names some techniques instead of all.
"""
import json
import os
import statistics
import subprocess
import tempfile

from measure import header, led, record, side_by_side, sized
from launch import techniques

WORKERS = min(2, len(os.sched_getaffinity(0)))
SIDE = sized(2048, 128)
LOOPS = {
    'mandelbrot by row': ['mandelbrot', f'width={SIDE}', f'height={SIDE}', f'max_iter={sized(20000, 100)}', 'unit=row'],
    'mandelbrot by column': ['mandelbrot', f'width={SIDE}', f'height={SIDE}', f'max_iter={sized(20000, 100)}', 'unit=column'],
    'mandelbrot by pixel': ['mandelbrot', f'width={SIDE // 2}', f'height={SIDE // 2}', f'max_iter={sized(20000, 100)}', 'unit=pixel'],
    'adjoint': ['adjoint', f'n={sized(512, 32)}'],
    'synthetic, gaussian': ['synthetic', f'iterations={sized(10000, 200)}', 'mean=100', 'distribution=gaussian', 'rate=100'],
    'synthetic, exponential': ['synthetic', f'iterations={sized(10000, 200)}', 'mean=100', 'distribution=exponential', 'rate=100'],
    'synthetic, decreasing': ['synthetic', f'iterations={sized(10000, 200)}', 'mean=100', 'distribution=decreasing', 'rate=100'],
}
SCHEDULES = ('static', 'dynamic', 'guided')


def seconds_of(line):
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)['seconds']


def wanted():
    given = os.environ.get('HDSS_BENCH_TECHNIQUES', sized('', 'fac2 dfss'))
    return given.split() or [*techniques(), 'auto']


def own(technique, loop):
    return lambda: led(0, WORKERS, ['--power', 'equal', '--technique', technique, *loop])['elapsed_s']


def table(name, loop):
    openmp = os.environ.get('OPENMP_LOOP')
    cases = {'serial': lambda: seconds_of([os.environ['SERIAL'], *loop])}
    if openmp:
        cases.update({f'openmp {schedule}': lambda schedule=schedule: seconds_of([openmp, schedule, str(WORKERS), *loop])
                      for schedule in SCHEDULES})
    cases.update({technique: own(technique, loop) for technique in wanted()})
    figures = side_by_side(cases)
    serial = statistics.median(figures['serial'])
    efficiency = {case: serial / WORKERS / statistics.median(values) for case, values in figures.items() if case != 'serial'}
    print(f'{name}: serial {serial:.3f} s ({min(figures["serial"]):.3f} .. {max(figures["serial"]):.3f})')
    ours = {case: value for case, value in efficiency.items() if not case.startswith('openmp')}
    for case, value in sorted(efficiency.items(), key=lambda item: -item[1]):
        best = serial / WORKERS / min(figures[case])
        print(f'    {case:16s} {value:.3f} (best run {best:.3f})', flush=True)
        record('kernels_loops', f'{name} / {case}', figures[case], efficiency=value)
    theirs = [value for case, value in efficiency.items() if case.startswith('openmp')]
    top = max(ours, key=ours.get)
    print(f'  best: {top} {ours[top]:.3f}' + (f', {ours[top] / max(theirs):.3f} of OpenMP\'s best' if theirs else '') + '\n', flush=True)
    record('kernels_loops', f'{name} / serial', figures['serial'])


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'Efficiency of loops, {WORKERS} workers')
    for name, loop in LOOPS.items():
        table(name, loop)


main()
