# SPDX-License-Identifier: MIT
"""Lists of tasks that sleep for uneven times beside `xargs -P`, four at a time, with the defaults of hdss run.

Twenty lists drawn by seed: from 8 to 48 tasks, the times exponential, of two kinds, or a few long ones among many short ones. Ours is taken from
the first assignment to the last commit, that of xargs is its whole time, which has next to no start. Target: at most 1.03 of xargs.
"""
import os
import random
import statistics
import subprocess
import tempfile
import time

from measure import header, record, sized

from launch import environment, finish, job, report, start

LISTS = sized(20, 2)
WORKERS = 4
MEAN_S = sized(0.25, 0.05)


def drawn(seed):
    """The times of one list, seconds."""
    draw = random.Random(seed)
    count, kind = draw.randint(8, 48), seed % 3
    if kind == 0:
        return [draw.expovariate(1 / MEAN_S) for _ in range(count)]
    if kind == 1:
        return [MEAN_S * draw.choice((0.1, 1.9)) for _ in range(count)]
    return [MEAN_S * (4 if draw.random() < 0.15 else 0.4) for _ in range(count)]


def ours(name):
    words = ['--overwrite', '--report', 'report.json', 'exec', f'tasks={name}']
    result = finish(start(job(0, WORKERS, words)), timeout=600)
    assert result.status == 0, result
    return report()['elapsed_s']


def xargs(name):
    began = time.monotonic()
    with open(name) as file:
        subprocess.run(['xargs', '-P', str(WORKERS), '-I{}', 'sh', '-c', 'exec {}'], stdin=file, check=True, env=environment())
    return time.monotonic() - began


def main():
    os.chdir(tempfile.mkdtemp(prefix='hdss-bench-'))
    header(f'Uneven sleeps, {WORKERS} at a time: {LISTS} lists')
    ratios = []
    for seed in range(LISTS):
        times, name = drawn(seed), f'list-{seed}'
        with open(name, 'w') as file:
            file.writelines(f'sleep {seconds:.4f}\n' for seconds in times)
        theirs, own = xargs(name), ours(name)
        ratios.append(own / theirs)
        print(f'  list {seed:2d}, {len(times):2d} tasks: xargs {theirs:.3f} s, exec {own:.3f} s, {ratios[-1]:.3f}', flush=True)
    print(f'exec / xargs: median {statistics.median(ratios):.3f} ({min(ratios):.3f} .. {max(ratios):.3f})')
    record('uneven', 'exec / xargs', ratios, unit='')


main()
