# SPDX-License-Identifier: MIT
"""The loop time of one real job: serial / 2, 1 supermaster and 2 workers, and 1 supermaster, 2 masters and 2 workers.

Targets: central at most 1.05 of half the serial time, hierarchical at most 1.05 of central.
"""
import json
import os
import statistics
import subprocess
import tempfile

from measure import header, record, side_by_side, spread
from launch import report, run_job

KERNEL = os.environ.get('HDSS_BENCH_KERNEL', 'mandelbrot width=4096 height=4096 max_iter=2000 unit=row').split()
TECHNIQUE = os.environ.get('HDSS_BENCH_TECHNIQUE', 'dfss')


def serial():
    out = subprocess.run([os.environ['SERIAL'], *KERNEL], capture_output=True, text=True, check=True).stdout
    return json.loads(out)['seconds'] / 2


def parallel(masters):
    def once():
        result = run_job(masters, 2, ['--technique', TECHNIQUE, '--report', 'report.json', *KERNEL])
        assert result.status == 0, result
        return report()['elapsed_s']
    return once


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'Loop time of {" ".join(KERNEL)}, {TECHNIQUE}, 2 workers')
    figures = side_by_side({'serial / 2': serial, 'central 1 + 2': parallel(0), 'hierarchical 1 + 2 + 2': parallel(2)})
    base = {'central 1 + 2': 'serial / 2', 'hierarchical 1 + 2 + 2': 'central 1 + 2'}
    for name, values in figures.items():
        ratio = ''
        if name in base:
            ratios = [a / b for a, b in zip(values, figures[base[name]])]
            ratio = f'  {spread(ratios)} of {base[name]}; medians {statistics.median(values) / statistics.median(figures[base[name]]):.3f}'
        print(f'  {name:24s} {spread(values)} s{ratio}')
        record('topologies', name, values, kernel=KERNEL, technique=TECHNIQUE)


main()
