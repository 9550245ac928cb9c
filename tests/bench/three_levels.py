# SPDX-License-Identifier: MIT
"""What a second level of masters would bring: the loop of beyond.study in groups of workers, each with a supermaster of its own.

usage: three_levels.py BUILD [WORKERS:MASTERS ...]

No daemon has three levels. What they could gain at most is simulated with two: the loop is cut into G parts of equal cost, and each is a
run of its own with 1/G of the workers and masters. The slowest is the time of a first level that divides the loop perfectly and costs
nothing; the shares that the daemons are busy for are the largest of all groups.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SIDE = 3200  # of the adjoint convolution; iteration i costs as much as there are iterations behind it
GROUPS = (1, 4, 16)
SIZES = ['65536:256', '131072:256', '262144:512']


def run(hdss, masters, workers, first, count):
    with tempfile.TemporaryDirectory(prefix='hdss-levels-') as folder:
        report = os.path.join(folder, 'report.json')
        subprocess.run([hdss, 'simulate', '--platform', 'ranger:nodes=40000', '--masters', str(masters), '--workers', str(workers),
                        '--technique', 'dfss', '--min-chunk', '5', '--iterations', f'{first}:{count}', '--report', report, 'adjoint',
                        f'n={SIDE}'], stdout=subprocess.DEVNULL, check=True)
        with open(report) as file:
            return json.load(file)


def part(g, groups):
    """First iteration of part g, where all parts cost the same."""
    return round(SIDE * SIDE * (1 - math.sqrt(1 - g / groups)))


def measure(hdss, workers, masters, groups, pool):
    def one(g):
        return run(hdss, masters // groups, workers // groups, part(g, groups), part(g + 1, groups) - part(g, groups))
    reports = list(pool.map(one, range(groups)))
    elapsed = max(report['elapsed_s'] for report in reports)
    efficiency = sum(report['compute_s'] for report in reports) / elapsed / workers
    busy = [100 * max(report['simulated'][who] for report in reports) for who in ('supermaster_busy', 'master_busy')]
    return f'{elapsed:.3g}, {efficiency:.2f}, {busy[0]:.0f} / {busy[1]:.0f}'


def main():
    hdss = os.path.join(sys.argv[1], 'deploy', 'hdss')
    print('| workers, masters | ' + ' | '.join(f'{groups} group' + 's' * (groups > 1) for groups in GROUPS) + ' |')
    print('|---' * (1 + len(GROUPS)) + '|')
    with ThreadPoolExecutor(2) as pool:
        for size in sys.argv[2:] or SIZES:
            workers, masters = map(int, size.split(':'))
            cells = [measure(hdss, workers, masters, groups, pool) for groups in GROUPS]
            print(f'| {workers:,}, {masters} | ' + ' | '.join(cells) + ' |', flush=True)


if __name__ == '__main__':
    main()
